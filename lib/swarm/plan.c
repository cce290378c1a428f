/* SPDX-License-Identifier: BSD-3-Clause */

/* Draws a whole plan. */

#include <errno.h>
#include <string.h>

#include "plan_priv.h"

/*
 * Each part has its own generator: a change in one does not affect the others.
 */
static void
part(struct rl_prng *prng, uint64_t seed, uint64_t which)
{
	uint64_t x = seed + which * 0x9e3779b97f4a7c15ull;

	rl_prng_seed(prng, rl_splitmix64(&x));
}

/* Own generator: the other draws of a seed stay the same. */
static bool
draw_turns(uint64_t seed)
{
	struct rl_prng prng;

	rl_prng_seed(&prng, seed ^ 0x7475726e);
	return plan_one_in(&prng, 4);
}

/* Most plans let links at rest skip their keepalives. */
static bool
draw_doze(uint64_t seed)
{
	struct rl_prng prng;

	rl_prng_seed(&prng, seed ^ 0x646f7a65);
	return !plan_one_in(&prng, 8);
}

static void
draw_host(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	rl_sim_wire_defaults(&plan->wire);
	plan->wire.latency_ns = plan_log(prng, 10, 2000);
	/* with less than a round trip, a port never hears its peer */
	plan->cfg.link.retrain_interval_ns =
		rl_max_u64(plan->cfg.link.retrain_interval_ns,
			   (2 * plan->wire.latency_ns + 2000) /
				   plan->cfg.link.retrain_limit);
	plan->wire.queue_frames = (uint32_t)plan_log(prng, 1, 8);
	/* poll at once, or late and unevenly like lcores */
	plan->poll_ns = plan_one_in(prng, 2) ? 0 : plan_log(prng, 5, 500);
	plan->poll_jitter_ns =
		plan_one_in(prng, 2) ? 0 : plan_log(prng, 10, 2000);
	if (plan->strict_order)
		plan->poll_jitter_ns = 0; /* otherwise packets overtake at
					     polls */
	plan->notice_ns = plan_log(prng, 100, 10000);
	/* poll whole devices like an lcore, or single roles */
	plan->turns = !plan->strict_order && draw_turns(plan->seed);
	plan->doze = draw_doze(plan->seed);
}

/* Share of packets that are requests: some, half or all; each is answered. */
static uint32_t
draw_requests(uint64_t seed)
{
	static const uint32_t ppm[] = { 100000, 500000, 1000000 };
	struct rl_prng prng;

	rl_prng_seed(&prng, seed ^ 0x72657173);
	return ppm[rl_prng_below(&prng, RL_ARRAY_SIZE(ppm))];
}

static uint64_t
draw_load(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	static const double loads[] = { 0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 2.0 };
	struct rl_sim_load_cfg *c = &plan->load;
	const double flits = (double)plan_log(prng, 100, 4000);

	*c = (struct rl_sim_load_cfg){
		.pattern.hot_pct = 25,
		.slot_ps = plan->wire.flit_ps,
		.min_flits = 1,
		.max_flits = plan->cfg.link.max_packet_flits,
		.cos = 1,
		.seed = plan->seed,
		.nep = (uint16_t)plan->cfg.topo.nep,
	};
	c->pattern.kind = (enum rl_pattern_kind)rl_prng_below(
		prng, RL_PATTERN_TRANSPOSE);
	c->load = loads[rl_prng_below(prng, RL_ARRAY_SIZE(loads))];
	if (plan->cfg.levels > 1 || plan_one_in(prng, 3))
		c->cos = 1 + rl_prng_below(prng, 4);
	if (plan_one_in(prng, 2))
		c->requests_ppm = draw_requests(plan->seed);
	c->start_ns = rl_prng_range(prng, 0, 20000);
	if (plan_one_in(prng, 3))
		c->min_flits = c->max_flits;
	c->stop_ns = c->start_ns + 500 +
		     (uint64_t)(flits * c->slot_ps / 1000 / c->load / c->nep);
	if (plan_one_in(prng, 3)) {
		c->burst_ns = plan_log(prng, 200, 20000);
		c->pause_ns = plan_log(prng, 200, 20000);
	}
	/*
	 * Without end-to-end retry, only the receiver's window restores the
	 * order after several failures at once. A flow no longer than the
	 * window cannot exceed it by overtaking itself.
	 */
	if (!plan->cfg.endpoint.retry && !plan->strict_order)
		c->flow_packets = plan->cfg.endpoint.window_flits /
				  c->max_flits;
	if (c->flow_packets != 0 && c->requests_ppm != 0)
		c->flow_packets /= 2; /* there may be as many responses */
	return c->stop_ns - c->start_ns;
}

/* Draws the properties that others depend on. */
static void
draw_kind(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	plan->cfg.vls = RL_VCS;
	plan->cfg.endpoint.retry = plan_one_in(prng, 2);
	plan->fec_safe = !plan->cfg.endpoint.retry;
	plan->strict_order = !plan->cfg.endpoint.retry &&
			     plan_one_in(prng, 3);
}

/* Failures one at a time, and traffic for as long as they last. */
static int
draw_strict(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_sim_load_cfg *c = &plan->load;
	int err = 0;
	const uint64_t end = plan_strict_faults(plan, prng, &err);
	const double flits = (double)plan_log(prng, 500, 8000);

	c->stop_ns = end;
	c->load = flits * c->slot_ps / 1000 / c->nep / (double)end;
	c->burst_ns = 0;
	if (plan_one_in(prng, 2)) { /* the same amount in bursts at full
				       speed */
		const uint64_t n = rl_prng_range(prng, 4, 40);

		c->burst_ns = (uint64_t)((double)(end / n) * c->load) + 100;
		c->pause_ns = end / n;
		c->load = 1;
	}
	plan->heal_ns = end + 1000;
	plan->limit_ns = plan->heal_ns + 400 * RL_NS_PER_MS;
	return err;
}

static int
check(const struct rl_swarm_plan *plan, char *err)
{
	const char *key;

	if (rl_link_cfg_check(&plan->cfg.link, err, RL_ERR_MAX, &key) != 0 ||
	    rl_ep_cfg_check(&plan->cfg.endpoint, err, RL_ERR_MAX, &key) != 0)
		return -EINVAL;
	return 0;
}

int
rl_swarm_plan_draw(struct rl_swarm_plan *plan, uint64_t seed, char *err)
{
	uint32_t kinds = (1u << RL_SWARM_KIND_COUNT) - 1;
	struct rl_prng prng;
	uint64_t span;
	int ret;

	memset(plan, 0, sizeof(*plan));
	plan->seed = seed;
	part(&prng, seed, 0);
	draw_kind(plan, &prng);
	rl_resil_cfg_defaults(&plan->cfg.controller);
	part(&prng, seed, 1);
	ret = plan_fabric(plan, &prng, err);
	if (ret != 0)
		goto err_free;
	part(&prng, seed, 2);
	plan_link(plan, &prng);
	plan_endpoint(plan, &prng);
	ret = check(plan, err);
	if (ret != 0)
		goto err_free;
	part(&prng, seed, 3);
	draw_host(plan, &prng);
	part(&prng, seed, 4);
	span = draw_load(plan, &prng);
	part(&prng, seed, 5);
	if (plan->strict_order)
		ret = draw_strict(plan, &prng);
	else
		ret = rl_swarm_plan_faults(plan, seed, kinds,
					 plan->load.start_ns,
					 plan->load.start_ns + span +
						 span / 2);
	if (ret != 0)
		goto err_free;
	part(&prng, seed, 6);
	ret = plan_resil(plan, &prng);
	if (ret != 0)
		goto err_free;
	return 0;

err_free:
	rl_swarm_plan_free(plan);
	return ret;
}

void
rl_swarm_plan_free(struct rl_swarm_plan *plan)
{
	rl_route_free(plan->route);
	rl_topo_free(&plan->cfg.topo);
	rl_sim_faults_free(&plan->faults);
	memset(plan, 0, sizeof(*plan));
}
