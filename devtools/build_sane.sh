#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds what tests with sanitizers run: build-asan (address, undefined behaviour)
# and build-tsan (threads).
#
#   devtools/build_sane.sh [--in-rest]     takes what others leave of the CPUs
set -eu

cd "$(dirname "$0")/.."
if [ "${1:-}" = --in-rest ]; then
	# Linux may share CPUs among sessions before it looks at nice
	{ echo 19 >/proc/self/autogroup; } 2>/dev/null || true
	exec nice -n 19 "$0"
fi

# Instrumented code draws false warnings; the plain build has none. Only what
# these tests run is built, so the folder is configured first. Lines (-g1) are all
# that a report names, and take a fifth less to compile.
TARGETS=build.ninja ./devtools/build.sh build-asan \
	-Db_sanitize=address,undefined -Db_lundef=false \
	-Doptimization=1 -Dc_args="-DRL_DEBUG -g1"
TARGETS=$(python3 devtools/test_targets.py build-asan long plain full) \
	./devtools/build.sh build-asan
# Lcores and the control thread; rings whose inline code the sanitizer
# understands.
TARGETS="app/reflit test/system/test_figure1 test/system/pcap_same
	test/sim/test_sim_apart" \
	./devtools/build.sh build-tsan -Db_sanitize=thread \
	-Db_lundef=false -Doptimization=1 \
	-Dc_args="-DRL_DEBUG -g1 -DRTE_USE_C11_MEM_MODEL"
