/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFLIT_REPLAN_H
#define REFLIT_REPLAN_H

/** @file Detours after an update; see reflit_replan.c. */

#include "reflit_update.h"

/* Entries to look at again: above that, all may as well be computed. */
#define REPLAN_MARKS (1u << 20)
/* Nodes that may move in the order, and arcs that may turn round. */
#define REPLAN_MOVES 8
#define REPLAN_TURNED 64

/* How a destination was led over dead links: up the order only, or down. */
#define HIT_UP 1
#define HIT_DOWN 2

struct replan {
	uint8_t *hit_next; /* [endpoint] plane up*-down* led over a dead link */
	uint8_t *hit_via;  /* [endpoint] plane away did */
	uint32_t *moved;   /* nodes with another parent in the tree, and those */
	uint32_t nmoved;
	bool tree_changed;
	uint32_t *rank;	    /* [node] the order now */
	uint32_t *end;	    /* nodes that lost a link */
	uint32_t nend;
	uint32_t turned[REPLAN_TURNED]; /* arcs that turned round in it */
	uint32_t nturned;
	uint64_t *mark; /* node << 32 | endpoint */
	uint32_t nmark;
};

static inline uint32_t
replan_home(const struct route_graph *g, uint32_t e)
{
	return g->att[g->att0[e]].node;
}

/* Planes with entries lie below: escapes are there once links have failed. */
static inline unsigned int
update_planes_used(const struct update *up)
{
	return up->st->all_planes ? up->rf.wrap :
	       up->st->rank != NULL ? up->rf.late : up->rf.up;
}

static inline const uint8_t *
replan_next(const struct reflit *rf, uint32_t e)
{
	return rf->plan->next + (size_t)e * rf->plan->nnode;
}

/**
 * Hops from node w to endpoint e on plane up*-down*, by the plan, or ROUTE_FAR;
 * sets *through where node u is on the way.
 */
uint32_t reflit_replan_walk(const struct reflit *rf, uint32_t w, uint32_t e,
			    uint32_t u, bool *through);

/**
 * Adds to @p h what node u does where its arc @p dead to e is dead, by the plan
 * of tables that are being updated.
 */
void reflit_replan_add(const struct reflit *rf, struct route_hops *h,
		       uint32_t u, uint32_t e, uint32_t dead);

/**
 * Whether node u goes down to endpoint e, by the plan; sets *next to the arc
 * (ROUTE_NONE at the end), and *hops.
 */
bool reflit_replan_down(const struct reflit *rf, uint32_t u, uint32_t e,
			uint32_t *next, uint32_t *hops);

/** Allocates. Returns 0, -ENOMEM, or 1: all has to be planned anew. */
int update_replan_init(struct update *up);
void update_replan_free(struct update *up);

/** Brings the plan up to date, and planes away and tree with it. */
void update_replan(struct update *up);

/** The entry of node u on plane away. Returns whether it is another now. */
bool update_replan_away(struct update *up, uint32_t u, uint32_t e);

/** Node u lost a link: its entries do without. */
void update_replan_node(struct update *up, uint32_t u);

/**
 * Entries whose detours have changed. Last, when first hops are right. Returns
 * false where there are so many that all may as well be computed.
 */
bool update_replan_entries(struct update *up);

#endif /* REFLIT_REPLAN_H */
