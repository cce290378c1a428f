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

/* Planes that packets may come to: of the others there may be no entries. */
static unsigned int
digest_planes(const struct ranks_map *m, const struct rl_fwd *f)
{
	unsigned int mask = 0;

	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		if (!(m->used_sls >> sl & 1))
			continue;
		mask |= 1u << f->inject_plane[sl];
		for (unsigned int vl = 0; vl < RL_VCS; vl++)
			mask |= 1u << (f->plane_of[vl][sl] < f->nplanes ?
				       f->plane_of[vl][sl] : 0);
	}
	return mask;
}

/* VL tables are shared: those of a device are looked at where they differ from
 * those of the device before. */
static uint64_t
digest_maps(const struct ranks_map *m, const struct rl_fwd *fwd)
{
	const struct rl_fwd *last = NULL;
	uint64_t h = m->used_sls;

	for (uint32_t d = 0; d < m->topo->ndev; d++) {
		const struct rl_fwd *f = &fwd[d];
		const size_t in = f->port_class != NULL ? f->nclass :
							  f->nports + 1u;
		const size_t out = f->port_class != NULL ? f->nclass :
							   f->nports;

		if (m->topo->dev[d].failed)
			continue;
		h = digest_add(h, (uint64_t)f->nplanes << 32 |
					  (uint64_t)f->levels << 16 | f->nports);
		h = digest_bytes(h, &f->plane_of[0][0], sizeof(f->plane_of));
		h = digest_bytes(h, f->inject_plane, sizeof(f->inject_plane));
		if (f->port_class != NULL)
			h = digest_bytes(h, f->port_class, f->nports + 1u);
		if (last == NULL || last->sl2vl != f->sl2vl ||
		    last->nplanes != f->nplanes || f->port_class == NULL)
			h = digest_bytes(h, f->sl2vl,
					 f->nplanes * in * out * RL_SLS);
		last = f;
	}
	return h;
}

static void
digest_row(const struct rl_fwd *f, unsigned int plane, uint32_t nep,
	   uint64_t *h)
{
	for (uint32_t e = 0; e < nep; e++)
		h[e] = digest_add(h[e], rl_fwd_word(f, plane, (uint16_t)e));
}

void
check_digest(const struct ranks_map *m, uint64_t *digest)
{
	const struct rl_topo *t = m->topo;
	const void *last = NULL;

	for (uint32_t e = 0; e < t->nep; e++)
		digest[e] = e;
	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_fwd *f = &m->in->fwd[d];
		unsigned int planes;

		/* Endpoints share rows. */
		if (t->dev[d].failed || f->entry == last)
			continue;
		last = f->entry;
		planes = digest_planes(m, f);
		for (unsigned int p = 0; p < f->nplanes; p++)
			if (planes >> p & 1)
				digest_row(f, p, t->nep, digest);
	}
	last = NULL;
	for (uint32_t s = 0; s < t->nep; s++) {
		const uint8_t *sl = m->in->fwd[t->ep_dev[s]].path_sl;

		if (!m->live[s] || sl == last)
			continue;
		last = sl;
		for (uint32_t e = 0; e < t->nep; e++)
			digest[e] = digest[e] * MIX + sl[e];
	}
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
	p->digest = malloc((t->nep + 1u) * sizeof(*p->digest));
	p->rank = malloc((rl_channels(t) + 1u) * sizeof(*p->rank));
	p->link_up = malloc(t->nlink + 1u);
	p->live = malloc(t->nep + 1u);
	if (p->digest == NULL || p->rank == NULL || p->link_up == NULL ||
	    p->live == NULL) {
		rl_proof_free(p);
		return NULL;
	}
	p->maps = digest_maps(m, m->in->fwd);
	check_digest(m, p->digest);
	memcpy(p->rank, m->in->rank, rl_channels(t) * sizeof(*p->rank));
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
	const unsigned int planes = digest_planes(m, f);

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

void
check_proof_compare(const struct ranks_map *m, const struct rl_proof *old,
		    const struct rl_proof *now, uint8_t *todo)
{
	const struct rl_topo *t = m->topo;
	bool all = old->ndev != now->ndev || old->nep != now->nep ||
		   old->nlink != now->nlink || old->maps != now->maps ||
		   old->parts || now->parts;

	/* Who is back sends to all. */
	for (uint32_t e = 0; e < t->nep && !all; e++)
		all = now->live[e] && !old->live[e];
	memset(todo, all, t->nep);
	if (all)
		return;
	for (uint32_t e = 0; e < t->nep; e++)
		todo[e] = old->digest[e] != now->digest[e];
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

bool
check_maps_differ(const struct ranks_map *m, const struct rl_fwd *fwd)
{
	return digest_maps(m, m->in->fwd) != digest_maps(m, fwd);
}
