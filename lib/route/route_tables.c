/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of tables. A fabric of a thousand switches has tens of megabytes
 * of them, so all rows are in one block, on huge pages if the system provides
 * them, and devices share what they can: the VL table (by class of port), and
 * the one row of the endpoints that have a single link.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rl_refuse.h"
#include "route_impl.h"

#define HUGE_BYTES (2u << 20)
#define PAGE_BYTES 4096u
#define LINE_BYTES 64u
/** Memory of replaced tables is kept up to this size. */
#define SPARE_BYTES (256u << 20)

/* Zeroed memory for rows; big blocks come from the system, a page when first
 * touched, so that unused planes take none. The first `live` bytes will all be
 * touched, and get huge pages. */
static void *
tables_alloc(size_t size, size_t live, size_t *bytes)
{
	void *p;

	*bytes = size;
	if (size < HUGE_BYTES) {
		*bytes = 0;
		return calloc(1, size != 0 ? size : 1);
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (live >= HUGE_BYTES)
		madvise(p, live & ~(size_t)(HUGE_BYTES - 1), MADV_HUGEPAGE);
	return p;
}

static void
tables_free_entries(void *entry, size_t bytes)
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
	free(m->adapt);
	free(m->adapt_links);
	free(m->adapt_longer);
	free(m->tile);
}

void
route_tables_keep(struct route_mem *m, struct route_mem *old)
{
	if (m->spare != NULL || old->entry_bytes == 0 ||
	    old->entry_bytes > SPARE_BYTES ||
	    memcmp(m->room, old->room, sizeof(m->room)) != 0)
		return;
	m->spare = old->entry;
	m->spare_bytes = old->entry_bytes;
	m->spare_held = old->held;
	old->entry = NULL;
	old->entry_bytes = 0;
	old->held = NULL;
}

/* Returns memory to the system; it reads as zero from then on. */
static void
tables_drop(void *entry, size_t from, size_t bytes)
{
	const size_t page = rl_min_u64(bytes, (from + PAGE_BYTES - 1) &
						      ~(size_t)(PAGE_BYTES - 1));

	memset((char *)entry + from, 0, page - from);
	if (page < bytes)
		madvise((char *)entry + page, bytes - page, MADV_DONTNEED);
}

/*
 * Memory for the entries: that of the replaced tables, if large enough. Unused
 * planes take none; planes of a tile that it held and that are not written
 * again are cleared, see route_tile_end().
 */
static void
tables_entries(struct route_build *b, struct route_mem *m, size_t bytes,
	       size_t live)
{
	struct route_mem *was = b->before;
	const uint32_t tiles = b->topo->nep / ROUTE_TILE + 1u;

	if (was != NULL && was->spare != NULL && was->spare_bytes == bytes &&
	    memcmp(was->room, m->room, sizeof(m->room)) == 0) {
		m->entry = was->spare;
		m->entry_bytes = was->spare_bytes;
		m->held = was->spare_held;
		was->spare = NULL;
		was->spare_held = NULL;
		was->spare_bytes = 0;
		tables_drop(m->entry, live, bytes);
		for (uint32_t i = 0; i < tiles; i++)
			m->held[i] = (uint8_t)rl_min_u32(m->held[i],
							 b->live_planes);
		return;
	}
	m->held = calloc(tiles, 1);
	m->entry = tables_alloc(bytes, live, &m->entry_bytes);
}

/* Whether two links join the same two devices, dead or not; true if there is no
 * memory to find out. */
static bool
tables_parallel(const struct rl_topo *t)
{
	uint32_t *last = calloc(t->ndev + 1u, sizeof(*last));
	bool found = last == NULL;

	for (uint32_t d = 0; d < t->ndev && !found; d++)
		for (unsigned int p = 0; p < t->dev[d].nports && !found; p++) {
			uint32_t *seen = &last[t->dev[d].port[p].peer_dev];

			found = *seen == d + 1;
			*seen = d + 1;
		}
	free(last);
	return found;
}

/*
 * Room for next hops in the entries of each plane. It follows from the intact
 * fabric: tables after a failure have as much as those before.
 */
static void
tables_room(struct route_build *b)
{
	const bool parallel = tables_parallel(b->topo);

	memset(b->room, 0, sizeof(b->room));
	for (unsigned int p = 0; p < b->nplanes; p++) {
		b->room[p] = RL_FWD_ROOM;
		while (!parallel && b->most[p] != 0 && b->room[p] != 0 &&
		       b->most[p] <= 1u << (b->room[p] - 1))
			b->room[p]--;
	}
}

static size_t
tables_line(size_t bytes)
{
	return (bytes + LINE_BYTES - 1) & ~(size_t)(LINE_BYTES - 1);
}

/* Bytes of the first n planes; each plane begins with a cache line. */
static size_t
tables_bytes(const struct route_build *b, unsigned int n)
{
	const size_t entries = b->row * b->g.nnode;
	size_t bytes = 0;

	for (unsigned int p = 0; p < n; p++)
		bytes += tables_line((entries << b->room[p]) *
				     sizeof(struct rl_fwd_hop));
	return bytes;
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

/* The rows of a switch; planes that only select VLs have that of the first. */
static void
tables_lists(const struct route_build *b, uint32_t u, struct rl_fwd *f)
{
	for (unsigned int p = 0; p < RL_FWD_PLANES; p++) {
		const unsigned int q = p < b->nplanes ? p : 0;

		f->room[p] = b->room[q];
		f->list[p] = b->list[q] + ((u * b->row) << b->room[q]);
	}
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
			tables_lists(b, d, f);
			continue;
		}
		f->path_sl = m->path_sl + (b->one_sl ? 0 : (size_t)dev->ep_id *
							   t->nep);
		rl_fwd_entries(f, dev->nports > 1 ? row : m->ep_entry);
		for (unsigned int p = b->nplanes; p < RL_FWD_PLANES; p++)
			f->list[p] = f->list[0];
		if (dev->nports > 1)
			row += (size_t)b->nplanes * t->nep;
	}
}

/* Whether entries have the memory layout of struct route_hops. */
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
	/* Whole cache lines, and an odd number of them: rows a power of two
	 * apart would compete for the same few lines of a cache. */
	const size_t row = ((size_t)t->nep / ROUTE_TILE | 1) * ROUTE_TILE +
			   2 * ROUTE_TILE;
	const size_t ep_rows = (size_t)tables_ep_rows(t) * nplanes * t->nep;
	const size_t ep_bytes = ep_rows * sizeof(struct rl_fwd_entry);
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
	tables_room(b);
	memcpy(m->room, b->room, sizeof(m->room));
	tables_entries(b, m, tables_bytes(b, nplanes),
		       tables_bytes(b, b->live_planes));
	m->ep_entry = tables_alloc(ep_bytes, ep_bytes, &m->ep_entry_bytes);
	m->vl = calloc(vls, 1);
	m->port_class = calloc(2u * (size_t)t->nlink + t->ndev, 1);
	r->fwd = calloc(t->ndev, sizeof(*r->fwd));
	m->path_sl = calloc(b->one_sl ? t->nep : (size_t)t->nep * t->nep, 1);
	r->ndev = t->ndev;
	r->nep = t->nep;
	for (unsigned int p = 0; p < nplanes; p++) {
		b->tile_plane[p] = b->tile_row;
		b->tile_row += p < b->live_planes ?
				       (size_t)b->g.nnode << b->room[p] : 0;
	}
	m->tile = calloc(b->tile_row * ROUTE_TILE + RL_FWD_ALTS,
			 sizeof(*m->tile));
	if (m->entry == NULL || m->held == NULL || m->ep_entry == NULL ||
	    m->tile == NULL || m->vl == NULL || m->port_class == NULL || r->fwd == NULL || m->path_sl == NULL)
		return rl_refuse(b->err, RL_ERR_MAX, -ENOMEM,
				 "no memory for the tables of %u devices",
				 t->ndev);
	tables_clear(m->ep_entry, ep_rows);
	for (unsigned int p = 0; p < nplanes; p++)
		b->list[p] = (struct rl_fwd_hop *)((char *)m->entry +
						   tables_bytes(b, p));
	b->held = m->held;
	b->vl = m->vl;
	b->tile = m->tile;
	tables_fill_fwd(b, m);
	return 0;
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
	/* endpoints inject on plane 0, from class host to class host */
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
	const struct rl_fwd *f = &b->route->fwd[b->topo->ep_dev[ep]];

	RL_ASSERT(f->nports > 1 && plane < b->nplanes &&
		  f->room[plane] == RL_FWD_ROOM);
	memcpy(rl_fwd_at(f, plane, (uint16_t)dst, 0), &h->word,
	       sizeof(h->word));
}

void
route_plane_of(struct route_build *b, uint8_t vl, uint8_t sl, uint8_t p)
{
	for (uint32_t d = 0; d < b->topo->ndev; d++)
		b->route->fwd[d].plane_of[vl][sl] = p;
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
