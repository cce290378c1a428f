/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLOCK_NS_H
#define CLOCK_NS_H

/** @file The kernel's clocks as one number. */

#include <stdint.h>
#include <time.h>

/** Any thread. */
static inline uint64_t
clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif /* CLOCK_NS_H */
