/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the root of the escape classes of engine reflit on grids: tables are
 * made with one, and with others if that makes paths too long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reflit_grid.h"

/* Roots tried to keep detours acceptable. */
#define REFLIT_ROOTS 6
/* (root, switch, destination) triples tried for shorter paths. */
#define REFLIT_TRIES 200000u
#define REFLIT_TRIES_MOST 16u
/* Of them, before class aside is used. */
#define REFLIT_TRIES_FIRST 4u

/* Makes tables with the root that keeps the longest detour acceptable.
 * Up*-down* is at its worst between nodes on two sides of the point farthest
 * from the root; if a failure is there, too, another root helps. */
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

/* Links between each switch and the nearest one that has lost a link;
 * neighbours of a failed switch have lost one, too. */
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

static int
roots_own(struct reflit *rf, uint32_t root)
{
	updown_order_free(&rf->own_order);
	return updown_order_init(&rf->own_order, &rf->b->g, root);
}

/* A root, and its result. */
struct roots_best {
	uint32_t root; /* ROUTE_NONE: the order of detours */
	uint64_t extra;
};

/*
 * The best of some roots by extra links: a root far from the failures has paths
 * up from there in all directions, so most pairs find a class that is as short
 * as any. far: the nodes, the farthest last.
 */
static int
roots_try(struct reflit *rf, const uint32_t *far, uint32_t have, uint32_t tries,
	  struct roots_best *best)
{
	for (; have > 0 && tries > 0 && best->extra > 0; tries--) {
		const uint32_t root = far[--have];
		const int ret = roots_own(rf, root);

		if (ret != 0)
			return ret;
		reflit_exact_measure(rf, best->extra);
		if (rf->extra < best->extra) {
			best->extra = rf->extra;
			best->root = root;
		}
	}
	return 0;
}

/* The order of detours, then others: rf->order is then the separate one. */
static int
roots_all(struct reflit *rf, struct updown_order *order, uint32_t tries,
	  struct roots_best *best)
{
	const uint32_t n = rf->b->g.nnode;
	uint32_t *far = malloc((2 * (size_t)n + 1) * sizeof(*far));
	const uint32_t have = far != NULL ? roots_far(rf, far, far + n) : 0;
	int ret = far != NULL ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < 2 && ret == 0 && best->extra > 0; i++) {
		/* flows that change to the detours' VL may have to be held
		 * while tables change: avoid it if possible */
		if (i == 1 && !rf->dt.updown)
			break;
		if (i == 1)
			reflit_exact_aside(rf);
		rf->order = order;
		if (order == &rf->own_order && i == 1)
			ret = roots_own(rf, best->root);
		if (ret != 0)
			break;
		reflit_exact_measure(rf, best->extra);
		if (rf->extra < best->extra) {
			best->extra = rf->extra;
			if (order != &rf->own_order)
				best->root = ROUTE_NONE;
		}
		rf->order = &rf->own_order;
		ret = roots_try(rf, far + n, have,
				i == 0 ? rl_min_u32(tries, REFLIT_TRIES_FIRST) :
					 tries, best);
	}
	free(far);
	return ret;
}

/* On small grids, compares roots before making tables. Detours keep their
 * order, and the classes share it unless another is better. */
static int
roots_exact(struct reflit *rf)
{
	const uint32_t n = rf->b->g.nnode;
	const uint32_t tries = rl_min_u32(REFLIT_TRIES_MOST, REFLIT_TRIES /
					  (n * rf->b->topo->nep + 1));
	struct updown_order *const order = rf->order;
	struct updown_tree *const tree = rf->tree;
	struct roots_best best = {ROUTE_NONE, UINT64_MAX};
	int ret = 0;

	if (order == &rf->own_order) {
		ret = route_root(&rf->b->g, &best.root);
		if (ret == 0)
			ret = roots_own(rf, best.root);
	}
	rf->tree = &rf->own_tree;
	if (ret == 0)
		ret = roots_all(rf, order, tries, &best);
	if (ret == 0 && best.root != ROUTE_NONE)
		ret = roots_own(rf, best.root);
	if (best.root == ROUTE_NONE) {
		rf->order = order;
		rf->tree = tree;
	}
	if (ret != 0)
		return ret;
	reflit_tables(rf);
	return reflit_even(rf);
}

int
reflit_roots(struct reflit *rf)
{
	return rf->exact ? roots_exact(rf) : roots_bearable(rf);
}
