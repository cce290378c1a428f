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
};

/** Returns 0 or -ENOMEM. */
int route_near_init(struct route_near *n, uint32_t nnode);
void route_near_free(struct route_near *n);

/** The ways to endpoint @p e; equal ones are taken in turn. */
void route_near_dst(struct route_near *n, const struct route_graph *g,
		    uint32_t e);

#endif /* ROUTE_NEAR_H */
