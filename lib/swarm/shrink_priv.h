/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHRINK_PRIV_H
#define SHRINK_PRIV_H

/** @file Parts of the shrinking; shrink*.c alone. */

#include "rl_swarm_shrink.h"

/**
 * A step is tried so: change the plan (lists by shrink_faults() and
 * shrink_topo(), which leave the old ones to the plan before), then
 * shrink_keep(): either the plan still fails, or it is again what it was.
 */
struct shrinking {
	struct rl_swarm_shrink *s;
	struct rl_swarm_plan *plan;
	struct rl_swarm_plan *old; /**< before this step */
	uint64_t seeds;		 /**< to try besides the plan's own */
	uint64_t sent;		 /**< by the smallest plan that failed */
	bool changed;		 /**< something was left out in this round */
	int err;
};

/** @return whether the plan fails as it is */
bool shrink_ask(struct shrinking *sh);

/** Ends a step. @return whether it is kept */
bool shrink_keep(struct shrinking *sh);

/** The plan's faults as a list of its own. @return false: no memory */
bool shrink_faults(struct shrinking *sh);

/** All that can be done to the fabric, once. shrink_topo.c */
void shrink_fabric(struct shrinking *sh);

#endif /* SHRINK_PRIV_H */
