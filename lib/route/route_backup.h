/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_BACKUP_H
#define ROUTE_BACKUP_H

/**
 * @file
 * Local detours for the grid engines [ROUTE-6], as far as the VLs go: one VL
 * for up*-down* paths, which are short and serve most; two for the planes of
 * route_detour.h, which serve the rest. Packets pass from the engine's own
 * planes to `updown`, from both to `away`, from all to `tree`, and never back,
 * so every plane may be full of packets on their way round something, and
 * still there is no cycle.
 */

#include "route_detour.h"
#include "route_impl.h"
#include "route_trees.h"

struct route_backup {
	struct route_build *b;
	struct route_order order;
	struct route_trees trees;
	struct route_tree tree; /**< of the destination at hand, in trees */
	struct route_detour detour;
	uint32_t root;	    /**< of order and tree */
	unsigned int plane; /**< of up*-down*; the detour planes follow */
	unsigned int nplanes;
	bool updown;
	bool detours;
};

/**
 * Plans backups on planes from @p plane on, for @p vls spare VLs (0..RL_VCS).
 * Sets nplanes. Returns 0 or -ENOMEM. For a zeroed object.
 */
int route_backup_init(struct route_backup *bk, struct route_build *b,
		      unsigned int plane, unsigned int vls);
void route_backup_free(struct route_backup *bk);

/** After route_tables_init(): the VLs of the planes, from @p vl on. */
void route_backup_vls(struct route_backup *bk, uint8_t vl);

/** The ranks of the planes, from @p next on; returns the next one. */
uint32_t route_backup_ranks(struct route_backup *bk, uint32_t next, uint8_t vl);

/**
 * Plans for the @p n destinations @p e, at most ROUTE_TILE of them. first[lane][node], where not NULL, is the arc that each node wants to take
 * first: up*-down* prefers another.
 */
void route_backup_plan(struct route_backup *bk, const uint32_t *e, uint32_t n,
		       const uint32_t *const *first);

/** Sets @p bk up for the destination of @p lane. */
void route_backup_dst(struct route_backup *bk, uint32_t lane);

/** Adds to @p h what node u does where its arc @p dead to e is dead. */
void route_backup_add(const struct route_backup *bk, struct route_hops *h,
		      uint32_t u, uint32_t e, uint32_t dead);

/** Writes the entries of the backup planes for endpoint @p e. */
void route_backup_fill(const struct route_backup *bk, uint32_t e);

#endif /* ROUTE_BACKUP_H */
