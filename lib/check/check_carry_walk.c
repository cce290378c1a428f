/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The facts that a proof is made of, looked at one by one where something has
 * changed. A state whose entry may have changed is looked at from both sides:
 * what its hops lead to, and whose hops lead to it. What is found to be new (a
 * state that packets can come to now, a longer way) is looked at in turn, until
 * all is as it is kept.
 */
#include <errno.h>
#include <string.h>

#include "check_carry_lane.h"

#define WORD_PORTS 0x1fff1fff1fff1fffull

void
carry_lane_push(struct carry_lane *l, uint32_t at)
{
	const uint32_t room = l->m->nslots * l->m->nsw;
	uint8_t *queued = &l->c->queued[(size_t)at * RANKS_TILE + l->k];

	if (*queued)
		return;
	*queued = 1;
	l->queue[(l->head + l->n++) % room] = at;
}

/* Writes down flags or a way of a state; false: no memory. */
static bool
lane_set(struct carry_lane *l, unsigned int slot, uint32_t u, uint8_t keep,
	 uint8_t add)
{
	uint8_t *s;

	if (l->c->state[slot] == NULL) {
		if (carry_room(l->t, slot, l->m->nsw) == NULL)
			return false;
		carry_tile_states(l->c, l->t);
	}
	s = lane_state(l, slot, u);
	*s = (uint8_t)((*s & keep) | add);
	return true;
}

/* The lowest rank by which packets go on from a state. */
static uint32_t
lane_least(const struct carry_lane *l, unsigned int slot, uint32_t u)
{
	const struct ranks_rec *recs = lane_recs(l, slot, u);
	const uint32_t nports = lane_ports(l, u);
	uint32_t least = UINT32_MAX;

	for (uint64_t w = lane_word(l, slot, u); ranks_more(w); w = ranks_next(w)) {
		const struct ranks_rec *rec = ranks_rec_of(w, recs, nports);

		if (rec != NULL && rec->rank < least)
			least = rec->rank;
	}
	return least;
}

/* The first next hop that works, as the rest of its word; 0 ports: none. */
static uint64_t
lane_first(const struct carry_lane *l, unsigned int slot, uint32_t u,
	   const struct ranks_rec **rec)
{
	const struct ranks_rec *recs = lane_recs(l, slot, u);
	uint64_t w = lane_word(l, slot, u);

	for (; ranks_more(w); w = ranks_next(w)) {
		*rec = ranks_rec_of(w, recs, lane_ports(l, u));
		if (*rec != NULL)
			return w;
	}
	*rec = NULL;
	return w;
}

/* Whether a state's first hop leads straight back by a port on its plane. */
static inline bool
lane_turns(const struct carry_lane *l, unsigned int slot, uint64_t first,
	   unsigned int port)
{
	const struct rl_fwd_hop h = rl_fwd_word_hop(first);

	return h.port == port && h.plane == l->m->slot_plane[slot];
}

/* A hop of rank `rank` to a state: packets come there, and go on higher. */
static bool
lane_enter(struct carry_lane *l, uint32_t at, uint32_t rank)
{
	const unsigned int slot = at / l->m->nsw;
	const uint32_t u = at % l->m->nsw;

	if (!lane_in(l, slot, u)) {
		if (l->m->slot_free[slot] ||
		    !lane_set(l, slot, u, 0xff, CARRY_SEEN))
			return false;
		carry_lane_push(l, at);
	}
	return rank < lane_least(l, slot, u);
}

/* All next hops of a state. */
static bool
lane_ascends(struct carry_lane *l, unsigned int slot, uint32_t u)
{
	const struct ranks_rec *recs = lane_recs(l, slot, u);
	const uint32_t nports = lane_ports(l, u);
	const uint32_t refuse = l->m->slot_free[slot] ?
		RANKS_BY_SL | RANKS_SEARCH : 0;

	for (uint64_t w = lane_word(l, slot, u); ranks_more(w); w = ranks_next(w)) {
		const struct ranks_rec *rec = ranks_rec_of(w, recs, nports);

		if (rec == NULL)
			continue;
		if (rec->to & refuse)
			return false;
		if (refuse != 0)
			l->c->now->carry->bears[slot] |= (uint8_t)(
				1u << rl_fwd_word_hop(w).plane);
		if (rec->to & RANKS_ENDPOINT) {
			if ((rec->to & RANKS_TO) != l->dst_dev)
				return false;
			continue;
		}
		if (!lane_enter(l, rec->to & RANKS_TO, rec->rank))
			return false;
	}
	return true;
}

/*
 * How many links it is from where a first hop leads, which gets written down
 * where it is not; 0: no way, or too long a one. A way that is written down is
 * taken for true: whatever of it has changed is looked at, too.
 */
static uint32_t
lane_follow(struct carry_lane *l, const struct ranks_rec *rec,
	    const struct ranks_port *by, unsigned int depth)
{
	uint32_t at, u, hops;
	unsigned int slot;
	uint64_t first;

	if (rec->to & RANKS_ENDPOINT)
		return (rec->to & RANKS_TO) == l->dst_dev ? 1 : 0;
	at = rec->to & RANKS_TO;
	slot = at / l->m->nsw;
	u = at % l->m->nsw;
	first = lane_first(l, slot, u, &rec);
	if (rec == NULL || depth == 0 || lane_turns(l, slot, first, by->in_port))
		return 0;
	hops = lane_hops(l, slot, u);
	if (hops == 0) {
		hops = lane_follow(l, rec, &l->m->port[l->m->port0[u] +
				   rl_fwd_word_hop(first).port], depth - 1);
		if (hops == 0 || hops > CARRY_HOPS ||
		    !lane_set(l, slot, u, CARRY_SEEN, (uint8_t)hops))
			return 0;
	}
	return hops + 1;
}

/* The first hop of a state that packets come to by first hops. */
static bool
lane_leads(struct carry_lane *l, unsigned int slot, uint32_t u)
{
	const uint8_t had = lane_hops(l, slot, u);
	const struct ranks_rec *rec;
	uint64_t first;
	uint32_t hops;

	if (had == 0)
		return true;
	first = lane_first(l, slot, u, &rec);
	/* No way on: no one may come here, then. */
	if (rec == NULL)
		return lane_set(l, slot, u, CARRY_SEEN, 0);
	hops = lane_follow(l, rec, &l->m->port[l->m->port0[u] +
			   rl_fwd_word_hop(first).port], CARRY_HOPS);
	if (hops == 0 || hops > CARRY_HOPS)
		return false;
	l->max_hops = hops > l->max_hops ? hops : l->max_hops;
	return hops <= had || lane_set(l, slot, u, CARRY_SEEN, (uint8_t)hops);
}

/* What is asked of those whose hops lead to a state. */
struct lane_target {
	uint32_t at;
	unsigned int slot;
	uint32_t least;	/* rank by which it goes on */
	uint64_t first; /* its first hop, and what that does */
	uint8_t hops;
	unsigned int port; /* by which they come */
};

/* A hop that leads to the state: `is_first`, and from where it is one. */
static bool
lane_led(const struct lane_target *x, const struct carry_lane *l,
	 uint32_t rank, bool is_first)
{
	if (rank >= x->least)
		return false;
	return !is_first ||
	       (x->hops != 0 && !lane_turns(l, x->slot, x->first, x->port));
}

/* Whether one of the next hops of a word takes a port. */
static inline bool
word_takes(uint64_t word, unsigned int port)
{
	const uint64_t x = (word & WORD_PORTS) ^ port * RANKS_ONES;

	return ((x - RANKS_ONES) & ~x & 0x8000800080008000ull) != 0;
}

/* The hops of one state of switch v. */
static bool
lane_from(struct carry_lane *l, const struct lane_target *x, unsigned int slot,
	  uint32_t v)
{
	const struct ranks_rec *recs = lane_recs(l, slot, v);
	const uint8_t hops = lane_hops(l, slot, v);
	bool is_first = hops != 0;

	for (uint64_t w = lane_word(l, slot, v); ranks_more(w); w = ranks_next(w)) {
		const struct ranks_rec *rec =
			ranks_rec_of(w, recs, lane_ports(l, v));

		if (rec == NULL)
			continue;
		if (!(rec->to & RANKS_ENDPOINT) &&
		    (rec->to & RANKS_TO) == x->at) {
			if (!lane_led(x, l, rec->rank, is_first))
				return false;
			/* Its way has become longer. */
			if (is_first && hops < x->hops + 1)
				carry_lane_push(l, slot * l->m->nsw + v);
		}
		is_first = false;
	}
	return true;
}

static bool
lane_from_switch(struct carry_lane *l, const struct lane_target *x, uint32_t v,
		 unsigned int port)
{
	/* Planes that no packet is on may have no entries at all. */
	for (unsigned int slot = 0; slot < l->m->nslots; slot++)
		if (lane_in(l, slot, v) &&
		    word_takes(lane_word(l, slot, v), port) &&
		    !lane_from(l, x, slot, v))
			return false;
	return true;
}

static bool
lane_from_source(struct carry_lane *l, const struct lane_target *x, uint32_t s)
{
	if (!l->m->live[s] || s == l->dst)
		return true;
	for (unsigned int q = 0; q < l->m->levels; q++) {
		const struct ranks_rec *recs;
		unsigned int slc;
		uint64_t w = ranks_word(l->m, s, l->dst, q, &recs, &slc);
		bool is_first = true;

		for (; ranks_more(w); w = ranks_next(w)) {
			const struct ranks_rec *rec = ranks_rec_of(
				w, recs, lane_ports(l, l->m->nsw + s));

			if (rec == NULL)
				continue;
			if (!(rec->to & RANKS_ENDPOINT) &&
			    (rec->to & RANKS_TO) == x->at &&
			    !lane_led(x, l, rec->rank, is_first))
				return false;
			is_first = false;
		}
	}
	return true;
}

/* All hops that lead to a state. */
static bool
lane_before(struct carry_lane *l, unsigned int slot, uint32_t u)
{
	const struct ranks_map *m = l->m;
	const struct ranks_rec *rec;
	struct lane_target x = {.at = slot * m->nsw + u, .slot = slot,
				.least = lane_least(l, slot, u),
				.hops = lane_hops(l, slot, u)};

	x.first = lane_first(l, slot, u, &rec);
	for (uint32_t p = m->port0[u]; p < m->port0[u + 1]; p++) {
		const struct ranks_port *to = &m->port[p];

		if (to->dirlink == RANKS_NONE)
			continue;
		x.port = p - m->port0[u];
		if (to->dev < m->nsw ?
			    !lane_from_switch(l, &x, to->dev, to->in_port) :
			    !lane_from_source(l, &x, to->dev - m->nsw))
			return false;
	}
	return true;
}

static bool
lane_look(struct carry_lane *l, uint32_t at)
{
	const unsigned int slot = at / l->m->nsw;
	const uint32_t u = at % l->m->nsw;

	if (l->c->left == 0)
		return false;
	l->c->left--;
	l->looked++;
	return lane_ascends(l, slot, u) && lane_leads(l, slot, u) &&
	       lane_before(l, slot, u);
}

bool
carry_lane_inject(struct carry_lane *l, uint32_t s)
{
	const struct ranks_map *m = l->m;
	const uint32_t nports = lane_ports(l, m->nsw + s);

	l->looked++;
	for (unsigned int q = 0; q < m->levels; q++) {
		const struct ranks_rec *recs, *rec;
		unsigned int slc;
		uint64_t w = ranks_word(m, s, l->dst, q, &recs, &slc);
		uint32_t hops = 0;

		for (; ranks_more(w); w = ranks_next(w)) {
			rec = ranks_rec_of(w, recs, nports);
			if (rec == NULL)
				continue;
			if (rec->to & RANKS_ENDPOINT) {
				if ((rec->to & RANKS_TO) != l->dst_dev)
					return false;
			} else if (!lane_enter(l, rec->to & RANKS_TO,
					       rec->rank)) {
				return false;
			}
			if (hops != 0)
				continue;
			hops = lane_follow(l, rec, &m->port[m->port0[m->nsw + s] +
					   rl_fwd_word_hop(w).port], CARRY_HOPS);
			if (hops == 0)
				return false;
			l->max_hops = hops > l->max_hops ? hops : l->max_hops;
		}
		if (hops == 0)
			return false;
	}
	return true;
}

static bool
source_leads(const struct carry_lane *l, uint32_t s, uint32_t at)
{
	for (unsigned int q = 0; q < l->m->levels; q++) {
		const struct ranks_rec *recs;
		unsigned int slc;
		const uint64_t word = ranks_word(l->m, s, l->dst, q, &recs,
						 &slc);

		if (ranks_leads(word, recs, lane_ports(l, l->m->nsw + s), at))
			return true;
	}
	return false;
}

/* Whether packets come to a state by first hops still. */
static bool
lane_come(const struct carry_lane *l, uint32_t at)
{
	const struct ranks_map *m = l->m;
	const uint32_t u = at % m->nsw;

	for (uint32_t p = m->port0[u]; p < m->port0[u + 1]; p++) {
		const uint32_t v = m->port[p].dev;

		if (m->port[p].dirlink == RANKS_NONE)
			continue;
		if (v >= m->nsw && m->live[v - m->nsw] &&
		    v - m->nsw != l->dst && source_leads(l, v - m->nsw, at))
			return true;
		for (unsigned int s = 0; s < m->nslots && v < m->nsw; s++)
			if (lane_hops(l, s, v) != 0 &&
			    ranks_leads(lane_word(l, s, v), lane_recs(l, s, v),
				       lane_ports(l, v), at))
				return true;
	}
	return false;
}

void
carry_lane_forget(struct carry_lane *l, uint32_t u)
{
	const uint32_t nsw = l->m->nsw;

	for (unsigned int first = 0; first < l->m->nslots; first++) {
		uint32_t at = first * nsw + u;

		while (lane_hops(l, at / nsw, at % nsw) != 0 &&
		       !lane_come(l, at)) {
			const struct ranks_rec *rec;

			lane_first(l, at / nsw, at % nsw, &rec);
			*lane_state(l, at / nsw, at % nsw) &= CARRY_SEEN;
			if (rec == NULL || (rec->to & RANKS_ENDPOINT))
				break;
			at = rec->to & RANKS_TO;
		}
	}
}

bool
carry_lane_run(struct carry_lane *l)
{
	const uint32_t room = l->m->nslots * l->m->nsw;
	bool good = true;

	while (l->n > 0) {
		const uint32_t at = l->queue[l->head];

		l->head = (l->head + 1) % room;
		l->n--;
		l->c->queued[(size_t)at * RANKS_TILE + l->k] = 0;
		good = good && lane_look(l, at);
	}
	return good;
}
