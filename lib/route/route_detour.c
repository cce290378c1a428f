/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_detour.h"

#include "route_rank.h"

#include <string.h>

int
route_detour_init(struct route_detour *dt, struct route_build *b,
		  unsigned int plane, unsigned int vls)
{
	const struct route_graph *g = &b->g;
	uint32_t root;
	int ret;

	dt->b = b;
	dt->plane = plane;
	dt->updown = vls == 1 || vls >= 3;
	dt->spans = vls >= 2;
	dt->beside = g->nnode <= ROUTE_DETOUR_BESIDE;
	dt->nplanes = (dt->updown ? 1u : 0) + (dt->spans ? 2u : 0);
	ret = route_root(g, &root);
	dt->root = root;
	if (ret == 0 && dt->updown)
		ret = updown_order_init(&dt->order, g, root);
	if (ret == 0 && dt->updown)
		ret = updown_trees_init(&dt->trees, g->nnode);
	if (ret == 0 && dt->spans)
		ret = detour_tree_init(&dt->spanning, g, root,
					plane + dt->updown);
	return ret;
}

void
route_detour_free(struct route_detour *dt)
{
	detour_tree_free(&dt->spanning);
	updown_trees_free(&dt->trees);
	updown_order_free(&dt->order);
	memset(dt, 0, sizeof(*dt));
}

void
route_detour_most(const struct route_detour *dt)
{
	/* its own, perhaps one beside it, and a detour */
	if (dt->updown)
		dt->b->most[dt->plane] = dt->beside ? 3 : 2;
	if (dt->spans)
		detour_tree_most(dt->b, dt->plane + dt->updown);
}

void
route_detour_vls(struct route_detour *dt, uint8_t vl)
{
	struct route_build *b = dt->b;

	if (dt->updown) {
		route_plane_vl(b, dt->plane, vl);
		for (unsigned int sl = 0; sl < RL_SLS; sl++)
			route_plane_of(b, vl, (uint8_t)sl, (uint8_t)dt->plane);
		b->route->detour_vls++;
		vl++;
	}
	if (dt->spans)
		detour_tree_vls(b, dt->plane + dt->updown, vl);
}

uint32_t
route_detour_ranks(struct route_detour *dt, uint32_t next, uint8_t vl)
{
	if (dt->updown) {
		next = route_rank_up(dt->b, next, vl, dt->order.value);
		next = route_rank_down(dt->b, next, vl, dt->order.value);
		vl++;
	}
	return dt->spans ? route_rank_detour(dt->b, next, vl, &dt->spanning) :
			     next;
}

void
route_detour_plan(struct route_detour *dt, const uint32_t *e, uint32_t n,
		  const uint32_t *const *first)
{
	if (dt->updown)
		updown_trees_fill(&dt->trees, &dt->order, e, n, first);
	if (dt->spans)
		detour_tree_plan(&dt->spanning, e, n);
}

void
route_detour_dst(struct route_detour *dt, uint32_t lane)
{
	if (dt->updown)
		updown_trees_view(&dt->trees, lane, &dt->tree);
	if (dt->spans)
		detour_tree_dst(&dt->spanning, lane);
}

/* Whether the up*-down* path from node w leads through node u. */
static bool
detour_through(const struct route_detour *dt, uint32_t w, uint32_t u)
{
	const struct updown_tree *t = &dt->tree;

	/* down from here: ranks rise, and beyond u's it is out of reach */
	while (w != u && dt->order.rank[w] < dt->order.rank[u] &&
	       t->next[w] != ROUTE_NONE)
		w = dt->b->g.arc[t->next[w]].to;
	return w == u;
}

/*
 * The best arc of node u on the plane besides its own: in the same direction,
 * up or down, since packets may have come down.
 */
static uint32_t
detour_beside(const struct route_detour *dt, uint32_t u)
{
	const struct route_graph *g = &dt->b->g;
	const struct updown_tree *t = &dt->tree;
	uint32_t best = ROUTE_NONE, least = ROUTE_FAR;

	for (uint32_t a = g->first[u]; a < g->first[u + 1] && dt->beside; a++) {
		const uint32_t w = g->arc[a].to;
		const bool goes_up = dt->order.rank[w] < dt->order.rank[u];

		if (a == t->next[u] || t->dist[w] >= least ||
		    goes_up == t->down[u] || (!goes_up && !t->down[w]))
			continue;
		least = t->dist[w];
		best = a;
	}
	return best;
}

/* Whether a packet that node u has sent up to w comes back, and stays there: a
 * packet that would go straight back takes the arc beside that. */
static bool
detour_returns(const struct route_detour *dt, uint32_t w, uint32_t u)
{
	const struct route_graph *g = &dt->b->g;
	const uint32_t next = dt->tree.next[w];
	uint32_t a;

	if (!detour_through(dt, w, u))
		return false;
	if (next == ROUTE_NONE || g->arc[next].to != u)
		return true;
	a = detour_beside(dt, w);
	return a == ROUTE_NONE || detour_through(dt, g->arc[a].to, u);
}

/*
 * An up*-down* path from node u other than by the dead arc, which is the
 * plane's own; the packet comes from another plane, so it may begin up or down.
 * Paths up from a node that has none down don't lead back to it; nor do paths
 * down. Paths up from a node that could go down may.
 */
static uint32_t
detour_other(const struct route_detour *dt, uint32_t u, uint32_t dead)
{
	const struct route_graph *g = &dt->b->g;
	const struct updown_tree *t = &dt->tree;
	uint32_t best = ROUTE_NONE, least = ROUTE_FAR;

	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
		const uint32_t w = g->arc[a].to;
		const bool goes_up = dt->order.rank[w] < dt->order.rank[u];

		if (a == dead || t->dist[w] >= least || (!goes_up && !t->down[w]))
			continue;
		if (goes_up && t->down[u] && detour_returns(dt, w, u))
			continue;
		least = t->dist[w];
		best = a;
	}
	return best;
}

void
route_detour_add(const struct route_detour *dt, struct route_hops *h,
		 uint32_t u, uint32_t e, uint32_t dead)
{
	uint32_t next = ROUTE_NONE;

	if (dt->updown) {
		next = dt->tree.next[u];
		if (next == dead && next != ROUTE_NONE)
			next = detour_other(dt, u, dead);
	}
	if (next != ROUTE_NONE)
		route_hops_add_arc(h, &dt->b->g, next, dt->plane, e, 1);
	else if (dt->spans)
		detour_tree_add(&dt->spanning, h, u, e, dead);
}

void
route_detour_fill(const struct route_detour *dt, uint32_t e)
{
	const struct route_graph *g = &dt->b->g;

	if (dt->spans)
		detour_tree_fill(&dt->spanning, dt->b, e);
	if (!dt->updown)
		return;
	for (uint32_t u = 0; u < g->nnode; u++) {
		const uint32_t next = dt->tree.next[u];
		const uint32_t beside = detour_beside(dt, u);
		struct route_hops h;

		if (dt->tree.dist[u] >= ROUTE_FAR)
			continue;
		route_hops_init(&h);
		if (next == ROUTE_NONE)
			route_hops_add_ep(&h, g, u, e, dt->plane, 2);
		else
			route_hops_add_arc(&h, g, next, dt->plane, e, 2);
		if (next != ROUTE_NONE && beside != ROUTE_NONE)
			route_hops_add_arc(&h, g, beside, dt->plane, e, 1);
		if (dt->spans)
			detour_tree_add(&dt->spanning, &h, u, e,
					 next == ROUTE_NONE ? ROUTE_EJECT :
							      next);
		route_put(dt->b, u, dt->plane, e, &h);
	}
}
