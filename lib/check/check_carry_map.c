/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a change means for what is kept: slots that have become others, hops that
 * do another thing than they did, endpoints that inject in another way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_carry.h"

/* What slot s was: the same plane, by an SL that was in use before, too. False:
 * there is no one answer. */
static bool
change_slot(const struct ranks_map *was, const struct ranks_map *is,
	    unsigned int s, int *xl)
{
	const unsigned int p = is->slot_plane[s];

	*xl = -1;
	if (p >= was->nplanes)
		return true;
	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		int slot;

		if (!(was->used_sls & is->used_sls & 1u << sl) ||
		    is->slot_of[p][is->slc_of[sl]] != s)
			continue;
		slot = was->slot_of[p][was->slc_of[sl]];
		if (*xl != -1 && *xl != slot)
			return false;
		*xl = slot;
	}
	return *xl == -1 ? !is->slot_free[s] :
			   was->slot_free[*xl] || !is->slot_free[s];
}

/* What is new of a hop of packets of some SL. */
static inline unsigned int
change_rec(const struct carry_change *c, const struct ranks_rec *was,
	   const struct ranks_rec *is)
{
	const uint32_t nsw = c->r->map.nsw, flags = was->to ^ is->to;
	const uint32_t a = was->to & RANKS_TO, b = is->to & RANKS_TO;
	const unsigned int by_sl = flags & RANKS_BY_SL ? CARRY_BY_SL : 0;

	if (was->rank != is->rank || (flags & RANKS_ENDPOINT))
		return CARRY_DOES | by_sl;
	if (is->rank == 0)
		return by_sl;
	if (is->to & RANKS_ENDPOINT)
		return by_sl | (a == b ? 0 : CARRY_DOES);
	return by_sl | (a % nsw == b % nsw &&
			c->xl[b / nsw] == (int)(a / nsw) ? 0 : CARRY_DOES);
}

/* Planes that hops have in slots all of whose entries count. */
static unsigned int
change_bears(const struct carry_change *c)
{
	unsigned int planes = 0;

	for (unsigned int s = 0; s < c->r->map.nslots; s++) {
		uint8_t *bears = &c->now->carry->bears[s];

		if (!c->r->map.slot_free[s] || c->xl[s] == -1)
			continue;
		*bears |= c->old->carry->bears[c->xl[s]];
		planes |= *bears;
	}
	return planes;
}

static void
change_recs(struct carry_change *c, const struct ranks_map *was,
	    const struct ranks_map *is)
{
	const unsigned int bears = change_bears(c);

	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		const struct ranks_rec *a, *b;

		if (!(was->used_sls & is->used_sls & 1u << sl))
			continue;
		a = was->rec[was->slc_of[sl]];
		b = is->rec[is->slc_of[sl]];
		for (uint32_t d = 0; d < is->topo->ndev; d++)
			for (size_t i = (size_t)is->port0[d] * RL_FWD_PLANES;
			     i < (size_t)is->port0[d + 1] * RL_FWD_PLANES; i++) {
				unsigned int is_new =
					change_rec(c, &a[i], &b[i]);

				if (!(bears >> i % RL_FWD_PLANES & 1))
					is_new &= ~CARRY_BY_SL;
				c->rec[i] |= (uint8_t)is_new;
				c->dev[d] |= (uint8_t)is_new;
			}
	}
}

static void
change_sources(struct carry_change *c)
{
	const struct ranks_map *m = &c->r->map;

	for (uint32_t s = 0; s < m->topo->nep; s++) {
		const struct rl_fwd *f = &m->in->fwd[m->nsw + s];

		for (unsigned int sl = 0; sl < RL_SLS; sl++)
			if (m->used_sls >> sl & 1)
				c->inject |= f->inject_plane[sl] < f->nplanes ?
					(uint8_t)(1u << f->inject_plane[sl]) : 1;
		c->source[s] = m->live[s] &&
			(!c->old->live[s] ||
			 (c->dev[m->nsw + s] & CARRY_DOES) ||
			 c->old->inject[s] != c->now->inject[s]);
	}
}

/* States of a slot that was another. Where all entries of that were taken for
 * what packets come to, and those of this one are not, packets may be anywhere. */
static int
change_states(const struct carry_change *c, struct carry_tile *from,
	      struct carry_tile *to, unsigned int s)
{
	const struct ranks_map *was = &c->old->carry->map, *is = &c->r->map;
	const size_t n = (size_t)is->nsw * RANKS_TILE;
	const unsigned int x = (unsigned int)c->xl[s];
	const uint8_t *had = carry_states(from, x, is->nsw);
	uint8_t anywhere[RANKS_TILE] = {0}, any = 0, *state;

	for (unsigned int k = 0; k < RANKS_TILE; k++) {
		if (!(from->scanned[k] >> x & 1) ||
		    !(from->carried >> k & 1) || !was->slot_free[x])
			continue;
		if (is->slot_free[s])
			to->scanned[k] |= 1ull << s;
		else
			any = anywhere[k] = CARRY_SEEN;
	}
	if (had == NULL && any == 0)
		return 0;
	state = carry_room(to, s, is->nsw);
	if (state == NULL)
		return -ENOMEM;
	if (had != NULL)
		memcpy(state, had, n);
	for (size_t i = 0; i < n && any != 0; i += RANKS_TILE)
		for (unsigned int k = 0; k < RANKS_TILE; k++)
			state[i + k] |= anywhere[k];
	return 0;
}

static int
change_tile(const struct carry_change *c, uint32_t tile)
{
	struct carry_tile *from = &c->old->carry->tile[tile];
	struct carry_tile *to = &c->now->carry->tile[tile];

	to->carried = from->carried;
	if (from->carried == 0)
		return 0;
	for (unsigned int s = 0; s < c->r->map.nslots; s++)
		if (c->xl[s] != -1 && change_states(c, from, to, s) != 0)
			return -ENOMEM;
	return 0;
}

static bool
change_same_slots(const struct carry_change *c)
{
	const struct ranks_map *was = &c->old->carry->map, *is = &c->r->map;

	for (unsigned int s = 0; s < is->nslots; s++)
		if (c->xl[s] != (int)s || was->slot_free[s] != is->slot_free[s])
			return false;
	return is->nslots == was->nslots;
}

static int
change_tiles(struct carry_change *c)
{
	struct carry_tile *a = c->old->carry->tile, *b = c->now->carry->tile;
	const bool same = change_same_slots(c);

	for (uint32_t i = 0; i < c->now->ntile; i++) {
		if (same) {
			b[i] = a[i];
			memset(&a[i], 0, sizeof(a[i]));
		} else if (change_tile(c, i) != 0) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int
change_alloc(struct carry_change *c)
{
	const struct ranks_map *m = &c->r->map;

	c->rec = calloc((size_t)m->nports * RL_FWD_PLANES + 1, 1);
	c->dev = calloc(m->topo->ndev + 1u, 1);
	c->source = calloc(m->topo->nep + 1u, 1);
	c->queued = calloc(((size_t)m->nslots * m->nsw + 1) * RANKS_TILE, 1);
	c->queue = malloc(((size_t)m->nslots * m->nsw + 1) * RANKS_TILE *
			  sizeof(*c->queue));
	return c->rec == NULL || c->dev == NULL || c->source == NULL ||
	       c->queued == NULL || c->queue == NULL ? -ENOMEM : 0;
}

int
check_carry_begin(struct carry_change *c, struct ranks_run *r,
		  struct rl_proof *old, struct rl_proof *now,
		  const struct proof_diff *diff)
{
	const struct ranks_map *was, *is = &r->map;

	memset(c, 0, sizeof(*c));
	if (old->carry == NULL || now->carry == NULL || old->parts ||
	    now->parts || old->levels != now->levels)
		return -EINVAL;
	was = &old->carry->map;
	if (was->nports != is->nports || was->nsw != is->nsw ||
	    (was->used_sls & is->used_sls) == 0)
		return -EINVAL;
	c->r = r;
	c->old = old;
	c->now = now;
	c->diff = diff;
	for (unsigned int s = 0; s < is->nslots; s++)
		if (!change_slot(was, is, s, &c->xl[s]))
			return -EINVAL;
	if (change_alloc(c) != 0)
		return -ENOMEM;
	change_recs(c, was, is);
	change_sources(c);
	return change_tiles(c);
}

void
check_carry_end(struct carry_change *c)
{
	free(c->rec);
	free(c->dev);
	free(c->source);
	free(c->queued);
	free(c->queue);
}
