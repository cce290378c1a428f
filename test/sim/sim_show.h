/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_SHOW_H
#define SIM_SHOW_H

/** @file What a run did, for a person who looks into a failure. */

#include "rl_sim_plan.h"

/** Prints the plan with its faults. */
void sim_show_plan(const struct rl_sim_plan *plan);

/** Sets the plan up to print events as they happen, and counters at its end. */
void sim_show_follow(struct rl_sim_plan *plan, struct rl_role_sink *sink);

#endif /* SIM_SHOW_H */
