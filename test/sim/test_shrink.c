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

/*
 * Four switches in a row, the first two with two links, each with an endpoint.
 * Lines of faults: 1 to 4 of the link of e0 to e3, 5 to 8 of links between
 * switches, 9 of s3, 10 to 13 of e0 to e3, 14 and 15 of the controller.
 */
#define ROW                                                                    \
	"fabric: { topology = \"custom\"; switches = ( { name = \"s0\"; }, "   \
	"{ name = \"s1\"; }, { name = \"s2\"; }, { name = \"s3\"; } ); "       \
	"endpoints = ( { name = \"e0\"; }, { name = \"e1\"; }, "               \
	"{ name = \"e2\"; }, { name = \"e3\"; } ); links = ( "                 \
	"{ a = \"e0\"; b = \"s0\"; }, { a = \"e1\"; b = \"s1\"; }, "           \
	"{ a = \"e2\"; b = \"s2\"; }, { a = \"e3\"; b = \"s3\"; }, "           \
	"{ a = \"s0\"; b = \"s1\"; count = 2; }, "                             \
	"{ a = \"s1\"; b = \"s2\"; }, { a = \"s2\"; b = \"s3\"; } ); };"
#define ROW_LINES 15
#define OF_CONTROLLER 14

/* What a step of shrinking must leave in order, and how many asked for less. */
struct row {
	uint32_t switches, endpoints, links; /* the least seen */
	bool keeps_all;
};

static uint32_t
fault_of(const struct rl_swarm_plan *plan, uint32_t line)
{
	uint32_t n = 0, at = UINT32_MAX;

	for (uint32_t i = 0; i < plan->faults.n; i++)
		if (plan->faults.f[i].line == line) {
			at = i;
			n++;
		}
	assert_in_range(n, 0, 1);
	return at;
}

/* Faults and marks of an endpoint and of its link, which is its only one. */
static bool
endpoint_is_right(const struct rl_swarm_plan *plan, uint32_t e)
{
	const struct rl_topo *t = &plan->cfg.topo;
	const char name[] = { 'e', (char)('0' + e), '\0' };
	const int32_t dev = rl_topo_find_dev(t, name);
	const uint32_t of_link = fault_of(plan, 1 + e);
	const uint32_t of_dev = fault_of(plan, 10 + e);
	uint32_t link;

	if (dev < 0) {
		assert_int_equal(of_link, UINT32_MAX);
		assert_int_equal(of_dev, UINT32_MAX);
		return e != 0 && e != 3;
	}
	assert_int_equal(t->dev[dev].nports, 1);
	link = t->dev[dev].port[0].link;
	assert_int_equal(t->link[link].failed, e == 2);
	assert_int_equal(t->dev[dev].failed, e == 1);
	if (of_link == UINT32_MAX || of_dev == UINT32_MAX)
		return false; /* a fault was left out by itself */
	assert_int_equal(plan->faults.f[of_link].link, link);
	assert_int_equal(plan->faults.f[of_dev].dev, dev);
	return true;
}

/* Those between switches: at most one of each link. */
static void
check_switches(const struct rl_swarm_plan *plan, struct row *row)
{
	const struct rl_topo *t = &plan->cfg.topo;
	const uint32_t of_dev = fault_of(plan, 9);
	uint32_t at[4] = { 0 }, n = 0;

	for (uint32_t l = 0; l < t->nlink; l++)
		assert_int_not_equal(t->link[l].dev[0], t->link[l].dev[1]);
	for (uint32_t line = 5; line <= 8; line++) {
		const uint32_t i = fault_of(plan, line);

		if (i == UINT32_MAX)
			continue;
		assert_in_range(plan->faults.f[i].link, 0, t->nlink - 1);
		at[n] = plan->faults.f[i].link;
		assert_int_equal(t->link[at[n]].kind, RL_LINK_ISL);
		for (uint32_t k = 0; k < n; k++)
			assert_int_not_equal(at[n], at[k]);
		n++;
	}
	/* what s3 has become is where e3 is */
	if (of_dev != UINT32_MAX && rl_topo_find_dev(t, "e3") >= 0)
		assert_int_equal(
			plan->faults.f[of_dev].dev,
			t->dev[rl_topo_find_dev(t, "e3")].port[0].peer_dev);
	row->switches = rl_min_u32(row->switches, t->ndev - t->nep);
	row->endpoints = rl_min_u32(row->endpoints, t->nep);
	row->links = rl_min_u32(row->links, t->nlink);
}

/* Whether a way leads from e0 to e3. */
static bool
connected(const struct rl_topo *t)
{
	const int32_t to = rl_topo_find_dev(t, "e3");
	bool at[8] = { false };

	if (to < 0)
		return false;
	at[rl_topo_find_dev(t, "e0")] = true;
	for (uint32_t i = 0; i < t->ndev; i++)
		for (uint32_t l = 0; l < t->nlink; l++) {
			const uint32_t *d = t->link[l].dev;

			at[d[0]] = at[d[1]] = at[d[0]] || at[d[1]];
		}
	return at[to];
}

static bool
row_fails(void *ctx, const struct rl_swarm_plan *plan, uint64_t *sent)
{
	const struct rl_topo *t = &plan->cfg.topo;
	struct row *row = ctx;
	bool good = rl_topo_find_dev(t, "e0") >= 0 && connected(t);

	*sent = 10;
	assert_int_equal(plan->load.nep, t->nep);
	check_switches(plan, row);
	for (uint32_t e = 0; e < 4; e++)
		good = endpoint_is_right(plan, e) && good;
	if (row->keeps_all && t->ndev - t->nep == 4)
		for (uint32_t line = 5; line <= 9; line++)
			good = fault_of(plan, line) != UINT32_MAX && good;
	for (uint32_t line = OF_CONTROLLER; line <= ROW_LINES; line++)
		good = fault_of(plan, line) != UINT32_MAX && good;
	return good;
}

static void
draw_row(struct rl_swarm_plan *plan)
{
	static const char *const name[] = { "e0", "e1", "e2", "e3" };
	struct rl_topo *t = &plan->cfg.topo;
	struct rl_fault f = { .dirs = RL_FAULT_DIR_BOTH };
	char err[RL_ERR_MAX + 1024];

	memset(plan, 0, sizeof(*plan));
	assert_int_equal(rl_config_read_text("f", ROW, strlen(ROW), &plan->cfg,
					     err, sizeof(err)),
			 0);
	rl_swarm_settings_defaults(plan);
	plan->load.nep = 4;
	plan->load.stop_ns = 100000;
	plan->heal_ns = 200000;
	t->link[link_of(t, "e2")].failed = true;
	t->dev[rl_topo_find_dev(t, "e1")].failed = true;
	for (f.line = 1; f.line <= ROW_LINES; f.line++) {
		f.t_ns = f.line * 1000;
		f.is_dev = f.line >= 9 && f.line < OF_CONTROLLER;
		f.kind = f.line < 9		   ? RL_FAULT_CUT
			 : f.line < OF_CONTROLLER  ? RL_FAULT_CRASH
			 : f.line == OF_CONTROLLER ? RL_FAULT_CTL_CRASH
						   : RL_FAULT_CTL_LATE;
		if (f.line <= 4)
			f.link = link_of(t, name[f.line - 1]);
		else if (f.line <= 8)
			f.link = f.line - 1;
		else if (f.is_dev)
			f.dev = (uint32_t)rl_topo_find_dev(
				t, f.line == 9 ? "s3" : name[f.line - 10]);
		/* more than there are: nothing of the fabric */
		if (f.line >= OF_CONTROLLER)
			f.link = f.dev = 1000000;
		assert_int_equal(rl_sim_fault_add(&plan->faults, &f), 0);
	}
	for (uint32_t l = 4; l < 8; l++)
		assert_int_equal(t->link[l].kind, RL_LINK_ISL);
}

static void
faults_and_marks_follow_their_parts_of_a_smaller_fabric(void **state)
{
	(void)state;
	for (int keeps_all = 0; keeps_all < 2; keeps_all++) {
		static struct rl_swarm_plan plan;
		struct row row = { 9, 9, 99, keeps_all };
		struct rl_swarm_shrink s = { .fails = row_fails,
					     .ctx = &row,
					     .most = 5000 };
		const struct rl_topo *t = &plan.cfg.topo;

		draw_row(&plan);
		assert_int_equal(rl_swarm_shrink(&s, &plan), 0);
		/* two endpoints at one switch */
		assert_int_equal(t->nep, 2);
		assert_int_equal(t->ndev, 3);
		assert_int_equal(t->nlink, 2);
		assert_int_equal(row.endpoints, 2);
		assert_string_equal(t->dev[t->ep_dev[0]].name, "e0");
		assert_string_equal(t->dev[t->ep_dev[1]].name, "e3");
		/* theirs, their links', and the controller's */
		assert_int_equal(plan.faults.n, 6);
		rl_sim_faults_free(&plan.faults);
		rl_config_free(&plan.cfg);
	}
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
		cmocka_unit_test(
			faults_and_marks_follow_their_parts_of_a_smaller_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
