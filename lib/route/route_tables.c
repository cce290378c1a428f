/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of tables. A fabric of a thousand switches has tens of megabytes
 * of them, so all rows lie in one block, on huge pages where the system gives
 * them, and all that can be shared between devices is: the VL table (by class
 * of port), and the one row of the endpoints that have a single link.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "route_impl.h"

#define HUGE_BYTES (2u << 20)
/** Memory that replaced tables leave is kept up to here. */
#define SPARE_BYTES (256u << 20)

/* Zeroed memory for rows; big blocks come from the system, a page as it is
 * first touched, so that planes not in use take none. The first `live` of n
 * will all be touched, and get huge pages. */
static void *
tables_alloc(size_t n, size_t live, size_t size, size_t *bytes)
{
	void *p;

	*bytes = n * size;
	if (*bytes < HUGE_BYTES) {
		*bytes = 0;
		return calloc(n != 0 ? n : 1, size);
	}
	p = mmap(NULL, *bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (live * size >= HUGE_BYTES)
		madvise(p, live * size & ~(size_t)(HUGE_BYTES - 1),
			MADV_HUGEPAGE);
	return p;
}

static void
tables_free_entries(struct rl_fwd_entry *entry, size_t bytes)
{
	if (bytes != 0)
		munmap(entry, bytes);
	else
		free(entry);
}

void
route_tables_free(struct route_mem *m)
{
	tables_free_entries(m->entry, m->entry_bytes);
	tables_free_entries(m->ep_entry, m->ep_entry_bytes);
	tables_free_entries(m->spare, m->spare_bytes);
	free(m->spare_held);
	free(m->held);
	free(m->port_class);
	free(m->vl);
	free(m->path_sl);
	free(m->tile);
}

void
route_tables_keep(struct route_mem *m, struct route_mem *old)
{
	if (m->spare != NULL || old->entry_bytes == 0 ||
	    old->entry_bytes > SPARE_BYTES)
		return;
	m->spare = old->entry;
	m->spare_bytes = old->entry_bytes;
	m->spare_held = old->held;
	old->entry = NULL;
	old->entry_bytes = 0;
	old->held = NULL;
}

/*
 * Memory for the entries: what the tables before have left, if it is as much.
 * Planes that are not in use take none; of a tile those that it held and that
 * are not written again are cleared, see route_tile_end().
 */
static void
tables_entries(struct route_build *b, struct route_mem *m, size_t n,
	       size_t live)
{
	struct route_mem *was = b->before;
	const uint32_t tiles = b->topo->nep / ROUTE_TILE + 1u;
	const size_t bytes = live * sizeof(*m->entry);

	if (was != NULL && was->spare != NULL &&
	    was->spare_bytes == n * sizeof(*m->entry)) {
		m->entry = was->spare;
		m->entry_bytes = was->spare_bytes;
		m->held = was->spare_held;
		was->spare = NULL;
		was->spare_held = NULL;
		was->spare_bytes = 0;
		madvise((char *)m->entry + bytes, m->entry_bytes - bytes,
			MADV_DONTNEED);
		for (uint32_t i = 0; i < tiles; i++)
			m->held[i] = (uint8_t)rl_min_u32(m->held[i],
							 b->live_planes);
		return;
	}
	m->held = calloc(tiles, 1);
	m->entry = tables_alloc(n, live, sizeof(*m->entry), &m->entry_bytes);
}

static void
tables_clear(struct rl_fwd_entry *e, size_t n)
{
	const struct rl_fwd_entry none = {
		{ROUTE_HOP_NONE, ROUTE_HOP_NONE, ROUTE_HOP_NONE,
		 ROUTE_HOP_NONE}};

	for (size_t i = 0; i < n; i++)
		e[i] = none;
}

/* Endpoints with several links have rows of their own, the others share. */
static uint32_t
tables_ep_rows(const struct rl_topo *t)
{
	uint32_t rows = 1;

	for (uint32_t e = 0; e < t->nep; e++)
		rows += t->dev[t->ep_dev[e]].nports > 1;
	return rows;
}

static void
tables_fill_fwd(struct route_build *b, struct route_mem *m)
{
	const struct rl_topo *t = b->topo;
	struct rl_route *r = b->route;
	struct rl_fwd_entry *row = m->ep_entry + (size_t)b->nplanes * t->nep;
	uint8_t *cls = m->port_class;

	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_topo_dev *dev = &t->dev[d];
		struct rl_fwd *f = &r->fwd[d];

		f->ndst = (uint16_t)t->nep;
		f->nports = dev->nports;
		f->nplanes = (uint16_t)(b->nplanes + b->vl_planes);
		f->sl2vl = m->vl;
		f->nclass = ROUTE_CLASSES;
		f->port_class = cls;
		for (unsigned int p = 0; p < dev->nports; p++) {
			const struct rl_topo_port *port = &dev->port[p];

			cls[p] = ROUTE_CLASS_HOST;
			if (t->link[port->link].kind == RL_LINK_ISL)
				cls[p] = (uint8_t)(ROUTE_CLASS_ISL +
					 (port->dim > 0 ? port->dim : 0));
		}
		cls[dev->nports] = ROUTE_CLASS_HOST;
		cls += dev->nports + 1u;
		if (dev->kind == RL_DEV_SWITCH) {
			f->entry = b->entry + d * b->row;
			f->plane_stride = b->g.nnode * b->row;
			continue;
		}
		f->path_sl = m->path_sl + (b->one_sl ? 0 : (size_t)dev->ep_id *
							   t->nep);
		f->entry = m->ep_entry;
		if (dev->nports > 1) {
			f->entry = row;
			row += (size_t)b->nplanes * t->nep;
		}
	}
}

/* Whether entries lie in memory as struct route_hops builds them. */
static bool
tables_word_ok(void)
{
	const struct rl_fwd_entry e = {
		{{.port = 5, .plane = 3}, ROUTE_HOP_NONE, ROUTE_HOP_NONE,
		 {.port = 7, .plane = 1}}};
	struct route_hops h;

	route_hops_init(&h);
	route_hops_add(&h, 5, 3);
	h.n = 3;
	route_hops_add(&h, 7, 1);
	return memcmp(&h.word, &e, sizeof(e)) == 0;
}

int
route_tables_init(struct route_build *b, unsigned int nplanes)
{
	const struct rl_topo *t = b->topo;
	const size_t vls = (size_t)(nplanes + b->vl_planes) * ROUTE_CLASSES *
			   ROUTE_CLASSES * RL_SLS;
	/* By whole cache lines, and an odd number of them: rows a power of two
	 * apart would all want the same few lines of a cache. */
	const size_t row = ((size_t)t->nep / ROUTE_TILE | 1) * ROUTE_TILE +
			   2 * ROUTE_TILE;
	const size_t rows = row * b->g.nnode * nplanes;
	const size_t ep_rows = (size_t)tables_ep_rows(t) * nplanes * t->nep;
	struct rl_route *r = b->route;
	struct route_mem *m = r->priv;

	RL_ASSERT(tables_word_ok());
	RL_ASSERT(nplanes >= 1 && nplanes + b->vl_planes <= RL_FWD_PLANES);
	b->nplanes = nplanes;
	b->row = row;
	m->row = row;
	m->nplanes = nplanes;
	m->nchan = rl_channels(t);
	if (b->live_planes == 0)
		b->live_planes = nplanes;
	tables_entries(b, m, rows, row * b->g.nnode * b->live_planes);
	m->ep_entry = tables_alloc(ep_rows, ep_rows, sizeof(*m->ep_entry),
				   &m->ep_entry_bytes);
	m->vl = calloc(vls, 1);
	m->port_class = calloc(2u * (size_t)t->nlink + t->ndev, 1);
	r->fwd = calloc(t->ndev, sizeof(*r->fwd));
	m->path_sl = calloc(b->one_sl ? t->nep : (size_t)t->nep * t->nep, 1);
	r->ndev = t->ndev;
	r->nep = t->nep;
	m->tile = calloc((size_t)nplanes * b->g.nnode + 1,
			 ROUTE_TILE * sizeof(*m->tile));
	if (m->entry == NULL || m->held == NULL || m->ep_entry == NULL ||
	    m->tile == NULL || m->vl == NULL || m->port_class == NULL || r->fwd == NULL || m->path_sl == NULL) {
		snprintf(b->err, RL_ERR_MAX, "no memory for the tables of %u "
			 "devices", t->ndev);
		return -ENOMEM;
	}
	tables_clear(m->ep_entry, ep_rows);
	b->entry = m->entry;
	b->held = m->held;
	b->vl = m->vl;
	b->tile = m->tile;
	tables_fill_fwd(b, m);
	return 0;
}

void
route_tile_begin(struct route_build *b, uint32_t dst)
{
	uint64_t *tile = b->tile + route_tile_at(b, 0, 0, dst);

	if (dst % ROUTE_TILE == 0)
		b->tile_planes = b->live_planes;
	for (size_t i = 0; i < (size_t)b->live_planes * b->g.nnode; i++)
		tile[i] = ROUTE_WORD_NONE;
}

/* What the tables hold of a tile from times when it had more planes. */
static void
tile_clear(struct route_build *b, uint32_t from, uint32_t have)
{
	const size_t end = (size_t)b->held[from / ROUTE_TILE] * b->g.nnode;

	for (size_t i = (size_t)b->tile_planes * b->g.nnode; i < end; i++)
		memset(b->entry + i * b->row + from, 0,
		       have * sizeof(*b->entry));
	b->held[from / ROUTE_TILE] = (uint8_t)b->tile_planes;
}

/* A cache line of a row: past the caches, which would fetch it first, where the
 * processor can. */
static inline void
tile_line(struct rl_fwd_entry *row, const uint64_t line[ROUTE_TILE])
{
#ifdef __SSE2__
	for (unsigned int i = 0; i < ROUTE_TILE; i += 2)
		_mm_stream_si128((__m128i *)(void *)(row + i),
				 _mm_set_epi64x((long long)line[i + 1],
						(long long)line[i]));
#else
	memcpy(row, line, ROUTE_TILE * sizeof(*row));
#endif
}

void
route_tables_done(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

void
route_tile_end(struct route_build *b, uint32_t dst)
{
	const size_t n = (size_t)b->live_planes * b->g.nnode;
	const uint32_t from = dst - dst % ROUTE_TILE, have = dst + 1 - from;

	if (have < ROUTE_TILE && dst + 1 < b->topo->nep)
		return;
	for (size_t i = 0; i < (size_t)b->tile_planes * b->g.nnode; i++) {
		struct rl_fwd_entry *row = b->entry + i * b->row + from;
		uint64_t line[ROUTE_TILE];

		for (uint32_t k = 0; k < ROUTE_TILE; k++)
			line[k] = b->tile[k * n + i];
		if (have == ROUTE_TILE)
			tile_line(row, line);
		else
			memcpy(row, line, have * sizeof(*row));
	}
	tile_clear(b, from, have);
}

void
route_plane_vl(struct route_build *b, unsigned int p, uint8_t vl)
{
	uint8_t *tab = b->vl + (size_t)p * ROUTE_CLASSES * ROUTE_CLASSES *
			       RL_SLS;

	for (unsigned int in = 0; in < ROUTE_CLASSES; in++)
		for (unsigned int out = ROUTE_CLASS_ISL; out < ROUTE_CLASSES;
		     out++)
			memset(tab + (in * ROUTE_CLASSES + out) * RL_SLS, vl,
			       RL_SLS);
}

void
route_host_vl(struct route_build *b, uint8_t sl, uint8_t vl)
{
	/* Endpoints inject on plane 0, from class host to class host. */
	b->vl[(ROUTE_CLASS_HOST * ROUTE_CLASSES + ROUTE_CLASS_HOST) * RL_SLS +
	      sl] = vl;
}

void
route_plane_host_vl(struct route_build *b, unsigned int p, uint8_t vl)
{
	uint8_t *tab = b->vl + (size_t)p * ROUTE_CLASSES * ROUTE_CLASSES *
			       RL_SLS;

	for (unsigned int in = 0; in < ROUTE_CLASSES; in++)
		memset(tab + (in * ROUTE_CLASSES + ROUTE_CLASS_HOST) * RL_SLS,
		       vl, RL_SLS);
}

void
route_ep_put(struct route_build *b, uint32_t ep, unsigned int plane,
	     uint32_t dst, const struct route_hops *h)
{
	const struct route_mem *m = b->route->priv;
	const struct rl_fwd *f = &b->route->fwd[b->topo->ep_dev[ep]];
	struct rl_fwd_entry *row = m->ep_entry + (f->entry - m->ep_entry);

	RL_ASSERT(f->nports > 1 && plane < b->nplanes);
	memcpy(row + (size_t)plane * b->topo->nep + dst, &h->word,
	       sizeof(*row));
}

void
route_plane_of(struct route_build *b, uint8_t vl, uint8_t sl, uint8_t p)
{
	for (uint32_t d = 0; d < b->topo->ndev; d++)
		b->route->fwd[d].plane_of[vl][sl] = p;
}

/* A way that a third endpoint has to reflect: after all others. */
#define TABLES_REFLECTED 0x10000u

/* Hops from node u to endpoint e by first choices, or ROUTE_NONE. */
static uint32_t
tables_walk(struct route_build *b, uint32_t u, uint32_t e, uint8_t sl)
{
	const struct rl_topo *t = b->topo;
	unsigned int plane = b->route->fwd[u].inject_plane[sl];

	for (uint32_t hops = 1; hops <= b->g.nnode + 1u; hops++) {
		const struct rl_fwd_hop h =
			rl_fwd_lookup(&b->route->fwd[u], plane, (uint16_t)e)
				->hop[0];
		uint32_t next;

		if (h.port == RL_FWD_PORT_NONE)
			return ROUTE_NONE;
		next = t->dev[u].port[h.port].peer_dev;
		if (next == t->ep_dev[e])
			return hops;
		if (next >= b->g.nnode)
			return TABLES_REFLECTED + hops;
		u = next;
		plane = h.plane;
	}
	return ROUTE_NONE;
}

/* Links of endpoint e, by the length of the way to dst, shortest first. */
static void
tables_fill_multi(struct route_build *b, uint32_t e, uint32_t dst,
		  struct rl_fwd_entry *entry)
{
	const struct route_graph *g = &b->g;
	const uint8_t sl = b->route->fwd[b->topo->ep_dev[e]].path_sl[dst];
	const uint32_t n = g->att0[e + 1] - g->att0[e];
	uint32_t len[RL_FWD_ALTS], have = 0;

	for (uint32_t i = 0; i < n; i++) {
		/* Equal ways are taken in turn. */
		const struct route_att *a =
			&g->att[g->att0[e] + (i + dst) % n];
		uint32_t l = a->peer == b->topo->ep_dev[dst] ? 0 : ROUTE_NONE;
		uint32_t at;

		if (a->node != ROUTE_NONE)
			l = tables_walk(b, a->node, dst, sl);
		if (l == ROUTE_NONE)
			continue;
		for (at = have; at > 0 && len[at - 1] > l; at--) {
			if (at == RL_FWD_ALTS)
				continue;
			len[at] = len[at - 1];
			entry->hop[at] = entry->hop[at - 1];
		}
		if (at == RL_FWD_ALTS)
			continue;
		len[at] = l;
		entry->hop[at].port = a->ep_port;
		entry->hop[at].plane = 0;
		if (have < RL_FWD_ALTS)
			have++;
	}
}

void
route_endpoints(struct route_build *b)
{
	const struct rl_topo *t = b->topo;
	struct route_mem *m = b->route->priv;
	struct rl_fwd_entry *row = m->ep_entry;
	const struct rl_fwd_hop first = {.port = 0, .plane = 0};

	for (uint32_t d = 0; d < t->nep; d++)
		row[d].hop[0] = first;
	row += (size_t)b->nplanes * t->nep;
	for (uint32_t e = 0; e < t->nep; e++) {
		if (t->dev[t->ep_dev[e]].nports < 2)
			continue;
		for (uint32_t d = 0; d < t->nep; d++)
			if (d != e && route_ep_live(&b->g, d))
				tables_fill_multi(b, e, d, &row[d]);
		row += (size_t)b->nplanes * t->nep;
	}
}

int
route_refuse(struct route_build *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->err, RL_ERR_MAX, fmt, ap);
	va_end(ap);
	return -EHOSTUNREACH;
}

void
route_hops_add_ports(struct route_hops *h, const struct route_graph *g,
		     uint32_t arc, unsigned int plane, uint32_t k,
		     unsigned int max)
{
	for (unsigned int i = 0; i < g->arc[arc].nport && i < max; i++)
		route_hops_add(h, route_arc_port(g, arc, k + i), plane);
}

unsigned int
route_hops_add_ep(struct route_hops *h, const struct route_graph *g, uint32_t u,
		  uint32_t e, unsigned int plane, unsigned int max)
{
	unsigned int n = 0;

	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		if (g->att[i].node != u)
			continue;
		if (n++ < max)
			route_hops_add(h, g->att[i].sw_port, plane);
	}
	return n;
}
