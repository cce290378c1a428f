/* SPDX-License-Identifier: BSD-3-Clause */

/* Shrinking, with a judge of the test: what is needed is known [SIM-2]. */

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_swarm_case.h"
#include "rl_swarm_shrink.h"

/*
 * Two of the plan's faults (by their lines, which shrinking keeps), the switch
 * s3, a key and a setting are needed, and so many packets.
 */
struct bug {
	uint64_t packets;
	bool needs_seed_2;
	uint32_t asked;
};

static bool
has_line(const struct rl_swarm_plan *plan, uint32_t line)
{
	for (uint32_t i = 0; i < plan->faults.n; i++)
		if (plan->faults.f[i].line == line)
			return true;
	return false;
}

static bool
fails(void *ctx, const struct rl_swarm_plan *plan, uint64_t *sent)
{
	struct bug *b = ctx;

	b->asked++;
	*sent = plan->load.packets == 0 ? 1000 : plan->load.packets;
	return has_line(plan, 3) && has_line(plan, 9) &&
	       rl_topo_find_dev(&plan->cfg.topo, "s3") >= 0 &&
	       plan->cfg.link.window_flits == 17 && plan->poll_ns == 5 &&
	       *sent >= b->packets &&
	       (!b->needs_seed_2 || plan->faults.n > 2 || plan->seed == 2);
}

static void
draw(struct rl_swarm_plan *plan)
{
	static const char text[] =
		"fabric: { topology = \"torus\"; dims = [8]; };";
	struct rl_fault f = { .kind = RL_FAULT_CUT,
				  .dirs = RL_FAULT_DIR_BOTH };
	char err[RL_ERR_MAX + 1024];

	memset(plan, 0, sizeof(*plan));
	assert_int_equal(rl_config_read_text("f", text, strlen(text),
					     &plan->cfg, err, sizeof(err)), 0);
	rl_swarm_settings_defaults(plan);
	plan->seed = plan->load.seed = 77;
	plan->load.nep = 8;
	plan->load.stop_ns = 100000;
	plan->heal_ns = 200000;
	plan->cfg.link.window_flits = 17;
	plan->cfg.link.credits_flits = 33;
	plan->poll_ns = 5;
	plan->tick_ns = 7;
	for (f.line = 1; f.line <= 12; f.line++) {
		f.t_ns = f.line * 1000;
		f.link = f.line % 2 == 0 ? 0 : 11; /* 11 is at s3 */
		f.silent = true;
		assert_int_equal(rl_sim_fault_add(&plan->faults, &f), 0);
	}
}

static uint32_t
link_of(const struct rl_topo *t, const char *dev)
{
	return t->dev[rl_topo_find_dev(t, dev)].port[0].link;
}

static void
only_what_the_failure_needs_is_left(void **state)
{
	static struct rl_swarm_plan plan;
	struct bug b = { .packets = 40 };
	struct rl_swarm_shrink s = { .fails = fails, .ctx = &b, .most = 5000 };

	(void)state;
	draw(&plan);
	plan.faults.f[2].link = plan.faults.f[8].link =
		link_of(&plan.cfg.topo, "s3");
	assert_int_equal(rl_swarm_shrink(&s, &plan), 0);
	assert_int_equal(s.runs, b.asked);
	assert_int_equal(plan.faults.n, 2);
	assert_int_equal(plan.faults.f[0].line, 3);
	assert_int_equal(plan.faults.f[1].line, 9);
	assert_false(plan.faults.f[0].silent);
	assert_true(plan.faults.f[1].t_ns <= 1000);
	assert_true(plan.heal_ns <= plan.faults.f[1].t_ns + 1000);
	assert_true(rl_topo_find_dev(&plan.cfg.topo, "s3") >= 0);
	assert_in_range(plan.cfg.topo.ndev - plan.cfg.topo.nep, 1, 2);
	assert_int_equal(plan.cfg.topo.nep, 2);
	assert_int_equal(plan.load.nep, 2);
	assert_int_equal(plan.cfg.link.window_flits, 17);
	assert_int_not_equal(plan.cfg.link.credits_flits, 33);
	assert_int_equal(plan.poll_ns, 5);
	assert_int_equal(plan.tick_ns, 0);
	assert_in_range(plan.load.packets, 40, 48);
	assert_int_equal(plan.seed, 77);
	rl_sim_faults_free(&plan.faults);
	rl_config_free(&plan.cfg);
}

static void
another_seed_may_fail_where_the_own_one_does_no_more(void **state)
{
	static struct rl_swarm_plan plan;
	struct bug b = { .packets = 1, .needs_seed_2 = true };
	struct rl_swarm_shrink s = { .fails = fails, .ctx = &b, .most = 5000 };

	(void)state;
	draw(&plan);
	assert_int_equal(rl_swarm_shrink(&s, &plan), 0);
	assert_int_equal(plan.faults.n, 2);
	assert_int_equal(plan.seed, 2);
	assert_int_equal(plan.load.seed, 2);
	assert_int_equal(plan.load.packets, 1);
	rl_sim_faults_free(&plan.faults);
	rl_config_free(&plan.cfg);
}

static void
it_asks_no_more_often_than_it_may(void **state)
{
	static struct rl_swarm_plan plan;
	struct bug b = { .packets = 1 };

	(void)state;
	for (uint32_t most = 1; most < 200; most += 7) {
		struct rl_swarm_shrink s = { .fails = fails, .ctx = &b,
					   .most = most };
		uint64_t sent;

		b.asked = 0;
		draw(&plan);
		assert_int_equal(rl_swarm_shrink(&s, &plan), 0);
		assert_true(s.runs <= most && b.asked == s.runs);
		assert_true(fails(&b, &plan, &sent)); /* so far it is right */
		rl_sim_faults_free(&plan.faults);
		rl_config_free(&plan.cfg);
	}
}

static void
a_plan_that_does_not_fail_stays_as_it_is(void **state)
{
	static struct rl_swarm_plan plan;
	struct bug b = { .packets = 5000 };
	struct rl_swarm_shrink s = { .fails = fails, .ctx = &b, .most = 5000 };

	(void)state;
	draw(&plan);
	assert_int_equal(rl_swarm_shrink(&s, &plan), -EINVAL);
	assert_int_equal(plan.faults.n, 12);
	assert_int_equal(plan.cfg.topo.nep, 8);
	rl_sim_faults_free(&plan.faults);
	rl_config_free(&plan.cfg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_the_failure_needs_is_left),
		cmocka_unit_test(
			another_seed_may_fail_where_the_own_one_does_no_more),
		cmocka_unit_test(it_asks_no_more_often_than_it_may),
		cmocka_unit_test(a_plan_that_does_not_fail_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
