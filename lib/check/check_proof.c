/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_proof.h"

#include <stdlib.h>
#include <string.h>

#define MIX 0x9e3779b97f4a7c15ull

static inline uint64_t
digest_add(uint64_t h, uint64_t v)
{
	h = (h ^ v) * MIX;
	return h ^ h >> 29;
}

static uint64_t
digest_bytes(uint64_t h, const uint8_t *p, size_t n)
{
	uint64_t w;

	for (; n >= sizeof(w); n -= sizeof(w), p += sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		h = digest_add(h, w);
	}
	for (; n > 0; n--)
		h = digest_add(h, *p++);
	return h;
}

/* VL tables are shared: those of a device are looked at where they differ from
 * those of the device before. */
static uint64_t
digest_vls(uint64_t h, const struct rl_fwd *f, unsigned int sl)
{
	const size_t in = f->port_class != NULL ? f->nclass : f->nports + 1u;
	const size_t out = f->port_class != NULL ? f->nclass : f->nports;

	for (size_t row = 0; row < f->nplanes * in * out; row++)
		h = digest_add(h, f->sl2vl[row * RL_SLS + sl]);
	return h;
}

/* What an SL means, and the planes that its packets may be on. */
static void
digest_sl(const struct ranks_map *m, unsigned int sl, struct rl_proof *p)
{
	const struct rl_fwd *last = NULL;
	uint64_t h = sl;

	for (uint32_t d = 0; d < m->topo->ndev; d++) {
		const struct rl_fwd *f = &m->in->fwd[d];
		uint64_t planes = 0;

		if (m->topo->dev[d].failed)
			continue;
		for (unsigned int vl = 0; vl < RL_VCS; vl++) {
			const unsigned int q = f->plane_of[vl][sl] < f->nplanes ?
						f->plane_of[vl][sl] : 0;

			planes = planes << 3 | q;
			p->planes[sl] |= (uint8_t)(1u << q);
		}
		h = digest_add(h, planes << 24 | f->inject_plane[sl] << 16 |
					  f->nplanes << 8 | f->levels);
		p->planes[sl] |= (uint8_t)(1u << (f->inject_plane[sl] & 7));
		if (f->port_class != NULL)
			h = digest_bytes(h, f->port_class, f->nports + 1u);
		if (last == NULL || last->sl2vl != f->sl2vl ||
		    last->nplanes != f->nplanes || f->port_class == NULL)
			h = digest_vls(h, f, sl);
		last = f;
	}
	p->maps[sl] = h;
}

#define DIGEST_STEP 256

static void
digest_row(const struct rl_fwd *f, unsigned int plane, uint32_t nep,
	   uint64_t *h)
{
	uint64_t w[DIGEST_STEP];

	for (uint32_t e = 0; e < nep; e += DIGEST_STEP) {
		const uint32_t n = rl_min_u32(DIGEST_STEP, nep - e);

		rl_fwd_words(f, plane, e, n, w);
		for (uint32_t i = 0; i < n; i++)
			h[e + i] = digest_add(h[e + i], w[i]);
	}
}

static void
digest_entries(const struct ranks_map *m, struct rl_proof *p)
{
	const struct rl_topo *t = m->topo;
	const void *last = NULL;
	unsigned int planes = 0;

	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		planes |= m->used_sls >> sl & 1 ? p->planes[sl] : 0;
	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_fwd *f = &m->in->fwd[d];

		/* Endpoints share rows. */
		if (t->dev[d].failed || f->entry == last)
			continue;
		last = f->entry;
		for (unsigned int q = 0; q < f->nplanes; q++)
			if (planes >> q & 1)
				digest_row(f, q, t->nep,
					   p->digest + (size_t)q * t->nep);
	}
}

static void
digest_paths(const struct ranks_map *m, struct rl_proof *p)
{
	const struct rl_topo *t = m->topo;
	const uint8_t *last = NULL;

	for (uint32_t s = 0; s < t->nep; s++) {
		const uint8_t *sl = m->in->fwd[t->ep_dev[s]].path_sl;

		if (!m->live[s] || sl == last)
			continue;
		last = sl;
		for (uint32_t e = 0; e < t->nep; e++) {
			p->sl[e] = p->sl[e] * MIX + sl[e];
			p->sls[e] |= (uint16_t)(1u << (sl[e] & (RL_SLS - 1)));
		}
	}
	for (uint32_t e = 0; e < t->nep; e++)
		for (unsigned int q = 1; q < m->levels; q++)
			p->sls[e] |= (uint16_t)(p->sls[e] <<
						(q * RL_SLS / m->levels));
}

struct rl_proof *
check_proof_new(const struct ranks_map *m)
{
	const struct rl_topo *t = m->topo;
	struct rl_proof *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->ndev = t->ndev;
	p->nep = t->nep;
	p->nlink = t->nlink;
	p->parts = m->in->parts;
	p->levels = m->levels;
	p->digest = calloc((size_t)t->nep * RL_FWD_PLANES + 1,
			   sizeof(*p->digest));
	p->sl = calloc(t->nep + 1u, sizeof(*p->sl));
	p->sls = calloc(t->nep + 1u, sizeof(*p->sls));
	p->rank = calloc(rl_channels(t) + 1u, sizeof(*p->rank));
	p->link_up = malloc(t->nlink + 1u);
	p->live = malloc(t->nep + 1u);
	if (p->digest == NULL || p->sl == NULL || p->sls == NULL ||
	    p->rank == NULL || p->link_up == NULL || p->live == NULL) {
		rl_proof_free(p);
		return NULL;
	}
	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		if (m->used_sls >> sl & 1)
			digest_sl(m, sl, p);
	digest_entries(m, p);
	digest_paths(m, p);
	if (m->in->rank != NULL)
		memcpy(p->rank, m->in->rank,
		       rl_channels(t) * sizeof(*p->rank));
	memcpy(p->live, m->live, t->nep);
	for (uint32_t l = 0; l < t->nlink; l++)
		p->link_up[l] = rl_topo_link_up(t, l);
	return p;
}

void
rl_proof_free(struct rl_proof *p)
{
	if (p == NULL)
		return;
	free(p->digest);
	free(p->sl);
	free(p->sls);
	free(p->rank);
	free(p->link_up);
	free(p->live);
	free(p);
}

/* Marks the destinations to which a device may send by a port. */
static void
compare_port(const struct ranks_map *m, uint32_t dev, unsigned int port,
	     uint8_t *todo)
{
	const struct rl_fwd *f = &m->in->fwd[dev];
	unsigned int planes = 0;

	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		for (unsigned int vl = 0; vl < RL_VCS &&
		     (m->used_sls >> sl & 1); vl++)
			planes |= 1u << f->plane_of[vl][sl] |
				  1u << f->inject_plane[sl];
	for (unsigned int p = 0; p < f->nplanes; p++) {
		if (!(planes >> p & 1))
			continue;
		for (uint32_t e = 0; e < m->topo->nep; e++) {
			uint64_t w = rl_fwd_word(f, p, (uint16_t)e);

			for (unsigned int i = 0; i < RL_FWD_ALTS; i++, w >>= 16)
				todo[e] |= rl_fwd_word_hop(w).port == port;
		}
	}
}

bool
check_proof_same(const struct rl_proof *a, const struct rl_proof *b, uint32_t e)
{
	unsigned int planes = 0;

	if (a->sl[e] != b->sl[e] || a->sls[e] != b->sls[e])
		return false;
	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		if (!(a->sls[e] >> sl & 1))
			continue;
		if (a->maps[sl] != b->maps[sl] ||
		    a->planes[sl] != b->planes[sl])
			return false;
		planes |= a->planes[sl];
	}
	for (unsigned int p = 0; p < RL_FWD_PLANES; p++)
		if ((planes >> p & 1) &&
		    a->digest[(size_t)p * a->nep + e] !=
			    b->digest[(size_t)p * b->nep + e])
			return false;
	return true;
}

void
check_proof_compare(const struct ranks_map *m, const struct rl_proof *old,
		    const struct rl_proof *now, uint8_t *todo)
{
	const struct rl_topo *t = m->topo;
	bool all = old->ndev != now->ndev || old->nep != now->nep ||
		   old->nlink != now->nlink || old->levels != now->levels ||
		   old->parts || now->parts;

	/* Who is back sends to all. */
	for (uint32_t e = 0; e < t->nep && !all; e++)
		all = now->live[e] && !old->live[e];
	memset(todo, all, t->nep);
	if (all)
		return;
	for (uint32_t e = 0; e < t->nep; e++)
		todo[e] = !check_proof_same(old, now, e);
	for (uint32_t l = 0; l < t->nlink; l++) {
		const struct rl_topo_link *k = &t->link[l];

		for (unsigned int end = 0; end < 2; end++) {
			const uint32_t c = rl_channel(l, end, 0);

			if (old->link_up[l] == now->link_up[l] &&
			    memcmp(old->rank + c, now->rank + c,
				   RL_VCS * sizeof(*now->rank)) == 0)
				continue;
			compare_port(m, k->dev[end], k->port[end], todo);
		}
	}
}

void
check_proof_uses(const struct ranks_map *m, uint32_t link, uint8_t *todo)
{
	const struct rl_topo_link *k = &m->topo->link[link];

	for (unsigned int end = 0; end < 2; end++)
		compare_port(m, k->dev[end], k->port[end], todo);
}
