/* SPDX-License-Identifier: BSD-3-Clause */
/* Path classes of the engine reflit, one destination at a time. */
#include <string.h>

#include "reflit_grid.h"

/*
 * The direction from coordinate `from` to `to` of dimension d on paths to
 * dor->to. Of two equally long ones, alternate nodes of a ring take one, and
 * alternate destinations the other: each direction gets half of these paths,
 * and no link more than its share.
 */
static unsigned int
dor_way(const struct route_grid *gr, const struct reflit_dor *dor,
	unsigned int d, uint32_t from, uint32_t to, uint32_t *hops)
{
	const unsigned int way = route_grid_short(gr, d, from, to, hops);
	uint32_t sum = from;

	if (!gr->wrap[d] || 2 * *hops != gr->radix[d])
		return way;
	for (unsigned int k = 0; k < gr->ndims; k++)
		sum += k != d ? gr->coord[dor->to][k] : 0;
	return sum & 1;
}

/* The nodes of a row (which differ only in dimensions after d): a leg of
 * dimension d, then as from the node v of the same row at the corner. */
static void
dor_row(const struct route_grid *gr, uint32_t u, uint32_t v, unsigned int d,
	struct reflit_dor *dor, uint32_t *least)
{
	const uint32_t from = gr->coord[u][d], to = gr->coord[v][d];
	uint32_t hops[2], n = gr->stride[d];
	const unsigned int way = dor_way(gr, dor, d, from, to, &hops[0]);

	hops[1] = gr->radix[d] - hops[0];
	for (; n > 0; n--, u++, v++) {
		unsigned int w = way, other = 0;

		if (least != NULL)
			least[u] = hops[0] + least[v];
		if (gr->run[u][2 * d + w] < hops[0]) {
			w ^= 1;
			other = 1;
		}
		if (gr->run[u][2 * d + w] < hops[other]) {
			dor->first[u] = ROUTE_NONE;
			dor->cost[u] = REFLIT_COST_NONE;
			continue;
		}
		dor->first[u] = gr->arc[u][2 * d + w];
		dor->wraps[u] = w == 0 ? from > to : from < to;
		dor->cost[u] = dor->cost[v] == REFLIT_COST_NONE ?
				       REFLIT_COST_NONE :
				       dor->cost[v] + hops[other];
	}
}

void
reflit_dor_all(const struct route_grid *gr, uint32_t t, struct reflit_dor *dor,
	       uint32_t *least)
{
	dor->to = t;
	dor->first[t] = ROUTE_NONE;
	dor->cost[t] = 0;
	dor->wraps[t] = false;
	if (least != NULL)
		least[t] = 0;
	/* from the last dimension back: each corner before its users */
	for (unsigned int d = gr->ndims; d-- > 0;) {
		const uint32_t block = gr->stride[d] * gr->radix[d];
		const uint32_t base = t - t % block;
		const uint32_t at = gr->coord[t][d];

		for (uint32_t c = 0; c < gr->radix[d]; c++)
			if (c != at)
				dor_row(gr, base + c * gr->stride[d],
					base + at * gr->stride[d], d, dor,
					least);
	}
}

/*
 * Costs of a class that goes up, or changes to DOR at a cost dor[node], or goes
 * down. Upper nodes come first in the order, and depend on no others. If DOR
 * takes no more than least[node] (which may be NULL), nothing is better.
 */
static void
classes_up(const struct reflit *rf, const uint32_t *dor, const uint32_t *least,
	   uint32_t *cost, uint32_t *next)
{
	const struct updown_order *o = rf->order;
	const struct updown_tree *t = rf->tree;

	for (uint32_t i = 0; i < rf->b->g.nnode; i++) {
		const uint32_t u = o->node[i];
		uint32_t best = REFLIT_COST_NONE - 1;

		next[u] = t->next[u];
		if (t->down[u]) {
			cost[u] = t->dist[u];
			continue;
		}
		if (least != NULL && dor[u] == least[u]) {
			cost[u] = dor[u];
			next[u] = ROUTE_NONE;
			continue;
		}
		for (uint32_t k = o->g->first[u]; k < o->middle[u]; k++) {
			const struct route_ranked *up = &o->ranked[k];

			if (cost[up->to] < best) {
				best = cost[up->to];
				next[u] = o->g->first[u] + (uint32_t)up->idx;
			}
		}
		cost[u] = best + 1;
		if (dor[u] <= cost[u]) {
			cost[u] = dor[u];
			next[u] = ROUTE_NONE;
		}
	}
}

static void
classes_late(struct reflit *rf, uint32_t w)
{
	const struct route_graph *g = &rf->b->g;

	reflit_dor_all(&rf->gr, w, &rf->dor_p[0], NULL);
	memset(rf->via, 0, g->nnode * sizeof(*rf->via));
	for (uint32_t u = 0; u < g->nnode; u++) {
		rf->late_cost[u] = rf->dor_p[0].cost[u];
		if (rf->late_cost[u] != REFLIT_COST_NONE)
			rf->late_cost[u] += rf->tree->dist[w];
	}
}

static uint32_t
reflit_least(const struct route_grid *gr, uint32_t s, uint32_t t)
{
	uint32_t sum = 0;

	for (unsigned int d = 0; d < gr->ndims; d++) {
		uint32_t hops;

		route_grid_short(gr, d, gr->coord[s][d], gr->coord[t][d],
				 &hops);
		sum += hops;
	}
	return sum;
}

/* Penalty of a path with extra links: most paths that failures affect need two
 * more than their positions. */
static inline uint64_t
classes_penalty(const struct reflit *rf, uint64_t extra)
{
	return rf->exact || extra > 2 ? extra * extra * extra : 0;
}

static uint64_t
classes_cost(const struct reflit *rf)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < rf->b->g.nnode; s++)
		sum += classes_penalty(rf, reflit_extra(rf, s));
	return sum;
}

/* Sources with a penalty while there is no proxy: only they gain by one. */
static uint32_t
classes_stretched(const struct reflit *rf, uint32_t *who)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < rf->b->g.nnode; s++)
		if (classes_penalty(rf, reflit_extra(rf, s)) != 0)
			who[n++] = s;
	return n;
}

/* A lower bound of the sum with proxy w: assumes that nothing has failed
 * between them and w. */
static uint64_t
classes_bound(const struct reflit *rf, uint32_t w, const uint32_t *who,
	     uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t s = who[i];
		uint32_t best, cost = rf->tree->dist[w];

		reflit_choose(rf, s, &best);
		cost += reflit_least(&rf->gr, s, w);
		cost = rl_max_u32(rl_min_u32(cost, best), rf->least[s]);
		sum += classes_penalty(rf, cost - rf->least[s]);
	}
	return sum;
}

/* Tries every neighbour above t as its proxy, and keeps the best. */
static void
classes_proxy(struct reflit *rf, uint64_t cost_now)
{
	const struct updown_order *o = rf->order;
	uint32_t *who = rf->stretched, n;
	uint32_t best = ROUTE_NONE;

	n = classes_stretched(rf, who);
	for (uint32_t k = o->g->first[rf->t]; k < o->middle[rf->t]; k++) {
		const uint32_t w = o->ranked[k].to;
		uint64_t p;

		rf->proxy = ROUTE_NONE;
		if (classes_bound(rf, w, who, n) >= cost_now)
			continue;
		rf->proxy = w;
		classes_late(rf, w);
		classes_up(rf, rf->late_cost, NULL, rf->both_cost,
			   rf->both_next);
		p = classes_cost(rf);
		if (p < cost_now) {
			cost_now = p;
			best = w;
		}
	}
	rf->proxy = best;
	if (best == ROUTE_NONE)
		return;
	classes_late(rf, best);
	classes_up(rf, rf->late_cost, NULL, rf->both_cost, rf->both_next);
}

/* The highest cost of interest: late_cost only helps nodes with a longer path
 * than necessary. */
static uint32_t
classes_most(const struct reflit *rf)
{
	uint32_t most = 0;

	for (uint32_t u = 0; u < rf->b->g.nnode; u++) {
		const uint32_t extra = reflit_extra(rf, u);

		if (extra != 0)
			most = rl_max_u32(most, rf->least[u] + extra - 1);
	}
	return most;
}

/* The possible proxies: nodes that go down to t, and nodes with a shortest path
 * aside. */
static uint32_t
classes_above(struct reflit *rf)
{
	const struct updown_tree *tree = rf->tree;
	uint32_t n = 0;

	for (uint32_t u = 0; u < rf->b->g.nnode; u++) {
		const bool aside = reflit_goes_aside(rf, u);

		if (u == rf->t || route_grid_dead(&rf->gr, u) ||
		    (!tree->down[u] && !aside))
			continue;
		rf->ex.rest[u] = aside ? rf->aside[u] : tree->dist[u];
		rf->ex.at[n] = 0;
		rf->ex.above[n++] = (uint16_t)u;
	}
	return n;
}

/* Whether node u goes to proxy w through nodes that all do. */
static bool
classes_goes(const struct reflit *rf, uint32_t u, uint32_t w)
{
	return u == w ||
	       rf->via[rf->b->g.arc[rf->dor_p[w].first[u]].to] == w;
}

/* Proxy w serves the nodes c links away, as far as they go to it. */
static void
classes_serve(struct reflit *rf, uint32_t w, uint32_t c, uint32_t *at)
{
	const uint16_t *list = rf->ex.by_cost + (size_t)w * rf->b->g.nnode;
	const uint32_t *cost = rf->dor_p[w].cost;

	for (; *at < rf->ex.reach[w] && cost[list[*at]] <= c; ++*at) {
		const uint32_t u = list[*at];

		if (rf->via[u] != REFLIT_VIA_NONE || u == rf->t ||
		    !classes_goes(rf, u, w))
			continue;
		rf->via[u] = (uint16_t)w;
		rf->late_cost[u] = c + rf->ex.rest[w];
	}
}

/*
 * All proxies at once: each node takes the one that gives it the shortest path,
 * of those that the next node on the path takes, too. So a packet has the same
 * one on its whole path, and its path is dimension order. Nodes are visited by
 * path length: the next one has always chosen before.
 */
static void
classes_together(struct reflit *rf)
{
	const uint32_t n = rf->b->g.nnode;
	const uint32_t most = classes_most(rf), nw = classes_above(rf);

	for (uint32_t u = 0; u < n; u++) {
		rf->via[u] = REFLIT_VIA_NONE;
		rf->late_cost[u] = REFLIT_COST_NONE;
	}
	for (uint32_t c = 1; c <= most; c++)
		for (uint32_t i = 0; i < nw; i++) {
			const uint32_t w = rf->ex.above[i];
			const uint32_t rest = rf->ex.rest[w];

			if (rest <= c)
				classes_serve(rf, w, c - rest, &rf->ex.at[i]);
		}
	rf->proxy = nw != 0 ? rf->ex.above[0] : ROUTE_NONE;
}

/* If the shortest paths are known: all proxies, if they help. */
static void
classes_proxies(struct reflit *rf, uint64_t cost_now)
{
	classes_together(rf);
	if (rf->proxy == ROUTE_NONE)
		return;
	classes_up(rf, rf->late_cost, NULL, rf->both_cost, rf->both_next);
	if (classes_cost(rf) >= cost_now)
		rf->proxy = ROUTE_NONE;
}

void
reflit_grid_classes(struct reflit *rf)
{
	uint64_t cost_now;

	rf->proxy = ROUTE_NONE;
	classes_up(rf, rf->dor_t.cost, rf->least, rf->up_cost, rf->up_next);
	cost_now = classes_cost(rf);
	if (cost_now != 0 && rf->exact)
		classes_proxies(rf, cost_now);
	else if (cost_now != 0)
		classes_proxy(rf, cost_now);
}

uint8_t
reflit_choose(const struct reflit *rf, uint32_t s, uint32_t *cost)
{
	uint8_t sl = REFLIT_SL_DIRECT;

	*cost = rf->dor_t.cost[s];
	if (rf->up_cost[s] < *cost) {
		*cost = rf->up_cost[s];
		sl = REFLIT_SL_UP;
	}
	if (rf->proxy != ROUTE_NONE && rf->late_cost[s] < *cost) {
		*cost = rf->late_cost[s];
		sl = REFLIT_SL_LATE;
	}
	if (rf->proxy != ROUTE_NONE && rf->both_cost[s] < *cost) {
		*cost = rf->both_cost[s];
		sl = REFLIT_SL_BOTH;
	}
	if (rf->aside != NULL && rf->aside[s] < *cost) {
		*cost = rf->aside[s];
		sl = REFLIT_SL_ASIDE;
	}
	return sl;
}

uint32_t
reflit_extra(const struct reflit *rf, uint32_t s)
{
	uint32_t cost;

	if (rf->dor_t.cost[s] == rf->least[s] || s == rf->t ||
	    route_grid_dead(&rf->gr, s))
		return 0;
	reflit_choose(rf, s, &cost);
	return cost < REFLIT_COST_NONE ? cost - rf->least[s] : 0;
}
