/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lasting faults and recovery from them: links that die for good, devices that
 * crash and perhaps restart, planned removals, a controller that may die
 * itself, and its unreliable channel. Own generator, and each dimension has its
 * own share; half of the plans have none of it.
 *
 * If all endpoints stay connected, everything must be delivered and nothing
 * reported. Otherwise, packets to endpoints that are cut off must be reported,
 * and the other flows get the usual guarantees. Once the fabric is at rest,
 * half of the plans repair all faults, and everything must work as before.
 */


#include "plan_priv.h"

struct resil {
	struct rl_swarm_plan *plan;
	struct rl_prng prng;
	uint64_t from_ns;
	uint64_t to_ns;
	bool connected; /* all endpoints must stay connected */
	int err;
};

/* Tokens [RES-5], derived from the seed alone: other draws do not change. */
static void
draw_tokens(struct resil *r)
{
	struct rl_resil_cfg *c = &r->plan->cfg.controller;
	uint64_t x = r->plan->seed ^ 0x70c3e5ull;

	if (c->mode != RL_RESIL_LIVE && c->mode != RL_RESIL_PARTIAL &&
	    rl_splitmix64(&x) % 3 == 0)
		c->mode = RL_RESIL_TOKENS;
}

static void
draw_controller(struct resil *r)
{
	static const enum rl_resil_mode modes[] = {
		RL_RESIL_AUTO, RL_RESIL_AUTO, RL_RESIL_AUTO,
		RL_RESIL_LIVE, RL_RESIL_PARTIAL, RL_RESIL_FULL,
	};
	struct rl_resil_cfg *c = &r->plan->cfg.controller;
	struct rl_sim_resil_cfg *ch = &r->plan->resil;
	struct rl_prng *p = &r->prng;
	uint64_t trip;

	r->plan->controller = true;
	c->mode = modes[rl_prng_below(p, RL_ARRAY_SIZE(modes))];
	c->gather_ns = plan_one_in(p, 3) ? 0 : plan_log(p, 1000, 100000);
	c->return_ns = plan_one_in(p, 3) ? 0 : plan_log(p, 1000, 500000);
	c->train_ns = plan_log(p, 200000, 5 * RL_NS_PER_MS);
	c->resend_ns = plan_log(p, 20000, 500000);
	c->observe_ns = plan_one_in(p, 3) ? 0 : plan_log(p, 1000, 50000);
	c->retry_ns = plan_log(p, 10000, 2 * RL_NS_PER_MS);
	ch->delay_ns = plan_log(p, 100, 50000);
	if (plan_one_in(p, 2))
		ch->jitter_ns = plan_log(p, 1000, 300000);
	if (plan_one_in(p, 3))
		ch->loss_ppb = (uint32_t)plan_log(p, 1000000, 400000000);
	if (plan_one_in(p, 3))
		ch->dup_ppb = (uint32_t)plan_log(p, 1000000, 400000000);
	ch->compute_ns = plan_log(p, 5000, 3 * RL_NS_PER_MS);
	/* long enough for this channel, or sometimes so short that a device
	   that answers counts as silent now and then. With lost messages one
	   would always be silent */
	trip = 2 * (ch->delay_ns + ch->jitter_ns) + c->resend_ns;
	c->answer_ns = (plan_one_in(p, 8) && ch->loss_ppb == 0 ? 2 : 12) * trip;
	c->lease_ns = c->answer_ns * rl_prng_range(p, 4, 20);
	c->quiesce_ns = rl_max_u64(160 * trip, 5 * RL_NS_PER_MS);
	draw_tokens(r);
}

static void
add(struct resil *r, const struct rl_fault *f)
{
	if (r->err == 0)
		r->err = rl_sim_fault_add(&r->plan->faults, f);
}

static uint64_t
pick_time(struct resil *r)
{
	return rl_prng_range(&r->prng, r->from_ns, r->to_ns);
}

/* Whether all endpoints reach each other, as the fabric is marked. */
static bool
whole(const struct rl_topo *t)
{
	char err[RL_ERR_MAX];

	for (uint32_t e = 0; e < t->nep; e++)
		if (!rl_topo_ep_there(t, e))
			return false;
	return rl_topo_reach(t, RL_REACH_WORKING, err) == 0;
}

/* Links that die for good, in sequence or at once. */
static void
draw_deaths(struct resil *r)
{
	struct rl_topo *t = &r->plan->cfg.topo;
	const uint64_t apart = plan_one_in(&r->prng, 2) ? 20000 : 0;
	uint64_t at = pick_time(r);
	uint32_t dead[8], n = 0;

	for (uint64_t k = rl_prng_range(&r->prng, 1, 6); k > 0; k--) {
		struct rl_fault f = {
			.kind = RL_FAULT_CUT,
			.link = rl_prng_below(&r->prng, t->nlink),
			.dirs = RL_FAULT_DIR_BOTH,
			.lasting = true,
		};

		f.flight = plan_one_in(&r->prng, 2) ? RL_FAULT_FLIGHT_LOST
						    : RL_FAULT_FLIGHT_ARRIVE;
		if (t->link[f.link].failed)
			continue;
		t->link[f.link].failed = true;
		if (r->connected && !whole(t)) {
			t->link[f.link].failed = false;
			continue;
		}
		dead[n++] = f.link;
		f.t_ns = at;
		at = apart != 0 ? at + apart : pick_time(r);
		add(r, &f);
	}
	while (n > 0)
		t->link[dead[--n]].failed = false;
}

/* A switch that crashes; it may restart. */
static void
draw_crash(struct resil *r)
{
	const struct rl_topo *t = &r->plan->cfg.topo;
	struct rl_fault f = {
		.t_ns = pick_time(r),
		.kind = RL_FAULT_CRASH,
		.is_dev = true,
	};

	f.dev = rl_prng_below(&r->prng, t->ndev);
	if (t->dev[f.dev].kind != RL_DEV_SWITCH || t->dev[f.dev].failed)
		return;
	f.lasting = plan_one_in(&r->prng, 2);
	add(r, &f);
	if (f.lasting)
		return;
	f.kind = RL_FAULT_RESTART;
	f.t_ns += plan_log(&r->prng, 1000, 500000);
	add(r, &f);
}

/* A planned removal of a link, and its addition. */
static void
draw_removal(struct resil *r)
{
	struct rl_topo *t = &r->plan->cfg.topo;
	struct rl_fault f = {
		.t_ns = pick_time(r),
		.kind = RL_FAULT_REMOVE,
		.dirs = RL_FAULT_DIR_BOTH,
	};
	bool ok;

	f.link = rl_prng_below(&r->prng, t->nlink);
	if (t->link[f.link].failed)
		return;
	t->link[f.link].failed = true;
	ok = whole(t);
	t->link[f.link].failed = false;
	if (!ok)
		return;
	add(r, &f);
	f.kind = RL_FAULT_ADD;
	f.t_ns += plan_log(&r->prng, 1000, 500000);
	add(r, &f);
}

static void
draw_controller_crash(struct resil *r)
{
	struct rl_fault f = {
		.t_ns = pick_time(r),
		.kind = RL_FAULT_CTL_CRASH,
	};

	add(r, &f);
	f.kind = RL_FAULT_CTL_RESTART;
	f.t_ns += plan_log(&r->prng, 1000, 500000);
	if (!plan_one_in(&r->prng, 3)) /* else when the faults end */
		add(r, &f);
}

/* Slow devices, from an own generator: other draws do not change [RES-8]. */
static void
draw_late(struct resil *r)
{
	struct rl_prng prng;
	struct rl_fault f = { .t_ns = pick_time(r) };

	rl_prng_seed(&prng, r->plan->seed ^ 0x1a7e5ull);
	for (unsigned int n = 0; plan_one_in(&prng, 4) && n < 4; n++) {
		f.kind = RL_FAULT_LATE;
		f.is_dev = true;
		f.dev = rl_prng_below(&prng, r->plan->cfg.topo.ndev);
		f.for_ns = plan_log(&prng, 10000, 4 * RL_NS_PER_MS);
		add(r, &f);
	}
	if (!plan_one_in(&prng, 8))
		return;
	f.kind = RL_FAULT_CTL_LATE;
	f.is_dev = false;
	f.for_ns = plan_log(&prng, 1000, 2 * RL_NS_PER_MS);
	add(r, &f);
}

void
plan_let_reports(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	plan->reports_ok = true;
	plan->cfg.endpoint.give_up_ns =
		plan_log(prng, RL_NS_PER_MS, 20 * RL_NS_PER_MS);
	plan->cfg.link.watchdog_ns = rl_min_u64(plan->cfg.link.watchdog_ns,
						20 * RL_NS_PER_MS);
}

void
plan_detect(struct rl_swarm_plan *plan)
{
	if (plan->cfg.link.keepalive_dead_ns != 0)
		return;
	plan->cfg.link.detect_phy = true;
	plan->cfg.link.phy_lost_ns = 0;
}

int
plan_resil(struct rl_swarm_plan *plan, struct rl_prng *prng)
{
	struct resil r = {
		.plan = plan,
		.prng = *prng,
		.from_ns = plan->load.start_ns,
		.to_ns = plan->heal_ns,
	};
	bool crash, promised;

	if (plan->strict_order || plan_one_in(&r.prng, 2))
		return 0;
	if (!plan_one_in(&r.prng, 4))
		draw_controller(&r);
	plan_detect(plan);
	crash = plan->cfg.endpoint.retry && plan_one_in(&r.prng, 4);
	r.connected = !plan_one_in(&r.prng, 3);
	/* without a controller, or with one that may refuse, there are only
	   detours, which may not reach all endpoints */
	promised = plan->controller &&
		   plan->cfg.controller.mode != RL_RESIL_LIVE &&
		   plan->cfg.controller.mode != RL_RESIL_PARTIAL;
	/* without retry, a packet that can leave a switch only by its ingress
	   port is given up; with retry it is sent again */
	if (crash || !r.connected || !promised || !plan->cfg.endpoint.retry)
		plan_let_reports(plan, &r.prng);
	/* a hold and a timer that has backed off may add to it; and who has had an
	   answer that a switch kept waits for four times as long */
	if (plan->cfg.endpoint.retry &&
	    plan->cfg.endpoint.give_up_ns <= 20 * RL_NS_PER_MS)
		plan->report_ns = plan->cfg.endpoint.give_up_ns +
				  100 * RL_NS_PER_MS +
				  4 * plan->cfg.link.watchdog_ns;
	if (!plan_one_in(&r.prng, 3))
		draw_deaths(&r);
	if (crash)
		draw_crash(&r);
	if (plan_one_in(&r.prng, 4))
		draw_removal(&r);
	if (plan->controller && plan_one_in(&r.prng, 4))
		draw_controller_crash(&r);
	if (plan_one_in(&r.prng, 2))
		plan->reunite_ns = plan_log(&r.prng, 1000, 300000);
	/* a policy that loses packets leaves permanent gaps */
	if (promised && (plan->cfg.endpoint.retry ||
			 plan->cfg.link.loopback == RL_LOOPBACK_WHOLE))
		plan->silence_ns = 100 * RL_NS_PER_MS;
	if (plan->controller)
		draw_late(&r); /* last, so that it changes no other draw */
	return r.err;
}
