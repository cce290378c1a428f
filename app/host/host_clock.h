/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

/**
 * @file
 * Time on lcores: nanoseconds from the time stamp counter. A loop reads it once
 * an iteration and passes it down, so that all of an iteration has the same
 * time.
 */

#include <stdint.h>

#include <rte_cycles.h>

struct host_clock {
	uint64_t base_tsc;
	uint64_t mult; /**< ns per tick, with 32 fractional bits */
};

/** Clocks start at one second, because 0 means "never" in many places. */
#define HOST_CLOCK_START_NS 1000000000ull

/** Control thread, after EAL's start. */
static inline void
host_clock_init(struct host_clock *c)
{
	c->base_tsc = rte_get_tsc_cycles();
	c->mult = (uint64_t)(((unsigned __int128)1000000000u << 32) /
			     rte_get_tsc_hz());
}

/** Any thread. Same time on all lcores (invariant TSC). */
static inline uint64_t
host_clock_ns(const struct host_clock *c)
{
	const uint64_t d = rte_rdtsc() - c->base_tsc;

	return HOST_CLOCK_START_NS +
	       (uint64_t)(((unsigned __int128)d * c->mult) >> 32);
}

#endif /* HOST_CLOCK_H */
