/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UPDOWN_TREES_H
#define UPDOWN_TREES_H

/**
 * @file Up*-down* paths to several destinations at a time. Nodes are visited in
 * the order of their ranks, the same for all destinations: those that go down
 * from the highest rank on, since lower nodes come first, then those that go up
 * from the lowest. So ROUTE_TILE destinations pass through every node together,
 * with a few instructions for all of them, where separate searches would suffer
 * from unpredictable branches.
 */

#include "route_lanes.h"
#include "updown_order.h"

struct updown_trees {
	const struct updown_order *o;
	uint32_t e[ROUTE_TILE]; /**< destinations that are present */
	uint32_t n;
	int32_t *turn;	 /**< [lane] a number for each destination */
	int32_t *avoid;	 /**< [node][lane] number of an arc, or none such */
	int32_t *key;	 /**< [node][lane], see updown_trees.c */
	uint32_t *dist;	 /**< [lane][node] */
	uint32_t *next;	 /**< [lane][node] */
	bool *down;	 /**< [lane][node] */
};

/** Returns 0 or -ENOMEM. For a zeroed object. */
int updown_trees_init(struct updown_trees *ts, uint32_t nnode);
void updown_trees_free(struct updown_trees *ts);

/**
 * The paths to the @p n endpoints @p e, at most ROUTE_TILE of them. Of equally
 * short ones each node takes one by the number of the destination, but not the
 * arc avoid[lane][node] if there is another. @p avoid, or the list of a lane,
 * may be NULL.
 */
void updown_trees_fill(struct updown_trees *ts, const struct updown_order *o,
		      const uint32_t *e, uint32_t n,
		      const uint32_t *const *avoid);

/** Sets @p t to the paths to the destination of @p lane. No queue. */
static inline void
updown_trees_view(const struct updown_trees *ts, uint32_t lane,
		 struct updown_tree *t)
{
	const size_t at = (size_t)lane * ts->o->g->nnode;

	RL_ASSERT(lane < ts->n);
	t->dist = ts->dist + at;
	t->next = ts->next + at;
	t->down = ts->down + at;
}

#endif /* UPDOWN_TREES_H */
