/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof by ranks, destination by destination: the fast path first, then
 * packet by packet if that proves nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_kept.h"
#include "check_parts.h"
#include "check_proof.h"

/* Sources that share their rows inject in the same way. */
static int
run_alike(struct ranks_run *r)
{
	const struct ranks_map *m = &r->map;
	const struct rl_fwd *fwd = m->in->fwd + m->nsw;

	r->alike = malloc((m->topo->nep + 1u) * sizeof(*r->alike));
	if (r->alike == NULL)
		return -ENOMEM;
	for (uint32_t s = 0; s < m->topo->nep; s++) {
		const struct rl_fwd *f = &fwd[s], *b = f - (s != 0);

		r->alike[s] = s;
		if (s != 0 && f->path_sl == b->path_sl &&
		    f->nplanes == b->nplanes &&
		    memcmp(f->list, b->list, sizeof(f->list)) == 0 &&
		    memcmp(f->room, b->room, sizeof(f->room)) == 0 &&
		    memcmp(f->inject_plane, b->inject_plane,
			   sizeof(f->inject_plane)) == 0)
			r->alike[s] = r->alike[s - 1];
	}
	return 0;
}

/* The effect of each hop, in the order of a scan. */
static int
run_scan(struct ranks_run *r)
{
	const struct ranks_map *m = &r->map;

	r->scan = calloc((size_t)m->nports * RL_FWD_PLANES + 1,
			 sizeof(*r->scan));
	if (r->scan == NULL)
		return -ENOMEM;
	/* no endpoint is there: no SL is in use */
	if (run_alike(r) != 0)
		return -ENOMEM;
	r->far = malloc(((size_t)m->nports + 1) * sizeof(*r->far));
	if (r->far == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nports; i++)
		r->far[i] = m->port0[m->port[i].dev] + m->port[i].in_port;
	for (uint32_t i = 0; i < m->nports && m->nslc != 0; i++)
		for (unsigned int q = 0; q < RL_FWD_PLANES; q++)
			r->scan[(size_t)q * m->nports + i] =
				m->rec[0][(size_t)i * RL_FWD_PLANES + q];
	for (uint32_t u = 0; u < m->nsw; u++)
		for (unsigned int q = 0; q < m->in->fwd[u].nplanes; q++)
			r->alts[q] = (uint8_t)rl_max_u32(
				r->alts[q], 1u << m->in->fwd[u].room[q]);
	return 0;
}

/* A fabric that could be partitioned, but is not, is proven like any other:
 * earlier proofs count. */
static int
run_parts(struct ranks_run *r, struct rl_check_ranks *in)
{
	if (!in->parts)
		return 0;
	r->part = check_parts(in->topo);
	if (r->part == NULL)
		return -ENOMEM;
	in->parts = check_cut(in->topo, r->part);
	return 0;
}

static int
run_init(struct ranks_run *r, struct rl_check_ranks *in,
	 struct rl_ranks_report *rep)
{
	size_t n;
	int ret;

	memset(r, 0, sizeof(*r));
	memset(rep, 0, sizeof(*rep));
	rep->from = rep->to = RANKS_NONE;
	r->rep = rep;
	ret = check_ranks_map(&r->map, in);
	if (ret == 0)
		ret = run_parts(r, in);
	if (ret != 0 || !r->map.simple)
		return ret;
	n = ((size_t)r->map.nslots * r->map.nsw + 1) * RANKS_TILE;
	r->in_max = malloc(n * sizeof(*r->in_max));
	r->out_min = malloc(n * sizeof(*r->out_min));
	r->hops = calloc(n, sizeof(*r->hops));
	r->turn = calloc(n, sizeof(*r->turn));
	r->queue = malloc(n * sizeof(*r->queue));
	r->seen = malloc(n);
	r->tile = malloc(((size_t)r->map.nplanes * r->map.nsw + 1) *
			 RL_FWD_ALTS * sizeof(*r->tile));
	return run_scan(r) != 0 || r->in_max == NULL || r->out_min == NULL ||
	       r->hops == NULL || r->turn == NULL || r->queue == NULL || r->seen == NULL ||
	       r->tile == NULL ? -ENOMEM : 0;
}

static void
run_free(struct ranks_run *r)
{
	check_ranks_exact_free(r);
	free(r->part);
	free(r->scan);
	free(r->far);
	free(r->alike);
	free(r->tile);
	free(r->seen);
	free(r->queue);
	free(r->turn);
	free(r->hops);
	free(r->out_min);
	free(r->in_max);
	check_ranks_map_free(&r->map);
}

/* One tile: the fast path first, then the rest packet by packet. */
static int
run_tile(struct ranks_run *r, uint32_t from, unsigned int want)
{
	unsigned int proven = 0;
	int ret = 0;

	if (r->map.simple)
		proven = check_ranks_fast(r, from, want);
	if (r->kept != NULL && check_kept_store(r, from, proven) != 0)
		return -ENOMEM;
	for (uint32_t k = 0; k < RANKS_TILE; k++) {
		int one;

		if (!((want & ~proven) >> k & 1))
			continue;
		one = check_ranks_exact(r, from + k);
		if (one == -ELOOP || one == -ENOMEM)
			return one;
		if (one != 0)
			ret = one;
	}
	return ret;
}

static int
run_all(struct ranks_run *r)
{
	const uint32_t nep = r->map.topo->nep;
	int ret = 0;

	for (uint32_t from = 0; from < nep; from += RANKS_TILE) {
		unsigned int want = 0;
		int one;

		for (uint32_t e = from; e < nep && e < from + RANKS_TILE; e++)
			want |= (unsigned int)r->map.live[e] << (e - from);
		one = want != 0 ? run_tile(r, from, want) : 0;
		if (one == -ELOOP || one == -ENOMEM)
			return one;
		if (one != 0)
			ret = one;
	}
	return ret;
}

static int
run_proof(struct ranks_run *r, struct rl_proof **proof)
{
	struct rl_proof *now = check_proof_new(&r->map);
	int ret = now == NULL ? -ENOMEM : 0;

	if (ret == 0 && r->map.simple && !r->map.in->parts) {
		now->kept = check_kept_new(now);
		r->kept = now->kept;
		ret = now->kept == NULL ? -ENOMEM : 0;
	}
	if (ret == 0)
		ret = run_all(r);
	rl_proof_free(*proof);
	*proof = now;
	if (ret != 0) {
		rl_proof_free(now);
		*proof = NULL;
	} else if (now->kept != NULL) {
		/* what hops do, as long as the proof is kept */
		now->kept->map = r->map;
		memset(&r->map, 0, sizeof(r->map));
		now->kept->map.in = NULL;
		now->kept->map.topo = NULL;
	}
	return ret;
}

/*
 * If parallel links replace each other, the proof of one must hold for all:
 * they must have the same ranks. And the same VLs, which holds if VLs go by
 * classes of ports.
 */
static int
run_grouped(const struct rl_check_ranks *in, struct rl_ranks_report *rep)
{
	const struct rl_topo *t = in->topo;

	for (uint32_t i = 1; i < t->nlink; i++) {
		const uint32_t a = t->by_pair[i - 1], b = t->by_pair[i];
		const uint32_t *dev = t->link[b].dev;

		if (t->link[b].k == 0 || !in->fwd[dev[0]].grouped)
			continue;
		for (unsigned int c = 0; c < 2 * RL_VCS; c++) {
			const unsigned int vl = c % RL_VCS, end = c / RL_VCS;
			const unsigned int other =
				end ^ (t->link[a].dev[0] != dev[0]);

			rep->from = rl_channel(a, other, vl);
			rep->to = rl_channel(b, end, vl);
			if (in->rank[rep->from] != in->rank[rep->to])
				return -ELOOP;
		}
	}
	rep->from = rep->to = RANKS_NONE;
	return 0;
}

int
rl_check_ranks(const struct rl_check_ranks *in, struct rl_proof **proof,
	       struct rl_ranks_report *rep)
{
	struct rl_check_ranks here = *in;
	struct ranks_run r;
	int ret = run_init(&r, &here, rep);

	if (ret == 0)
		ret = run_grouped(in, rep);
	if (ret == 0)
		ret = proof != NULL ? run_proof(&r, proof) :
				      run_all(&r);
	else if (proof != NULL) {
		rl_proof_free(*proof);
		*proof = NULL;
	}
	run_free(&r);
	return ret;
}
