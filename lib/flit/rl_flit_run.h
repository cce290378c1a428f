/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FLIT_RUN_H
#define RL_FLIT_RUN_H

/**
 * @file
 * Runs: flits that came one behind the other, in the middle of a packet, and
 * are alike. Each of them has a line of state, and by the time their packet
 * leaves, those lines are far away. The first of a run knows the others and
 * what comes after them, so that whoever wants to know of all looks at one line
 * in four, and waits for none of the others.
 *
 * A run is a hint beside the chain: `next` joins all flits, whether in runs or
 * not. It holds as long as the chain and what the flits have in common stay as
 * they are, or change for all of them alike. rl_packet_start() and
 * rl_packet_append() end it for the flit they take; who changes a single flit's
 * state must do so too (rl_run_none()).
 *
 * rl_flit.run: the flits of the run in the low bits, and the flit behind it,
 * NULL where that is to be asked of the last. A packet's head is never the first
 * of a run; while the packet grows, its word is the first of the newest run.
 *
 * All functions: the owner of the flits.
 */

#include "rl_flit.h"

/** Flits of a run at most. */
#define RL_RUN_FLITS 4

#define RL_RUN_MASK ((uint64_t)RL_CACHE_LINE - 1)

_Static_assert(sizeof(((struct rl_flit *)0)->mate) ==
		       (RL_RUN_FLITS - 1) * sizeof(struct rl_flit *),
	       "the first knows the others");

/** @p f is the first of no run. */
static inline void
rl_run_none(struct rl_flit *f)
{
	f->run = 0;
}

/** Flits of the run that @p f is the first of; 0: of none. */
static inline unsigned int
rl_run_flits(const struct rl_flit *f)
{
	return f->run & RL_RUN_MASK;
}

/** The flit behind the run of @p f, which has one. */
static inline struct rl_flit *
rl_run_next(const struct rl_flit *f)
{
	struct rl_flit *next =
		(struct rl_flit *)(uintptr_t)(f->run & ~RL_RUN_MASK);

	return rl_likely(next != NULL) ? next
				       : f->mate[rl_run_flits(f) - 2]->next;
}

/** The newest run of a growing packet; NULL: @p f does not end by one. */
static inline struct rl_flit *
rl_run_newest(const struct rl_flit *head)
{
	return (struct rl_flit *)(uintptr_t)head->run;
}

/**
 * @p f joins the packet of @p head behind all others: its newest run, if it ends
 * by one, knows it. @p newest: the first of the run that @p f is, or NULL.
 */
static inline void
rl_run_follow(struct rl_flit *head, struct rl_flit *f, struct rl_flit *newest)
{
	struct rl_flit *run = rl_run_newest(head);

	if (run != NULL)
		run->run |= (uintptr_t)f;
	head->run = (uintptr_t)newest;
}

/**
 * @p n flits, which are alike, are about to join the packet of @p head, behind
 * all others: makes runs of them.
 */
static inline void
rl_run_make(struct rl_flit *head, struct rl_flit *const f[], unsigned int n)
{
	while (n >= 2) {
		const unsigned int m = n < RL_RUN_FLITS ? n : RL_RUN_FLITS;

		f[0]->run = m;
		for (unsigned int i = 1; i < m; i++)
			f[0]->mate[i - 1] = f[i];
		rl_run_follow(head, f[0], f[0]);
		f += m;
		n -= m;
	}
	if (n != 0)
		rl_run_follow(head, f[0], NULL);
}

#endif /* RL_FLIT_RUN_H */
