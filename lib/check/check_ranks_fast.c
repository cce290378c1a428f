/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One destination, quickly. Where the port of entry means nothing for VLs, a
 * packet's future depends on its switch and its slot (plane and SL class), and
 * what counts of its past is the highest rank by which it can have come there.
 * So there is one number for each (switch, slot) coming in, one going out, and
 * every hop of every entry is looked at once.
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

struct fast {
	struct ranks_run *r;
	uint32_t dst;
	uint32_t dst_dev;
	uint64_t planned; /* bit per slot: packets come to it */
	uint64_t done;	  /* of the free slots: looked at */
	uint32_t nqueue;
};

/* The entries of a plane for the destinations of a tile. */
static const uint64_t *
fast_plane(struct ranks_run *r, unsigned int plane, uint32_t dst)
{
	const uint32_t from = dst - dst % RANKS_TILE, n = r->map.nsw;
	const uint32_t have = rl_min_u32(RANKS_TILE, r->map.topo->nep - from);
	uint64_t *tile = r->tile + (size_t)plane * n * RANKS_TILE;

	if (r->tile_dst != from) {
		r->tile_dst = from;
		r->tile_planes = 0;
	}
	if (r->tile_planes >> plane & 1)
		return tile;
	r->tile_planes |= 1u << plane;
	for (uint32_t u = 0; u < n; u++) {
		const struct rl_fwd *fwd = &r->map.in->fwd[u];

		for (uint32_t k = 0; k < have; k++)
			tile[k * (size_t)n + u] = plane < fwd->nplanes ?
				rl_fwd_word(fwd, plane, (uint16_t)(from + k)) :
				WORD_NONE;
	}
	return tile;
}

/* A hop into a slot of a switch, of one rank. */
static inline void
fast_enter(struct fast *f, const struct ranks_rec *rec)
{
	struct ranks_run *r = f->r;
	const size_t at = (size_t)rec->slot * r->map.nsw + rec->dev;

	if (rec->rank > r->in_max[at])
		r->in_max[at] = rec->rank;
	f->planned |= 1ull << rec->slot;
	if (!r->map.slot_free[rec->slot] && !r->seen[at]) {
		r->seen[at] = 1;
		r->queue[f->nqueue++] = (uint32_t)at;
	}
}

/* All next hops of a word at a device. False: not for the fast way. */
static inline bool
fast_hops(struct fast *f, uint32_t dev, uint64_t word,
	  const struct ranks_rec *recs, unsigned int refuse, uint32_t *min)
{
	const struct ranks_map *m = &f->r->map;
	const uint32_t first = m->port0[dev], n = m->port0[dev + 1] - first;

	for (; word != WORD_NONE;
	     word = word >> 16 | (uint64_t)RL_FWD_PORT_NONE << 48) {
		const uint32_t port = word & WORD_PORT;
		const struct ranks_rec *rec;

		if (port >= n)
			continue;
		rec = &recs[(first + port) * RL_FWD_PLANES + (word >> 13 & 7)];
		if (rec->rank == 0)
			continue;
		if (rl_unlikely(rec->flags & refuse))
			return false;
		if (rec->rank < *min)
			*min = rec->rank;
		if (!(rec->flags & RANKS_ENDPOINT))
			fast_enter(f, rec);
		else if (rec->dev != f->dst_dev)
			return false;
	}
	return true;
}

/* What all sources inject. */
static bool
fast_inject(struct fast *f)
{
	const struct ranks_map *m = &f->r->map;

	for (uint32_t s = 0; s < m->topo->nep; s++) {
		const uint32_t dev = m->nsw + s;
		const struct rl_fwd *fwd = &m->in->fwd[dev];

		if (!m->live[s] || s == f->dst)
			continue;
		for (unsigned int q = 0; q < m->levels; q++) {
			const unsigned int sl = ranks_sl(m, fwd, f->dst, q);
			const unsigned int p = fwd->inject_plane[sl];
			uint32_t min = UINT32_MAX;

			if (!fast_hops(f, dev,
				       rl_fwd_word(fwd, p < fwd->nplanes ? p : 0,
						   (uint16_t)f->dst),
				       m->rec[m->slc_of[sl]], 0, &min))
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
	const uint32_t n = r->map.nsw;

	for (uint32_t head = 0; head < f->nqueue; head++) {
		const uint32_t at = r->queue[head], slot = at / n, u = at % n;
		const uint64_t *tile = fast_plane(r, r->map.slot_plane[slot],
						  f->dst);
		uint32_t min = UINT32_MAX;

		if (!fast_hops(f, u, tile[f->dst % RANKS_TILE * n + u],
			       r->map.rec[r->map.slot_slc[slot]], 0, &min))
			return false;
		if (r->in_max[at] >= min)
			return false;
		r->out_min[at] = min;
	}
	/* Some numbers have risen since. */
	for (uint32_t i = 0; i < f->nqueue; i++)
		if (r->in_max[r->queue[i]] >= r->out_min[r->queue[i]])
			return false;
	return true;
}

/* Where it means nothing: all entries, slot by slot. */
static bool
fast_scan(struct fast *f, unsigned int slot)
{
	struct ranks_run *r = f->r;
	const uint32_t n = r->map.nsw;
	const uint64_t *tile = fast_plane(r, r->map.slot_plane[slot], f->dst) +
			       f->dst % RANKS_TILE * (size_t)n;
	const struct ranks_rec *recs = r->map.rec[0];
	uint32_t *out = r->out_min + (size_t)slot * n;

	for (uint32_t u = 0; u < n; u++) {
		uint32_t min = UINT32_MAX;

		if (!fast_hops(f, u, tile[u], recs, RANKS_BY_SL, &min))
			return false;
		out[u] = min;
	}
	return true;
}

static bool
fast_ascends(struct fast *f)
{
	struct ranks_run *r = f->r;
	const size_t n = r->map.nsw;
	bool bad = false;

	if (!fast_inject(f) || !fast_search(f))
		return false;
	for (;;) {
		const uint64_t todo = f->planned & ~f->done;
		unsigned int slot;

		if (todo == 0)
			break;
		slot = (unsigned int)__builtin_ctzll(todo);
		f->done |= 1ull << slot;
		if (!r->map.slot_free[slot])
			continue;
		if (!fast_scan(f, slot))
			return false;
	}
	for (unsigned int slot = 0; slot < r->map.nslots; slot++) {
		const uint32_t *in = r->in_max + slot * n;
		const uint32_t *out = r->out_min + slot * n;

		if (!r->map.slot_free[slot] || !(f->done >> slot & 1))
			continue;
		for (size_t u = 0; u < n; u++)
			bad |= in[u] >= out[u];
	}
	return !bad;
}

/* The first next hop that works; NULL: none. */
static const struct ranks_rec *
fast_first(const struct ranks_map *m, uint32_t dev, uint64_t word,
	   const struct ranks_rec *recs)
{
	const uint32_t first = m->port0[dev], n = m->port0[dev + 1] - first;

	for (; word != WORD_NONE;
	     word = word >> 16 | (uint64_t)RL_FWD_PORT_NONE << 48) {
		const uint32_t port = word & WORD_PORT;
		const struct ranks_rec *rec =
			&recs[(first + port) * RL_FWD_PLANES +
			      (word >> 13 & 7)];

		if (port < n && rec->rank != 0)
			return rec;
	}
	return NULL;
}

/* Links from a slot of a switch to the destination, by first next hops. */
static uint32_t
fast_follow(struct fast *f, const struct ranks_rec *rec)
{
	struct ranks_run *r = f->r;
	const uint32_t n = r->map.nsw;
	uint32_t depth = 0, hops, at;

	for (;;) {
		uint64_t word;

		if (rec == NULL || (rec->flags & RANKS_ENDPOINT)) {
			hops = rec == NULL ? HOPS_LOST : 0;
			break;
		}
		at = rec->slot * n + rec->dev;
		hops = r->hops[at];
		if (hops != HOPS_NEW)
			break;
		r->hops[at] = HOPS_OPEN;
		r->queue[depth++] = at;
		word = fast_plane(r, r->map.slot_plane[rec->slot], f->dst)
			[f->dst % RANKS_TILE * (size_t)n + rec->dev];
		rec = fast_first(&r->map, rec->dev, word,
				 r->map.rec[r->map.slot_slc[rec->slot]]);
	}
	while (depth > 0) {
		hops = hops < RL_CHECK_HOPS_MAX ? hops + 1 : HOPS_LOST;
		r->hops[r->queue[--depth]] = (uint16_t)hops;
	}
	return hops;
}

static bool
fast_arrives(struct fast *f)
{
	const struct ranks_map *m = &f->r->map;
	struct rl_ranks_report *rep = f->r->rep;
	uint64_t pairs = 0;
	uint32_t max = 0;

	for (uint32_t s = 0; s < m->topo->nep; s++) {
		const uint32_t dev = m->nsw + s;
		const struct rl_fwd *fwd = &m->in->fwd[dev];

		if (!m->live[s] || s == f->dst ||
		    (m->in->parts && !check_ranks_wanted(f->r, s, f->dst)))
			continue;
		pairs++;
		for (unsigned int q = 0; q < m->levels; q++) {
			const unsigned int sl = ranks_sl(m, fwd, f->dst, q);
			const unsigned int p = fwd->inject_plane[sl];
			const uint32_t hops = fast_follow(f, fast_first(
				m, dev, rl_fwd_word(fwd,
						    p < fwd->nplanes ? p : 0,
						    (uint16_t)f->dst),
				m->rec[m->slc_of[sl]]));

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

bool
check_ranks_fast(struct ranks_run *r, uint32_t dst)
{
	const size_t n = (size_t)r->map.nslots * r->map.nsw;
	struct fast f = {.r = r, .dst = dst, .dst_dev = r->map.nsw + dst};

	memset(r->in_max, 0, n * sizeof(*r->in_max));
	memset(r->hops, 0, n * sizeof(*r->hops));
	memset(r->seen, 0, n);
	if (!fast_ascends(&f) || !fast_arrives(&f))
		return false;
	r->rep->states += (uint64_t)__builtin_popcountll(f.done) * r->map.nsw;
	return true;
}
