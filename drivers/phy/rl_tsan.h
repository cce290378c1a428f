/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_TSAN_H
#define RL_TSAN_H

/**
 * @file Marks for ThreadSanitizer: DPDK's mempools and drivers pass frames
 * between lcores inside libraries that are not instrumented. These marks tell
 * it where our code gives a frame away, and where it gets one. Empty in other
 * builds.
 */

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);

/**
 * Any thread. Its earlier writes are visible to the thread that gets @p key.
 */
static inline void
rl_tsan_give(const void *key)
{
	__tsan_release((void *)(uintptr_t)key);
}

/** Any thread. It sees the writes of the thread that gave @p key. */
static inline void
rl_tsan_get(const void *key)
{
	__tsan_acquire((void *)(uintptr_t)key);
}
#else
#define rl_tsan_give(key) ((void)(key))
#define rl_tsan_get(key) ((void)(key))
#endif

#endif /* RL_TSAN_H */
