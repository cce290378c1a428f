/* SPDX-License-Identifier: BSD-3-Clause */
#include "reflit_plan.h"

#include <stdlib.h>
#include <string.h>

struct reflit_plan *
reflit_plan_new(uint32_t nnode, uint32_t nep)
{
	const size_t n = (size_t)nnode * nep + 1;
	struct reflit_plan *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->nnode = nnode;
	p->rank = malloc(((size_t)nnode + 1) * sizeof(*p->rank));
	p->parent = malloc(((size_t)nnode + 1) * sizeof(*p->parent));
	p->around = malloc((size_t)nnode + 1);
	p->next = malloc(n);
	p->via = malloc(n);
	if (p->rank == NULL || p->parent == NULL || p->around == NULL ||
	    p->next == NULL || p->via == NULL) {
		reflit_plan_free(p);
		return NULL;
	}
	memset(p->next, PLAN_NONE, n);
	memset(p->via, PLAN_NONE, n);
	return p;
}

void
reflit_plan_free(struct reflit_plan *p)
{
	if (p == NULL)
		return;
	free(p->rank);
	free(p->parent);
	free(p->around);
	free(p->next);
	free(p->via);
	free(p);
}

static void
plan_note(uint8_t *restrict code, const uint32_t *restrict arc,
	  const uint32_t *restrict first, uint32_t n)
{
	for (uint32_t u = 0; u < n; u++)
		code[u] = reflit_plan_code(arc[u], first[u]);
}

void
reflit_plan_note(struct reflit_plan *p, const struct route_backup *bk,
		 uint32_t lane, uint32_t e)
{
	const size_t from = (size_t)lane * p->nnode;
	const size_t to = (size_t)e * p->nnode;
	const uint32_t *first = bk->b->g.first;

	plan_note(p->next + to, bk->trees.next + from, first, p->nnode);
	plan_note(p->via + to, bk->detour.vias + from, first, p->nnode);
}

void
reflit_plan_shape(struct reflit_plan *p, const struct route_backup *bk)
{
	const struct route_detour *d = &bk->detour;

	p->root = bk->root;
	for (uint32_t u = 0; u < p->nnode; u++) {
		p->rank[u] = bk->order.rank[u];
		p->parent[u] = d->parent[u] == ROUTE_NONE ? ROUTE_NONE :
			       d->g->arc[d->parent[u]].to;
		p->around[u] = d->top[u] < d->depth[u];
	}
}
