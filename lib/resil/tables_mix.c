/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How new tables may replace old ones: live if the mix of both is proven, else
 * with some flows held, else by tokens, else at rest. A device that does not
 * answer keeps its tables, or recovers and takes the new ones: the mix must be
 * proven for both cases.
 */

#include <errno.h>
#include <stdio.h>

#include "tables_priv.h"

/* If more than one flow in this many would be held, tokens are preferred. */
#define HELD_SHARE 100u

/*
 * Marks for the mix of old and new tables: every working link counts, used or
 * not.
 */
static void
mix_marks(struct rl_tables *t, const struct rl_controller_job *job)
{
	for (uint32_t i = 0; i < t->topo.nlink; i++)
		t->topo.link[i].failed = job->link_ok[i] == RL_LINK_NO;
	for (uint32_t d = 0; d < t->topo.ndev; d++)
		t->topo.dev[d].failed = false;
}

/* Whether a mark of the job is set for any device. */
static bool
any_dev(const struct rl_tables *t, const uint8_t *mark)
{
	for (uint32_t d = 0; d < t->topo.ndev; d++)
		if (mark[d])
			return true;
	return false;
}

/*
 * Finds flows to hold so that all others may meet old and new tables anywhere.
 * @return 0; -ELOOP or -EHOSTUNREACH: impossible; -ENOMEM
 */
static int
find_held(struct rl_tables *t, const struct rl_controller_job *job,
	  const struct tables_gen *old, struct tables_gen *g)
{
	/* new tables use links of restarting devices, which train only after
	   the install: until then packets may take other next hops than the
	   first */
	const enum rl_check_alts alts =
		any_dev(t, job->waits) ? RL_CHECK_ALL : RL_CHECK_FIRST;
	struct rl_check_mix_report rep;
	uint32_t ndead = 0;

	for (uint32_t i = 0; i < t->topo.nlink; i++)
		if (t->topo.link[i].failed && !old->failed[i])
			t->dead[ndead++] = i;
	return rl_route_hold(tables_of(t, old), g->route, &t->topo, alts,
			     t->dead, ndead, &g->flows, &rep);
}

/*
 * Holds the reverse flow of each held one, as it carries the acknowledgments;
 * and all flows to and from endpoints that are about to be removed, so that
 * they end first.
 */
static void
complete_held(struct rl_tables *t, const struct rl_controller_job *job,
	      struct rl_flows *f)
{
	for (uint32_t s = 0; s < f->nep; s++) {
		for (uint32_t d = 0; d < f->nep &&
				     !job->dev_ok[t->topo.ep_dev[s]]; d++)
			if (s != d)
				rl_flows_add(f, s, d);
		for (uint32_t w = 0; w < f->words; w++)
			for (uint64_t bits = f->bit[(size_t)s * f->words + w];
			     bits != 0; bits &= bits - 1)
				rl_flows_add(f, 64 * w + (uint32_t)
						__builtin_ctzll(bits), s);
	}
}

static bool
leaves_any(const struct rl_tables *t, const struct rl_controller_job *job,
	   const struct tables_gen *old)
{
	for (uint32_t e = 0; e < t->topo.nep; e++) {
		const uint32_t d = t->topo.ep_dev[e];

		for (uint16_t p = 0;
		     !job->dev_ok[d] && p < t->topo.dev[d].nports; p++)
			if (!old->failed[t->topo.dev[d].port[p].link])
				return true;
	}
	return false;
}

/* Whether the source of any of these flows does not answer. */
static bool
holder_silent(const struct rl_tables *t, const struct rl_controller_job *job,
	     const struct rl_flows *f)
{
	for (uint32_t s = 0; s < f->nep; s++)
		for (uint32_t w = 0; w < f->words; w++)
			if (f->bit[(size_t)s * f->words + w] != 0 &&
			    job->silent[t->topo.ep_dev[s]])
				return true;
	return false;
}

/*
 * Proof for a fabric at rest: only silent devices may still have other tables.
 */
static int
prove_rest(struct rl_tables *t, const struct rl_controller_job *job,
	   const struct tables_gen *g)
{
	const struct rl_check_mix mix = { .topo = &t->topo,
					  .old = t->old,
					  .fwd = g->route->fwd,
					  .rank = g->route->rank,
					  .may = t->may,
					  .parts = true };
	struct rl_check_mix_report rep;
	bool any = false;

	for (uint32_t d = 0; d < t->topo.ndev; d++) {
		const struct tables_gen *has = tables_gen(t, job->present[d]);

		t->old[d] = g->route->fwd[d];
		t->may[d] = RL_MIX_NEW;
		if (!job->silent[d])
			continue;
		/* only an earlier process knew these tables */
		if (has == NULL)
			return -EHOSTUNREACH;
		t->old[d] = tables_of(t, has)->fwd[d];
		t->may[d] = RL_MIX_EITHER;
		any = true;
	}
	return any ? rl_check_mix(&mix, &rep) : 0;
}

static int
refuse(struct rl_tables *t, const char *why)
{
	snprintf(t->why, sizeof(t->why), "%s", why);
	return -EHOSTUNREACH;
}

/*
 * Refuses because of a silent device: once it answers, the tables may be right.
 */
static int
late(struct rl_tables *t, const struct rl_controller_job *job)
{
	uint32_t d = 0;

	while (!job->silent[d])
		d++;
	snprintf(t->why, sizeof(t->why), "%s does not answer, and the new "
		 "tables are not proven together with its own",
		 t->topo.dev[d].name);
	return -ETIME;
}

/* Live or with some flows held; -EAGAIN: neither is proven. */
static int
mix_running(struct rl_tables *t, const struct rl_controller_job *job,
	    struct tables_gen *g, const struct tables_gen *old,
	    struct rl_controller_result *res)
{
	int ret = rl_flows_init(&g->flows, t->topo.nep);

	if (ret != 0)
		return ret;
	ret = find_held(t, job, old, g);
	if (ret == -ENOMEM)
		return ret;
	if (ret != 0)
		return -EAGAIN;
	if (g->flows.count == 0 && !leaves_any(t, job, old)) {
		res->mode = RL_RESIL_LIVE;
		return 0;
	}
	complete_held(t, job, &g->flows);
	if (holder_silent(t, job, &g->flows))
		return -EAGAIN;
	res->mode = RL_RESIL_PARTIAL;
	res->held_flows = (uint32_t)g->flows.count;
	return 0;
}

/* By tokens, without holding; -EAGAIN if that is not possible. */
static int
pass_running(struct rl_tables *t, const struct rl_controller_job *job,
	     struct tables_gen *g, const struct tables_gen *old,
	     struct rl_controller_result *res)
{
	int ret = -EAGAIN;

	if (old != NULL && !any_dev(t, job->silent) && !leaves_any(t, job, old))
		ret = tables_pass(t, old, g, job->epoch);
	if (ret != 0)
		return ret;
	rl_flows_free(&g->flows); /* no flow is held */
	res->mode = RL_RESIL_TOKENS;
	res->held_flows = 0;
	return 0;
}

/*
 * Some flows would be held: uses tokens if they are many, or allows for them in
 * case a few do not drain.
 */
static int
partly(struct rl_tables *t, const struct rl_controller_job *job,
       struct tables_gen *g, const struct tables_gen *old,
       struct rl_controller_result *res)
{
	const uint64_t all = (uint64_t)t->topo.nep * (t->topo.nep - 1);
	int ret;

	if ((uint64_t)res->held_flows * HELD_SHARE > all)
		return pass_running(t, job, g, old, res);
	if (any_dev(t, job->silent) || leaves_any(t, job, old))
		return -EAGAIN;
	ret = tables_pass(t, old, g, job->epoch);
	res->tokens = ret == 0;
	return ret;
}

/* Whether a switch that the old tables use has no link left: a crash. */
static bool
crashed(const struct rl_tables *t, const struct rl_controller_job *job,
	const struct tables_gen *old)
{
	for (uint32_t d = 0; d < t->topo.ndev; d++) {
		const struct rl_topo_dev *td = &t->topo.dev[d];
		bool was = false;

		if (td->kind != RL_DEV_SWITCH || !tables_alone(t, job, d))
			continue;
		for (uint16_t p = 0; p < td->nports; p++)
			was = was || !old->failed[td->port[p].link];
		if (was)
			return true;
	}
	return false;
}

/* Whether a link between switches has failed, or come back, since @p old. */
static bool
switches_differ(const struct rl_tables *t, const struct tables_gen *old)
{
	for (uint32_t i = 0; i < t->topo.nlink; i++)
		if (t->topo.link[i].kind == RL_LINK_ISL &&
		    t->topo.link[i].failed != (bool)old->failed[i])
			return true;
	return false;
}

/*
 * Chooses the mildest mode. Live and few flows held come from the same proof.
 * Tokens hold nothing and need no proof of a mix, but one more round of answers
 * from all devices. After a crash some flows would usually have to be held, and
 * if a device restarts all detours would have to be proven; a mix of two adaptive
 * planes that differ holds many flows: then tokens are tried first. An endpoint's
 * link changes no way to any other.
 */
static int
choose(struct rl_tables *t, const struct rl_controller_job *job,
       struct tables_gen *g, const struct tables_gen *old,
       struct rl_controller_result *res)
{
	/* packets that loop out of a link that dies then may be overtaken */
	const bool tokens = t->p.link_retry && t->p.retry && old != NULL;
	const bool first =
		tokens && ((t->adaptive && switches_differ(t, old)) ||
			   crashed(t, job, old) || any_dev(t, job->waits));
	int ret = -EAGAIN;

	if (first)
		ret = pass_running(t, job, g, old, res);
	if (ret == -EAGAIN && t->p.retry && old != NULL)
		ret = mix_running(t, job, g, old, res);
	if (!tokens || first)
		return ret;
	if (ret == -EAGAIN)
		return pass_running(t, job, g, old, res);
	if (ret == 0 && res->mode == RL_RESIL_PARTIAL)
		ret = partly(t, job, g, old, res);
	/* not possible by tokens: keep the first choice */
	return ret == -EAGAIN ? 0 : ret;
}

int
tables_mix(struct rl_tables *t, const struct rl_controller_job *job,
	   struct tables_gen *g, bool same, uint32_t epoch,
	   struct rl_controller_result *res)
{
	const struct tables_gen *old = same ? tables_gen(t, epoch) : NULL;
	int ret = -EAGAIN;

	rl_flows_free(&g->flows);
	tables_pass_free(g);
	mix_marks(t, job);
	/* without retry, packets must stay in order on the way: tables must not
	   change while any packet is on its way */
	if (job->mode == RL_RESIL_TOKENS)
		ret = pass_running(t, job, g, old, res);
	else if (job->mode == RL_RESIL_AUTO)
		ret = choose(t, job, g, old, res);
	else if (job->mode != RL_RESIL_FULL && old != NULL && t->p.retry)
		ret = mix_running(t, job, g, old, res);
	if (ret == 0 && job->mode == RL_RESIL_LIVE &&
	    res->mode != RL_RESIL_LIVE)
		return refuse(t, "the mix with the old tables is not "
				 "proven, and the mode is live");
	if (ret != -EAGAIN)
		return ret;
	if ((job->mode == RL_RESIL_LIVE || job->mode == RL_RESIL_PARTIAL) &&
	    any_dev(t, job->silent))
		return late(t, job);
	if (job->mode == RL_RESIL_LIVE || job->mode == RL_RESIL_PARTIAL)
		return refuse(t, "this change needs a full quiesce, and the "
				 "mode forbids it");
	res->mode = RL_RESIL_FULL;
	res->held_flows = 0;
	ret = any_dev(t, job->silent) ? prove_rest(t, job, g) : 0;
	if (ret == -ENOMEM)
		return ret;
	return ret == 0 ? 0 : late(t, job);
}
