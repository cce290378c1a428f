/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_BFS_H
#define ROUTE_BFS_H

/**
 * @file
 * Shortest ways to one destination, by a breadth-first search. Of several that
 * are equally short a node takes the one whose first link carries the fewest
 * flows so far; nodes far from the destination choose first, so that each knows
 * how many flows it has to pass on.
 */

#include "route_graph.h"

struct route_bfs {
	uint32_t *dist;	 /**< [node] links between switches; ROUTE_NONE: none */
	uint32_t *next;	 /**< [node] arc; ROUTE_NONE at the end */
	uint32_t *queue; /**< nodes with a way, by distance */
	uint32_t nqueue;
	uint32_t *flows; /**< [node] flows to the destination that pass it */
	uint32_t *hosts; /**< [node] endpoints attached to it alone */
	uint32_t several; /**< endpoints with several links */
	uint64_t *load;	 /**< [arc] flows to all destinations so far */
};

/** Returns 0 or -ENOMEM. For a zeroed object. */
int route_bfs_init(struct route_bfs *n, const struct route_graph *g);
void route_bfs_free(struct route_bfs *n);

/** The ways to endpoint @p e. */
void route_bfs_dst(struct route_bfs *n, const struct route_graph *g,
		    uint32_t e);

#endif /* ROUTE_BFS_H */
