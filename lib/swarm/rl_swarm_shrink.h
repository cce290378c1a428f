/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SWARM_SHRINK_H
#define RL_SWARM_SHRINK_H

/**
 * @file
 * Shrinks a plan that fails to a smaller one that fails in the same way
 * [SIM-2], by delta debugging: it leaves out faults, devices, links, settings,
 * packets and time, asks for each smaller plan whether it still fails, and ends
 * when nothing more can be left out. The same plan and the same answers give
 * the same result. Control path only.
 */

#include "rl_swarm_plan.h"

struct rl_swarm_shrink {
	/**
	 * Whether a plan fails in the same way; @p sent: set to the packets
	 * that it sent, if so. The plan's route is not set.
	 */
	bool (*fails)(void *ctx, const struct rl_swarm_plan *plan,
		      uint64_t *sent);
	void *ctx;
	uint32_t most; /**< runs that it may ask for */
	uint32_t runs; /**< that it has asked for */
};

/**
 * Control thread. @p plan must fail; its cfg, load, faults and the rest change,
 * and it stays the caller's. A chance to fail is lost with each packet that is
 * left out, so a smaller plan may have another seed.
 * @return 0; -EINVAL: the plan does not fail; -ENOMEM: as far as it came
 */
int rl_swarm_shrink(struct rl_swarm_shrink *s, struct rl_swarm_plan *plan);

#endif /* RL_SWARM_SHRINK_H */
