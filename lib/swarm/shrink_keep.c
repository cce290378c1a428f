/* SPDX-License-Identifier: BSD-3-Clause */

/* A step of the shrinking is kept, or undone. */

#include <errno.h>

#include "shrink_priv.h"

bool
shrink_ask(struct shrinking *sh)
{
	uint64_t sent = 0;

	if (sh->s->runs >= sh->s->most || sh->err != 0)
		return false;
	sh->s->runs++;
	if (!sh->s->fails(sh->s->ctx, sh->plan, &sent))
		return false;
	sh->sent = sent;
	return true;
}

static void
set_seed(struct rl_swarm_plan *plan, uint64_t seed)
{
	plan->seed = plan->load.seed = seed;
}

bool
shrink_keep(struct shrinking *sh)
{
	struct rl_swarm_plan *p = sh->plan;
	const uint64_t seed = p->seed;
	bool fails = shrink_ask(sh);

	for (uint64_t i = 1; i <= sh->seeds && !fails; i++) {
		set_seed(p, i);
		fails = i != seed && shrink_ask(sh);
	}
	if (fails) {
		if (p->faults.f != sh->old->faults.f)
			rl_sim_faults_free(&sh->old->faults);
		if (p->cfg.topo.dev != sh->old->cfg.topo.dev)
			rl_topo_free(&sh->old->cfg.topo);
		*sh->old = *p;
		sh->changed = true;
		return true;
	}
	if (p->faults.f != sh->old->faults.f)
		rl_sim_faults_free(&p->faults);
	if (p->cfg.topo.dev != sh->old->cfg.topo.dev)
		rl_topo_free(&p->cfg.topo);
	*p = *sh->old;
	return false;
}

bool
shrink_faults(struct shrinking *sh)
{
	struct rl_sim_faults copy = { 0 };

	for (uint32_t i = 0; i < sh->plan->faults.n; i++)
		if (rl_sim_fault_push(&copy, &sh->plan->faults.f[i]) != 0)
			sh->err = -ENOMEM;
	if (sh->err != 0) {
		rl_sim_faults_free(&copy);
		return false;
	}
	if (sh->plan->faults.f != sh->old->faults.f)
		rl_sim_faults_free(&sh->plan->faults);
	sh->plan->faults = copy;
	return true;
}
