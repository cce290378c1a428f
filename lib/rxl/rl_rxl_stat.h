/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RXL_STAT_H
#define RL_RXL_STAT_H

/**
 * @file
 * A rate counted in a simulation, with its 95 % interval (Wilson's, which
 * holds at zero hits and at small counts).
 */

#include "rl_base.h"

struct rl_rxl_rate {
	uint64_t hits;
	uint64_t of;
	double rate; /**< 0 where nothing was tried */
	double lo;
	double hi; /**< 1 where nothing was tried */
};

/** Any thread. @p hits out of @p of independent trials; hits <= of. */
struct rl_rxl_rate rl_rxl_rate(uint64_t hits, uint64_t of);

/** Any thread. Whether @p computed lies within the interval. */
bool rl_rxl_rate_holds(const struct rl_rxl_rate *r, double computed);

#endif /* RL_RXL_STAT_H */
