/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acceptance: no table gets into a device before the checker, which shares no
 * code with the engines, has passed it. Computing and accepting are two steps,
 * because the proof takes longer than the tables: who computes a hundred
 * fabrics to compare them need not prove them all, who installs one must.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "route_impl.h"

#define ACCEPT_WHY 160

static int
accept_loop(const struct rl_topo *topo, const struct rl_check_report *rep,
	    const char *what, char *err)
{
	char cycle[ACCEPT_WHY];

	snprintf(err, RL_ERR_MAX, "%scredit loop of %u channels: %s", what,
		 rep->cycle_len,
		 rl_check_cycle_text(topo, rep, cycle, sizeof(cycle)));
	return -EHOSTUNREACH;
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

int
route_prove(struct rl_route *route, const struct rl_topo *topo, char *err)
{
	const struct rl_check_in in = {.topo = topo, .fwd = route->fwd};
	struct rl_check_report *rep = malloc(sizeof(*rep));
	struct route_mem *m = route->priv;
	int ret = -ENOMEM;

	if (rep != NULL)
		ret = rl_check(&in, rep);
	ret = accept_say(topo, ret, rep, "", err);
	m->paths_proven = ret == 0;
	free(rep);
	return ret;
}

/* Whatever packets choose among their next hops, they wait in no circle. */
static int
accept_detours(const struct rl_route *route, const struct rl_topo *topo,
	       char *err)
{
	const struct rl_check_in in = {.topo = topo, .fwd = route->fwd,
				       .alts = RL_CHECK_ALL};
	struct rl_check_report *rep = malloc(sizeof(*rep));
	int ret = -ENOMEM;

	if (rep != NULL)
		ret = rl_check(&in, rep);
	/* A detour that ends nowhere is no promise; one that waits for itself
	 * stops others. */
	if (ret == -EHOSTUNREACH)
		ret = 0;
	ret = accept_say(topo, ret, rep, "detours: ", err);
	free(rep);
	return ret;
}

static int
accept_mix(const struct rl_route *route, const struct rl_route *old,
	   const struct rl_topo *topo, char *err)
{
	const struct rl_check_in in = {.topo = topo, .fwd = route->fwd,
				       .old = old->fwd};
	struct rl_check_report *rep = malloc(sizeof(*rep));
	int ret = -ENOMEM;

	if (rep != NULL)
		ret = rl_check(&in, rep);
	ret = accept_say(topo, ret, rep, "mixed with the tables before: ", err);
	free(rep);
	return ret;
}

int
rl_route_accept(struct rl_route *route, const struct rl_topo *topo,
		const struct rl_route *old, char *err)
{
	const struct route_mem *m = route->priv;
	int ret = 0;

	if (!route->accepted && !m->paths_proven)
		ret = route_prove(route, topo, err);
	if (ret == 0 && !route->accepted)
		ret = accept_detours(route, topo, err);
	if (ret == 0)
		route->accepted = true;
	if (ret == 0 && old != NULL)
		ret = accept_mix(route, old, topo, err);
	return ret;
}

int
rl_route_setup(const struct rl_topo *topo, const char *engine,
	       unsigned int max_vls, unsigned int levels,
	       struct rl_route **out, char *err)
{
	int ret = rl_route_compute_levels(topo, engine, max_vls, levels, out,
					  err);

	if (ret != 0)
		return ret;
	ret = rl_route_accept(*out, topo, NULL, err);
	if (ret != 0) {
		rl_route_free(*out);
		*out = NULL;
	}
	return ret;
}
