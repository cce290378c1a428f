/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RANGES_H
#define RL_RANGES_H

/**
 * @file Sets of numbers kept as sorted disjoint ranges, many sets in one pool
 * of nodes: missing packets of a flow, reported packets. Such sets are nearly
 * always empty or nearly contiguous, and grow at their end.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "rl_base.h"
#include "rl_fence.h"

/** No node: the first of a pool is not used. */
#define RL_RANGE_END 0

struct rl_range {
	uint32_t lo;
	uint32_t hi; /**< the first number behind */
	uint32_t next;
};

struct rl_range_pool {
	struct rl_range *node; /**< cap nodes, the caller's */
	uint32_t cap;
	uint32_t used;	/**< nodes ever taken in order, and the first */
	uint32_t free;	/**< list of freed nodes */
	uint64_t lost;	/**< numbers without a node: sets are inexact */
	_Atomic uint32_t version; /**< of all its sets; odd: one is changing */
};

/** A set; zeroed memory is an empty one. */
struct rl_ranges {
	uint32_t head;
	uint32_t tail;
	uint32_t count; /**< numbers in it */
};

/** Owner. @p cap nodes keep cap - 1 ranges; zeroed memory keeps none. */
static inline void
rl_range_pool_init(struct rl_range_pool *p, struct rl_range *node, uint32_t cap)
{
	*p = (struct rl_range_pool){ node, cap, 1, RL_RANGE_END, 0, 0 };
}

/**
 * Owner, and not on a data path: room for the next change of one set, with
 * realloc() if need be. Such a pool begins as zeroed memory; free() its nodes.
 * @return false: no memory
 */
bool rl_range_pool_grow(struct rl_range_pool *p);

/**
 * Owner. Adds lo .. hi-1 (lo < hi); some may be in it already. Constant time at
 * the end of the set. If the pool is empty the numbers are lost, and counted in
 * pool->lost.
 */
void rl_ranges_add(struct rl_range_pool *p, struct rl_ranges *s, uint32_t lo,
		   uint32_t hi);

/**
 * Owner. Takes one number out.
 * @return whether it was in the set
 */
bool rl_ranges_take(struct rl_range_pool *p, struct rl_ranges *s, uint32_t n);

/** Owner. Whether a number is in the set. */
bool rl_ranges_has(const struct rl_range_pool *p, const struct rl_ranges *s,
		   uint32_t n);

/** Owner. Takes all numbers out. */
void rl_ranges_clear(struct rl_range_pool *p, struct rl_ranges *s);

/**
 * Owner of both sets. How many numbers below @p end two sets have in common.
 *
 * Any thread, too, if it discards the result when either pool's version was odd
 * before, or has changed afterwards.
 */
uint64_t rl_ranges_common(const struct rl_range_pool *pa,
			  const struct rl_ranges *a,
			  const struct rl_range_pool *pb,
			  const struct rl_ranges *b, uint32_t end);

/** As rl_ranges_common(). How many numbers of a set are in lo .. hi-1. */
uint64_t rl_ranges_within(const struct rl_range_pool *p,
			  const struct rl_ranges *s, uint32_t lo, uint32_t hi);

#endif /* RL_RANGES_H */
