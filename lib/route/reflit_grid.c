/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine reflit on grids: makes tables from the classes of reflit_grid.h. */
#include "reflit_grid.h"
#include "route_rank.h"

#include <errno.h>
#include <stdlib.h>
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

static void
reflit_use_classes(const struct reflit *rf, uint32_t u)
{
	struct rl_fwd *f = &rf->b->route->fwd[u];

	f->plane_of[REFLIT_VL_ESCAPE][REFLIT_SL_UP] = (uint8_t)rf->up;
	f->plane_of[REFLIT_VL_ESCAPE][REFLIT_SL_LATE] = (uint8_t)rf->up;
	f->plane_of[REFLIT_VL_ESCAPE][REFLIT_SL_BOTH] = (uint8_t)rf->both;
	for (uint8_t vl = REFLIT_VL_DOR; vl <= REFLIT_VL_WRAP; vl++) {
		f->plane_of[vl][REFLIT_SL_LATE] = (uint8_t)rf->late;
		f->plane_of[vl][REFLIT_SL_BOTH] = (uint8_t)rf->late;
	}
}

/* VLs and planes: the plane of a packet by its VL and SL, see reflit_grid.h. */
static void
reflit_vls(struct reflit *rf)
{
	struct route_build *b = rf->b;

	route_plane_vl(b, rf->wrap, REFLIT_VL_WRAP);
	route_detour_vls(&rf->dt, REFLIT_VL_DETOUR);
	route_plane_vl(b, rf->up, REFLIT_VL_ESCAPE);
	route_plane_vl(b, rf->both, REFLIT_VL_ESCAPE);
	/* if the classes are unused, a packet of one (by newer tables) is
	 * treated as on a detour */
	for (uint8_t sl = REFLIT_SL_UP; sl <= REFLIT_SL_BOTH; sl++)
		route_plane_of(b, REFLIT_VL_ESCAPE, sl,
			       rf->dt.updown ? (uint8_t)rf->dt.plane : 0);
	for (uint32_t u = 0; u < b->g.nnode && rf->broken; u++)
		reflit_use_classes(rf, u);
	/* endpoints inject classes that begin on VL 2 on VL 2 */
	route_host_vl(b, REFLIT_SL_UP, REFLIT_VL_ESCAPE);
	route_host_vl(b, REFLIT_SL_BOTH, REFLIT_VL_ESCAPE);
	route_host_vl(b, REFLIT_SL_ASIDE, REFLIT_VL_DETOUR);
}

static bool
reflit_broken(const struct reflit *rf)
{
	const struct rl_topo *t = rf->b->topo;

	for (uint32_t u = 0; u < rf->b->g.nnode; u++)
		for (unsigned int p = 0; p < t->dev[u].nports; p++) {
			const struct rl_topo_port *port = &t->dev[u].port[p];

			if (port->dim >= 0 && !t->dev[u].failed &&
			    rf->gr.arc[u][2 * port->dim + (port->dir < 0)] ==
				    ROUTE_NONE)
				return true;
		}
	return false;
}

static void
reflit_planes(struct reflit *rf, unsigned int detours)
{
	rf->dor = 0;
	rf->up = 1 + detours;
	rf->late = rf->up + 1;
	rf->both = rf->up + 2;
	rf->wrap = rf->up + 3;
}

static int
reflit_alloc(struct reflit *rf)
{
	const size_t n = rf->b->g.nnode;
	uint32_t *m = malloc((8 + 3 * ROUTE_TILE) * n * sizeof(*m) + 1);
	bool *wraps = malloc((1 + ROUTE_TILE) * n + 1);

	rf->mem = m;
	rf->one.wraps = wraps;
	rf->turn = calloc(n, sizeof(*rf->turn));
	rf->via = calloc(n + 1, sizeof(*rf->via));
	if (m == NULL || rf->turn == NULL || wraps == NULL || rf->via == NULL)
		return -ENOMEM;
	rf->up_cost = m;
	rf->up_next = m + n;
	rf->late_cost = m + 2 * n;
	rf->both_cost = m + 3 * n;
	rf->both_next = m + 4 * n;
	rf->stretched = m + 5 * n;
	for (unsigned int k = 0; k < ROUTE_TILE; k++) {
		struct reflit_lane *lane = &rf->lane[k];

		lane->least = m + (6 + 3 * k) * n;
		lane->dor.first = lane->least + n;
		lane->dor.cost = lane->dor.first + n;
		lane->dor.wraps = wraps + (1 + k) * n;
	}
	rf->one.first = m + (6 + 3 * ROUTE_TILE) * n;
	rf->one.cost = rf->one.first + n;
	rf->dor_p = &rf->one;
	rf->dor_t = rf->lane[0].dor;
	rf->least = rf->lane[0].least;
	return 0;
}

static int
reflit_init(struct reflit *rf)
{
	struct route_build *b = rf->b;
	int ret = reflit_alloc(rf);

	if (ret == 0)
		ret = route_grid_init(&rf->gr, &b->g);
	if (ret != 0)
		return ret;
	rf->broken = reflit_broken(rf);
	rf->exact = b->g.nnode <= REFLIT_EXACT;
	ret = route_detour_init(&rf->dt, b, 1, b->max_vls - REFLIT_VL_DETOUR);
	reflit_planes(rf, rf->dt.nplanes);
	b->live_planes = rf->broken ? rf->wrap : rf->up;
	rf->order = rf->dt.updown ? &rf->dt.order : &rf->own_order;
	rf->tree = rf->dt.updown ? &rf->dt.tree : &rf->own_tree;
	if (ret == 0 && rf->broken &&
	    (rf->exact || rf->tree == &rf->own_tree))
		ret = updown_trees_init(&rf->own_trees, b->g.nnode);
	if (ret == 0 && rf->broken)
		ret = route_bfs_init(&rf->near, &b->g);
	if (ret == 0 && rf->broken && rf->exact)
		ret = reflit_exact_init(rf);
	b->vl_planes = 1;
	/* all paths have SL 0 while nothing has failed */
	b->one_sl = !rf->broken;
	/* a path, and a detour */
	for (unsigned int p = 0; p < rf->wrap; p++)
		b->most[p] = 2;
	if (ret == 0) {
		route_detour_most(&rf->dt);
		ret = route_tables_init(b, rf->wrap);
	}
	return ret;
}

static void
reflit_free(struct reflit *rf)
{
	route_bfs_free(&rf->near);
	updown_trees_free(&rf->own_trees);
	updown_order_free(&rf->own_order);
	route_detour_free(&rf->dt);
	route_grid_free(&rf->gr);
	reflit_exact_free(rf);
	free(rf->mem);
	free(rf->one.wraps);
	free(rf->via);
	free(rf->turn);
}

/* Up, dimension order, down; then the detours that follow. */
static int
reflit_ranks(struct reflit *rf)
{
	struct route_build *b = rf->b;
	const uint32_t *order = rf->order->value;
	uint32_t next = 1;

	if (route_rank_begin(b) != 0)
		return -ENOMEM;
	if (order != NULL)
		next = route_rank_up(b, next, REFLIT_VL_ESCAPE, order);
	next = route_rank_dor(b, next, &rf->gr, REFLIT_VL_DOR, REFLIT_VL_WRAP);
	if (order != NULL)
		next = route_rank_down(b, next, REFLIT_VL_ESCAPE, order);
	route_detour_ranks(&rf->dt, next, REFLIT_VL_DETOUR);
	return 0;
}

static int
reflit_grid(struct route_build *b)
{
	struct reflit rf = {.b = b};
	int ret;

	if (b->max_vls < REFLIT_VL_DETOUR)
		return route_refuse(b, "engine reflit needs %d VLs on a grid, "
				    "the links have %u", REFLIT_VL_DETOUR,
				    b->max_vls);
	ret = reflit_init(&rf);
	if (ret == 0) {
		b->route->vls = REFLIT_VL_DETOUR;
		reflit_vls(&rf);
		if (rf.broken)
			ret = reflit_roots(&rf);
		else
			reflit_tables(&rf);
		route_endpoints(b, NULL);
	}
	/* paths also use the first detour VL */
	if (rf.beyond) {
		b->route->vls++;
		b->route->detour_vls--;
	}
	if (ret == 0)
		ret = reflit_ranks(&rf);
	if (ret != 0)
		snprintf(b->err, RL_ERR_MAX, "no memory for %u switches",
			 b->g.nnode);
	reflit_free(&rf);
	return ret;
}

static int
reflit_compute(struct route_build *b)
{
	const enum rl_topo_kind kind = b->topo->spec.kind;

	if (kind == RL_TOPO_TORUS || kind == RL_TOPO_MESH)
		return reflit_grid(b);
	return reflit_any(b);
}

const struct route_engine route_reflit = {
	.info = {
		.name = "reflit",
		.what = "dimension order, and classes of paths around whatever "
			"failed",
		.min_vls = 1,
		.deadlock_free = true,
	},
	.compute = reflit_compute,
};
