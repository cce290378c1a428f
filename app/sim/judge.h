/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JUDGE_H
#define JUDGE_H

/**
 * @file
 * Runs plans in a process of their own, so that a broken invariant, which ends
 * the process, is a finding like any other. Control thread.
 */

#include "sim_app.h"

/** What came of a plan. */
struct judged {
	bool ok;
	char why[512];	   /**< which promise was broken; "" */
	char shape[512];   /**< the fingerprint: why, without its numbers */
	uint64_t sent;	   /**< packets */
	uint64_t hash;	   /**< of the run */
};

/**
 * Runs a plan whose `route` is set and judges it: as the campaign does where
 * the plan says when faults heal, else as a run of reflit-sim.
 * @return 0; a negative errno: it could not be run
 */
int judge_plan(const struct rl_swarm_plan *plan, struct judged *j);

/** Reads a case into @p s, which setup_close() frees. @return 0; -EINVAL */
int judge_read(struct setup *s, const char *fabric, const char *faults);

/**
 * Runs @p work, which is so many @p runs, in a process of its own. It fills
 * @p result, @p len bytes.
 * @return 0; -EINTR and *sig: a signal ended it; another -errno
 */
int judge_apart(int (*work)(void *ctx, void *result), void *ctx, void *result,
		size_t len, uint64_t runs, int *sig);

/** Whether a signal that ended a run says something of the run. */
bool judge_finding(int sig);
/** What it says, in @p why of @p len bytes. */
void judge_died(int sig, char *why, size_t len);

/** The fingerprint of a broken promise, in @p shape of @p len bytes. */
void judge_shape(const char *why, char *shape, size_t len);

#endif /* JUDGE_H */
