#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs the whole test suite. The last line is "N passed, N failed".
# Lines before it name what could not run.
#
#   devtools/test.sh            everything, plain and with sanitizers (address,
#                               undefined behaviour, threads)
#   devtools/test.sh --quick    plain only
#   devtools/test.sh --long     also the long runs, all guests among them (an hour more)
#   devtools/test.sh --guests short   also two NICs that QEMU emulates, in a
#                               guest (docs/drivers.md: four minutes more)
#   devtools/test.sh --guests all   each model and binding: half an hour
#   devtools/test.sh --werror   a warning stops the plain build: for CI, whose
#                               compiler is known
set -eu

cd "$(dirname "$0")/.."
quick=no
long=no
werror=""
guests=none
while [ $# -gt 0 ]; do
	arg=$1
	shift
	case $arg in
	--guests)
		guests=${1:-}
		[ $# -eq 0 ] || shift
		case $guests in
		all | short) ;;
		*)
			echo "$0: --guests takes all or short" >&2
			exit 2
			;;
		esac
		;;
	--quick) quick=yes ;;
	--long) long=yes ;;
	--werror) werror="-Dwerror=true" ;;
	*)
		echo "usage: $0 [--quick | --long] [--guests short | all] [--werror]" >&2
		exit 2
		;;
	esac
done

# Test names stand for themselves; nothing is shown of those that pass. One test
# more than there are CPUs: some wait for most of their time.
tests_at_once=$(($(getconf _NPROCESSORS_ONLN) + 1))
# Meson has malloc fill what it gives and takes back, so that no test depends on
# what memory holds. Large blocks would be mapped, filled and unmapped over and
# over, which takes ten times as long as a short run of the simulator. Kept by the
# process, in huge pages, they are filled all the same.
export GLIBC_TUNABLES="${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1:\
glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824}"
run_suite() {
	dir=$1
	shift
	# a failed test is counted by the summary, not by this exit status
	meson test -C "$dir" --no-rebuild --print-errorlogs \
		--num-processes "$tests_at_once" "$@" || true
}

./devtools/install.sh --tests
echo "== build"
# for CI, which debugs nothing, lines are enough (-g1), as below
./devtools/build.sh build ${werror:+"$werror" -Dc_args=-g1}
echo "== tests"
if [ "$long" = yes ]; then
	run_suite build
else
	run_suite build --no-suite long
fi
logs="build/meson-logs/testlog.json"
if [ "$guests" != none ] && [ "$long" = no ]; then
	echo "== guests"
	run_suite build --suite "guests-$guests" --logbase guestslog
	logs="$logs build/meson-logs/guestslog.json"
fi
if [ "$quick" = no ]; then
	echo "== build with sanitizers"
	# instrumented code draws false warnings; the plain build has none. Only
	# what these tests run is built, so the folder is configured first. Lines
	# (-g1) are all that a report names, and take a fifth less to compile.
	TARGETS=build.ninja ./devtools/build.sh build-asan \
		-Db_sanitize=address,undefined -Db_lundef=false \
		-Doptimization=1 -Dc_args="-DRL_DEBUG -g1"
	TARGETS=$(python3 devtools/test_targets.py build-asan long plain) \
		./devtools/build.sh build-asan
	echo "== tests with sanitizers"
	# what they find, a leak too, ends with a status that no program has: 1,
	# their own choice, is what some tests expect
	ASAN_OPTIONS=exitcode=66 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=66 \
		run_suite build-asan --no-suite long --no-suite plain \
		--timeout-multiplier 4
	logs="$logs build-asan/meson-logs/testlog.json"
	# lcores and the control thread; rings whose inline code the sanitizer
	# understands. Only the programs that these tests run are built.
	echo "== build with ThreadSanitizer"
	TARGETS="app/reflit test/system/test_figure1 test/system/pcap_same
		test/sim/test_sim_apart" \
		./devtools/build.sh build-tsan -Db_sanitize=thread \
		-Db_lundef=false -Doptimization=1 \
		-Dc_args="-DRL_DEBUG -g1 -DRTE_USE_C11_MEM_MODEL"
	echo "== tests with ThreadSanitizer"
	run_suite build-tsan --suite tsan
	logs="$logs build-tsan/meson-logs/testlog.json"
fi
# shellcheck disable=SC2086
exec python3 devtools/test_summary.py $logs
