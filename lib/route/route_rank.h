/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_RANK_H
#define ROUTE_RANK_H

/**
 * @file Ranks of channels, assigned by engines: rl_check_ranks.h says what they
 * are for. Channels are in consecutive bands, in the order in which packets
 * pass through the planes; within a band the plane's own rule gives the order.
 * Each function takes the first free rank and returns the next one.
 *
 * Ranks follow from the intact fabric if possible, so that failures change few
 * of them.
 */

#include "detour_tree.h"
#include "route_grid.h"
#include "route_impl.h"

/** Sets all ranks to 0, and those of links to endpoints to the highest. Returns
    0 or -ENOMEM. */
int route_rank_begin(struct route_build *b);

/** Links between switches on one VL: all have the same rank. */
uint32_t route_rank_flat(struct route_build *b, uint32_t next, uint8_t vl);

/**
 * Arcs up, by order->value, the lowest last; or arcs down, the lowest first.
 */
uint32_t route_rank_up(struct route_build *b, uint32_t next, uint8_t vl,
		       const uint32_t *order);
uint32_t route_rank_down(struct route_build *b, uint32_t next, uint8_t vl,
			 const uint32_t *order);

/** Dimension order: @p ahead is the VL before the dateline, @p vl behind it. */
uint32_t route_rank_dor(struct route_build *b, uint32_t next,
			const struct route_grid *gr, uint8_t vl, uint8_t ahead);

/** The planes of detour_tree.h: @p vl and the VL after it. */
uint32_t route_rank_detour(struct route_build *b, uint32_t next, uint8_t vl,
			   const struct detour_tree *d);

/** To endpoints that reflect, from them, and on from there. */
uint32_t route_rank_reflect(struct route_build *b, uint32_t next, uint8_t to,
			    uint8_t from);

#endif /* ROUTE_RANK_H */
