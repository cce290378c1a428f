/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DETOUR_TREE_H
#define DETOUR_TREE_H

/**
 * @file Detours that need no controller [ROUTE-6]: two planes, two VLs, and a
 * path round any one link of any fabric that has such a path.
 *
 * A switch whose link to its next hop is dead knows only that, and the switches
 * behind it know nothing. But a packet on a path that never returns to a switch
 * uses a link of that switch only as its first hop there. So any loop-free
 * plane will do if its next hop is not the dead link. The difficulty is to have
 * one for every link, with few VLs.
 *
 * Take a spanning tree. On plane `tree` a packet follows it: there is one path
 * between any two nodes, and no cycle of dependencies on one VL. That works if
 * the tree's next hop is not the dead link L itself. Otherwise L = (a, b) is a
 * tree edge, b below a, and its loss separates the nodes below b from the rest;
 * some link outside the tree joins the two sides again, unless L is a bridge.
 * On plane `away` the packet looks for such a link, knowing only its place (w)
 * and its destination (t); there it changes to plane `tree`, whose path from
 * there on does not contain L.
 *
 * Away, w not above t (t is on the other side; a dive). Of the links that leave
 * the subtree of w, the packet takes the one that lands deepest on the path
 * from the root to t, if any lands below the point where that path separates
 * from w's own; otherwise the one that leads out highest. It leads out of the
 * subtree of b, since b is at w or above it, and below that point.
 *
 * Away, w above t (a climb). The packet has come up from some a, L unknown but
 * below it. Let reach(w) be the deepest point of the path from w down to t that
 * a link from the nodes below w (not below the next node on that path) lands
 * beneath. If the deepest L of all packets that may be here is above it, all
 * take that link (by a dive, if it does not start at w itself); otherwise all
 * climb on. Higher nodes have no fewer links, so no packet climbs in vain.
 * Bridges don't count among those L.
 *
 * On `away` packets go up the tree, then down it, so one VL has no cycle
 * either; they then change to `tree`, and never back.
 *
 * An endpoint with several switches is a leaf of the tree below the first of
 * them (its home), and its other links are outside the tree. If the switches
 * are in several parts, each part has its own tree and home.
 */

#include "route_impl.h"
#include "updown_order.h"

struct detour_tree {
	const struct route_graph *g;
	unsigned int away; /**< planes */
	unsigned int tree;
	uint32_t *order;   /**< [nnode] nodes, parents before children */
	uint32_t *parent;  /**< [node] arc to the parent; ROUTE_NONE: root */
	uint32_t *root;	   /**< [node] root of the part it is in */
	uint32_t *depth;   /**< [node] */
	uint32_t *top;	   /**< [node] depth that links from below lead out to */
	uint32_t *top_via; /**< [node] arc towards that link, or the link */
	struct route_ranked *aside; /**< [aside0[node] ..] links not in the tree */
	uint32_t *aside0;  /**< [node + 1] */
	/* of n destinations, [node][lane] */
	uint32_t n;
	int32_t *above;	   /**< node above the destination, or its home */
	int32_t *val;	   /**< depth of the last node above it (or itself) that
				is above the destination too */
	int32_t *key;	   /**< deepest landing of links from below, see .c */
	/* of these, [lane][node] */
	uint32_t *homes;   /**< [root] node; ROUTE_NONE: none in this part */
	uint32_t *nexts;
	uint32_t *vias;
	/* of the current destination: one lane of the above */
	uint32_t *home;
	uint32_t *next;	   /**< [node] arc on plane tree; ROUTE_NONE at home */
	uint32_t *via;	   /**< [node] arc on plane away, or ROUTE_EJECT */
	void *mem;
};

/** In via[]: a link to the destination itself. */
#define ROUTE_EJECT (UINT32_MAX - 1)

/**
 * Builds the tree from @p root; away is plane and tree plane + 1, each with a
 * VL of its own. Returns 0 or -ENOMEM.
 */
int detour_tree_init(struct detour_tree *d, const struct route_graph *g,
		      uint32_t root, unsigned int plane);
void detour_tree_free(struct detour_tree *d);

/**
 * Plans for the @p n destinations @p e, at most ROUTE_TILE of them: every node
 * is visited once, for all of them together.
 */
void detour_tree_plan(struct detour_tree *d, const uint32_t *e, uint32_t n);

/** Sets @p d up for the destination of @p lane. */
static inline void
detour_tree_dst(struct detour_tree *d, uint32_t lane)
{
	const size_t at = (size_t)lane * d->g->nnode;

	RL_ASSERT(lane < d->n);
	d->home = d->homes + at;
	d->next = d->nexts + at;
	d->via = d->vias + at;
}

/**
 * Adds to @p h the detour of node @p u to endpoint @p e around the arc
 * @p dead (ROUTE_EJECT: the links from u to e themselves).
 */
void detour_tree_add(const struct detour_tree *d, struct route_hops *h,
		      uint32_t u, uint32_t e, uint32_t dead);

/** Writes the entries of the two planes for endpoint @p e. */
void detour_tree_fill(const struct detour_tree *d, struct route_build *b,
		       uint32_t e);

/** Tells route_tables_init() that these planes have one next hop. */
void detour_tree_most(struct route_build *b, unsigned int plane);

/** Gives the planes @p plane and the next the VLs @p vl and the next. */
void detour_tree_vls(struct route_build *b, unsigned int plane, uint8_t vl);

#endif /* DETOUR_TREE_H */
