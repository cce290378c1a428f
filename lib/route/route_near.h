/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_NEAR_H
#define ROUTE_NEAR_H

/** @file Shortest ways to one destination. */

#include "route_graph.h"

struct route_near {
	uint32_t *dist;	 /**< [node] links between switches; ROUTE_NONE: none */
	uint32_t *next;	 /**< [node] arc; ROUTE_NONE at the end */
	uint32_t *queue; /**< nodes with a way, by distance */
	uint32_t nqueue;
	uint32_t *used;	 /**< [arc] destinations that have taken it so far */
};

/** Returns 0 or -ENOMEM. For a zeroed object. */
int route_near_init(struct route_near *n, const struct route_graph *g);
void route_near_free(struct route_near *n);

/** The ways to endpoint @p e; of equal ones, those least used so far. */
void route_near_dst(struct route_near *n, const struct route_graph *g,
		    uint32_t e);

#endif /* ROUTE_NEAR_H */
