/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balances loads on shortest paths. A breadth-first search chooses for one
 * destination after the other, and the first ones do not know where crowds will
 * form. So all choose again, one destination at a time, with the flows of all
 * others on the links: its own are removed, and put where there is room. That
 * is repeated as long as it helps.
 *
 * The cost of a path is the sum over its links of the fourth power of their
 * loads: the busiest counts most. Nodes far from the destination choose first.
 * Once a node has chosen, its flows count at its next node. All arithmetic is
 * in integers: the same on any machine.
 *
 * Endpoints with several links use the nearest switch at first. Then there are
 * rounds in which they choose, too, and may take one that is a link farther
 * away. Their result is kept if the busiest link carries an eighth less.
 */
#include <stdlib.h>
#include <string.h>

#include "reflit_quality.h"
#include "route_bfs.h"

/* Rounds without a gain before the end, and rounds in total. */
#define SETTLE_IDLE 4
#define SETTLE_ROUNDS 64
/* Loads are scaled below this: eight links of its fourth power fit a word. */
#define SETTLE_MOST (1u << 15)
#define SETTLE_NONE UINT64_MAX
/* What part of the busiest load paths by a farther switch must save. */
#define SETTLE_LONGER 8

struct settle {
	struct route_bfs *n;
	const struct route_graph *g;
	uint64_t *cost;	    /* [node] of the best path from it */
	unsigned int shift; /* of loads */
	bool longer; /* endpoints may choose a switch that is not the nearest */
};

static inline uint64_t
settle_weight(const struct settle *s, uint32_t a, uint32_t flows)
{
	uint64_t l = s->n->load[a] + flows;

	/* most arcs are one link; a division is slow */
	if (rl_unlikely(s->g->only[a] == ROUTE_PORTS))
		l /= s->g->arc[a].nport;
	l >>= s->shift;
	l = rl_min_u64(l + 1, SETTLE_MOST - 1);
	return l * l * l * l;
}

static inline bool
settle_nearer(const struct settle *s, uint32_t u, uint32_t a)
{
	return s->n->dist[s->g->arc[a].to] < s->n->dist[u];
}

/* Cost from node u on, if that many flows go on. */
static uint64_t
settle_cost(const struct settle *s, uint32_t u, uint32_t flows)
{
	uint64_t best = SETTLE_NONE;

	if (s->n->dist[u] == 0)
		return 0;
	for (uint32_t a = s->g->first[u]; a < s->g->first[u + 1]; a++)
		if (settle_nearer(s, u, a))
			best = rl_min_u64(best, settle_weight(s, a, flows) +
						s->cost[s->g->arc[a].to]);
	return best;
}

static void
settle_remove(struct settle *s, const uint16_t *way)
{
	struct route_bfs *n = s->n;

	for (uint32_t i = n->nqueue; i-- > 0;) {
		const uint32_t u = n->queue[i];
		uint32_t a;

		if (way[u] == ROUTE_WAY_NONE)
			continue;
		a = s->g->first[u] + way[u];
		n->load[a] -= n->flows[u];
		n->flows[s->g->arc[a].to] += n->flows[u];
	}
}

/* The best arc of node u to endpoint e; of equal ones each destination starts
 * with a different one. */
static uint16_t
settle_best(const struct settle *s, uint32_t u, uint32_t e)
{
	const struct route_graph *g = s->g;
	const uint32_t first = g->first[u], narc = g->first[u + 1] - first;
	uint64_t best = SETTLE_NONE;
	uint16_t way = ROUTE_WAY_NONE;
	uint32_t k = e % narc;

	for (uint32_t i = 0; i < narc; i++) {
		if (settle_nearer(s, u, first + k)) {
			const uint64_t c =
				settle_weight(s, first + k, s->n->flows[u]) +
				s->cost[g->arc[first + k].to];

			if (c < best) {
				best = c;
				way = (uint16_t)k;
			}
		}
		k = k + 1 == narc ? 0 : k + 1;
	}
	return way;
}

static uint16_t
settle_uplink(const struct settle *s, uint32_t src, uint32_t e)
{
	const struct route_bfs *n = s->n;
	const struct route_att *att = &s->g->att[s->g->att0[src]];
	const uint32_t natt = s->g->att0[src + 1] - s->g->att0[src];
	uint64_t best = SETTLE_NONE;
	uint32_t nearest = ROUTE_NONE;
	uint16_t up = ROUTE_WAY_NONE;

	for (uint32_t i = 0; i < natt; i++)
		if (att[i].node != ROUTE_NONE)
			nearest = rl_min_u32(nearest, n->dist[att[i].node]);
	for (uint32_t i = 0; i < natt; i++) {
		const uint32_t k = (i + e) % natt, u = att[k].node;
		uint64_t c;

		if (u == ROUTE_NONE || n->dist[u] == ROUTE_NONE ||
		    n->dist[u] > nearest + 1)
			continue;
		c = settle_cost(s, u, n->flows[u] + 1);
		if (c < best) {
			best = c;
			up = (uint16_t)k;
		}
	}
	return up;
}

/* Endpoints with several links choose again, too, one after the other. */
static void
settle_flows(struct settle *s, uint32_t e)
{
	const struct route_graph *g = s->g;
	struct route_bfs *n = s->n;

	if (!s->longer) {
		route_bfs_flows(n, g, e);
		return;
	}
	for (uint32_t i = 0; i < n->nqueue; i++)
		n->flows[n->queue[i]] = n->hosts[n->queue[i]];
	for (uint32_t src = 0; src < g->topo->nep; src++) {
		uint16_t *up = &n->up[src * (size_t)g->topo->nep + e];

		if (src == e || g->att0[src + 1] - g->att0[src] < 2)
			continue;
		*up = settle_uplink(s, src, e);
		if (*up != ROUTE_WAY_NONE)
			n->flows[g->att[g->att0[src] + *up].node]++;
	}
}

/* Chooses the paths to endpoint e again. */
static void
settle_endpoint(struct settle *s, uint32_t e)
{
	const struct route_graph *g = s->g;
	struct route_bfs *n = s->n;
	uint16_t *way = n->way + (size_t)e * g->nnode;

	route_bfs_search(n, g, e);
	route_bfs_flows(n, g, e);
	settle_remove(s, way);
	for (uint32_t i = 0; i < n->nqueue; i++)
		s->cost[n->queue[i]] = settle_cost(s, n->queue[i], 0);
	settle_flows(s, e);
	for (uint32_t i = n->nqueue; i-- > 0;) {
		const uint32_t u = n->queue[i];
		uint32_t a, to;

		if (n->dist[u] == 0)
			continue;
		way[u] = settle_best(s, u, e);
		a = g->first[u] + way[u];
		to = g->arc[a].to;
		n->load[a] += n->flows[u];
		n->flows[to] += n->flows[u];
		s->cost[to] = settle_cost(s, to, n->flows[to]);
	}
}

/*
 * Rounds until the end; *kept has the best paths, if their busiest load is below
 * @p best. Returns that load, or @p best.
 */
static uint64_t
settle_rounds(struct settle *s, uint64_t best, uint16_t *kept, size_t size)
{
	const uint64_t arcs = (uint64_t)s->g->topo->nep * s->g->narc;
	unsigned int idle = 0;

	for (unsigned int i = 0; i < SETTLE_ROUNDS && idle < SETTLE_IDLE &&
	     i * arcs < ROUTE_SETTLE_ARCS; i++) {
		uint64_t now;

		for (uint32_t e = 0; e < s->g->topo->nep; e++)
			settle_endpoint(s, e);
		now = any_busiest(s->g, s->n->load);
		idle++;
		if (now < best) {
			best = now;
			memcpy(kept, s->n->way, size);
			idle = 0;
		}
	}
	return best;
}

bool
route_bfs_settle(struct route_bfs *n, const struct route_graph *g,
		 uint64_t *busiest)
{
	const size_t size = route_bfs_bytes(n, g);
	struct settle s = {.n = n, .g = g};
	uint64_t least, longer;
	uint16_t *kept = malloc(size + 1);

	s.cost = malloc((g->nnode + 1u) * sizeof(*s.cost));
	if (kept == NULL || s.cost == NULL) {
		free(s.cost);
		free(kept);
		return false;
	}
	memcpy(kept, n->way, size);
	least = any_busiest(g, n->load);
	while (least >> s.shift >= SETTLE_MOST / 2)
		s.shift++;
	*busiest = settle_rounds(&s, least, kept, size);
	if (n->several != 0) {
		s.longer = true;
		least = *busiest - *busiest / SETTLE_LONGER;
		longer = settle_rounds(&s, least, kept, size);
		if (longer < least) /* kept */
			*busiest = longer;
	}
	free(s.cost);
	route_bfs_take(n, g, kept);
	return true;
}

void
route_bfs_kept(struct route_bfs *n, const struct route_graph *g, uint32_t e)
{
	const uint16_t *way = n->way + (size_t)e * g->nnode;

	route_bfs_search(n, g, e);
	for (uint32_t i = 0; i < n->nqueue; i++) {
		const uint32_t u = n->queue[i];

		n->next[u] = way[u] == ROUTE_WAY_NONE ? ROUTE_NONE :
							g->first[u] + way[u];
	}
}
