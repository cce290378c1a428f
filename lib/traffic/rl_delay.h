/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_DELAY_H
#define RL_DELAY_H

/**
 * @file Latency and its variation: two histograms, of latency and of jitter.
 * Jitter is the difference in latency between consecutive packets of one flow
 * (RFC 3393), so neither another flow nor another path counts as jitter. Kept
 * for each VC that packets arrive by. One owner; no allocation.
 */

#include "rl_hist.h"

struct rl_delay {
	struct rl_hist latency;
	struct rl_hist jitter;
};

/** Owner. Empties it. */
static inline void
rl_delay_reset(struct rl_delay *d)
{
	rl_hist_reset(&d->latency);
	rl_hist_reset(&d->jitter);
}

/**
 * Owner. Adds a packet that took @p ns.
 *
 * @param last  of the packet's flow, kept between calls: 1 + the latency of the
 *   previous packet, 0 for none
 */
static inline void
rl_delay_add(struct rl_delay *d, uint64_t ns, uint64_t *last)
{
	rl_hist_add(&d->latency, ns);
	if (*last != 0)
		rl_hist_add(&d->jitter, ns >= *last - 1 ? ns - (*last - 1)
							: *last - 1 - ns);
	*last = ns + 1;
}

/** Owner of both. Adds all of @p from to @p to. */
static inline void
rl_delay_merge(struct rl_delay *to, const struct rl_delay *from)
{
	rl_hist_merge(&to->latency, &from->latency);
	rl_hist_merge(&to->jitter, &from->jitter);
}

#endif /* RL_DELAY_H */
