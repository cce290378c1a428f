/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFLIT_UPDATE_H
#define REFLIT_UPDATE_H

/** @file What the two halves of an update share; see reflit_update.c. */

#include "route_reflit.h"

struct replan;

/* A ring that lost a link: all nodes on it, and its dimension. */
struct update_ring {
	uint32_t base; /* its node with coordinate 0 */
	unsigned int d;
};

struct update {
	struct reflit rf;
	struct route_build b;
	struct reflit_state *st;
	struct route_mem *m;
	struct update_ring *ring;
	uint32_t nring;
	uint32_t *dead; /* links */
	uint32_t ndead;
	uint32_t *stamp;   /* [node] destination that up_cost holds for, + 1 */
	uint32_t *written; /* [node] endpoint that plane up is written for, + 1 */
	uint32_t *source;  /* nodes whose path to rf.t is chosen anew */
	uint32_t nsource;
	bool *is_source;   /* [node] */
	uint8_t *others;   /* [node] destination has sources of classes 1..3 */
	struct route_tree down; /* of rf.t: who goes down */
	uint32_t hosts;	   /* endpoints of a switch */
	struct replan *replan; /* where there is a plan of the detours */
};

/**
 * Where the leg of a ring leads that goes from node u to coordinate @p to, by
 * the runs of a grid: 0, 1, or GRID_WAYS for nowhere.
 */
unsigned int update_leg(const struct update *up,
			const uint16_t (*run)[GRID_WAYS], uint32_t u,
			unsigned int d, uint32_t to);

/** An endpoint of node @p t that is there, or ROUTE_NONE. */
static inline uint32_t
update_host(const struct update *up, uint32_t t)
{
	for (uint32_t e = t * up->hosts; e < (t + 1) * up->hosts; e++)
		if (route_ep_live(&up->b.g, e))
			return e;
	return ROUTE_NONE;
}

static inline bool
update_leg_changed(const struct update *up, uint32_t u, unsigned int d,
		   uint32_t to)
{
	return update_leg(up, (const uint16_t (*)[GRID_WAYS])up->st->run, u, d,
			  to) !=
	       update_leg(up, (const uint16_t (*)[GRID_WAYS])up->rf.gr.run, u,
			  d, to);
}

/** Chooses anew for all pairs whose class may have changed. */
void update_classes(struct update *up);

/** Finds out what classes destinations are reached by, and which are cut. */
void update_others(struct update *up);

#endif /* REFLIT_UPDATE_H */
