/* SPDX-License-Identifier: BSD-3-Clause */

/* Fills in the tables of a grid, destination by destination. */

#include "reflit_grid.h"

#include <string.h>

static uint32_t
reflit_add_dor(struct reflit *rf, struct route_hops *h, uint32_t u, uint32_t to,
	       unsigned int p)
{
	const struct route_graph *g = &rf->b->g;
	const struct reflit_dor *dor = &rf->dor_t;
	uint32_t a, turn = 0;

	if (to != rf->t && rf->via[u] == REFLIT_VIA_NONE)
		return ROUTE_NONE;
	if (to != rf->t)
		dor = &rf->dor_p[rf->via[u]];
	a = dor->first[u];
	if (a == ROUTE_NONE)
		return ROUTE_NONE;
	if (g->only[a] == ROUTE_PORTS)
		turn = rf->turn[u][2 * g->arc[a].dim + (g->arc[a].dir < 0)];
	route_hops_add_arc(h, g, a, dor->wraps[u] ? rf->wrap : p, turn,
			   RL_FWD_ALTS - 1);
	return a;
}

/* Finishes an entry whose first hops take arc `a`: the local detour. */
static void
reflit_put(struct reflit *rf, struct route_hops *h, uint32_t u, uint32_t e,
	   unsigned int plane, uint32_t a)
{
	route_detour_add(&rf->dt, h, u, e, a);
	route_put(rf->b, u, plane, e, h);
}

static void
reflit_fill_dor(struct reflit *rf, uint32_t u, uint32_t e)
{
	struct route_hops h;
	uint32_t a;

	route_hops_init(&h);
	a = reflit_add_dor(rf, &h, u, rf->t, rf->dor);
	if (a != ROUTE_NONE && rf->b->g.only[a] == ROUTE_PORTS) {
		const struct route_arc *arc = &rf->b->g.arc[a];

		rf->turn[u][2 * arc->dim + (arc->dir < 0)]++;
	}
	reflit_put(rf, &h, u, e, rf->dor, a);
	/* here plane up is on DOR, too */
	if (rf->broken &&
	    (rf->whole || rf->up_next[u] == ROUTE_NONE))
		route_put(rf->b, u, rf->up, e, &h);
}

/* Adds the hop of node u on plane late: to its proxy, or on from there. */
static uint32_t
reflit_add_late(struct reflit *rf, struct route_hops *h, uint32_t u, uint32_t e)
{
	const bool aside = reflit_goes_aside(rf, u);
	uint32_t a;

	if (rf->via[u] == REFLIT_VIA_NONE || rf->dor_p[rf->via[u]].to != u)
		return reflit_add_dor(rf, h, u, rf->proxy, rf->late);
	rf->beyond |= aside;
	a = aside ? rf->dt.tree.next[u] : rf->tree->next[u];
	route_hops_add_arc(h, &rf->b->g, a, aside ? rf->dt.plane : rf->up, e,
			   RL_FWD_ALTS - 1);
	return a;
}

static void
reflit_fill_up(struct reflit *rf, uint32_t u, uint32_t e, unsigned int plane,
	       uint32_t next)
{
	struct route_hops h;

	route_hops_init(&h);
	if (next != ROUTE_NONE)
		route_hops_add_arc(&h, &rf->b->g, next, plane, e,
				   RL_FWD_ALTS - 1);
	else if (plane == rf->up)
		next = reflit_add_dor(rf, &h, u, rf->t, rf->dor);
	else
		next = reflit_add_late(rf, &h, u, e);
	reflit_put(rf, &h, u, e, plane, next);
}

static void
reflit_fill_late(struct reflit *rf, uint32_t u, uint32_t e)
{
	struct route_hops h;
	uint32_t a;

	route_hops_init(&h);
	a = reflit_add_late(rf, &h, u, e);
	reflit_put(rf, &h, u, e, rf->late, a);
}

static void
reflit_fill_classes(struct reflit *rf, uint32_t u, uint32_t e)
{
	/* a node on DOR has the entries of plane dor */
	if (rf->up_next[u] != ROUTE_NONE)
		reflit_fill_up(rf, u, e, rf->up, rf->up_next[u]);
	if (rf->proxy == ROUTE_NONE)
		return;
	reflit_fill_late(rf, u, e);
	reflit_fill_up(rf, u, e, rf->both, rf->both_next[u]);
}

static void
reflit_fill_end(struct reflit *rf, uint32_t e)
{
	struct route_hops h;

	route_hops_init(&h);
	route_hops_add_ep(&h, &rf->b->g, rf->t, e, rf->dor, RL_FWD_ALTS);
	route_put(rf->b, rf->t, rf->dor, e, &h);
	if (!rf->broken)
		return;
	route_put(rf->b, rf->t, rf->up, e, &h);
	route_put(rf->b, rf->t, rf->late, e, &h);
	route_put(rf->b, rf->t, rf->both, e, &h);
}

static void
reflit_fill(struct reflit *rf, uint32_t e)
{
	reflit_fill_end(rf, e);
	for (uint32_t u = 0; u < rf->b->g.nnode; u++) {
		if (u == rf->t || route_grid_dead(&rf->gr, u))
			continue;
		reflit_fill_dor(rf, u, e);
		if (rf->broken && !rf->whole)
			reflit_fill_classes(rf, u, e);
	}
	route_detour_fill(&rf->dt, e);
}

/* Checks a long detour: the shortest path may be no shorter. */
static void
reflit_judge(struct reflit *rf, uint32_t e, uint32_t s, uint32_t cost,
	     bool *known)
{
	if (cost >= REFLIT_COST_NONE)
		return;
	if (cost - rf->least[s] <= rf->worst)
		return;
	if (!*known)
		route_bfs_search(&rf->near, &rf->b->g, e);
	*known = true;
	if (cost - rf->near.dist[s] > rf->worst)
		rf->worst = cost - rf->near.dist[s];
}

static void
reflit_sls(struct reflit *rf, uint32_t e)
{
	const struct route_graph *g = &rf->b->g;
	const uint32_t nep = rf->b->topo->nep;
	struct route_mem *m = rf->b->route->priv;
	bool known = false;

	for (uint32_t s = 0; s < nep; s++) {
		uint32_t cost, u;

		if (!route_ep_live(g, s) || g->att[g->att0[s]].node == rf->t)
			continue;
		u = g->att[g->att0[s]].node;
		if (rf->whole || rf->dor_t.cost[u] == rf->least[u]) {
			m->path_sl[(size_t)s * nep + e] = REFLIT_SL_DIRECT;
			continue;
		}
		m->path_sl[(size_t)s * nep + e] = reflit_choose(rf, u, &cost);
		rf->beyond |= m->path_sl[(size_t)s * nep + e] ==
			      REFLIT_SL_ASIDE;
		reflit_judge(rf, e, u, cost, &known);
	}
}

static void
reflit_node(struct reflit *rf, uint32_t t, uint32_t e)
{
	const uint32_t n = rf->b->g.nnode;

	rf->t = t;
	if (rf->exact && rf->broken) {
		reflit_exact_to(rf, t);
	} else {
		rf->dor_t = rf->lane[e % ROUTE_TILE].dor;
		rf->least = rf->lane[e % ROUTE_TILE].least;
	}
	rf->whole = true;
	for (uint32_t u = 0; u < n && rf->broken && rf->whole; u++)
		rf->whole = route_grid_dead(&rf->gr, u) ||
			    rf->dor_t.cost[u] == rf->least[u];
	if (rf->whole)
		return;
	if (rf->tree == &rf->own_tree)
		updown_trees_view(&rf->own_trees, e % ROUTE_TILE, rf->tree);
	reflit_grid_classes(rf);
}

/* Makes all entries for endpoint e; *last is the node it is set up for. */
static void
reflit_endpoint(struct reflit *rf, uint32_t e, uint32_t *last)
{
	const struct route_graph *g = &rf->b->g;
	uint32_t t;

	if (!route_ep_live(g, e))
		return;
	t = g->att[g->att0[e]].node;
	route_detour_dst(&rf->dt, e % ROUTE_TILE);
	if (t != *last)
		reflit_node(rf, t, e);
	*last = t;
	if (rf->broken && !rf->whole && rf->proxy != ROUTE_NONE)
		rf->b->tile_planes = rf->wrap;
	reflit_fill(rf, e);
	if (rf->broken)
		reflit_sls(rf, e);
}

static void
reflit_plan(struct reflit *rf, uint32_t e)
{
	const struct route_graph *g = &rf->b->g;
	const uint32_t n = rl_min_u32(ROUTE_TILE, rf->b->topo->nep - e);
	const uint32_t *first[ROUTE_TILE] = {NULL};
	uint32_t dst[ROUTE_TILE];

	for (uint32_t k = 0; k < n; k++) {
		struct reflit_lane *lane = &rf->lane[k];

		dst[k] = e + k;
		if (!route_ep_live(g, e + k))
			continue;
		if (rf->exact && rf->broken) {
			first[k] = rf->ex.dor[g->att[g->att0[e + k]].node]
					   .first;
			continue;
		}
		reflit_dor_all(&rf->gr, g->att[g->att0[e + k]].node, &lane->dor,
			       rf->broken ? lane->least : NULL);
		first[k] = lane->dor.first;
	}
	route_detour_plan(&rf->dt, dst, n, first);
	if (rf->broken && rf->tree == &rf->own_tree)
		updown_trees_fill(&rf->own_trees, rf->order, dst, n, NULL);
}

void
reflit_tables(struct reflit *rf)
{
	uint32_t last = ROUTE_NONE;

	rf->worst = 0;
	memset(rf->turn, 0, rf->b->g.nnode * sizeof(*rf->turn));
	for (uint32_t e = 0; e < rf->b->topo->nep; e++) {
		route_tile_begin(rf->b, e);
		/* planes late and both are rarely needed, and take memory */
		if (e % ROUTE_TILE == 0) {
			rf->b->tile_planes = rf->broken ? rf->late : rf->up;
			reflit_plan(rf, e);
			/* its lanes now belong to other destinations */
			last = ROUTE_NONE;
		}
		reflit_endpoint(rf, e, &last);
		route_tile_end(rf->b, e);
	}
}
