/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SHARED_H
#define RL_SHARED_H

/**
 * @file
 * Counters that one lcore writes and one other reads: how a port and its
 * switch core tell each other about buffer space. Every counter runs freely
 * and only grows; the difference of two is the room in between. This is one
 * of the few files with atomics; each acquire names its release.
 *
 * The flits themselves pass through rings, which order the memory they point
 * to. These counters only bound how much may be in a ring, so a stale value is
 * merely cautious. One flag is shared in the same way: that the core has
 * packets that only this port could carry.
 */

#include "rl_base.h"

/** Touched by the functions below alone. C11's atomics are not C++'s, so the
    fields are plain, and the functions use the compiler's. */
struct rl_port_shared {
	/** Written by the core: flits that left it, by the VC they came in
	    on. */
	union {
		uint32_t freed[RL_VCS];
		uint64_t freed_word[RL_VCS / 2]; /**< read, two at once */
	} RL_ALIGNED(RL_CACHE_LINE);
	/**
	 * Written by the core, by rl_shared_write(): 1 while packets wait there
	 * that only this port could carry, else 0. A port that is held down for
	 * flapping then trains at once.
	 */
	uint32_t wanted;
	/** Written by the port: flits taken off its egress queue, by VC. */
	uint32_t taken[RL_VCS] RL_ALIGNED(RL_CACHE_LINE);
};

/** The only writer of @p c. Adds n; released to rl_shared_read(). */
static inline void
rl_shared_add(uint32_t *c, uint32_t n)
{
	uint32_t v = __atomic_load_n(c, __ATOMIC_RELAXED);

	/* release: pairs with the acquire in rl_shared_read() */
	__atomic_store_n(c, v + n, __ATOMIC_RELEASE);
}

/** The only writer of the flag @p c. Released to rl_shared_read(). */
static inline void
rl_shared_write(uint32_t *c, uint32_t v)
{
	/* the reader shares the line, so write only changes */
	if (__atomic_load_n(c, __ATOMIC_RELAXED) == v)
		return;
	/* release: pairs with the acquire in rl_shared_read() */
	__atomic_store_n(c, v, __ATOMIC_RELEASE);
}

/** Any lcore. */
static inline uint32_t
rl_shared_read(const uint32_t *c)
{
	/* acquire: pairs with the releases in rl_shared_add(), _write() */
	return __atomic_load_n(c, __ATOMIC_ACQUIRE);
}

/** The counters `freed` in words of two. */
#define RL_SHARED_WORDS (RL_VCS / 2)

/** The port. Counters 2 i (low half) and 2 i + 1 of `freed` at once. */
static inline uint64_t
rl_shared_freed_word(const struct rl_port_shared *s, unsigned int i)
{
	/* acquire: pairs with the release in rl_shared_add() */
	return __atomic_load_n(&s->freed_word[i], __ATOMIC_ACQUIRE);
}

#endif /* RL_SHARED_H */
