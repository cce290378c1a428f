/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shortest paths, nothing else: one VL, one plane. On fabrics with rings it
 * can deadlock; it is there for fabrics without and for comparison. The
 * checker tells which is which.
 *
 * A neighbour w of u may stand in for the next hop of u where the way of w
 * does not lead through u: where w is no farther from the destination than u,
 * or one hop farther with a next hop other than u.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route_impl.h"

struct minhop {
	struct route_build *b;
	uint32_t *dist;
	uint32_t *next; /* arc of the first choice, or ROUTE_NONE */
	uint32_t *queue;
};

static void
minhop_bfs(struct minhop *m, uint32_t e)
{
	const struct route_graph *g = &m->b->g;
	uint32_t head = 0, tail = 0;

	memset(m->dist, 0xff, g->nnode * sizeof(*m->dist));
	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t r = g->att[i].node;

		if (r == ROUTE_NONE || m->dist[r] == 0)
			continue;
		m->dist[r] = 0;
		m->queue[tail++] = r;
	}
	while (head < tail) {
		const uint32_t u = m->queue[head++];

		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (m->dist[w] != ROUTE_NONE)
				continue;
			m->dist[w] = m->dist[u] + 1;
			m->queue[tail++] = w;
		}
	}
}

/* First choices: of the neighbours that are nearer, one by turns. */
static void
minhop_next(struct minhop *m, uint32_t e)
{
	const struct route_graph *g = &m->b->g;

	for (uint32_t u = 0; u < g->nnode; u++) {
		uint32_t near[8], n = 0;

		m->next[u] = ROUTE_NONE;
		if (m->dist[u] == 0 || m->dist[u] == ROUTE_NONE)
			continue;
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
			if (m->dist[g->arc[a].to] < m->dist[u] && n < 8)
				near[n++] = a;
		m->next[u] = near[(e + u) % n];
	}
}

static void
minhop_fill(struct minhop *m, uint32_t u, uint32_t e)
{
	const struct route_graph *g = &m->b->g;
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
	route_put(m->b, u, 0, e, &h);
}

static int
minhop_compute(struct route_build *b)
{
	const uint32_t n = b->g.nnode;
	struct minhop m = {.b = b};
	int ret;

	b->one_sl = true;
	ret = route_tables_init(b, 1);
	if (ret != 0)
		return ret;
	m.dist = malloc((3u * (size_t)n + 1) * sizeof(*m.dist));
	if (m.dist == NULL) {
		snprintf(b->err, RL_ERR_MAX, "no memory for %u switches", n);
		return -ENOMEM;
	}
	m.next = m.dist + n;
	m.queue = m.next + n;
	for (uint32_t e = 0; e < b->topo->nep; e++) {
		route_tile_begin(b, e);
		minhop_bfs(&m, e);
		minhop_next(&m, e);
		for (uint32_t u = 0; u < n; u++)
			if (m.dist[u] != ROUTE_NONE)
				minhop_fill(&m, u, e);
		route_tile_end(b, e);
	}
	free(m.dist);
	route_endpoints(b);
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
