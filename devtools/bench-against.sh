#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Another revision's speed beside this one's: builds reflit-bench of REV and of
# this tree, runs a suite of both in turn, and prints for each figure the median
# of this tree's over REV's, and how far the ratios spread.
#
#   devtools/bench-against.sh [--rounds N] [--reps N] [--json FILE] REV SUITE
#
# In place of a suite, `aims` prints what is to be reached against 87a685d, and
# whether it is.
#
# Builds of other revisions stay in build/against/, so that the next run is
# quick. Runs in turn see the same machine: where it is busy, both are.
set -eu

usage() {
	sed -n '3,11s/^# \{0,1\}//p' "$0"
	exit "$1"
}

rounds=7 reps=1 json=""
while [ $# -gt 0 ]; do
	case $1 in
	--help) usage 0 ;;
	--rounds | --reps | --json)
		[ $# -ge 2 ] || usage 2 >&2
		case $1 in
		--rounds) rounds=$2 ;;
		--reps) reps=$2 ;;
		--json) json=$(realpath -m "$2") ;;
		esac
		shift 2
		;;
	-*)
		echo "bench-against.sh: what is $1? See --help" >&2
		exit 2
		;;
	*) break ;;
	esac
done
[ $# -eq 2 ] || usage 2 >&2

cd "$(dirname "$0")/.."
rev=$(git rev-parse --verify --quiet --short=12 "$1^{commit}") || {
	echo "bench-against.sh: no revision $1 in this repository" >&2
	exit 2
}
suite=$2

root=build/against
mkdir -p "$root"
if [ ! -x "$root/$rev/build/app/reflit-bench" ]; then
	rm -rf "${root:?}/$rev"
	mkdir -p "$root/$rev"
	git archive "$rev" | tar -x -C "$root/$rev"
	TARGETS=app/reflit-bench devtools/build.sh "$PWD/$root/$rev/build" \
		"$PWD/$root/$rev"
fi
TARGETS=app/reflit-bench devtools/build.sh "$PWD/$root/this"

exec python3 devtools/bench_against.py --rounds "$rounds" --reps "$reps" \
	${json:+--json "$json"} "$root/this/app/reflit-bench" \
	"$root/$rev/build/app/reflit-bench" "$suite"
