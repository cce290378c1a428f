/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Generations of tables. A generation is the result of one job: tables, the
 * failed marks they were made with, and the flows to be held for them. Devices
 * refer to a generation by its epoch. If no device has it and it is not the
 * newest, it is spare: the next job updates it instead of computing everything.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables_priv.h"

struct rl_tables *
rl_tables_new(const struct rl_tables_params *p, const struct rl_route *route)
{
	const struct rl_topo *topo = p->topo;
	struct rl_tables *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->p = *p;
	snprintf(t->engine, sizeof(t->engine), "%s",
		 p->engine == NULL ? "" : p->engine);
	t->topo = *topo;
	t->topo.dev = malloc(topo->ndev * sizeof(*topo->dev));
	t->topo.link = malloc((topo->nlink + 1) * sizeof(*topo->link));
	t->epoch = calloc(topo->ndev, sizeof(*t->epoch));
	t->staged = calloc(topo->ndev, sizeof(*t->staged));
	t->old = calloc(topo->ndev, sizeof(*t->old));
	t->may = calloc(topo->ndev, sizeof(*t->may));
	t->dead = calloc(topo->nlink + 1, sizeof(*t->dead));
	t->gen[0].failed = calloc(topo->nlink + 1, 1);
	if (t->topo.dev == NULL || t->topo.link == NULL || t->epoch == NULL ||
	    t->staged == NULL || t->old == NULL || t->may == NULL ||
	    t->dead == NULL || t->gen[0].failed == NULL)
		goto err_tables;
	memcpy(t->topo.dev, topo->dev, topo->ndev * sizeof(*topo->dev));
	memcpy(t->topo.link, topo->link, topo->nlink * sizeof(*topo->link));
	for (uint32_t i = 0; i < topo->nlink; i++)
		t->gen[0].failed[i] = !rl_topo_link_up(topo, i);
	t->first = route;
	t->adaptive = route->adaptive;
	return t;

err_tables:
	rl_tables_free(t);
	return NULL;
}

void
tables_gen_free(struct tables_gen *g)
{
	rl_route_free(g->route);
	rl_flows_free(&g->flows);
	free(g->failed);
	free(g->gone);
	tables_pass_free(g);
	*g = (struct tables_gen){ 0 };
}

void
rl_tables_free(struct rl_tables *t)
{
	if (t == NULL)
		return;
	for (unsigned int i = 0; i < TABLES_GENS; i++)
		tables_gen_free(&t->gen[i]);
	free(t->topo.dev);
	free(t->topo.link);
	free(t->epoch);
	free(t->staged);
	free(t->old);
	free(t->may);
	free(t->dead);
	free(t);
}

static uint64_t
clock_now(const struct rl_tables *t)
{
	return t->p.clock == NULL ? 0 : t->p.clock(t->p.clock_ctx);
}

/*
 * Marks the topology as the job says; @p avoid: also marks links to be avoided.
 */
static void
set_marks(struct rl_tables *t, const struct rl_controller_job *job, bool avoid)
{
	for (uint32_t i = 0; i < t->topo.nlink; i++) {
		const enum rl_link_use use = job->link_ok[i];

		t->topo.link[i].failed =
			use == RL_LINK_NO || use == RL_LINK_LEAVE ||
			(use == RL_LINK_AVOID && avoid);
	}
	for (uint32_t d = 0; d < t->topo.ndev; d++)
		t->topo.dev[d].failed = !job->dev_ok[d];
}

/*
 * Reduces the marks to those that recipes carry, so that all processes agree.
 */
static void
plain_marks(struct rl_tables *t)
{
	for (uint32_t i = 0; i < t->topo.nlink; i++)
		t->topo.link[i].failed = !rl_topo_link_up(&t->topo, i);
}

/*
 * Computes from scratch: each part of a partitioned fabric is routed
 * separately.
 */
static int
gen_anew(struct rl_tables *t, struct tables_gen *g)
{
	const struct rl_route_params p = {
		.engine = t->engine,
		.max_vls = t->p.vls / t->p.levels,
		.qos_levels = 1,
		.parts = true,
		.adaptive = t->adaptive,
	};
	int ret;

	g->warm = false;
	ret = rl_route_compute_with(&t->topo, &p, &g->route, t->why);
	if (ret != 0 || t->p.levels <= 1)
		return ret;
	ret = rl_route_levels(g->route, t->p.levels, t->why);
	if (ret != 0) {
		rl_route_free(g->route);
		g->route = NULL;
	}
	return ret;
}

int
tables_gen_compute(struct rl_tables *t, struct tables_gen *g)
{
	int ret;

	if (t->p.anew) {
		plain_marks(t);
		rl_route_free(g->route);
		g->route = NULL;
	}
	if (g->route != NULL) {
		ret = rl_route_update(g->route, &t->topo, NULL, t->why);
		if (ret > 0)
			ret = 0;
		if (ret == 0 && t->p.levels > 1)
			ret = rl_route_levels(g->route, t->p.levels, t->why);
		if (ret == 0)
			return 0;
		rl_route_free(g->route);
		g->route = NULL;
	}
	return gen_anew(t, g);
}

int
tables_gen_mark(struct rl_tables *t, struct tables_gen *g)
{
	if (g->failed == NULL)
		g->failed = calloc(t->topo.nlink + 1, 1);
	if (g->gone == NULL)
		g->gone = calloc(t->topo.ndev, 1);
	if (g->failed == NULL || g->gone == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->topo.nlink; i++)
		g->failed[i] = !rl_topo_link_up(&t->topo, i);
	for (uint32_t d = 0; d < t->topo.ndev; d++)
		g->gone[d] = t->topo.dev[d].failed;
	return 0;
}

/* Number of reachable endpoints as the topology is marked. */
static uint32_t
there(const struct rl_tables *t)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < t->topo.nep; e++)
		n += rl_topo_ep_there(&t->topo, e);
	return n;
}

/*
 * Marks the topology for new tables: without links to be avoided, unless that
 * cuts off an endpoint. @return whether they are avoided
 */
static bool
set_wanted(struct rl_tables *t, const struct rl_controller_job *job)
{
	bool any = false;
	uint32_t all;

	for (uint32_t i = 0; i < t->topo.nlink; i++)
		any = any || job->link_ok[i] == RL_LINK_AVOID;
	set_marks(t, job, false);
	if (!any)
		return false;
	all = there(t);
	set_marks(t, job, true);
	if (there(t) == all &&
	    rl_topo_reach(&t->topo, RL_REACH_WORKING, t->why) == 0)
		return true;
	set_marks(t, job, false);
	return false;
}

/* New tables without the links to be avoided or, if that fails, with them. */
static int
compute(struct rl_tables *t, const struct rl_controller_job *job,
	struct tables_gen *g, bool *avoided)
{
	*avoided = set_wanted(t, job);
	if (*avoided && tables_gen_compute(t, g) == 0)
		return 0;
	*avoided = false;
	set_marks(t, job, false);
	return tables_gen_compute(t, g);
}

/*
 * Whether tables for these marks leave an endpoint without a path to another.
 */
static bool
cuts(struct rl_tables *t, const struct rl_controller_job *job)
{
	uint32_t all = 0;

	for (uint32_t e = 0; e < t->topo.nep; e++)
		all += job->dev_ok[t->topo.ep_dev[e]];
	return there(t) < all ||
	       rl_topo_reach(&t->topo, RL_REACH_WORKING, t->why) != 0;
}

/* Whether all devices that have tables have those of the same @p epoch. */
static bool
same_epoch(const struct rl_tables *t, const struct rl_controller_job *job,
	   uint32_t *epoch)
{
	bool first = true;

	for (uint32_t d = 0; d < t->topo.ndev; d++) {
		if (job->waits[d] || tables_alone(t, job, d))
			continue;
		if (job->unsure[d] || (!first && job->present[d] != *epoch))
			return false;
		*epoch = job->present[d];
		first = false;
	}
	return !first;
}

/*
 * Whether tables may stay because their detours lead round all links that have
 * died since. Without retry new ones would stop all traffic: only the way keeps
 * order. No tables change, so none does here; and tables have no credit loop
 * whatever fails, since all their next hops ascend.
 */
static bool
detours_serve(struct rl_tables *t, const struct rl_controller_job *job,
	      const struct tables_gen *g)
{
	const struct rl_route *route = tables_of(t, g);
	const struct rl_check_ranks in = { .topo = &t->topo,
					   .fwd = route->fwd,
					   .rank = route->rank };
	struct rl_ranks_report rep;

	return !t->p.retry && job->mode == RL_RESIL_AUTO && !job->renew &&
	       route->rank != NULL && !cuts(t, job) &&
	       rl_check_ranks(&in, NULL, &rep) == 0;
}

/* Whether the present tables are right as they are, or may stay. */
static bool
nothing_to_do(struct rl_tables *t, const struct rl_controller_job *job,
	      uint32_t epoch)
{
	const struct tables_gen *g = tables_gen(t, epoch);
	bool died = false;

	if (g == NULL || job->mode == RL_RESIL_FULL)
		return false;
	for (uint32_t d = 0; d < t->topo.ndev; d++)
		if (job->waits[d])
			return false;
	set_wanted(t, job);
	for (uint32_t i = 0; i < t->topo.nlink; i++) {
		if (g->failed[i] == !rl_topo_link_up(&t->topo, i))
			continue;
		if (g->failed[i] || job->link_ok[i] != RL_LINK_NO)
			return false;
		died = true;
	}
	return !died || detours_serve(t, job, g);
}

void
rl_tables_prepare(struct rl_tables *t)
{
	struct tables_gen *g = tables_spare(t);
	const struct tables_gen *newest = tables_gen(t, t->newest);

	if (t->p.anew || g == NULL || newest == NULL)
		return;
	g->epoch = 0;
	for (uint32_t i = 0; i < t->topo.nlink; i++)
		t->topo.link[i].failed = newest->failed[i];
	for (uint32_t d = 0; d < t->topo.ndev; d++)
		t->topo.dev[d].failed = false;
	if (g->route == NULL && gen_anew(t, g) != 0)
		return;
	if (!g->warm &&
	    rl_route_update(g->route, &t->topo, NULL, t->why) == 0)
		g->warm = true;
}

void
rl_tables_compute(struct rl_tables *t, const struct rl_controller_job *job,
		  struct rl_controller_result *res)
{
	struct tables_gen *g;
	uint32_t epoch = 0;
	bool same, avoided = false;
	uint64_t start, done;

	*res = (struct rl_controller_result){ .epoch = job->epoch,
					      .mode = RL_RESIL_LIVE };
	t->why[0] = '\0';
	RL_ASSERT(job->epoch > t->newest); /* an epoch never means two tables */
	start = clock_now(t);
	same = same_epoch(t, job, &epoch);
	if (same && nothing_to_do(t, job, epoch)) {
		res->status = -EALREADY;
		return;
	}
	g = tables_spare(t);
	if (g == NULL) {
		res->status = -ENOMEM;
		return;
	}
	res->status = compute(t, job, g, &avoided);
	res->avoided = avoided;
	done = clock_now(t);
	res->compute_ns = done - start;
	if (res->status == 0)
		res->status = tables_gen_mark(t, g);
	if (res->status != 0) {
		tables_gen_free(g);
		return;
	}
	res->cut = cuts(t, job);
	res->status = rl_route_accept(g->route, &t->topo, NULL, t->why);
	if (res->status == 0)
		res->status = tables_mix(t, job, g, same, epoch, res);
	res->prove_ns = clock_now(t) - done;
	if (res->status != 0) {
		tables_gen_free(g);
		return;
	}
	g->epoch = t->newest = job->epoch;
}

uint32_t
rl_tables_newest(const struct rl_tables *t)
{
	return t->newest;
}

const char *
rl_tables_why(const struct rl_tables *t)
{
	return t->why;
}

const struct rl_route *
rl_tables_route(const struct rl_tables *t, uint32_t epoch)
{
	const struct tables_gen *g = tables_gen(t, epoch);

	return g == NULL ? NULL : tables_of(t, g);
}

const struct rl_fwd *
rl_tables_fwd(const struct rl_tables *t, uint32_t epoch, uint32_t dev)
{
	const struct rl_route *r = rl_tables_route(t, epoch);

	RL_ASSERT(dev < t->topo.ndev);
	return r == NULL ? NULL : &r->fwd[dev];
}

const struct rl_flows *
rl_tables_flows(const struct rl_tables *t, uint32_t epoch)
{
	const struct tables_gen *g = tables_gen(t, epoch);

	return g == NULL || g->flows.bit == NULL ? NULL : &g->flows;
}

void
rl_tables_installed(struct rl_tables *t, uint32_t dev, uint32_t epoch)
{
	RL_ASSERT(dev < t->topo.ndev);
	t->epoch[dev] = epoch;
	t->staged[dev] = 0;
}

void
rl_tables_staged(struct rl_tables *t, uint32_t dev, uint32_t epoch)
{
	RL_ASSERT(dev < t->topo.ndev);
	t->staged[dev] = epoch;
}

const struct rl_fwd_pass *
rl_tables_pass(const struct rl_tables *t, uint32_t epoch, uint32_t dev)
{
	const struct tables_gen *g = epoch == 0 ? NULL : tables_gen(t, epoch);

	RL_ASSERT(dev < t->topo.ndev);
	return g == NULL || g->pass == NULL ? NULL : &g->pass[dev];
}
