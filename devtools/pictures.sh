#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Takes the README's picture of reflit-view anew: a torus under traffic, two of
# its links cut. Wants a build and chromium.
#
#   devtools/pictures.sh [BUILD]
set -eu

cd "$(dirname "$0")/.."
build=${1:-build}
work=$(mktemp -d)
view="" fabric=""
trap 'kill $view $fabric 2>/dev/null || true; rm -rf "$work"' EXIT
cat >"$work/commands" <<-'END'
	wait up
	start
	wait 5s
	link s1.1-s1.2 down
	wait 2s
	link s2.2-s3.2 down
	wait 60s
	quit
END
"$build/app/reflit" -- --config config/torus-4x4.cfg --load 0.001 \
	--allow-orders --cmdline-file "$work/commands" >"$work/out" 2>&1 &
fabric=$!
sleep 4
"$build/app/reflit-view" --listen 127.0.0.1:0 --allow-orders \
	>"$work/address" &
view=$!
sleep 2
address=$(sed -n 's/^\(http[^ ]*\).*/\1/p' "$work/address")
HOME=$work chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
	--window-size=1280,880 --virtual-time-budget=12000 \
	--screenshot="$PWD/docs/pictures/view.png" "$address" >/dev/null 2>&1
ls -l docs/pictures/view.png
