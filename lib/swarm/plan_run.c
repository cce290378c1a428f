/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Runs a plan and judges it. Four guarantees hold for any seed:
 *
 *   exactly once, in order, bit for bit   the judge of the traffic
 *   sent = delivered + reported           the judge, when all is at rest
 *   everything comes to rest              queues, replay buffers, pipes empty;
 *                                         links trained and in use again
 *   nothing leaks                         all flits and credits are returned
 *
 * Those that hold at any time are also checked during the run.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan_priv.h"

#define AUDIT_STEPS 16
#define SETTLE_STEP_NS 20000
/* Probes that are under way end in it, however busy the fabric is. */
#define PROBES_END_NS (100 * RL_NS_PER_MS)

struct run {
	const struct rl_swarm_plan *plan;
	struct rl_sim *sim;
	struct rl_sim_load *load;
	struct rl_swarm_verdict *v;
	bool hushed; /* endpoints probe no more */
};

#define FAIL(v, ...)                                                           \
	((v)->ok ? (void)snprintf((v)->why, sizeof((v)->why), __VA_ARGS__)     \
		 : (void)0,                                                    \
	 (v)->ok = false)

static void
run_audit(struct run *r, bool settled)
{
	char err[RL_ERR_MAX];

	if (rl_sim_audit(r->sim, settled, err) != 0)
		FAIL(r->v, "%s, at %llu ns", err,
		     (unsigned long long)rl_sim_now(r->sim));
}

/*
 * A flow with connected ends makes progress, whatever else fails, and the source
 * learns of undeliverable packets in bounded time.
 */
static void
run_flows(struct run *r)
{
	const struct rl_swarm_plan *p = r->plan;
	const uint64_t now = rl_sim_now(r->sim);
	uint16_t src = 0, dst = 0;
	uint64_t ns = 0;

	if (p->silence_ns != 0)
		ns = rl_sim_load_silence(r->load, now, &src, &dst);
	if (ns > p->silence_ns)
		FAIL(r->v,
		     "silence: nothing from endpoint %u reached %u for %llu "
		     "ns, at %llu ns",
		     src, dst, (unsigned long long)ns, (unsigned long long)now);
	ns = 0;
	if (p->report_ns != 0)
		ns = rl_sim_load_unheard(r->load, now, &src, &dst);
	if (ns > p->report_ns)
		FAIL(r->v,
		     "no report: endpoint %u learned nothing of its packets "
		     "to %u for %llu ns, at %llu ns",
		     src, dst, (unsigned long long)ns, (unsigned long long)now);
}

/* A link without a fault that was not taken down never dies. */
static void
run_links(struct run *r)
{
	uint32_t n;
	const struct rl_failover *f = rl_sim_failovers(r->sim, &n);

	for (uint32_t i = 0; i < n; i++)
		if (f[i].fault_ns == RL_NEVER &&
		    f[i].detector != RL_DET_COMMAND)
			FAIL(r->v, "healthy link %u died by %s",
			     rl_failover_link(&f[i], &r->plan->cfg.topo),
			     rl_detector_name(f[i].detector));
}

/* Lets time pass, and checks what holds at any time. */
static void
run_on(struct run *r, uint64_t until_ns)
{
	rl_sim_run(r->sim, until_ns);
	run_audit(r, false);
	run_flows(r);
	run_links(r);
}

/* Advances time to @p until_ns, and checks the invariants at intervals. */
static bool
run_until(struct run *r, uint64_t until_ns)
{
	const uint64_t from = rl_sim_now(r->sim);
	const uint64_t step = (until_ns - from) / AUDIT_STEPS + 1;

	for (uint64_t t = from; t < until_ns && r->v->ok;) {
		t = rl_min_u64(t + step, until_ns);
		run_on(r, t);
	}
	return r->v->ok;
}

/*
 * With cut-through, or with single corrupt flits, half of a reported packet may
 * have reached its endpoint, which waits for the rest.
 */
static bool
parts_ok(const struct run *r)
{
	struct rl_sim_load_stats st;

	/* the rest of a reported packet never comes */
	rl_sim_load_stats(r->load, &st);
	if (r->plan->cfg.endpoint.retry)
		return r->plan->reports_ok && st.reported + st.died != 0;
	if (r->plan->cfg.link.switching != RL_CUT_THROUGH &&
	    !r->plan->soft_errors)
		return false;
	return st.reported != 0 || r->plan->losses_ok;
}

/*
 * Whether the flits in a core at rest may be packets that still wait for their
 * timeout, and not only probes to endpoints that are gone.
 */
static bool
waits_yet(const struct run *r)
{
	const struct rl_fabric *f = rl_sim_fabric(r->sim);
	struct rl_sim_load_stats st;
	uint32_t n = 0;

	for (uint32_t d = 0; d < f->ndev; d++)
		if (!rl_sim_dev_dead(r->sim, d))
			n += rl_core_flits(f->dev[d].core.core);
	if (n == 0 || r->plan->losses_ok)
		return false;
	rl_sim_load_stats(r->load, &st);
	return st.lost != 0;
}

/* Explains why a fabric at rest has not finished. */
static void
say_why(const struct run *r, char *why)
{
	if (rl_sim_recovered(r->sim))
		snprintf(why, RL_ERR_MAX, "a source could not send");
	else
		snprintf(why, RL_ERR_MAX, "the controller is %s",
			 rl_controller_phase_name(rl_controller_phase(
				 rl_sim_controller(r->sim))));
}

static void
set_hush(struct run *r, bool on)
{
	const struct rl_fabric *f = rl_sim_fabric(r->sim);

	r->hushed = on;
	for (uint32_t d = 0; d < f->ndev; d++)
		if (f->dev[d].core.ep != NULL)
			rl_ep_quiesce(f->dev[d].core.ep, rl_sim_now(r->sim),
				      on);
}

/*
 * Endpoints that are gone are probed for ever. In a busy fabric a probe is under
 * way at nearly any time, and no look finds all pipes empty. Once nothing is left
 * of all packets, probes end as they do for a quiesce, and the fabric must come
 * to rest. @return whether they end now
 */
static bool
hush_probes(struct run *r)
{
	const struct rl_fabric *f = rl_sim_fabric(r->sim);
	uint32_t gone = 0;

	if (r->hushed || !rl_sim_load_done(r->load) ||
	    !rl_sim_recovered(r->sim))
		return false;
	for (uint32_t d = 0; d < f->ndev; d++) {
		const struct rl_ep *ep = f->dev[d].core.ep;

		if (ep == NULL || rl_sim_dev_dead(r->sim, d))
			continue;
		if (!rl_ep_idle(ep))
			return false;
		gone += rl_ep_unreachable_count(ep);
	}
	if (gone != 0)
		set_hush(r, true);
	return gone != 0;
}

/* Faults are over: everything must come to rest. */
static bool
run_settle(struct run *r, uint64_t limit_ns)
{
	const bool retry = r->plan->cfg.endpoint.retry;
	uint64_t step = SETTLE_STEP_NS;
	char why[RL_ERR_MAX];

	while (r->v->ok) {
		const uint64_t now = rl_sim_now(r->sim);

		if (rl_sim_load_done(r->load) && rl_sim_recovered(r->sim) &&
		    rl_sim_settled(r->sim, RL_SIM_LINKS, NULL) &&
		    !waits_yet(r))
			return true;
		/* without retry, incomplete packets must be skipped first */
		if (now >= limit_ns ||
		    (retry && rl_sim_load_done(r->load) && parts_ok(r))) {
			if (parts_ok(r) && rl_sim_recovered(r->sim) && rl_sim_load_done(r->load) &&
			    rl_sim_settled(r->sim,
					   RL_SIM_LINKS | RL_SIM_PARTS_OK,
					   NULL) &&
			    !waits_yet(r))
				return true;
			if (now < limit_ns)
				goto on;
			if (hush_probes(r)) {
				limit_ns = now + PROBES_END_NS;
				goto on;
			}
			if (rl_sim_settled(r->sim, RL_SIM_LINKS, why))
				say_why(r, why);
			FAIL(r->v, "not at rest at %llu ns: %s",
			     (unsigned long long)now, why);
			return false;
		}
on:
		run_on(r, now + step);
		/* a long wait is for a timer: check less often */
		if (now > r->plan->heal_ns + 1000000)
			step = 20 * SETTLE_STEP_NS;
	}
	return false;
}

static void
judge_traffic(struct run *r)
{
	const struct rl_sim_load_stats *st = &r->v->load;
	const bool losses_ok = r->plan->losses_ok;

	if (st->corrupted != 0)
		FAIL(r->v, "%llu packets altered: %s",
		     (unsigned long long)st->corrupted, st->first_error);
	if (st->duplicated != 0)
		FAIL(r->v, "%llu packets duplicated: %s",
		     (unsigned long long)st->duplicated, st->first_error);
	if (st->reordered != 0)
		FAIL(r->v, "%llu packets out of order: %s",
		     (unsigned long long)st->reordered, st->first_error);
	if (st->lost != 0 && !losses_ok)
		FAIL(r->v, "%llu of %llu packets lost, %llu reported",
		     (unsigned long long)st->lost,
		     (unsigned long long)st->sent,
		     (unsigned long long)st->reported);
	if (st->reported != 0 && !r->plan->reports_ok)
		FAIL(r->v, "%llu packets reported without need",
		     (unsigned long long)st->reported);
}

/*
 * A flit with more errors than FEC detects may carry another address. The
 * receiver sends it on once; an endpoint with one link cannot, and its watchdog
 * gives it up.
 */
static bool
misdirected(const struct run *r)
{
	const struct rl_fabric *f = rl_sim_fabric(r->sim);
	uint64_t n = 0;

	for (uint32_t d = 0; d < f->ndev; d++)
		n += rl_core_counters(
			f->dev[d].core.core)[RL_CC_reflected_packets];
	return !r->plan->fec_safe && n != 0;
}

/* Fails on drops that no fault of the plan explains. */
static void
judge_drops(struct run *r)
{
	const struct rl_swarm_plan *p = r->plan;

	for (unsigned int why = 0; why < RL_DROP_REASON_COUNT; why++) {
		bool ok = why == RL_DROP_DUPLICATE;

		if (why == RL_DROP_LOOPBACK_NONE || why == RL_DROP_FRAGMENT)
			ok = p->cfg.link.loopback != RL_LOOPBACK_WHOLE ||
			     !p->cfg.link.retry;
		else if (why == RL_DROP_POLICY)
			ok = p->reports_ok;
		else if (why == RL_DROP_NO_PATH && p->reports_ok)
			ok = true;
		else if (why == RL_DROP_WATCHDOG)
			ok = p->reports_ok || misdirected(r);
		else if (why == RL_DROP_ADDRESS)
			ok = !p->fec_safe;
		else if (why == RL_DROP_UNCORRECTABLE)
			ok = !p->cfg.link.retry;
		else if (why == RL_DROP_MARKED)
			ok = p->soft_errors;
		else if (why == RL_DROP_ASTRAY)
			ok = p->controller; /* only a controller makes new
					       tables */
		else if (why == RL_DROP_NO_ROOM)
			ok = p->controller || p->cfg.link.init_action ==
						      RL_INIT_BEST_EFFORT;
		else if (why == RL_DROP_HOPS)
			/* tables change at rest, but endpoints still probe: old
			   and new tables may send a probe back and forth */
			ok = p->controller && r->v->sim.drops[why] ==
						      r->v->sim.ctrl_drops[why];
		else if (why == RL_DROP_INIT)
			ok = p->cfg.link.init_action == RL_INIT_DISCARD;
		else if (why == RL_DROP_MISROUTE)
			/* a corrupt flit had another address, or a switch
			   has no link except to an endpoint that reflected
			   it once */
			ok = !p->fec_safe || p->reports_ok;
		else if (why == RL_DROP_NO_PATH)
			ok = !p->fec_safe || p->reports_ok || misdirected(r);
		if (!ok && r->v->sim.drops[why] != 0)
			FAIL(r->v, "%llu packets dropped: %s",
			     (unsigned long long)r->v->sim.drops[why],
			     rl_drop_reason_name((enum rl_drop_reason)why));
	}
}

/* Checks that no flit overtook another of its flow within the fabric. */
static void
judge_order(struct run *r)
{
	const struct rl_fabric *f = rl_sim_fabric(r->sim);
	uint64_t ahead = 0;

	if (!r->plan->strict_order)
		return;
	for (uint32_t d = 0; d < f->ndev; d++)
		if (f->dev[d].core.ep != NULL)
			ahead += rl_ep_counters(
				f->dev[d].core.ep)[RL_EPC_rx_ahead];
	if (ahead != 0)
		FAIL(r->v, "%llu flits arrived before their turn",
		     (unsigned long long)ahead);
}

/*
 * Checks what makes tokens free of deadlock [RES-5]: no packet sent by the old
 * tables reaches a channel after the token that must follow it.
 */
static void
judge_tokens(struct run *r)
{
	const struct rl_fabric *f = rl_sim_fabric(r->sim);
	uint64_t n = 0;

	for (uint32_t d = 0; d < f->ndev; d++)
		n += rl_core_counters(
			f->dev[d].core.core)[RL_CC_tokens_overtaken];
	if (n != 0 && r->plan->fec_safe)
		FAIL(r->v, "%llu packets by old tables came after a token",
		     (unsigned long long)n);
}

static uint64_t
run_hash(const struct rl_swarm_verdict *v)
{
	const uint64_t in[] = {
		v->end_ns,	   v->sim.polls,	v->sim.frames,
		v->sim.flits,	   v->sim.frames_lost,	v->load.sent,
		v->load.delivered, v->load.latency.sum, v->failovers,
	};
	uint64_t h = 0;

	for (size_t i = 0; i < RL_ARRAY_SIZE(in); i++) {
		h ^= in[i];
		h = rl_splitmix64(&h);
	}
	return h;
}

static void
run_all(struct run *r)
{
	if (run_until(r, r->plan->heal_ns) && rl_sim_heal_most(r->sim) == 0 &&
	    run_settle(r, r->plan->limit_ns) && r->plan->reunite_ns != 0 &&
	    run_until(r, rl_sim_now(r->sim) + r->plan->reunite_ns)) {
		if (r->hushed)
			set_hush(r, false);
		rl_sim_heal_all(r->sim);
		run_settle(r, rl_sim_now(r->sim) + r->plan->limit_ns -
				      r->plan->heal_ns);
	}
	if (r->v->ok)
		run_audit(r, true);
	r->v->end_ns = rl_sim_now(r->sim);
	rl_sim_stats(r->sim, &r->v->sim);
	rl_sim_load_stats(r->load, &r->v->load);
	rl_sim_failovers(r->sim, &r->v->failovers);
	rl_sim_recoveries(r->sim, &r->v->recoveries);
	r->v->hash = run_hash(r->v);
	judge_traffic(r);
	judge_drops(r);
	judge_order(r);
	judge_tokens(r);
	if (r->plan->inspect != NULL)
		r->plan->inspect(r->plan->inspect_ctx, r->sim);
}

void
rl_swarm_plan_params(const struct rl_swarm_plan *plan, struct rl_sim_mem *mem,
		   struct rl_sim_params *p)
{
	*p = (struct rl_sim_params){
		.mem = mem,
		.cfg = &plan->cfg,
		.fwd = plan->route->fwd, /* accepted by plan_fabric() */
		.wire = plan->wire,
		.isa = rl_codec_best_isa(512),
		.seed = plan->seed,
		.poll_ns = plan->poll_ns,
		.poll_jitter_ns = plan->poll_jitter_ns,
		.tick_ns = plan->tick_ns,
		.turns = plan->turns,
		.soft = rl_sim_faults_soft(&plan->faults),
		.notice_ns = plan->notice_ns,
		.fec_safe = plan->fec_safe,
		.lives = rl_sim_faults_crash(&plan->faults, &plan->cfg.topo),
		.resil = plan->resil,
	};
}

int
rl_swarm_plan_run(const struct rl_swarm_plan *plan, struct rl_sim_mem *mem,
		struct rl_swarm_verdict *v)
{
	struct rl_sim_load_cfg load = plan->load;
	struct run r = { .plan = plan, .v = v };
	struct rl_sim_params p;
	char err[RL_ERR_MAX];
	int ret;

	memset(v, 0, sizeof(*v));
	v->ok = true;
	load.connected = rl_sim_load_connected;
	load.connected_ctx = &r.sim;
	r.load = rl_sim_load_new(&load);
	if (r.load == NULL)
		return -ENOMEM;
	rl_swarm_plan_params(plan, mem, &p);
	rl_sim_load_serve(r.load, &p);
	p.doze = plan->doze;
	p.keyed = plan->keyed;
	p.check_packets = true;
	p.sink = plan->sink;
	p.tap = plan->tap;
	if (plan->controller)
		p.resil.route = plan->route;
	ret = rl_sim_create(&p, &r.sim, err);
	if (ret != 0) {
		FAIL(v, "%s", err);
		goto err_load;
	}
	ret = rl_sim_schedule(r.sim, &plan->faults);
	if (ret == 0)
		run_all(&r);
	if (rl_sim_destroy(r.sim, err) != 0)
		FAIL(v, "%s", err);

err_load:
	rl_sim_load_free(r.load);
	return ret;
}
