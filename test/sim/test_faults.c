/* SPDX-License-Identifier: BSD-3-Clause */

/* Fault files: what may stand in them, and what they say when it may not. */

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../figure1.h"
#include "rl_config.h"
#include "rl_swarm_case.h"

static const char fabric[] =
	FIGURE1_FABRIC;

static struct rl_config cfg;

static int
setup(void **state)
{
	char err[1024];

	(void)state;
	return rl_config_read_text("fabric", fabric, strlen(fabric), &cfg, err,
				   sizeof(err));
}

static int
teardown(void **state)
{
	(void)state;
	rl_config_free(&cfg);
	return 0;
}

static int
read_text(const char *text, struct rl_sim_faults *list, char *err)
{
	return rl_sim_faults_text("f", text, strlen(text), &cfg.topo, NULL, list,
				  err, 256);
}

static void
test_lines_become_faults_in_the_order_of_time(void **state)
{
	struct rl_sim_faults list = { 0 };
	char err[256];

	(void)state;
	assert_int_equal(
		read_text("# a comment\n"
			  "2us  heal s0-s1#1   # another\n"
			  "\n"
			  "1us  cut s0>s1#1 silent late flit=7\r\n"
			  "0 noise e0-s0 loss=0.5 corrupt=1e-3 bytes=4 "
			  "hurt=body dup=1 jitter=0.25 within=20ns soft=0.1",
			  &list, err),
		0);
	assert_string_equal(err, "");
	assert_int_equal(list.n, 3);
	assert_int_equal(list.f[0].kind, RL_FAULT_NOISE);
	assert_int_equal(list.f[0].noise.loss_ppb, 500000000);
	assert_int_equal(list.f[0].noise.corrupt_ppb, 1000000);
	assert_int_equal(list.f[0].noise.dup_ppb, 1000000000);
	assert_int_equal(list.f[0].noise.soft_ppb, 100000000);
	assert_int_equal(list.f[0].noise.jitter_ns, 20);
	assert_int_equal(list.f[0].noise.burst_bytes, 4);
	assert_int_equal(list.f[0].noise.where, RL_FAULT_HURT_BODY);
	assert_int_equal(list.f[1].kind, RL_FAULT_CUT);
	assert_int_equal(list.f[1].t_ns, 1000);
	assert_int_equal(list.f[1].nth, 7);
	assert_true(list.f[1].nth_flit);
	assert_true(list.f[1].silent);
	assert_int_equal(list.f[1].flight, RL_FAULT_FLIGHT_LATE);
	assert_int_equal(cfg.topo.link[list.f[1].link].k, 1);
	assert_int_equal(list.f[2].kind, RL_FAULT_HEAL);
	rl_sim_faults_free(&list);
}

static void
test_a_name_without_a_number_means_all_parallel_links(void **state)
{
	struct rl_sim_faults list = { 0 };
	char err[256];

	(void)state;
	assert_int_equal(read_text("1us cut s1-s0\n", &list, err), 0);
	assert_int_equal(list.n, 2);
	assert_int_not_equal(list.f[0].link, list.f[1].link);
	rl_sim_faults_free(&list);
	assert_int_equal(read_text("1us cut s0\n", &list, err), 0);
	assert_int_equal(list.n, 3); /* all of a device */
	rl_sim_faults_free(&list);
}

static void
test_an_arrow_gives_the_direction_whatever_the_links_own_order(void **state)
{
	struct rl_sim_faults list = { 0 };
	char err[256];

	(void)state;
	assert_int_equal(read_text("1us cut s0>s1#0\n1us cut s1>s0#0\n", &list,
				   err),
			 0);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.f[0].dirs | list.f[1].dirs, RL_FAULT_DIR_BOTH);
	assert_int_not_equal(list.f[0].dirs, list.f[1].dirs);
	rl_sim_faults_free(&list);
}

static void
test_a_time_without_a_unit_is_in_nanoseconds(void **state)
{
	struct rl_sim_faults list = { 0 };
	char err[256];

	(void)state;
	assert_int_equal(read_text("50 stall s0-s1#0 for=7\n1.5us cut s0-s1#0\n",
				   &list, err),
			 0);
	assert_int_equal(list.f[0].t_ns, 50);
	assert_int_equal(list.f[0].for_ns, 7);
	assert_int_equal(list.f[1].t_ns, 1500);
	rl_sim_faults_free(&list);
}

static void
test_a_flap_is_so_many_cuts_and_heals(void **state)
{
	struct rl_sim_faults list = { 0 };
	char err[256];

	(void)state;
	assert_int_equal(read_text("10us flap s0-s1#0 count=3 dark=1us "
				   "light=2us\n",
				   &list, err),
			 0);
	assert_int_equal(list.n, 6);
	for (uint32_t i = 0; i < list.n; i++) {
		assert_int_equal(list.f[i].kind,
				 i % 2 == 0 ? RL_FAULT_CUT : RL_FAULT_HEAL);
		assert_int_equal(list.f[i].t_ns,
				 10000 + i / 2 * 3000 + (i % 2) * 1000);
	}
	rl_sim_faults_free(&list);
}

/* Faults of several lines lie between each other, in the order of their times;
   those of one time in the order of their lines. */
static void
test_long_flaps_of_two_lines_are_sorted_at_once(void **state)
{
	struct rl_sim_faults list = { 0 };
	char err[256];

	(void)state;
	assert_int_equal(read_text("1us flap s0-s1#0 count=60000 dark=2ns "
				   "light=2ns\n"
				   "1us flap s0-s1#1 count=60000 dark=2ns "
				   "light=2ns\n",
				   &list, err),
			 0);
	assert_int_equal(list.n, 240000);
	for (uint32_t i = 0; i < list.n; i++) {
		assert_int_equal(list.f[i].t_ns, 1000 + i / 2 * 2);
		assert_int_equal(list.f[i].line, 1 + i % 2);
	}
	rl_sim_faults_free(&list);
}

static void
test_what_is_wrong_is_named_with_file_and_line(void **state)
{
	static const struct {
		const char *text, *err;
	} bad[] = {
		{ "1us cut\n", "f:1: expected TIME WHAT LINK" },
		{ "\n\nnow cut s0-s1\n", "f:3: bad time now" },
		{ "-1us cut s0-s1\n", "f:1: bad time -1us" },
		{ "2h cut s0-s1\n", "f:1: bad time 2h" },
		{ "3601s cut s0-s1\n", "f:1: bad time 3601s" },
		{ "nan cut s0-s1\n", "f:1: bad time nan" },
		{ "1us burn s0-s1\n", "f:1: unknown fault burn" },
		{ "1us cut s0-s9\n", "f:1: no link or device s0-s9" },
		{ "1us cut s0-s1#2\n", "f:1: no link or device s0-s1#2" },
		{ "1us cut e0-e1\n", "f:1: no link or device e0-e1" },
		{ "1us cut s0-s1 slowly\n", "f:1: unknown option slowly" },
		{ "1us cut s0-s1 loss=1\n", "f:1: cut has no option loss" },
		{ "1us cut s0-s1 frame=0\n", "f:1: frame: bad value 0" },
		{ "1us heal s0-s1 frame=1\n", "f:1: heal has no option" },
		{ "1us noise s0-s1 loss=2\n", "f:1: loss: bad value 2" },
		{ "1us noise s0-s1 loss=x\n", "f:1: loss: bad value x" },
		{ "1us noise s0-s1 hurt=tail\n", "f:1: hurt: bad value tail" },
		{ "1us noise s0-s1 ber=1.1\n", "f:1: ber: bad value 1.1" },
		{ "1us noise s0-s1 propagate=1\n",
		  "f:1: propagate: bad value 1;" },
		{ "1us noise s0-s1 lanes=3\n", "f:1: lanes: bad value 3" },
		{ "1us noise s0-s1 lanes=32\n", "f:1: lanes: bad value 32" },
		{ "1us noise s0-s1 lanes=2.5\n", "f:1: lanes: bad value 2.5" },
		{ "1us flap s0-s1 count=2e0\n", "f:1: count: bad value 2e0" },
		{ "1us noise s0-s1 poison=2\n", "f:1: poison: bad value 2" },
		{ "1us stall s0-s1\n", "f:1: stall: how long?" },
		{ "1us block s0 vc=1\n", "f:1: s0 is no endpoint" },
		{ "1us block e0 vc=8\n", "f:1: vc: bad value 8" },
		{ "1us soft s0 rate=1e-10\n", "f:1: rate: bad value 1e-10" },
		{ "1us flap s0-s1 count=0\n", "f:1: count: bad value 0" },
		{ "1us flap s0-s1#0 count=100000\n2us flap s0 count=100000\n",
		  "f:2: the file has more than 262144 faults" },
		{ "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
		  "f:1: more than 16 words" },
	};
	struct rl_sim_faults list = { 0 };
	char err[256];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++) {
		assert_int_equal(read_text(bad[i].text, &list, err), -EINVAL);
		assert_memory_equal(err, bad[i].err, strlen(bad[i].err));
		assert_int_equal(list.n, 0);
	}
}

static void
test_a_bad_line_takes_nothing_of_the_file(void **state)
{
	struct rl_sim_faults list = { 0 };
	char err[256];

	(void)state;
	assert_int_equal(read_text("1us cut s0-s1#0\n2us cut nowhere\n", &list,
				   err),
			 -EINVAL);
	assert_int_equal(list.n, 0);
}

static void
test_zero_bytes_and_endless_lines_are_refused(void **state)
{
	static struct rl_swarm_plan plan;
	struct rl_sim_faults list = { 0 };
	char err[256], text[1200];
	bool run;

	(void)state;
	assert_int_equal(rl_sim_faults_text("f", "1us\0cut", 7, &cfg.topo, NULL,
					    &list, err, sizeof(err)),
			 -EINVAL);
	memset(text, 'x', sizeof(text));
	assert_int_equal(rl_sim_faults_text("f", text, sizeof(text), &cfg.topo, NULL,
					    &list, err, sizeof(err)),
			 -EINVAL);
	assert_int_equal(rl_swarm_case_read("/nonexistent/faults", &plan, &run,
					  err, sizeof(err)),
			 -ENOENT);
	assert_string_equal(err,
			    "/nonexistent/faults: No such file or directory");
}

static void
test_a_fault_written_as_text_reads_back_as_itself(void **state)
{
	static const char *const lines[] = {
		"5000ns cut s0-s1#1",
		"5000ns cut s0>s1#0 flit=9 silent late",
		"5000ns cut s1>s0#0 frame=2 arrive",
		"5000ns heal e0-s0#0",
		"5000ns stall s1-e1#0 for=77ns",
		"5000ns drop s0>s1#1 frame=3 count=4",
		"5000ns corrupt s0>s1#1 frame=3 bytes=16",
		"5000ns noise s0>s1#1 dup=0.5 delay=77ns",
		"5000ns down s0>s1#1",
		"5000ns up s0-s1#1",
		"5000ns noise s0-s1#1 loss=0.001 corrupt=0.25 jitter=0.5 "
		"bytes=3 hurt=header within=9ns",
		"5000ns noise s0-s1#1 poison=0.25 ber=1e-09 "
		"propagate=0.8 lanes=16",
		"5000ns noise s0>s1#1 loss=0.123456789 hurt=header+length",
		"5000ns noise s0-s1#0",
		"5000ns cut s0-s1#1 lasting",
		"5000ns crash s0 lasting",
		"5000ns restart s0",
		"5000ns soft s0 rate=0.001",
		"5000ns poison s0 rate=0",
		"5000ns block e1 vc=3",
		"5000ns unblock e1 vc=0",
		"5000ns controller late for=7ns",
	};
	struct rl_sim_faults list = { 0 };
	char err[256], text[512];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(lines); i++) {
		assert_int_equal(read_text(lines[i], &list, err), 0);
		assert_int_equal(list.n, 1);
		assert_string_equal(rl_fault_text(&list.f[0], &cfg.topo,
						      text, sizeof(text)),
				    lines[i]);
		rl_sim_faults_free(&list);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_become_faults_in_the_order_of_time),
		cmocka_unit_test(
			test_a_name_without_a_number_means_all_parallel_links),
		cmocka_unit_test(
			test_an_arrow_gives_the_direction_whatever_the_links_own_order),
		cmocka_unit_test(test_a_time_without_a_unit_is_in_nanoseconds),
		cmocka_unit_test(test_a_flap_is_so_many_cuts_and_heals),
		cmocka_unit_test(test_long_flaps_of_two_lines_are_sorted_at_once),
		cmocka_unit_test(test_what_is_wrong_is_named_with_file_and_line),
		cmocka_unit_test(test_a_bad_line_takes_nothing_of_the_file),
		cmocka_unit_test(test_zero_bytes_and_endless_lines_are_refused),
		cmocka_unit_test(
			test_a_fault_written_as_text_reads_back_as_itself),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
