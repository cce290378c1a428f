/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SEEN_H
#define RL_SEEN_H

/**
 * @file
 * The judge of one flow: exactly once, and in order. The packets of a flow are
 * numbered from 0. A number that is passed over is missing. If it arrives
 * later, the order was broken; if it never arrives, it is lost, unless it was
 * reported to its source. Contents are judged before numbers: rl_content.h.
 *
 * The receiver owns what it has seen; the source owns the set of what was
 * reported. rl_seen_open() and rl_seen_reported() read both: call them while
 * neither changes, or see rl_ranges_common(). The pool keeps what does not
 * arrive in order; numbers for which it has no room are counted in pool->lost.
 */

#include "rl_ranges.h"

/** What has arrived; zeroed memory: nothing. */
struct rl_seen {
	uint32_t next;		  /**< 1 + the highest number */
	struct rl_ranges missing; /**< numbers below it that have not */
};

enum rl_seen_verdict {
	RL_SEEN_FIRST, /**< before all that follow it */
	RL_SEEN_LATE,  /**< after a later one: out of order */
	RL_SEEN_AGAIN, /**< a duplicate */
};

/** Receiver. A packet arrives. */
static inline enum rl_seen_verdict
rl_seen_take(struct rl_range_pool *p, struct rl_seen *s, uint32_t number)
{
	const uint32_t from = s->next;

	if (rl_unlikely(number < from))
		return rl_ranges_take(p, &s->missing, number) ? RL_SEEN_LATE
							      : RL_SEEN_AGAIN;
	/* first: so that a concurrent reader counts no number twice */
	s->next = number + 1;
	if (rl_unlikely(number != from))
		rl_ranges_add(p, &s->missing, from, number);
	return RL_SEEN_FIRST;
}

/** How many numbers below @p end have not arrived. */
static inline uint64_t
rl_seen_open(const struct rl_range_pool *p, const struct rl_seen *s,
	     uint32_t end)
{
	return rl_ranges_within(p, &s->missing, 0, end) +
	       (end > s->next ? end - s->next : 0);
}

/** How many of those are in the set @p reported, whose pool is @p of. */
static inline uint64_t
rl_seen_reported(const struct rl_range_pool *p, const struct rl_seen *s,
		 const struct rl_range_pool *of,
		 const struct rl_ranges *reported, uint32_t end)
{
	return rl_ranges_within(of, reported, s->next, end) +
	       rl_ranges_common(of, reported, p, &s->missing, end);
}

#endif /* RL_SEEN_H */
