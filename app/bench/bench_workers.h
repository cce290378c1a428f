/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BENCH_WORKERS_H
#define RL_BENCH_WORKERS_H

/** @file Where the worker lcores of a measurement run. */

#include "bench.h"

/** EAL's --lcores: the main lcore, and a worker on each of up to two CPUs. */
#define BENCH_LCORES_MAX 64
const char *bench_lcores(char buf[BENCH_LCORES_MAX]);

#endif /* RL_BENCH_WORKERS_H */
