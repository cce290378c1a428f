/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_HIST_H
#define RL_HIST_H

/**
 * @file
 * A histogram of times with the same relative resolution everywhere: 128
 * buckets an octave, so that a quantile is off by less than 0.8 %. Values
 * below 256 are exact; values of 2^44 (nearly five hours in ns) and more
 * share the last bucket, and `max` stays exact. Adding is a shift and an
 * increment. One owner; no allocation.
 */

#include <stdint.h>

#include "rl_base.h"

#define RL_HIST_SUB_BITS 7
#define RL_HIST_VALUE_BITS 44
#define RL_HIST_BUCKETS                                                        \
	((RL_HIST_VALUE_BITS - RL_HIST_SUB_BITS + 1) << RL_HIST_SUB_BITS)

struct rl_hist {
	uint64_t count;
	uint64_t sum;
	uint64_t min; /**< UINT64_MAX while empty */
	uint64_t max;
	uint64_t bucket[RL_HIST_BUCKETS];
};

/** Owner. Empties it. */
void rl_hist_reset(struct rl_hist *h);

/** Any thread. Bucket of a value. */
static inline uint32_t
rl_hist_index(uint64_t v)
{
	uint32_t shift;

	if (v >> RL_HIST_SUB_BITS == 0)
		return (uint32_t)v;
	shift = 63 - RL_HIST_SUB_BITS - (uint32_t)__builtin_clzll(v);
	if (shift >= RL_HIST_VALUE_BITS - RL_HIST_SUB_BITS)
		return RL_HIST_BUCKETS - 1;
	return (shift << RL_HIST_SUB_BITS) + (uint32_t)(v >> shift);
}

/** Any thread. Largest value of a bucket. */
uint64_t rl_hist_upper(uint32_t index);

/** Owner. Adds one value. */
static inline void
rl_hist_add(struct rl_hist *h, uint64_t v)
{
	h->bucket[rl_hist_index(v)]++;
	h->count++;
	h->sum += v;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
}

/** Owner of both. Adds all of @p from to @p to. */
void rl_hist_merge(struct rl_hist *to, const struct rl_hist *from);

/**
 * Owner. The value that @p parts of 100000 of all values do not exceed (50000:
 * median, 99000: p99, 99900: p99.9): the upper end of its bucket, but never
 * above `max`. 0 if the histogram is empty.
 */
uint64_t rl_hist_quantile(const struct rl_hist *h, uint32_t parts);

/** Owner. Mean, rounded down; 0 if it is empty. */
uint64_t rl_hist_mean(const struct rl_hist *h);

#endif /* RL_HIST_H */
