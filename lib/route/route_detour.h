/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_DETOUR_H
#define ROUTE_DETOUR_H

/**
 * @file Local detours [ROUTE-6], as far as VLs suffice: one VL for up*-down*
 * paths, which are short and serve most cases; two for the planes of
 * detour_tree.h, which serve the rest. Engines use only this file. Packets
 * change from the engine's own planes to `updown`, from both to `away`, from
 * all to `tree`, and never back, so there is no cycle even if every plane is
 * full of packets on detours.
 */

#include "detour_tree.h"
#include "route_impl.h"
#include "updown_trees.h"

/** Up to this many switches, entries of up*-down* have another arc of that
    plane before they leave it. Beyond, it takes too much memory. */
#define ROUTE_DETOUR_BESIDE 256u

struct route_detour {
	struct route_build *b;
	struct updown_order order;
	struct updown_trees trees;
	struct updown_tree tree; /**< of the current destination, in trees */
	struct detour_tree spanning; /**< planes away and tree */
	uint32_t root;	    /**< of order and tree */
	unsigned int plane; /**< of up*-down*; the detour planes follow */
	unsigned int nplanes;
	bool updown;
	bool beside; /**< see ROUTE_DETOUR_BESIDE */
	bool spans; /**< whether `spanning` is in use */
};

/**
 * Plans detours on planes from @p plane on, for @p vls spare VLs (0..RL_VCS).
 * Sets nplanes. Returns 0 or -ENOMEM. For a zeroed object.
 */
int route_detour_init(struct route_detour *dt, struct route_build *b,
		      unsigned int plane, unsigned int vls);
void route_detour_free(struct route_detour *dt);

/** Before route_tables_init(): the most next hops of the planes. */
void route_detour_most(const struct route_detour *dt);

/** After route_tables_init(): the VLs of the planes, from @p vl on. */
void route_detour_vls(struct route_detour *dt, uint8_t vl);

/** The ranks of the planes, from @p next on; returns the next one. */
uint32_t route_detour_ranks(struct route_detour *dt, uint32_t next, uint8_t vl);

/**
 * Plans for the @p n destinations @p e, at most ROUTE_TILE of them.
 * first[lane][node], if not NULL, is the first arc of each node: up*-down*
 * prefers another.
 */
void route_detour_plan(struct route_detour *dt, const uint32_t *e, uint32_t n,
		       const uint32_t *const *first);

/** Sets @p dt up for the destination of @p lane. */
void route_detour_dst(struct route_detour *dt, uint32_t lane);

/** Adds to @p h the next hop of node @p u if its arc @p dead to e is dead. */
void route_detour_add(const struct route_detour *dt, struct route_hops *h,
		      uint32_t u, uint32_t e, uint32_t dead);

/** Writes the entries of the detour planes for endpoint @p e. */
void route_detour_fill(const struct route_detour *dt, uint32_t e);

#endif /* ROUTE_DETOUR_H */
