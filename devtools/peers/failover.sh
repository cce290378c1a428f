#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One of two cables dies under traffic [EVAL-3]: what reflit, DPDK's bonding and
# MPTCP make of it. Packets lost, the longest silence, TCP segments sent again;
# one table. The first part is in one process, at a steady rate over net_ring;
# the second between two network namespaces, over veth pairs. Installs what it
# needs (dpdk-dev, libdpdk-dev, gcc, iproute2, ethtool), takes root for the
# second part, and leaves nothing behind.
#
#   devtools/peers/failover.sh [--help] [--rate PPS] [--quick] [--realtime]
#                              [--json FILE]
#
# Needs a build in build/ (devtools/build.sh), or BUILD=folder of another one.
set -eu

here=$PWD
cd "$(dirname "$0")/../.."
root=$PWD

./devtools/need.sh dpdk-dev libdpdk-dev gcc pkg-config iproute2 ethtool

BUILD=$(realpath -m "${BUILD:-build}")
if [ ! -x "$BUILD/app/reflit" ]; then
	echo "failover.sh: there is no $BUILD/app/reflit; run devtools/build.sh" >&2
	exit 2
fi
export BUILD
cd "$here"
exec python3 "$root/devtools/peers/failover.py" "$@"
