#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds Debian packages of what is committed into build/packages, and has lintian
# judge them. As root it then installs them on a fresh machine of the same release (a
# root by mmdebstrap), uses them there, purges them, and compares all files with
# those before. Exits with 0 only if nothing was found; with 77 if nothing could be
# tried.
#
#   devtools/package.sh                    of this machine's release
#   devtools/package.sh --release trixie   of another, built in a root of it into
#                                          build/packages-trixie; needs root
set -eu

cd "$(dirname "$0")/.."
case $#-${1:-} in
0-) release="" ;;
2---release) release=$2 ;;
*)
	echo "usage: $0 [--release NAME]" >&2
	exit 2
	;;
esac
if [ -n "$release" ] && [ "$(id -u)" -ne 0 ]; then
	echo "$0: roots are made by root" >&2
	exit 2
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "packages are built where there is apt-get"
	exit 77
fi
./devtools/install.sh --tests
for tool in dpkg-buildpackage dh lintian; do
	command -v "$tool" >/dev/null 2>&1 || {
		echo "no $tool here"
		exit 77
	}
done

out=$PWD/build/packages${release:+-$release}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/reflit-package-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP

# in_root ROOT COMMAND: in its own mounts and processes
in_root() {
	unshare --mount --pid --fork --kill-child sh -eu -c '
		mount --bind "$1" "$1"
		mount -t proc proc "$1/proc"
		mount --rbind /sys "$1/sys"
		mount --rbind /dev "$1/dev"
		mount -t tmpfs tmpfs "$1/run"
		mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
		exec chroot "$1" env -i TERM=dumb LANG=C.UTF-8 HOME=/root \
			PATH="$3" DEBIAN_FRONTEND=noninteractive \
			sh -eu -c "$2" </dev/null' \
		package "$1" "$2" \
		/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

builder="" made=$work
if [ -n "$release" ]; then
	echo "== a machine that builds, $release"
	builder="$work/builder" made="$work/builder/srv"
	./devtools/root.sh "$release" apt "$builder" \
		build-essential,debhelper,lintian
fi
# there COMMAND: in the folder of what is made, on the machine that builds
there() {
	if [ -n "$builder" ]; then
		in_root "$builder" "cd /srv && $1"
	else
		(cd "$work" && sh -eu -c "$1")
	fi
}

echo "== build"
mkdir "$made/reflit"
git archive HEAD | tar -x -C "$made/reflit"
make="cd reflit && dpkg-buildpackage -us -uc -b"
[ -z "$builder" ] || make="apt-get update &&
	apt-get build-dep -y --no-install-recommends ./reflit && $make"
there "$make" >"$work/log" 2>&1 || {
	tail -n 40 "$work/log"
	exit 1
}
if ! grep -q -e ' -O3 .* -c \.\./lib/' "$work/log" ||
    grep -e ' -c \.\./lib/' "$work/log" | grep -qv -e ' -O3 '; then
	echo "the data path is compiled without -O3"
	exit 1
fi
rm -rf "$out"
mkdir -p "$out"
cp "$made"/*.deb "$made"/*.changes "$made"/*.buildinfo "$out"
echo "packages: $out"
echo "== lintian"
there "lintian --fail-on error,warning *.changes"

if [ "$(id -u)" -ne 0 ]; then
	echo "packages are installed by root only, so this was not tried"
	exit 0
fi
echo "== a machine without reflit"
root="$work/root"
./devtools/root.sh \
	"${release:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}" \
	apt "$root" g++,make,man-db,pkg-config
mkdir "$root/srv/packages"
cp "$out"/*.deb "$root/srv/packages"
rm "$root"/srv/packages/*-dbgsym_*.deb
cp devtools/package_used.sh "$root/srv"
in_root "$root" "sh -eu /srv/package_used.sh"
