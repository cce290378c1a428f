/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_GRID_H
#define ROUTE_GRID_H

/**
 * @file Tori and meshes for the dimension-order engines. A dimension is an
 * index, a direction one of two, so that no rule is repeated per dimension. The
 * order of dimensions is the order of routing.
 */

#include "route_impl.h"

/** Directions out of a node: 2 * dimension, plus 1 for the negative one. */
#define GRID_WAYS (2 * RL_DIMS_MAX)

struct route_grid {
	const struct route_graph *g;
	unsigned int ndims;
	unsigned int last; /**< last dimension with a radix over 1 */
	uint16_t radix[RL_DIMS_MAX];
	bool wrap[RL_DIMS_MAX];
	uint32_t stride[RL_DIMS_MAX];
	uint16_t (*coord)[RL_DIMS_MAX];
	uint32_t (*arc)[GRID_WAYS]; /**< ROUTE_NONE: no working link */
	/** consecutive working links in that direction, below the radix */
	uint16_t (*run)[GRID_WAYS];
};

/** Returns 0 or -ENOMEM. The topology is a torus or a mesh. */
int route_grid_init(struct route_grid *gr, const struct route_graph *g);
void route_grid_free(struct route_grid *gr);

static inline bool
route_grid_dead(const struct route_grid *gr, uint32_t u)
{
	return gr->g->topo->dev[u].failed;
}

/** Node u with a different coordinate in dimension d. */
static inline uint32_t
route_grid_at(const struct route_grid *gr, uint32_t u, unsigned int d,
	      uint32_t coord)
{
	return u + (coord - gr->coord[u][d]) * gr->stride[d];
}

/**
 * The shorter direction from coordinate @p from to @p to of dimension @p d (0:
 * +, 1: -), only by the positions; a tie does not wrap. Sets *hops.
 */
static inline unsigned int
route_grid_short(const struct route_grid *gr, unsigned int d, uint32_t from,
		 uint32_t to, uint32_t *hops)
{
	const uint32_t direct = from < to ? to - from : from - to;
	const uint32_t around = gr->radix[d] - direct;

	if (gr->wrap[d] && around < direct) {
		*hops = around;
		return from < to;
	}
	*hops = direct;
	return from > to;
}

#endif /* ROUTE_GRID_H */
