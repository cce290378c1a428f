/* SPDX-License-Identifier: BSD-3-Clause */

/* Generations of tables by epoch, and which memory is free. */

#include "tables_priv.h"

/* Not for the first generation: here, epoch 0 marks memory without an owner. */
static bool
gen_in_use(const struct rl_tables *t, const struct tables_gen *g)
{
	if (g->epoch == 0)
		return false;
	if (g->epoch == t->newest)
		return true;
	for (uint32_t d = 0; d < t->topo.ndev; d++)
		if (t->epoch[d] == g->epoch || t->staged[d] == g->epoch)
			return true;
	return false;
}

const struct rl_route *
tables_of(const struct rl_tables *t, const struct tables_gen *g)
{
	return g == &t->gen[0] ? t->first : g->route;
}

struct tables_gen *
tables_gen(const struct rl_tables *t, uint32_t epoch)
{
	if (epoch == 0)
		return (struct tables_gen *)(uintptr_t)&t->gen[0];
	for (unsigned int i = 1; i < TABLES_GENS; i++)
		if (t->gen[i].route != NULL && t->gen[i].epoch == epoch)
			return (struct tables_gen *)(uintptr_t)&t->gen[i];
	return NULL;
}

struct tables_gen *
tables_spare(struct rl_tables *t)
{
	struct tables_gen *empty = NULL;

	for (unsigned int i = 1; i < TABLES_GENS; i++) {
		if (t->gen[i].route == NULL)
			empty = &t->gen[i];
		else if (!gen_in_use(t, &t->gen[i]))
			return &t->gen[i];
	}
	return empty;
}

bool
tables_alone(const struct rl_tables *t, const struct rl_controller_job *job,
	     uint32_t dev)
{
	const struct rl_topo_dev *d = &t->topo.dev[dev];

	for (uint16_t p = 0; p < d->nports; p++)
		if (job->link_ok[d->port[p].link] != RL_LINK_NO)
			return false;
	return true;
}
