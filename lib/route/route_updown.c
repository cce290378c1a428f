/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine updown: up*-down* from a root in the middle, on one VL, for any
 * connected fabric. See updown_order.h for the rule.
 *
 * On the same VL a node that goes up may go up by any other neighbour, and a
 * node that goes down may go down by any other that can: the rank falls (or
 * rises) on every hop, so neither leads back. If there is none, and two VLs are
 * left, the detour planes take over.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detour_tree.h"
#include "route_impl.h"
#include "route_rank.h"
#include "updown_trees.h"

struct updown {
	struct route_build *b;
	struct updown_order order;
	struct updown_trees trees;
	struct updown_tree tree; /* one of the trees */
	struct detour_tree detour;
	bool detours;
};

static void
updown_fill(struct updown *ud, uint32_t u, uint32_t e)
{
	const struct route_graph *g = &ud->b->g;
	const struct updown_tree *t = &ud->tree;
	const uint32_t next = t->next[u];
	struct route_hops h;

	route_hops_init(&h);
	if (next != ROUTE_NONE)
		route_hops_add_arc(&h, g, next, 0, e, RL_FWD_ALTS - 1);
	else
		route_hops_add_ep(&h, g, u, e, 0, RL_FWD_ALTS - 1);
	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
		const uint32_t w = g->arc[a].to;

		if (a == next || t->dist[w] >= ROUTE_FAR ||
		    h.n == RL_FWD_ALTS - 1)
			continue;
		if (t->down[u] ? !updown_is_up(&ud->order, a) && t->down[w] :
				 updown_is_up(&ud->order, a))
			route_hops_add_arc(&h, g, a, 0, e, 1);
	}
	if (ud->detours)
		detour_tree_add(&ud->detour, &h, u, e,
				 next != ROUTE_NONE ? next : ROUTE_EJECT);
	route_put(ud->b, u, 0, e, &h);
}

static void
updown_fill_all(struct updown *ud)
{
	const uint32_t nep = ud->b->topo->nep;
	uint32_t dst[ROUTE_TILE];

	for (uint32_t e = 0; e < nep; e++) {
		const uint32_t n = rl_min_u32(ROUTE_TILE, nep - e);
		const uint32_t lane = e % ROUTE_TILE;

		route_tile_begin(ud->b, e);
		for (uint32_t k = 0; lane == 0 && k < n; k++)
			dst[k] = e + k;
		if (lane == 0)
			updown_trees_fill(&ud->trees, &ud->order, dst, n, NULL);
		if (lane == 0 && ud->detours)
			detour_tree_plan(&ud->detour, dst, n);
		updown_trees_view(&ud->trees, lane, &ud->tree);
		if (ud->detours) {
			detour_tree_dst(&ud->detour, lane);
			detour_tree_fill(&ud->detour, ud->b, e);
		}
		for (uint32_t u = 0; u < ud->b->g.nnode; u++)
			if (ud->tree.dist[u] < ROUTE_FAR)
				updown_fill(ud, u, e);
		route_tile_end(ud->b, e);
	}
}

static int
updown_tables(struct updown *ud)
{
	if (ud->detours)
		detour_tree_most(ud->b, 1);
	return route_tables_init(ud->b, ud->detours ? 3 : 1);
}

static int
updown_init(struct updown *ud)
{
	const struct route_graph *g = &ud->b->g;
	uint32_t root;
	int ret = route_root(g, &root);

	if (ret == 0)
		ret = updown_order_init(&ud->order, g, root);
	if (ret == 0)
		ret = updown_trees_init(&ud->trees, g->nnode);
	if (ret == 0 && ud->detours)
		ret = detour_tree_init(&ud->detour, g, root, 1);
	if (ret == 0)
		ret = updown_tables(ud);
	return ret;
}

static int
updown_ranks(struct updown *ud)
{
	struct route_build *b = ud->b;
	uint32_t next;

	if (route_rank_begin(b) != 0)
		return -ENOMEM;
	next = route_rank_up(b, 1, 0, ud->order.value);
	next = route_rank_down(b, next, 0, ud->order.value);
	if (ud->detours)
		route_rank_detour(b, next, 1, &ud->detour);
	return 0;
}

static int
updown_compute(struct route_build *b)
{
	struct updown ud = {.b = b, .detours = b->max_vls >= 3};
	int ret;

	b->one_sl = true;
	ret = updown_init(&ud);
	if (ret == 0)
		ret = updown_ranks(&ud);
	if (ret == 0) {
		updown_fill_all(&ud);
		b->route->vls = 1;
		if (ud.detours)
			detour_tree_vls(b, 1, 1);
		route_endpoints(b, NULL);
	} else {
		snprintf(b->err, RL_ERR_MAX, "no memory for %u switches",
			 b->g.nnode);
	}
	detour_tree_free(&ud.detour);
	updown_trees_free(&ud.trees);
	updown_order_free(&ud.order);
	return ret;
}

const struct route_engine route_updown = {
	.info = {
		.name = "updown",
		.what = "up, then down, from a root in the middle: one VL",
		.min_vls = 1,
		.deadlock_free = true,
	},
	.compute = updown_compute,
};
