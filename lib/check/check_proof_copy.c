/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies a proof: for tables that replace others, which stay in use. */
#include <stdlib.h>
#include <string.h>

#include "check_carry.h"

/* Copies a block of n bytes; clears *ok if there is no memory. */
static void *
copy_block(const void *from, size_t n, bool *ok)
{
	void *to = from != NULL ? malloc(n + 1) : NULL;

	if (to != NULL)
		memcpy(to, from, n);
	*ok = *ok && (from == NULL || to != NULL);
	return to;
}

static void
copy_map(struct ranks_map *to, const struct ranks_map *m,
	 const struct rl_proof *p, bool *ok)
{
	*to = *m;
	to->port0 = copy_block(m->port0, (p->ndev + 1u) * sizeof(*m->port0),
			       ok);
	to->port = copy_block(m->port, m->nports * sizeof(*m->port), ok);
	to->live = copy_block(m->live, p->nep, ok);
	for (unsigned int c = 0; c < RL_SLS; c++)
		to->rec[c] = copy_block(m->rec[c], (size_t)m->nports *
					RL_FWD_PLANES * sizeof(**m->rec), ok);
}

static struct check_carry *
copy_carry(const struct check_carry *c, const struct rl_proof *p, bool *ok)
{
	struct check_carry *to = calloc(1, sizeof(*to));

	if (to == NULL) {
		*ok = false;
		return NULL;
	}
	copy_map(&to->map, &c->map, p, ok);
	memcpy(to->bears, c->bears, sizeof(to->bears));
	to->tile = calloc(p->ntile + 1u, sizeof(*to->tile));
	*ok = *ok && to->tile != NULL;
	for (uint32_t i = 0; i < p->ntile && *ok; i++) {
		const struct carry_tile *t = &c->tile[i];

		to->tile[i] = *t;
		to->tile[i].state = copy_block(
			t->state, (size_t)__builtin_popcountll(t->slots) *
				  c->map.nsw * RANKS_TILE, ok);
	}
	return to;
}

struct rl_proof *
rl_proof_copy(const struct rl_proof *p)
{
	struct rl_proof *to = p != NULL ? malloc(sizeof(*to)) : NULL;
	bool ok = true;

	if (to == NULL)
		return NULL;
	*to = *p;
	to->row = copy_block(p->row, p->ndev * sizeof(*p->row), &ok);
	for (unsigned int q = 0; q < RL_FWD_PLANES; q++)
		to->line[q] = copy_block(p->line[q], (size_t)p->nrow *
					 p->ntile * sizeof(**p->line), &ok);
	to->path = copy_block(p->path, (size_t)p->nep * p->ntile *
			      sizeof(*p->path), &ok);
	to->inject = copy_block(p->inject, p->nep * sizeof(*p->inject), &ok);
	to->sls = copy_block(p->sls, p->nep * sizeof(*p->sls), &ok);
	to->rank = copy_block(p->rank, (size_t)p->nlink * 2 * RL_VCS *
			      sizeof(*p->rank), &ok);
	to->link_up = copy_block(p->link_up, p->nlink, &ok);
	to->live = copy_block(p->live, p->nep, &ok);
	to->carry = p->carry != NULL ? copy_carry(p->carry, p, &ok) : NULL;
	if (!ok) {
		rl_proof_free(to);
		return NULL;
	}
	return to;
}
