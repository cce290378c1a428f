/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which root the escape classes of engine reflit have on grids: tables are made
 * with one, and with others where that makes paths too long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reflit_grid.h"

/* How many roots are tried to keep detours bearable. */
#define REFLIT_ROOTS 6
/* (root, switch, destination) triples that are tried for shorter ways. */
#define REFLIT_TRIES 200000u
#define REFLIT_TRIES_MOST 16u

/* Tables with the root that makes the longest detour bearable. Up*-down* is at
 * its worst between nodes that lie on two sides of what is farthest from the
 * root; where a failure does so, too, another root helps. */
static int
roots_bearable(struct reflit *rf)
{
	const struct route_graph *g = &rf->b->g;
	uint32_t root, best_root = 0, best = UINT32_MAX;
	int ret = route_root(g, &root);

	for (unsigned int i = 0; i <= REFLIT_ROOTS && ret == 0; i++) {
		if (i == REFLIT_ROOTS)
			root = best_root;
		updown_order_free(rf->order);
		ret = updown_order_init(rf->order, g, root);
		if (ret != 0)
			break;
		reflit_tables(rf);
		if (rf->worst <= REFLIT_BEARABLE || i == REFLIT_ROOTS)
			break;
		if (rf->worst < best) {
			best = rf->worst;
			best_root = root;
		}
		do
			root = (root + g->nnode / REFLIT_ROOTS + 1) % g->nnode;
		while (g->first[root] == g->first[root + 1]);
	}
	return ret;
}

/* Links between each switch and the nearest that has lost a link; those beside
 * it have lost one, too. */
static uint32_t
roots_far(struct reflit *rf, uint32_t *dist, uint32_t *queue)
{
	const struct rl_topo *t = rf->b->topo;
	const struct route_graph *g = &rf->b->g;
	uint32_t head = 0, tail = 0;

	memset(dist, 0xff, g->nnode * sizeof(*dist));
	for (uint32_t l = 0; l < t->nlink; l++)
		for (unsigned int end = 0; end < 2; end++) {
			const uint32_t u = t->link[l].dev[end];

			if (t->link[l].kind != RL_LINK_ISL ||
			    rl_topo_link_up(t, l) || dist[u] == 0 ||
			    g->first[u] == g->first[u + 1])
				continue;
			dist[u] = 0;
			queue[tail++] = u;
		}
	for (; head < tail; head++)
		for (uint32_t a = g->first[queue[head]];
		     a < g->first[queue[head] + 1]; a++) {
			const uint32_t w = g->arc[a].to;

			if (dist[w] != ROUTE_NONE)
				continue;
			dist[w] = dist[queue[head]] + 1;
			queue[tail++] = w;
		}
	return tail;
}

/* Tables of the escape classes with an order of their own. */
static int
roots_own(struct reflit *rf, uint32_t root)
{
	int ret;

	updown_order_free(&rf->own_order);
	ret = updown_order_init(&rf->own_order, &rf->b->g, root);
	rf->order = &rf->own_order;
	rf->tree = &rf->own_tree;
	if (ret == 0 && rf->own_trees.key == NULL)
		ret = updown_trees_init(&rf->own_trees, rf->b->g.nnode);
	if (ret == 0)
		reflit_tables(rf);
	return ret;
}

/*
 * The same for the sake of a few links more than need be: a root far from what
 * failed has ways up from there in all directions, so most find a class that is
 * as short as any. Detours keep their order.
 */
static int
roots_shorter(struct reflit *rf)
{
	const uint32_t n = rf->b->g.nnode;
	const uint32_t worst = rl_max_u32(rf->worst, REFLIT_BEARABLE);
	uint32_t tries = rl_min_u32(REFLIT_TRIES_MOST, REFLIT_TRIES /
				    (n * rf->b->topo->nep + 1));
	uint32_t *far = malloc((2 * (size_t)n + 1) * sizeof(*far));
	struct updown_order *const order = rf->order;
	struct updown_tree *const tree = rf->tree;
	uint32_t have, best_root = ROUTE_NONE;
	uint64_t best = rf->extra;
	int ret = 0;

	if (far == NULL)
		return -ENOMEM;
	have = roots_far(rf, far, far + n);
	for (; have > 0 && tries > 0 && best > 0 && ret == 0; tries--) {
		const uint32_t root = far[n + --have];

		ret = roots_own(rf, root);
		if (ret == 0 && rf->extra < best && rf->worst <= worst) {
			best = rf->extra;
			best_root = root;
		}
	}
	if (ret == 0 && best_root != ROUTE_NONE && rf->extra != best)
		ret = roots_own(rf, best_root);
	if (ret == 0 && best_root == ROUTE_NONE) {
		rf->order = order;
		rf->tree = tree;
		reflit_tables(rf);
	}
	free(far);
	return ret;
}

int
reflit_roots(struct reflit *rf)
{
	const int ret = roots_bearable(rf);

	/* Where there is no other order, it is the own one that is in use. */
	if (ret != 0 || !rf->exact || rf->extra == 0 ||
	    rf->order == &rf->own_order)
		return ret;
	return roots_shorter(rf);
}
