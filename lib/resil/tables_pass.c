/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What devices need to change from old tables to new ones by tokens [RES-5]:
 * the order of channels in which the old tables were proven. It exists for all
 * tables that the checker has passed by ranks (rl_check_ranks.h), and remains
 * valid whatever links die: packets by these tables still ascend.
 */

#include <errno.h>
#include <stdlib.h>

#include "tables_priv.h"

static void
port_fill(const struct rl_tables *t, const struct rl_topo_port *tp,
	  const uint32_t *rank, struct rl_fwd_ranks *r, bool *end)
{
	for (unsigned int vl = 0; vl < RL_VCS; vl++) {
		r->out[vl] = rank[rl_channel(tp->link, tp->end, vl)];
		r->in[vl] = rank[rl_channel(tp->link, 1u - tp->end, vl)];
	}
	*end = t->topo.dev[tp->peer_dev].kind == RL_DEV_ENDPOINT;
}

void
tables_pass_free(struct tables_gen *g)
{
	free(g->pass);
	free(g->rank);
	free(g->end);
	g->pass = NULL;
	g->rank = NULL;
	g->end = NULL;
}

static int
pass_memory(const struct rl_tables *t, struct tables_gen *g)
{
	const size_t nports = 2 * (size_t)t->topo.nlink + 1;

	tables_pass_free(g);
	g->pass = calloc(t->topo.ndev, sizeof(*g->pass));
	g->rank = calloc(nports, sizeof(*g->rank));
	g->end = calloc(nports, sizeof(*g->end));
	if (g->pass != NULL && g->rank != NULL && g->end != NULL)
		return 0;
	tables_pass_free(g);
	return -ENOMEM;
}

int
tables_pass(struct rl_tables *t, const struct tables_gen *old,
	    struct tables_gen *g, uint32_t epoch)
{
	const struct rl_route *was = tables_of(t, old);
	size_t at = 0;

	if (was->rank == NULL || was->adapts != g->route->adapts ||
	    (was->adapts && !was->ascends))
		return -EAGAIN;
	if (pass_memory(t, g) != 0)
		return -ENOMEM;
	g->pass_from = old->epoch;
	for (uint32_t d = 0; d < t->topo.ndev; d++) {
		const struct rl_topo_dev *td = &t->topo.dev[d];

		g->pass[d] = (struct rl_fwd_pass){
			.fwd = &g->route->fwd[d],
			.epoch = epoch,
			.vls = was->adapts ? was->vls + was->detour_vls
					   : was->fwd[d].nvls,
			.rank = &g->rank[at],
			.end = &g->end[at],
		};
		for (uint16_t p = 0; p < td->nports; p++, at++)
			port_fill(t, &td->port[p], was->rank, &g->rank[at],
				  &g->end[at]);
	}
	return 0;
}
