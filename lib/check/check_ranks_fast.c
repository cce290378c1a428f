/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The destinations of a tile, quickly. Where the port of entry means nothing
 * for VLs, a packet's future depends on its switch and its slot (plane and SL
 * class), and what counts of its past is the highest rank by which it can have
 * come there. So there is one number for each (slot, switch, destination)
 * coming in, one going out, and every hop of every entry is looked at once.
 *
 * On slots on which the SL means nothing (those of detours, as a rule, and all
 * where paths have but one SL) every entry is taken for one that packets come
 * to: no queue, entries in the order of memory. On the others a search finds
 * those that packets do come to. Both are an upper bound of what happens: what
 * ascends here, ascends. Where something does not, or a packet is not seen to
 * arrive, check_ranks_exact.c looks again, packet by packet.
 */
#include <string.h>

#include "check_ranks.h"

#define HOPS_NEW 0
#define HOPS_OPEN 0xfffe
#define HOPS_LOST 0xffff

#define WORD_NONE (RL_FWD_PORT_NONE * 0x0001000100010001ull)
#define WORD_PORT 0x1fffu
/** Rows that are fetched before they are read. */
#define FAST_AHEAD 16

struct fast {
	struct ranks_run *r;
	uint32_t from;
	unsigned int want;    /* destinations still to be proven */
	unsigned int fetched; /* bit per plane: in the tile */
	unsigned int bears;   /* bit per plane: some hop bears it */
	unsigned int slot_bears; /* the same, of the slot at hand */
	/* at hand */
	uint32_t k;
	uint32_t dst_dev;
	uint32_t nqueue;
};

static inline bool
word_more(uint64_t word)
{
	return (word & WORD_PORT) != RL_FWD_PORT_NONE;
}

static inline uint64_t
word_next(uint64_t word)
{
	return word >> 16 | (uint64_t)RL_FWD_PORT_NONE << 48;
}

/* The entries of a plane for the destinations of the tile. */
static const uint64_t *
fast_plane(struct fast *f, unsigned int plane)
{
	const struct ranks_map *m = &f->r->map;
	const uint32_t have = rl_min_u32(RANKS_TILE, m->topo->nep - f->from);
	uint64_t *tile = f->r->tile + (size_t)plane * m->nsw * RANKS_TILE;

	if (f->fetched >> plane & 1)
		return tile;
	f->fetched |= 1u << plane;
	for (uint32_t u = 0; u < m->nsw; u++) {
		const struct rl_fwd *fwd = &m->in->fwd[u];
		uint64_t *to = tile + (size_t)u * RANKS_TILE;

		/* Rows are far apart, and no one else will fetch them. */
		if (u + FAST_AHEAD < m->nsw &&
		    plane < fwd[FAST_AHEAD].nplanes)
			rl_fwd_prefetch(&fwd[FAST_AHEAD], plane,
					(uint16_t)f->from);
		if (plane < fwd->nplanes)
			rl_fwd_words(fwd, plane, f->from, have, to);
		else
			for (uint32_t k = 0; k < have; k++)
				to[k] = WORD_NONE;
	}
	return tile;
}

/* All next hops of a word of a device, the first of whose records is recs[0].
 * False: not for the fast way. */
static inline bool
fast_hops(struct fast *f, uint64_t word, const struct ranks_rec *recs,
	  uint32_t nports, uint32_t refuse, uint32_t *min)
{
	struct ranks_run *r = f->r;
	uint32_t least = *min;

	for (; word_more(word); word = word_next(word)) {
		const uint32_t port = word & WORD_PORT;
		const uint32_t plane = word >> 13 & 7;
		const struct ranks_rec *rec;
		uint32_t in;
		size_t at;

		if (rl_unlikely(port >= nports))
			continue;
		rec = &recs[port * RL_FWD_PLANES + plane];
		if (rec->rank == 0)
			continue;
		/* No branches: which one is the least no one can foresee. */
		least = rec->rank < least ? rec->rank : least;
		if (rl_unlikely(rec->to & (RANKS_ENDPOINT | refuse))) {
			if (!(rec->to & RANKS_ENDPOINT) || (rec->to & refuse) ||
			    (rec->to & RANKS_TO) != f->dst_dev)
				return false;
			continue;
		}
		at = (size_t)(rec->to & RANKS_TO) * RANKS_TILE + f->k;
		in = r->in_max[at];
		r->in_max[at] = rec->rank > in ? rec->rank : in;
		f->bears |= 1u << plane;
		f->slot_bears |= 1u << plane;
		if ((rec->to & RANKS_SEARCH) && !r->seen[at]) {
			r->seen[at] = 1;
			r->queue[f->nqueue++] = rec->to & RANKS_TO;
		}
	}
	*min = least;
	return true;
}

/* The word by which a source injects, and its records. */
static inline uint64_t
fast_source(const struct ranks_map *m, uint32_t s, uint32_t dst,
	    unsigned int level, const struct ranks_rec **recs)
{
	const uint32_t dev = m->nsw + s;
	const struct rl_fwd *fwd = &m->in->fwd[dev];
	const unsigned int sl = ranks_sl(m, fwd, dst, level);
	const unsigned int p = fwd->inject_plane[sl];

	*recs = m->rec[m->slc_of[sl]] +
		(size_t)m->port0[dev] * RL_FWD_PLANES;
	return rl_fwd_word(fwd, p < fwd->nplanes ? p : 0, (uint16_t)dst);
}

/* The SL class of what it injects. */
static inline unsigned int
fast_class(const struct ranks_map *m, uint32_t s, uint32_t dst,
	   unsigned int level)
{
	return m->slc_of[ranks_sl(m, &m->in->fwd[m->nsw + s], dst, level)];
}

/* What all sources inject. */
static bool
fast_inject(struct fast *f, uint32_t dst)
{
	const struct ranks_map *m = &f->r->map;

	for (uint32_t s = 0; s < m->topo->nep; s++) {
		const uint32_t dev = m->nsw + s;

		if (!m->live[s] || s == dst)
			continue;
		for (unsigned int q = 0; q < m->levels; q++) {
			const struct ranks_rec *recs;
			const uint64_t word = fast_source(m, s, dst, q, &recs);
			uint32_t min = UINT32_MAX;

			if (!fast_hops(f, word, recs,
				       m->port0[dev + 1] - m->port0[dev], 0,
				       &min))
				return false;
		}
	}
	return true;
}

/* Where the SL means something: what packets come to, and no more. */
static bool
fast_search(struct fast *f)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;

	for (uint32_t head = 0; head < f->nqueue; head++) {
		const uint32_t at = r->queue[head], slot = at / m->nsw;
		const uint32_t u = at % m->nsw, first = m->port0[u];
		const uint64_t *tile = fast_plane(f, m->slot_plane[slot]);

		r->out_min[(size_t)at * RANKS_TILE + f->k] = UINT32_MAX;
		if (!fast_hops(f, tile[(size_t)u * RANKS_TILE + f->k],
			       m->rec[m->slot_slc[slot]] +
				       (size_t)first * RL_FWD_PLANES,
			       m->port0[u + 1] - first, 0,
			       &r->out_min[(size_t)at * RANKS_TILE + f->k]))
			return false;
	}
	for (uint32_t i = 0; i < f->nqueue; i++) {
		const size_t at = (size_t)r->queue[i] * RANKS_TILE + f->k;

		if (r->in_max[at] >= r->out_min[at])
			return false;
	}
	return true;
}

/*
 * A line of entries that are all the same, as most are on trees: each next hop
 * is looked at once for all destinations. False: not the same, or one of them
 * leads to an endpoint, or not for the fast way; nothing is done.
 */
static inline bool
fast_same(struct fast *f, const uint64_t *words, const struct ranks_rec *recs,
	  uint32_t nports, uint32_t *out)
{
	struct ranks_run *r = f->r;
	uint64_t other = (1u << RANKS_TILE) - 1 - f->want;
	uint32_t least = UINT32_MAX;

	for (unsigned int k = 1; k < RANKS_TILE; k++)
		other |= words[k] ^ words[0];
	for (uint64_t w = words[0]; word_more(w) && other == 0; w = word_next(w))
		if ((w & WORD_PORT) < nports)
			other = recs[(w & WORD_PORT) * RL_FWD_PLANES +
				     (w >> 13 & 7)].to &
				(RANKS_ENDPOINT | RANKS_BY_SL | RANKS_SEARCH);
	if (other != 0)
		return false;
	for (uint64_t w = words[0]; word_more(w); w = word_next(w)) {
		const struct ranks_rec *rec =
			&recs[(w & WORD_PORT) * RL_FWD_PLANES + (w >> 13 & 7)];
		uint32_t *in;

		if ((w & WORD_PORT) >= nports || rec->rank == 0)
			continue;
		least = rec->rank < least ? rec->rank : least;
		in = r->in_max + (size_t)(rec->to & RANKS_TO) * RANKS_TILE;
		for (unsigned int k = 0; k < RANKS_TILE; k++)
			in[k] = rec->rank > in[k] ? rec->rank : in[k];
		f->bears |= 1u << (w >> 13 & 7);
		f->slot_bears |= 1u << (w >> 13 & 7);
	}
	for (unsigned int k = 0; k < RANKS_TILE; k++)
		out[k] = least;
	return true;
}

/* Where it means nothing: all entries of a slot, all destinations. */
static void
fast_scan(struct fast *f, unsigned int slot)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	const uint64_t *tile = fast_plane(f, m->slot_plane[slot]);
	uint32_t *out = r->out_min + (size_t)slot * m->nsw * RANKS_TILE;

	f->slot_bears = 0;
	for (uint32_t u = 0; u < m->nsw; u++) {
		const uint32_t first = m->port0[u];
		const uint32_t nports = m->port0[u + 1] - first;
		const struct ranks_rec *recs =
			m->rec[0] + (size_t)first * RL_FWD_PLANES;

		if (fast_same(f, tile + (size_t)u * RANKS_TILE, recs, nports,
			      out + (size_t)u * RANKS_TILE))
			continue;
		for (f->k = 0; f->k < RANKS_TILE; f->k++) {
			uint32_t min = UINT32_MAX;

			f->dst_dev = m->nsw + f->from + f->k;
			if ((f->want >> f->k & 1) &&
			    !fast_hops(f, tile[(size_t)u * RANKS_TILE + f->k],
				       recs, nports,
				       RANKS_BY_SL | RANKS_SEARCH, &min))
				f->want &= ~(1u << f->k);
			out[(size_t)u * RANKS_TILE + f->k] = min;
		}
	}
	r->bears[slot] = (uint8_t)f->slot_bears;
	r->scanned |= 1ull << slot;
}

/* Slots that hops lead to which bear one of these planes. */
static uint64_t
fast_slots(const struct fast *f)
{
	uint64_t slots = 0;

	for (unsigned int q = 0; q < RL_FWD_PLANES; q++)
		if (f->bears >> q & 1)
			slots |= f->r->map.slots_of[q];
	return slots;
}

static void
fast_ascend(struct fast *f)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	uint64_t done = 0, todo;

	for (f->k = 0; f->k < RANKS_TILE; f->k++) {
		f->dst_dev = m->nsw + f->from + f->k;
		f->nqueue = 0;
		if ((f->want >> f->k & 1) &&
		    (!fast_inject(f, f->from + f->k) || !fast_search(f)))
			f->want &= ~(1u << f->k);
	}
	while ((todo = fast_slots(f) & ~done) != 0) {
		const unsigned int slot = (unsigned int)__builtin_ctzll(todo);

		done |= 1ull << slot;
		if (m->slot_free[slot])
			fast_scan(f, slot);
	}
	for (unsigned int slot = 0; slot < m->nslots; slot++) {
		const size_t n = (size_t)m->nsw * RANKS_TILE;
		const uint32_t *in = r->in_max + slot * n;
		const uint32_t *out = r->out_min + slot * n;
		uint32_t bad[RANKS_TILE] = {0};

		if (!m->slot_free[slot] || !(done >> slot & 1))
			continue;
		for (size_t i = 0; i < n; i += RANKS_TILE)
			for (unsigned int k = 0; k < RANKS_TILE; k++)
				bad[k] |= in[i + k] >= out[i + k];
		for (unsigned int k = 0; k < RANKS_TILE; k++)
			if (bad[k])
				f->want &= ~(1u << k);
	}
	r->rep->states += (uint64_t)__builtin_popcountll(done) * m->nsw *
			  (unsigned int)__builtin_popcount(f->want);
}

/* The first next hop that works; NULL: none. */
static const struct ranks_rec *
fast_first(uint64_t word, const struct ranks_rec *recs, uint32_t nports)
{
	for (; word_more(word); word = word_next(word)) {
		const uint32_t port = word & WORD_PORT;
		const struct ranks_rec *rec =
			&recs[port * RL_FWD_PLANES + (word >> 13 & 7)];

		if (port < nports && rec->rank != 0)
			return rec;
	}
	return NULL;
}

/* The port at the other end of the link that a record of a class is of. */
static inline uint32_t
fast_far(const struct ranks_map *m, const struct ranks_rec *rec,
	 unsigned int slc)
{
	const struct ranks_port *p =
		&m->port[(size_t)(rec - m->rec[slc]) / RL_FWD_PLANES];

	return m->port0[p->dev] + p->in_port;
}

/* The port by which packets of a slot go on by a record, where none may that
 * came by it: it bears the plane that they are on. */
static inline uint32_t
fast_turn(const struct ranks_map *m, const struct ranks_rec *rec,
	  unsigned int slot)
{
	const size_t i = (size_t)(rec - m->rec[m->slot_slc[slot]]);

	return i % RL_FWD_PLANES == m->slot_plane[slot] ?
		       (uint32_t)(i / RL_FWD_PLANES) : RANKS_NONE;
}

/*
 * Links from where a hop leads to the destination, by first next hops. One that
 * leads straight back on the same plane is none for whoever came that way: such
 * packets count as lost here, and are left to the exact way.
 */
static uint32_t
fast_follow(struct fast *f, const struct ranks_rec *rec, unsigned int slc)
{
	struct ranks_run *r = f->r;
	const struct ranks_map *m = &r->map;
	uint32_t depth = 0, hops;

	for (;;) {
		uint32_t at, slot, u, in;

		if (rec == NULL || (rec->to & RANKS_ENDPOINT)) {
			hops = rec == NULL ? HOPS_LOST : 0;
			break;
		}
		at = rec->to & RANKS_TO;
		hops = r->hops[(size_t)at * RANKS_TILE + f->k];
		in = fast_far(m, rec, slc);
		if (hops != HOPS_NEW) {
			if (r->turn[(size_t)at * RANKS_TILE + f->k] == in)
				hops = HOPS_LOST;
			break;
		}
		slot = at / m->nsw;
		slc = m->slot_slc[slot];
		u = at - slot * m->nsw;
		r->hops[(size_t)at * RANKS_TILE + f->k] = HOPS_OPEN;
		r->queue[depth++] = at;
		rec = fast_first(
			fast_plane(f, m->slot_plane[slot])
				[(size_t)u * RANKS_TILE + f->k],
			m->rec[slc] + (size_t)m->port0[u] * RL_FWD_PLANES,
			m->port0[u + 1] - m->port0[u]);
		r->turn[(size_t)at * RANKS_TILE + f->k] =
			rec != NULL ? fast_turn(m, rec, slot) : RANKS_NONE;
		if (r->turn[(size_t)at * RANKS_TILE + f->k] == in)
			rec = NULL;
	}
	while (depth > 0) {
		hops = hops < RL_CHECK_HOPS_MAX ? hops + 1 : HOPS_LOST;
		r->hops[(size_t)r->queue[--depth] * RANKS_TILE + f->k] =
			(uint16_t)hops;
	}
	return hops;
}

static bool
fast_arrives(struct fast *f, uint32_t dst)
{
	const struct ranks_map *m = &f->r->map;
	struct rl_ranks_report *rep = f->r->rep;
	uint64_t pairs = 0;
	uint32_t max = 0;

	for (uint32_t s = 0; s < m->topo->nep; s++) {
		const uint32_t dev = m->nsw + s;

		if (!m->live[s] || s == dst ||
		    (m->in->parts && !check_ranks_wanted(f->r, s, dst)))
			continue;
		pairs++;
		for (unsigned int q = 0; q < m->levels; q++) {
			const struct ranks_rec *recs;
			const uint64_t word = fast_source(m, s, dst, q, &recs);
			const uint32_t hops = fast_follow(
				f, fast_first(word, recs, m->port0[dev + 1] -
							  m->port0[dev]),
				fast_class(m, s, dst, q));

			if (hops >= RL_CHECK_HOPS_MAX)
				return false;
			max = hops + 1 > max ? hops + 1 : max;
		}
	}
	rep->pairs += pairs;
	rep->reachable += pairs;
	if (max > rep->max_hops)
		rep->max_hops = max;
	return true;
}

unsigned int
check_ranks_fast(struct ranks_run *r, uint32_t from, unsigned int want)
{
	const size_t n = (size_t)r->map.nslots * r->map.nsw * RANKS_TILE;
	struct fast f = {.r = r, .from = from, .want = want};

	memset(r->in_max, 0, n * sizeof(*r->in_max));
	memset(r->hops, 0, n * sizeof(*r->hops));
	memset(r->seen, 0, n);
	memset(r->bears, 0, sizeof(r->bears));
	r->scanned = 0;
	fast_ascend(&f);
	for (f.k = 0; f.k < RANKS_TILE; f.k++)
		if ((f.want >> f.k & 1) && !fast_arrives(&f, from + f.k))
			f.want &= ~(1u << f.k);
	return f.want;
}
