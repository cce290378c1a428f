/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A path is one number, so that the best is the least: from bit 14 on its hops,
 * in bit 13 whether it begins with the arc to avoid, and below that the number
 * of the arc among those of its node, XORed with a value that depends on node
 * and destination.
 */
#include "updown_trees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_ARC 0x1fff
#define KEY_AVOID 0x2000
#define KEY_HOP 0x4000
#define KEY_HOPS (~(KEY_HOP - 1))
#define KEY_NONE (1 << 30)

_Static_assert(RL_FWD_PORTS_MAX <= KEY_ARC, "the arcs of a node fit");
_Static_assert(RL_DEVICES_MAX < KEY_NONE / KEY_HOP, "hops fit");

int
updown_trees_init(struct updown_trees *ts, uint32_t nnode)
{
	const size_t n = (size_t)nnode * ROUTE_TILE + 1;

	ts->key = malloc(n * sizeof(*ts->key));
	ts->avoid = malloc(n * sizeof(*ts->avoid));
	ts->turn = calloc(ROUTE_TILE, sizeof(*ts->turn));
	ts->dist = malloc(n * sizeof(*ts->dist));
	ts->next = malloc(n * sizeof(*ts->next));
	ts->down = malloc(n);
	if (ts->key == NULL || ts->avoid == NULL || ts->turn == NULL ||
	    ts->dist == NULL || ts->next == NULL ||
	    ts->down == NULL) {
		updown_trees_free(ts);
		return -ENOMEM;
	}
	return 0;
}

void
updown_trees_free(struct updown_trees *ts)
{
	free(ts->key);
	free(ts->avoid);
	free(ts->turn);
	free(ts->dist);
	free(ts->next);
	free(ts->down);
	memset(ts, 0, sizeof(*ts));
}

/* XOR values for the arcs of a node, and which to avoid, in each lane. */
struct trees_node {
	struct route_v8 turn;
	struct route_v8 avoid;
};

static inline void
trees_node(const struct updown_trees *ts, uint32_t u, struct trees_node *x)
{
	const struct updown_order *o = ts->o;
	const int32_t turn = (int32_t)(u * 0x9e3779b1u >> 16);
	const int32_t mask = (int32_t)o->arc_mask[u];
	const struct route_v8 *t = route_v8_of(ts->turn, 0);

	for (unsigned int i = 0; i < ROUTE_HALVES; i++)
		x->turn.h[i] = (t->h[i] ^ turn) & mask;
	x->avoid = *route_v8_of(ts->avoid, u);
}

/* The best of the paths by some of a node's arcs. */
static inline struct route_v8
trees_best(const struct updown_trees *ts, const struct trees_node *x,
	   const struct route_ranked *a, const struct route_ranked *end)
{
	struct route_v8 m;

	for (unsigned int i = 0; i < ROUTE_HALVES; i++)
		m.h[i] = (route_v4){0} + KEY_NONE;
	for (; a < end; a++) {
		const struct route_v8 *c = route_v8_of(ts->key, a->to);

		for (unsigned int i = 0; i < ROUTE_HALVES; i++) {
			const route_v4 v =
				(c->h[i] & KEY_HOPS) + KEY_HOP +
				((x->avoid.h[i] == a->idx) & KEY_AVOID) +
				(x->turn.h[i] ^ a->idx);

			m.h[i] = route_v4_min(v, m.h[i]);
		}
	}
	return m;
}

static void
trees_avoid(struct updown_trees *ts, const uint32_t *const *avoid)
{
	const struct route_graph *g = ts->o->g;

	for (uint32_t k = 0; k < ROUTE_TILE; k++) {
		const bool any = avoid != NULL && k < ts->n && avoid[k] != NULL;

		for (uint32_t u = 0; u < g->nnode; u++)
			ts->avoid[u * (size_t)ROUTE_TILE + k] =
				any ? (int32_t)(avoid[k][u] - g->first[u]) : -1;
	}
}

/* Sets the nodes to which the destinations are attached, in their lanes. */
static void
trees_ends(struct updown_trees *ts)
{
	const struct route_graph *g = ts->o->g;

	for (uint32_t k = 0; k < ts->n; k++)
		for (uint32_t i = g->att0[ts->e[k]];
		     i < g->att0[ts->e[k] + 1]; i++)
			if (g->att[i].node != ROUTE_NONE)
				ts->key[g->att[i].node * (size_t)ROUTE_TILE +
					k] = 0;
}

/* Nodes that can go down all the way: 0 stays 0, at the end of the path. */
static void
trees_down(struct updown_trees *ts)
{
	const struct updown_order *o = ts->o;
	struct trees_node x;

	for (uint32_t i = o->g->nnode; i-- > 0;) {
		const uint32_t u = o->node[i];
		struct route_v8 *key = route_v8_at(ts->key, u);
		struct route_v8 best;

		trees_node(ts, u, &x);
		best = trees_best(ts, &x, o->ranked + o->middle[u],
				  o->ranked + o->g->first[u + 1]);
		for (unsigned int k = 0; k < ROUTE_HALVES; k++)
			key->h[k] = route_v4_min(key->h[k], best.h[k]);
	}
}

static inline void
trees_store(struct updown_trees *ts, uint32_t u, const struct trees_node *x,
	    const struct route_v8 *down)
{
	const size_t n = ts->o->g->nnode;
	const int32_t f = (int32_t)ts->o->g->first[u];
	const struct route_v8 *key = route_v8_of(ts->key, u);

	for (unsigned int i = 0; i < ROUTE_HALVES; i++) {
		const route_v4 none = key->h[i] == KEY_NONE;
		const route_v4 dist = route_v4_pick(
			none, (route_v4){0} + (int32_t)ROUTE_FAR,
			key->h[i] / KEY_HOP);
		const route_v4 next =
			(((key->h[i] & KEY_ARC) ^ x->turn.h[i]) + f) |
			none | (key->h[i] == 0);

		for (unsigned int k = 0; k < 4; k++) {
			const size_t at = (4 * i + k) * n + u;

			ts->dist[at] = (uint32_t)dist[k];
			ts->next[at] = (uint32_t)next[k];
			ts->down[at] = down->h[i][k] != 0;
		}
	}
}

/* The others go up. */
static void
trees_up(struct updown_trees *ts)
{
	const struct updown_order *o = ts->o;
	struct trees_node x;

	for (uint32_t i = 0; i < o->g->nnode; i++) {
		const uint32_t u = o->node[i];
		struct route_v8 *key = route_v8_at(ts->key, u);
		struct route_v8 best, down;

		trees_node(ts, u, &x);
		best = trees_best(ts, &x, o->ranked + o->g->first[u],
				  o->ranked + o->middle[u]);
		for (unsigned int k = 0; k < ROUTE_HALVES; k++) {
			down.h[k] = key->h[k] != KEY_NONE;
			key->h[k] = route_v4_pick(down.h[k], key->h[k],
						  best.h[k]);
		}
		trees_store(ts, u, &x, &down);
	}
}

static void
trees_run(struct updown_trees *ts, const struct updown_order *o)
{
	for (uint32_t k = 0; k < ts->n; k++)
		ts->turn[k] = (int32_t)(ts->e[k] * 0x85ebca6bu >> 16);
	for (size_t i = 0; i < (size_t)o->g->nnode * ROUTE_TILE; i++)
		ts->key[i] = KEY_NONE;
	trees_ends(ts);
	trees_down(ts);
	trees_up(ts);
}

static void
trees_begin(struct updown_trees *ts, const struct updown_order *o,
	    const uint32_t *e, uint32_t n)
{
	RL_ASSERT(n >= 1 && n <= ROUTE_TILE);
	ts->o = o;
	ts->n = n;
	memcpy(ts->e, e, n * sizeof(*e));
}

void
updown_trees_fill(struct updown_trees *ts, const struct updown_order *o,
		 const uint32_t *e, uint32_t n, const uint32_t *const *avoid)
{
	trees_begin(ts, o, e, n);
	trees_avoid(ts, avoid);
	trees_run(ts, o);
}
