#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes the root of a fresh Debian machine in the folder ROOT, from this machine's
# own apt sources: mmdebstrap's VARIANT of RELEASE, and the packages in the list.
# Needs root.
#
#   devtools/root.sh RELEASE VARIANT ROOT [PACKAGE,...]
set -eu

release=$1 variant=$2 root=$3
include=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# This machine's sources of Debian, for that release; others of it are not a
# user's.
host=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
set --
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	case $f in
	*.list | *.sources)
		if [ -f "$f" ] && grep -qE "^[^#]*$host" "$f" &&
		    grep -qE '^[^#]*debian\.org|^[^#]*/debian' "$f"; then
			sed "s/\b$host\b/$release/g" "$f" >"$work/${f##*/}"
			set -- "$@" "$work/${f##*/}"
		fi
		;;
	esac
done
proxy=$(apt-config dump Acquire::http::Proxy | sed 's/";*$//; s/.*"//')
mmdebstrap --quiet --variant="$variant" --mode=root --include=passwd \
	${include:+--include="$include"} \
	${proxy:+--aptopt="Acquire::http::Proxy \"$proxy\""} \
	"$release" "$root" "$@"
cp /etc/resolv.conf "$root/etc/resolv.conf"
