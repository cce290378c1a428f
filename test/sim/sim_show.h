/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_SHOW_H
#define SIM_SHOW_H

/**
 * @file Prints a run for the analysis of a failure.
 */

#include "rl_swarm_plan.h"

/** Describes a plan in one line. @return buf */
char *sim_show_plan_text(const struct rl_swarm_plan *plan, char *buf,
			 size_t len);

/** Prints a plan with its faults. */
void sim_show_plan(const struct rl_swarm_plan *plan);

/** Makes the plan print events as they happen, and counters at the end. */
void sim_show_follow(struct rl_swarm_plan *plan, struct rl_role_sink *sink);

#endif /* SIM_SHOW_H */
