/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_detour.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
detour_alloc(struct route_detour *d)
{
	const size_t n = d->g->nnode;
	uint32_t *m = malloc((11 * n + 1) * sizeof(*m));

	if (m == NULL)
		return -ENOMEM;
	d->mem = m;
	d->order = m;
	d->parent = m + n;
	d->depth = m + 2 * n;
	d->top = m + 3 * n;
	d->top_via = m + 4 * n;
	d->next = m + 5 * n;
	d->val = m + 6 * n;
	d->best = m + 7 * n;
	d->via = m + 8 * n;
	d->root = m + 9 * n;
	d->home = m + 10 * n;
	return 0;
}

/* A breadth-first tree of the part of root, then of the other parts. */
static void
detour_grow(struct route_detour *d, uint32_t root)
{
	const struct route_graph *g = d->g;
	uint32_t head = 0, tail = 0;

	memset(d->depth, 0xff, g->nnode * sizeof(*d->depth));
	memset(d->home, 0xff, g->nnode * sizeof(*d->home));
	for (uint32_t i = 0; i <= g->nnode; i++) {
		const uint32_t r = i == 0 ? root : i - 1;

		if (g->nnode == 0 || d->depth[r] != ROUTE_NONE)
			continue;
		d->depth[r] = 0;
		d->root[r] = r;
		d->parent[r] = ROUTE_NONE;
		d->order[tail++] = r;
		for (; head < tail; head++) {
			const uint32_t u = d->order[head];

			/* Last arcs first: they are those of the dimension
			 * that dimension order takes last. */
			for (uint32_t a = g->first[u + 1]; a-- > g->first[u];) {
				const uint32_t w = g->arc[a].to;

				if (d->depth[w] != ROUTE_NONE)
					continue;
				d->depth[w] = d->depth[u] + 1;
				d->root[w] = r;
				d->parent[w] = g->arc[a].back;
				d->order[tail++] = w;
			}
		}
	}
}

static inline bool
detour_in_tree(const struct route_detour *d, uint32_t a)
{
	return d->parent[d->g->tail[a]] == a ||
	       d->parent[d->g->arc[a].to] == d->g->arc[a].back;
}

/* Depth of the lowest node that is above both. */
static uint32_t
detour_meet(const struct route_detour *d, uint32_t u, uint32_t w)
{
	while (u != w) {
		if (d->depth[u] < d->depth[w])
			w = d->g->arc[d->parent[w]].to;
		else
			u = d->g->arc[d->parent[u]].to;
	}
	return d->depth[u];
}

/* For every node, how high a link from below it leads out, and which. */
static void
detour_tops(struct route_detour *d)
{
	const struct route_graph *g = d->g;

	for (uint32_t i = g->nnode; i-- > 0;) {
		const uint32_t u = d->order[i];

		d->top[u] = d->depth[u];
		d->top_via[u] = ROUTE_NONE;
	}
	for (uint32_t i = g->nnode; i-- > 0;) {
		const uint32_t u = d->order[i], up = d->parent[u];

		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			uint32_t meet;

			if (detour_in_tree(d, a))
				continue;
			meet = detour_meet(d, u, g->arc[a].to);
			if (meet < d->top[u]) {
				d->top[u] = meet;
				d->top_via[u] = a;
			}
		}
		if (up == ROUTE_NONE || d->top[u] >= d->top[g->arc[up].to])
			continue;
		d->top[g->arc[up].to] = d->top[u];
		d->top_via[g->arc[up].to] = g->arc[up].back;
	}
}

int
route_detour_init(struct route_detour *d, const struct route_graph *g,
		  uint32_t root, unsigned int plane)
{
	memset(d, 0, sizeof(*d));
	d->g = g;
	d->away = plane;
	d->tree = plane + 1;
	if (detour_alloc(d) != 0)
		return -ENOMEM;
	d->e = ROUTE_NONE;
	detour_grow(d, root);
	detour_tops(d);
	return 0;
}

void
route_detour_free(struct route_detour *d)
{
	free(d->mem);
	memset(d, 0, sizeof(*d));
}

static inline bool
detour_is_home(const struct route_detour *d, uint32_t u)
{
	return d->home[d->root[u]] == u;
}

/* The tree's way to the home of e, and where each node parts from it. */
static void
detour_chain(struct route_detour *d, uint32_t e)
{
	const struct route_graph *g = d->g;

	memcpy(d->next, d->parent, g->nnode * sizeof(*d->next));
	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		uint32_t u = g->att[i].node;

		if (u == ROUTE_NONE || !detour_is_home(d, u))
			continue;
		for (d->next[u] = ROUTE_NONE; d->parent[u] != ROUTE_NONE;) {
			const uint32_t up = g->arc[d->parent[u]].to;

			d->next[up] = g->arc[d->parent[u]].back;
			u = up;
		}
	}
	for (uint32_t i = 0; i < g->nnode; i++) {
		const uint32_t u = d->order[i], up = d->parent[u];

		if (up == ROUTE_NONE)
			d->val[u] = 0;
		else if (d->next[u] != up)
			d->val[u] = d->depth[u];
		else
			d->val[u] = d->val[g->arc[up].to];
	}
}

/* A link or a child of u from which the way down to e is met deeper. */
static inline void
detour_offer(struct route_detour *d, uint32_t u, uint32_t lands, uint32_t arc)
{
	if (lands <= d->best[u])
		return;
	d->best[u] = lands;
	d->via[u] = arc;
}

/*
 * best[] and via[] of all nodes from below. A node on the way to e offers its
 * parent nothing: what is below it is on the way's side.
 */
static void
detour_dive(struct route_detour *d, uint32_t e)
{
	const struct route_graph *g = d->g;

	for (uint32_t u = 0; u < g->nnode; u++) {
		d->best[u] = d->val[u];
		d->via[u] = ROUTE_NONE;
	}
	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t u = g->att[i].node;

		if (u != ROUTE_NONE && !detour_is_home(d, u))
			detour_offer(d, u, d->depth[d->home[d->root[u]]] + 1,
				     ROUTE_EJECT);
	}
	for (uint32_t i = g->nnode; i-- > 0;) {
		const uint32_t u = d->order[i], up = d->parent[u];

		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			const uint32_t lands = d->val[g->arc[a].to];

			if (lands > d->best[u] && !detour_in_tree(d, a))
				detour_offer(d, u, lands, a);
		}
		if (up != ROUTE_NONE && d->next[u] == up)
			detour_offer(d, g->arc[up].to, d->best[u],
				     g->arc[up].back);
	}
}

/* What nodes above e do, from home upwards: jump, or climb on. */
static void
detour_climb(struct route_detour *d, uint32_t home, bool several)
{
	const struct route_graph *g = d->g;
	uint32_t deepest = several ? d->depth[home] + 1 : 0;

	for (uint32_t u = home;;) {
		const uint32_t up = d->parent[u];

		if (deepest != 0 && d->best[u] < deepest)
			d->via[u] = up;
		else
			deepest = 0;
		if (up == ROUTE_NONE)
			break;
		/* The link above u may be what is dead, if there is a way
		 * round it at all. */
		if (d->top[u] < d->depth[u] && deepest < d->depth[u])
			deepest = d->depth[u];
		u = g->arc[up].to;
	}
}

/* The homes of e, first switch of each part; false: it has none. */
static bool
detour_homes(struct route_detour *d, uint32_t e)
{
	const struct route_graph *g = d->g;
	bool any = false;

	for (uint32_t i = d->e != ROUTE_NONE ? g->att0[d->e] : 0;
	     d->e != ROUTE_NONE && i < g->att0[d->e + 1]; i++)
		if (g->att[i].node != ROUTE_NONE)
			d->home[d->root[g->att[i].node]] = ROUTE_NONE;
	d->e = e;
	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t u = g->att[i].node;

		if (u == ROUTE_NONE)
			continue;
		any = true;
		if (d->home[d->root[u]] == ROUTE_NONE)
			d->home[d->root[u]] = u;
	}
	return any;
}

/* Whether e has links to another switch of the part that u is in. */
static bool
detour_several(const struct route_detour *d, uint32_t e, uint32_t u)
{
	const struct route_graph *g = d->g;

	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t w = g->att[i].node;

		if (w != ROUTE_NONE && w != u && d->root[w] == d->root[u])
			return true;
	}
	return false;
}

void
route_detour_dst(struct route_detour *d, uint32_t e)
{
	const struct route_graph *g = d->g;

	if (!detour_homes(d, e))
		return;
	detour_chain(d, e);
	detour_dive(d, e);
	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t u = g->att[i].node;

		if (u != ROUTE_NONE && detour_is_home(d, u))
			detour_climb(d, u, detour_several(d, e, u));
	}
	/* Nodes aside from which nothing lands deeper go out highest. */
	for (uint32_t u = 0; u < g->nnode; u++)
		if (d->via[u] == ROUTE_NONE && d->next[u] != ROUTE_NONE &&
		    d->next[u] == d->parent[u])
			d->via[u] = d->top_via[u];
}

/* Adds the next hop of node u on plane away. */
static void
detour_add_away(const struct route_detour *d, struct route_hops *h, uint32_t u,
		uint32_t e)
{
	const uint32_t a = d->via[u];

	if (a == ROUTE_NONE)
		return;
	if (a == ROUTE_EJECT)
		route_hops_add_ep(h, d->g, u, e, d->tree, 1);
	else
		route_hops_add_arc(h, d->g, a, detour_in_tree(d, a) ? d->away :
				   d->tree, e, 1);
}

void
route_detour_add(const struct route_detour *d, struct route_hops *h, uint32_t u,
		 uint32_t e, uint32_t dead)
{
	if (d->home[d->root[u]] == ROUTE_NONE)
		return;
	if (d->next[u] != ROUTE_NONE && d->next[u] != dead)
		route_hops_add_arc(h, d->g, d->next[u], d->tree, e, 1);
	else if (detour_is_home(d, u) && dead != ROUTE_EJECT)
		route_hops_add_ep(h, d->g, u, e, d->tree, 1);
	else if (dead != ROUTE_EJECT || d->via[u] != ROUTE_EJECT)
		detour_add_away(d, h, u, e);
}

void
route_detour_fill(const struct route_detour *d, struct route_build *b,
		  uint32_t e)
{
	const struct route_graph *g = d->g;

	for (uint32_t u = 0; u < g->nnode; u++) {
		struct route_hops h;

		if (d->home[d->root[u]] == ROUTE_NONE)
			continue;
		route_hops_init(&h);
		detour_add_away(d, &h, u, e);
		route_put(b, u, d->away, e, &h);
		route_hops_init(&h);
		if (detour_is_home(d, u))
			route_hops_add_ep(&h, g, u, e, d->tree, RL_FWD_ALTS);
		else if (d->next[u] != ROUTE_NONE)
			route_hops_add_arc(&h, g, d->next[u], d->tree, e,
					   RL_FWD_ALTS);
		route_put(b, u, d->tree, e, &h);
	}
}

void
route_detour_vls(struct route_build *b, unsigned int plane, uint8_t vl)
{
	for (unsigned int i = 0; i < 2; i++) {
		route_plane_vl(b, plane + i, (uint8_t)(vl + i));
		for (unsigned int sl = 0; sl < RL_SLS; sl++)
			route_plane_of(b, (uint8_t)(vl + i), (uint8_t)sl,
				       (uint8_t)(plane + i));
	}
	b->route->detour_vls = (uint8_t)(b->route->detour_vls + 2);
}
