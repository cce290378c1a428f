/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second half of the fast path: packets arrive by first next hops. Each
 * state is followed once for each destination; sources are checked for all
 * destinations of a tile together.
 */
#include <string.h>

#include "check_fast.h"
#include "check_parts.h"

#define HOPS_NEW 0
#define HOPS_OPEN 0xfffe
#define HOPS_LOST 0xffff

struct arrive {
	struct fast *f;
	uint32_t pairs[RANKS_TILE];
	uint32_t max[RANKS_TILE]; /* links of the longest path */
};

/* The first working next hop; NULL: none. *turn: the port that it takes, if
 * packets that came by it may not take it, since it has the plane of the
 * slot. */
static inline const struct ranks_rec *
arrive_first(const struct fast *f, uint32_t slot, uint32_t u, uint32_t *turn)
{
	const struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	const unsigned int plane = m->slot_plane[slot];
	const uint16_t *hop = fast_lanes(r, plane, u)[0] + f->k;
	const uint32_t first = m->port0[u], nports = m->port0[u + 1] - first;
	const struct ranks_rec *recs =
		m->rec[m->slot_slc[slot]] + (size_t)first * RL_FWD_PLANES;

	*turn = RANKS_NONE;
	for (unsigned int i = 0; i < r->alts[plane] && ranks_more(*hop);
	     i++, hop += RANKS_TILE) {
		const struct ranks_rec *rec = ranks_rec_of(*hop, recs, nports);

		if (rec == NULL)
			continue;
		if (*hop >> 13 == (int)plane)
			*turn = first + (*hop & RANKS_PORT);
		return rec;
	}
	return NULL;
}

/* The port at the other end of the link of a record. */
static inline uint32_t
arrive_far(const struct ranks_run *r, const struct ranks_rec *rec,
	   unsigned int slc)
{
	return r->far[(size_t)(rec - r->map.rec[slc]) / RL_FWD_PLANES];
}

/*
 * Links from the end of a hop to the destination, by first next hops. A hop
 * straight back on the same plane is forbidden for packets that came that way:
 * these count as lost here, and are left to the exact path.
 */
static uint32_t
arrive_follow(struct fast *f, const struct ranks_rec *rec, unsigned int slc)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	uint32_t depth = f->depth, hops;

	for (;;) {
		uint32_t slot = 0, u, in, turn;
		size_t at;

		if (rec == NULL || (rec->to & RANKS_ENDPOINT)) {
			hops = rec == NULL ? HOPS_LOST : 0;
			break;
		}
		u = rec->to & RANKS_TO;
		at = (size_t)u * RANKS_TILE + f->k;
		hops = r->hops[at];
		in = arrive_far(r, rec, slc);
		if (hops != HOPS_NEW) {
			if (r->turn[at] == in)
				hops = HOPS_LOST;
			break;
		}
		/* slots are few, and most of this is on the first */
		for (; u >= m->nsw; u -= m->nsw)
			slot++;
		slc = m->slot_slc[slot];
		r->followed |= 1ull << slot;
		r->hops[at] = HOPS_OPEN;
		r->queue[depth++] = (uint32_t)at;
		check_fast_plane(f, m->slot_plane[slot]);
		rec = arrive_first(f, slot, u, &turn);
		r->turn[at] = turn;
		if (turn == in)
			rec = NULL;
	}
	while (depth > f->depth) {
		hops = hops < RL_CHECK_HOPS_MAX ? hops + 1 : HOPS_LOST;
		r->hops[r->queue[--depth]] = (uint16_t)hops;
	}
	return hops;
}

/* The first working next hop if it is the same for all destinations, and leads
 * to a switch; NULL: one by one. */
static const struct ranks_rec *
arrive_shared(struct fast *f, uint32_t slot, uint32_t u, uint32_t *turn)
{
	const struct ranks_run *r = f->r;
	const unsigned int plane = r->map.slot_plane[slot];
	const struct ranks_rec *rec;
	uint64_t other = 0, w[2];

	check_fast_plane(f, plane);
	f->k = 0;
	rec = arrive_first(f, slot, u, turn);
	if (rec == NULL || (rec->to & RANKS_ENDPOINT))
		return NULL;
	for (unsigned int i = 0; i < r->alts[plane]; i++) {
		const uint16_t *hop = fast_lanes(r, plane, u)[i];
		const uint32_t port = hop[0] & RANKS_PORT;

		memcpy(w, hop, sizeof(w));
		other |= (w[0] ^ w[1]) |
			 (w[0] ^ (w[0] & 0xffff) * RANKS_ONES);
		if (other != 0 ||
		    (port < r->map.port0[u + 1] - r->map.port0[u] &&
		     rec == &r->map.rec[r->map.slot_slc[slot]]
				[((size_t)r->map.port0[u] + port) *
				 RL_FWD_PLANES + (hop[0] >> 13)]))
			break;
	}
	return other == 0 ? rec : NULL;
}

/* Whether no wanted destination has been followed from a state. */
static bool
arrive_new(const struct fast *f, size_t at)
{
	unsigned int old = 0;

	for (unsigned int k = 0; k < RANKS_TILE; k++)
		old |= (unsigned int)(f->r->hops[at + k] != HOPS_NEW) << k;
	return (old & f->want) == 0;
}

/* arrive_follow() for all destinations at once, as far as they share a path. */
static void
arrive_together(struct fast *f, const struct ranks_rec *rec, unsigned int slc)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	uint32_t hops[RANKS_TILE] = {0};

	for (;;) {
		const struct ranks_rec *next;
		uint32_t slot = 0, u = rec->to & RANKS_TO, turn;
		const size_t at = (size_t)u * RANKS_TILE;

		for (; u >= m->nsw; u -= m->nsw)
			slot++;
		if (!arrive_new(f, at))
			break;
		next = arrive_shared(f, slot, u, &turn);
		if (next == NULL || turn == arrive_far(r, rec, slc))
			break;
		r->followed |= 1ull << slot;
		for (unsigned int k = 0; k < RANKS_TILE; k++) {
			r->hops[at + k] = HOPS_OPEN;
			r->turn[at + k] = turn;
		}
		r->queue[f->depth++] = (uint32_t)at;
		rec = next;
		slc = m->slot_slc[slot];
	}
	for (f->k = 0; f->k < RANKS_TILE; f->k++)
		if (f->want >> f->k & 1)
			hops[f->k] = arrive_follow(f, rec, slc);
	while (f->depth > 0) {
		uint16_t *to = r->hops + r->queue[--f->depth];

		for (unsigned int k = 0; k < RANKS_TILE; k++) {
			hops[k] = hops[k] < RL_CHECK_HOPS_MAX ? hops[k] + 1 :
								HOPS_LOST;
			to[k] = (uint16_t)hops[k];
		}
	}
}

static bool
arrive_one(struct arrive *a, uint32_t s)
{
	struct fast *f = a->f;
	const struct ranks_map *m = &f->r->map;
	const uint32_t dev = m->nsw + s, dst = f->from + f->k;

	if (s == dst ||
	    (m->in->parts && !check_together(m->topo, f->r->part, s, dst)))
		return true;
	a->pairs[f->k]++;
	for (unsigned int q = 0; q < m->levels; q++) {
		const struct ranks_rec *recs;
		unsigned int slc;
		const uint64_t w = ranks_word(m, s, dst, q, &recs, &slc);
		const uint32_t hops = arrive_follow(
			f, ranks_first(w, recs, m->port0[dev + 1] -
						m->port0[dev]), slc);

		if (hops >= RL_CHECK_HOPS_MAX)
			return false;
		a->max[f->k] = rl_max_u32(a->max[f->k], hops + 1);
	}
	return true;
}

/* The same for all destinations, by one shared hop to a switch. */
static void
arrive_all(struct arrive *a, const struct ranks_rec *rec, unsigned int slc)
{
	struct fast *f = a->f;
	const struct ranks_run *r = f->r;
	const size_t at = (size_t)(rec->to & RANKS_TO) * RANKS_TILE;
	const uint32_t in = arrive_far(r, rec, slc);
	uint32_t bad[RANKS_TILE], all = 0;

	for (unsigned int k = 0; k < RANKS_TILE; k++)
		bad[k] = r->hops[at + k] == HOPS_NEW;
	for (unsigned int k = 0; k < RANKS_TILE; k++)
		all |= bad[k] << k;
	if ((all & f->want) != 0)
		arrive_together(f, rec, slc);
	all = 0;
	for (unsigned int k = 0; k < RANKS_TILE; k++) {
		const uint32_t hops = r->hops[at + k];

		bad[k] = (uint32_t)(hops >= RL_CHECK_HOPS_MAX) |
			 (uint32_t)(r->turn[at + k] == in);
		all |= bad[k];
		a->pairs[k]++;
		a->max[k] = hops + 1 > a->max[k] ? hops + 1 : a->max[k];
	}
	for (unsigned int k = 0; k < RANKS_TILE && all != 0; k++)
		if (bad[k])
			f->want &= ~(1u << k);
}

static void
fast_alike(struct fast *f, uint32_t s)
{
	const struct ranks_map *m = &f->r->map;
	const struct rl_fwd *fwd = &m->in->fwd[m->nsw + s];
	uint64_t sls, words[RANKS_TILE], other = 0;
	unsigned int p;

	f->alike = f->r->alike[s];
	f->shared_same = false;
	if (m->levels != 1 || m->topo->nep - f->from < RANKS_TILE)
		return;
	memcpy(&sls, fwd->path_sl + f->from, sizeof(sls));
	if (sls != (sls & 0xff) * 0x0101010101010101ull)
		return;
	p = fwd->inject_plane[sls & (RL_SLS - 1)];
	rl_fwd_words(fwd, p < fwd->nplanes ? p : 0, f->from, RANKS_TILE, words);
	for (unsigned int k = 1; k < RANKS_TILE; k++)
		other |= words[k] ^ words[0];
	f->shared_same = other == 0;
	f->shared = words[0];
	f->shared_slc = m->slc_of[sls & (RL_SLS - 1)];
}

void
check_fast_source(struct fast *f, uint32_t s, struct fast_source *x)
{
	const struct ranks_map *m = &f->r->map;
	const uint32_t *port0 = m->port0 + m->nsw + s;

	if (f->alike != f->r->alike[s])
		fast_alike(f, s);
	x->same = f->shared_same && s - f->from >= RANKS_TILE;
	if (!x->same)
		return;
	x->word = f->shared;
	x->slc = f->shared_slc;
	x->recs = m->rec[x->slc] + (size_t)port0[0] * RL_FWD_PLANES;
	x->nports = port0[1] - port0[0];
}

static void
arrive_source(struct arrive *a, uint32_t s)
{
	struct fast *f = a->f;
	struct fast_source x;

	check_fast_source(f, s, &x);
	if (x.same && !f->r->map.in->parts) {
		const struct ranks_rec *rec =
			ranks_first(x.word, x.recs, x.nports);

		if (rec != NULL && !(rec->to & RANKS_ENDPOINT)) {
			arrive_all(a, rec, x.slc);
			return;
		}
	}
	for (f->k = 0; f->k < RANKS_TILE; f->k++)
		if ((f->want >> f->k & 1) && !arrive_one(a, s))
			f->want &= ~(1u << f->k);
}

void
check_fast_arrives(struct fast *f)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	const size_t n = (size_t)m->nsw * RANKS_TILE;
	struct arrive a = {.f = f};

	/* clears the leftovers of the previous tile */
	for (unsigned int slot = 0; slot < m->nslots; slot++)
		if (r->followed >> slot & 1)
			memset(r->hops + slot * n, 0, n * sizeof(*r->hops));
	r->followed = 0;
	for (uint32_t s = 0; s < m->topo->nep && f->want != 0; s++)
		if (m->live[s])
			arrive_source(&a, s);
	for (unsigned int k = 0; k < RANKS_TILE; k++) {
		if (!(f->want >> k & 1))
			continue;
		r->rep->pairs += a.pairs[k];
		r->rep->reachable += a.pairs[k];
		r->rep->max_hops = rl_max_u32(r->rep->max_hops, a.max[k]);
	}
}
