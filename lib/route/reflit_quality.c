/* SPDX-License-Identifier: BSD-3-Clause */
#include "reflit_quality.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "updown_trees.h"

struct quality {
	const struct route_graph *g;
	struct updown_order order;
	struct updown_trees trees;
	uint32_t *hosts; /* [node] endpoints attached to it */
	uint32_t *flows; /* [node] that pass it */
	uint32_t *bucket; /* [node + 1] */
	uint32_t *sorted; /* nodes by distance */
	uint64_t *load;	  /* [arc] */
};

uint64_t
any_busiest(const struct route_graph *g, const uint64_t *load)
{
	uint64_t most = 0;

	for (uint32_t a = 0; a < g->narc; a++) {
		const uint64_t l = load[a] / g->arc[a].nport;

		most = l > most ? l : most;
	}
	return most;
}

static void
quality_tree(struct quality *x, const struct updown_tree *t,
	     struct any_quality *q)
{
	const struct route_graph *g = x->g;
	const uint32_t n = g->nnode;
	uint32_t sum = 0;

	memset(x->bucket, 0, (n + 1u) * sizeof(*x->bucket));
	for (uint32_t u = 0; u < n; u++)
		if (t->dist[u] < n)
			x->bucket[t->dist[u]]++;
	for (uint32_t d = 0; d <= n; d++) {
		const uint32_t here = x->bucket[d];

		x->bucket[d] = sum;
		sum += here;
	}
	for (uint32_t u = 0; u < n; u++) {
		x->flows[u] = x->hosts[u];
		if (t->dist[u] >= n)
			continue;
		x->sorted[x->bucket[t->dist[u]]++] = u;
		q->links += (uint64_t)t->dist[u] * x->hosts[u];
	}
	for (uint32_t i = sum; i-- > 0;) {
		const uint32_t u = x->sorted[i], a = t->next[u];

		if (a == ROUTE_NONE)
			continue;
		x->load[a] += x->flows[u];
		x->flows[g->arc[a].to] += x->flows[u];
	}
}

static void
quality_all(struct quality *x, struct any_quality *q)
{
	const uint32_t nep = x->g->topo->nep;

	for (uint32_t e = 0; e < nep; e += ROUTE_TILE) {
		const uint32_t n = rl_min_u32(ROUTE_TILE, nep - e);
		uint32_t dst[ROUTE_TILE];

		for (uint32_t k = 0; k < n; k++)
			dst[k] = e + k;
		updown_trees_fill(&x->trees, &x->order, dst, n, NULL);
		for (uint32_t k = 0; k < n; k++) {
			struct updown_tree t;

			updown_trees_view(&x->trees, k, &t);
			if (route_ep_live(x->g, e + k))
				quality_tree(x, &t, q);
		}
	}
	q->busiest = any_busiest(x->g, x->load);
}

int
any_updown_quality(const struct route_graph *g, struct any_quality *q)
{
	const size_t n = g->nnode;
	struct quality x = {.g = g};
	uint32_t root;
	int ret = route_root(g, &root);

	memset(q, 0, sizeof(*q));
	x.hosts = calloc(4 * n + 2, sizeof(*x.hosts));
	x.load = calloc(g->narc + 1u, sizeof(*x.load));
	if (x.hosts == NULL || x.load == NULL)
		ret = -ENOMEM;
	if (ret == 0)
		ret = updown_order_init(&x.order, g, root);
	if (ret == 0)
		ret = updown_trees_init(&x.trees, g->nnode);
	if (ret == 0) {
		x.flows = x.hosts + n;
		x.sorted = x.flows + n;
		x.bucket = x.sorted + n;
		for (uint32_t i = 0; i < g->att0[g->topo->nep]; i++)
			if (g->att[i].node != ROUTE_NONE)
				x.hosts[g->att[i].node]++;
		quality_all(&x, q);
	}
	updown_trees_free(&x.trees);
	updown_order_free(&x.order);
	free(x.hosts);
	free(x.load);
	return ret;
}
