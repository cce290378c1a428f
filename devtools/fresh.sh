#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the README's two commands on Debian machines that have nothing else:
# makes roots by mmdebstrap from this machine's own apt sources, and runs both
# in each of them as root and then, with the packages there, as an ordinary
# user. Exits with 0 only if all of it passed. Needs root.
#
#   devtools/fresh.sh                    variants apt and important
#   devtools/fresh.sh --variant apt      one of them (may be repeated)
#   devtools/fresh.sh --release trixie   Debian 13; else 12, bookworm
#   devtools/fresh.sh --cc clang         built by this compiler
#   devtools/fresh.sh --quick            one build a root, for both users
#   devtools/fresh.sh --full             test.sh --sanitize: with sanitizers, too
#   devtools/fresh.sh --only run|test    one of the two commands
#   devtools/fresh.sh --keep             leaves the roots where they are
#
# All output of what failed is kept in build/fresh.
# What is committed is tried, not what lies about. Mounts and processes belong
# to namespaces of their own, and end with them.
set -eu

usage() {
	echo "usage: $0 [--variant NAME]... [--release NAME] [--cc COMPILER]" \
		"[--quick] [--full] [--only run|test] [--keep]" >&2
	exit 2
}

cd "$(dirname "$0")/.."
variants="" release=bookworm compiler=cc quick=no full=no keep=no only="run test"
while [ $# -gt 0 ]; do
	case $1 in
	--variant)
		[ $# -gt 1 ] || usage
		variants="$variants $2"
		shift
		;;
	--release)
		[ $# -gt 1 ] || usage
		release=$2
		shift
		;;
	--cc)
		[ $# -gt 1 ] || usage
		compiler=$2
		shift
		;;
	--quick) quick=yes ;;
	--full) full=yes ;;
	--keep) keep=yes ;;
	--only)
		[ $# -gt 1 ] || usage
		case $2 in
		run | test) only=$2 ;;
		*) usage ;;
		esac
		shift
		;;
	*) usage ;;
	esac
	shift
done
variants="${variants:-apt important}"
if [ "$(id -u)" -ne 0 ]; then
	echo "$0: roots are made by root" >&2
	exit 2
fi
./devtools/install.sh --tests

work=$(mktemp -d "${TMPDIR:-/var/tmp}/reflit-fresh-XXXXXX")
finish() {
	if [ "$keep" = yes ]; then
		echo "roots: $work"
	else
		rm -rf --one-file-system "$work"
	fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

make_root() {
	root=$1
	./devtools/root.sh "$release" "$2" "$root"
	chroot "$root" useradd --create-home --shell /bin/sh user
}

PATH_INSIDE=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# in_root ROOT USER HOME COMMAND FOLDER: in its own mounts and processes
in_root() {
	unshare --mount --pid --fork --kill-child sh -eu -c '
		mount --bind "$1" "$1" # ip netns wants / to be a mount
		mount -t proc proc "$1/proc"
		mount --rbind /sys "$1/sys"
		mount --rbind /dev "$1/dev"
		mount -t tmpfs tmpfs "$1/run"
		mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
		exec chroot --userspec="$2:$2" "$1" env -i TERM=dumb LANG=C \
			HOME="$4" PATH="$5" CC="$7" sh -c "cd $6 && $3" \
			</dev/null' \
		fresh "$1" "$2" "$4" "$3" "$PATH_INSIDE" "$5" "$compiler"
}

failed=0
# try NAME ROOT USER HOME COMMAND FOLDER: says how it ended
try() {
	log="$work/log"
	status=0
	began=$(date +%s)
	in_root "$2" "$3" "$4" "$5" "$6" >"$log" 2>&1 || status=$?
	last=$(tail -n 1 "$log")
	case "$5 $last" in
	*test.sh*" passed, 0 failed"*) ;;
	*test.sh*) [ "$status" -ne 0 ] || status=1 ;;
	esac
	if [ "$status" -eq 0 ]; then
		echo "passed: $1 ($(($(date +%s) - began)) s): $last"
		sed -n 's/^skipped: /  &/p' "$log"
	else
		sed 's/^/  | /' "$log" | tail -n 60
		failed=$((failed + 1))
		mkdir -p build/fresh
		cp "$log" "build/fresh/$failed.log"
		echo "failed: $1, exit status $status: $last" \
			"(all of it: build/fresh/$failed.log)"
	fi
}

if [ -n "$(git status --porcelain -uno)" ]; then
	echo "what is not committed is not tried"
fi
for variant in $variants; do
	root="$work/$variant"
	echo "== a Debian root, $release, variant $variant, built by $compiler"
	make_root "$root" "$variant"
	for who in root user; do
		home=/root
		[ "$who" = root ] || home=/home/user
		src=/srv/$who
		[ "$quick" = no ] || src=/srv/reflit
		[ -d "$root$src" ] || git clone -q --no-hardlinks . "$root$src"
		chown -R --reference="$root$home" "$root$src"
		for command in $only; do
			line="./devtools/$command.sh"
			if [ "$command-$full" = test-yes ]; then
				line="$line --sanitize"
			fi
			try "$variant, $who, $line" "$root" "$who" "$home" \
				"$line" "$src"
		done
	done
	[ "$keep" = yes ] || rm -rf --one-file-system "$root"
done
[ "$failed" -eq 0 ] || echo "$failed failed"
[ "$failed" -eq 0 ]
