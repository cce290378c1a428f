#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a fabric under traffic and the page that shows it, until Ctrl-C; then
# the fabric's report follows. For run.sh --view; needs a build in build/.
#
#   devtools/view.sh [FABRIC-FILE [LISTEN]]
set -eu

cd "$(dirname "$0")/.."
config=${1:-config/torus-4x4.cfg}
listen=${2:-127.0.0.1:8080}
mkdir -p build/demo

./build/app/reflit-view --listen "$listen" --allow-orders &
view=$!
trap 'kill "$view" 2>/dev/null || true' EXIT
echo "click a link on the page to cut it; Ctrl-C ends both"
status=0
# Ctrl-C goes to reflit, too: it brings its traffic home and reports
trap : INT TERM
./build/app/reflit -- --config "$config" --load 0.01 --allow-orders \
	--json build/demo/view.json || status=$?
exit "$status"
