#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs reflit at the NICs of a guest that QEMU emulates (docs/drivers.md), and
# between two virtual machines (docs/wires.md). Guests are made of this machine's
# reflit and DPDK, and of a kernel of Debian's, which is downloaded once; both are
# kept in BUILD/guests. Needs no root.
#
#   devtools/guests.sh                four cases: a few minutes
#   devtools/guests.sh --vm           the virtual machines
#   devtools/guests.sh --all          every model and binding
#   devtools/guests.sh CASE...        these, as in virtio/vfio
#   devtools/guests.sh --list         names all cases
#   devtools/guests.sh --flaps N --unplugs N --kills N ...   so often in a case
#
# BUILD names the build folder: build, if nothing else is said. Exits with 77
# where QEMU or a kernel is missing.
set -eu

cd "$(dirname "$0")/.."
build=${BUILD:-build}
case " $* " in
*" --list "*) ;;
*) python3 test/guests/image.py "$build" "$build/guests" ;;
esac
exec python3 test/guests/bench.py "$build" "$build/guests" "$@"
