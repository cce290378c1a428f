/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_parts.h"
#include "check_walk.h"
#include "rl_check_ranks.h"

static int
run_init(struct check_run *r, const struct rl_check_in *in, bool grouped,
	 struct rl_check_report *rep)
{
	const struct rl_topo *t = in->topo;

	memset(r, 0, sizeof(*r));
	memset(rep, 0, sizeof(*rep));
	r->in = in;
	r->topo = t;
	r->rep = rep;
	r->nchan = t->nlink * 2 * RL_VCS;
	r->grouped = grouped;
	r->load = calloc((size_t)t->nlink * 2 + 1, sizeof(*r->load));
	r->used = calloc((size_t)r->nchan + 1, 1);
	if (in->parts) {
		r->part = check_parts(t);
		if (r->part == NULL)
			return -ENOMEM;
	}
	if (in->stretch) {
		r->dist = malloc((size_t)t->ndev * sizeof(*r->dist));
		r->queue = malloc((size_t)t->ndev * sizeof(*r->queue));
		if (r->dist == NULL || r->queue == NULL)
			return -ENOMEM;
	}
	if (check_dead_init(&r->dead, t) != 0 ||
	    check_deps_init(&r->deps) != 0 || r->load == NULL ||
	    r->used == NULL)
		return -ENOMEM;
	return 0;
}

static void
run_free(struct check_run *r)
{
	check_deps_free(&r->deps);
	check_dead_free(&r->dead);
	free(r->load);
	free(r->used);
	free(r->dist);
	free(r->queue);
	free(r->part);
}

static void
run_sum_up(struct check_run *r)
{
	struct rl_check_report *rep = r->rep;
	uint64_t sum = 0, links = 0;
	bool vl[RL_VCS] = {false};

	for (uint32_t c = 0; c < r->nchan; c++) {
		rep->channels += r->used[c];
		if (r->used[c] &&
		    r->topo->link[c / RL_VCS / 2].kind == RL_LINK_ISL)
			vl[c % RL_VCS] = true;
	}
	for (unsigned int v = 0; v < RL_VCS; v++)
		rep->nvls += vl[v];
	for (uint32_t l = 0; l < r->topo->nlink * 2; l++) {
		if (r->topo->link[l / 2].kind != RL_LINK_ISL ||
		    check_is_dead(&r->dead, l / 2))
			continue;
		links++;
		sum += r->load[l];
		if (r->load[l] > rep->load_max)
			rep->load_max = r->load[l];
	}
	rep->load_mean = links != 0 ? (double)sum / (double)links : 0;
	rep->deps = r->deps.count;
	if (rep->reachable != 0)
		rep->stretch_mean = r->stretch / (double)rep->reachable;
}

static int
run_follow(struct check_run *r)
{
	const bool simple = r->in->old == NULL && !r->in->joins &&
			    r->in->alts == RL_CHECK_FIRST;

	/* Dependencies from before the links died are live together with those
	   after. */
	for (int after = r->in->ndead == 0; after < 2; after++) {
		if (after)
			for (uint32_t i = 0; i < r->in->ndead; i++)
				check_kill(&r->dead, r->in->dead[i]);
		r->count = after;
		if (simple)
			check_pairs(r);
		else if (check_states(r) != 0)
			return -ENOMEM;
	}
	return 0;
}

static void
run_apart(struct check_run *r)
{
	for (uint32_t c = 0; c < r->nchan; c++) {
		const struct rl_topo_link *l = &r->topo->link[c / RL_VCS / 2];
		const uint32_t from = l->dev[c / RL_VCS & 1];

		r->rep->joins_lost +=
			r->used[c] &&
			c % RL_VCS == rl_fwd_adapt_vl(&r->in->fwd[from]);
	}
	if (r->rep->joins_lost != 0 && r->rep->lost_why == NULL)
		r->rep->lost_why = "uses the adaptive plane's VL by the tables";
}

/* rank: an order to be filled if there is no cycle, or NULL */
static int
run_check(const struct rl_check_in *in, struct rl_check_report *rep,
	  uint32_t *rank)
{
	struct check_run r;
	int ret = run_init(&r, in, rank != NULL, rep);

	if (ret == 0)
		ret = run_follow(&r);
	if (ret == 0) {
		run_sum_up(&r);
		rep->descends = in->rank != NULL &&
				!check_deps_ascend(&r.deps, in->rank);
		ret = check_deps_cycle(&r.deps, r.nchan, rep);
	}
	if (ret == 0 && in->joins)
		run_apart(&r);
	if (ret == 0 && rank != NULL)
		ret = check_deps_order(&r.deps, NULL, r.nchan, rank);
	if (ret == 0 && (rep->reachable < rep->pairs || rep->joins_lost != 0))
		ret = -EHOSTUNREACH;
	run_free(&r);
	return ret;
}

int
rl_check(const struct rl_check_in *in, struct rl_check_report *rep)
{
	return run_check(in, rep, NULL);
}

/* The paths were followed on the first service level. The others use VLs of
 * their own in the same way. */
static void
rank_levels(const struct rl_topo *topo, const struct rl_fwd *fwd,
	    uint32_t *rank)
{
	unsigned int levels = 1, vls = 1;

	for (uint32_t d = 0; d < topo->ndev; d++) {
		if (fwd[d].levels <= levels)
			continue;
		levels = fwd[d].levels;
		vls = rl_max_u32(fwd[d].nvls / levels, 1);
	}
	for (uint32_t c = 0; levels > 1 && c < rl_channels(topo); c++)
		if (c % RL_VCS >= vls && c % RL_VCS < vls * levels)
			rank[c] = rank[c - c % RL_VCS + c % RL_VCS % vls];
}

int
rl_check_find_ranks(const struct rl_topo *topo, const struct rl_fwd *fwd,
		    uint32_t *rank, struct rl_check_report *rep)
{
	const struct rl_check_in in = {.topo = topo, .fwd = fwd,
				       .alts = RL_CHECK_ALL};
	const int ret = run_check(&in, rep, rank);

	if (ret == 0 || ret == -EHOSTUNREACH) {
		for (uint32_t c = 0; c < rl_channels(topo); c++)
			rank[c] = rank[check_first_beside(topo, fwd, c)];
		rank_levels(topo, fwd, rank);
	}
	return ret == -EHOSTUNREACH ? 0 : ret;
}

char *
rl_check_cycle_text(const struct rl_topo *topo,
		    const struct rl_check_report *rep, char *buf, size_t len)
{
	char item[6 * RL_NAME_MAX];
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < rep->cycle_len && i < RL_CHECK_CYCLE_MAX; i++) {
		const struct rl_check_dep *c = &rep->cycle[i];
		const struct rl_topo_link *l = &topo->link[c->link];
		const int more = snprintf(item, sizeof(item),
			"%s%s:%s#%u:%u (%s->%s)", i == 0 ? "" : " ",
			topo->dev[l->dev[c->end]].name,
			topo->dev[l->dev[!c->end]].name, l->k, c->vl,
			topo->dev[topo->ep_dev[c->src]].name,
			topo->dev[topo->ep_dev[c->dst]].name);

		/* Only whole channels, and room to say that there are more. */
		if (n + (size_t)more + sizeof(" ...") > len) {
			snprintf(buf + n, len - n, " ...");
			break;
		}
		memcpy(buf + n, item, (size_t)more + 1);
		n += (size_t)more;
	}
	return buf;
}
