/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine reflit on small grids: compares roots without making tables. All that
 * does not depend on the root is computed once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reflit_grid.h"

static int
exact_alloc(struct reflit *rf)
{
	struct reflit_exact *ex = &rf->ex;
	const size_t n = rf->b->g.nnode;
	uint32_t *m = malloc(4 * n * n * sizeof(*m) + 6 * n * sizeof(*m) + 1);

	ex->mem = m;
	ex->wraps = malloc(n * n + 1);
	ex->dor = malloc(n * sizeof(*ex->dor) + 1);
	ex->by_cost = malloc((n + 1) * n * sizeof(*ex->by_cost) + 1);
	if (m == NULL || ex->wraps == NULL || ex->dor == NULL ||
	    ex->by_cost == NULL)
		return -ENOMEM;
	for (size_t t = 0; t < n; t++) {
		ex->dor[t].first = m + t * n;
		ex->dor[t].cost = m + (n + t) * n;
		ex->dor[t].wraps = ex->wraps + t * n;
	}
	ex->shortest = m + 2 * n * n;
	ex->aside = m + 3 * n * n;
	ex->reach = m + 4 * n * n;
	ex->host = ex->reach + n;
	ex->ep = ex->host + n;
	ex->needy = ex->ep + n;
	ex->at = ex->needy + n;
	ex->rest = ex->at + n;
	ex->above = ex->by_cost + n * n;
	return 0;
}

void
reflit_exact_free(struct reflit *rf)
{
	free(rf->ex.mem);
	free(rf->ex.wraps);
	free(rf->ex.dor);
	free(rf->ex.by_cost);
	memset(&rf->ex, 0, sizeof(rf->ex));
}

static void
exact_hosts(struct reflit *rf)
{
	const struct route_graph *g = &rf->b->g;

	memset(rf->ex.host, 0, g->nnode * sizeof(*rf->ex.host));
	memset(rf->ex.ep, 0xff, g->nnode * sizeof(*rf->ex.ep));
	for (uint32_t e = rf->b->topo->nep; e-- > 0;)
		if (route_ep_live(g, e)) {
			const uint32_t u = g->att[g->att0[e]].node;

			rf->ex.host[u]++;
			rf->ex.ep[u] = e;
		}
}

static void
exact_sort(struct reflit *rf, uint32_t w)
{
	struct reflit_exact *ex = &rf->ex;
	const uint32_t n = rf->b->g.nnode;
	const uint32_t *cost = ex->dor[w].cost;
	uint16_t *list = ex->by_cost + (size_t)w * n;
	uint32_t *begin = ex->at, sum = 0;

	memset(begin, 0, n * sizeof(*begin));
	for (uint32_t u = 0; u < n; u++)
		if (cost[u] != REFLIT_COST_NONE)
			begin[rl_min_u32(cost[u], n - 1)]++;
	for (uint32_t c = 0; c < n; c++) {
		const uint32_t k = begin[c];

		begin[c] = sum;
		sum += k;
	}
	ex->reach[w] = sum;
	for (uint32_t u = 0; u < n; u++)
		if (cost[u] != REFLIT_COST_NONE)
			list[begin[rl_min_u32(cost[u], n - 1)]++] =
				(uint16_t)u;
}

static void
exact_node(struct reflit *rf, uint32_t t)
{
	struct reflit_exact *ex = &rf->ex;
	const uint32_t n = rf->b->g.nnode;
	uint32_t *shortest = ex->shortest + (size_t)t * n;

	reflit_dor_all(&rf->gr, t, &ex->dor[t], NULL);
	exact_sort(rf, t);
	if (ex->ep[t] == ROUTE_NONE)
		return;
	route_bfs_search(&rf->near, &rf->b->g, ex->ep[t]);
	memcpy(shortest, rf->near.dist, n * sizeof(*shortest));
	for (uint32_t u = 0; u < n; u++)
		if (!route_grid_dead(&rf->gr, u) &&
		    ex->dor[t].cost[u] != shortest[u]) {
			ex->needy[ex->nneedy++] = t;
			break;
		}
}

static void
exact_keep(uint32_t *aside, const uint32_t *dist, size_t n)
{
	for (size_t u = 0; u < n; u++)
		aside[u] = dist[u] < ROUTE_FAR ? dist[u] : REFLIT_COST_NONE;
}

void
reflit_exact_aside(struct reflit *rf)
{
	struct reflit_exact *ex = &rf->ex;
	const size_t n = rf->b->g.nnode;
	uint32_t e[ROUTE_TILE];

	ex->asides = true;
	for (uint32_t i = 0; i < ex->nneedy; i += ROUTE_TILE) {
		const uint32_t k = rl_min_u32(ROUTE_TILE, ex->nneedy - i);

		for (uint32_t j = 0; j < k; j++)
			e[j] = ex->ep[ex->needy[i + j]];
		updown_trees_fill(&rf->dt.trees, &rf->dt.order, e, k, NULL);
		for (uint32_t j = 0; j < k; j++)
			exact_keep(ex->aside + ex->needy[i + j] * n,
				   rf->dt.trees.dist + j * n, n);
	}
}

int
reflit_exact_init(struct reflit *rf)
{
	if (exact_alloc(rf) != 0)
		return -ENOMEM;
	rf->dor_p = rf->ex.dor;
	exact_hosts(rf);
	for (uint32_t t = 0; t < rf->b->g.nnode; t++)
		exact_node(rf, t);
	return 0;
}

void
reflit_exact_to(struct reflit *rf, uint32_t t)
{
	const size_t at = (size_t)t * rf->b->g.nnode;

	rf->t = t;
	rf->dor_t = rf->ex.dor[t];
	rf->least = rf->ex.shortest + at;
	rf->aside = rf->ex.asides ? rf->ex.aside + at : NULL;
}

static void
exact_add(struct reflit *rf)
{
	const uint64_t to = rf->ex.host[rf->t];

	for (uint32_t u = 0; u < rf->b->g.nnode; u++)
		if (rf->ex.host[u] != 0)
			rf->extra += to * rf->ex.host[u] * reflit_extra(rf, u);
}

void
reflit_exact_measure(struct reflit *rf, uint64_t enough)
{
	const struct reflit_exact *ex = &rf->ex;
	uint32_t e[ROUTE_TILE];

	rf->extra = 0;
	for (uint32_t i = 0; i < ex->nneedy; i += ROUTE_TILE) {
		const uint32_t k = rl_min_u32(ROUTE_TILE, ex->nneedy - i);

		for (uint32_t j = 0; j < k; j++)
			e[j] = ex->ep[ex->needy[i + j]];
		updown_trees_fill(&rf->own_trees, rf->order, e, k, NULL);
		for (uint32_t j = 0; j < k && rf->extra < enough; j++) {
			reflit_exact_to(rf, ex->needy[i + j]);
			updown_trees_view(&rf->own_trees, j, rf->tree);
			reflit_grid_classes(rf);
			exact_add(rf);
		}
		if (rf->extra >= enough)
			return;
	}
}
