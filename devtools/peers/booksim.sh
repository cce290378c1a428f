#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Full fabrics beside BookSim2: for each fabric and pattern of `reflit-bench
# load` the knee, what arrives at load 1, and the ratio to BookSim2's best
# engine, in one table. Debian has no BookSim2: BOOKSIM names its program, or
# else it is cloned and built (g++, make, flex, bison) in a folder that is
# removed.
#
#   devtools/peers/booksim.sh [--help] [--quick] [--load FILE] [--json FILE]
#                             [--figures FOLDER]
#
# Needs a build in build/ (devtools/build.sh), or BENCH=path/of/reflit-bench.
set -eu

here=$PWD
cd "$(dirname "$0")/../.."
root=$PWD

BENCH=$(realpath -m "${BENCH:-build/app/reflit-bench}")
if [ ! -x "$BENCH" ]; then
	echo "booksim.sh: there is no $BENCH; run devtools/build.sh" >&2
	exit 2
fi
if [ -z "${BOOKSIM:-}" ]; then
	./devtools/need.sh git g++ make flex bison
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 2' INT TERM
	if ! git clone -q --depth 1 https://github.com/booksim/booksim2 \
		"$tmp/b" 2>/dev/null ||
		! make -s -C "$tmp/b/src" >"$tmp/log" 2>&1; then
		echo "booksim.sh: BookSim2 can't be cloned and built here: build" \
			"github.com/booksim/booksim2, and give BOOKSIM=PROGRAM" >&2
		exit 2
	fi
	BOOKSIM=$tmp/b/src/booksim
fi
cd "$here"
BOOKSIM=$(realpath -m "$BOOKSIM")
export BENCH BOOKSIM
python3 "$root/devtools/peers/booksim.py" "$@"
