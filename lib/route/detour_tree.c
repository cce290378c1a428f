/* SPDX-License-Identifier: BSD-3-Clause */
#include "detour_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route_lanes.h"

/* Landings under construction: the depth, and in the low bits the number of the
 * arc among those of its node. The greatest is the deepest. */
#define KEY_ARC 0x1fff
#define KEY_DEPTH 13

_Static_assert(RL_FWD_PORTS_MAX <= KEY_ARC, "the arcs of a node fit");
_Static_assert(RL_DEVICES_MAX < INT32_MAX >> KEY_DEPTH, "depths fit");

static int
detour_alloc(struct detour_tree *d)
{
	const size_t n = d->g->nnode, lanes = n * ROUTE_TILE;
	uint32_t *m = malloc((7 * n + 6 * lanes + 2) * sizeof(*m));

	d->aside = malloc(((size_t)d->g->narc + 1) * sizeof(*d->aside));
	d->mem = m;
	if (m == NULL || d->aside == NULL) {
		detour_tree_free(d);
		return -ENOMEM;
	}
	d->above = (int32_t *)m;
	d->val = d->above + lanes;
	d->key = d->val + lanes;
	d->homes = m + 3 * lanes;
	d->nexts = d->homes + lanes;
	d->vias = d->nexts + lanes;
	d->order = d->vias + lanes;
	d->parent = d->order + n;
	d->depth = d->parent + n;
	d->top = d->depth + n;
	d->top_via = d->top + n;
	d->root = d->top_via + n;
	d->aside0 = d->root + n;
	return 0;
}

/*
 * Which of two candidates for the parent of node u to prefer: whether the later
 * one. Each node chooses for itself, so that a failure moves only its own
 * subtree. Usually the last is preferred (on grids, that of the last dimension
 * in dimension order). That makes a comb of a grid: in a torus, nodes cut off
 * by a switch of its back are reached the other way round. A mesh has no such
 * path, and neighbouring nodes choose different dimensions.
 */
static inline bool
detour_rather(uint32_t u, uint32_t later, uint32_t than, bool open)
{
	const uint32_t mix = u * 0x9e3779b1u;

	return !open ||
	       (later ^ mix) * 0x85ebca6bu < (than ^ mix) * 0x85ebca6bu;
}

/* Grows a breadth-first tree of the root's part, then of the other parts. */
static void
detour_grow(struct detour_tree *d, uint32_t root)
{
	const struct route_graph *g = d->g;
	const bool open = route_grid_ends(g->topo);
	uint32_t head = 0, tail = 0;

	memset(d->depth, 0xff, g->nnode * sizeof(*d->depth));
	memset(d->parent, 0xff, g->nnode * sizeof(*d->parent));
	for (uint32_t i = 0; i <= g->nnode; i++) {
		const uint32_t r = i == 0 ? root : i - 1;

		if (g->nnode == 0 || d->depth[r] != ROUTE_NONE)
			continue;
		d->depth[r] = 0;
		d->root[r] = r;
		d->order[tail++] = r;
		for (; head < tail; head++) {
			const uint32_t u = d->order[head];

			for (uint32_t a = g->first[u]; a < g->first[u + 1];
			     a++) {
				const uint32_t w = g->arc[a].to;

				if (d->depth[w] != ROUTE_NONE)
					continue;
				d->depth[w] = d->depth[u] + 1;
				d->root[w] = r;
				d->order[tail++] = w;
			}
		}
	}
	for (uint32_t u = 0; u < g->nnode; u++)
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
			if (d->depth[g->arc[a].to] + 1 == d->depth[u] &&
			    (d->parent[u] == ROUTE_NONE ||
			     detour_rather(u, g->arc[a].to,
					   g->arc[d->parent[u]].to, open)))
				d->parent[u] = a;
}

static inline bool
detour_in_tree(const struct detour_tree *d, uint32_t a)
{
	return d->parent[d->g->tail[a]] == a ||
	       d->parent[d->g->arc[a].to] == d->g->arc[a].back;
}

static uint32_t
detour_meet(const struct detour_tree *d, uint32_t u, uint32_t w)
{
	while (u != w) {
		if (d->depth[u] < d->depth[w])
			w = d->g->arc[d->parent[w]].to;
		else
			u = d->g->arc[d->parent[u]].to;
	}
	return d->depth[u];
}

/*
 * For every node, how high a link from its subtree leads out, and which link.
 */
static void
detour_tops(struct detour_tree *d)
{
	const struct route_graph *g = d->g;

	for (uint32_t i = g->nnode; i-- > 0;) {
		const uint32_t u = d->order[i];

		d->top[u] = d->depth[u];
		d->top_via[u] = ROUTE_NONE;
	}
	for (uint32_t i = g->nnode; i-- > 0;) {
		const uint32_t u = d->order[i], up = d->parent[u];

		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
			uint32_t meet;

			if (detour_in_tree(d, a))
				continue;
			meet = detour_meet(d, u, g->arc[a].to);
			if (meet < d->top[u]) {
				d->top[u] = meet;
				d->top_via[u] = a;
			}
		}
		if (up == ROUTE_NONE || d->top[u] >= d->top[g->arc[up].to])
			continue;
		d->top[g->arc[up].to] = d->top[u];
		d->top_via[g->arc[up].to] = g->arc[up].back;
	}
}

/* Collects the links of every node that are not in the tree. */
static void
detour_asides(struct detour_tree *d)
{
	const struct route_graph *g = d->g;
	uint32_t n = 0;

	for (uint32_t u = 0; u < g->nnode; u++) {
		d->aside0[u] = n;
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
			if (!detour_in_tree(d, a))
				d->aside[n++] = (struct route_ranked){
					g->arc[a].to,
					(int32_t)(a - g->first[u])};
	}
	d->aside0[g->nnode] = n;
}

int
detour_tree_init(struct detour_tree *d, const struct route_graph *g,
		  uint32_t root, unsigned int plane)
{
	memset(d, 0, sizeof(*d));
	d->g = g;
	d->away = plane;
	d->tree = plane + 1;
	if (detour_alloc(d) != 0)
		return -ENOMEM;
	detour_grow(d, root);
	detour_tops(d);
	detour_asides(d);
	return 0;
}

void
detour_tree_free(struct detour_tree *d)
{
	free(d->aside);
	free(d->mem);
	memset(d, 0, sizeof(*d));
}

static inline bool
detour_is_home(const struct detour_tree *d, uint32_t u)
{
	return d->home[d->root[u]] == u;
}

/* The homes of e: its first switch in each part. */
static void
detour_homes(struct detour_tree *d, uint32_t e)
{
	const struct route_graph *g = d->g;

	memset(d->home, 0xff, g->nnode * sizeof(*d->home));
	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t u = g->att[i].node;

		if (u != ROUTE_NONE && d->home[d->root[u]] == ROUTE_NONE)
			d->home[d->root[u]] = u;
	}
}

/* The tree path to the home of e, and its nodes. */
static void
detour_chain(struct detour_tree *d, uint32_t e, uint32_t lane)
{
	const struct route_graph *g = d->g;

	memcpy(d->next, d->parent, g->nnode * sizeof(*d->next));
	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		uint32_t u = g->att[i].node;

		if (u == ROUTE_NONE)
			continue;
		if (!detour_is_home(d, u)) {
			d->key[u * (size_t)ROUTE_TILE + lane] =
				(int32_t)(d->depth[d->home[d->root[u]]] + 1)
					<< KEY_DEPTH | KEY_ARC;
			continue;
		}
		d->next[u] = ROUTE_NONE;
		d->above[u * (size_t)ROUTE_TILE + lane] = -1;
		while (d->parent[u] != ROUTE_NONE) {
			const uint32_t up = g->arc[d->parent[u]].to;

			d->next[up] = g->arc[d->parent[u]].back;
			u = up;
			d->above[u * (size_t)ROUTE_TILE + lane] = -1;
		}
	}
}

/* Finds where each node's tree path leaves the path to the destination. */
static void
detour_part(struct detour_tree *d)
{
	const struct route_graph *g = d->g;

	for (uint32_t i = 0; i < g->nnode; i++) {
		const uint32_t u = d->order[i], p = d->parent[u];
		const uint32_t up = p == ROUTE_NONE ? u : g->arc[p].to;
		const struct route_v8 *above = route_v8_of(d->above, u);
		const struct route_v8 *from = route_v8_of(d->val, up);
		struct route_v8 *val = route_v8_at(d->val, u);
		const int32_t depth = (int32_t)d->depth[u];
		const int32_t whole = p == ROUTE_NONE ? 0 : -1;

		for (unsigned int k = 0; k < ROUTE_HALVES; k++)
			val->h[k] = route_v4_pick(above->h[k],
						  (route_v4){0} + depth,
						  from->h[k] & whole);
	}
}

static inline void
detour_store(struct detour_tree *d, uint32_t u)
{
	const size_t n = d->g->nnode;
	const int32_t f = (int32_t)d->g->first[u];
	const int32_t top = (int32_t)d->top_via[u];

	for (unsigned int i = 0; i < ROUTE_HALVES; i++) {
		const route_v4 key = route_v8_of(d->key, u)->h[i];
		const route_v4 above = route_v8_of(d->above, u)->h[i];
		const route_v4 arc = key & KEY_ARC;
		const route_v4 lands = (key >> KEY_DEPTH) >
				       route_v8_of(d->val, u)->h[i];
		const route_v4 jump = route_v4_pick(
			arc == KEY_ARC,
			(route_v4){0} + (int32_t)ROUTE_EJECT, arc + f);
		/* aside, if none lands deeper: out highest */
		const route_v4 via = route_v4_pick(lands, jump, above | top);

		for (unsigned int k = 0; k < 4; k++)
			d->vias[(4 * i + k) * n + u] = (uint32_t)via[k];
	}
}

static inline void
detour_offer(struct detour_tree *d, uint32_t u, uint32_t up, int32_t idx)
{
	const struct route_v8 *above = route_v8_of(d->above, u);
	const struct route_v8 *key = route_v8_of(d->key, u);
	struct route_v8 *to = route_v8_at(d->key, up);

	for (unsigned int k = 0; k < ROUTE_HALVES; k++)
		to->h[k] = route_v4_max(((key->h[k] & ~KEY_ARC) | idx) &
						~above->h[k], to->h[k]);
}

/*
 * The deepest landings from below, for all nodes. A node above the destination
 * offers its parent nothing: its subtree is on the side of the path.
 */
static void
detour_dive(struct detour_tree *d)
{
	const struct route_graph *g = d->g;

	for (uint32_t i = g->nnode; i-- > 0;) {
		const uint32_t u = d->order[i], p = d->parent[u];
		struct route_v8 *key = route_v8_at(d->key, u);
		struct route_v8 m = *key;

		for (uint32_t a = d->aside0[u]; a < d->aside0[u + 1]; a++) {
			const struct route_v8 *val =
				route_v8_of(d->val, d->aside[a].to);

			for (unsigned int k = 0; k < ROUTE_HALVES; k++)
				m.h[k] = route_v4_max(
					val->h[k] << KEY_DEPTH |
						d->aside[a].idx, m.h[k]);
		}
		*key = m;
		detour_store(d, u);
		if (p != ROUTE_NONE)
			detour_offer(d, u, g->arc[p].to,
				     (int32_t)(g->arc[p].back -
					       g->first[g->arc[p].to]));
	}
}

/*
 * What nodes above e do, from home upwards: jump, or climb on. e has switches
 * outside the subtrees of path nodes deeper than `aside`: these give a path
 * round those links, if no other does.
 */
static void
detour_climb(struct detour_tree *d, uint32_t lane, uint32_t home,
	     uint32_t aside)
{
	const struct route_graph *g = d->g;
	uint32_t deepest = aside != ROUTE_NONE ? d->depth[home] + 1 : 0;

	for (uint32_t u = home;;) {
		const uint32_t up = d->parent[u];
		const size_t at = (size_t)u * ROUTE_TILE + lane;
		const int32_t lands = d->key[at] >> KEY_DEPTH;
		const int32_t best = lands > d->val[at] ? lands : d->val[at];

		if (deepest != 0 && (uint32_t)best < deepest)
			d->via[u] = up;
		else
			deepest = 0;
		if (up == ROUTE_NONE)
			break;
		/* the link above u may be dead, if there is a path round it at
		 * all */
		if ((d->top[u] < d->depth[u] ||
		     (aside != ROUTE_NONE && aside < d->depth[u])) &&
		    deepest < d->depth[u])
			deepest = d->depth[u];
		u = g->arc[up].to;
	}
}

/*
 * Depth of the highest point where the paths from the root to e's switches in
 * the part of `home` separate; ROUTE_NONE: it has no other switch there.
 */
static uint32_t
detour_aside(const struct detour_tree *d, uint32_t e, uint32_t home)
{
	const struct route_graph *g = d->g;
	uint32_t least = ROUTE_NONE;

	for (uint32_t i = g->att0[e]; i < g->att0[e + 1]; i++) {
		const uint32_t w = g->att[i].node;

		if (w != ROUTE_NONE && w != home && d->root[w] == d->root[home])
			least = rl_min_u32(least, detour_meet(d, home, w));
	}
	return least;
}

void
detour_tree_plan(struct detour_tree *d, const uint32_t *e, uint32_t n)
{
	const struct route_graph *g = d->g;
	const size_t lanes = (size_t)g->nnode * ROUTE_TILE;

	RL_ASSERT(n >= 1 && n <= ROUTE_TILE);
	d->n = n;
	memset(d->above, 0, lanes * sizeof(*d->above));
	memset(d->key, 0, lanes * sizeof(*d->key));
	for (uint32_t k = 0; k < n; k++) {
		detour_tree_dst(d, k);
		detour_homes(d, e[k]);
		detour_chain(d, e[k], k);
	}
	detour_part(d);
	detour_dive(d);
	for (uint32_t k = 0; k < n; k++) {
		detour_tree_dst(d, k);
		for (uint32_t i = g->att0[e[k]]; i < g->att0[e[k] + 1]; i++) {
			const uint32_t u = g->att[i].node;

			if (u != ROUTE_NONE && detour_is_home(d, u))
				detour_climb(d, k, u,
					     detour_aside(d, e[k], u));
		}
	}
}

static void
detour_add_away(const struct detour_tree *d, struct route_hops *h, uint32_t u,
		uint32_t e)
{
	const uint32_t a = d->via[u];

	if (a == ROUTE_NONE)
		return;
	if (a == ROUTE_EJECT)
		route_hops_add_ep(h, d->g, u, e, d->tree, 1);
	else
		route_hops_add_arc(h, d->g, a, detour_in_tree(d, a) ? d->away :
				   d->tree, e, 1);
}

void
detour_tree_add(const struct detour_tree *d, struct route_hops *h, uint32_t u,
		 uint32_t e, uint32_t dead)
{
	if (d->home[d->root[u]] == ROUTE_NONE)
		return;
	if (d->next[u] != ROUTE_NONE && d->next[u] != dead)
		route_hops_add_arc(h, d->g, d->next[u], d->tree, e, 1);
	else if (detour_is_home(d, u) && dead != ROUTE_EJECT)
		route_hops_add_ep(h, d->g, u, e, d->tree, 1);
	else if (dead != ROUTE_EJECT || d->via[u] != ROUTE_EJECT)
		detour_add_away(d, h, u, e);
}

void
detour_tree_fill(const struct detour_tree *d, struct route_build *b,
		  uint32_t e)
{
	const struct route_graph *g = d->g;

	for (uint32_t u = 0; u < g->nnode; u++) {
		struct route_hops h;

		if (d->home[d->root[u]] == ROUTE_NONE)
			continue;
		route_hops_init(&h);
		detour_add_away(d, &h, u, e);
		route_put(b, u, d->away, e, &h);
		route_hops_init(&h);
		if (detour_is_home(d, u))
			route_hops_add_ep(&h, g, u, e, d->tree, RL_FWD_ALTS);
		else if (d->next[u] != ROUTE_NONE)
			route_hops_add_arc(&h, g, d->next[u], d->tree, e,
					   RL_FWD_ALTS);
		route_put(b, u, d->tree, e, &h);
	}
}

void
detour_tree_most(struct route_build *b, unsigned int plane)
{
	b->most[plane] = 1;
	b->most[plane + 1] = 1;
}

void
detour_tree_vls(struct route_build *b, unsigned int plane, uint8_t vl)
{
	for (unsigned int i = 0; i < 2; i++) {
		route_plane_vl(b, plane + i, (uint8_t)(vl + i));
		for (unsigned int sl = 0; sl < RL_SLS; sl++)
			route_plane_of(b, (uint8_t)(vl + i), (uint8_t)sl,
				       (uint8_t)(plane + i));
	}
	b->route->detour_vls = (uint8_t)(b->route->detour_vls + 2);
}
