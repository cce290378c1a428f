/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The simulation itself: its time, its wires, and that its judges can say no.
 * A judge that never fails proves nothing.
 */

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../few.h"
#include "../figure1.h"
#include "rl_swarm_plan.h"

static const char fabric[] =
	FIGURE1_FABRIC
	"link: { ack_delay_ns = 200; replay_timer_min_ns = 2000;\n"
	"  replay_timer_max_ns = 20000; init_interval_ns = 1000;\n"
	"  resume_delay_ns = 200; restore_delay_ns = 1000;\n"
	"  flap_damping_ns = 1000; flap_damping_max_ns = 1000; };\n";

static struct rl_sim_mem mem;

static void
make_plan(struct rl_swarm_plan *plan)
{
	char err[1024];

	memset(plan, 0, sizeof(*plan));
	assert_int_equal(rl_config_read_text("fabric", fabric, strlen(fabric),
					     &plan->cfg, err, sizeof(err)),
			 0);
	assert_int_equal(rl_route_setup(&plan->cfg.topo, NULL, 8, 1,
					&plan->route, err),
			 0);
	rl_sim_wire_defaults(&plan->wire);
	plan->seed = 5;
	plan->notice_ns = 1000;
	plan->load = (struct rl_sim_load_cfg){
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = 0.5, .slot_ps = 2000, .min_flits = 1, .max_flits = 8,
		.cos = 1, .stop_ns = 50000, .seed = 5, .nep = 2,
	};
	plan->heal_ns = 60000;
	plan->limit_ns = 100 * RL_NS_PER_MS;
}

static void
free_plan(struct rl_swarm_plan *plan)
{
	rl_route_free(plan->route);
	rl_sim_faults_free(&plan->faults);
	rl_config_free(&plan->cfg);
}

static int
setup(void **state)
{
	(void)state;
	return rl_sim_mem_init(&mem);
}

static int
teardown(void **state)
{
	(void)state;
	rl_sim_mem_free(&mem);
	return 0;
}

static void
test_equal_seeds_give_equal_runs(void **state)
{
	struct rl_swarm_verdict a, b;
	struct rl_swarm_plan plan;
	uint64_t last = 0;
	char err[RL_ERR_MAX];

	(void)state;
	for (uint64_t seed = 100; seed < 140; seed += FEW(4)) {
		for (int i = 0; i < 2; i++) {
			assert_int_equal(rl_swarm_plan_draw(&plan, seed, err),
					 0);
			assert_int_equal(rl_swarm_plan_run(&plan, &mem,
							   i == 0 ? &a : &b),
					 0);
			rl_swarm_plan_free(&plan);
		}
		assert_true(a.ok && b.ok);
		assert_int_equal(a.hash, b.hash);
		assert_int_not_equal(a.hash, last);
		last = a.hash;
	}
}

/* e0 - s0 - s1 - e1: three wires of 100 ns, one flit of 2.5 ns with header. */
static void
test_latency_is_that_of_the_wires(void **state)
{
	struct rl_swarm_verdict v;
	struct rl_swarm_plan plan;

	(void)state;
	make_plan(&plan);
	plan.load.min_flits = plan.load.max_flits = 1;
	plan.load.load = 0.001;
	plan.load.start_ns = 5000; /* the links have trained */
	plan.load.stop_ns = 900000;
	plan.heal_ns = 1000000;
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_true(v.ok);
	assert_true(v.load.delivered > 100);
	/* each hop: 320 bytes at 128 bytes a ns, rounded up, and the latency */
	assert_int_equal(rl_hist_quantile(&v.load.latency, 50000), 3 * 103);
	plan.wire.latency_ns = 1000;
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_true(v.ok);
	assert_in_range(rl_hist_quantile(&v.load.latency, 50000), 3009, 3040);
	free_plan(&plan);
}

/* A wire carries no more than one flit a slot, headers included. */
static void
test_a_full_wire_is_backpressure_not_loss(void **state)
{
	struct rl_swarm_verdict v;
	struct rl_swarm_plan plan;

	(void)state;
	make_plan(&plan);
	plan.load.load = 4;
	plan.load.min_flits = plan.load.max_flits = 8;
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_true(v.ok);
	assert_int_equal(v.load.lost, 0);
	/* 2 sources x 8 flits x 2 ns, and what was made waited its turn */
	assert_true(v.end_ns >= v.load.sent / 2 * 16);
	assert_true(v.load.latency.max > 50000);
	free_plan(&plan);
}

static void
add_fault(struct rl_swarm_plan *plan, const char *line)
{
	char err[256];

	assert_int_equal(rl_sim_faults_text("f", line, strlen(line),
					    &plan->cfg.topo, NULL, &plan->faults,
					    err, sizeof(err)),
			 0);
}

/* Polls and frames of a millisecond at rest. */
static void
rest(struct rl_swarm_plan *plan, uint64_t *polls, uint64_t *frames)
{
	struct rl_swarm_verdict v[2];

	for (int i = 0; i < 2; i++) {
		plan->heal_ns = (i + 1) * RL_NS_PER_MS;
		assert_int_equal(rl_swarm_plan_run(plan, &mem, &v[i]), 0);
		assert_true(v[i].ok);
	}
	*polls = v[1].sim.polls - v[0].sim.polls;
	*frames = v[1].sim.frames - v[0].sim.frames;
}

/*
 * A keepalive is sent by a poll and received by one; a look at the detectors of
 * silence may come between. So much, and no more, is polled at rest, also where
 * devices are polled whole.
 */
static void
test_rest_costs_its_keepalives_only(void **state)
{
	struct rl_swarm_plan plan;
	uint64_t polls, frames;

	(void)state;
	make_plan(&plan);
	plan.cfg.link.keepalive_ns = 2000;
	plan.cfg.link.keepalive_dead_ns = 16000;
	for (int turns = 0; turns < 2; turns++) {
		plan.turns = turns;
		rest(&plan, &polls, &frames);
		assert_in_range(frames, 3500, 4500);
		assert_in_range(polls, 2 * frames, 3 * frames + 100);
	}
	free_plan(&plan);
}

/* A wire that was full wakes no port whose need to send has gone meanwhile. */
static void
test_a_wire_that_was_full_does_not_wake_for_ever(void **state)
{
	struct rl_swarm_plan plan;
	uint64_t polls, frames;

	(void)state;
	make_plan(&plan);
	plan.cfg.link.keepalive_ns = plan.cfg.link.keepalive_dead_ns = 0;
	add_fault(&plan, "100ns stall s0-s1#0 for=50us\n2us cut s0-s1#0\n");
	for (int turns = 0; turns < 2; turns++) {
		plan.turns = turns;
		rest(&plan, &polls, &frames);
		assert_in_range(frames, 0, 20);
		assert_in_range(polls, 0, 3000); /* of cores that wait */
	}
	free_plan(&plan);
}

/*
 * Links at rest that say nothing are as if they had: a cut in silence is found
 * when it would have been, give or take a keepalive, and rest costs nothing.
 */
static void
note_deaths(void *ctx, struct rl_sim *sim)
{
	const struct rl_failover *f;
	uint64_t *dead_ns = ctx;
	uint32_t n;

	f = rl_sim_failovers(sim, &n);
	assert_int_equal(n, 2);
	dead_ns[0] = f[0].dead_ns;
	dead_ns[1] = f[1].dead_ns;
}

static void
test_links_doze_and_find_a_silent_cut_as_soon(void **state)
{
	struct rl_swarm_plan plan;
	uint64_t polls, frames, dead[2][2];

	(void)state;
	make_plan(&plan);
	plan.cfg.link.keepalive_ns = 2000;
	plan.cfg.link.keepalive_dead_ns = 16000;
	plan.doze = true;
	for (int turns = 0; turns < 2; turns++) {
		plan.turns = turns;
		rest(&plan, &polls, &frames);
		assert_in_range(frames, 0, 20);
		assert_in_range(polls, 0, 100);
	}
	plan.inspect = note_deaths;
	plan.heal_ns = RL_NS_PER_MS;
	add_fault(&plan, "700us cut s0-s1#0 silent\n800us heal s0-s1#0\n");
	for (int turns = 0; turns < 2; turns++) {
		struct rl_swarm_verdict v;

		plan.turns = turns;
		for (int doze = 0; doze < 2; doze++) {
			plan.doze = doze;
			plan.inspect_ctx = dead[doze];
			assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
			assert_true(v.ok);
		}
		assert_in_range(dead[0][0], 714000, 719000);
		for (int i = 0; i < 2; i++)
			assert_in_range(dead[1][i], dead[0][i] - 2000,
					dead[0][i] + 2000);
	}
	free_plan(&plan);
}

/* INIT frames of all ports, those that were sent in a doze included. */
static void
count_calls(void *ctx, struct rl_sim *sim)
{
	const struct rl_fabric *f = rl_sim_fabric(sim);
	uint64_t *n = ctx;

	*n = 0;
	for (uint32_t d = 0; d < f->ndev; d++)
		for (uint16_t p = 0; p < f->dev[d].nports; p++)
			*n += rl_port_counters(
				f->dev[d].port[p].port)[RL_PC_tx_init];
}

/* And who calls into the dark calls on when there is light again. */
static void
test_an_end_that_dozes_in_the_dark_trains_as_soon(void **state)
{
	struct rl_swarm_verdict v[2];
	struct rl_swarm_plan plan;
	uint64_t calls[2];

	(void)state;
	make_plan(&plan);
	plan.inspect = count_calls;
	add_fault(&plan, "100us cut s0-s1 silent\n900us heal s0-s1\n");
	plan.cfg.link.keepalive_ns = 2000;
	plan.cfg.link.keepalive_dead_ns = 16000;
	plan.heal_ns = RL_NS_PER_MS;
	for (int doze = 0; doze < 2; doze++) {
		plan.doze = doze;
		plan.inspect_ctx = &calls[doze];
		assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v[doze]), 0);
		assert_true(v[doze].ok);
		assert_int_equal(v[doze].failovers, 4);
	}
	assert_in_range(v[1].end_ns, v[0].end_ns - 20000,
			v[0].end_ns + 20000);
	/* four ends, each every microsecond; and keepalives of the others */
	assert_in_range(v[0].sim.frames - v[1].sim.frames, 3200, 6000);
	assert_in_range(calls[1], calls[0] - 8, calls[0] + 8);
	free_plan(&plan);
}

/* Cuts link @p k between the switches at its n-th flit; @return failovers. */
static uint32_t
cut_at(struct rl_swarm_plan *plan, unsigned int k, unsigned int flit)
{
	struct rl_swarm_verdict v;
	char line[80];

	rl_sim_faults_free(&plan->faults);
	snprintf(line, sizeof(line), "5us cut s0>s1#%u flit=%u", k, flit);
	add_fault(plan, line);
	snprintf(line, sizeof(line), "20us heal s0-s1#%u", k);
	add_fault(plan, line);
	assert_int_equal(rl_swarm_plan_run(plan, &mem, &v), 0);
	if (!v.ok)
		fail_msg("link %u, flit %u: %s", k, flit, v.why);
	return v.failovers;
}

/* [DRL-1, DRL-8] The same cut at every flit of a stream: nothing is lost. */
static void
test_a_cut_at_any_flit_loses_nothing(void **state)
{
	struct rl_swarm_plan plan;
	unsigned int hit;

	(void)state;
	make_plan(&plan);
	for (unsigned int flit = 1; flit < 60; flit += SOME(4) * FEW(3))
		for (int retry = 0; retry < 2; retry++) {
			plan.cfg.endpoint.retry = retry;
			/* one of the two links carries this flow */
			hit = cut_at(&plan, 0, flit);
			hit += cut_at(&plan, 1, flit);
			assert_true(hit >= 1);
		}
	free_plan(&plan);
}

/* [DRL-9] The same judge says no where the policy loses packets. */
static void
test_the_judge_sees_the_losses_of_no_loopback(void **state)
{
	struct rl_swarm_verdict v;
	struct rl_swarm_plan plan;

	(void)state;
	make_plan(&plan);
	plan.cfg.link.loopback = RL_LOOPBACK_NONE;
	plan.cfg.endpoint.retry = false;
	plan.cfg.endpoint.gap_skip_ns = 20000;
	add_fault(&plan, "10us cut s0-s1\n20us heal s0-s1\n");
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_false(v.ok);
	assert_non_null(strstr(v.why, "lost"));
	assert_true(v.load.lost > 0);
	plan.losses_ok = true;
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_true(v.ok);
	free_plan(&plan);
}

static void
expect_no(struct rl_swarm_plan *plan, const char *words)
{
	struct rl_swarm_verdict v;

	assert_int_equal(rl_swarm_plan_run(plan, &mem, &v), 0);
	assert_false(v.ok);
	if (strstr(v.why, words) == NULL)
		fail_msg("'%s' is not '%s'", v.why, words);
	free_plan(plan);
}

/* Each says no where no other judge does. */
static void
test_the_judge_says_no_to_what_was_made_good_as_well(void **state)
{
	struct rl_swarm_plan plan;

	(void)state;
	make_plan(&plan); /* end-to-end retry brings what a policy dropped */
	plan.cfg.link.replay_isl = 0;
	add_fault(&plan, "10us cut s0-s1\n20us heal s0-s1\n");
	expect_no(&plan, "packets dropped: ");

	make_plan(&plan);
	plan.cfg.endpoint.give_up_ns = 20000;
	plan.cfg.endpoint.retry_timer_min_ns = 2000;
	add_fault(&plan, "10us cut s1-e1\n50us heal s1-e1\n");
	expect_no(&plan, "reported without need");

	make_plan(&plan); /* a lost packet comes after its followers */
	plan.cfg.link.retry = false;
	plan.strict_order = true;
	add_fault(&plan, "10us noise s0-s1 loss=0.05\n50us heal s0-s1\n");
	expect_no(&plan, "before their turn");

	make_plan(&plan);
	plan.limit_ns = 100000;
	add_fault(&plan, "10us cut s1-e1 silent\n");
	plan.faults.f[0].lasting = true;
	expect_no(&plan, "not at rest");
}

static void
steal(void *ctx, struct rl_sim *sim)
{
	char err[RL_ERR_MAX];

	(void)sim;
	*(struct rl_flit **)ctx = rl_flit_get(&mem.cache);
	assert_int_equal(rl_sim_audit(sim, true, err), -EUCLEAN);
}

static void
test_a_missing_flit_is_noticed(void **state)
{
	struct rl_swarm_verdict v;
	struct rl_swarm_plan plan;
	struct rl_flit *stolen = NULL;

	(void)state;
	make_plan(&plan);
	plan.inspect = steal;
	plan.inspect_ctx = &stolen;
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_false(v.ok);
	assert_non_null(strstr(v.why, "flits"));
	rl_flit_put(&mem.cache, stolen);
	plan.inspect = NULL;
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_true(v.ok);
	free_plan(&plan);
}

static void
test_a_flit_given_back_twice_is_noticed(void **state)
{
	struct rl_swarm_verdict v;
	struct rl_swarm_plan plan;
	struct rl_flit *kept;

	(void)state;
	make_plan(&plan);
	/* one is missing and another there twice: the count is right */
	kept = mem.cache.slot[0];
	mem.cache.slot[0] = mem.cache.slot[1];
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	assert_false(v.ok);
	mem.cache.slot[0] = kept;
	free_plan(&plan);
	/* the run may have moved flits about: start afresh */
	rl_sim_mem_free(&mem);
	assert_int_equal(rl_sim_mem_init(&mem), 0);
}

/* Frames that linger over a cut come in the next epoch, and are refused. */
static void
test_stale_frames_arrive_and_are_refused(void **state)
{
	uint64_t late = 0;
	struct rl_swarm_verdict v;
	struct rl_swarm_plan plan;

	(void)state;
	make_plan(&plan);
	add_fault(&plan, "10us cut s0-s1#0 late\n12us heal s0-s1#0\n"
			 "30us cut s0-s1#1 late\n32us heal s0-s1#1\n");
	for (uint64_t seed = 1; seed < 10; seed++) {
		plan.seed = seed;
		assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
		assert_true(v.ok);
		late += v.sim.frames_late;
	}
	assert_true(late > 0);
	free_plan(&plan);
}

/*
 * Without end-to-end retry only FEC can find damage of a wire: then no damage
 * makes FEC take a flit for another one [FLIT-4].
 */
static void
test_wires_damage_nothing_that_fec_would_pass(void **state)
{
	struct rl_swarm_verdict v;
	struct rl_swarm_plan plan;
	uint64_t corrupt = 0;

	(void)state;
	make_plan(&plan);
	plan.cfg.endpoint.retry = false;
	plan.cfg.endpoint.gap_skip_ns = 20000;
	plan.cfg.link.error_window_ns = 0;
	plan.fec_safe = true;
	add_fault(&plan, "5us noise s0-s1 corrupt=0.1 bytes=9 hurt=body\n"
			 "50us heal s0-s1\n");
	for (uint64_t seed = 1; seed < 10; seed++) {
		plan.seed = seed;
		assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
		if (!v.ok)
			fail_msg("seed %u: %s", (unsigned int)seed, v.why);
		corrupt += v.sim.frames_corrupt;
	}
	assert_true(corrupt > 500);
	free_plan(&plan);
}

/* The line of a flit within a run holds pointers. None of these is taken for the
   mark of a flit that was found free before. */
static void
test_a_pointer_is_no_flit_that_is_free_twice(void **state)
{
	struct rl_swarm_verdict v;
	struct rl_swarm_plan plan;

	(void)state;
	make_plan(&plan);
	plan.load.min_flits = plan.load.max_flits =
		plan.cfg.link.max_packet_flits;
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	/* one more is the mark of the next run */
	mem.mark = (uint32_t)((uintptr_t)mem.flit_chunk[0] >> 32) - 1;
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &v), 0);
	if (!v.ok)
		fail_msg("%s", v.why);
	free_plan(&plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_seeds_give_equal_runs),
		cmocka_unit_test(test_latency_is_that_of_the_wires),
		cmocka_unit_test(test_a_full_wire_is_backpressure_not_loss),
		cmocka_unit_test(test_rest_costs_its_keepalives_only),
		cmocka_unit_test(
			test_a_wire_that_was_full_does_not_wake_for_ever),
		cmocka_unit_test(test_links_doze_and_find_a_silent_cut_as_soon),
		cmocka_unit_test(
			test_an_end_that_dozes_in_the_dark_trains_as_soon),
		cmocka_unit_test(test_a_cut_at_any_flit_loses_nothing),
		cmocka_unit_test(test_the_judge_sees_the_losses_of_no_loopback),
		cmocka_unit_test(
			test_the_judge_says_no_to_what_was_made_good_as_well),
		cmocka_unit_test(test_a_missing_flit_is_noticed),
		cmocka_unit_test(test_a_flit_given_back_twice_is_noticed),
		cmocka_unit_test(test_a_pointer_is_no_flit_that_is_free_twice),
		cmocka_unit_test(test_stale_frames_arrive_and_are_refused),
		cmocka_unit_test(test_wires_damage_nothing_that_fec_would_pass),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
