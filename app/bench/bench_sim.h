/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BENCH_SIM_H
#define RL_BENCH_SIM_H

/** @file What suites that run fabrics in virtual time share. Main thread. */

#include "rl_config.h"
#include "rl_route.h"
#include "rl_sim.h"
#include "rl_sim_load.h"

/**
 * Reads a fabric and makes its tables; says what is wrong.
 * @param text  libconfig; NULL: @p name is a file
 * @return 0, -EINVAL, -EHOSTUNREACH (refused), -ENOMEM; on failure @p cfg may
 *   still hold something to free
 */
int bench_sim_fabric(const char *name, const char *text, struct rl_config *cfg,
		     struct rl_route **route);

#endif /* RL_BENCH_SIM_H */
