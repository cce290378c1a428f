/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_CARRY_LANE_H
#define CHECK_CARRY_LANE_H

/**
 * @file
 * One destination of a tile, while what changed is looked at: what
 * check_carry_tile.c finds to be looked at, check_carry_walk.c looks at.
 */

#include <string.h>

#include "check_carry.h"

/** A destination at work. */
struct carry_lane {
	struct carry_change *c;
	const struct ranks_map *m;
	struct carry_tile *t;
	uint32_t k;
	uint32_t dst;	  /**< endpoint */
	uint32_t dst_dev;
	uint32_t *queue;  /**< a ring of as many states as there are */
	uint32_t head;
	uint32_t n;
	uint32_t max_hops;
	uint64_t looked;
};

/** The state of (slot, switch), or NULL where nothing is kept of the slot. */
static inline uint8_t *
lane_state(const struct carry_lane *l, unsigned int slot, uint32_t u)
{
	uint8_t *s = l->c->state[slot];

	return s == NULL ? NULL : &s[(size_t)u * RANKS_TILE + l->k];
}

/** Whether packets may come to a state. */
static inline bool
lane_in(const struct carry_lane *l, unsigned int slot, uint32_t u)
{
	const uint8_t *s;

	if (l->m->slot_free[slot])
		return l->t->scanned[l->k] >> slot & 1;
	s = lane_state(l, slot, u);
	return s != NULL && (*s & CARRY_SEEN);
}

static inline uint8_t
lane_hops(const struct carry_lane *l, unsigned int slot, uint32_t u)
{
	const uint8_t *s = lane_state(l, slot, u);

	return s == NULL ? 0 : *s & CARRY_HOPS;
}

static inline uint64_t
lane_word(const struct carry_lane *l, unsigned int slot, uint32_t u)
{
	const struct rl_fwd *f = &l->m->in->fwd[u];
	const unsigned int p = l->m->slot_plane[slot];

	return p < f->nplanes ? rl_fwd_word(f, p, (uint16_t)l->dst) :
				RL_FWD_PORT_NONE * RANKS_ONES;
}

static inline const struct ranks_rec *
lane_recs(const struct carry_lane *l, unsigned int slot, uint32_t u)
{
	return l->m->rec[l->m->slot_slc[slot]] +
	       (size_t)l->m->port0[u] * RL_FWD_PLANES;
}

static inline uint32_t
lane_ports(const struct carry_lane *l, uint32_t dev)
{
	return l->m->port0[dev + 1] - l->m->port0[dev];
}

/** Updates the pointers to the states kept of a tile: carry_change.state. */
void carry_tile_states(struct carry_change *c, const struct carry_tile *t);

/** Queues a state for a check. */
void carry_lane_push(struct carry_lane *l, uint32_t at);

/** Looks at what a source injects; false: not proven. */
bool carry_lane_inject(struct carry_lane *l, uint32_t s);

/**
 * A source beside switch @p u has packets there no more in some state: where no
 * others come, the way from there on is forgotten, as far as it was theirs alone.
 * Else all of it would be looked at when it becomes longer.
 */
void carry_lane_forget(struct carry_lane *l, uint32_t u);

/** Looks at states until all is as it is kept; false: not proven. */
bool carry_lane_run(struct carry_lane *l);

#endif /* CHECK_CARRY_LANE_H */
