/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures 4, 5a and 5b of the RXL paper [EP-5, EP-3, FLIT-5]: with cxl each
 * failure happens as drawn there, with every other profile none does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_rxl_app.h"
#include "scenario.h"

static struct rxl_ladder ladder;
static struct rxl_scenario_result r;

static void
play(enum rxl_figure fig, enum rl_profile profile)
{
	assert_int_equal(rxl_scenario_run(fig, profile, &ladder, &r), 0);
	assert_true(r.drop_hit);
	assert_false(r.leak);
	assert_false(ladder.full);
	assert_int_equal(r.missing, 0);
}

static bool
drawn(const char *text)
{
	for (unsigned int i = 0; i < ladder.n; i++)
		if (strstr(ladder.rung[i].text, text) != NULL)
			return true;
	return false;
}

static void
figure_4_with_cxl_sends_flit_2_up_before_flit_1(void **state)
{
	(void)state;
	play(RXL_FIG4, RL_PROFILE_CXL);
	assert_true(r.hidden);
	assert_string_equal(r.received, "ACBCD");
	assert_int_equal(r.out_of_order, 1);
	assert_int_equal(r.again, 1);
	/* as drawn: #2 carries AckNum 100, and #3 gives the loss away */
	assert_true(drawn("#2 C [ack 100]"));
	assert_true(drawn("#3 D [seq 3]"));
	assert_true(drawn("NAK: all from 1"));
}

static void
figure_5a_with_cxl_executes_request_c_twice(void **state)
{
	(void)state;
	play(RXL_FIG5A, RL_PROFILE_CXL);
	assert_true(r.hidden);
	assert_string_equal(r.received, "ACBCD");
	assert_int_equal(r.again, 1);
	/* the paper's four data for three requests: A, C, B and C */
	assert_string_equal(r.data, "ACBCD");
	assert_int_equal(r.unexpected, 1);
}

static void
figure_5b_with_cxl_gives_data_of_one_queue_out_of_order(void **state)
{
	(void)state;
	play(RXL_FIG5B, RL_PROFILE_CXL);
	assert_true(r.hidden);
	assert_string_equal(r.received, "ACBCD");
	assert_int_equal(r.out_of_order, 1);
	assert_true(drawn("queue 2 gets C FOR AN OLDER LINE"));
}

static void
with_every_other_profile_each_flit_goes_up_once_and_in_order(void **state)
{
	static const enum rl_profile sound[] = { RL_PROFILE_RXL,
						 RL_PROFILE_RXL_COMPACT,
						 RL_PROFILE_CXL_SEP_ACK };

	(void)state;
	for (int fig = RXL_FIG4; fig <= RXL_FIG5B; fig++)
		for (size_t i = 0; i < RL_ARRAY_SIZE(sound); i++) {
			play((enum rxl_figure)fig, sound[i]);
			assert_true(rxl_scenario_sound(&r));
			assert_string_equal(r.received, "ABCD");
			assert_true(drawn("NAK: all from 1"));
		}
}

static int
run(const char *args)
{
	char copy[160];
	char *argv[8];
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", args);
	for (char *w = strtok(copy, " "); w != NULL; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	return rl_scenario_main(argc, argv);
}

static void
the_exit_status_tells_what_happened(void **state)
{
	static const struct {
		const char *args;
		int want;
	} t[] = {
		{ "scenario fig4 --profile cxl", 1 },
		{ "scenario fig4 --profile rxl", 0 },
		{ "scenario --profile rxl-compact fig5a", 0 },
		{ "scenario fig5b", 1 },
		{ "scenario --help", 0 },
		{ "scenario", 2 },
		{ "scenario fig6", 2 },
		{ "scenario fig4 fig5a", 2 },
		{ "scenario fig4 --profile tcp", 2 },
		{ "scenario fig4 --frob", 2 },
		{ "scenario fig4 --json /nonexistent/x.json", 2 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(t); i++)
		assert_int_equal(run(t[i].args), t[i].want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			figure_4_with_cxl_sends_flit_2_up_before_flit_1),
		cmocka_unit_test(figure_5a_with_cxl_executes_request_c_twice),
		cmocka_unit_test(
			figure_5b_with_cxl_gives_data_of_one_queue_out_of_order),
		cmocka_unit_test(
			with_every_other_profile_each_flit_goes_up_once_and_in_order),
		cmocka_unit_test(the_exit_status_tells_what_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
