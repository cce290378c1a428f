/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine updown: up*-down* from a root in the middle, on one VL, for any
 * connected fabric. See route_order.h for the rule.
 *
 * On the same VL a node that goes up may go up by any other neighbour, and a
 * node that goes down may go down by any other that can: the rank falls (or
 * rises) on every hop, so neither leads back.
 */
#include <errno.h>
#include <stdlib.h>

#include "route_impl.h"
#include "route_order.h"

static void
updown_fill(struct route_build *b, const struct route_order *o,
	    const struct route_tree *t, uint32_t u, uint32_t e)
{
	const struct route_graph *g = &b->g;
	struct route_hops h;

	route_hops_init(&h);
	route_hops_add_ep(&h, g, u, e, 0, RL_FWD_ALTS);
	if (t->next[u] != ROUTE_NONE)
		route_hops_add_arc(&h, g, t->next[u], 0, e, RL_FWD_ALTS);
	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
		const uint32_t w = g->arc[a].to;

		if (a == t->next[u] || t->dist[w] == ROUTE_NONE)
			continue;
		if (t->down[u] ? !route_is_up(o, a) && t->down[w] :
				 route_is_up(o, a))
			route_hops_add_arc(&h, g, a, 0, e, 1);
	}
	*route_entry(b, u, 0, e) = h.e;
}

static int
updown_fill_all(struct route_build *b, const struct route_order *o)
{
	struct route_tree t;

	if (route_tree_init(&t, b->g.nnode) != 0)
		return -ENOMEM;
	for (uint32_t e = 0; e < b->topo->nep; e++) {
		route_order_tree(o, e, e, &t);
		for (uint32_t i = 0; i < t.nqueue; i++)
			updown_fill(b, o, &t, t.queue[i], e);
	}
	route_tree_free(&t);
	return 0;
}

/* The first switch that works, or 0. */
static uint32_t
updown_start(const struct route_graph *g)
{
	for (uint32_t u = 0; u < g->nnode; u++)
		if (g->first[u] != g->first[u + 1])
			return u;
	return 0;
}

static int
updown_compute(struct route_build *b)
{
	struct route_order o = {0};
	uint32_t *scratch;
	int ret;

	b->one_sl = true;
	ret = route_tables_init(b, 1);
	if (ret != 0)
		return ret;
	scratch = malloc((3u * (size_t)b->g.nnode + 1) * sizeof(*scratch));
	ret = -ENOMEM;
	if (scratch == NULL)
		goto out;
	ret = route_order_init(&o, &b->g,
			       route_center(&b->g, updown_start(&b->g),
					    scratch));
	if (ret == 0)
		ret = updown_fill_all(b, &o);
	route_order_free(&o);
	free(scratch);
out:
	if (ret != 0) {
		snprintf(b->err, RL_ERR_MAX, "no memory for %u switches",
			 b->g.nnode);
		return ret;
	}
	route_endpoints(b);
	b->route->vls = 1;
	return 0;
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
