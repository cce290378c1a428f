#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A hop of reflit beside testpmd: what a packet of 64, 256 and 1,344 bytes costs
# a core that forwards it over net_ring, with testpmd's io and mac engines and
# with all that a reliable hop does. All are measured in turn, in CPU time of
# the one forwarding thread; medians and spread stand in one table. Installs
# what it needs (dpdk-dev), and leaves nothing running behind.
#
#   devtools/peers/testpmd.sh [--help] [--rounds N] [--json FILE]
#
# Needs a build in build/ (devtools/build.sh), or BENCH=path/of/reflit-bench.
set -eu

here=$PWD
cd "$(dirname "$0")/../.."
root=$PWD

./devtools/need.sh dpdk-dev

BENCH=${BENCH:-build/app/reflit-bench}
BENCH=$(realpath -m "$BENCH")
if [ ! -x "$BENCH" ]; then
	echo "testpmd.sh: there is no $BENCH; run devtools/build.sh" >&2
	exit 2
fi
export BENCH
cd "$here"
exec python3 "$root/devtools/peers/testpmd.py" "$@"
