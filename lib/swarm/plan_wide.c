/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The wide swarm. The plain swarm draws much but fixes some settings, because
 * few fabrics would have others, or because they make runs long: eight VCs,
 * packets of 32 flits, clients that always take what arrives. Each of them is a
 * dimension here. A dimension comes up in its own share of the seeds,
 * independently of the others, and has its own generator, so that a new
 * dimension does not change old ones.
 *
 * A dimension that conflicts with a guarantee weakens it: if an endpoint gives
 * up after three timeouts, packets may be reported.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan_priv.h"
#include "rl_seq.h"

#define PCT_USUAL 25
/* Of many paths: most other dimensions do without them. */
#define PCT_PATHS 5
/* Longest silence of a flow with connected ends in a partitioned fabric. */
#define SILENCE_NS (10 * RL_NS_PER_MS)

static const char *const words[] = { RL_SWARM_WIDE(RL_WORD) };

const char *
rl_swarm_wide_name(enum rl_swarm_wide dim)
{
	return words[dim];
}

/* Parses "name" or "name=percent". */
static int
parse_one(const char *text, size_t len, struct rl_swarm_shares *shares)
{
	const char *equal = memchr(text, '=', len);
	const size_t n = equal == NULL ? len : (size_t)(equal - text);
	unsigned long pct = PCT_USUAL;

	if (equal != NULL) {
		char *end;

		if (equal[1] < '0' || equal[1] > '9')
			return -EINVAL;
		pct = strtoul(equal + 1, &end, 10);
		if (end != text + len || pct > 100)
			return -EINVAL;
	}
	for (unsigned int i = 0; i < RL_SWARM_WD_COUNT; i++) {
		if (strlen(words[i]) != n || memcmp(words[i], text, n) != 0)
			continue;
		shares->pct[i] = (uint8_t)pct;
		return 0;
	}
	return -EINVAL;
}

int
rl_swarm_wide_parse(const char *text, struct rl_swarm_shares *shares)
{
	memset(shares, 0, sizeof(*shares));
	if (strcmp(text, "all") == 0) {
		memset(shares->pct, PCT_USUAL, sizeof(shares->pct));
		shares->pct[RL_SWARM_WD_PATHS] = PCT_PATHS;
		return 0;
	}
	for (;;) {
		const size_t len = strcspn(text, ",");
		const int ret = parse_one(text, len, shares);

		if (ret != 0 || text[len] == '\0')
			return ret;
		text += len + 1;
	}
}

static int
wide_vcs(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	const uint32_t need = plan->route->vls + plan->route->detour_vls;

	/* new routes may need more than the old ones; a plane has the last VL */
	if (plan->controller || plan->cfg.levels != 1 ||
	    plan->route->adapts || need >= RL_VCS)
		return 0;
	plan->cfg.link.vcs = (uint32_t)rl_prng_range(prng, need, RL_VCS - 1);
	memset(plan->cfg.link.vc_weights, 0,
	       sizeof(plan->cfg.link.vc_weights));
	return 1;
}

static int
wide_weights(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	const unsigned int vcs = rl_min_u32(plan->cfg.link.vcs, RL_VCS);

	for (unsigned int vc = 0; vc < vcs; vc++)
		plan->cfg.link.vc_weights[vc] = (uint8_t)plan_log(prng, 1, 255);
	return 1;
}

static int
wide_long(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_link_cfg *l = &plan->cfg.link;
	struct rl_ep_cfg *e = &plan->cfg.endpoint;
	struct rl_sim_load_cfg *t = &plan->load;
	const uint32_t p = (uint32_t)rl_prng_range(prng, 33, 255);

	if (t->trace != NULL)
		return 0;
	l->max_packet_flits = e->max_packet_flits = p;
	l->window_flits = rl_max_u32(l->window_flits, p);
	l->credits_flits = rl_max_u32(l->credits_flits, p);
	l->queue_flits = rl_max_u32(l->queue_flits, p);
	e->window_flits = rl_max_u32(e->window_flits, p);
	e->tx_buffer_flits = rl_max_u32(e->tx_buffer_flits, p);
	e->rx_buffer_flits = rl_max_u32(e->rx_buffer_flits, p);
	t->max_flits = p;
	if (t->flow_packets != 0)
		t->flow_packets = rl_max_u32(
			1, e->window_flits / p / (t->requests_ppm ? 2 : 1));
	return 1;
}

static int
wide_window(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_link_cfg *l = &plan->cfg.link;

	l->window_flits = (uint32_t)plan_log(prng, 257, 32767);
	l->credits_flits = (uint32_t)plan_log(prng, 257, 32767);
	l->queue_flits = (uint32_t)plan_log(prng, 257, 4096);
	return 1;
}

/* Fits the timers to the round trip, as a user must. */
static void
fit_timers(struct rl_swarm_plan *plan, uint64_t trip)
{
	struct rl_link_cfg *l = &plan->cfg.link;

	l->retrain_interval_ns = rl_max_u64(l->retrain_interval_ns,
					    trip / l->retrain_limit + 1);
	if (l->replay_timer_ns != 0)
		l->replay_timer_ns = rl_max_u64(l->replay_timer_ns, 2 * trip);
	l->replay_timer_max_ns = rl_max_u64(l->replay_timer_max_ns, 4 * trip);
	l->replay_timer_min_ns = rl_min_u64(
		rl_max_u64(l->replay_timer_min_ns, 2 * trip),
		l->replay_timer_max_ns);
	/* one end comes up a flight time before its peer learns of it */
	if (l->keepalive_dead_ns != 0)
		l->keepalive_dead_ns = rl_max_u64(
			l->keepalive_dead_ns, 2 * (l->keepalive_ns + trip));
	plan->cfg.endpoint.retry_timer_min_ns =
		rl_max_u64(plan->cfg.endpoint.retry_timer_min_ns, 10 * trip);
	plan->limit_ns += 10000 * trip;
}

/*
 * Long wires make links come up late. With a controller only short ones are
 * drawn: local controllers do not report a link that died before it was first
 * up.
 */
static int
wide_latency(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	const bool near = plan->controller || plan_one_in(prng, 3);

	plan->wire.latency_ns = near ? rl_prng_below(prng, 10)
				     : plan_log(prng, 2001, 20000);
	fit_timers(plan, 2 * plan->wire.latency_ns + 2000);
	return 1;
}

static int
wide_limit(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	if (!plan->cfg.endpoint.retry)
		return 0;
	plan->cfg.endpoint.retry_limit = (uint32_t)plan_log(prng, 1, 15);
	plan->reports_ok = true;
	return 1;
}

static int
wide_buffers(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_ep_cfg *e = &plan->cfg.endpoint;
	const uint32_t least = rl_max_u32(e->max_packet_flits, 2);

	e->tx_buffer_flits = (uint32_t)plan_log(prng, least, 512);
	e->rx_buffer_flits = (uint32_t)plan_log(prng, least, 512);
	/*
	 * Then each loss may cost a timeout. Without any path, a buffer of one
	 * packet gives packets up one at a time.
	 */
	plan->limit_ns += 10 * RL_NS_PER_S;
	if (e->retry)
		plan->limit_ns += 4000 * rl_max_u64(e->give_up_ns,
						    20 * RL_NS_PER_MS);
	/*
	 * Packets that cannot wait are reported: without retry all, with it those
	 * for an endpoint that new tables leave out, if they fill half the buffer.
	 */
	if (!e->retry || plan->controller)
		plan->reports_ok = true;
	return 1;
}

static int
wide_slow(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	plan->load.slow_ns = plan_log(prng, 1000, 200000);
	plan->load.take_ns = plan_log(prng, 100, 50000);
	plan->limit_ns += 1000 * plan->load.slow_ns;
	/* a restore waits for a part of it until what was rerouted is across */
	if (plan->strict_order)
		plan->cfg.link.watchdog_ns += 1000 * plan->load.slow_ns;
	return 1;
}

static int
wide_compact(struct rl_swarm_plan *plan, RL_UNUSED struct rl_prng *prng)
{
	plan->cfg.endpoint.profile = RL_PROFILE_RXL_COMPACT;
	return 1;
}

static int
wide_wide19(struct rl_swarm_plan *plan, RL_UNUSED struct rl_prng *prng)
{
	plan->cfg.endpoint.crc = RL_CRC_BCH;
	plan->cfg.endpoint.isn = RL_ISN_WIDE19;
	return 1;
}

static int
wide_kinds(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_sim_load_cfg *t = &plan->load;

	if (t->trace != NULL)
		return 0;
	t->by_kind = true;
	t->cos = RL_KINDS;
	if (t->requests_ppm == 0)
		t->requests_ppm = (uint32_t)plan_log(prng, 10000, 1000000);
	return 1;
}

static uint64_t
pick_time(const struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	return rl_prng_range(prng, plan->load.start_ns,
			     rl_max_u64(plan->heal_ns, plan->load.start_ns));
}

/* All has healed by @p end_ns, or later. */
static void
heal_by(struct rl_swarm_plan *plan, uint64_t end_ns)
{
	plan->heal_ns = rl_max_u64(plan->heal_ns, end_ns);
	plan->limit_ns = rl_max_u64(plan->limit_ns,
				    plan->heal_ns + 400 * RL_NS_PER_MS);
}

/* All links of a device go dark at once. */
static int
wide_device(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	const struct rl_topo *t = &plan->cfg.topo;
	const uint32_t dev = rl_prng_below(prng, t->ndev);
	const uint64_t dark = plan_log(prng, 1000, 300000);
	struct rl_fault f = {
		.kind = RL_FAULT_CUT,
		.t_ns = pick_time(plan, prng),
		.dirs = RL_FAULT_DIR_BOTH,
	};

	f.silent = plan_one_in(prng, 3);
	if (plan->strict_order || t->dev[dev].failed)
		return 0;
	/* new tables without it let its sources report packets */
	plan->reports_ok |= plan->controller;
	for (unsigned int i = 0; i < 2; i++) {
		for (uint16_t p = 0; p < t->dev[dev].nports; p++) {
			f.link = t->dev[dev].port[p].link;
			if (rl_sim_fault_add(&plan->faults, &f) != 0)
				return -ENOMEM;
		}
		f.kind = RL_FAULT_HEAL;
		f.silent = false;
		f.t_ns += dark;
	}
	heal_by(plan, f.t_ns);
	return 1;
}

/*
 * Makes cut-off endpoints detectable and lets them be given up; faults end by
 * @p end_ns.
 */
static void
let_go(struct rl_swarm_plan *plan, struct rl_prng *prng, uint64_t end_ns)
{
	plan_let_reports(plan, prng);
	plan_detect(plan);
	heal_by(plan, end_ns);
}

/* The devices of a random connected part of @p n devices. */
static bool *
grow_part(const struct rl_topo *t, struct rl_prng *prng, uint32_t n)
{
	bool *in = calloc(t->ndev, sizeof(*in));

	if (in == NULL)
		return NULL;
	in[rl_prng_below(prng, t->ndev)] = true;
	for (uint32_t tries = 0, have = 1; have < n && tries < 64 * n;
	     tries++) {
		const struct rl_topo_link *l =
			&t->link[rl_prng_below(prng, t->nlink)];

		have += in[l->dev[0]] != in[l->dev[1]];
		if (in[l->dev[0]] || in[l->dev[1]])
			in[l->dev[0]] = in[l->dev[1]] = true;
	}
	return in;
}

/*
 * How long tokens may be waited for if links can lose them: an eighth of
 * quiesce_ns and 32 answers, each of up to three round trips. quiesce_ns has 160
 * round trips.
 */
static uint64_t
tokens_ns(const struct rl_swarm_plan *plan)
{
	const struct rl_resil_cfg *c = &plan->cfg.controller;

	return c->mode == RL_RESIL_TOKENS && !plan->cfg.link.retry
		       ? c->quiesce_ns
		       : 0;
}

/*
 * How much longer new tables may take by a slow channel: five orders and their
 * answers, one of them lost as often as its sender bears, and the computation.
 */
static uint64_t
channel_ns(const struct rl_swarm_plan *plan)
{
	const struct rl_sim_resil_cfg *ch = &plan->resil;

	if (!plan->controller)
		return 0;
	return 10 * (ch->delay_ns + ch->jitter_ns) + ch->compute_ns +
	       (ch->loss_ppb != 0 ? plan->cfg.controller.answer_ns : 0);
}

/*
 * Whether a device may restart for longer than flows may be silent: its wires are
 * light, but it waits for tables, and then lets packets wait for links that do
 * not train (init_action), until train_ns is over and there are other tables.
 */
static bool
restarts(const struct rl_swarm_plan *plan)
{
	for (uint32_t i = 0; i < plan->faults.n && plan->controller; i++)
		if (plan->faults.f[i].kind == RL_FAULT_CRASH)
			return true;
	return rl_sim_faults_crash(&plan->faults, &plan->cfg.topo);
}

/* Cuts all links between two parts of the fabric; they may heal. */
static int
wide_partition(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	const struct rl_topo *t = &plan->cfg.topo;
	const uint64_t dark = plan_log(prng, 1000, 5 * RL_NS_PER_MS);
	const uint64_t apart_ns = plan_one_in(prng, 2) ? 0 : 20000;
	struct rl_fault cut = { .kind = RL_FAULT_CUT,
				    .t_ns = pick_time(plan, prng),
				    .dirs = RL_FAULT_DIR_BOTH };
	bool *in;
	int ret = 0;

	if (plan->strict_order || !plan->cfg.endpoint.retry)
		return 0;
	in = grow_part(t, prng,
		       (uint32_t)rl_prng_range(prng, 1, t->ndev / 2));
	if (in == NULL)
		return -ENOMEM;
	/* only keepalives detect what the PHY does not show */
	cut.silent = plan->cfg.link.keepalive_dead_ns != 0 &&
		     plan_one_in(prng, 3);
	cut.lasting = plan_one_in(prng, 3);
	for (uint32_t l = 0; l < t->nlink && ret == 0; l++) {
		struct rl_fault heal = cut;

		if (in[t->link[l].dev[0]] == in[t->link[l].dev[1]])
			continue;
		cut.link = heal.link = l;
		heal.kind = RL_FAULT_HEAL;
		heal.silent = false;
		heal.t_ns += dark;
		ret = rl_sim_fault_add(&plan->faults, &cut);
		if (ret == 0 && !cut.lasting)
			ret = rl_sim_fault_add(&plan->faults, &heal);
		cut.t_ns += apart_ns;
	}
	free(in);
	let_go(plan, prng, cut.t_ns + dark);
	if (plan->silence_ns != 0 && !restarts(plan))
		plan->silence_ns = rl_min_u64(plan->silence_ns,
					      SILENCE_NS + tokens_ns(plan) +
						      channel_ns(plan));
	return ret != 0 ? -ENOMEM : 1;
}

/* An endpoint crashes: its packets are gone, and packets to it are reported. */
static int
wide_reborn(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	const struct rl_topo *t = &plan->cfg.topo;
	struct rl_fault f = {
		.kind = RL_FAULT_CRASH,
		.t_ns = pick_time(plan, prng),
		.is_dev = true,
	};

	f.dev = t->ep_dev[rl_prng_below(prng, t->nep)];
	f.lasting = plan_one_in(prng, 4);
	if (!plan->cfg.endpoint.retry || plan->strict_order)
		return 0;
	/* a controller that may refuse new tables would keep it waiting */
	if (plan->controller &&
	    (plan->cfg.controller.mode == RL_RESIL_LIVE ||
	     plan->cfg.controller.mode == RL_RESIL_PARTIAL))
		return 0;
	let_go(plan, prng, f.t_ns);
	if (rl_sim_fault_add(&plan->faults, &f) != 0)
		return -ENOMEM;
	if (f.lasting)
		return 1;
	f.kind = RL_FAULT_RESTART;
	f.t_ns += plan_log(prng, 1000, 500000);
	heal_by(plan, f.t_ns);
	return rl_sim_fault_add(&plan->faults, &f) != 0 ? -ENOMEM : 1;
}

/*
 * How long a hold of all may last: a switch passes on all that its credits let
 * in, a window in each round trip of four polls. The hold ends by quiesce_ns.
 */
static uint64_t
drain_ns(const struct rl_swarm_plan *plan)
{
	const struct rl_link_cfg *l = &plan->cfg.link;
	const uint64_t trips =
		(uint64_t)l->vcs * l->credits_flits / l->window_flits + 1;

	return rl_min_u64(4 * trips * plan->poll_jitter_ns,
			  plan->cfg.controller.quiesce_ns);
}

/*
 * A busy machine: each role is polled up to 200 us late, unevenly. Only the
 * deadlines for a peer grow with it, as a user would set them.
 */
static int
wide_busy(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_link_cfg *l = &plan->cfg.link;

	if (plan->strict_order)
		return 0;
	plan->turns = false;
	plan->poll_jitter_ns = plan_log(prng, 5000, 200000);
	if (l->keepalive_dead_ns != 0)
		l->keepalive_dead_ns = rl_max_u64(
			l->keepalive_dead_ns,
			2 * l->keepalive_ns + 8 * plan->poll_jitter_ns);
	plan->limit_ns += 20000 * plan->poll_jitter_ns;
	/* reports, and the first packet after a hold, also take longer */
	if (plan->report_ns != 0)
		plan->report_ns += 2000 * plan->poll_jitter_ns;
	if (plan->silence_ns != 0)
		plan->silence_ns += 200 * plan->poll_jitter_ns + drain_ns(plan);
	return 1;
}

/*
 * Endpoints restore the order of flows. Mostly packets take many paths, too, on
 * an adaptive plane.
 */
static int
wide_paths(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_config *cfg = &plan->cfg;
	struct rl_route *route;
	char err[RL_ERR_MAX];

	if (!cfg->endpoint.retry || plan->strict_order ||
	    (cfg->endpoint.profile != RL_PROFILE_RXL &&
	     cfg->endpoint.profile != RL_PROFILE_RXL_COMPACT))
		return 0;
	cfg->endpoint.order = RL_ORDER_ENDPOINT;
	cfg->endpoint.retry_mode = RL_RETRY_SELECTIVE;
	if (cfg->levels > 1 || cfg->link.switching == RL_CUT_THROUGH ||
	    plan_one_in(prng, 5))
		return 1;
	if (rl_route_setup(&cfg->topo, NULL,
			   rl_min_u32(cfg->vls, cfg->link.vcs),
			   RL_ROUTE_ADAPTIVE, &route, err) != 0)
		return 1; /* too few VLs */
	if (!plan->route_lent)
		rl_route_free(plan->route);
	plan->route = route;
	cfg->adaptive = true;
	return 1;
}

/* Windows by congestion, and as large as nineteen bits of number allow. */
static int
wide_congestion(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct rl_ep_cfg *e = &plan->cfg.endpoint;

	if (!e->retry)
		return 0;
	e->congestion = RL_CONGESTION_DELAY;
	if (e->isn == RL_ISN_WIDE19 && e->profile <= RL_PROFILE_RXL_COMPACT)
		e->window_flits = (uint32_t)plan_log(prng, 512,
						     RL_E2E_WIDE_WINDOW_MAX);
	return 1;
}

static int
wide_keyed(struct rl_swarm_plan *plan, RL_UNUSED struct rl_prng *prng)
{
	plan->keyed = true;
	return 1;
}

/* Each draws one dimension. @return 1: drawn; 0: does not fit this plan;
   -ENOMEM */
static int (*const widen[])(struct rl_swarm_plan *plan,
			    struct rl_prng *prng) = {
	[RL_SWARM_WD_VCS] = wide_vcs,
	[RL_SWARM_WD_WEIGHTS] = wide_weights,
	[RL_SWARM_WD_LONG] = wide_long,
	[RL_SWARM_WD_WINDOW] = wide_window,
	[RL_SWARM_WD_LATENCY] = wide_latency,
	[RL_SWARM_WD_LIMIT] = wide_limit,
	[RL_SWARM_WD_BUFFERS] = wide_buffers,
	[RL_SWARM_WD_SLOW] = wide_slow,
	[RL_SWARM_WD_COMPACT] = wide_compact,
	[RL_SWARM_WD_WIDE19] = wide_wide19,
	[RL_SWARM_WD_KINDS] = wide_kinds,
	[RL_SWARM_WD_DEVICE] = wide_device,
	[RL_SWARM_WD_REBORN] = wide_reborn,
	[RL_SWARM_WD_KEYED] = wide_keyed,
	[RL_SWARM_WD_PARTITION] = wide_partition,
	[RL_SWARM_WD_BUSY] = wide_busy,
	[RL_SWARM_WD_PATHS] = wide_paths,
	[RL_SWARM_WD_CONGESTION] = wide_congestion,
};

_Static_assert(RL_ARRAY_SIZE(widen) == RL_SWARM_WD_COUNT, "one for each");

int
rl_swarm_plan_widen(struct rl_swarm_plan *plan, uint64_t seed,
		  const struct rl_swarm_shares *shares)
{
	plan->wide = 0;
	for (unsigned int i = 0; i < RL_SWARM_WD_COUNT; i++) {
		struct rl_prng prng;
		uint64_t x = seed ^ (i + 1) * 0x77696465u;
		int ret;

		rl_prng_seed(&prng, rl_splitmix64(&x));
		if (rl_prng_below(&prng, 100) >= shares->pct[i])
			continue;
		ret = widen[i](plan, &prng);
		if (ret < 0)
			return ret;
		if (ret != 0)
			plan->wide |= 1u << i;
	}
	return 0;
}
