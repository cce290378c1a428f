/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_LANES_H
#define ROUTE_LANES_H

/**
 * @file Numbers of ROUTE_TILE destinations in vectors, for passes that do the
 * same to all of them. Vectors have 16 bytes, which every supported machine
 * has; memory from malloc() is aligned for them.
 */

#include <stdint.h>

#include "route_impl.h"

#define ROUTE_HALVES 2

typedef int32_t route_v4 __attribute__((vector_size(16), may_alias));

struct route_v8 {
	route_v4 h[ROUTE_HALVES];
};

_Static_assert(sizeof(struct route_v8) == ROUTE_TILE * sizeof(int32_t),
	       "a lane for each destination of a tile");

/** The lanes of node @p u in an array of [node][lane]. */
static inline struct route_v8 *
route_v8_at(int32_t *lanes, uint32_t u)
{
	return (struct route_v8 *)(void *)(lanes + (size_t)u * ROUTE_TILE);
}

static inline const struct route_v8 *
route_v8_of(const int32_t *lanes, uint32_t u)
{
	return (const struct route_v8 *)(const void *)
		(lanes + (size_t)u * ROUTE_TILE);
}

/** a if mask is all ones, b if it is 0. */
static inline route_v4
route_v4_pick(route_v4 mask, route_v4 a, route_v4 b)
{
	return (a & mask) | (b & ~mask);
}

static inline route_v4
route_v4_min(route_v4 a, route_v4 b)
{
	return route_v4_pick(a < b, a, b);
}

static inline route_v4
route_v4_max(route_v4 a, route_v4 b)
{
	return route_v4_pick(a > b, a, b);
}

#endif /* ROUTE_LANES_H */
