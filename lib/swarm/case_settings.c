/* SPDX-License-Identifier: BSD-3-Clause */

/* `run` lines: settings of a run that no fabric file knows. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case_priv.h"
#include "rl_frame.h"

#define SETTINGS_A_LINE 6

#define AT(field)                                                              \
	.offset = offsetof(struct rl_swarm_plan, field),                       \
	.size = sizeof(((struct rl_swarm_plan *)0)->field)
#define MAY(k, field) { .key = k, AT(field) }
#define MUST(k, field) { .key = k, AT(field), .needed = true }
/* Sums of a few times must fit 64 bits, also in ps. */
#define NS_MAX (1000000 * RL_NS_PER_S)
#define UP_TO(k, field, limit) { .key = k, AT(field), .most = (limit) }
#define MAY_NS(k, field) UP_TO(k, field, NS_MAX)
#define MAY_NEVER(k, field)                                                    \
	{ .key = k, AT(field), .most = NS_MAX, .never = true }
#define MUST_NS(k, field)                                                      \
	{ .key = k, AT(field), .most = NS_MAX, .needed = true }

static const struct rl_swarm_setting settings[] = {
	MUST("seed", seed),
	{ .key = "traffic", AT(load.pattern.kind), .word = true },
	UP_TO("hot_pct", load.pattern.hot_pct, 100),
	MAY("hosts", load.pattern.hosts_per_switch),
	MAY("dims", load.pattern.ndims),
	MAY("x", load.pattern.dims[0]),
	MAY("y", load.pattern.dims[1]),
	MAY("z", load.pattern.dims[2]),
	{ .key = "load", AT(load.load), .real = true, .needed = true },
	MAY("min_flits", load.min_flits),
	MAY("max_flits", load.max_flits),
	MAY("classes", load.cos),
	MAY("by_kind", load.by_kind),
	UP_TO("requests_ppm", load.requests_ppm, 1000000),
	MUST("packets", load.packets),
	MAY("flow_packets", load.flow_packets),
	MUST_NS("start_ns", load.start_ns),
	{ .key = "stop_ns", AT(load.stop_ns), .needed = true,
	  .most = NS_MAX, .never = true },
	MAY_NS("pause_ns", load.pause_ns),
	MAY_NS("burst_ns", load.burst_ns),
	MAY_NS("slow_ns", load.slow_ns),
	MAY_NS("take_ns", load.take_ns),
	UP_TO("flit_ps", wire.flit_ps, 1000000000),
	MAY_NS("latency_ns", wire.latency_ns),
	UP_TO("queue_frames", wire.queue_frames, 65535),
	UP_TO("frame_bytes", wire.frame_bytes,
	      65535 + RL_FRAME_LINK_OFF),
	MAY_NS("poll_ns", poll_ns),
	MAY_NS("poll_jitter_ns", poll_jitter_ns),
	MAY_NS("tick_ns", tick_ns),
	MAY("turns", turns),
	MAY("doze", doze),
	MAY_NEVER("notice_ns", notice_ns),
	MAY("keyed", keyed),
	MAY("controller", controller),
	MAY_NS("channel_ns", resil.delay_ns),
	MAY_NS("channel_jitter_ns", resil.jitter_ns),
	UP_TO("channel_loss_ppb", resil.loss_ppb, 1000000000),
	UP_TO("channel_dup_ppb", resil.dup_ppb, 1000000000),
	MAY_NEVER("compute_ns", resil.compute_ns),
	MUST("fec_safe", fec_safe),
	MUST_NS("silence_ns", silence_ns),
	MUST_NS("report_ns", report_ns),
	MAY_NS("reunite_ns", reunite_ns),
	MUST_NS("heal_ns", heal_ns),
	MUST_NS("limit_ns", limit_ns),
	MUST("reports_ok", reports_ok),
	MUST("soft_errors", soft_errors),
	MUST("losses_ok", losses_ok),
	MUST("strict_order", strict_order),
};

const struct rl_swarm_setting *
rl_swarm_settings(size_t *n)
{
	*n = RL_ARRAY_SIZE(settings);
	return settings;
}

void
rl_swarm_settings_defaults(struct rl_swarm_plan *plan)
{
	char *base = (char *)plan;

	for (size_t i = 0; i < RL_ARRAY_SIZE(settings); i++)
		memset(base + settings[i].offset, 0, settings[i].size);
	rl_sim_wire_defaults(&plan->wire);
	plan->seed = 1;
	plan->notice_ns = 1000;
	plan->load.load = 0.3;
	plan->load.cos = 1;
	plan->load.min_flits = plan->load.max_flits = 1;
	plan->load.stop_ns = RL_NEVER;
	plan->resil.delay_ns = 10000;
	plan->load.slot_ps = plan->wire.flit_ps;
	plan->load.seed = plan->seed;
}

static uint64_t
number_of(const struct rl_swarm_plan *plan, const struct rl_swarm_setting *s)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)plan + s->offset, s->size);
	return v;
}

static int
take_number(struct rl_swarm_plan *plan, const struct rl_swarm_setting *s,
	    const char *value)
{
	unsigned long long v;
	char *end;
	int word;

	if (s->word) {
		word = rl_pattern_parse(value);
		if (word < 0)
			return -EINVAL;
		v = (unsigned long long)word;
	} else {
		if (!isdigit((unsigned char)value[0]))
			return -EINVAL;
		errno = 0;
		v = strtoull(value, &end, 10);
		if (*end != '\0' || errno != 0 ||
		    (s->size < 8 && v >> (8 * s->size) != 0) ||
		    (s->most != 0 && v > s->most &&
		     !(s->never && v == RL_NEVER)) ||
		    (s->size == 1 && v > 1))
			return -EINVAL;
	}
	memcpy((char *)plan + s->offset, &v, s->size);
	return 0;
}

int
rl_swarm_setting_take(struct rl_swarm_plan *plan, const char *key,
		    const char *value)
{
	const struct rl_swarm_setting *s = settings;
	int ret = 0;

	while (s < settings + RL_ARRAY_SIZE(settings) &&
	       strcmp(s->key, key) != 0)
		s++;
	if (s == settings + RL_ARRAY_SIZE(settings))
		return -ENOENT;
	if (s->real) {
		char *end;
		const double v = strtod(value, &end);

		if (*value == '\0' || *end != '\0' || !(v > 0 && v <= 16))
			return -EINVAL;
		memcpy((char *)plan + s->offset, &v, sizeof(v));
	} else {
		ret = take_number(plan, s, value);
	}
	/* the same value twice */
	plan->load.seed = plan->seed;
	plan->load.slot_ps = plan->wire.flit_ps;
	return plan->seed > INT64_MAX ? -EINVAL : ret; /* no report names it */
}

int
rl_swarm_settings_check(const struct rl_swarm_plan *plan, char *err)
{
	const struct rl_sim_load_cfg *c = &plan->load;
	const struct rl_sim_wire_cfg *w = &plan->wire;
	const uint32_t most = plan->cfg.link.max_packet_flits;

	if (c->min_flits == 0 || c->min_flits > c->max_flits ||
	    c->max_flits > most)
		snprintf(err, RL_ERR_MAX, "packets of %u to %u flits; use 1 to "
			 "%u, link.max_packet_flits", c->min_flits,
			 c->max_flits, most);
	else if (c->cos == 0 || c->cos > 16 ||
		 (c->by_kind && c->cos != RL_KINDS))
		snprintf(err, RL_ERR_MAX, "%u classes; use 1 to 16, and %u "
			 "with by_kind", c->cos, RL_KINDS);
	else if (w->flit_ps == 0 || w->queue_frames == 0 ||
		 w->frame_bytes < rl_frame_bytes(1))
		snprintf(err, RL_ERR_MAX, "a wire of flit_ps=%u, queue_frames="
			 "%u and frame_bytes=%u carries nothing", w->flit_ps,
			 w->queue_frames, w->frame_bytes);
	else if (c->packets == 0 && c->stop_ns == RL_NEVER)
		snprintf(err, RL_ERR_MAX, "when does the traffic end? Give "
			 "packets or stop_ns");
	else
		return 0;
	return -EINVAL;
}

void
case_settings(struct case_text *to, const struct rl_swarm_plan *plan)
{
	struct rl_swarm_plan *plain = calloc(1, sizeof(*plain));
	char real[32];
	unsigned int n = 0;

	to->bad |= plain == NULL;
	if (plain == NULL)
		return;
	rl_swarm_settings_defaults(plain);
	for (size_t i = 0; i < RL_ARRAY_SIZE(settings); i++) {
		const struct rl_swarm_setting *s = &settings[i];
		const uint64_t v = number_of(plan, s);

		if (v == number_of(plain, s) && i != 0)
			continue;
		case_put(to, "%s", n % SETTINGS_A_LINE != 0 ? ""
				   : n == 0		    ? "run"
							    : "\nrun");
		n++;
		if (s->real)
			case_put(to, " %s=%s", s->key,
				rl_real_text(plan->load.load, real, sizeof(real)));
		else if (s->word)
			case_put(to, " %s=%s", s->key,
				rl_pattern_name((enum rl_pattern_kind)v));
		else
			case_put(to, " %s=%llu", s->key, (unsigned long long)v);
	}
	case_put(to, "\n");
	free(plain);
}
