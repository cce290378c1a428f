/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One flow over many paths [EP-10, ROUTE-9, SW-4], end to end: it gets what all
 * of them carry, in order, and sends nothing again that was only late; and it
 * goes on when one of them dies.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../few.h"
#include "rl_swarm_plan.h"

#define US RL_NS_PER_US

#define FOUR_LINKS                                                             \
	"fabric: { topology = \"custom\";\n"                                   \
	" switches = ( { name = \"s0\"; }, { name = \"s1\"; } );\n"            \
	" endpoints = ( { name = \"e0\"; }, { name = \"e1\"; } );\n"           \
	" links = ( { a = \"e0\"; b = \"s0\"; count = 4; },\n"                 \
	"  { a = \"s0\"; b = \"s1\"; count = 4; },\n"                          \
	"  { a = \"s1\"; b = \"e1\"; count = 4; } ); };\n"                     \
	"controller: { mode = \"off\"; };\n"                                   \
	"endpoint: { order = \"endpoint\"; congestion = \"none\"; };\n"
#define TORUS                                                                  \
	"fabric: { topology = \"torus\"; dims = [4, 4]; };\n"                  \
	"endpoint: { order = \"endpoint\"; };\n"
#define TORUS_SMALL                                                            \
	"fabric: { topology = \"torus\"; dims = [4, 4]; };\n"                  \
	"endpoint: { order = \"endpoint\"; rx_buffer_flits = 512; };\n"
#define DRAGONFLY                                                              \
	"fabric: { topology = \"dragonfly\"; a = 4; p = 2; h = 2; };\n"        \
	"endpoint: { order = \"endpoint\"; };\n"
/* A ladder with one more link across it: s1 lies on a shortest way to e1. */
#define LADDER                                                                 \
	"fabric: { topology = \"custom\";\n"                                   \
	" switches = ( { name = \"s0\"; }, { name = \"s1\"; },\n"              \
	"  { name = \"s2\"; }, { name = \"s3\"; } );\n"                        \
	" endpoints = ( { name = \"e0\"; }, { name = \"e1\"; } );\n"           \
	" links = ( { a = \"e0\"; b = \"s0\"; },\n"                            \
	"  { a = \"e1\"; b = \"s3\"; },\n"                                     \
	"  { a = \"s0\"; b = \"s1\"; }, { a = \"s0\"; b = \"s2\"; },\n"        \
	"  { a = \"s1\"; b = \"s3\"; }, { a = \"s2\"; b = \"s3\"; },\n"        \
	"  { a = \"s1\"; b = \"s2\"; } ); };\n"                                \
	"controller: { mode = \"off\"; };\n"                                   \
	"endpoint: { order = \"endpoint\"; congestion = \"none\"; };\n"
#define ADAPTIVE "routing: { adaptive = true; };\n"

static struct rl_swarm_plan plan;
static struct rl_swarm_verdict verdict;

static void
begin(const char *text, enum rl_pattern_kind kind, double load)
{
	struct rl_swarm_plan *const p = &plan;
	char err[1024];

	memset(p, 0, sizeof(*p));
	assert_int_equal(rl_config_read_text("drawn", text, strlen(text),
					     &p->cfg, err, sizeof(err)), 0);
	assert_int_equal(rl_route_setup(&p->cfg.topo, NULL, 8,
					rl_config_levels(&p->cfg), &p->route,
					err), 0);
	rl_sim_wire_defaults(&p->wire);
	p->wire.latency_ns = 10;
	p->seed = 1;
	p->turns = true;
	p->notice_ns = 1000;
	p->load = (struct rl_sim_load_cfg){
		.pattern = { .kind = kind },
		.load = load,
		.slot_ps = p->wire.flit_ps,
		.min_flits = 8,
		.max_flits = 8,
		.cos = 1,
		.seed = 1,
		.stop_ns = 60 * US,
		.nep = (uint16_t)p->cfg.topo.nep,
	};
	p->heal_ns = 60 * US;
	p->limit_ns = 100 * RL_NS_PER_MS;
}

static void
run(void)
{
	struct rl_sim_mem mem;

	assert_int_equal(rl_sim_mem_init(&mem), 0);
	assert_int_equal(rl_swarm_plan_run(&plan, &mem, &verdict), 0);
	rl_sim_mem_free(&mem);
	rl_route_free(plan.route);
	rl_config_free(&plan.cfg);
	rl_sim_faults_free(&plan.faults);
	assert_int_equal(verdict.load.duplicated + verdict.load.reordered, 0);
	assert_int_equal(verdict.load.corrupted + verdict.load.reported, 0);
}

/* @return packets that arrive until then; what is under way counts as nothing */
static uint64_t
arrived_by(uint64_t end_ns)
{
	plan.load.stop_ns = RL_NEVER;
	plan.heal_ns = plan.limit_ns = end_ns;
	run();
	return verdict.load.delivered;
}

/*
 * A link carries 1,250 packets in 20 us. That is too short for a window that
 * grows from round trip to round trip.
 */
static void
one_flow_gets_what_four_parallel_links_carry(void **state)
{
	uint64_t one, four;

	(void)state;
	begin(FOUR_LINKS, RL_PATTERN_INCAST, 4.0);
	one = arrived_by(20 * US);
	begin(FOUR_LINKS ADAPTIVE, RL_PATTERN_INCAST, 4.0);
	four = arrived_by(20 * US);
	print_message("20 us: %llu packets on one link, %llu on four\n",
		      (unsigned long long)one, (unsigned long long)four);
	assert_in_range(one, 1100, 1250);
	assert_true(four > 3 * one);
}

/*
 * Flits of 15 flows wait for their order in room for 512. What finds no room is
 * lost: it is asked for much later, and the receiver's link stands still.
 */
static void
all_may_send_to_one_whose_room_is_small(void **state)
{
	uint64_t all;

	(void)state;
	begin(TORUS_SMALL ADAPTIVE, RL_PATTERN_INCAST, 1.0);
	all = arrived_by(100 * US);
	print_message("100 us: %llu packets from 15 senders\n",
		      (unsigned long long)all);
	/* a link carries 6,250 */
	assert_true(all > 5500);
}

/* @return packets that arrived in 50 us, with a link cut after 30, if there is
   one */
static uint64_t
beside_a_cut(uint32_t link)
{
	const struct rl_fault cut = { .t_ns = 30 * US,
					  .kind = RL_FAULT_CUT,
					  .link = link,
					  .dirs = RL_FAULT_DIR_BOTH };

	begin(FOUR_LINKS ADAPTIVE, RL_PATTERN_INCAST, 1.5);
	if (link != UINT32_MAX)
		assert_int_equal(rl_sim_fault_add(&plan.faults, &cut), 0);
	return arrived_by(50 * US);
}

/* Neither data nor the ACKs that it waits for are held for a dead link. */
static void
a_flow_of_many_paths_goes_on_at_once_if_one_dies(void **state)
{
	const uint64_t all = beside_a_cut(UINT32_MAX);

	(void)state;
	for (uint32_t link = 0; link < 12; link += SOME(3))
		assert_true(beside_a_cut(link) > all - all / 50);
}

/* @return packets that arrive in 2 ms, with two of three links of s1 cut after 20
   us */
static uint64_t
beside_a_dead_end(bool cut)
{
	struct rl_fault f = { .t_ns = 20 * US,
			      .kind = RL_FAULT_CUT,
			      .dirs = RL_FAULT_DIR_BOTH };

	begin(LADDER ADAPTIVE, RL_PATTERN_PERMUTATION, 0.25);
	for (f.link = 4; cut && f.link <= 6; f.link += 2)
		assert_int_equal(rl_sim_fault_add(&plan.faults, &f), 0);
	return arrived_by(2 * RL_NS_PER_MS);
}

/* A shortest way leads to a switch that no other link leaves any more. */
static void
flows_go_round_a_switch_that_is_a_dead_end(void **state)
{
	const uint64_t all = beside_a_dead_end(false);
	const uint64_t round = beside_a_dead_end(true);

	(void)state;
	print_message("2 ms: %llu packets, %llu round a dead end\n",
		      (unsigned long long)all, (unsigned long long)round);
	assert_true(10 * round > 9 * all);
}

/*
 * Nearly half way round all endpoints is the next but three groups: all of a
 * group send to one other, and share one link by shortest ways.
 */
static void
a_group_of_a_dragonfly_reaches_another_by_more_than_one_link(void **state)
{
	uint64_t tables, all;

	(void)state;
	begin(DRAGONFLY, RL_PATTERN_TORNADO, 1.0);
	tables = arrived_by(30 * US);
	begin(DRAGONFLY ADAPTIVE, RL_PATTERN_TORNADO, 1.0);
	all = arrived_by(30 * US);
	print_message("30 us: %llu packets by the tables, %llu by all ways\n",
		      (unsigned long long)tables, (unsigned long long)all);
	assert_true(2 * all > 3 * tables);
}

/* Nothing is lost or out of order. */
static void
links_may_die_under_flows_of_many_paths(void **state)
{
	(void)state;
	for (uint32_t link = 5 + 11 * FEW(2); link < 48; link += 11 * FEW(2)) {
		struct rl_fault f = { .kind = RL_FAULT_CUT,
					  .dirs = RL_FAULT_DIR_BOTH };

		begin(TORUS ADAPTIVE, RL_PATTERN_PERMUTATION, 1.0);
		for (unsigned int i = 0; i < 3; i++) {
			f.link = 16 + (link + 7 * i) % 32;
			f.t_ns = (20 + 5 * i) * US;
			f.kind = RL_FAULT_CUT;
			assert_int_equal(rl_sim_fault_add(&plan.faults, &f), 0);
			f.kind = RL_FAULT_HEAL;
			f.t_ns = 50 * US;
			assert_int_equal(rl_sim_fault_add(&plan.faults, &f), 0);
		}
		plan.controller = link & 1;
		run();
		if (!verdict.ok)
			fail_msg("%s", verdict.why);
		assert_int_equal(verdict.failovers, 6);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_flow_gets_what_four_parallel_links_carry),
		cmocka_unit_test(all_may_send_to_one_whose_room_is_small),
		cmocka_unit_test(
			a_flow_of_many_paths_goes_on_at_once_if_one_dies),
		cmocka_unit_test(
			a_group_of_a_dragonfly_reaches_another_by_more_than_one_link),
		cmocka_unit_test(flows_go_round_a_switch_that_is_a_dead_end),
		cmocka_unit_test(links_may_die_under_flows_of_many_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
