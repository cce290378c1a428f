/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_TSAN_H
#define RL_TSAN_H

/**
 * @file
 * What ThreadSanitizer cannot see: DPDK's mempools and drivers hand frames from
 * lcore to lcore inside libraries that are not instrumented. These marks say
 * so where our code gives a frame away, and where it gets one. In other builds
 * they are nothing.
 */

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);

/** Any thread. What it wrote so far is seen by whoever gets by @p key. */
static inline void
rl_tsan_give(const void *key)
{
	__tsan_release((void *)(uintptr_t)key);
}

/** Any thread. It sees what was written by whoever gave by @p key. */
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
