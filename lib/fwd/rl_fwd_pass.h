/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FWD_PASS_H
#define RL_FWD_PASS_H

/**
 * @file The data a device needs to change its tables by tokens [RES-5]: the new
 * tables, and the order in which its channels change over. `lib/resil` fills
 * it, the switch core reads it; neither depends on the other.
 *
 * A channel is a directed link and a VL. By the old tables, each hop of each
 * packet leads to a channel of higher rank: that is how these tables were
 * proven. So a packet that came in by a channel can only leave by one of higher
 * rank, and a channel that waits for lower ranks before it changes over never
 * waits for one that waits for it.
 */

#include "rl_fwd.h"

/** Ranks of the two channels of a port, by VL. */
struct rl_fwd_ranks {
	uint32_t in[RL_VCS];
	uint32_t out[RL_VCS];
};

struct rl_fwd_pass {
	const struct rl_fwd *fwd; /**< the new tables of this device */
	uint32_t epoch;		  /**< carried by tokens: of the new tables */
	uint8_t vls;	/**< the old tables use VLs below this, 1..RL_VCS; an
			     adaptive plane is beyond */
	/** [fwd->nports] proven for the old tables, of all devices */
	const struct rl_fwd_ranks *rank;
	/** [fwd->nports] an endpoint is behind it: no packet overtakes there */
	const bool *end;
};

#endif /* RL_FWD_PASS_H */
