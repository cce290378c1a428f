/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof of mixes. Flows whose packets are never at a device where old and
 * new tables differ behave as in both, and both have been proven. The others
 * are judged in the order of the new ranks and in that of the old ones: if all
 * flows that are not held ascend in one of them, there is no cycle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_mix.h"

/* Finds destinations with any difference, and those that dead links lead to:
 * the others need no check. */
static int
mix_differ(struct mix_run *r, uint8_t *todo)
{
	const struct rl_check_mix *m = r->mix;
	const struct rl_check_ranks in[2] = {
		{.topo = r->topo, .fwd = m->old},
		{.topo = r->topo, .fwd = m->fwd}};
	const struct rl_proof *proof[2] = {m->old_proof, m->proof};
	struct rl_proof *own[2] = {NULL, NULL};
	struct proof_diff diff = {0};
	int ret = 0;

	memset(todo, 0, r->topo->nep);
	for (unsigned int k = 0; k < 2 && ret == 0; k++) {
		struct ranks_map map;

		ret = check_ranks_ports(&map, &in[k]);
		for (uint32_t i = 0; i < m->ndead && ret == 0 && k == 0; i++)
			check_proof_uses(&map, m->dead[i], todo);
		if (ret == 0 && proof[k] == NULL) {
			own[k] = check_proof_new(&map);
			proof[k] = own[k];
			ret = own[k] == NULL ? -ENOMEM : 0;
		}
		check_ranks_map_free(&map);
	}
	if (ret == 0)
		ret = check_proof_differ(proof[0], proof[1], &diff);
	/* Different rows of entries: all may differ. */
	if (ret == -EINVAL) {
		memset(todo, 1, r->topo->nep);
		ret = 0;
	}
	for (uint32_t e = 0; e < r->topo->nep && ret == 0 && diff.any; e++)
		todo[e] |= !check_proof_same(proof[0], proof[1], &diff, e);
	check_proof_differ_free(&diff);
	rl_proof_free(own[0]);
	rl_proof_free(own[1]);
	return ret;
}

static bool
mix_held(const struct mix_run *r, uint32_t src, uint32_t dst)
{
	return r->mix->held != NULL && rl_flows_has(r->mix->held, src, dst);
}

/* Checks flows to one destination, and adds them to the sets of flows that may
 * fail in each order. near: sources that need a check; NULL: all. */
static void
mix_dst(struct mix_run *r, uint32_t dst, const uint8_t *near,
	struct rl_flows bad[2])
{
	const struct rl_topo *t = r->topo;

	for (uint32_t s = 0; s < t->nep; s++) {
		unsigned int flags;
		uint32_t len;

		if (!check_mix_counts(r, s, dst))
			continue;
		if (mix_held(r, s, dst)) {
			r->rep->held++;
			r->rep->touched++;
			continue;
		}
		if (near != NULL && !near[s])
			continue;
		flags = check_mix_flow(r, s, dst, &len);
		if (!(flags & MIX_TOUCHED))
			continue;
		r->rep->touched++;
		if (flags & (MIX_BAD_NEW | MIX_LOST))
			rl_flows_add(&bad[0], s, dst);
		if (flags & (MIX_BAD_OLD | MIX_LOST))
			rl_flows_add(&bad[1], s, dst);
		if (flags & MIX_LOST && r->rep->why == NULL) {
			r->rep->src = s;
			r->rep->dst = dst;
			r->rep->why = "may not arrive";
		}
		if (!(flags & MIX_LOST) && len > r->rep->max_hops)
			r->rep->max_hops = len;
	}
	check_mix_forget(r);
}

/* Judges all that differs; the sets are by the new and by the old order. */
static int
mix_judge(struct mix_run *r, struct rl_flows bad[2])
{
	const struct rl_topo *t = r->topo;
	uint8_t *todo = malloc(t->nep + 1u);
	struct mix_near *near = NULL;
	int ret = todo == NULL ? -ENOMEM : check_mix_near_new(r, &near);

	if (ret == 0 && r->plane != RL_VCS)
		memset(todo, 1, t->nep);
	else if (ret == 0 && near == NULL)
		ret = mix_differ(r, todo);
	for (uint32_t e = 0; e < t->nep && ret == 0; e++) {
		const uint8_t *sources = NULL;
		bool any = false;

		if (!r->map.live[e])
			continue;
		r->rep->pairs += r->map.nlive - 1;
		if (near != NULL)
			sources = check_mix_near(near, e, &any);
		if (near != NULL ? !any : !todo[e])
			continue;
		r->rep->dsts++;
		mix_dst(r, e, sources, bad);
	}
	check_mix_near_free(near);
	free(todo);
	return ret;
}

static int
mix_begin(struct mix_run *r, const struct rl_check_mix *mix,
	  struct rl_check_mix_report *rep, struct rl_flows bad[2])
{
	int ret = check_mix_init(r, mix, rep);

	memset(bad, 0, 2 * sizeof(*bad));
	for (unsigned int k = 0; k < 2 && ret == 0; k++)
		ret = rl_flows_init(&bad[k], mix->topo->nep);
	if (ret == 0)
		ret = mix_judge(r, bad);
	return ret;
}

static void
mix_end(struct mix_run *r, struct rl_flows bad[2])
{
	rl_flows_free(&bad[0]);
	rl_flows_free(&bad[1]);
	check_mix_free(r);
}

/* The last resort: the dependencies of all flows, in one graph. */
static int
mix_cycle(struct mix_run *r)
{
	const struct rl_topo *t = r->topo;
	struct rl_check_report *found = calloc(1, sizeof(*found));
	struct check_deps deps;
	uint64_t lost = 0;
	int ret = check_deps_init(&deps);

	if (found == NULL)
		ret = -ENOMEM;
	r->deps = &deps;
	for (uint32_t e = 0; e < t->nep && ret == 0; e++) {
		for (uint32_t s = 0; s < t->nep; s++) {
			uint32_t len;

			if (!check_mix_counts(r, s, e) || mix_held(r, s, e))
				continue;
			lost += (check_mix_flow(r, s, e, &len) & MIX_LOST) != 0;
		}
		check_mix_forget(r);
	}
	r->deps = NULL;
	if (ret == 0)
		ret = check_deps_cycle(&deps, rl_channels(t), found);
	if (ret == -ELOOP) {
		r->rep->cycle_len = found->cycle_len;
		memcpy(r->rep->cycle, found->cycle, sizeof(found->cycle));
	}
	if (ret == 0) {
		r->rep->order = RL_MIX_BY_FOUND;
		r->rep->wrong = lost;
		ret = lost != 0 ? -EHOSTUNREACH : 0;
	}
	check_deps_free(&deps);
	free(found);
	return ret;
}

static void
mix_name(const struct mix_run *r, const struct rl_flows *f)
{
	if (r->rep->why != NULL)
		return;
	for (uint32_t s = 0; s < f->nep; s++)
		for (uint32_t e = 0; e < f->nep; e++)
			if (rl_flows_has(f, s, e)) {
				r->rep->src = s;
				r->rep->dst = e;
				r->rep->why = "may take a hop that does not "
					      "ascend";
				return;
			}
}

int
rl_check_mix(const struct rl_check_mix *mix, struct rl_check_mix_report *rep)
{
	struct rl_flows bad[2];
	struct mix_run r;
	int ret = mix_begin(&r, mix, rep, bad);

	if (ret == 0 && bad[0].count == 0) {
		rep->order = RL_MIX_BY_NEW;
	} else if (ret == 0 && bad[1].count == 0) {
		rep->order = RL_MIX_BY_OLD;
	} else if (ret == 0) {
		const struct rl_flows *f =
			bad[1].count < bad[0].count ? &bad[1] : &bad[0];

		rep->wrong = f->count;
		mix_name(&r, f);
		ret = mix_cycle(&r);
	}
	mix_end(&r, bad);
	return ret;
}

static int
mix_spare(struct mix_run *r, struct rl_flows *bad, unsigned int k)
{
	const uint64_t n = r->map.nlive, had = bad->count;
	int ret = 0;

	r->rep->order = k == 0 ? RL_MIX_BY_NEW : RL_MIX_BY_OLD;
	if (had != 0 && n * (n - 1) <= RL_CHECK_SPARE_PAIRS)
		ret = check_mix_spare(r, bad);
	if (bad->count < had)
		r->rep->order = RL_MIX_BY_FOUND;
	return ret;
}

int
rl_check_hold(const struct rl_check_mix *mix, struct rl_flows *held,
	      struct rl_check_mix_report *rep)
{
	struct rl_check_mix all = *mix;
	struct rl_flows bad[2];
	struct mix_run r;
	unsigned int k = 0;
	int ret;

	if (mix->rank == NULL && mix->old_rank == NULL)
		return -EINVAL;
	all.held = NULL;
	ret = mix_begin(&r, &all, rep, bad);
	if (ret == 0) {
		k = bad[1].count < bad[0].count;
		ret = mix_spare(&r, &bad[k], k);
	}
	if (ret == 0) {
		rep->held = bad[k].count;
		rep->why = NULL;
		rl_flows_free(held);
		*held = bad[k];
		memset(&bad[k], 0, sizeof(bad[k]));
	}
	mix_end(&r, bad);
	return ret;
}
