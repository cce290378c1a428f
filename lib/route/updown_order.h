/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UPDOWN_ORDER_H
#define UPDOWN_ORDER_H

/**
 * @file Up*-down* routing. The nodes are ordered; an arc to a node of lower
 * rank goes up, its reverse goes down. A path goes up, then down, and never up
 * again: each of its channels comes before the next in one order of all
 * channels, so the dependencies have no cycle, on one VL.
 *
 * The tables know only where a packet is and where it goes, not where it came
 * from. So a node from which the destination can be reached by only going down
 * always goes down (its next node can do so too); all others go up.
 */

#include "route_graph.h"

/** One of a node's arcs, by its number among them. */
struct route_ranked {
	uint32_t to;
	int32_t idx; /**< plus graph->first[node]: the arc */
};

struct updown_order {
	const struct route_graph *g;
	uint32_t *rank;	 /**< [node] unique; a root has the lowest of its part */
	uint32_t *value; /**< [node] in the same order, but with gaps: failures
			      change few of them */
	uint32_t *node;	 /**< [rank] the inverse */
	/** [graph->first[node] ..] the arcs of a node: those up come first,
	    those down from middle[node] on */
	struct route_ranked *ranked;
	uint32_t *middle;
	uint32_t *arc_mask; /**< [node] 2^n - 1, no less than any idx */
};

/** Distance of unreachable nodes. */
#define ROUTE_FAR 0x20000000u

/** The path of every node to one destination. */
struct updown_tree {
	uint32_t *dist;	 /**< [node] hops to a node it is attached to */
	uint32_t *next;	 /**< [node] arc; ROUTE_NONE there and without a path */
	bool *down;	 /**< [node] can go down all the way */
};

/** Whether it is a grid with some open dimension. */
bool route_grid_ends(const struct rl_topo *t);

/**
 * Finds a node in the middle of the intact fabric, or one near it if that does
 * not work. Returns 0 or -ENOMEM.
 */
int route_root(const struct route_graph *g, uint32_t *root);

/**
 * Orders the nodes by a breadth-first search from @p root in the intact fabric,
 * so that a failure changes little. A node that has lost all links to those
 * before it comes right after its first remaining neighbour. Returns 0 or
 * -ENOMEM.
 */
int updown_order_init(struct updown_order *o, const struct route_graph *g,
		     uint32_t root);
void updown_order_free(struct updown_order *o);

/** Whether arc @p a goes up. */
static inline bool
updown_is_up(const struct updown_order *o, uint32_t a)
{
	return o->rank[o->g->arc[a].to] < o->rank[o->g->tail[a]];
}

#endif /* UPDOWN_ORDER_H */
