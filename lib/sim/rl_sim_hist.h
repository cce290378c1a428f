/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_HIST_H
#define RL_SIM_HIST_H

/**
 * @file
 * A histogram of times with a relative error below 1/64: every power of two
 * is cut into 64 equal parts.
 */

#include <stdint.h>

#define RL_SIM_HIST_SUB 6 /* bits */
#define RL_SIM_HIST_SLOTS ((64 - RL_SIM_HIST_SUB + 1) << RL_SIM_HIST_SUB)

struct rl_sim_hist {
	uint64_t n;
	uint64_t max;
	uint64_t sum;
	uint64_t slot[RL_SIM_HIST_SLOTS];
};

static inline uint32_t
rl_sim_hist_slot(uint64_t v)
{
	uint32_t e;

	if (v < 1u << RL_SIM_HIST_SUB)
		return (uint32_t)v;
	e = 63 - (uint32_t)__builtin_clzll(v) - RL_SIM_HIST_SUB;
	return (e << RL_SIM_HIST_SUB) + (uint32_t)(v >> e);
}

/** Largest value that falls into a slot. */
static inline uint64_t
rl_sim_hist_top(uint32_t slot)
{
	uint32_t e;

	if (slot < 2u << RL_SIM_HIST_SUB)
		return slot;
	e = (slot >> RL_SIM_HIST_SUB) - 1;
	return (((uint64_t)slot - ((uint64_t)e << RL_SIM_HIST_SUB) + 1) << e) -
	       1;
}

static inline void
rl_sim_hist_add(struct rl_sim_hist *h, uint64_t v)
{
	h->n++;
	h->sum += v;
	if (v > h->max)
		h->max = v;
	h->slot[rl_sim_hist_slot(v)]++;
}

/** Smallest value that @p q (0..1) of all values do not exceed; 0: empty. */
static inline uint64_t
rl_sim_hist_at(const struct rl_sim_hist *h, double q)
{
	uint64_t want = (uint64_t)(q * (double)h->n + 0.5), seen = 0;

	if (h->n == 0)
		return 0;
	if (want == 0)
		want = 1;
	for (uint32_t i = 0; i < RL_SIM_HIST_SLOTS; i++) {
		seen += h->slot[i];
		if (seen >= want)
			return rl_sim_hist_top(i) < h->max ? rl_sim_hist_top(i)
							   : h->max;
	}
	return h->max;
}

#endif /* RL_SIM_HIST_H */
