/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random regular graphs [ROUTE-8], as Jellyfish uses them. A circulant graph -
 * each switch linked to its nearest on a circle - has the right degree. Two of
 * its links, a-b and c-d, become a-c and b-d if that makes no loop and no
 * parallel links; after some tens of such exchanges per link nothing of the
 * circle is left, and all graphs of that degree are about equally likely. If
 * the graph is not connected, the exchanges go on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_prng.h"
#include "topo_impl.h"

/* Exchanges tried for each link. */
#define RANDOM_EXCHANGES 32
/* Graphs tried until one is connected. */
#define RANDOM_TRIES 64

struct random_graph {
	uint32_t n;
	uint32_t degree;
	uint32_t nlink;
	uint16_t (*link)[2];
	uint16_t *near; /* [n][degree]: neighbours of each switch */
	uint16_t *todo; /* [n], for the search */
	bool *seen;	/* [n] */
	struct rl_prng prng;
};

int
topo_size_random(struct topo_build *b, struct topo_size *size)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	const uint64_t n = spec->n, degree = spec->degree;

	if (degree < 3 || degree >= n)
		return topo_error(b, 0, "%u switches of degree %u; the degree "
					"is at least 3 and below the number of "
					"switches", spec->n, spec->degree);
	if (n * degree % 2 != 0)
		return topo_error(b, 0, "%u switches of degree %u have half a "
					"link too many; make one of the two "
					"even", spec->n, spec->degree);
	if (spec->hosts_per_switch == 0)
		return topo_error(b, 0, "hosts_per_switch is 0; the least is 1");
	size->switches = n;
	size->endpoints = n * spec->hosts_per_switch;
	size->links = size->endpoints + n * degree / 2;
	return 0;
}

static bool
random_joined(const struct random_graph *g, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < g->degree; i++)
		if (g->near[a * g->degree + i] == b)
			return true;
	return false;
}

static void
random_replace(struct random_graph *g, uint32_t u, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < g->degree; i++) {
		if (g->near[u * g->degree + i] == from) {
			g->near[u * g->degree + i] = (uint16_t)to;
			return;
		}
	}
	RL_ASSERT(false);
}

/* The nearest on a circle; also the one opposite if the degree is odd. */
static void
random_circle(struct random_graph *g)
{
	uint16_t *have = g->todo; /* neighbours so far; all zero */
	uint32_t nlink = 0;

	for (uint32_t d = 1; d <= g->n / 2; d++) {
		const bool opposite = d * 2 == g->n;
		const bool wanted = d <= g->degree / 2 ||
				    (g->degree % 2 != 0 && opposite);

		for (uint32_t u = 0; wanted && u < (opposite ? d : g->n); u++) {
			const uint32_t v = (u + d) % g->n;

			g->link[nlink][0] = (uint16_t)u;
			g->link[nlink++][1] = (uint16_t)v;
			g->near[u * g->degree + have[u]++] = (uint16_t)v;
			g->near[v * g->degree + have[v]++] = (uint16_t)u;
		}
	}
	RL_ASSERT(nlink == g->nlink);
}

static void
random_exchange(struct random_graph *g)
{
	const uint32_t i = rl_prng_below(&g->prng, g->nlink);
	const uint32_t j = rl_prng_below(&g->prng, g->nlink);
	const uint32_t turn = rl_prng_below(&g->prng, 2);
	const uint32_t a = g->link[i][0], b = g->link[i][1];
	const uint32_t c = g->link[j][turn], d = g->link[j][!turn];

	if (a == c || a == d || b == c || b == d || random_joined(g, a, c) ||
	    random_joined(g, b, d))
		return;
	random_replace(g, a, b, c);
	random_replace(g, b, a, d);
	random_replace(g, c, d, a);
	random_replace(g, d, c, b);
	g->link[i][1] = (uint16_t)c;
	g->link[j][0] = (uint16_t)b;
	g->link[j][1] = (uint16_t)d;
}

static bool
random_connected(struct random_graph *g)
{
	uint32_t n = 1;

	memset(g->seen, 0, g->n * sizeof(*g->seen));
	g->seen[0] = true;
	g->todo[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t *near = &g->near[g->todo[i] * g->degree];

		for (uint32_t k = 0; k < g->degree; k++) {
			if (g->seen[near[k]])
				continue;
			g->seen[near[k]] = true;
			g->todo[n++] = near[k];
		}
	}
	return n == g->n;
}

static int
random_make(struct topo_build *b, struct random_graph *g)
{
	random_circle(g);
	rl_prng_seed(&g->prng, b->t->spec.seed);
	for (int i = 0; i < RANDOM_TRIES; i++) {
		for (uint32_t k = 0; k < RANDOM_EXCHANGES * g->nlink; k++)
			random_exchange(g);
		if (random_connected(g))
			return 0;
	}
	return topo_error(b, 0, "none of %d random graphs was connected; give "
				"a larger degree", RANDOM_TRIES);
}

static void
random_add(struct topo_build *b, const struct random_graph *g)
{
	for (uint32_t u = 0; u < g->n; u++)
		topo_add_dev(b, RL_DEV_SWITCH, "s%u", u)->coord[0] =
			(uint16_t)u;
	topo_add_hosts(b);
	for (uint32_t i = 0; i < g->nlink; i++)
		topo_add_links(b, g->link[i][0], g->link[i][1], -1, 1);
}

int
topo_fill_random(struct topo_build *b)
{
	struct random_graph g = {.n = b->t->spec.n,
				 .degree = b->t->spec.degree};
	int ret = -ENOMEM;

	g.nlink = g.n * g.degree / 2;
	g.link = calloc(g.nlink, sizeof(*g.link));
	g.near = calloc((size_t)g.n * g.degree, sizeof(*g.near));
	g.todo = calloc(g.n, sizeof(*g.todo));
	g.seen = calloc(g.n, sizeof(*g.seen));
	if (g.link == NULL || g.near == NULL || g.todo == NULL ||
	    g.seen == NULL)
		topo_error(b, 0, "no memory for %u switches of degree %u; make "
				 "the fabric smaller", g.n, g.degree);
	else
		ret = random_make(b, &g);
	if (ret == 0)
		random_add(b, &g);
	free(g.seen);
	free(g.todo);
	free(g.near);
	free(g.link);
	return ret;
}
