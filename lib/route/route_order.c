/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Breadth-first search; fills `seen` order from *n on. Returns the last. */
static uint32_t
order_bfs(const struct route_graph *g, uint32_t root, uint32_t *rank,
	  uint32_t *order, uint32_t *n)
{
	uint32_t head = *n;

	rank[root] = *n;
	order[(*n)++] = root;
	while (head < *n) {
		const uint32_t u = order[head++];

		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (rank[w] != ROUTE_NONE)
				continue;
			rank[w] = *n;
			order[(*n)++] = w;
		}
	}
	return order[*n - 1];
}

static uint32_t
order_center(const struct route_graph *g, uint32_t from, uint32_t *scratch)
{
	uint32_t *rank = scratch, *order = scratch + g->nnode;
	uint32_t *dist = order + g->nnode, n = 0, far, half;

	/* From a far node to the node farthest from it, and half way back. */
	memset(rank, 0xff, g->nnode * sizeof(*rank));
	far = order_bfs(g, from, rank, order, &n);
	memset(rank, 0xff, g->nnode * sizeof(*rank));
	n = 0;
	from = order_bfs(g, far, rank, order, &n);
	dist[far] = 0;
	for (uint32_t i = 1; i < n; i++) {
		const uint32_t u = order[i];

		dist[u] = ROUTE_NONE;
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (rank[w] < i && dist[w] + 1 < dist[u])
				dist[u] = dist[w] + 1;
		}
	}
	for (half = dist[from] / 2; dist[from] > half;) {
		for (uint32_t a = g->first[from]; a < g->first[from + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (dist[w] + 1 == dist[from]) {
				from = w;
				break;
			}
		}
	}
	return from;
}

int
route_root(const struct route_graph *g, uint32_t *root)
{
	uint32_t *scratch;

	*root = 0;
	while (*root < g->nnode && g->first[*root] == g->first[*root + 1])
		++*root;
	if (*root >= g->nnode) {
		*root = 0;
		return 0;
	}
	scratch = malloc(3u * (size_t)g->nnode * sizeof(*scratch));
	if (scratch == NULL)
		return -ENOMEM;
	*root = order_center(g, *root, scratch);
	free(scratch);
	return 0;
}

static int
order_alloc(struct route_order *o)
{
	const size_t n = o->g->nnode;

	o->rank = malloc((5 * n + 1) * sizeof(*o->rank));
	o->up = malloc((o->g->narc + 1u) * sizeof(*o->up));
	o->ranked = malloc((o->g->narc + 1u) * sizeof(*o->ranked));
	if (o->rank == NULL || o->up == NULL || o->ranked == NULL) {
		route_order_free(o);
		return -ENOMEM;
	}
	o->node = o->rank + n;
	o->middle = o->node + n;
	o->arc_mask = o->middle + n;
	o->first = o->arc_mask + n;
	return 0;
}

/* The arcs of a node, those that go up first. */
static void
order_ranked(struct route_order *o, uint32_t u)
{
	const struct route_graph *g = o->g;
	uint32_t at = g->first[u], mask = 0;

	for (int down = 0; down < 2; down++) {
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
			if ((o->rank[g->arc[a].to] > o->rank[u]) == down)
				o->ranked[at++] = (struct route_ranked){
					g->arc[a].to,
					(int32_t)(a - g->first[u])};
		if (!down)
			o->middle[u] = at;
	}
	while (mask + 1 < g->first[u + 1] - g->first[u])
		mask = mask * 2 + 1;
	o->arc_mask[u] = mask;
}

/* The arcs that go up, of every node. Returns how many nodes have only others. */
static uint32_t
order_ups(struct route_order *o)
{
	const struct route_graph *g = o->g;
	uint32_t ups = 0, roots = 0;

	for (uint32_t u = 0; u < g->nnode; u++) {
		o->first[u] = ups;
		order_ranked(o, u);
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
			if (o->rank[g->arc[a].to] < o->rank[u])
				o->up[ups++] = (struct route_up){
					g->arc[a].to, a, g->arc[a].back};
		roots += ups == o->first[u] && g->first[u] != g->first[u + 1];
	}
	o->first[g->nnode] = ups;
	return roots;
}

int
route_order_init(struct route_order *o, const struct route_graph *g,
		 uint32_t root)
{
	uint32_t n = 0;

	o->g = g;
	if (order_alloc(o) != 0)
		return -ENOMEM;
	memset(o->rank, 0xff, g->nnode * sizeof(*o->rank));
	if (g->nnode != 0)
		order_bfs(g, root, o->rank, o->node, &n);
	for (uint32_t u = 0; u < g->nnode; u++)
		if (o->rank[u] == ROUTE_NONE)
			order_bfs(g, u, o->rank, o->node, &n);
	RL_ASSERT(n == g->nnode);
	order_ups(o);
	return 0;
}

int
route_order_ranks(struct route_order *o, const struct route_graph *g,
		  const uint32_t *rank)
{
	o->g = g;
	if (order_alloc(o) != 0)
		return -ENOMEM;
	memcpy(o->rank, rank, g->nnode * sizeof(*rank));
	for (uint32_t u = 0; u < g->nnode; u++)
		o->node[rank[u]] = u;
	return order_ups(o) > 1;
}

void
route_order_free(struct route_order *o)
{
	free(o->rank);
	free(o->up);
	free(o->ranked);
	memset(o, 0, sizeof(*o));
}

int
route_tree_init(struct route_tree *t, uint32_t nnode)
{
	memset(t, 0, sizeof(*t));
	t->dist = malloc((3u * (size_t)nnode + 1) * sizeof(*t->dist));
	t->down = malloc((size_t)nnode + 1);
	if (t->dist == NULL || t->down == NULL) {
		route_tree_free(t);
		return -ENOMEM;
	}
	t->next = t->dist + nnode;
	t->queue = t->next + nnode;
	return 0;
}

void
route_tree_free(struct route_tree *t)
{
	free(t->dist);
	free(t->down);
	memset(t, 0, sizeof(*t));
}

/* Nodes that can go down all the way, by their distance. */
static void
tree_down(const struct route_order *o, uint32_t e, uint32_t turn,
	  struct route_tree *t)
{
	const struct route_graph *g = o->g;
	uint32_t head = 0, tail = 0;

	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t r = g->att[i].node;

		if (r == ROUTE_NONE || t->down[r])
			continue;
		t->down[r] = true;
		t->dist[r] = 0;
		t->queue[tail++] = r;
	}
	while (head < tail) {
		const uint32_t u = t->queue[head++];

		for (uint32_t i = o->first[u]; i < o->first[u + 1]; i++) {
			const uint32_t w = o->up[i].to, back = o->up[i].back;

			if (!t->down[w]) {
				t->down[w] = true;
				t->dist[w] = t->dist[u] + 1;
				t->next[w] = back;
				t->queue[tail++] = w;
				continue;
			}
			if (t->dist[w] == t->dist[u] + 1 &&
			    ((turn ^ u ^ w) & 1))
				t->next[w] = back;
		}
	}
	t->nqueue = tail;
}

static void
tree_clear(const struct route_order *o, struct route_tree *t)
{
	const uint32_t n = o->g->nnode;

	for (uint32_t u = 0; u < n; u++)
		t->dist[u] = ROUTE_FAR;
	memset(t->next, 0xff, n * sizeof(*t->next));
	memset(t->down, 0, n);
}

void
route_order_down(const struct route_order *o, uint32_t e, uint32_t turn,
		 struct route_tree *t)
{
	tree_clear(o, t);
	tree_down(o, e, turn, t);
}
