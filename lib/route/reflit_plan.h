/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFLIT_PLAN_H
#define REFLIT_PLAN_H

/**
 * @file
 * How the detours of finished tables lie, in a form that an update can compare
 * new plans with: a byte for the next hop of every node to every destination,
 * where the tables, with all else that they hold, are eight times as large and
 * lie scattered. See reflit_replan.c.
 */

#include "route_backup.h"

/** Beside the numbers of arcs, of which a node of a grid has six at most. */
#define PLAN_NONE 0xff
#define PLAN_EJECT 0xfe
#define PLAN_DEAD 0xfd

struct reflit_plan {
	uint32_t nnode;
	uint32_t root;	  /**< of the tree */
	uint32_t *rank;	  /**< [node] in the order of plane up*-down* */
	uint32_t *parent; /**< [node] node above it in the tree */
	uint8_t *around;  /**< [node] there is a way round the link to it */
	uint8_t *next;	  /**< [endpoint][node] arc on plane up*-down* */
	uint8_t *via;	  /**< [endpoint][node] arc on plane away */
};

/** Returns NULL where there is no memory. */
struct reflit_plan *reflit_plan_new(uint32_t nnode, uint32_t nep);
void reflit_plan_free(struct reflit_plan *p);

/** Notes what @p bk has planned for the destination of @p lane. */
void reflit_plan_note(struct reflit_plan *p, const struct route_backup *bk,
		      uint32_t lane, uint32_t e);

/** Notes the order and the tree. */
void reflit_plan_shape(struct reflit_plan *p, const struct route_backup *bk);

/** An arc of node @p u as one byte. */
static inline uint8_t
reflit_plan_code(uint32_t arc, uint32_t first)
{
	return arc == ROUTE_NONE ? PLAN_NONE :
	       arc == ROUTE_EJECT ? PLAN_EJECT : (uint8_t)(arc - first);
}

/** The other way round; ROUTE_NONE for what is no arc. */
static inline uint32_t
reflit_plan_arc(uint8_t code, uint32_t first)
{
	return code < PLAN_DEAD ? first + code : ROUTE_NONE;
}

#endif /* REFLIT_PLAN_H */
