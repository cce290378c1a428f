/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine reflit on grids: makes tables from the classes of reflit_grid.h. */
#include "reflit_grid.h"
#include "route_rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
