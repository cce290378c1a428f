/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of a tile has to be looked at after a change: states of switches with
 * other entries, or with hops that do another thing, and sources that inject in
 * another way.
 */
#include "check_carry_lane.h"

void
carry_tile_states(struct carry_change *c, const struct carry_tile *t)
{
	for (unsigned int s = 0; s < c->r->map.nslots; s++)
		c->state[s] = carry_states(t, s, c->r->map.nsw);
}

/* Whether an entry has a next hop of which something is new that counts. */
static bool
lane_rec_changed(const struct carry_lane *l, unsigned int slot, uint32_t u)
{
	const unsigned int counts = l->m->slot_free[slot] ?
		CARRY_DOES | CARRY_BY_SL : CARRY_DOES;
	const uint8_t *rec = l->c->rec +
			     (size_t)l->m->port0[u] * RL_FWD_PLANES;

	for (uint64_t w = lane_word(l, slot, u); ranks_more(w); w = ranks_next(w)) {
		const struct rl_fwd_hop h = rl_fwd_word_hop(w);

		if (h.port < lane_ports(l, u) &&
		    (rec[(size_t)h.port * RL_FWD_PLANES + h.plane] & counts))
			return true;
	}
	return false;
}

/* States of a switch that something has happened to. */
static void
tile_switch(struct carry_lane lane[RANKS_TILE], unsigned int want, uint32_t u,
	    unsigned int planes, bool rec)
{
	const struct ranks_map *m = lane[0].m;

	for (unsigned int s = 0; s < m->nslots; s++) {
		const bool entry = planes >> m->slot_plane[s] & 1;
		const uint8_t *state = lane[0].c->state[s];
		uint64_t any = 0;

		if (!entry && !rec)
			continue;
		if (state != NULL)
			memcpy(&any, state + (size_t)u * RANKS_TILE,
			       sizeof(any));
		if (any == 0 && !m->slot_free[s])
			continue;
		for (unsigned int w = want; w != 0; w &= w - 1) {
			struct carry_lane *l = &lane[__builtin_ctz(w)];

			if (lane_in(l, s, u) &&
			    (entry || lane_rec_changed(l, s, u)))
				carry_lane_push(l, s * m->nsw + u);
		}
	}
}

/* Destinations of a tile to which a source may inject in another way. */
static inline unsigned int
tile_source_new(const struct carry_change *c, uint32_t tile, uint32_t s)
{
	const uint32_t dev = c->r->map.nsw + s;
	const size_t at = (size_t)s * c->now->ntile + tile;
	const uint8_t *diff = c->diff->at + (size_t)tile * c->now->nrow;
	uint32_t sls = c->old->path[at] ^ c->now->path[at];
	unsigned int lanes = 0;

	if (c->source[s] || (diff[c->now->row[dev]] & c->inject) != 0)
		return (1u << RANKS_TILE) - 1;
	for (unsigned int k = 0; sls != 0; k++, sls >>= 4)
		lanes |= (sls & 15) != 0 ? 1u << k : 0;
	return lanes;
}

/* A source injects differently: forgets the states of its switches. */
static void
tile_forget(struct carry_lane lane[RANKS_TILE], unsigned int lanes, uint32_t s)
{
	const struct ranks_map *m = lane[0].m;
	const uint32_t *port0 = m->port0 + m->nsw + s;

	for (uint32_t p = port0[0]; p < port0[1]; p++)
		for (unsigned int w = lanes; w != 0; w &= w - 1)
			if (m->port[p].dev < m->nsw)
				carry_lane_forget(&lane[__builtin_ctz(w)],
						  m->port[p].dev);
}

/* Sources that inject in another way; returns destinations that failed. */
static unsigned int
tile_sources(struct carry_change *c, struct carry_lane lane[RANKS_TILE],
	     uint32_t tile, unsigned int want)
{
	const struct ranks_map *m = lane[0].m;
	unsigned int bad = 0;

	for (uint32_t s = 0; s < m->topo->nep; s++) {
		unsigned int w = tile_source_new(c, tile, s) & want & ~bad;

		for (; w != 0 && m->live[s]; w &= w - 1) {
			struct carry_lane *l = &lane[__builtin_ctz(w)];

			if (l->dst != s && !carry_lane_inject(l, s))
				bad |= 1u << l->k;
		}
	}
	for (uint32_t s = 0; s < m->topo->nep; s++) {
		const unsigned int w =
			tile_source_new(c, tile, s) & want & ~bad;

		if (w != 0)
			tile_forget(lane, w, s);
	}
	return bad;
}

static void
tile_begin(struct carry_change *c, struct carry_lane lane[RANKS_TILE],
	   uint32_t tile)
{
	const struct ranks_map *m = &c->r->map;
	const uint32_t room = m->nslots * m->nsw;

	carry_tile_states(c, &c->now->carry->tile[tile]);
	for (uint32_t k = 0; k < RANKS_TILE; k++)
		lane[k] = (struct carry_lane){
			.c = c, .m = m, .t = &c->now->carry->tile[tile],
			.k = k, .dst = tile * RANKS_TILE + k,
			.dst_dev = m->nsw + tile * RANKS_TILE + k,
			.queue = c->queue + (size_t)k * room};
}

/* What is in the queues; too much of it is dropped, all destinations with it. */
static bool
tile_too_much(struct carry_change *c, struct carry_lane lane[RANKS_TILE])
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < RANKS_TILE; k++)
		n += lane[k].n;
	c->left = CARRY_LOOKS + c->r->map.nsw;
	if (n <= c->left)
		return false;
	c->left = 0;
	for (uint32_t k = 0; k < RANKS_TILE; k++)
		carry_lane_run(&lane[k]);
	return true;
}

unsigned int
check_carry_tile(struct carry_change *c, uint32_t tile, unsigned int want,
		 unsigned int *looked)
{
	const uint8_t *diff = c->diff->at + (size_t)tile * c->now->nrow;
	const struct ranks_map *m = &c->r->map;
	struct carry_tile *t = &c->now->carry->tile[tile];
	struct carry_lane lane[RANKS_TILE];
	unsigned int bad;

	*looked = 0;
	t->carried &= (uint8_t)want;
	want = t->carried;
	if (want == 0)
		return 0;
	tile_begin(c, lane, tile);
	for (uint32_t u = 0; u < m->nsw; u++) {
		const unsigned int planes = diff[c->now->row[u]];

		if (planes != 0 || c->dev[u])
			tile_switch(lane, want, u, planes, c->dev[u]);
	}
	if (tile_too_much(c, lane)) {
		*looked = want;
		t->carried = 0;
		return 0;
	}
	bad = tile_sources(c, lane, tile, want);
	for (uint32_t k = 0; k < RANKS_TILE; k++) {
		struct carry_lane *l = &lane[k];

		if (!(want >> k & 1))
			continue;
		if (!carry_lane_run(l))
			bad |= 1u << k;
		*looked |= l->looked != 0 ? 1u << k : bad & 1u << k;
		c->r->rep->states += l->looked;
		if (l->max_hops > c->r->rep->max_hops &&
		    !(bad >> k & 1))
			c->r->rep->max_hops = l->max_hops;
	}
	t->carried &= (uint8_t)~bad;
	return want & ~bad;
}
