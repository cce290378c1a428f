/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The destinations of a tile, quickly. If the input port does not affect VLs, a
 * packet's future depends on its switch and its slot (plane and SL class), and
 * of its past only the highest rank by which it can have come there matters. So
 * there is one number for each (slot, switch, destination) coming in, one going
 * out, and every hop of every entry is checked once.
 *
 * On slots on which the SL does not matter (usually those of detours, and all
 * if paths have only one SL) every entry is assumed to be reached: no queue,
 * entries in the order of memory. On the others a search finds the entries that
 * packets reach. Both are an upper bound of what happens: if all hops ascend
 * here, they do so in fact. If one does not, or a packet is not seen to arrive,
 * check_ranks_exact.c checks packet by packet.
 *
 * Hops to a plane that comes later need less. The hops of a slot have few
 * planes (`bears`). If a hop has a lower rank than all that a switch can do on
 * these planes, no entry there needs a check: the hop is *below*. These hops
 * are found once, from the planes of the first tile; a later tile with another
 * plane is checked again.
 */
#include <string.h>

#include "check_fast.h"

/** Rows that are prefetched. */
#define FAST_AHEAD 16

static void
fast_none(uint16_t lane[][RANKS_TILE], unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		for (unsigned int k = 0; k < RANKS_TILE; k++)
			lane[i][k] = RL_FWD_PORT_NONE;
}

/* The entries of the last destinations, fewer than a tile. */
static void
fast_rest(const struct fast *f, const struct rl_fwd *fwd, unsigned int plane,
	  uint16_t lane[][RANKS_TILE])
{
	const uint32_t have = f->r->map.topo->nep - f->from;

	fast_none(lane, 0, RL_FWD_ALTS);
	for (uint32_t k = 0; k < have; k++) {
		const uint64_t w = rl_fwd_word(fwd, plane,
					       (uint16_t)(f->from + k));

		for (unsigned int i = 0; i < RL_FWD_ALTS; i++)
			lane[i][k] = (uint16_t)(w >> 16 * i);
	}
}

void
check_fast_gather(struct fast *f, unsigned int plane)
{
	const struct ranks_map *m = &f->r->map;
	const bool whole = m->topo->nep - f->from >= RANKS_TILE;
	const unsigned int alts = f->r->alts[plane];

	f->fetched |= 1u << plane;
	for (uint32_t u = 0; u < m->nsw; u++) {
		const struct rl_fwd *fwd = &m->in->fwd[u];
		uint16_t (*to)[RANKS_TILE] = fast_lanes(f->r, plane, u);

		/* rows are far apart: the CPU does not prefetch them */
		if (u + FAST_AHEAD < m->nsw &&
		    plane < fwd[FAST_AHEAD].nplanes)
			rl_fwd_prefetch(&fwd[FAST_AHEAD], plane,
					(uint16_t)f->from);
		if (plane >= fwd->nplanes)
			fast_none(to, 0, alts);
		else if (whole)
			fast_none(to, rl_fwd_lanes(fwd, plane, f->from, to),
				  alts);
		else
			fast_rest(f, fwd, plane, to);
	}
}

static inline void
fast_push(struct fast *f, uint32_t to, uint32_t k)
{
	const uint32_t at = (to & RANKS_TO) * RANKS_TILE + k;

	if (f->r->seen[at])
		return;
	f->r->seen[at] = 1;
	f->r->queue[f->nqueue++] = at;
}

/* One hop of destination k. False: not for the fast path. */
static inline bool
fast_hop(struct fast *f, const struct ranks_rec *rec, unsigned int plane)
{
	struct ranks_run *r = f->r;
	size_t at;
	uint32_t in;

	if (rl_unlikely(rec->to & RANKS_ENDPOINT))
		return (rec->to & RANKS_TO) == f->dst_dev;
	f->bears |= 1u << plane;
	at = (size_t)(rec->to & RANKS_TO) * RANKS_TILE + f->k;
	in = r->in_max[at];
	r->in_max[at] = rec->rank > in ? rec->rank : in;
	if (rec->to & RANKS_SEARCH)
		fast_push(f, rec->to, f->k);
	return true;
}

static inline void
fast_hop_all(struct fast *f, const struct ranks_rec *rec, unsigned int plane)
{
	uint32_t *in = f->r->in_max +
		       (size_t)(rec->to & RANKS_TO) * RANKS_TILE;

	f->bears |= 1u << plane;
	for (unsigned int k = 0; k < RANKS_TILE; k++)
		in[k] = rec->rank > in[k] ? rec->rank : in[k];
	for (uint32_t k = 0; k < RANKS_TILE && (rec->to & RANKS_SEARCH); k++)
		if (f->want >> k & 1)
			fast_push(f, rec->to, k);
}

static bool
fast_inject_one(struct fast *f, uint32_t s)
{
	const struct ranks_map *m = &f->r->map;
	const uint32_t dev = m->nsw + s;

	f->dst_dev = m->nsw + f->from + f->k;
	for (unsigned int q = 0; q < m->levels && dev != f->dst_dev; q++) {
		const struct ranks_rec *recs;
		unsigned int slc;
		uint64_t w = ranks_word(m, s, f->from + f->k, q, &recs, &slc);

		for (; ranks_more(w); w = ranks_next(w)) {
			const struct ranks_rec *rec = ranks_rec_of(
				w, recs, m->port0[dev + 1] - m->port0[dev]);

			if (rec != NULL && !fast_hop(f, rec, w >> 13 & 7))
				return false;
		}
	}
	return true;
}

static bool
fast_inward(const struct fast_source *x)
{
	for (uint64_t w = x->word; ranks_more(w); w = ranks_next(w)) {
		const struct ranks_rec *rec = ranks_rec_of(w, x->recs, x->nports);

		if (rec != NULL && (rec->to & RANKS_ENDPOINT))
			return false;
	}
	return true;
}

static void
fast_inject(struct fast *f)
{
	const struct ranks_map *m = &f->r->map;

	for (uint32_t s = 0; s < m->topo->nep; s++) {
		struct fast_source x;

		if (!m->live[s])
			continue;
		check_fast_source(f, s, &x);
		if (x.same && fast_inward(&x)) {
			for (uint64_t w = x.word; ranks_more(w);
			     w = ranks_next(w)) {
				const struct ranks_rec *rec =
					ranks_rec_of(w, x.recs, x.nports);

				if (rec != NULL)
					fast_hop_all(f, rec, w >> 13 & 7);
			}
			continue;
		}
		for (f->k = 0; f->k < RANKS_TILE; f->k++)
			if ((f->want >> f->k & 1) && !fast_inject_one(f, s))
				f->want &= ~(1u << f->k);
	}
}

/* If the SL matters: checks the entries that packets reach. */
static void
fast_search(struct fast *f)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;

	for (uint32_t head = 0; head < f->nqueue; head++) {
		const uint32_t at = r->queue[head] / RANKS_TILE;
		const uint32_t slot = at / m->nsw, u = at % m->nsw;
		const uint32_t first = m->port0[u];
		const uint32_t nports = m->port0[u + 1] - first;
		const struct ranks_rec *recs = m->rec[m->slot_slc[slot]] +
					       (size_t)first * RL_FWD_PLANES;
		const unsigned int plane = m->slot_plane[slot];
		const uint16_t (*lane)[RANKS_TILE];
		uint32_t min = UINT32_MAX;

		f->k = r->queue[head] % RANKS_TILE;
		f->dst_dev = m->nsw + f->from + f->k;
		check_fast_plane(f, plane);
		lane = (const uint16_t (*)[RANKS_TILE])fast_lanes(r, plane, u);
		for (unsigned int i = 0; i < r->alts[plane] &&
		     ranks_more(lane[i][f->k]); i++) {
			const struct ranks_rec *rec =
				ranks_rec_of(lane[i][f->k], recs, nports);

			if (rec == NULL)
				continue;
			min = rec->rank < min ? rec->rank : min;
			if (!fast_hop(f, rec, lane[i][f->k] >> 13))
				f->want &= ~(1u << f->k);
		}
		r->out_min[r->queue[head]] = min;
	}
	for (uint32_t i = 0; i < f->nqueue; i++)
		if (r->in_max[r->queue[i]] >= r->out_min[r->queue[i]])
			f->want &= ~(1u << r->queue[i] % RANKS_TILE);
}

struct fast_scan {
	const struct ranks_rec *recs; /* of its ports, [plane][port] */
	size_t stride;		      /* ports of all switches */
	uint32_t nports;
	uint32_t *in_max;
	uint32_t least[RANKS_TILE];
	unsigned int bears;
};

#define FAST_ODD (RANKS_ENDPOINT | RANKS_BY_SL | RANKS_SEARCH)

/* A hop that leads to no switch, or is not for the fast path. */
static void
fast_odd(struct fast *f, const struct ranks_rec *rec, unsigned int k)
{
	if ((rec->to & FAST_ODD) != RANKS_ENDPOINT ||
	    (rec->to & RANKS_TO) != f->r->map.nsw + f->from + k)
		f->want &= ~(1u << k);
}

/*
 * One position in the lists of a switch, if all destinations have the same hop.
 */
static inline void
fast_one(struct fast_scan *x, const struct ranks_rec *rec, unsigned int q)
{
	uint32_t *in = x->in_max + (size_t)(rec->to & RANKS_TO) * RANKS_TILE;
	const uint32_t rank = rec->rank;

	for (unsigned int k = 0; k < RANKS_TILE; k++)
		x->least[k] = rank < x->least[k] ? rank : x->least[k];
	x->bears |= 1u << q;
	for (unsigned int k = 0; k < RANKS_TILE &&
	     !(rec->to & RANKS_BELOW); k++)
		in[k] = rank > in[k] ? rank : in[k];
}

static inline void
fast_place(struct fast *f, struct fast_scan *x, const uint16_t hop[RANKS_TILE])
{
	uint64_t w[2];

	memcpy(w, hop, sizeof(w));
	if (w[0] == w[1] && w[0] == (w[0] & 0xffff) * RANKS_ONES) {
		const unsigned int q = hop[0] >> 13;
		const struct ranks_rec *rec =
			x->recs + q * x->stride + (hop[0] & RANKS_PORT);

		if ((hop[0] & RANKS_PORT) >= x->nports || rec->rank == 0)
			return;
		if (!(rec->to & FAST_ODD)) {
			fast_one(x, rec, q);
			return;
		}
	}
	for (unsigned int k = 0; k < RANKS_TILE; k++) {
		const unsigned int q = hop[k] >> 13;
		const struct ranks_rec *rec =
			x->recs + q * x->stride + (hop[k] & RANKS_PORT);
		uint32_t *in, rank;

		if ((hop[k] & RANKS_PORT) >= x->nports || rec->rank == 0)
			continue;
		rank = rec->rank;
		/* no branches: the minimum is unpredictable */
		x->least[k] = rank < x->least[k] ? rank : x->least[k];
		if (rl_unlikely(rec->to & FAST_ODD)) {
			fast_odd(f, rec, k);
			continue;
		}
		x->bears |= 1u << q;
		if (rec->to & RANKS_BELOW)
			continue;
		in = x->in_max + (size_t)(rec->to & RANKS_TO) * RANKS_TILE + k;
		*in = rank > *in ? rank : *in;
	}
}

/* If the SL does not matter: checks all entries of a slot, all destinations,
 * including those behind the end of a list, which are never used. */
static void
fast_scan(struct fast *f, unsigned int slot)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	const unsigned int plane = m->slot_plane[slot], alts = r->alts[plane];
	uint32_t *out = r->out_min + (size_t)slot * m->nsw * RANKS_TILE;
	struct fast_scan x = {.stride = m->nports, .in_max = r->in_max};

	check_fast_plane(f, plane);
	for (uint32_t u = 0; u < m->nsw; u++, out += RANKS_TILE) {
		const uint16_t (*lane)[RANKS_TILE] =
			(const uint16_t (*)[RANKS_TILE])fast_lanes(r, plane, u);

		x.recs = r->scan + m->port0[u];
		x.nports = m->port0[u + 1] - m->port0[u];
		memset(x.least, 0xff, sizeof(x.least));
		for (unsigned int i = 0; i < alts; i++)
			fast_place(f, &x, lane[i]);
		memcpy(out, x.least, sizeof(x.least));
	}
	f->bears |= x.bears;
	r->bears[slot] = (uint8_t)x.bears;
	r->scanned |= 1ull << slot;
	f->again |= r->below && (x.bears & ~r->assumed[slot]) != 0;
}

/* Slots that hops with one of these planes lead to. */
static uint64_t
fast_slots(const struct fast *f)
{
	uint64_t slots = 0;

	for (unsigned int q = 0; q < RL_FWD_PLANES; q++)
		if (f->bears >> q & 1)
			slots |= f->r->map.slots_of[q];
	return slots;
}

/* Finds where an incoming rank is not lower than an outgoing one. */
static void
fast_compare(struct fast *f, unsigned int slot)
{
	const struct ranks_run *r = f->r;
	const size_t n = (size_t)r->map.nsw * RANKS_TILE;
	const uint32_t *in = r->in_max + slot * n;
	const uint32_t *out = r->out_min + slot * n;
	uint32_t bad[RANKS_TILE] = {0};

	for (size_t i = 0; i < n; i += RANKS_TILE)
		for (unsigned int k = 0; k < RANKS_TILE; k++)
			bad[k] |= in[i + k] >= out[i + k];
	for (unsigned int k = 0; k < RANKS_TILE; k++)
		if (bad[k])
			f->want &= ~(1u << k);
}

static void
fast_ascend(struct fast *f)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	uint64_t done = 0, todo;

	fast_inject(f);
	fast_search(f);
	while ((todo = fast_slots(f) & ~done) != 0) {
		const unsigned int slot = (unsigned int)__builtin_ctzll(todo);

		done |= 1ull << slot;
		if (m->slot_free[slot])
			fast_scan(f, slot);
	}
	for (unsigned int slot = 0; slot < m->nslots; slot++)
		if (m->slot_free[slot] && (done >> slot & 1))
			fast_compare(f, slot);
}

/* The lowest rank of all that a switch can do on the planes of a slot. */
static uint32_t
fast_least(const struct ranks_run *r, unsigned int slot, uint32_t u)
{
	const struct ranks_map *m = &r->map;
	uint32_t least = UINT32_MAX;

	for (unsigned int q = 0; q < RL_FWD_PLANES; q++)
		for (uint32_t p = m->port0[u]; p < m->port0[u + 1] &&
		     (r->assumed[slot] >> q & 1); p++) {
			const uint32_t rank =
				r->scan[(size_t)q * m->nports + p].rank;

			least = rank != 0 && rank < least ? rank : least;
		}
	return least;
}

/* Finds the hops that are below: see above. */
static void
fast_below(struct ranks_run *r)
{
	const struct ranks_map *m = &r->map;
	const size_t n = (size_t)m->nports * RL_FWD_PLANES;
	uint32_t *least = r->queue; /* unused at this point */

	for (unsigned int s = 0; s < m->nslots; s++) {
		r->assumed[s] |= r->bears[s];
		for (uint32_t u = 0; u < m->nsw && (r->scanned >> s & 1); u++)
			least[s * m->nsw + u] = fast_least(r, s, u);
	}
	for (size_t i = 0; i < n; i++) {
		struct ranks_rec *rec = &r->scan[i];
		const uint32_t at = rec->to & RANKS_TO;

		rec->to &= ~RANKS_BELOW;
		if (rec->rank == 0 || (rec->to & (RANKS_ENDPOINT |
						  RANKS_SEARCH | RANKS_BY_SL)))
			continue;
		if ((r->scanned >> at / m->nsw & 1) &&
		    rec->rank < least[at])
			rec->to |= RANKS_BELOW;
	}
	r->below = true;
}

static void
fast_begin(struct fast *f, unsigned int want)
{
	struct ranks_run *r = f->r;
	const size_t n = (size_t)r->map.nslots * r->map.nsw * RANKS_TILE;

	f->want = want;
	f->bears = 0;
	f->nqueue = 0;
	f->again = false;
	memset(r->in_max, 0, n * sizeof(*r->in_max));
	memset(r->seen, 0, n);
	memset(r->bears, 0, sizeof(r->bears));
	r->scanned = 0;
}

unsigned int
check_ranks_fast(struct ranks_run *r, uint32_t from, unsigned int want)
{
	struct fast f = {.r = r, .from = from, .alike = RANKS_NONE};

	fast_begin(&f, want);
	fast_ascend(&f);
	if (f.again) {
		fast_below(r);
		fast_begin(&f, want);
		fast_ascend(&f);
	}
	if (!r->below)
		fast_below(r);
	check_fast_arrives(&f);
	return f.want;
}
