#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds Debian packages of what is committed into build/packages, and has lintian
# judge them. As root it then installs them on a fresh machine of the same release (a
# root by mmdebstrap), uses them there, purges them, and compares all files with
# those before. Exits with 0 only if nothing was found; with 77 if nothing could be
# tried.
#
#   devtools/package.sh
set -eu

cd "$(dirname "$0")/.."
[ $# -eq 0 ] || {
	echo "usage: $0" >&2
	exit 2
}
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

out=$PWD/build/packages
work=$(mktemp -d "${TMPDIR:-/var/tmp}/reflit-package-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP

echo "== build"
mkdir "$work/reflit"
git archive HEAD | tar -x -C "$work/reflit"
(cd "$work/reflit" && dpkg-buildpackage -us -uc -b) >"$work/log" 2>&1 || {
	tail -n 40 "$work/log"
	exit 1
}
rm -rf "$out"
mkdir -p "$out"
cp "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out"
echo "packages: $out"
echo "== lintian"
lintian --fail-on error,warning "$out"/*.changes

if [ "$(id -u)" -ne 0 ]; then
	echo "packages are installed by root only, so this was not tried"
	exit 0
fi
echo "== a machine without reflit"
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
root="$work/root"
./devtools/root.sh "$release" apt "$root" g++,make,man-db,pkg-config
mkdir "$root/srv/packages"
cp "$out"/*.deb "$root/srv/packages"
rm "$root"/srv/packages/*-dbgsym_*.deb
cp devtools/package_used.sh "$root/srv"
unshare --mount --pid --fork --kill-child sh -eu -c '
	mount --bind "$1" "$1"
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount --rbind /dev "$1/dev"
	mount -t tmpfs tmpfs "$1/run"
	mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
	exec chroot "$1" env -i TERM=dumb LANG=C.UTF-8 HOME=/root PATH="$2" \
		sh -eu /srv/package_used.sh </dev/null' \
	package "$root" /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
