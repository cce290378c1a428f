/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SILENCE_H
#define RL_SILENCE_H

/**
 * @file The longest silence of a flow with packets to send: from the creation
 * of a packet, or the arrival of the one before it, whichever was later, to its
 * arrival. Zeroed: nothing has arrived. The receiver's lcore owns it.
 */

#include "rl_base.h"

struct rl_silence {
	uint64_t arrived_ns; /**< when the last packet arrived */
	uint64_t ns;	     /**< the longest */
	uint64_t end_ns;     /**< when that one ended */
};

/** Owner. A packet that was made at @p made_ns arrives. */
static inline void
rl_silence_add(struct rl_silence *s, uint64_t made_ns, uint64_t now_ns)
{
	const uint64_t from = rl_max_u64(s->arrived_ns, made_ns);

	s->arrived_ns = now_ns;
	if (now_ns > from && now_ns - from > s->ns) {
		s->ns = now_ns - from;
		s->end_ns = now_ns;
	}
}

#endif /* RL_SILENCE_H */
