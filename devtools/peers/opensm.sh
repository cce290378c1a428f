#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# OpenSM beside reflit-route [ROUTE-8]: runs OpenSM under ibsim on fabrics of
# all kinds with each of its engines, has reflit's checker judge the tables, and
# prints one table with reflit's own in it; then a link fails, and both make new
# tables. Installs what it needs (opensm, ibsim-utils, libopensm-dev), and
# leaves nothing running behind.
#
#   devtools/peers/opensm.sh [--help] [options]
#
# Needs a build in build/ (devtools/build.sh), or ROUTE=path/of/reflit-route.
set -eu

cd "$(dirname "$0")/../.."

./devtools/need.sh opensm ibsim-utils libopensm-dev libibumad-dev gcc \
	libc6-dev python3

ROUTE=${ROUTE:-build/app/reflit-route}
if [ ! -x "$ROUTE" ]; then
	echo "opensm.sh: there is no $ROUTE; run devtools/build.sh" >&2
	exit 2
fi
export ROUTE
exec python3 devtools/peers/opensm.py "$@"
