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

missing=""
for p in dpdk-dev libdpdk-dev gcc pkg-config iproute2 ethtool; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null |
		grep -q 'install ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
	echo "installing:$missing" >&2
	as_root=""
	[ "$(id -u)" -eq 0 ] || as_root="sudo"
	export DEBIAN_FRONTEND=noninteractive
	$as_root apt-get update -qq >&2
	# shellcheck disable=SC2086
	$as_root apt-get install -y -qq --no-install-recommends $missing >&2
fi

BUILD=$(realpath -m "${BUILD:-build}")
if [ ! -x "$BUILD/app/reflit" ]; then
	echo "failover.sh: there is no $BUILD/app/reflit; run devtools/build.sh" >&2
	exit 2
fi
export BUILD
cd "$here"
exec python3 "$root/devtools/peers/failover.py" "$@"
