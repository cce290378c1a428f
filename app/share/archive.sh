#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes an archive of one object, whose hidden symbols are local and which holds
# no code for one version of a compiler alone (LTO).
#
# usage: archive.sh FROM.a TO.a OBJCOPY AR COMPILER...
set -eu

from=$1 to=$2 objcopy=$3 ar=$4
shift 4
object="${to%.a}.o"
trap 'rm -f "$object"' EXIT
"$@" -r -nostdlib -fno-lto -Wl,--whole-archive "$from" -o "$object"
"$objcopy" --localize-hidden --remove-section='.gnu.lto_*' \
	--remove-section='.gnu.debuglto_*' "$object"
rm -f "$to"
"$ar" rcsD "$to" "$object"
