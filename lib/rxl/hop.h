/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_HOP_H
#define RXL_HOP_H

/**
 * @file
 * One direction of a path: links with their errors, and between them switches
 * that do what an RXL hop does [LCB-4, SW-2]: check the FEC, correct, drop
 * what can't be corrected, forward the rest. No buffers and no time: those are
 * the callers'. Trials and virtual time share it.
 */

#include "rl_rxl_trial.h"

struct rxl_hops {
	const struct rl_codec *codec;
	unsigned int levels;
	bool every_hop; /**< run the FEC on intact flits too */
	struct rl_error wire[RL_RXL_LEVELS_MAX + 1];
	struct rl_error inside[RL_RXL_LEVELS_MAX];
	struct rl_rxl_link_tally link[RL_RXL_LEVELS_MAX + 1];
	uint64_t hurt_inside;
};

/** What came out at the far end. */
enum rxl_fate {
	RXL_INTACT,  /**< nothing ever touched it */
	RXL_RIGHT,   /**< the last FEC puts it right */
	RXL_WRONG,   /**< the destination must find out */
	RXL_DROPPED, /**< by a switch that noticed */
	RXL_LOST,    /**< by a wire, unnoticed */
};

/** Owner. Seeds every process by itself. */
void rxl_hops_init(struct rxl_hops *h, const struct rl_rxl_trial_cfg *cfg,
		   const struct rl_codec *codec);

/** Owner. Flits that reach the far end untouched from here on. */
uint64_t rxl_hops_clean_run(const struct rxl_hops *h);

/** Owner. Lets @p n flits of the clean run pass. */
void rxl_hops_skip(struct rxl_hops *h, uint64_t n);

/**
 * Owner. One flit through all of it. @p wire is altered as the links and
 * switches alter it; the last link's errors are left for the destination.
 *
 * @param where  set to the switch (1..levels) that dropped it, or the link
 *   that lost it; 0 otherwise
 */
enum rxl_fate rxl_hops_cross(struct rxl_hops *h, uint8_t *wire,
			     unsigned int *where);

#endif /* RXL_HOP_H */
