/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

/**
 * @file
 * Time on lcores: nanoseconds from the time stamp counter. Read once an
 * iteration of a loop and passed down, so that all that happens in one
 * iteration happens at one moment.
 */

#include <stdint.h>

#include <rte_cycles.h>

struct host_clock {
	uint64_t base_tsc;
	uint64_t mult; /**< ns per tick, 32 bits behind the point */
};

/** Clocks begin at one second: 0 means "never" in many places. */
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
