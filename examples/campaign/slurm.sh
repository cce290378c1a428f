#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A campaign as a Slurm array: each task is a shard, and ends before its time
# does. What is left when all have ended is done by the same job once more.
# DIR must be on a file system that all nodes share.
#
#   sbatch --array=1-100 --export=ALL,DIR=/shared/run slurm.sh --seeds 1000000000 --block 1000
#   reflit-sim merge --store /shared/run.store /shared/run/*.store
#
#SBATCH --job-name=reflit-campaign
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -eu
sim=${REFLIT_SIM:-reflit-sim}
shard=$SLURM_ARRAY_TASK_ID
shards=${SLURM_ARRAY_TASK_COUNT:-$SLURM_ARRAY_TASK_MAX}
mkdir -p "$DIR"
# exec: Slurm's signals reach the campaign itself
exec "$sim" campaign --store "$DIR/$shard.store" --shard "$shard/$shards" \
	--time-budget "${BUDGET:-230min}" "$@"
