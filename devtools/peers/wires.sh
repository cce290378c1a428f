#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What real interfaces reach, beside dpdk-testpmd over the same ones, in turn,
# in network namespaces: TCP through a fabric; frames a second over a wire on
# one core; TCP between two hosts while cables are pulled; what a kernel's wire
# sends twice for nothing; how soon a process that was killed carries traffic
# again. One table each. Takes root. Installs what it needs (dpdk-dev, iperf3,
# ethtool, iproute2), and leaves nothing running behind.
#
#   devtools/peers/wires.sh [--help] [--only NAMES] [--rounds N] [--json FILE]
#
# Needs a build in build/ (devtools/build.sh), or BUILD=folder of another one.
set -eu

here=$PWD
cd "$(dirname "$0")/../.."
root=$PWD

missing=""
for p in dpdk-dev iproute2 ethtool iperf3; do
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
	echo "wires.sh: there is no $BUILD/app/reflit; run devtools/build.sh" >&2
	exit 2
fi
export BUILD
cd "$here"
exec python3 "$root/devtools/peers/wires.py" "$@"
