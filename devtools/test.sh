#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs the test suite: about fifteen minutes on two CPUs. The last line is
# "N passed, N failed". Lines before it name what could not run.
#
#   devtools/test.sh            all tests, plain
#   devtools/test.sh --sanitize what CI runs: also with sanitizers (address, undefined
#                               behaviour, threads), twenty to twenty-five minutes
#   devtools/test.sh --full     with --sanitize, and each case of long sweeps
#   devtools/test.sh --long     with --full, and the long runs as well, all guests
#                               among them (an hour more)
#   devtools/test.sh --guests short   also two NICs that QEMU emulates, in a
#                               guest (docs/drivers.md), and two virtual
#                               machines: five minutes more
#   devtools/test.sh --guests all   each model and binding: half an hour
#   devtools/test.sh --soak TIME  also a run in which nothing may grow, of so many
#                               seconds; 3600 is an hour
#   devtools/test.sh --werror   a warning stops the plain build: for CI, whose
#                               compiler is known
#   devtools/test.sh --strict   what is skipped for want of a program fails: for
#                               CI, which installs them all
set -eu

cd "$(dirname "$0")/.."
# A python3 that is a script of a version manager starts ten shells each time, and
# tests start Python some hundred times.
bin=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' \
	2>/dev/null || true)
[ -z "$bin" ] || export PATH="$bin:$PATH"
sanitize=no
full=no
long=no
werror=""
strict=""
guests=none
soak=no
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
	--soak)
		export RL_SOAK="${1:-}"
		soak=yes
		[ $# -eq 0 ] || shift
		case $RL_SOAK in
		'' | *[!0-9]*)
			echo "$0: --soak takes a number of seconds" >&2
			exit 2
			;;
		esac
		;;
	--sanitize) sanitize=yes ;;
	--full) sanitize=yes full=yes ;;
	--long) sanitize=yes full=yes long=yes ;;
	--werror) werror="-Dwerror=true" ;;
	--strict) strict="--strict" ;;
	*)
		echo "usage: $0 [--sanitize | --full | --long]" \
			"[--guests short | all] [--soak SECONDS]" \
			"[--werror] [--strict]" >&2
		exit 2
		;;
	esac
done

# Test names stand for themselves; nothing is shown of those that pass. More tests
# than there are CPUs: some wait for most of their time. Where sanitizers are built
# beside them, these CPUs have something to do.
tests_at_once=$(($(getconf _NPROCESSORS_ONLN) + 2))
[ "$sanitize" = no ] || tests_at_once=$((tests_at_once - 1))
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
# lines are all that a failed test names (-g1), as below
TARGETS=build.ninja ./devtools/build.sh build -Dc_args=-g1 ${werror:+"$werror"}
# with all that is installed; what only tests of a suite that is left out run is
# left out, too
unbuilt="long full"
[ "$full" = no ] || unbuilt="long"
[ "$long" = no ] || unbuilt=""
# shellcheck disable=SC2086
TARGETS=$(python3 devtools/test_targets.py --installed build $unbuilt) \
	./devtools/build.sh build
if [ "$sanitize" = yes ]; then
	# beside tests, which wait for most of their time; in a session of its own,
	# as each test is, so that the CPUs can be shared between them
	setsid ./devtools/build_sane.sh --in-rest >build-sane.log 2>&1 &
	sane=$!
	trap 'kill -- -$sane 2>/dev/null || true' EXIT
	trap 'exit 130' INT TERM HUP
fi
echo "== tests"
less="--no-suite full"
if [ "$full" = yes ]; then
	less=""
	export RL_FULL=1 # of what is much alike, all: test/few.h
fi
# shellcheck disable=SC2086
run_suite build --no-suite long --no-suite alone $less
logs="build/meson-logs/testlog.json"
if [ "$sanitize" = yes ]; then
	echo "== build with sanitizers"
	wait "$sane" || {
		cat build-sane.log >&2
		exit 1
	}
	trap - EXIT
	rm -f build-sane.log
	tests_at_once=$((tests_at_once + 1))
fi
echo "== tests that want the machine for themselves"
# shellcheck disable=SC2086
run_suite build --suite alone $less --logbase alonelog
logs="$logs build/meson-logs/alonelog.json"
if [ "$long" = yes ]; then
	echo "== long tests"
	run_suite build --suite long --no-suite soak --logbase longlog
	logs="$logs build/meson-logs/longlog.json"
elif [ "$guests" != none ]; then
	echo "== guests"
	run_suite build --suite "guests-$guests" --logbase guestslog
	logs="$logs build/meson-logs/guestslog.json"
fi
if [ "$soak" = yes ]; then
	echo "== $RL_SOAK seconds in which nothing may grow"
	run_suite build --suite soak --logbase soaklog
	logs="$logs build/meson-logs/soaklog.json"
fi
if [ "$sanitize" = yes ]; then
	echo "== tests with sanitizers"
	# what they find, a leak too, ends with a status that no program has: 1,
	# their own choice, is what some tests expect
	ASAN_OPTIONS=exitcode=66 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=66 \
		run_suite build-asan --no-suite long --no-suite plain --no-suite full \
		--timeout-multiplier 4
	logs="$logs build-asan/meson-logs/testlog.json"
	echo "== tests with ThreadSanitizer"
	run_suite build-tsan --suite tsan
	logs="$logs build-tsan/meson-logs/testlog.json"
fi
# shellcheck disable=SC2086
exec python3 devtools/test_summary.py $strict $logs
