/* SPDX-License-Identifier: BSD-3-Clause */
/* Intervals hold what they promise, also at no hits and at nothing tried. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rl_prng.h"
#include "rl_rxl_stat.h"

static void
the_interval_has_its_textbook_values(void **state)
{
	static const struct {
		uint64_t hits, of;
		double lo, hi;
	} t[] = {
		{ 0, 0, 0, 1 },		     { 0, 10, 0, 0.27753 },
		{ 1, 10, 0.017876, 0.40415 }, { 5, 10, 0.23659, 0.76341 },
		{ 10, 10, 0.72247, 1 },	     { 8, 10, 0.49016, 0.94332 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(t); i++) {
		const struct rl_rxl_rate r = rl_rxl_rate(t[i].hits, t[i].of);

		assert_true(fabs(r.lo - t[i].lo) < 1e-5);
		assert_true(fabs(r.hi - t[i].hi) < 1e-5);
		assert_true(rl_rxl_rate_holds(&r, r.rate));
	}
}

static void
a_value_outside_of_the_interval_is_not_held(void **state)
{
	const struct rl_rxl_rate r = rl_rxl_rate(100, 1000);

	(void)state;
	assert_true(rl_rxl_rate_holds(&r, 0.1));
	assert_false(rl_rxl_rate_holds(&r, 0.13));
	assert_false(rl_rxl_rate_holds(&r, 0.07));
}

static void
nineteen_of_twenty_intervals_hold_the_truth(void **state)
{
	const double p = 0.003;
	struct rl_prng prng;
	int held = 0;

	(void)state;
	rl_prng_seed(&prng, 20);
	for (int run = 0; run < 2000; run++) {
		uint64_t hits = 0;
		struct rl_rxl_rate r;

		for (int i = 0; i < 4000; i++)
			hits += rl_prng_double(&prng) < p;
		r = rl_rxl_rate(hits, 4000);
		held += rl_rxl_rate_holds(&r, p);
	}
	assert_true(held > 1860 && held < 1950);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_has_its_textbook_values),
		cmocka_unit_test(a_value_outside_of_the_interval_is_not_held),
		cmocka_unit_test(nineteen_of_twenty_intervals_hold_the_truth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
