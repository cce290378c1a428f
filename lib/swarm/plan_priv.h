/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLAN_PRIV_H
#define PLAN_PRIV_H

/**
 * @file The parts of drawing a plan; private to plan*.c.
 */

#include "rl_swarm_plan.h"

/* plan_fabric.c: topology and tables */
int plan_fabric(struct rl_swarm_plan *plan, struct rl_prng *prng, char *err);

/* plan_config.c: link and endpoint groups */
void plan_link(struct rl_swarm_plan *plan, struct rl_prng *prng);
void plan_endpoint(struct rl_swarm_plan *plan, struct rl_prng *prng);

/* plan_faults.c: one failure at a time; @return when the last one has healed */
uint64_t plan_strict_faults(struct rl_swarm_plan *plan, struct rl_prng *prng,
			    int *err);

/** @return a value, uniform over orders of magnitude */
uint64_t plan_log(struct rl_prng *prng, uint64_t lo, uint64_t hi);

/** @return true once in @p n times */
static inline bool
plan_one_in(struct rl_prng *prng, uint32_t n)
{
	return rl_prng_below(prng, n) == 0;
}

/** Draws lasting faults and the controller; after the faults that heal. */
int plan_resil(struct rl_swarm_plan *plan, struct rl_prng *prng);

/** Lets endpoints that are cut off be given up within the time of a run. */
void plan_let_reports(struct rl_swarm_plan *plan, struct rl_prng *prng);

/** Something must declare links dead that fail for good. */
void plan_detect(struct rl_swarm_plan *plan);

#endif /* PLAN_PRIV_H */
