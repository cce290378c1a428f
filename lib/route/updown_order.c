/* SPDX-License-Identifier: BSD-3-Clause */
#include "updown_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Breadth-first search over all links of the intact fabric; fills rank[] and
 * order[] from *n on. Returns the last node found.
 */
static uint32_t
order_bfs(const struct route_graph *g, uint32_t root, uint32_t *rank,
	  uint32_t *order, uint32_t *n)
{
	const struct rl_topo *t = g->topo;
	uint32_t head = *n;

	rank[root] = *n;
	order[(*n)++] = root;
	while (head < *n) {
		const struct rl_topo_dev *dev = &t->dev[order[head++]];

		for (unsigned int p = 0; p < dev->nports; p++) {
			const uint32_t w = dev->port[p].peer_dev;

			if (w >= g->nnode || rank[w] != ROUTE_NONE)
				continue;
			rank[w] = *n;
			order[(*n)++] = w;
		}
	}
	return order[*n - 1];
}

/* Whether node w, reached by a port of u, is one link nearer to the start of a
 * search. */
static bool
order_nearer(const uint32_t *dist, uint32_t u, uint32_t w, uint32_t nnode)
{
	return w < nnode && dist[w] + 1 == dist[u];
}

bool
route_grid_ends(const struct rl_topo *t)
{
	const bool grid = t->spec.kind == RL_TOPO_TORUS ||
			  t->spec.kind == RL_TOPO_MESH;

	for (unsigned int i = 0; i < t->spec.ndims && grid; i++)
		if (t->spec.dims[i] > 2 && !t->spec.wrap[i])
			return true;
	return false;
}

static uint32_t
order_center(const struct route_graph *g, uint32_t from, uint32_t *scratch)
{
	const struct rl_topo *t = g->topo;
	const bool ends = route_grid_ends(t);
	uint32_t *rank = scratch, *order = scratch + g->nnode;
	uint32_t *dist = order + g->nnode, n = 0, far, half, turn = 0;

	/* from a far node to the node farthest from it, and halfway back */
	memset(rank, 0xff, g->nnode * sizeof(*rank));
	far = order_bfs(g, from, rank, order, &n);
	memset(rank, 0xff, g->nnode * sizeof(*rank));
	n = 0;
	from = order_bfs(g, far, rank, order, &n);
	dist[far] = 0;
	for (uint32_t i = 1; i < n; i++) {
		const struct rl_topo_dev *dev = &t->dev[order[i]];
		uint32_t *d = &dist[order[i]];

		*d = ROUTE_NONE;
		for (unsigned int p = 0; p < dev->nports; p++) {
			const uint32_t w = dev->port[p].peer_dev;

			if (w < g->nnode && rank[w] < i && dist[w] + 1 < *d)
				*d = dist[w] + 1;
		}
	}
	/* in a mesh by each dimension in turn: halfway along its border is a
	 * corner, not the middle */
	for (half = dist[from] / 2; dist[from] > half;) {
		const struct rl_topo_dev *dev = &t->dev[from];

		for (unsigned int i = 0; i < dev->nports; i++) {
			const unsigned int p = (turn + i) % dev->nports;

			if (!order_nearer(dist, from, dev->port[p].peer_dev,
					  g->nnode))
				continue;
			from = dev->port[p].peer_dev;
			turn = ends ? p + 1 : 0;
			break;
		}
	}
	return from;
}

/* The first node, in a search from root, that has a working link. */
static uint32_t
order_alive(const struct route_graph *g, uint32_t root, uint32_t *scratch)
{
	uint32_t *rank = scratch, *order = scratch + g->nnode, n = 0;

	memset(rank, 0xff, g->nnode * sizeof(*rank));
	order_bfs(g, root, rank, order, &n);
	for (uint32_t i = 0; i < n; i++)
		if (g->first[order[i]] != g->first[order[i] + 1])
			return order[i];
	return root;
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
	/* from the first node that works, usually the first of all */
	*root = order_alive(g, order_center(g, *root, scratch), scratch);
	free(scratch);
	return 0;
}

static int
order_alloc(struct updown_order *o)
{
	const size_t n = o->g->nnode;

	o->rank = malloc((5 * n + 1) * sizeof(*o->rank));
	o->ranked = malloc((o->g->narc + 1u) * sizeof(*o->ranked));
	if (o->rank == NULL || o->ranked == NULL) {
		updown_order_free(o);
		return -ENOMEM;
	}
	o->node = o->rank + n;
	o->middle = o->node + n;
	o->arc_mask = o->middle + n;
	o->value = o->arc_mask + n;
	return 0;
}

static void
order_ranked(struct updown_order *o, uint32_t u)
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

struct order_place {
	const struct route_graph *g;
	const uint32_t *drawn;	/* [node] its place in the intact fabric */
	uint32_t *part;		/* [node] a node of its part */
	uint8_t *state;		/* [node] */
	uint32_t *stack;
	uint32_t *node;		/* [place] */
	uint32_t n;
};

#define PLACE_LATER 1
#define PLACE_DONE 2

static void
place_part(struct order_place *p, uint32_t root)
{
	const struct route_graph *g = p->g;
	uint32_t depth = 0;

	p->part[root] = root;
	p->stack[depth++] = root;
	while (depth > 0) {
		const uint32_t u = p->stack[--depth];

		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (p->part[w] != ROUTE_NONE)
				continue;
			p->part[w] = root;
			p->stack[depth++] = w;
		}
	}
}

/* Places a node, followed by those that have waited for it. */
static void
place_put(struct order_place *p, uint32_t u, uint32_t *value, uint32_t step)
{
	const struct route_graph *g = p->g;
	const uint32_t base = p->drawn[u] * step;
	uint32_t depth = 0, moved = 0;

	p->state[u] = PLACE_DONE;
	p->stack[depth++] = u;
	while (depth > 0) {
		u = p->stack[--depth];
		value[u] = base + rl_min_u32(moved++, step - 1);
		p->node[p->n++] = u;
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (p->state[w] != PLACE_LATER)
				continue;
			p->state[w] = PLACE_DONE;
			p->stack[depth++] = w;
		}
	}
}

static bool
place_ready(const struct order_place *p, uint32_t u)
{
	const struct route_graph *g = p->g;

	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
		if (p->state[g->arc[a].to] == PLACE_DONE)
			return true;
	return false;
}

/* Turns the order of the intact fabric into one in which only the first node of
 * each part has no earlier neighbour. */
static void
order_places(struct updown_order *o, struct order_place *p,
	     const uint32_t *drawn)
{
	const uint32_t n = o->g->nnode;
	/* room for nodes that move behind each one; ranks have 32 bits */
	const uint32_t step = rl_min_u32(n + 1, (1u << 28) / (n + 1));

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t u = drawn[i];
		bool first = p->part[u] == ROUTE_NONE;

		if (first)
			place_part(p, u);
		if (p->state[u] == PLACE_DONE)
			continue;
		if (first || place_ready(p, u))
			place_put(p, u, o->value, step);
		else
			p->state[u] = PLACE_LATER;
	}
	RL_ASSERT(p->n == n);
	for (uint32_t i = 0; i < n; i++)
		o->rank[o->node[i]] = i;
}

int
updown_order_init(struct updown_order *o, const struct route_graph *g,
		 uint32_t root)
{
	const size_t nnode = g->nnode;
	struct order_place p = {.g = g};
	uint32_t *mem, *drawn, n = 0;

	o->g = g;
	if (order_alloc(o) != 0)
		return -ENOMEM;
	mem = malloc((4 * nnode + 1) * sizeof(*mem));
	p.state = calloc(nnode + 1, 1);
	if (mem == NULL || p.state == NULL) {
		free(mem);
		free(p.state);
		return -ENOMEM;
	}
	drawn = mem + nnode;
	p.drawn = mem;
	p.part = mem + 2 * nnode;
	p.stack = mem + 3 * nnode;
	p.node = o->node;
	memset(mem, 0xff, 3 * nnode * sizeof(*mem));
	if (nnode != 0)
		order_bfs(g, root, mem, drawn, &n);
	for (uint32_t u = 0; u < nnode; u++)
		if (mem[u] == ROUTE_NONE)
			order_bfs(g, u, mem, drawn, &n);
	order_places(o, &p, drawn);
	for (uint32_t u = 0; u < nnode; u++)
		order_ranked(o, u);
	free(p.state);
	free(mem);
	return 0;
}

void
updown_order_free(struct updown_order *o)
{
	free(o->rank);
	free(o->ranked);
	memset(o, 0, sizeof(*o));
}
