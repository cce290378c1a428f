/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only shortest paths: one VL, one plane. On fabrics with rings it can
 * deadlock; it is meant for fabrics without rings and for comparison. The
 * checker tells them apart.
 *
 * A neighbour w of u may replace the next hop of u if the path of w does not
 * lead through u: if w is no farther from the destination than u, or one hop
 * farther with a next hop other than u.
 */

#include "rl_refuse.h"
#include "route_impl.h"
#include "route_bfs.h"

static void
minhop_fill(struct route_build *b, const struct route_bfs *m, uint32_t u,
	    uint32_t e)
{
	const struct route_graph *g = &b->g;
	const uint32_t d = m->dist[u];
	struct route_hops h;

	route_hops_init(&h);
	route_hops_add_ep(&h, g, u, e, 0, RL_FWD_ALTS);
	if (m->next[u] != ROUTE_NONE)
		route_hops_add_arc(&h, g, m->next[u], 0, e, RL_FWD_ALTS);
	for (uint32_t far = 0; far < 3; far++) {
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (a == m->next[u] || m->dist[w] + 1 != d + far ||
			    (m->next[w] != ROUTE_NONE &&
			     g->arc[m->next[w]].to == u))
				continue;
			route_hops_add_arc(&h, g, a, 0, e, 1);
		}
	}
	route_put(b, u, 0, e, &h);
}

static int
minhop_compute(struct route_build *b)
{
	struct route_bfs near = {0};
	int ret;

	b->one_sl = true;
	ret = route_tables_init(b, 1);
	if (ret == 0)
		ret = route_bfs_init(&near, &b->g);
	if (ret != 0)
		return rl_refuse(b->err, RL_ERR_MAX, ret, "no memory for %u "
				 "switches", b->g.nnode);
	for (uint32_t e = 0; e < b->topo->nep; e++) {
		route_tile_begin(b, e);
		route_bfs_dst(&near, &b->g, e);
		for (uint32_t i = 0; i < near.nqueue; i++)
			minhop_fill(b, &near, near.queue[i], e);
		route_tile_end(b, e);
	}
	route_bfs_free(&near);
	route_endpoints(b, NULL);
	b->route->vls = 1;
	return 0;
}

const struct route_engine route_minhop = {
	.info = {
		.name = "minhop",
		.what = "shortest paths on one VL; credit loops are possible",
		.min_vls = 1,
	},
	.compute = minhop_compute,
};
