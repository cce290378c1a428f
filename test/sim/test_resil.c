/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Recoveries of whole fabrics in virtual time [RES-1..4, RES-6]: what stays
 * broken does not stop what is whole, and the controller's part of it.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../few.h"
#include "rl_swarm_plan.h"

#define TORUS                                                                  \
	"fabric: { topology = \"torus\"; dims = [4, 4]; };\n"                  \
	"routing: { adaptive = false; };\n"
#define MS RL_NS_PER_MS

struct story {
	struct rl_swarm_plan plan;
	struct rl_sim_mem mem;
	struct rl_swarm_verdict v;
	struct rl_recovery rec[64];
	uint32_t nrec;
	uint64_t refused; /* by endpoints that are quiesced */
};

static void
inspect(void *ctx, struct rl_sim *sim)
{
	struct story *s = ctx;
	const struct rl_recovery *r = rl_sim_recoveries(sim, &s->nrec);

	const struct rl_fabric *f = rl_sim_fabric(sim);

	for (uint32_t d = 0; d < f->ndev; d++)
		if (f->dev[d].core.ep != NULL)
			s->refused += rl_ep_counters(
				f->dev[d].core.ep)[RL_EPC_tx_refused_quiesce];
	assert_true(s->nrec <= 64);
	memcpy(s->rec, r, s->nrec * sizeof(*r));
}

/* A fabric, and what happens to it; all of that lasts. */
static void
begin(struct story *s, const char *fabric, const char *faults, double load)
{
	struct rl_swarm_plan *p = &s->plan;
	char err[1024];

	memset(s, 0, sizeof(*s));
	assert_int_equal(rl_sim_mem_init(&s->mem), 0);
	assert_int_equal(rl_config_read_text("story", fabric, strlen(fabric),
					     &p->cfg, err, sizeof(err)), 0);
	assert_int_equal(rl_route_setup(&p->cfg.topo, "reflit", 8, 1,
					&p->route, err), 0);
	assert_int_equal(rl_sim_faults_text("f", faults, strlen(faults),
					    &p->cfg.topo, NULL, &p->faults, err,
					    sizeof(err)), 0);
	for (uint32_t i = 0; i < p->faults.n; i++)
		p->faults.f[i].lasting = p->faults.f[i].kind == RL_FAULT_CUT ||
					 p->faults.f[i].kind == RL_FAULT_CRASH;
	rl_sim_wire_defaults(&p->wire);
	p->seed = 1;
	p->notice_ns = 1000;
	p->controller = true;
	p->resil.delay_ns = 10000;
	p->load = (struct rl_sim_load_cfg){
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = load,
		.slot_ps = p->wire.flit_ps,
		.min_flits = 1,
		.max_flits = 8,
		.cos = 1,
		/* recoveries are over by then */
		.stop_ns = 600000,
		.seed = 1,
		.nep = (uint16_t)p->cfg.topo.nep,
	};
	p->heal_ns = 600000;
	p->limit_ns = 400 * MS;
	p->inspect = inspect;
	p->inspect_ctx = s;
}

static void
tell(struct story *s)
{
	assert_int_equal(rl_swarm_plan_run(&s->plan, &s->mem, &s->v), 0);
	if (!s->v.ok)
		fail_msg("%s", s->v.why);
}

static void
end(struct story *s)
{
	rl_route_free(s->plan.route);
	rl_sim_faults_free(&s->plan.faults);
	rl_config_free(&s->plan.cfg);
	rl_sim_mem_free(&s->mem);
}

static void
a_link_that_dies_for_good_is_routed_around_without_a_hold(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS, "100us cut s3.0-s3.3\n", 0.05);
	tell(&s);
	assert_int_equal(s.v.load.delivered, s.v.load.sent);
	assert_int_equal(s.nrec, 1);
	assert_int_equal(s.rec[0].outcome, RL_OUTCOME_DONE);
	assert_int_equal(s.rec[0].mode, RL_RESIL_LIVE);
	assert_int_equal(s.rec[0].held_flows, 0);
	assert_int_equal(s.rec[0].paused_ns, 0);
	assert_int_equal(s.rec[0].at_ns, 100000);
	assert_true(s.v.load.outage_ns < 5 * MS);
	end(&s);
}

/* [RES-6]: what old and new tables together don't carry safely, and no more */
static void
if_the_mix_is_not_proven_a_few_flows_are_held(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS, "100us cut s0.0-s0.1\n", 0.05);
	tell(&s);
	assert_int_equal(s.v.load.delivered, s.v.load.sent);
	assert_int_equal(s.nrec, 1);
	assert_int_equal(s.rec[0].outcome, RL_OUTCOME_DONE);
	assert_true(s.rec[0].mode == RL_RESIL_LIVE ||
		    s.rec[0].mode == RL_RESIL_PARTIAL);
	assert_true(s.rec[0].held_flows <= 16 * 15 / 20);
	assert_true(s.v.load.outage_ns < 5 * MS);
	end(&s);
}

/* [RES-1]: the patent's way, whenever it is asked for */
static void
a_full_quiesce_holds_all_installs_and_goes_on(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS "controller: { mode = \"full\"; };\n",
	      "100us cut s0.0-s0.1\n", 0.05);
	tell(&s);
	assert_int_equal(s.v.load.delivered, s.v.load.sent);
	assert_int_equal(s.nrec, 1);
	assert_int_equal(s.rec[0].outcome, RL_OUTCOME_DONE);
	assert_int_equal(s.rec[0].mode, RL_RESIL_FULL);
	assert_int_equal(s.rec[0].held_flows, 16 * 15);
	assert_true(s.rec[0].quiesce_ns > 0);
	assert_true(s.rec[0].paused_ns >= s.rec[0].quiesce_ns +
						  s.rec[0].install_ns);
	assert_true(s.v.load.outage_ns >= s.rec[0].quiesce_ns);
	assert_true(s.v.load.outage_ns < 5 * MS);
	end(&s);
}

/* [RES-1, EP-5]: what was asked before is answered, and then all is quiet */
static void
a_full_quiesce_refuses_requests_and_waits_for_no_answer_in_vain(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS "controller: { mode = \"full\"; };\n",
	      "100us cut s0.0-s0.1\n", 0.05);
	s.plan.load.requests_ppm = 1000000;
	tell(&s);
	assert_int_equal(s.v.load.delivered, s.v.load.sent);
	assert_true(s.v.load.sent_requests > 1000);
	assert_int_equal(s.v.load.delivered_requests, s.v.load.sent_requests);
	assert_int_equal(s.v.load.sent_responses, s.v.load.sent_requests);
	assert_int_equal(s.v.load.delivered_responses, s.v.load.sent_requests);
	assert_int_equal(s.v.load.sent, 2 * s.v.load.sent_requests);
	assert_int_equal(s.rec[0].outcome, RL_OUTCOME_DONE);
	assert_int_equal(s.rec[0].mode, RL_RESIL_FULL);
	assert_true(s.refused > 0);
	end(&s);
}

#define TOKENS TORUS "controller: { mode = \"tokens\"; };\n"

/* [RES-5]: no drain, no hold, and nothing out of turn */
static void
tokens_part_old_from_new_and_no_flow_stops(void **state)
{
	static const char *const fabrics[] = {
		TOKENS,
		TOKENS "endpoint: { retry = false; };\n",
		TOKENS "link: { switching = \"cut-through\"; };\n",
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(fabrics); i++) {
		static struct story s;

		begin(&s, fabrics[i], "100us cut s0.0-s0.1\n", 0.02);
		s.plan.fec_safe = true;
		tell(&s);
		assert_int_equal(s.v.load.delivered, s.v.load.sent);
		assert_int_equal(s.nrec, 1);
		assert_int_equal(s.rec[0].outcome, RL_OUTCOME_DONE);
		assert_int_equal(s.rec[0].mode, RL_RESIL_TOKENS);
		assert_int_equal(s.rec[0].held_flows, 0);
		assert_int_equal(s.rec[0].paused_ns, 0);
		assert_true(s.rec[0].quiesce_ns > 0);
		assert_int_equal(s.refused, 0);
		assert_true(s.v.load.outage_ns < 1 * MS);
		end(&s);
	}
}

/* [RES-5, RES-2]: its successor finds out how far tokens are, and goes on */
static void
a_controller_that_dies_while_tokens_pass_is_succeeded(void **state)
{
	unsigned int resumed = 0;

	(void)state;
	for (uint64_t at = 225; at < 300; at += 15) {
		static struct story s;
		char faults[200];

		snprintf(faults, sizeof(faults),
			 "100us cut s0.0-s0.1\n%lluus controller crash\n"
			 "400us controller restart\n",
			 (unsigned long long)at);
		begin(&s, TOKENS, faults, 0.01);
		s.plan.fec_safe = true;
		tell(&s);
		assert_int_equal(s.v.load.delivered, s.v.load.sent);
		assert_int_equal(s.rec[s.nrec - 1].outcome, RL_OUTCOME_DONE);
		/*
		 * the recovery that it finds, and the one that it then
		 * computes
		 */
		resumed += s.nrec == 2 && s.rec[0].detect_ns == 0 &&
			   s.rec[0].mode == RL_RESIL_TOKENS;
		end(&s);
	}
	assert_true(resumed > 0);
}

static void
a_switch_crashes_and_returns_without_loss_to_those_beyond_it(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS, "100us crash s1.1\n400us restart s1.1\n", 0.02);
	s.plan.faults.f[0].lasting = false;
	s.plan.reports_ok = true; /* to e1.1 there is no way meanwhile */
	tell(&s);
	assert_int_equal(s.v.load.lost, 0);
	assert_true(s.nrec >= 2);
	/* no flow is held for it */
	assert_int_equal(s.rec[0].mode, RL_RESIL_TOKENS);
	assert_int_equal(s.rec[0].paused_ns, 0);
	assert_int_equal(s.rec[s.nrec - 1].outcome, RL_OUTCOME_DONE);
	end(&s);
}

/*
 * A fabric falls apart, and a switch of one part restarts: it gets tables, as
 * do the devices of its part, and the other part goes on.
 */
static void
each_part_of_a_fabric_that_is_cut_gets_tables_of_its_own(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, "fabric: { topology = \"mesh\"; dims = [4, 2]; };\n",
	      "100us cut s1.0-s2.0\n120us cut s1.1-s2.1\n"
	      "200us crash s3.1\n500us restart s3.1\n", 0.02);
	s.plan.faults.f[2].lasting = false;
	s.plan.reports_ok = true;
	s.plan.cfg.endpoint.give_up_ns = 3 * MS;
	s.plan.silence_ns = 20 * MS;
	tell(&s);
	assert_int_equal(s.v.load.lost, 0);
	assert_true(s.nrec >= 2);
	for (uint32_t i = 0; i < s.nrec; i++)
		assert_int_not_equal(s.rec[i].outcome, RL_OUTCOME_REFUSED);
	assert_int_equal(s.rec[s.nrec - 1].outcome, RL_OUTCOME_DONE);
	end(&s);
}

/* A port that never came up: no port reports its death. */
static void
a_link_that_never_came_up_is_routed_around(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS "controller: { train_ns = 100000; };\n"
	      "link: { watchdog_ns = 20000000; };\n",
	      "0us cut s0.0-s0.1\n", 0.02);
	s.plan.silence_ns = 20 * MS;
	tell(&s);
	assert_int_equal(s.v.load.lost, 0);
	assert_true(s.nrec >= 1);
	assert_int_equal(s.rec[0].cause, RL_CAUSE_LINK_DEAD);
	assert_int_equal(s.rec[s.nrec - 1].outcome, RL_OUTCOME_DONE);
	end(&s);
}

/* [DRL-7]: tables were refused, and detours do not reach all devices */
static void
packets_that_a_watchdog_gives_up_are_handed_over_once(void **state)
{
	static struct story s;
	uint32_t gave_up = 0;

	(void)state;
	begin(&s, TORUS, "100us cut s0.0-s0.1\n300us crash s1.1\n", 0.05);
	rl_route_free(s.plan.route);
	s.plan.route = NULL;
	assert_int_equal(rl_route_setup(&s.plan.cfg.topo, "torus-2qos", 8, 1,
					&s.plan.route, (char[1024]){ 0 }), 0);
	s.plan.reports_ok = true;
	s.plan.cfg.endpoint.give_up_ns = 3 * MS;
	s.plan.silence_ns = 20 * MS;
	tell(&s);
	assert_true(s.nrec >= 3);
	assert_int_equal(s.rec[1].cause, RL_CAUSE_LINK_DEAD);
	assert_int_equal(s.rec[1].outcome, RL_OUTCOME_REFUSED);
	for (uint32_t i = 0; i < s.nrec; i++)
		gave_up += s.rec[i].cause == RL_CAUSE_GAVE_UP;
	assert_int_equal(gave_up, 1);
	assert_int_equal(s.rec[2].cause, RL_CAUSE_GAVE_UP);
	assert_true(s.rec[2].what_is_dev);
	end(&s);
}

/* [EP-6]: the judge sees it, where a source says nothing for too long */
static void
what_cannot_be_delivered_is_reported_in_bounded_time(void **state)
{
	static struct story s;

	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		begin(&s, TORUS, "100us cut e0.0-s0.0\n", 0.02);
		s.plan.reports_ok = true;
		s.plan.cfg.endpoint.give_up_ns = late ? 30 * MS : 3 * MS;
		s.plan.report_ns = 10 * MS;
		assert_int_equal(rl_swarm_plan_run(&s.plan, &s.mem, &s.v), 0);
		assert_int_equal(s.v.ok, !late);
		if (late)
			assert_non_null(strstr(s.v.why, "no report: endpoint"));
		else
			assert_true(s.v.load.reported > 0);
		end(&s);
	}
}

/* [RES-3] */
static void
a_link_is_removed_and_added_without_loss_or_disorder(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS,
	      "100us remove s3.0-s3.3\n400us add s3.0-s3.3\n", 0.05);
	tell(&s);
	assert_int_equal(s.v.load.delivered, s.v.load.sent);
	assert_int_equal(s.v.sim.drops[RL_DROP_NO_PATH], 0);
	assert_int_equal(s.rec[0].cause, RL_CAUSE_REMOVE);
	assert_true(s.v.load.outage_ns < 100 * RL_NS_PER_US);
	end(&s);
}

static void
a_controller_that_dies_leaves_detours_and_its_successor_ends_the_work(
	void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS,
	      "100us cut s0.0-s0.1\n120us controller crash\n"
	      "500us controller restart\n", 0.05);
	tell(&s);
	assert_int_equal(s.v.load.delivered, s.v.load.sent);
	assert_int_equal(s.nrec, 1);
	assert_int_equal(s.rec[0].outcome, RL_OUTCOME_DONE);
	assert_true(s.rec[0].detect_ns > 400000);
	end(&s);
}

/* [RES-2]: a second failure in each phase of the recovery from the first */
static void
a_second_failure_at_any_moment_is_absorbed(void **state)
{
	static const uint64_t at_ns[] = { 100000, 105000, 112000, 140000,
					  165000, 200000, 230000, 245000,
					  260000, 300000 };
	static const char *const modes[] = { "auto", "full", "tokens" };
	const size_t step = SOME(3) * FEW(4);

	(void)state;
	for (size_t m = 0; m < RL_ARRAY_SIZE(modes); m++)
		for (size_t i = 4 * m % step; i < RL_ARRAY_SIZE(at_ns);
		     i += step) {
			static struct story s;
			char fabric[200], faults[200];

			snprintf(fabric, sizeof(fabric),
				 TORUS "controller: { mode = \"%s\"; };\n",
				 modes[m]);
			snprintf(faults, sizeof(faults),
				 "100us cut s0.0-s0.1\n%lluns cut s2.2-s2.3\n",
				 (unsigned long long)at_ns[i]);
			begin(&s, fabric, faults, 0.02);
			tell(&s);
			assert_int_equal(s.v.load.delivered, s.v.load.sent);
			assert_int_equal(s.rec[s.nrec - 1].outcome,
					 RL_OUTCOME_DONE);
			assert_true(s.v.load.outage_ns < 5 * MS);
			end(&s);
		}
}

static void
a_bad_channel_delays_tables_and_breaks_nothing(void **state)
{
	static struct story s;

	(void)state;
	begin(&s, TORUS, "100us cut s0.0-s0.1\n", 0.02);
	s.plan.resil.jitter_ns = 300000;
	s.plan.resil.loss_ppb = 300000000;
	s.plan.resil.dup_ppb = 300000000;
	tell(&s);
	assert_int_equal(s.v.load.delivered, s.v.load.sent);
	assert_int_equal(s.rec[s.nrec - 1].outcome, RL_OUTCOME_DONE);
	end(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_that_dies_for_good_is_routed_around_without_a_hold),
		cmocka_unit_test(if_the_mix_is_not_proven_a_few_flows_are_held),
		cmocka_unit_test(a_full_quiesce_holds_all_installs_and_goes_on),
		cmocka_unit_test(a_full_quiesce_refuses_requests_and_waits_for_no_answer_in_vain),
		cmocka_unit_test(tokens_part_old_from_new_and_no_flow_stops),
		cmocka_unit_test(a_controller_that_dies_while_tokens_pass_is_succeeded),
		cmocka_unit_test(a_switch_crashes_and_returns_without_loss_to_those_beyond_it),
		cmocka_unit_test(each_part_of_a_fabric_that_is_cut_gets_tables_of_its_own),
		cmocka_unit_test(a_link_that_never_came_up_is_routed_around),
		cmocka_unit_test(packets_that_a_watchdog_gives_up_are_handed_over_once),
		cmocka_unit_test(what_cannot_be_delivered_is_reported_in_bounded_time),
		cmocka_unit_test(a_link_is_removed_and_added_without_loss_or_disorder),
		cmocka_unit_test(a_controller_that_dies_leaves_detours_and_its_successor_ends_the_work),
		cmocka_unit_test(a_second_failure_at_any_moment_is_absorbed),
		cmocka_unit_test(a_bad_channel_delays_tables_and_breaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
