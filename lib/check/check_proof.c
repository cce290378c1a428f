/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_proof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_kept.h"

#define MIX 0x9e3779b97f4a7c15ull

static uint64_t
digest_bytes(uint64_t h, const uint8_t *p, size_t n)
{
	uint64_t w;

	for (; n >= sizeof(w); n -= sizeof(w), p += sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		h = check_digest_add(h, w);
	}
	for (; n > 0; n--)
		h = check_digest_add(h, *p++);
	return h;
}

/* VL tables are shared: a device's is only checked if it differs from the
 * previous device's. */
static uint64_t
digest_vls(uint64_t h, const struct rl_fwd *f, unsigned int sl)
{
	const size_t in = f->port_class != NULL ? f->nclass : f->nports + 1u;
	const size_t out = f->port_class != NULL ? f->nclass : f->nports;

	for (size_t row = 0; row < f->nplanes * in * out; row++)
		h = check_digest_add(h, f->sl2vl[row * RL_SLS + sl]);
	return h;
}

/* The meaning of an SL, and the planes that its packets may be on. */
static void
digest_sl(const struct ranks_map *m, unsigned int sl, struct rl_proof *p)
{
	const struct rl_fwd *last = NULL;
	uint64_t h = sl;

	for (uint32_t d = 0; d < m->topo->ndev; d++) {
		const struct rl_fwd *f = &m->in->fwd[d];
		uint64_t planes = 0;

		for (unsigned int vl = 0; vl < RL_VCS; vl++) {
			const unsigned int q = f->plane_of[vl][sl] < f->nplanes ?
						f->plane_of[vl][sl] : 0;

			planes = planes << 3 | q;
			p->planes[sl] |= (uint8_t)(1u << q);
		}
		h = check_digest_add(h, planes << 24 | f->inject_plane[sl] << 16 |
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

__extension__ typedef unsigned __int128 digest_wide;

/* Folds both halves of a product: it depends on all bits of both factors. */
static inline uint64_t
digest_fold(uint64_t a, uint64_t b)
{
	const digest_wide w = (digest_wide)a * b;

	return (uint64_t)w ^ (uint64_t)(w >> 64);
}

_Static_assert(RANKS_TILE == 8, "the entries of a digest");

static inline uint64_t
digest_line(const uint64_t w[RANKS_TILE])
{
	return (digest_fold(w[0] ^ 0xa0761d6478bd642full,
			    w[1] ^ 0xe7037ed1a0b428dbull) ^
		digest_fold(w[2] ^ 0x8ebc6af09c88c6e3ull,
			    w[3] ^ 0x589965cc75374cc3ull)) +
	       (digest_fold(w[4] ^ 0x1d8e4e27c47d124full,
			    w[5] ^ 0xeb44accab455d165ull) ^
		digest_fold(w[6] ^ 0x9e6c63d0676a9a99ull,
			    w[7] ^ 0xaf251af3b0f025b5ull));
}

/* Entries with room for fewer next hops fill fewer words. */
static inline uint64_t
digest_short(const uint64_t w[RANKS_TILE], unsigned int n)
{
	const uint64_t h = digest_fold(w[0] ^ 0xa0761d6478bd642full,
				       w[1] ^ 0xe7037ed1a0b428dbull);

	return n == 2 ? h :
	       h ^ digest_fold(w[2] ^ 0x8ebc6af09c88c6e3ull,
			       w[3] ^ 0x589965cc75374cc3ull);
}

static void
digest_row(const struct rl_fwd *f, unsigned int plane, uint32_t nep,
	   uint64_t *line)
{
	for (uint32_t e = 0; e < nep; e += RANKS_TILE) {
		uint64_t w[RANKS_TILE] = {0};
		unsigned int n = RANKS_TILE;

		if (nep - e >= RANKS_TILE)
			n = rl_fwd_line(f, plane, e, w);
		else
			rl_fwd_words(f, plane, e, nep - e, w);
		line[e / RANKS_TILE] = n == RANKS_TILE ? digest_line(w) :
						digest_short(w, n) + n;
	}
}

/* Numbers the rows; consecutive devices may share one. */
static void
digest_rows(const struct ranks_map *m, struct rl_proof *p)
{
	const void *last = NULL;

	for (uint32_t d = 0; d < p->ndev; d++) {
		p->nrow += d == 0 || m->in->fwd[d].list[0] != last;
		last = m->in->fwd[d].list[0];
		p->row[d] = p->nrow - 1;
	}
}

static int
digest_entries(const struct ranks_map *m, struct rl_proof *p)
{
	const size_t n = (size_t)p->nrow * p->ntile;
	uint32_t done = UINT32_MAX;

	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		p->used |= m->used_sls >> sl & 1 ? p->planes[sl] : 0;
	for (unsigned int q = 0; q < RL_FWD_PLANES; q++) {
		if (!(p->used >> q & 1))
			continue;
		p->line[q] = calloc(n + 1, sizeof(*p->line[q]));
		if (p->line[q] == NULL)
			return -ENOMEM;
	}
	for (uint32_t d = 0; d < p->ndev; d++) {
		const struct rl_fwd *f = &m->in->fwd[d];

		if (m->topo->dev[d].failed || p->row[d] == done)
			continue;
		done = p->row[d];
		for (unsigned int q = 0; q < f->nplanes; q++)
			if (p->used >> q & 1)
				digest_row(f, q, p->nep, p->line[q] +
					   (size_t)done * p->ntile);
	}
	return 0;
}

/* How an endpoint injects, except its entries and the SLs of its paths. */
static uint64_t
digest_inject(const struct rl_fwd *f)
{
	uint64_t h = f->nplanes, w;

	for (unsigned int i = 0; i < RL_SLS; i += sizeof(w)) {
		memcpy(&w, f->inject_plane + i, sizeof(w));
		h = check_digest_add(h, w);
	}
	return h;
}

_Static_assert(RL_SLS == 16, "an SL is 4 bits");

/* The SLs of the paths from an endpoint; most are SL 0. */
static void
digest_path(const uint8_t *sl, struct rl_proof *p, uint32_t *path)
{
	for (uint32_t e = 0; e < p->nep; e += RANKS_TILE) {
		const uint32_t n = rl_min_u32(RANKS_TILE, p->nep - e);
		uint32_t all = 0;
		uint64_t w = 0;

		memcpy(&w, sl + e, n);
		for (uint32_t i = 0; i < n; i++) {
			const unsigned int one = w == 0 ? 0 :
				sl[e + i] & (RL_SLS - 1u);

			all |= one << 4 * i;
			p->sls[e + i] |= (uint16_t)(1u << one);
		}
		path[e / RANKS_TILE] = all;
	}
}

static void
digest_paths(const struct ranks_map *m, struct rl_proof *p)
{
	const struct rl_topo *t = m->topo;
	const uint8_t *last = NULL;
	uint32_t same = 0;

	for (uint32_t s = 0; s < t->nep; s++) {
		const struct rl_fwd *f = &m->in->fwd[t->ep_dev[s]];
		uint32_t *path = p->path + (size_t)s * p->ntile;

		p->inject[s] = digest_inject(f);
		if (!m->live[s])
			continue;
		if (f->path_sl == last)
			memcpy(path, p->path + (size_t)same * p->ntile,
			       p->ntile * sizeof(*path));
		else
			digest_path(f->path_sl, p, path);
		last = f->path_sl;
		same = s;
	}
	for (uint32_t e = 0; e < t->nep; e++)
		for (unsigned int q = 1; q < m->levels; q++)
			p->sls[e] |= (uint16_t)(p->sls[e] <<
						(q * RL_SLS / m->levels));
}

static int
proof_alloc(struct rl_proof *p, const struct rl_topo *t)
{
	p->ndev = t->ndev;
	p->nep = t->nep;
	p->nlink = t->nlink;
	p->ntile = (t->nep + RANKS_TILE - 1u) / RANKS_TILE;
	p->row = calloc(t->ndev + 1u, sizeof(*p->row));
	p->path = calloc((size_t)t->nep * p->ntile + 1, sizeof(*p->path));
	p->inject = calloc(t->nep + 1u, sizeof(*p->inject));
	p->sls = calloc(t->nep + 1u, sizeof(*p->sls));
	p->link_up = malloc(t->nlink + 1u);
	return p->row == NULL || p->path == NULL || p->inject == NULL ||
	       p->sls == NULL || p->link_up == NULL ? -ENOMEM : 0;
}

struct rl_proof *
check_proof_new(const struct ranks_map *m)
{
	const struct rl_topo *t = m->topo;
	struct rl_proof *p = calloc(1, sizeof(*p));

	if (p == NULL || proof_alloc(p, t) != 0) {
		rl_proof_free(p);
		return NULL;
	}
	p->parts = m->in->parts;
	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		if (m->used_sls >> sl & 1)
			digest_sl(m, sl, p);
	digest_rows(m, p);
	if (digest_entries(m, p) != 0) {
		rl_proof_free(p);
		return NULL;
	}
	digest_paths(m, p);
	for (uint32_t l = 0; l < t->nlink; l++)
		p->link_up[l] = rl_topo_link_up(t, l);
	return p;
}

void
rl_proof_free(struct rl_proof *p)
{
	if (p == NULL)
		return;
	check_kept_free(p->kept, p->ntile);
	for (unsigned int q = 0; q < RL_FWD_PLANES; q++)
		free(p->line[q]);
	free(p->row);
	free(p->path);
	free(p->inject);
	free(p->sls);
	free(p->link_up);
	free(p);
}

int
check_proof_differ(const struct rl_proof *a, const struct rl_proof *b,
		   struct proof_diff *d)
{
	memset(d, 0, sizeof(*d));
	if (a->ndev != b->ndev || a->nep != b->nep || a->nlink != b->nlink ||
	    memcmp(a->row, b->row, a->ndev * sizeof(*a->row)) != 0)
		return -EINVAL;
	d->at = calloc((size_t)b->ntile * b->nrow + 1, 1);
	d->any = calloc(b->ntile + 1u, 1);
	d->path = calloc(b->ntile + 1u, 1);
	if (d->at == NULL || d->any == NULL || d->path == NULL)
		return -ENOMEM;
	for (uint32_t s = 0; s < b->nep; s++)
		for (uint32_t k = 0; k < b->ntile; k++)
			d->path[k] |= a->path[(size_t)s * b->ntile + k] !=
				      b->path[(size_t)s * b->ntile + k];
	for (unsigned int q = 0; q < RL_FWD_PLANES; q++) {
		const uint64_t *x = a->line[q], *y = b->line[q];
		size_t i = 0;

		if (x == NULL && y == NULL)
			continue;
		for (uint32_t row = 0; row < b->nrow; row++)
			for (uint32_t t = 0; t < b->ntile; t++, i++) {
				if (x != NULL && y != NULL && x[i] == y[i])
					continue;
				d->at[(size_t)t * b->nrow + row] |=
					(uint8_t)(1u << q);
				d->any[t] |= (uint8_t)(1u << q);
			}
	}
	return 0;
}

void
check_proof_differ_free(struct proof_diff *d)
{
	free(d->at);
	free(d->any);
	free(d->path);
	memset(d, 0, sizeof(*d));
}

/* Marks the destinations to which a device may send by some of its ports: a bit
 * per port, the 65th as the first, which may mark too many, never too few. */
static void
compare_ports(const struct ranks_map *m, uint32_t dev, uint64_t ports,
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

			for (unsigned int i = 0; i < RL_FWD_ALTS && !todo[e];
			     i++, w >>= 16) {
				const unsigned int q = rl_fwd_word_hop(w).port;

				todo[e] |= q < f->nports && (ports >> q % 64 & 1);
			}
		}
	}
}

bool
check_proof_same(const struct rl_proof *a, const struct rl_proof *b,
		 const struct proof_diff *d, uint32_t e)
{
	unsigned int planes = 0;

	if (d->path[e / RANKS_TILE] || a->sls[e] != b->sls[e])
		return false;
	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		if (!(a->sls[e] >> sl & 1))
			continue;
		if (a->maps[sl] != b->maps[sl] ||
		    a->planes[sl] != b->planes[sl])
			return false;
		planes |= a->planes[sl];
	}
	return (planes & d->any[e / RANKS_TILE]) == 0;
}

void
check_proof_uses(const struct ranks_map *m, uint32_t link, uint8_t *todo)
{
	const struct rl_topo_link *k = &m->topo->link[link];

	for (unsigned int end = 0; end < 2; end++)
		compare_ports(m, k->dev[end], 1ull << k->port[end] % 64, todo);
}
