/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_BFS_H
#define ROUTE_BFS_H

/**
 * @file Shortest paths to one destination, by a breadth-first search. Of
 * equally short ones a node takes the one whose first link carries the fewest
 * flows so far; nodes far from the destination choose first, so that each knows
 * how many flows it forwards.
 */

#include "route_graph.h"

struct route_bfs {
	uint32_t *dist;	 /**< [node] links between switches; ROUTE_NONE: none */
	uint32_t *next;	 /**< [node] arc; ROUTE_NONE at the end */
	uint32_t *queue; /**< nodes with a path, by distance */
	uint32_t nqueue;
	uint32_t *flows; /**< [node] flows to the destination that pass it */
	uint32_t *hosts; /**< [node] endpoints attached only to it */
	uint32_t several; /**< endpoints with several links */
	uint64_t *load;	 /**< [arc] flows to all destinations so far */
	/** [endpoint][node] arc minus the first of the node, as last chosen by
	    route_bfs_dst(); NULL: not kept */
	uint16_t *way;
	/** [endpoint][endpoint] of the links of the first the one to use, unless
	    it is the nearest (ROUTE_WAY_NONE); behind way, NULL: not kept, or no
	    endpoint has several */
	uint16_t *up;
};

/** Room for way and up. @return 0 or -ENOMEM */
int route_bfs_keep(struct route_bfs *n, const struct route_graph *g);
/** Bytes of both, and other ones in their place. */
size_t route_bfs_bytes(const struct route_bfs *n, const struct route_graph *g);
void route_bfs_take(struct route_bfs *n, const struct route_graph *g,
		    uint16_t *way);

/** Limit on the arcs that route_bfs_settle() visits. In fabrics of a thousand
    switches one round takes longer than it is worth. */
#define ROUTE_SETTLE_ARCS 10000000u

/** No path, in route_bfs.way. */
#define ROUTE_WAY_NONE UINT16_MAX


/** Returns 0 or -ENOMEM. For a zeroed object. */
int route_bfs_init(struct route_bfs *n, const struct route_graph *g);
void route_bfs_free(struct route_bfs *n);

/** Computes the paths to endpoint @p e. */
void route_bfs_dst(struct route_bfs *n, const struct route_graph *g,
		    uint32_t e);

/**
 * After route_bfs_dst() for all endpoints, once, if paths are kept: moves flows
 * off crowded links, as long as the load of the busiest link falls, and within
 * a limit on time. Endpoints with several links may use one from which the path
 * is a link longer, if that lowers this load by an eighth. route_bfs_kept() then
 * gives the best paths, and up the links.
 *
 * @param busiest  set to the flows on the busiest link
 * @return whether there was memory for it; otherwise nothing is changed
 */
bool route_bfs_settle(struct route_bfs *n, const struct route_graph *g,
		      uint64_t *busiest);

/** The paths to endpoint @p e after route_bfs_settle(). */
void route_bfs_kept(struct route_bfs *n, const struct route_graph *g,
		    uint32_t e);

/** Steps of route_bfs_dst(): dist and queue; flows of the endpoints attached to
    each node. */
void route_bfs_search(struct route_bfs *n, const struct route_graph *g,
		      uint32_t e);
void route_bfs_flows(struct route_bfs *n, const struct route_graph *g,
		     uint32_t e);

#endif /* ROUTE_BFS_H */
