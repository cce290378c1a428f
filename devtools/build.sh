#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Configures (once) and builds into a folder: build.sh DIR [meson options]; with
# TARGETS="..." in the environment, only these.
# Says how far it is: on a terminal all the time, else every ten seconds. The
# compiler's words go to DIR.log, and are shown where something fails.
set -eu

dir=$1
shift
cd "$(dirname "$0")/.."
log="$dir.log"
mkdir -p "$(dirname "$dir")"
if [ ! -f "$dir/build.ninja" ]; then
	echo "$dir: configuring"
	meson setup "$dir" "$@" >"$log" 2>&1 || {
		cat "$log" >&2
		exit 1
	}
fi

# the number in ninja's last "[done/all]"
progress() {
	sed -n 's/^\[\([0-9]*\/[0-9]*\)\].*/\1/p' "$log" | tail -n 1
}

: >"$log"
# shellcheck disable=SC2086
ninja -C "$dir" ${TARGETS:-} >"$log" 2>&1 &
ninja=$!
trap 'kill $ninja 2>/dev/null; exit 130' INT TERM HUP
ticks=0 said=""
while kill -0 "$ninja" 2>/dev/null; do
	sleep 1
	ticks=$((ticks + 1))
	now=$(progress)
	if [ -z "$now" ] || [ "$now" = "$said" ]; then
		continue
	elif [ -t 1 ]; then
		printf '\r%s: %s built ' "$dir" "$now"
	elif [ $((ticks % 10)) -eq 0 ]; then
		echo "$dir: $now built"
	else
		continue
	fi
	said=$now
done
trap - INT TERM HUP
status=0
wait "$ninja" || status=$?
if [ -t 1 ] && [ -n "$said" ]; then
	printf '\r'
fi
if [ "$status" -ne 0 ]; then
	cat "$log" >&2
	exit 1
fi
now=$(progress)
echo "$dir: ${now:-nothing new} built"
rm -f "$log"
