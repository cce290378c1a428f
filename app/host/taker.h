/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TAKER_H
#define TAKER_H

/**
 * @file
 * How long to wait for a port that takes no frames. It may be full for a
 * moment, or have no reader: a virtual machine that is missing or frozen, an
 * interface that is down. Frames for it wait with the endpoint, and cause
 * backpressure to their senders. So the wait is bounded; after that, frames are
 * dropped until the port takes one again.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rl_base.h"

/** How long frames wait: for a port without a link, and for other ports. */
#define TAKER_DOWN_NS (10 * RL_NS_PER_MS)
#define TAKER_UP_NS (100 * RL_NS_PER_MS)

/** Zeroed: it takes frames. Owned by the lcore of the client. */
struct taker {
	uint64_t since_ns; /**< takes none since; 0: it takes them */
	bool gone;	   /**< no longer waited for */
};

/**
 * The client's lcore, after each attempt to write. @p taken frames were
 * written, @p left were not; @p down: the port is known to have no link.
 *
 * @return whether to drop the rest
 */
static inline bool
taker_gone(struct taker *t, uint32_t taken, uint32_t left, bool down,
	   uint64_t now_ns)
{
	if (taken != 0) {
		*t = (struct taker){ 0 };
		return false;
	}
	if (left == 0)
		return false;
	if (t->since_ns == 0)
		t->since_ns = rl_max_u64(now_ns, 1);
	t->gone = t->gone || now_ns - t->since_ns >=
				     (down ? TAKER_DOWN_NS : TAKER_UP_NS);
	return t->gone;
}

#endif /* TAKER_H */
