#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs those of the named Debian packages that this machine lacks. Asks for
# root (through sudo) only where one is missing. What it says goes to standard
# error. Exits with 1 where neither root nor sudo is at hand.
#
#   devtools/need.sh PACKAGE...
#   devtools/need.sh --missing PACKAGE...   only prints those that are missing
set -eu

only_print=no
if [ "${1:-}" = --missing ]; then
	only_print=yes
	shift
fi

# what is installed, and what that provides (gnuplot-qt is a gnuplot-nox, too)
present=$(dpkg-query -W -f='${Status}|${Package}, ${Provides}\n' 2>/dev/null |
	sed -n 's/^install ok installed|//p' | tr ',' '\n' |
	sed 's/^ *//; s/ .*//')
missing=""
for p in "$@"; do
	echo "$present" | grep -qxF "$p" || missing="$missing $p"
done
if [ "$only_print" = yes ]; then
	echo "$missing"
	exit 0
fi
[ -n "$missing" ] || exit 0

echo "installing:$missing" >&2
if [ "$(id -u)" -eq 0 ]; then
	as_root=""
elif command -v sudo >/dev/null 2>&1; then
	as_root="sudo"
else
	echo "these packages are missing and neither root nor sudo is at hand:" >&2
	echo "  apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >&2
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing >&2
