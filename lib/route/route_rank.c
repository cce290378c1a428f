/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_rank.h"

#include <errno.h>
#include <stdlib.h>

#define RANK_LAST (UINT32_MAX - 2)

int
route_rank_begin(struct route_build *b)
{
	const struct rl_topo *t = b->topo;

	b->rank = calloc(rl_channels(t) + 1u, sizeof(*b->rank));
	b->route->rank = b->rank;
	if (b->rank == NULL)
		return -ENOMEM;
	for (uint32_t l = 0; l < t->nlink; l++)
		for (unsigned int end = 0; end < 2; end++)
			for (unsigned int vl = 0; vl < RL_VCS; vl++)
				if (t->dev[t->link[l].dev[!end]].kind ==
				    RL_DEV_ENDPOINT)
					b->rank[rl_channel(l, end, vl)] =
						RANK_LAST;
	return 0;
}

uint32_t
route_rank_flat(struct route_build *b, uint32_t next, uint8_t vl)
{
	const struct rl_topo *t = b->topo;

	for (uint32_t l = 0; l < t->nlink; l++)
		for (unsigned int end = 0; end < 2; end++)
			if (t->link[l].kind == RL_LINK_ISL)
				b->rank[rl_channel(l, end, vl)] = next;
	return next + 1;
}

/* More than any value of an order. */
#define RANK_VALUES ((1u << 28) + 1)

/* Arcs to a lower (or higher) node of an order, by the value of their tail. */
static void
rank_order(struct route_build *b, uint32_t next, uint8_t vl,
	   const uint32_t *order, bool up)
{
	const struct rl_topo *t = b->topo;

	for (uint32_t l = 0; l < t->nlink; l++) {
		const struct rl_topo_link *k = &t->link[l];

		if (k->kind != RL_LINK_ISL)
			continue;
		for (unsigned int end = 0; end < 2; end++) {
			const uint32_t tail = order[k->dev[end]];

			if ((order[k->dev[!end]] < tail) != up)
				continue;
			b->rank[rl_channel(l, end, vl)] =
				next + (up ? RANK_VALUES - tail : tail);
		}
	}
}

uint32_t
route_rank_up(struct route_build *b, uint32_t next, uint8_t vl,
	      const uint32_t *order)
{
	rank_order(b, next, vl, order, true);
	return next + RANK_VALUES + 1;
}

uint32_t
route_rank_down(struct route_build *b, uint32_t next, uint8_t vl,
		const uint32_t *order)
{
	rank_order(b, next, vl, order, false);
	return next + RANK_VALUES + 1;
}

uint32_t
route_rank_dor(struct route_build *b, uint32_t next,
	       const struct route_grid *gr, uint8_t vl, uint8_t ahead)
{
	const struct rl_topo *t = b->topo;
	uint32_t base[RL_DIMS_MAX];

	for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
		base[d] = next;
		next += 2u * gr->radix[d];
	}
	for (uint32_t l = 0; l < t->nlink; l++) {
		const struct rl_topo_link *k = &t->link[l];

		if (k->kind != RL_LINK_ISL)
			continue;
		for (unsigned int end = 0; end < 2; end++) {
			const uint32_t n = gr->radix[k->dim];
			const uint32_t c = gr->coord[k->dev[end]][k->dim];
			/* hops that a packet can have made in that direction */
			const uint32_t at = base[k->dim] +
					    (end == 0 ? c : n - 1 - c);

			b->rank[rl_channel(l, end, ahead)] = at;
			b->rank[rl_channel(l, end, vl)] = at + n;
		}
	}
	return next;
}

uint32_t
route_rank_detour(struct route_build *b, uint32_t next, uint8_t vl,
		  const struct detour_tree *d)
{
	const struct rl_topo *t = b->topo;
	const uint32_t n = b->g.nnode, tree = next + 2 * n + 2;

	for (uint32_t l = 0; l < t->nlink; l++) {
		const struct rl_topo_link *k = &t->link[l];

		if (k->kind != RL_LINK_ISL)
			continue;
		for (unsigned int end = 0; end < 2; end++) {
			const uint32_t u = k->dev[end], w = k->dev[!end];
			const uint32_t c = rl_channel(l, end, vl);
			uint32_t at = 0; /* aside, into the tree */

			if (d->parent[u] != ROUTE_NONE &&
			    b->g.arc[d->parent[u]].to == w)
				at = 1 + n - d->depth[u];
			else if (d->parent[w] != ROUTE_NONE &&
				 b->g.arc[d->parent[w]].to == u)
				at = 1 + n + d->depth[u];
			b->rank[c] = next + at;
			b->rank[c + 1] = tree + at;
		}
	}
	return tree + 2 * n + 2;
}

uint32_t
route_rank_reflect(struct route_build *b, uint32_t next, uint8_t to,
		   uint8_t from)
{
	const struct rl_topo *t = b->topo;

	for (uint32_t l = 0; l < t->nlink; l++) {
		const struct rl_topo_link *k = &t->link[l];

		for (unsigned int end = 0; end < 2; end++) {
			if (k->kind == RL_LINK_ISL)
				b->rank[rl_channel(l, end, from)] = next + 2;
			else if (t->dev[k->dev[end]].kind == RL_DEV_ENDPOINT)
				b->rank[rl_channel(l, end, from)] = next + 1;
			else
				b->rank[rl_channel(l, end, to)] = next;
		}
	}
	return next + 3;
}
