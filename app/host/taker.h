/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TAKER_H
#define TAKER_H

/**
 * @file
 * When a port that takes no frames stops being waited for. It may be full for a
 * moment, or its reader is absent: a virtual machine that is not there, or
 * frozen, an interface that is down. What waits for it waits with the endpoint,
 * and holds its senders up. So the wait is bounded; after that frames which the
 * port does not take are thrown away, until it takes one again.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rl_base.h"

/** How long frames wait: for a port without a link, and for any other. */
#define TAKER_DOWN_NS (10 * RL_NS_PER_MS)
#define TAKER_UP_NS (100 * RL_NS_PER_MS)

/** Zeroed: it takes frames. Belongs to the client's lcore. */
struct taker {
	uint64_t since_ns; /**< it has taken none since; 0: it takes them */
	bool gone;	   /**< it is waited for no longer */
};

/**
 * The client's lcore, after each try to write. @p taken frames were, @p left
 * were not; @p down: the port has no link, as far as is known.
 *
 * @return whether to throw away what is left
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
