/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RECOVERY_LOG_H
#define RL_RECOVERY_LOG_H

/**
 * @file
 * Every recovery of a run, by any controller. A controller keeps only its last
 * RL_RECOVERIES, and loses them when it dies, so the host copies them here each
 * time it has served the controller. An all-zero log is empty. One thread owns
 * it.
 */

#include "rl_controller.h"

struct rl_recovery_log {
	struct rl_recovery *rec; /**< in the order in which they ended; owned */
	uint32_t n;		 /**< recoveries in @p rec */
	uint32_t cap;		 /**< room in @p rec, in recoveries */
	uint32_t seen;		 /**< number taken from the present
				      controller */
};

/** Owner. A new controller starts: its recoveries count from 0. */
void rl_recovery_log_begin(struct rl_recovery_log *l);

/**
 * Owner. Copies the recoveries that @p c has finished since the last call. If
 * memory is short, a later call copies the rest, as long as the controller
 * keeps them.
 */
void rl_recovery_log_take(struct rl_recovery_log *l,
			  const struct rl_controller *c);

/** Owner. Frees the memory; the log is empty. */
void rl_recovery_log_free(struct rl_recovery_log *l);

#endif
