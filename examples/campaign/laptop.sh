#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A campaign on one machine, a process for each CPU. Stop it with Ctrl-C; the
# same command goes on.
#
# usage: laptop.sh DIR [option of reflit-sim campaign ...]
set -eu
sim=${REFLIT_SIM:-reflit-sim}
jobs=${JOBS:-$(nproc)}
dir=${1:?usage: laptop.sh DIR [option ...]}
shift
mkdir -p "$dir"
for i in $(seq "$jobs"); do
	"$sim" campaign --store "$dir/$i.store" --shard "$i/$jobs" "$@" &
done
wait
"$sim" merge --store "$dir/all.store" "$dir"/[0-9]*.store
