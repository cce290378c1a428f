/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_backup.h"

#include "route_rank.h"

#include <errno.h>
#include <string.h>

int
route_backup_init(struct route_backup *bk, struct route_build *b,
		  unsigned int plane, unsigned int vls)
{
	const struct route_graph *g = &b->g;
	uint32_t root;
	int ret;

	bk->b = b;
	bk->plane = plane;
	bk->updown = vls == 1 || vls >= 3;
	bk->detours = vls >= 2;
	bk->nplanes = (bk->updown ? 1u : 0) + (bk->detours ? 2u : 0);
	ret = route_root(g, &root);
	bk->root = root;
	if (ret == 0 && bk->updown)
		ret = route_order_init(&bk->order, g, root);
	if (ret == 0 && bk->updown)
		ret = route_trees_init(&bk->trees, g->nnode);
	if (ret == 0 && bk->detours)
		ret = route_detour_init(&bk->detour, g, root,
					plane + bk->updown);
	return ret;
}

void
route_backup_free(struct route_backup *bk)
{
	route_detour_free(&bk->detour);
	route_trees_free(&bk->trees);
	route_order_free(&bk->order);
	memset(bk, 0, sizeof(*bk));
}

void
route_backup_vls(struct route_backup *bk, uint8_t vl)
{
	struct route_build *b = bk->b;

	if (bk->updown) {
		route_plane_vl(b, bk->plane, vl);
		for (unsigned int sl = 0; sl < RL_SLS; sl++)
			route_plane_of(b, vl, (uint8_t)sl, (uint8_t)bk->plane);
		b->route->detour_vls++;
		vl++;
	}
	if (bk->detours)
		route_detour_vls(b, bk->plane + bk->updown, vl);
}

uint32_t
route_backup_ranks(struct route_backup *bk, uint32_t next, uint8_t vl)
{
	if (bk->updown) {
		next = route_rank_up(bk->b, next, vl, bk->order.value);
		next = route_rank_down(bk->b, next, vl, bk->order.value);
		vl++;
	}
	return bk->detours ? route_rank_detour(bk->b, next, vl, &bk->detour) :
			     next;
}

void
route_backup_plan(struct route_backup *bk, const uint32_t *e, uint32_t n,
		  const uint32_t *const *first)
{
	if (bk->updown)
		route_trees_fill(&bk->trees, &bk->order, e, n, first);
	if (bk->detours)
		route_detour_plan(&bk->detour, e, n);
}

void
route_backup_dst(struct route_backup *bk, uint32_t lane)
{
	if (bk->updown)
		route_trees_view(&bk->trees, lane, &bk->tree);
	if (bk->detours)
		route_detour_dst(&bk->detour, lane);
}

/* Whether the up*-down* way from node w leads through node u. */
static bool
backup_through(const struct route_backup *bk, uint32_t w, uint32_t u)
{
	const struct route_tree *t = &bk->tree;

	/* Down from here: ranks rise, and beyond u's it is out of reach. */
	while (w != u && bk->order.rank[w] < bk->order.rank[u] &&
	       t->next[w] != ROUTE_NONE)
		w = bk->b->g.arc[t->next[w]].to;
	return w == u;
}

/*
 * An up*-down* way from node u other than by the dead arc, which is the one
 * that the plane has; the packet comes from another plane, so it may begin up
 * or down. Ways up from a node that has none down don't lead back to it; nor do
 * ways down. What goes up from a node that could go down may.
 */
static uint32_t
backup_other(const struct route_backup *bk, uint32_t u, uint32_t dead)
{
	const struct route_graph *g = &bk->b->g;
	const struct route_tree *t = &bk->tree;
	uint32_t best = ROUTE_NONE, least = ROUTE_FAR;

	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
		const uint32_t w = g->arc[a].to;
		const bool goes_up = bk->order.rank[w] < bk->order.rank[u];

		if (a == dead || t->dist[w] >= least || (!goes_up && !t->down[w]))
			continue;
		if (goes_up && t->down[u] && backup_through(bk, w, u))
			continue;
		least = t->dist[w];
		best = a;
	}
	return best;
}

void
route_backup_add(const struct route_backup *bk, struct route_hops *h,
		 uint32_t u, uint32_t e, uint32_t dead)
{
	uint32_t next = ROUTE_NONE;

	if (bk->updown) {
		next = bk->tree.next[u];
		if (next == dead && next != ROUTE_NONE)
			next = backup_other(bk, u, dead);
	}
	if (next != ROUTE_NONE)
		route_hops_add_arc(h, &bk->b->g, next, bk->plane, e, 1);
	else if (bk->detours)
		route_detour_add(&bk->detour, h, u, e, dead);
}

void
route_backup_fill(const struct route_backup *bk, uint32_t e)
{
	const struct route_graph *g = &bk->b->g;

	if (bk->detours)
		route_detour_fill(&bk->detour, bk->b, e);
	if (!bk->updown)
		return;
	for (uint32_t u = 0; u < g->nnode; u++) {
		const uint32_t next = bk->tree.next[u];
		struct route_hops h;

		if (bk->tree.dist[u] >= ROUTE_FAR)
			continue;
		route_hops_init(&h);
		if (next == ROUTE_NONE)
			route_hops_add_ep(&h, g, u, e, bk->plane, 2);
		else
			route_hops_add_arc(&h, g, next, bk->plane, e, 2);
		if (bk->detours)
			route_detour_add(&bk->detour, &h, u, e,
					 next == ROUTE_NONE ? ROUTE_EJECT :
							      next);
		route_put(bk->b, u, bk->plane, e, &h);
	}
}
