/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine torus-2qos [ROUTE-2]: exactly the rules of the torus-2QoS manual page,
 * so that verdicts, hops and VLs can be compared.
 *
 * SL: bit d is set if the wraparound path in dimension d is shorter than the
 * direct one. It depends only on the positions: a mesh, without wraparound,
 * uses the same rule. VL: bit 0 is the SL bit of the dimension of the output,
 * on all hops in it; bit 1 marks the hop after a turn from a later dimension to
 * an earlier one, which dimension order does not have. Next hop: the lowest
 * dimension in which switch and destination differ, in the shorter direction if
 * that is intact, otherwise in the longer; towards a failed switch at the
 * corner as far as possible; and if that dimension has no hop, the next one:
 * the early turn.
 *
 * The manual page's conditions say which fabrics to refuse, but they accept
 * some with a credit loop. So the checker, which shares no code with this file,
 * judges finished tables, which are refused if it finds one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route_detour.h"
#include "route_grid.h"
#include "route_rank.h"

struct torus {
	struct route_build *b;
	struct route_grid gr;
	struct route_detour dt;
	uint32_t *next;	  /* [lane][node] arc to the destinations of a tile */
	uint32_t (*turn)[GRID_WAYS]; /* destinations per direction so far */
};

static uint32_t
torus_next(const struct route_grid *gr, uint32_t u, uint32_t t)
{
	for (unsigned int d = 0; d < gr->ndims; d++) {
		const uint32_t from = gr->coord[u][d], to = gr->coord[t][d];
		unsigned int way;
		uint32_t hops;

		if (from == to)
			continue;
		way = route_grid_short(gr, d, from, to, &hops);
		if (route_grid_dead(gr, route_grid_at(gr, u, d, to))) {
			/* towards the hole, never the long direction */
			if (gr->arc[u][2 * d + way] != ROUTE_NONE)
				return gr->arc[u][2 * d + way];
			continue;
		}
		if (gr->run[u][2 * d + way] >= hops)
			return gr->arc[u][2 * d + way];
		if (gr->run[u][2 * d + !way] >= gr->radix[d] - hops)
			return gr->arc[u][2 * d + !way];
	}
	return ROUTE_NONE;
}

static uint8_t
torus_sl(const struct route_grid *gr, uint32_t s, uint32_t t)
{
	uint8_t sl = 0;

	for (unsigned int d = 0; d < gr->ndims; d++) {
		const uint32_t from = gr->coord[s][d], to = gr->coord[t][d];
		const uint32_t direct = from < to ? to - from : from - to;

		if (gr->radix[d] - direct < direct)
			sl |= (uint8_t)(1u << d);
	}
	return sl;
}

static unsigned int
torus_gaps(const struct route_grid *gr, uint32_t u, unsigned int d)
{
	const uint32_t n = gr->radix[d];
	unsigned int gaps = 0;

	/* a gap begins at a live switch without a link in + */
	for (uint32_t c = 0; c < n; c++) {
		const uint32_t v = route_grid_at(gr, u, d, c);

		gaps += !route_grid_dead(gr, v) &&
			gr->arc[v][2 * d] == ROUTE_NONE;
	}
	return gaps;
}

static int
torus_check_rings(const struct torus *to)
{
	const struct route_grid *gr = &to->gr;

	for (uint32_t u = 0; u < gr->g->nnode; u++) {
		for (unsigned int d = 0; d < gr->ndims; d++) {
			if (gr->radix[d] < 2 || gr->coord[u][d] != 0 ||
			    torus_gaps(gr, u, d) < 2)
				continue;
			return route_refuse(to->b, "the ring of %s in "
					    "dimension %u is cut into pieces",
					    gr->g->topo->dev[u].name, d);
		}
	}
	return 0;
}

/* Several failed switches must be consecutive in the last dimension. */
static int
torus_check_switches(const struct torus *to)
{
	const struct route_grid *gr = &to->gr;
	const uint32_t step = gr->stride[gr->last], n = gr->radix[gr->last];
	uint32_t dead = 0, first = 0, begins = 0, line = 0;

	for (uint32_t u = 0; u < gr->g->nnode; u++) {
		const uint32_t c = gr->coord[u][gr->last];
		const uint32_t line_u = u - c * step;
		const bool before = c != 0 || gr->wrap[gr->last];

		if (!route_grid_dead(gr, u))
			continue;
		if (dead++ == 0) {
			first = u;
			line = line_u;
		}
		if (line_u != line)
			return route_refuse(to->b, "the failed switches %s and "
					    "%s do not follow one another in "
					    "the last dimension",
					    gr->g->topo->dev[first].name,
					    gr->g->topo->dev[u].name);
		begins += !before || !route_grid_dead(gr,
			route_grid_at(gr, u, gr->last, (c + n - 1) % n));
	}
	if (begins > 1)
		return route_refuse(to->b, "the failed switches on the line of "
				    "%s do not follow one another",
				    gr->g->topo->dev[first].name);
	return 0;
}

/* VLs of plane 0 by class of port, for dimension order and turns. */
static void
torus_vls(struct torus *to, bool qos)
{
	struct route_build *b = to->b;
	const unsigned int bits = b->max_vls >= 4 ? 2 : 1;
	const uint8_t level = bits == 2 ? 4 : 2;

	for (unsigned int in = 0; in < ROUTE_CLASSES; in++) {
		for (unsigned int out = 0; out < ROUTE_CLASSES; out++) {
			uint8_t *vl = b->vl + (in * ROUTE_CLASSES + out) *
						      RL_SLS;

			for (unsigned int sl = 0; sl < RL_SLS; sl++) {
				const unsigned int o = out - ROUTE_CLASS_ISL;
				const uint8_t q = qos && sl >= 8;

				if (out == ROUTE_CLASS_HOST) {
					vl[sl] = q;
					continue;
				}
				vl[sl] = (uint8_t)((sl >> o & 1) |
						   (bits == 2 && in > out) << 1 |
						   q * level);
			}
		}
	}
}

static int
torus_ways(struct torus *to, uint32_t e, uint32_t *next)
{
	const struct route_graph *g = &to->b->g;
	const struct rl_topo *topo = to->b->topo;
	const uint32_t t = g->att[g->att0[e]].node;

	for (uint32_t u = 0; u < g->nnode; u++) {
		next[u] = ROUTE_NONE;
		if (u == t || route_grid_dead(&to->gr, u))
			continue;
		next[u] = torus_next(&to->gr, u, t);
		if (next[u] == ROUTE_NONE)
			return route_refuse(to->b, "no way from %s to %s by "
					    "the rules of torus-2qos",
					    topo->dev[u].name,
					    topo->dev[t].name);
	}
	return 0;
}

/* The paths to a tile's destinations, from e on, and their detours. */
static int
torus_plan(struct torus *to, uint32_t e)
{
	const struct route_graph *g = &to->b->g;
	const uint32_t n = rl_min_u32(ROUTE_TILE, to->b->topo->nep - e);
	const uint32_t *first[ROUTE_TILE] = {NULL};
	uint32_t dst[ROUTE_TILE];
	int ret = 0;

	for (uint32_t k = 0; k < n && ret == 0; k++) {
		dst[k] = e + k;
		if (!route_ep_live(g, e + k))
			continue;
		first[k] = to->next + (size_t)k * g->nnode;
		ret = torus_ways(to, e + k, to->next + (size_t)k * g->nnode);
	}
	if (ret == 0)
		route_detour_plan(&to->dt, dst, n, first);
	return ret;
}

static int
torus_dst(struct torus *to, uint32_t e)
{
	const struct route_graph *g = &to->b->g;
	const uint32_t lane = e % ROUTE_TILE;
	const int ret = lane == 0 ? torus_plan(to, e) : 0;

	if (ret != 0 || !route_ep_live(g, e))
		return ret;
	route_detour_dst(&to->dt, lane);
	for (uint32_t u = 0; u < g->nnode; u++) {
		const uint32_t a = to->next[(size_t)lane * g->nnode + u];
		struct route_hops h;

		if (route_grid_dead(&to->gr, u))
			continue;
		route_hops_init(&h);
		if (a == ROUTE_NONE) {
			route_hops_add_ep(&h, g, u, e, 0, RL_FWD_ALTS);
		} else {
			const struct route_arc *arc = &g->arc[a];

			route_hops_add_arc(&h, g, a, 0,
					   to->turn[u][2 * arc->dim +
						       (arc->dir < 0)]++,
					   RL_FWD_ALTS - 1);
			route_detour_add(&to->dt, &h, u, e, a);
		}
		route_put(to->b, u, 0, e, &h);
	}
	route_detour_fill(&to->dt, e);
	return 0;
}

static void
torus_sls(struct torus *to)
{
	const struct route_graph *g = &to->b->g;
	const uint32_t nep = to->b->topo->nep;
	struct route_mem *m = to->b->route->priv;

	for (uint32_t s = 0; s < nep; s++)
		for (uint32_t e = 0; e < nep; e++)
			if (route_ep_live(g, s) && route_ep_live(g, e))
				m->path_sl[(size_t)s * nep + e] = torus_sl(
					&to->gr, g->att[g->att0[s]].node,
					g->att[g->att0[e]].node);
}

static bool
torus_pristine(const struct rl_topo *t)
{
	for (uint32_t l = 0; l < t->nlink; l++)
		if (!rl_topo_link_up(t, l))
			return false;
	return true;
}

/*
 * Ranks of an intact torus. A path that wraps is on VL 1 in all of that
 * dimension, less than half of it long, and crosses the dateline: so it begins
 * in one half and ends in the other. In a dimension without wraparound it goes
 * straight on on either VL. There are no turns back. Faulty tori have no ranks
 * here: rl_route_accept() searches for an order.
 */
static int
torus_ranks(struct torus *to, unsigned int own, unsigned int levels)
{
	const struct rl_topo *t = to->b->topo;
	const struct route_grid *gr = &to->gr;
	uint32_t base[RL_DIMS_MAX], next = 1;

	if (route_rank_begin(to->b) != 0)
		return -ENOMEM;
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
		base[d] = next;
		next += gr->radix[d];
	}
	for (uint32_t l = 0; l < t->nlink; l++) {
		const struct rl_topo_link *k = &t->link[l];

		if (k->kind != RL_LINK_ISL)
			continue;
		for (unsigned int end = 0; end < 2; end++) {
			const uint32_t n = gr->radix[k->dim];
			const uint32_t u = gr->coord[k->dev[end]][k->dim];
			const uint32_t c = end == 0 ? u : n - 1 - u;

			for (unsigned int vl = 0; vl < own * levels; vl++)
				to->b->rank[rl_channel(l, end, vl)] =
					base[k->dim] +
					((vl & 1) && gr->wrap[k->dim] ?
						 (c + n / 2) % n : c);
		}
	}
	route_detour_ranks(&to->dt, next, (uint8_t)own);
	return 0;
}

static int
torus_tables(struct torus *to)
{
	struct route_build *b = to->b;
	const bool qos = b->qos_levels > 1 && b->max_vls >= 8;
	const unsigned int own = b->max_vls >= 4 ? 4 : 2;
	int ret = route_detour_init(&to->dt, b, 1, qos ? 0 : b->max_vls - own);

	if (ret == 0) {
		b->most[0] = 2; /* a path, and a detour */
		route_detour_most(&to->dt);
		ret = route_tables_init(b, 1 + to->dt.nplanes);
	}
	if (ret != 0)
		return ret;
	b->route->vls = (uint8_t)(qos ? 2 * own : own);
	torus_vls(to, qos);
	route_detour_vls(&to->dt, (uint8_t)own);
	torus_sls(to);
	for (uint32_t e = 0; e < b->topo->nep && ret == 0; e++) {
		route_tile_begin(b, e);
		ret = torus_dst(to, e);
		route_tile_end(b, e);
	}
	if (ret != 0)
		return ret;
	route_endpoints(b, NULL);
	if (torus_pristine(b->topo))
		return torus_ranks(to, own, qos ? 2 : 1);
	/* refused here, rather than computed and not accepted */
	return route_prove(b->route, b->topo, b->err);
}

static int
torus_compute(struct route_build *b)
{
	const uint32_t n = b->g.nnode;
	struct torus to = {.b = b};
	int ret = route_grid_init(&to.gr, &b->g);

	to.next = malloc((size_t)n * ROUTE_TILE * sizeof(*to.next));
	to.turn = calloc(n, sizeof(*to.turn));
	if (to.next == NULL || to.turn == NULL)
		ret = -ENOMEM;
	if (ret == 0)
		ret = torus_check_rings(&to);
	if (ret == 0)
		ret = torus_check_switches(&to);
	if (ret == 0)
		ret = torus_tables(&to);
	if (ret == -ENOMEM)
		snprintf(b->err, RL_ERR_MAX, "no memory for %u switches", n);
	route_detour_free(&to.dt);
	free(to.turn);
	free(to.next);
	route_grid_free(&to.gr);
	return ret;
}

const struct route_engine route_torus_2qos = {
	.info = {
		.name = "torus-2qos",
		.what = "dimension order as in torus-2QoS; refuses what that "
			"can't route",
		.min_vls = 2,
		.grid_only = true,
		.deadlock_free = true,
	},
	.compute = torus_compute,
};
