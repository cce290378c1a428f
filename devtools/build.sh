#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Configures (once) and builds into a folder: build.sh DIR [meson options].
set -eu

dir=$1
shift
cd "$(dirname "$0")/.."
log="$dir.log"
mkdir -p "$(dirname "$dir")"
if [ ! -f "$dir/build.ninja" ]; then
	meson setup "$dir" "$@" >"$log" 2>&1 || {
		cat "$log" >&2
		exit 1
	}
fi
ninja -C "$dir" >"$log" 2>&1 || {
	cat "$log" >&2
	exit 1
}
rm -f "$log"
