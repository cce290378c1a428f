/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FENCE_H
#define RL_FENCE_H

/**
 * @file Fences between one thread that counts and another that reads: for
 * counters and lists owned by another thread.
 */

#include <stdatomic.h>

#ifdef __SANITIZE_THREAD__ /* no fences there, and gcc warns */
#define RL_FENCE(order) atomic_signal_fence(order)
#else
#define RL_FENCE(order) atomic_thread_fence(order)
#endif

/** Any thread. Earlier writes are seen before later writes. */
static inline void
rl_fence_release(void)
{
	RL_FENCE(memory_order_release);
}

/** Any thread. Earlier reads happen before later reads. */
static inline void
rl_fence_acquire(void)
{
	RL_FENCE(memory_order_acquire);
}

#endif /* RL_FENCE_H */
