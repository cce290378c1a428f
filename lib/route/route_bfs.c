/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_bfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
route_bfs_init(struct route_bfs *n, const struct route_graph *g)
{
	const uint32_t nnode = g->nnode;

	n->dist = malloc((4u * (size_t)nnode + 1) * sizeof(*n->dist));
	n->hosts = calloc(nnode + 1u, sizeof(*n->hosts));
	n->load = calloc(g->narc + 1u, sizeof(*n->load));
	if (n->dist == NULL || n->hosts == NULL || n->load == NULL) {
		route_bfs_free(n);
		return -ENOMEM;
	}
	n->next = n->dist + nnode;
	n->queue = n->next + nnode;
	n->flows = n->queue + nnode;
	n->nqueue = 0;
	for (uint32_t s = 0; s < g->topo->nep; s++) {
		const struct route_att *a = &g->att[g->att0[s]];

		if (g->att0[s + 1] - g->att0[s] > 1)
			n->several++;
		else if (route_ep_live(g, s) && a->node != ROUTE_NONE)
			n->hosts[a->node]++;
	}
	return 0;
}

size_t
route_bfs_bytes(const struct route_bfs *n, const struct route_graph *g)
{
	const size_t ups = n->several != 0 ? g->topo->nep : 0;

	return g->topo->nep * (g->nnode + ups) * sizeof(*n->way);
}

void
route_bfs_take(struct route_bfs *n, const struct route_graph *g, uint16_t *way)
{
	free(n->way);
	n->way = way;
	if (n->several != 0)
		n->up = way + (size_t)g->topo->nep * g->nnode;
}

int
route_bfs_keep(struct route_bfs *n, const struct route_graph *g)
{
	const size_t bytes = route_bfs_bytes(n, g);
	uint16_t *way = malloc(bytes + 1);

	if (way == NULL)
		return -ENOMEM;
	memset(way, 0xff, bytes);
	route_bfs_take(n, g, way);
	return 0;
}

void
route_bfs_free(struct route_bfs *n)
{
	free(n->dist);
	free(n->hosts);
	free(n->load);
	free(n->way);
	memset(n, 0, sizeof(*n));
}

void
route_bfs_search(struct route_bfs *n, const struct route_graph *g, uint32_t e)
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

/* The least loaded arc of node u that leads nearer. If several are equal, each
 * destination starts with a different one. */
static uint32_t
near_choose(const struct route_bfs *n, const struct route_graph *g, uint32_t u,
	    uint32_t e)
{
	const uint32_t first = g->first[u], narc = g->first[u + 1] - first;
	uint32_t best = ROUTE_NONE, a = first + e % narc;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < narc; i++) {
		/* per link: an arc of two carries twice as much */
		const uint64_t load = n->load[a] / g->arc[a].nport;

		if (n->dist[g->arc[a].to] < n->dist[u] && load < least) {
			least = load;
			best = a;
		}
		a = a + 1 == first + narc ? first : a + 1;
	}
	return best;
}

/* An endpoint with several switches sends by the one that it has chosen, or by
 * the nearest; if several are equally near, each destination uses a different
 * one. */
static uint32_t
near_uplink(const struct route_bfs *n, const struct route_graph *g, uint32_t s,
	    uint32_t e)
{
	const struct route_att *att = &g->att[g->att0[s]];
	const uint32_t natt = g->att0[s + 1] - g->att0[s];
	uint32_t best = ROUTE_NONE;

	if (n->up != NULL && n->up[s * (size_t)g->topo->nep + e] !=
				     ROUTE_WAY_NONE)
		return att[n->up[s * (size_t)g->topo->nep + e]].node;
	for (uint32_t i = 0; i < natt; i++) {
		const uint32_t u = att[(i + e) % natt].node;

		if (u != ROUTE_NONE && n->dist[u] != ROUTE_NONE &&
		    (best == ROUTE_NONE || n->dist[u] < n->dist[best]))
			best = u;
	}
	return best;
}

static void
near_several(struct route_bfs *n, const struct route_graph *g, uint32_t e)
{
	for (uint32_t s = 0; s < g->topo->nep; s++) {
		uint32_t u;

		if (s == e || g->att0[s + 1] - g->att0[s] < 2)
			continue;
		u = near_uplink(n, g, s, e);
		if (u != ROUTE_NONE)
			n->flows[u]++;
	}
}

void
route_bfs_flows(struct route_bfs *n, const struct route_graph *g, uint32_t e)
{
	for (uint32_t i = 0; i < n->nqueue; i++)
		n->flows[n->queue[i]] = n->hosts[n->queue[i]];
	if (n->several != 0)
		near_several(n, g, e);
}

static void
route_bfs_choose(struct route_bfs *n, const struct route_graph *g, uint32_t e)
{
	uint16_t *way = n->way == NULL ? NULL :
					 n->way + (size_t)e * g->nnode;

	route_bfs_flows(n, g, e);
	for (uint32_t i = n->nqueue; i-- > 0;) {
		const uint32_t u = n->queue[i];

		n->next[u] = ROUTE_NONE;
		if (n->dist[u] != 0) {
			n->next[u] = near_choose(n, g, u, e);
			n->load[n->next[u]] += n->flows[u];
			n->flows[g->arc[n->next[u]].to] += n->flows[u];
		}
		if (way != NULL)
			way[u] = n->next[u] == ROUTE_NONE ?
				ROUTE_WAY_NONE :
				(uint16_t)(n->next[u] - g->first[u]);
	}
}

void
route_bfs_dst(struct route_bfs *n, const struct route_graph *g, uint32_t e)
{
	route_bfs_search(n, g, e);
	route_bfs_choose(n, g, e);
}
