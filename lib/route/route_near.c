/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_near.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
route_near_init(struct route_near *n, const struct route_graph *g)
{
	const uint32_t nnode = g->nnode;

	n->dist = malloc((3u * (size_t)nnode + 1) * sizeof(*n->dist));
	n->used = calloc(g->narc + 1u, sizeof(*n->used));
	if (n->dist == NULL || n->used == NULL) {
		route_near_free(n);
		return -ENOMEM;
	}
	n->next = n->dist + nnode;
	n->queue = n->next + nnode;
	n->nqueue = 0;
	return 0;
}

void
route_near_free(struct route_near *n)
{
	free(n->dist);
	free(n->used);
	memset(n, 0, sizeof(*n));
}

static void
near_search(struct route_near *n, const struct route_graph *g, uint32_t e)
{
	uint32_t head = 0, tail = 0;

	memset(n->dist, 0xff, g->nnode * sizeof(*n->dist));
	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t r = g->att[i].node;

		if (r == ROUTE_NONE || n->dist[r] == 0)
			continue;
		n->dist[r] = 0;
		n->queue[tail++] = r;
	}
	while (head < tail) {
		const uint32_t u = n->queue[head++];

		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (n->dist[w] != ROUTE_NONE)
				continue;
			n->dist[w] = n->dist[u] + 1;
			n->queue[tail++] = w;
		}
	}
	n->nqueue = tail;
}

void
route_near_dst(struct route_near *n, const struct route_graph *g, uint32_t e)
{
	near_search(n, g, e);
	for (uint32_t i = 0; i < n->nqueue; i++) {
		const uint32_t u = n->queue[i];
		uint32_t least = UINT32_MAX;

		n->next[u] = ROUTE_NONE;
		if (n->dist[u] == 0)
			continue;
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			/* By links: an arc of two carries twice as much. */
			const uint32_t use = n->used[a] / g->arc[a].nport;

			if (n->dist[g->arc[a].to] >= n->dist[u] || use >= least)
				continue;
			least = use;
			n->next[u] = a;
		}
		n->used[n->next[u]]++;
	}
}
