/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RECOVERY_LOG_H
#define RL_RECOVERY_LOG_H

/**
 * @file
 * Every recovery of a run, whichever controller made it. A controller keeps its
 * last RL_RECOVERIES only, and one that dies takes them with it; a host copies
 * them here each time it has served it. All zeroes is an empty log. One thread
 * owns it.
 */

#include "rl_controller.h"

struct rl_recovery_log {
	struct rl_recovery *rec; /**< in the order of their ends; owned */
	uint32_t n;		 /**< recoveries in @p rec */
	uint32_t cap;		 /**< room in @p rec, in recoveries */
	uint32_t seen;		 /**< of the present controller's */
};

/** Owner. A new controller counts from 0. */
void rl_recovery_log_begin(struct rl_recovery_log *l);

/**
 * Owner. Copies what @p c has finished since the last call. What there is no
 * memory for is copied by a later call, as long as the controller keeps it.
 */
void rl_recovery_log_take(struct rl_recovery_log *l,
			  const struct rl_controller *c);

/** Owner. Gives the memory back; the log is empty. */
void rl_recovery_log_free(struct rl_recovery_log *l);

#endif
