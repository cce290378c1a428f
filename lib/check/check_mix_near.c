/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which flows a change of tables may touch at all. A packet does the same by
 * both tables until it comes to a state where they differ, so until then it
 * goes by first hops of the new tables, and is in states that the proof of
 * these says packets come to (check_kept.h). From the states that differ, those
 * before them are found backwards, down to the sources.
 *
 * Where links died after the old tables were made, or work again that the new
 * ones do without, all entries of their devices are compared, by what packets
 * choose with and without them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_kept.h"
#include "check_mix.h"

struct mix_near {
	struct mix_run *r;
	const struct rl_proof *old, *new;
	const struct ranks_map *m; /* of the proof of the new tables */
	struct proof_diff diff;
	uint16_t other_sls; /* bit per SL whose meaning differs */
	uint8_t *look;	    /* [device] at a link whose state changed */
	uint32_t *sources;  /* [tile's first .. next] with other SLs */
	uint32_t *source0;  /* [tile + 1] */
	uint8_t *marked;    /* [slot][switch] */
	uint32_t *queue;
	uint32_t nqueue;
	uint8_t *touched;   /* [nep] result of check_mix_near() */
	/* the current tile; UINT32_MAX: none */
	uint32_t tile;
	const uint8_t *comes[RANKS_SLOTS]; /* kept_comes() */
	uint32_t *differ;   /* (slot, switch): next hops may differ */
	uint32_t ndiffer;
	uint32_t dst;	    /* the current destination */
};

void
check_mix_near_free(struct mix_near *n)
{
	if (n == NULL)
		return;
	check_proof_differ_free(&n->diff);
	free(n->look);
	free(n->sources);
	free(n->source0);
	free(n->marked);
	free(n->queue);
	free(n->differ);
	free(n->touched);
	free(n);
}

/*
 * Whether the proofs have enough information: all destinations, and the same
 * rows.
 */
static bool
near_known(const struct mix_run *r)
{
	const struct rl_proof *old = r->mix->old_proof, *new = r->mix->proof;

	if (old == NULL || new == NULL || new->kept == NULL ||
	    r->plane != RL_VCS || r->mix->alts != RL_CHECK_FIRST ||
	    new->nep != r->topo->nep || old->nep != new->nep || new->parts ||
	    old->parts)
		return false;
	for (uint32_t e = 0; e < new->nep; e++)
		if (r->map.live[e] &&
		    !(new->kept->tile[e / RANKS_TILE].known >>
			      e % RANKS_TILE & 1))
			return false;
	return true;
}

static void
near_look(struct mix_near *n)
{
	const struct rl_topo *t = n->r->topo;

	for (uint32_t l = 0; l < t->nlink; l++) {
		const bool up = rl_topo_link_up(t, l);

		if (!n->r->dead[l] && n->new->link_up[l] == up &&
		    n->old->link_up[l] == up)
			continue;
		for (unsigned int end = 0; end < 2; end++)
			n->look[t->link[l].dev[end]] = 1;
	}
}

static void
near_sources(struct mix_near *n)
{
	const uint32_t nb = n->new->ntile;
	uint32_t at = 0;

	for (uint32_t b = 0; b < nb; b++) {
		n->source0[b] = at;
		for (uint32_t s = 0; s < n->new->nep; s++)
			if (n->old->path[(size_t)s * nb + b] !=
				    n->new->path[(size_t)s * nb + b] ||
			    n->old->inject[s] != n->new->inject[s])
				n->sources[at++] = s;
	}
	n->source0[nb] = at;
}

static int
near_alloc(struct mix_near *n)
{
	const struct rl_proof *p = n->new;
	const size_t states = (size_t)n->m->nslots * n->m->nsw + 1;

	n->look = calloc(p->ndev + 1u, 1);
	n->sources = malloc(((size_t)p->nep * p->ntile + 1) *
			    sizeof(*n->sources));
	n->source0 = malloc((p->ntile + 1u) * sizeof(*n->source0));
	n->marked = calloc(states, 1);
	n->queue = malloc(states * sizeof(*n->queue));
	n->differ = malloc(states * sizeof(*n->differ));
	n->touched = malloc(p->nep + 1u);
	n->tile = UINT32_MAX;
	return n->look == NULL || n->sources == NULL || n->source0 == NULL ||
	       n->marked == NULL || n->queue == NULL || n->differ == NULL ||
	       n->touched == NULL ?
		       -ENOMEM : 0;
}

int
check_mix_near_new(struct mix_run *r, struct mix_near **near)
{
	struct mix_near *n;
	int ret;

	*near = NULL;
	if (!near_known(r))
		return 0;
	n = calloc(1, sizeof(*n));
	if (n == NULL)
		return -ENOMEM;
	n->r = r;
	n->old = r->mix->old_proof;
	n->new = r->mix->proof;
	n->m = &n->new->kept->map;
	ret = check_proof_differ(n->old, n->new, &n->diff);
	if (ret == 0)
		ret = near_alloc(n);
	if (ret != 0) {
		check_mix_near_free(n);
		return ret == -EINVAL ? 0 : ret;
	}
	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		/* A new SL belongs to paths that had another. */
		if (n->old->planes[sl] != 0 &&
		    (n->old->maps[sl] != n->new->maps[sl] ||
		     n->old->planes[sl] != n->new->planes[sl]))
			n->other_sls |= (uint16_t)(1u << sl);
	near_look(n);
	near_sources(n);
	*near = n;
	return 0;
}

enum near_links {
	NEAR_NOW,
	NEAR_BEFORE, /* including those that died recently */
	NEAR_PROVEN, /* as when the new tables were proven */
};

static bool
near_up(const struct mix_near *n, uint32_t link, enum near_links when)
{
	if (when == NEAR_PROVEN)
		return n->new->link_up[link];
	return rl_topo_link_up(n->r->topo, link) ||
	       (when == NEAR_BEFORE && n->r->dead[link]);
}

static uint32_t
near_choice(const struct mix_near *n, uint32_t dev, uint64_t word,
	    enum near_links when)
{
	const struct rl_topo_dev *d = &n->r->topo->dev[dev];

	for (unsigned int i = 0; i < RL_FWD_ALTS; i++, word >>= 16) {
		const struct rl_fwd_hop h = rl_fwd_word_hop(word);

		if (h.port == RL_FWD_PORT_NONE)
			break;
		if (h.port < d->nports &&
		    near_up(n, d->port[h.port].link, when))
			return word & 0xffff;
	}
	return UINT32_MAX;
}

/* Whether packets on a plane of a device may be sent on different paths, or on
 * one that the proof of the new tables does not know. */
static bool
near_differs(const struct mix_near *n, uint32_t dev, unsigned int plane)
{
	const struct rl_fwd *f = &n->r->mix->old[dev];
	const struct rl_fwd *g = &n->r->mix->fwd[dev];
	uint64_t old, new;
	uint32_t now;

	if (plane >= f->nplanes || plane >= g->nplanes)
		return true;
	old = rl_fwd_word(f, plane, (uint16_t)n->dst);
	new = rl_fwd_word(g, plane, (uint16_t)n->dst);
	if (old == new && !n->look[dev])
		return false;
	now = near_choice(n, dev, new, NEAR_NOW);
	return near_choice(n, dev, old, NEAR_NOW) != now ||
	       near_choice(n, dev, old, NEAR_BEFORE) != now ||
	       near_choice(n, dev, new, NEAR_PROVEN) != now;
}

static void
near_mark(struct mix_near *n, uint32_t at)
{
	if (n->marked[at])
		return;
	n->marked[at] = 1;
	n->queue[n->nqueue++] = at;
}

static inline bool
near_comes(const struct mix_near *n, unsigned int slot, uint32_t u)
{
	const uint8_t *c = n->comes[slot];

	return c != NULL && (c[u] >> n->dst % RANKS_TILE & 1);
}

static void
near_switch(struct mix_near *n, uint32_t u, unsigned int planes)
{
	const struct ranks_map *m = n->m;

	for (unsigned int s = 0; s < m->nslots; s++)
		if ((planes >> m->slot_plane[s] & 1) && n->comes[s] != NULL &&
		    n->comes[s][u] != 0)
			n->differ[n->ndiffer++] = s * m->nsw + u;
}

static void
near_tile(struct mix_near *n, uint32_t tile)
{
	const struct ranks_map *m = n->m;
	const uint8_t *diff = n->diff.at + (size_t)tile * n->new->nrow;

	n->tile = tile;
	n->ndiffer = 0;
	for (unsigned int s = 0; s < m->nslots; s++)
		n->comes[s] = kept_comes(&n->new->kept->tile[tile], s, m->nsw);
	for (uint32_t u = 0; u < m->nsw; u++) {
		const unsigned int planes =
			n->look[u] ? 0xff : diff[n->new->row[u]];

		if (planes != 0)
			near_switch(n, u, planes);
	}
}

/* Whether the first working hop of a device's new entry leads to a state. */
static bool
near_leads(const struct mix_near *n, uint32_t dev, unsigned int plane,
	   unsigned int slc, uint32_t at)
{
	const struct ranks_map *m = n->m;

	return ranks_leads(rl_fwd_word(&n->r->mix->fwd[dev], plane,
				       (uint16_t)n->dst),
			   m->rec[slc] + (size_t)m->port0[dev] * RL_FWD_PLANES,
			   m->port0[dev + 1] - m->port0[dev], at);
}

static unsigned int
near_plane(const struct rl_fwd *f, unsigned int sl)
{
	const unsigned int p = f->inject_plane[sl];

	return p < f->nplanes ? p : 0;
}

/* A source next to a state: whether it injects into that state. */
static void
near_source(struct mix_near *n, uint32_t s, uint32_t at)
{
	const uint32_t dev = n->m->nsw + s;
	const struct rl_fwd *f = &n->r->mix->fwd[dev];
	const unsigned int sl = f->path_sl[n->dst] & (RL_SLS - 1);

	if (!n->touched[s] && (n->m->used_sls >> sl & 1) &&
	    near_leads(n, dev, near_plane(f, sl), n->m->slc_of[sl], at))
		n->touched[s] = 1;
}

/* Finds all states, and sources, whose packets come to a marked state. */
static void
near_before(struct mix_near *n, uint32_t at)
{
	const struct ranks_map *m = n->m;
	const uint32_t u = at % m->nsw;

	for (uint32_t p = m->port0[u]; p < m->port0[u + 1]; p++) {
		const uint32_t v = m->port[p].dev;

		if (m->port[p].dirlink == RANKS_NONE)
			continue;
		if (v >= m->nsw) {
			near_source(n, v - m->nsw, at);
			continue;
		}
		for (unsigned int s = 0; s < m->nslots; s++)
			if (near_comes(n, s, v) && !n->marked[s * m->nsw + v] &&
			    near_leads(n, v, m->slot_plane[s],
				       m->slot_slc[s], at))
				near_mark(n, s * m->nsw + v);
	}
}

static void
near_own(struct mix_near *n)
{
	const struct rl_proof *p = n->new;
	const uint32_t block = n->dst / RANKS_TILE;
	const uint8_t *diff = n->diff.at +
			      (size_t)(n->dst / RANKS_TILE) * p->nrow;
	const struct rl_fwd *old = n->r->mix->old + n->m->nsw;
	const struct rl_fwd *new = n->r->mix->fwd + n->m->nsw;
	const bool other = (p->sls[n->dst] & n->other_sls) != 0;

	for (uint32_t i = n->source0[block]; i < n->source0[block + 1]; i++) {
		const uint32_t s = n->sources[i];

		n->touched[s] |= old[s].path_sl[n->dst] !=
					 new[s].path_sl[n->dst] ||
				 n->old->inject[s] != n->new->inject[s];
	}
	for (uint32_t s = 0; s < p->nep; s++) {
		const unsigned int planes = n->look[n->m->nsw + s] ?
			0xff : diff[p->row[n->m->nsw + s]];
		unsigned int sl, plane;

		if (planes == 0 && !other)
			continue;
		sl = new[s].path_sl[n->dst] & (RL_SLS - 1);
		plane = near_plane(&new[s], sl);
		n->touched[s] |= (n->other_sls >> sl & 1) ||
				 ((planes >> plane & 1) &&
				  near_differs(n, n->m->nsw + s, plane));
	}
}

const uint8_t *
check_mix_near(struct mix_near *n, uint32_t dst, bool *any)
{
	if (dst / RANKS_TILE != n->tile)
		near_tile(n, dst / RANKS_TILE);
	n->dst = dst;
	memset(n->touched, 0, n->new->nep);
	for (uint32_t i = 0; i < n->ndiffer; i++) {
		const unsigned int slot = n->differ[i] / n->m->nsw;
		const uint32_t u = n->differ[i] % n->m->nsw;

		if (near_comes(n, slot, u) &&
		    near_differs(n, u, n->m->slot_plane[slot]))
			near_mark(n, n->differ[i]);
	}
	for (uint32_t i = 0; i < n->nqueue; i++)
		near_before(n, n->queue[i]);
	while (n->nqueue > 0)
		n->marked[n->queue[--n->nqueue]] = 0;
	near_own(n);
	*any = false;
	for (uint32_t s = 0; s < n->new->nep; s++)
		*any |= n->touched[s];
	return n->touched;
}
