/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rl_flit.h"
#include "rl_frame.h"
#include "rl_link_cfg.h"
#include "rl_refuse.h"
#include "rl_seq.h"

void
rl_link_cfg_defaults(struct rl_link_cfg *cfg)
{
	*cfg = (struct rl_link_cfg){
		.retry = true,
		.switching = RL_STORE_AND_FORWARD,
		.window_flits = 512,
		.credits_flits = 256,
		.queue_flits = 128,
		.max_packet_flits = 32,
		.flits_per_frame = 0,
		.vcs = RL_VCS,
		.ack_coalesce_flits = 64,
		.ack_delay_ns = 5 * RL_NS_PER_US,
		.replay_timer_ns = 0,
		.replay_timer_min_ns = 200 * RL_NS_PER_US,
		.replay_timer_max_ns = 20 * RL_NS_PER_MS,
		.replay_limit = 8,
		.retrain_interval_ns = 500 * RL_NS_PER_US,
		.retrain_limit = 8,
		.init_interval_ns = 100 * RL_NS_PER_US,
		.init_action = RL_INIT_BLOCK,
		.keepalive_ns = 1 * RL_NS_PER_MS,
		.keepalive_dead_ns = 20 * RL_NS_PER_MS,
		.detect_phy = true,
		.phy_lost_ns = 0,
		/* twenty times what the FEC model expects at a first error in
		 * 10^6 bits: 2.0e-3 of the flits corrected, 3e-5 not
		 * (docs/evaluation.md). Replays: a wire that loses 2 % of its
		 * frames is still worth using. */
		.error_window_ns = 10 * RL_NS_PER_MS,
		.error_corrected_max = 40000,
		.error_uncorrectable_max = 600,
		.error_replay_max = 50000,
		.loopback = RL_LOOPBACK_WHOLE,
		.replay_isl = 0xf,
		.replay_endpoint = 0xf,
		.resume_delay_ns = 20 * RL_NS_PER_US,
		.restore_delay_ns = 50 * RL_NS_PER_US,
		.watchdog_ns = 1 * RL_NS_PER_S,
		.wait_flits = 1024,
		.no_path_ns = 40 * RL_NS_PER_US,
		.flap_damping_ns = 1 * RL_NS_PER_MS,
		.flap_damping_max_ns = 1 * RL_NS_PER_S,
		.flap_forget_ns = 1 * RL_NS_PER_S,
		.soft_error_check = false,
		.dup_filter = false,
		.lcrc = false,
		.witness = 0,
	};
}

/* Range of one key; max inclusive. */
struct range {
	const char *key;
	uint64_t value;
	uint64_t min;
	uint64_t max;
};

static int
check_ranges(const struct rl_link_cfg *c, char *err, size_t errlen,
	     const char **key)
{
	const uint64_t t_max = 3600 * RL_NS_PER_S;
	const struct range r[] = {
		{ "window_flits", c->window_flits, 1, RL_LINK_WINDOW_MAX },
		{ "credits_flits", c->credits_flits, 1, 32767 },
		{ "queue_flits", c->queue_flits, 1, 32767 },
		{ "max_packet_flits", c->max_packet_flits, 1,
		  RL_PACKET_FLITS_MAX },
		{ "flits_per_frame", c->flits_per_frame, 0,
		  RL_FRAME_FLITS_MAX },
		{ "vcs", c->vcs, 1, RL_VCS },
		{ "ack_coalesce_flits", c->ack_coalesce_flits, 1,
		  RL_LINK_WINDOW_MAX },
		{ "ack_delay_ns", c->ack_delay_ns, 0, RL_NS_PER_S },
		{ "replay_timer_ns", c->replay_timer_ns, 0, t_max },
		{ "replay_timer_min_ns", c->replay_timer_min_ns, 1, t_max },
		{ "replay_timer_max_ns", c->replay_timer_max_ns,
		  c->replay_timer_min_ns, t_max },
		{ "replay_limit", c->replay_limit, 1, 255 },
		{ "retrain_interval_ns", c->retrain_interval_ns, 1, t_max },
		{ "retrain_limit", c->retrain_limit, 1, 255 },
		{ "init_interval_ns", c->init_interval_ns, 1, t_max },
		{ "keepalive_ns", c->keepalive_ns, 0, t_max },
		{ "keepalive_dead_ns", c->keepalive_dead_ns, 0, t_max },
		{ "phy_lost_ns", c->phy_lost_ns, 0, t_max },
		{ "error_window_ns", c->error_window_ns, 0, t_max },
		{ "error_corrected_max", c->error_corrected_max, 0, 1000000 },
		{ "error_uncorrectable_max", c->error_uncorrectable_max, 0,
		  1000000 },
		{ "error_replay_max", c->error_replay_max, 0, 1000000 },
		{ "resume_delay_ns", c->resume_delay_ns, 0, t_max },
		{ "restore_delay_ns", c->restore_delay_ns, 0, t_max },
		{ "watchdog_ns", c->watchdog_ns, 1, t_max },
		{ "wait_flits", c->wait_flits, 0, RL_LINK_WAIT_MAX },
		{ "no_path_ns", c->no_path_ns, 1, t_max },
		{ "flap_damping_ns", c->flap_damping_ns, 0, t_max },
		{ "flap_damping_max_ns", c->flap_damping_max_ns,
		  c->flap_damping_ns, t_max },
		{ "flap_forget_ns", c->flap_forget_ns, 0, t_max },
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(r); i++) {
		if (r[i].value >= r[i].min && r[i].value <= r[i].max)
			continue;
		*key = r[i].key;
		return rl_refuse(err, errlen, -EINVAL, "%s: %llu is out of "
				 "range; use %llu to %llu", r[i].key,
				 (unsigned long long)r[i].value,
				 (unsigned long long)r[i].min,
				 (unsigned long long)r[i].max);
	}
	return 0;
}

static int
check_weights(const struct rl_link_cfg *c, char *err, size_t errlen,
	      const char **key)
{
	for (uint32_t vc = 1; vc < c->vcs; vc++) {
		if ((c->vc_weights[vc] == 0) == (c->vc_weights[0] == 0))
			continue;
		*key = "vc_weights";
		return rl_refuse(err, errlen, -EINVAL, "vc_weights: VC %u has "
				 "none, others have; give each VC one, or none "
				 "to any", c->vc_weights[0] == 0 ? 0 : vc);
	}
	return 0;
}

int
rl_link_cfg_check(const struct rl_link_cfg *c, char *err, size_t errlen,
		  const char **key)
{
	const char *what;
	uint32_t room;

	if (check_ranges(c, err, errlen, key) != 0 ||
	    check_weights(c, err, errlen, key) != 0)
		return -EINVAL;
	if (c->max_packet_flits > c->window_flits) {
		what = "window_flits";
		room = c->window_flits;
	} else if (c->max_packet_flits > c->credits_flits) {
		what = "credits_flits";
		room = c->credits_flits;
	} else if (c->max_packet_flits > c->queue_flits) {
		what = "queue_flits";
		room = c->queue_flits;
	} else if (c->keepalive_dead_ns != 0 && c->keepalive_ns == 0) {
		*key = "keepalive_dead_ns";
		return rl_refuse(err, errlen, -EINVAL, "keepalive_dead_ns: an "
				 "idle link without keepalives would die of "
				 "it; set keepalive_ns, or use 0 for never");
	} else if (c->keepalive_dead_ns != 0 &&
		   c->keepalive_dead_ns < 2 * c->keepalive_ns) {
		*key = "keepalive_dead_ns";
		return rl_refuse(err, errlen, -EINVAL, "keepalive_dead_ns: "
				 "%llu is less than two keepalives; use at "
				 "least %llu, or 0 for never",
				 (unsigned long long)c->keepalive_dead_ns,
				 (unsigned long long)(2 * c->keepalive_ns));
	} else {
		return 0;
	}
	*key = "max_packet_flits";
	return rl_refuse(err, errlen, -EINVAL, "max_packet_flits: a packet of "
			 "%u flits does not fit %s = %u; make the one smaller "
			 "or the other larger", c->max_packet_flits, what,
			 room);
}
