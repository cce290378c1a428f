/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
grid_arcs(struct route_grid *gr)
{
	const struct route_graph *g = gr->g;

	memset(gr->arc, 0xff, g->nnode * sizeof(*gr->arc));
	for (uint32_t a = 0; a < g->narc; a++) {
		const struct route_arc *arc = &g->arc[a];

		RL_ASSERT(arc->dim >= 0 && arc->dim < RL_DIMS_MAX);
		gr->arc[g->tail[a]][2 * arc->dim + (arc->dir < 0)] = a;
	}
}

static void
grid_runs(struct route_grid *gr, uint32_t u)
{
	for (unsigned int w = 0; w < GRID_WAYS; w++) {
		uint16_t run = 0;

		for (uint32_t v = u; gr->arc[v][w] != ROUTE_NONE &&
				     run + 1u < gr->radix[w / 2]; run++)
			v = gr->g->arc[gr->arc[v][w]].to;
		gr->run[u][w] = run;
	}
}

int
route_grid_init(struct route_grid *gr, const struct route_graph *g)
{
	const struct rl_topo_spec *spec = &g->topo->spec;
	const uint32_t n = g->nnode;
	uint32_t stride = 1;

	memset(gr, 0, sizeof(*gr));
	gr->g = g;
	gr->ndims = spec->ndims;
	for (unsigned int d = RL_DIMS_MAX; d-- > 0;) {
		gr->radix[d] = d < spec->ndims ? spec->dims[d] : 1;
		gr->wrap[d] = d < spec->ndims && spec->wrap[d] &&
			      spec->dims[d] > 2;
		gr->stride[d] = stride;
		stride *= gr->radix[d];
		if (gr->last == 0 && gr->radix[d] > 1)
			gr->last = d;
	}
	RL_ASSERT(stride == n);
	gr->coord = malloc(n * sizeof(*gr->coord));
	gr->arc = malloc(n * sizeof(*gr->arc));
	gr->run = malloc(n * sizeof(*gr->run));
	if (gr->coord == NULL || gr->arc == NULL || gr->run == NULL) {
		route_grid_free(gr);
		return -ENOMEM;
	}
	for (uint32_t u = 0; u < n; u++)
		for (unsigned int d = 0; d < RL_DIMS_MAX; d++)
			gr->coord[u][d] = (uint16_t)(u / gr->stride[d] %
						     gr->radix[d]);
	grid_arcs(gr);
	for (uint32_t u = 0; u < n; u++)
		grid_runs(gr, u);
	return 0;
}

void
route_grid_free(struct route_grid *gr)
{
	free(gr->coord);
	free(gr->arc);
	free(gr->run);
	memset(gr, 0, sizeof(*gr));
}
