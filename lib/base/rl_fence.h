/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FENCE_H
#define RL_FENCE_H

/**
 * @file
 * Fences between what one thread counts and another reads: for looks at
 * counters and lists that belong to somebody else.
 */

#include <stdatomic.h>

#ifdef __SANITIZE_THREAD__ /* it knows no fences, and gcc warns of them */
#define RL_FENCE(order) atomic_signal_fence(order)
#else
#define RL_FENCE(order) atomic_thread_fence(order)
#endif

/** Any thread. What it wrote before is seen before what it writes behind. */
static inline void
rl_fence_release(void)
{
	RL_FENCE(memory_order_release);
}

/** Any thread. What it read before was read before what it reads behind. */
static inline void
rl_fence_acquire(void)
{
	RL_FENCE(memory_order_acquire);
}

#endif /* RL_FENCE_H */
