/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each equation of the RXL paper against the number that it prints [EVAL-1].
 * Expected values stand here again in full, worked out by hand, so that a
 * wrong constant in the library can't agree with itself.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rl_rxl_eqn.h"

static void
near(double got, double want)
{
	if (fabs(got - want) > 1e-4 * fabs(want))
		fail_msg("%.9g instead of %.9g", got, want);
}

static void
every_equation_gives_its_worked_out_value(void **state)
{
	static const double want[RL_RXL_EQNS] = {
		2.045905e-3, /* 1 - (1 - 1e-6)^2048 */
		3e-5,
		0.9853366,
		1.626303e-24, /* 3e-5 * 5.421011e-20 */
		2.927346e-3,  /* * 1.8e21 */
		3e-5,
		3e-6,
		5.4e15,
		5.421173e-20, /* 1.00003 * 2^-64 */
		2.927434e-3,
		1.497753e-3, /* 1 - 2/2.003 */
		2.991027e-3, /* 1 - 2/2.006 */
		1,
		2.991027e-3,
	};
	struct rl_rxl_inputs in;
	struct rl_rxl_eqn e[RL_RXL_EQNS];

	(void)state;
	rl_rxl_inputs_paper(&in);
	rl_rxl_eqns(&in, e);
	for (int i = 0; i < RL_RXL_EQNS; i++) {
		assert_int_equal(e[i].number, i + 1);
		near(e[i].ours, want[i]);
	}
}

/* All but equation 9, whose printed formula does not give its number. */
static void
every_equation_agrees_with_the_paper_or_says_why_not(void **state)
{
	struct rl_rxl_inputs in;
	struct rl_rxl_eqn e[RL_RXL_EQNS];

	(void)state;
	rl_rxl_inputs_paper(&in);
	rl_rxl_eqns(&in, e);
	for (int i = 0; i < RL_RXL_EQNS; i++) {
		if (e[i].number == 9) {
			assert_false(rl_rxl_eqn_agrees(&e[i]));
			assert_non_null(e[i].note);
			continue;
		}
		assert_true(rl_rxl_eqn_agrees(&e[i]));
		assert_null(e[i].note);
	}
	/* what equation 9 must have meant */
	assert_true(fabs((1 + 3e-5) * 3e-5 * ldexp(1, -64) - 1.6e-24) <
		    0.05e-24);
}

static void
agreement_ends_half_a_unit_of_the_last_printed_digit_away(void **state)
{
	struct rl_rxl_eqn e = { .paper = 2.0e-3, .half_unit = 0.05e-3 };

	(void)state;
	e.ours = 2.0499e-3;
	assert_true(rl_rxl_eqn_agrees(&e));
	e.ours = 1.9501e-3;
	assert_true(rl_rxl_eqn_agrees(&e));
	e.ours = 2.0501e-3;
	assert_false(rl_rxl_eqn_agrees(&e));
	e.ours = 1.9499e-3;
	assert_false(rl_rxl_eqn_agrees(&e));
	e.ours = NAN;
	assert_false(rl_rxl_eqn_agrees(&e));
}

/* Figure 8: together without a switch, 18 orders of magnitude apart with. */
static void
figure_8_parts_at_the_first_switch(void **state)
{
	struct rl_rxl_inputs in;

	(void)state;
	rl_rxl_inputs_paper(&in);
	near(rl_rxl_fit_cxl(&in, 0), 2.927346e-3);
	near(rl_rxl_fit_rxl(&in, 0), 2.927346e-3);
	assert_true(rl_rxl_fit_cxl(&in, 1) / rl_rxl_fit_rxl(&in, 1) > 1e18);
	for (unsigned int k = 1; k <= 4; k++) {
		near(rl_rxl_fit_cxl(&in, k), k * 5.4e15);
		/* a flit in 33,333 comes twice for each level */
		near(rl_rxl_fit_rxl(&in, k), 2.927346e-3 * (1 + k * 3e-5));
	}
}

static void
other_inputs_move_every_equation_that_they_enter(void **state)
{
	struct rl_rxl_inputs in;
	struct rl_rxl_eqn e[RL_RXL_EQNS];

	(void)state;
	rl_rxl_inputs_paper(&in);
	in.ber = 1e-5;
	in.fer_uc = 1e-3;
	in.ack_share = 0.5;
	in.retry_ns = 200;
	rl_rxl_eqns(&in, e);
	near(e[0].ours, 0.02027173);
	near(e[5].ours, 1e-3);
	near(e[6].ours, 5e-4);
	near(e[10].ours, 1 - 2 / 2.2);
	near(e[11].ours, 1 - 2 / 2.4);
}

static void
shares_of_flits_with_so_many_wrong_bits_are_binomial(void **state)
{
	(void)state;
	near(rl_rxl_at_least(0.5, 10, 6), 386.0 / 1024);
	near(rl_rxl_at_least(0.5, 10, 0), 1);
	near(rl_rxl_at_least(0.5, 10, 10), 1.0 / 1024);
	near(rl_rxl_at_least(0.999, 2048, 1), 1);
	near(rl_rxl_at_least(1e-6, 2048, 1), rl_rxl_fer(1e-6, 2048));
	near(rl_rxl_at_least(1e-6, 2048, 2), 2.09327107e-06);
	near(rl_rxl_at_least(0, 2048, 1), 0);
	near(rl_rxl_at_least(1, 2048, 1), 1);
}

static void
what_crc64_bch_misses_needs_six_wrong_bits(void **state)
{
	struct rl_rxl_inputs in;

	(void)state;
	rl_rxl_inputs_paper(&in);
	/* 2048 over 6, 1e-36 of them, and 2^-64 of these */
	near(rl_rxl_missed_by_bch(&in, 0) / 5.4210109e-20 / 1.0155548e-19, 1);
	assert_true(rl_rxl_missed_by_bch(&in, 0) < 1e-14 * 1.6e-24);
	assert_true(rl_rxl_missed_by_bch(&in, 1) >
		    60 * rl_rxl_missed_by_bch(&in, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_equation_gives_its_worked_out_value),
		cmocka_unit_test(
			every_equation_agrees_with_the_paper_or_says_why_not),
		cmocka_unit_test(
			agreement_ends_half_a_unit_of_the_last_printed_digit_away),
		cmocka_unit_test(figure_8_parts_at_the_first_switch),
		cmocka_unit_test(
			shares_of_flits_with_so_many_wrong_bits_are_binomial),
		cmocka_unit_test(what_crc64_bch_misses_needs_six_wrong_bits),
		cmocka_unit_test(
			other_inputs_move_every_equation_that_they_enter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
