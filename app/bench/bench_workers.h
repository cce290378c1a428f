/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BENCH_WORKERS_H
#define RL_BENCH_WORKERS_H

/**
 * @file
 * The part of suite `hop` that runs on lcores of their own, as `reflit` does.
 */

#include "bench.h"

/** EAL's --lcores: the main lcore, and a worker on each of up to two CPUs. */
#define BENCH_LCORES_MAX 64
const char *bench_lcores(char buf[BENCH_LCORES_MAX]);

/**
 * Main lcore, after bench_eal(). Throughput of a row of two switches with all
 * roles on one worker lcore, and with each half of the row on one of two.
 * Wall time: on a machine that does other work, it shows. @return 0 or -errno
 */
int bench_workers(const struct bench_opts *o, json_t *out, FILE *human);

#endif /* RL_BENCH_WORKERS_H */
