/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acceptance: the checker, which shares no code with the engines, must pass
 * every table before a device gets it. Computing and accepting are separate
 * steps: a program that compares a hundred fabrics need not prove them all; one
 * that installs must.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "rl_refuse.h"
#include "route_impl.h"

#define ACCEPT_WHY 160

static int
accept_loop(const struct rl_topo *topo, const struct rl_check_report *rep,
	    const char *what, char *err)
{
	char cycle[ACCEPT_WHY];

	return rl_refuse(err, RL_ERR_MAX, -EHOSTUNREACH, "%scredit loop of %u "
			 "channels: %s", what, rep->cycle_len,
			 rl_check_cycle_text(topo, rep, cycle, sizeof(cycle)));
}

static int
accept_say(const struct rl_topo *topo, int verdict,
	   const struct rl_check_report *rep, const char *what, char *err)
{
	if (verdict == -ELOOP)
		return accept_loop(topo, rep, what, err);
	if (verdict == -EHOSTUNREACH)
		snprintf(err, RL_ERR_MAX, "%sa packet from %s to %s %s", what,
			 topo->dev[topo->ep_dev[rep->lost_src]].name,
			 topo->dev[topo->ep_dev[rep->lost_dst]].name,
			 rep->lost_why);
	else if (verdict != 0)
		snprintf(err, RL_ERR_MAX, "no memory to check the tables");
	return verdict;
}

/* Has the checker judge tables; what: how a refusal begins. */
static int
accept_check(const struct rl_check_in *in, const char *what, char *err)
{
	struct rl_check_report *rep = malloc(sizeof(*rep));
	int ret = rep != NULL ? rl_check(in, rep) : -ENOMEM;

	ret = accept_say(in->topo, ret, rep, what, err);
	free(rep);
	return ret;
}

int
route_prove(struct rl_route *route, const struct rl_topo *topo, char *err)
{
	const struct rl_check_in in = {.topo = topo, .fwd = route->fwd,
				       .parts = route->parts};

	return accept_check(&in, "", err);
}

/* Gives tables without ranks an order found by a search. */
static int
accept_find(struct rl_route *route, const struct rl_topo *topo,
	    struct rl_check_report *rep, char *err)
{
	int ret;

	route->rank = malloc((rl_channels(topo) + 1u) * sizeof(*route->rank));
	ret = route->rank == NULL ? -ENOMEM :
		rl_check_find_ranks(topo, route->fwd, route->rank, rep);
	if (ret != 0) {
		free(route->rank);
		route->rank = NULL;
	}
	return accept_say(topo, ret, rep, "", err);
}

/* Ranks prove nothing: are the tables wrong, or only the ranks? */
static int
accept_descends(const struct rl_route *route, const struct rl_topo *topo,
		const struct rl_ranks_report *ranks,
		struct rl_check_report *rep, char *err)
{
	const struct rl_topo_link *l = &topo->link[ranks->to / RL_VCS / 2];
	struct rl_check_in in = {.topo = topo, .fwd = route->fwd,
				 .parts = route->parts};
	int ret = rl_check(&in, rep);

	if (ret != 0)
		return accept_say(topo, ret, rep, "", err);
	in.alts = RL_CHECK_ALL;
	ret = rl_check(&in, rep);
	if (ret != 0 && ret != -EHOSTUNREACH)
		return accept_say(topo, ret, rep, "detours: ", err);
	return rl_refuse(err, RL_ERR_MAX, -EHOSTUNREACH, "the ranks of engine "
			 "%s are wrong: on the link %s-%s for %s",
			 route->engine, topo->dev[l->dev[0]].name,
			 topo->dev[l->dev[1]].name,
			 topo->dev[topo->ep_dev[ranks->dst]].name);
}

/* Whatever next hops packets choose, they never wait in a cycle, and by the
 * first ones they arrive. */
static int
accept_ranks(struct rl_route *route, const struct rl_topo *topo, char *err)
{
	struct rl_check_report *rep = malloc(sizeof(*rep));
	struct rl_ranks_report ranks;
	struct rl_check_ranks in = {.topo = topo, .fwd = route->fwd,
				    .parts = route->parts};
	int ret = rep == NULL ? -ENOMEM : 0;

	if (ret == 0 && route->rank == NULL)
		ret = accept_find(route, topo, rep, err);
	if (ret == 0) {
		in.rank = route->rank;
		ret = rl_check_ranks(&in, &route->proof, &ranks);
		if (ret == -ELOOP)
			ret = accept_descends(route, topo, &ranks, rep, err);
		else if (ret == -EHOSTUNREACH)
			snprintf(err, RL_ERR_MAX, "a packet from %s to %s %s",
				 topo->dev[topo->ep_dev[ranks.lost_src]].name,
				 topo->dev[topo->ep_dev[ranks.lost_dst]].name,
				 ranks.lost_why);
	}
	if (ret == -ENOMEM)
		snprintf(err, RL_ERR_MAX, "no memory to check the tables");
	free(rep);
	return ret;
}

/* Whether packets may leave the adaptive plane anywhere, and arrive. */
static int
accept_joins(struct rl_route *route, const struct rl_topo *topo,
	     char *err)
{
	struct rl_check_in in = {.topo = topo, .fwd = route->fwd,
				 .alts = RL_CHECK_ALL, .parts = route->parts,
				 .joins = true, .rank = route->rank};
	struct rl_check_report *rep = malloc(sizeof(*rep));
	int ret = rep == NULL ? -ENOMEM : rl_check(&in, rep);

	route->ascends = rep != NULL && !rep->descends;
	if (ret == 0 || ret == -EHOSTUNREACH) {
		in.alts = RL_CHECK_FIRST;
		ret = rl_check(&in, rep);
	}
	ret = accept_say(topo, ret, rep, "adaptive plane: ", err);
	free(rep);
	return ret;
}

/* Takes the adaptive plane away if it is not proven, even with SL 0 alone. */
static int
accept_adapt(struct rl_route *route, const struct rl_topo *topo)
{
	int ret = accept_joins(route, topo, route->plain_why);

	if (ret == -EHOSTUNREACH) {
		const unsigned int vl = route->fwd[0].adapt_vl;

		route_adapt_drop(route);
		ret = route_adapt(route, topo, vl, 1, route->plain_why);
		if (ret == 0)
			ret = accept_joins(route, topo, route->plain_why);
	}
	if (ret != 0)
		route_adapt_drop(route);
	return ret == -ENOMEM ? ret : 0;
}

static int
accept_mix(const struct rl_route *route, const struct rl_route *old,
	   const struct rl_topo *topo, char *err)
{
	const struct rl_check_in in = {.topo = topo, .fwd = route->fwd,
				       .old = old->fwd,
				       .parts = route->parts};

	return accept_check(&in, "mixed with the tables before: ", err);
}

int
rl_route_accept(struct rl_route *route, const struct rl_topo *topo,
		const struct rl_route *old, char *err)
{
	int ret = 0;

	if (!route->accepted)
		ret = accept_ranks(route, topo, err);
	if (ret == 0 && !route->accepted && route->adapts)
		ret = accept_adapt(route, topo);
	if (ret == 0)
		route->accepted = true;
	if (ret == 0 && old != NULL)
		ret = accept_mix(route, old, topo, err);
	return ret;
}

/* The tables of rl_route_setup(), not yet accepted. */
static int
setup_compute(const struct rl_topo *topo, const char *engine,
	      unsigned int max_vls, unsigned int levels, struct rl_route **out,
	      char *err)
{
	const struct rl_route_params params = {
		.engine = engine, .max_vls = max_vls, .qos_levels = 1,
		.adaptive = true};

	if (levels != RL_ROUTE_ADAPTIVE && levels != RL_ROUTE_MAY_ADAPT)
		return rl_route_compute_levels(topo, engine, max_vls, levels,
					       out, err);
	return rl_route_compute_with(topo, &params, out, err);
}

int
rl_route_setup(const struct rl_topo *topo, const char *engine,
	       unsigned int max_vls, unsigned int levels,
	       struct rl_route **out, char *err)
{
	int ret = setup_compute(topo, engine, max_vls, levels, out, err);

	if (ret != 0)
		return ret;
	ret = rl_route_accept(*out, topo, NULL, err);
	if (ret == 0 && levels == RL_ROUTE_ADAPTIVE && !(*out)->adapts) {
		snprintf(err, RL_ERR_MAX, "%s", (*out)->plain_why);
		ret = -EHOSTUNREACH;
	}
	if (ret != 0) {
		rl_route_free(*out);
		*out = NULL;
	}
	return ret;
}

int
rl_route_hold(const struct rl_route *old, const struct rl_route *route,
	      const struct rl_topo *topo, enum rl_check_alts alts,
	      const uint32_t *dead, uint32_t ndead, struct rl_flows *held,
	      struct rl_check_mix_report *rep)
{
	const struct rl_check_mix mix = {
		.topo = topo,
		.old = old->fwd,
		.fwd = route->fwd,
		.old_rank = old->rank,
		.rank = route->rank,
		.old_proof = old->accepted ? old->proof : NULL,
		.proof = route->accepted ? route->proof : NULL,
		.alts = alts,
		.dead = dead,
		.ndead = ndead,
	};

	return rl_check_hold(&mix, held, rep);
}
