/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Draws the link and endpoint groups: anything that passes the checks of the
 * fabric file may come up. Times are short: what takes an lcore milliseconds
 * takes a simulated fabric with nanosecond flits microseconds.
 */

#include "plan_priv.h"


uint64_t
plan_log(struct rl_prng *prng, uint64_t lo, uint64_t hi)
{
	unsigned int octaves = 0;
	uint64_t top;

	while (lo << (octaves + 1) <= hi)
		octaves++;
	octaves = rl_prng_below(prng, octaves + 1);
	top = rl_min_u64(hi, (lo << (octaves + 1)) - 1);
	return rl_prng_range(prng, lo << octaves, top);
}

static void
link_sizes(struct rl_link_cfg *c, struct rl_prng *prng)
{
	static const uint8_t per_frame[] = { 0, 1, 1, 2, 3, 5, 6, 7, 16, 32 };
	const uint32_t p = (uint32_t)plan_log(prng, 1, 32);

	c->max_packet_flits = p;
	c->window_flits = (uint32_t)plan_log(prng, p, 256);
	c->credits_flits = (uint32_t)plan_log(prng, p, 128);
	c->queue_flits = (uint32_t)plan_log(prng, p, 128);
	c->flits_per_frame =
		per_frame[rl_prng_below(prng, RL_ARRAY_SIZE(per_frame))];
	c->vcs = RL_VCS;
	c->ack_coalesce_flits = (uint32_t)plan_log(prng, 1, 32);
	c->ack_delay_ns = plan_one_in(prng, 4)
				  ? 0
				  : plan_log(prng, 50, 5 * RL_NS_PER_US);
}

static void
link_timers(struct rl_link_cfg *c, struct rl_prng *prng)
{
	c->replay_timer_ns = plan_one_in(prng, 3)
				     ? plan_log(prng, 2000, 50000)
				     : 0;
	c->replay_timer_min_ns = plan_log(prng, 1000, 20000);
	c->replay_timer_max_ns =
		plan_log(prng, c->replay_timer_min_ns, 200000);
	c->replay_limit = plan_one_in(prng, 8)
				  ? 255
				  : (uint32_t)plan_log(prng, 1, 8);
	c->retrain_interval_ns = plan_log(prng, 500, 20000);
	c->retrain_limit = (uint32_t)plan_log(prng, 1, 8);
	c->init_interval_ns = plan_log(prng, 500, 20000);
	c->keepalive_ns = plan_log(prng, 2000, 50000);
	c->keepalive_dead_ns =
		c->keepalive_ns * rl_prng_range(prng, 2, 10);
	if (plan_one_in(prng, 4)) { /* no keepalives */
		c->keepalive_ns = c->keepalive_dead_ns = 0;
		if (!plan_one_in(prng, 3))
			c->replay_limit = 255;
	}
	c->detect_phy = !plan_one_in(prng, 3);
	c->phy_lost_ns =
		plan_one_in(prng, 2) ? 0 : plan_log(prng, 100, 50000);
	if (plan_one_in(prng, 4)) {
		c->error_window_ns = plan_log(prng, 2000, 200000);
		c->error_corrected_max = 1000 * (uint32_t)plan_log(prng, 8, 100);
		c->error_uncorrectable_max = 500 * (uint32_t)plan_log(prng, 4, 20);
		c->error_replay_max = 4 * c->error_uncorrectable_max;
	}
	c->flap_damping_ns =
		plan_one_in(prng, 3) ? 0 : plan_log(prng, 100, 50000);
	c->flap_damping_max_ns =
		plan_log(prng, c->flap_damping_ns + 1, 200000);
	c->flap_forget_ns = plan_log(prng, 1000, 1000000);
	c->resume_delay_ns =
		plan_one_in(prng, 3) ? 0 : plan_log(prng, 100, 20000);
	c->restore_delay_ns =
		plan_one_in(prng, 3) ? 0 : plan_log(prng, 100, 50000);
}

/*
 * Own generator. A dropped packet is sent again out of order, so strict plans
 * drop none.
 */
static void
link_init_action(struct rl_swarm_plan *plan)
{
	struct rl_link_cfg *c = &plan->cfg.link;
	struct rl_prng prng;

	rl_prng_seed(&prng, plan->seed ^ 0x696e6974);
	if (plan_one_in(&prng, 6))
		c->init_action = RL_INIT_BEST_EFFORT;
	if (!plan->strict_order && plan_one_in(&prng, 12)) {
		c->init_action = RL_INIT_DISCARD;
		plan->reports_ok = true;
	}
}

/*
 * The waiting room, from its own generator: packets without a path wait through
 * any outage here, or give up early, or find no room and are reported.
 */
static void
link_wait(struct rl_swarm_plan *plan)
{
	struct rl_link_cfg *c = &plan->cfg.link;
	struct rl_prng prng;

	rl_prng_seed(&prng, plan->seed ^ 0x77616974);
	c->no_path_ns = c->watchdog_ns;
	if (plan_one_in(&prng, 3))
		c->wait_flits = (uint32_t)plan_log(&prng, 1024, 8192);
	if (plan->strict_order)
		return;
	if (plan_one_in(&prng, 8)) {
		c->no_path_ns = plan_log(&prng, 5000, 500000);
		plan->reports_ok = true;
	}
	if (plan_one_in(&prng, 8)) {
		c->wait_flits = (uint32_t)plan_log(&prng, 1, 64) - 1;
		plan->reports_ok = true;
	}
}

void
plan_link(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_link_cfg *c = &plan->cfg.link;

	rl_link_cfg_defaults(c);
	link_sizes(c, prng);
	link_timers(c, prng);
	c->dup_filter = plan_one_in(prng, 2);
	c->soft_error_check = plan_one_in(prng, 2);
	c->switching = plan_one_in(prng, 2) ? RL_CUT_THROUGH
					    : RL_STORE_AND_FORWARD;
	c->watchdog_ns = 50 * RL_NS_PER_MS;
	link_wait(plan);
	link_init_action(plan);
	if (plan->strict_order) {
		c->flap_damping_ns = rl_min_u64(c->flap_damping_ns, 10000);
		c->flap_damping_max_ns = 20000;
		return;
	}
	if (plan_one_in(prng, 8)) { /* modes of the related art lose packets */
		c->loopback = plan_one_in(prng, 4) ? RL_LOOPBACK_NONE
						   : RL_LOOPBACK_UNACKED;
		plan->losses_ok = !plan->cfg.endpoint.retry;
	}
	/* longer than any outage here, or short with reports */
	if (plan_one_in(prng, 6)) {
		c->watchdog_ns = plan_log(prng, 5000, 500000);
		plan->reports_ok = true;
	}
	if (plan_one_in(prng, 10)) { /* some classes are not looped out */
		c->replay_isl = (uint8_t)(8 | rl_prng_below(prng, 8));
		c->replay_endpoint = (uint8_t)(8 | rl_prng_below(prng, 8));
		plan->reports_ok = true;
	}
	/* an RXL hop: endpoints must repair any loss [LCB-4] */
	c->retry = !(plan->cfg.endpoint.retry && plan_one_in(prng, 4));
	/* then only later frames reveal that the end of a packet is lost */
	if (!c->retry && c->keepalive_ns == 0) {
		c->keepalive_ns = 20000;
		c->keepalive_dead_ns = 100000;
	}
}

/* Half of the plans each have what is shipped: windows by congestion, and numbers
   for large ones. Drawn apart, so that all else of a seed stays as it is. */
static void
draw_windows(struct rl_ep_cfg *c, uint64_t seed)
{
	struct rl_prng prng;

	rl_prng_seed(&prng, seed ^ 0x636f6e67);
	c->congestion = plan_one_in(&prng, 2) ? RL_CONGESTION_DELAY
					      : RL_CONGESTION_NONE;
	if (c->crc != RL_CRC_BCH || c->isn != RL_ISN_WIDE ||
	    plan_one_in(&prng, 4))
		return;
	c->isn = RL_ISN_WIDE19;
	c->window_flits = c->retry ? (uint32_t)plan_log(
					     &prng, c->max_packet_flits,
					     rl_ep_cfg_window(c))
				   : rl_ep_cfg_window(c);
}

/* Needs the link group, because its longest packet must fit. */
void
plan_endpoint(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_ep_cfg *c = &plan->cfg.endpoint;
	const uint32_t p = plan->cfg.link.max_packet_flits;
	const bool retry = c->retry;

	rl_ep_cfg_defaults(c);
	c->retry = retry;
	c->max_packet_flits = p;
	c->retry_mode = plan_one_in(prng, 2) ? RL_RETRY_GBN
					     : RL_RETRY_SELECTIVE;
	c->crc = plan_one_in(prng, 2) ? RL_CRC_ECMA : RL_CRC_BCH;
	c->isn = plan_one_in(prng, 2) ? RL_ISN_XOR10 : RL_ISN_WIDE;
	/* without retry, only the window limits reordering */
	c->window_flits = retry ? (uint32_t)plan_log(prng, p, 511) : 511;
	draw_windows(c, plan->seed);
	c->max_flows = 64;
	c->ack_coalesce_flits = (uint32_t)plan_log(prng, 1, 16);
	c->ack_coalesce_flits =
		rl_min_u32(c->ack_coalesce_flits, c->window_flits);
	c->ack_delay_ns = plan_log(prng, 100, 10000);
	c->nak_delay_ns = plan_log(prng, 500, 50000);
	c->retry_timer_min_ns = plan_log(prng, 10000, 200000);
	c->retry_timer_max_ns = 20 * RL_NS_PER_MS;
	c->retry_limit = 0;
	c->gap_skip_ns = 20 * RL_NS_PER_MS;
}
