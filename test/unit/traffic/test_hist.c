/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rl_delay.h"
#include "rl_prng.h"

static struct rl_hist h, g;

static void
buckets_join_without_gap_or_overlap_and_are_narrow(void **state)
{
	uint64_t lower = 0;

	(void)state;
	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++) {
		const uint64_t upper = rl_hist_upper(i);

		assert_true(upper >= lower);
		assert_int_equal(rl_hist_index(lower), i);
		assert_int_equal(rl_hist_index(upper), i);
		assert_true((upper - lower) * 128 <= upper);
		lower = upper + 1;
	}
	assert_int_equal(lower, 1ull << RL_HIST_VALUE_BITS);
	assert_int_equal(rl_hist_index(lower), RL_HIST_BUCKETS - 1);
	assert_int_equal(rl_hist_index(UINT64_MAX), RL_HIST_BUCKETS - 1);
}

static void
an_empty_histogram_gives_zeros(void **state)
{
	(void)state;
	rl_hist_reset(&h);
	assert_int_equal(rl_hist_quantile(&h, 50000), 0);
	assert_int_equal(rl_hist_mean(&h), 0);
	rl_hist_merge(&h, &h);
	assert_int_equal(h.count, 0);
}

/* A bucket ends above the values in it. */
static void
no_quantile_is_above_the_greatest_value(void **state)
{
	(void)state;
	rl_hist_reset(&h);
	rl_hist_add(&h, 1000001);
	assert_true(rl_hist_upper(rl_hist_index(1000001)) > 1000001);
	for (uint32_t parts = 0; parts <= 100000; parts += 100)
		assert_int_equal(rl_hist_quantile(&h, parts), 1000001);
	rl_hist_add(&h, 1000000);
	assert_int_equal(rl_hist_quantile(&h, 99000), 1000001);
}

static void
small_values_are_exact(void **state)
{
	(void)state;
	rl_hist_reset(&h);
	for (uint64_t v = 1; v <= 200; v++)
		rl_hist_add(&h, v);
	assert_int_equal(rl_hist_quantile(&h, 50000), 100);
	assert_int_equal(rl_hist_quantile(&h, 99000), 198);
	assert_int_equal(rl_hist_quantile(&h, 99900), 200);
	assert_int_equal(rl_hist_quantile(&h, 100000), 200);
	assert_int_equal(rl_hist_quantile(&h, 0), 1);
	assert_int_equal(rl_hist_mean(&h), 100);
	assert_int_equal(h.min, 1);
	assert_int_equal(h.max, 200);
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
quantiles_of_random_values_are_within_their_resolution(void **state)
{
	enum { N = 20011 };
	static const uint32_t parts[] = { 1, 50000, 90000, 99000, 99900,
					  99990, 100000 };
	static uint64_t v[N];
	struct rl_prng p;

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		rl_prng_seed(&p, seed);
		rl_hist_reset(&h);
		rl_hist_reset(&g);
		for (unsigned int i = 0; i < N; i++) {
			v[i] = rl_prng_u64(&p);
			v[i] >>= 20 + rl_prng_below(&p, 40);
			rl_hist_add(i & 1 ? &h : &g, v[i]);
		}
		rl_hist_merge(&h, &g);
		qsort(v, N, sizeof(v[0]), by_value);
		for (size_t k = 0; k < RL_ARRAY_SIZE(parts); k++) {
			const uint64_t rank =
				((uint64_t)N * parts[k] + 99999) / 100000;
			const uint64_t want = v[rank - 1];
			const uint64_t got = rl_hist_quantile(&h, parts[k]);

			assert_true(got >= want);
			assert_true(got - want <= want / 128 + 1);
		}
		assert_int_equal(h.max, v[N - 1]);
		assert_int_equal(h.min, v[0]);
	}
}

static void
values_beyond_the_last_bucket_keep_their_maximum(void **state)
{
	(void)state;
	rl_hist_reset(&h);
	rl_hist_add(&h, 1ull << 50);
	assert_int_equal(rl_hist_quantile(&h, 50000), 1ull << 50);
}

static void
jitter_is_the_difference_of_neighbours_in_a_flow(void **state)
{
	struct rl_delay *d = calloc(2, sizeof(*d));
	uint64_t a = 0, b = 0;

	(void)state;
	rl_delay_reset(&d[0]);
	rl_delay_reset(&d[1]);
	rl_delay_add(&d[0], 100, &a); /* the first of each: nothing before */
	rl_delay_add(&d[0], 5000, &b);
	assert_int_equal(d[0].jitter.count, 0);
	rl_delay_add(&d[0], 103, &a);
	rl_delay_add(&d[0], 101, &a);
	rl_delay_add(&d[0], 5000, &b);
	assert_int_equal(d[0].jitter.count, 3);
	assert_int_equal(d[0].jitter.sum, 3 + 2 + 0);
	assert_int_equal(d[0].jitter.max, 3);
	/* a flow that changes its VC is still a flow */
	rl_delay_add(&d[1], 0, &a);
	assert_int_equal(d[1].jitter.max, 101);
	rl_delay_add(&d[1], 7, &a);
	assert_int_equal(d[1].jitter.min, 7);
	rl_delay_merge(&d[0], &d[1]);
	assert_int_equal(d[0].latency.count, 7);
	assert_int_equal(d[0].jitter.count, 5);
	free(d);
}

static void
of_two_histograms_the_least_and_the_most_remain(void **state)
{
	static struct rl_hist a, b;

	(void)state;
	for (unsigned int turn = 0; turn < 2; turn++) {
		rl_hist_reset(&a);
		rl_hist_reset(&b);
		rl_hist_add(turn ? &a : &b, 7);
		rl_hist_add(turn ? &b : &a, 900);
		rl_hist_merge(&a, &b);
		assert_int_equal(a.min, 7);
		assert_int_equal(a.max, 900);
		assert_int_equal(a.count, 2);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_histograms_the_least_and_the_most_remain),
		cmocka_unit_test(buckets_join_without_gap_or_overlap_and_are_narrow),
		cmocka_unit_test(jitter_is_the_difference_of_neighbours_in_a_flow),
		cmocka_unit_test(an_empty_histogram_gives_zeros),
		cmocka_unit_test(no_quantile_is_above_the_greatest_value),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(quantiles_of_random_values_are_within_their_resolution),
		cmocka_unit_test(values_beyond_the_last_bucket_keep_their_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
