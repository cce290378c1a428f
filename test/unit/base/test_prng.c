/* SPDX-License-Identifier: BSD-3-Clause */
/* The same seed gives the same run everywhere, and the ranges hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_base.h"
#include "rl_prng.h"

/* The first outputs of xoshiro256** from the state 1, 2, 3, 4. */
static void
the_generator_gives_the_published_numbers(void **state)
{
	static const uint64_t want[] = {
		11520ull, 0ull, 1509978240ull, 1215971899390074240ull,
		1216172134540287360ull, 607988272756665600ull,
		16172922978634559625ull, 8476171486693032832ull,
		10595114339597558777ull, 2904607092377533576ull};
	struct rl_prng p = {{1, 2, 3, 4}};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(want); i++)
		assert_true(rl_prng_u64(&p) == want[i]);
}

static void
the_seeding_gives_the_published_numbers(void **state)
{
	static const uint64_t want[] = {
		6457827717110365317ull, 3203168211198807973ull,
		9817491932198370423ull, 4593380528125082431ull,
		16408922859458223821ull};
	struct rl_prng p;
	uint64_t x = 1234567;

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(want); i++)
		assert_true(rl_splitmix64(&x) == want[i]);
	rl_prng_seed(&p, 1234567);
	assert_memory_equal(p.s, want, sizeof(p.s));
}

static void
seeds_next_to_each_other_give_unlike_runs(void **state)
{
	struct rl_prng a, b;
	unsigned int differ = 0;

	(void)state;
	rl_prng_seed(&a, 0);
	rl_prng_seed(&b, 1);
	for (unsigned int i = 0; i < 1000; i++)
		differ += (unsigned int)__builtin_popcountll(rl_prng_u64(&a) ^
							     rl_prng_u64(&b));
	assert_in_range(differ, 31000, 33000);
}

static void
ranges_hold_and_reach_both_ends(void **state)
{
	static const struct {
		uint64_t lo, hi;
	} c[] = {{0, 0}, {7, 7}, {0, 1}, {3, 5}, {250, 259},
		 {UINT64_MAX - 2, UINT64_MAX}};
	struct rl_prng p;
	uint64_t first;

	(void)state;
	rl_prng_seed(&p, 42);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		bool lo = false, hi = false;

		for (unsigned int n = 0; n < 1000; n++) {
			const uint64_t v = rl_prng_range(&p, c[i].lo, c[i].hi);

			assert_true(v >= c[i].lo && v <= c[i].hi);
			lo |= v == c[i].lo;
			hi |= v == c[i].hi;
		}
		assert_true(lo && hi);
	}
	assert_true(rl_prng_range(&p, 9, 3) == 9);
	/* All 64 bits: the count of numbers does not fit, and is not used. */
	first = rl_prng_range(&p, 0, UINT64_MAX);
	assert_true(rl_prng_range(&p, 0, UINT64_MAX) != first);
}

static void
below_is_even_over_its_numbers(void **state)
{
	unsigned int n[10] = {0};
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 3);
	for (unsigned int i = 0; i < 100000; i++) {
		const uint32_t v = rl_prng_below(&p, 10);

		assert_true(v < 10);
		n[v]++;
	}
	for (unsigned int i = 0; i < 10; i++)
		assert_in_range(n[i], 9500, 10500);
	assert_int_equal(rl_prng_below(&p, 0), 0);
	assert_int_equal(rl_prng_below(&p, 1), 0);
}

static void
doubles_fill_the_unit_interval_without_its_end(void **state)
{
	struct rl_prng p;
	double sum = 0, least = 1, most = 0;

	(void)state;
	rl_prng_seed(&p, 5);
	for (unsigned int i = 0; i < 100000; i++) {
		const double d = rl_prng_double(&p);

		assert_true(d >= 0 && d < 1);
		sum += d;
		least = d < least ? d : least;
		most = d > most ? d : most;
	}
	assert_true(sum > 49500 && sum < 50500);
	assert_true(least < 0.001 && most > 0.999);
	/* the greatest that 53 bits make is below 1 */
	assert_true((double)(UINT64_MAX >> 11) * 0x1.0p-53 < 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_generator_gives_the_published_numbers),
		cmocka_unit_test(the_seeding_gives_the_published_numbers),
		cmocka_unit_test(seeds_next_to_each_other_give_unlike_runs),
		cmocka_unit_test(ranges_hold_and_reach_both_ends),
		cmocka_unit_test(below_is_even_over_its_numbers),
		cmocka_unit_test(doubles_fill_the_unit_interval_without_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
