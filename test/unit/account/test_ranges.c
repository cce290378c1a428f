/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "rl_prng.h"
#include "rl_ranges.h"

#define SPAN 300

static struct rl_range node[2][256];
static struct rl_range_pool pool[2];

/** Against a plain array of flags, and against the invariants. */
static void
compare(unsigned int k, const struct rl_ranges *s, const bool *flag)
{
	uint32_t last = RL_RANGE_END, hi = 0;
	uint64_t n = 0;

	for (uint32_t i = s->head; i != RL_RANGE_END; i = node[k][i].next) {
		assert_true(node[k][i].lo < node[k][i].hi);
		assert_true(last == RL_RANGE_END || node[k][i].lo > hi);
		hi = node[k][i].hi;
		last = i;
	}
	assert_int_equal(s->tail, last);
	for (uint32_t v = 0; v < SPAN; v++) {
		n += flag[v];
		assert_int_equal(rl_ranges_has(&pool[k], s, v), flag[v]);
	}
	assert_int_equal(s->count, n);
}

static void
random_sets_agree_with_arrays_of_flags(void **state)
{
	static bool flag[2][SPAN];
	struct rl_prng p;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct rl_ranges s[2] = { { 0 } };

		rl_prng_seed(&p, seed);
		memset(flag, 0, sizeof(flag));
		for (unsigned int k = 0; k < 2; k++)
			rl_range_pool_init(&pool[k], node[k], 256);
		for (unsigned int step = 0; step < 150; step++) {
			const unsigned int k = rl_prng_below(&p, 2);
			const uint32_t lo = rl_prng_below(&p, SPAN - 20);
			const uint32_t n = 1 + rl_prng_below(&p, 20);
			const uint32_t end = lo + rl_prng_below(&p, SPAN);
			uint64_t common = 0, within = 0;

			if (rl_prng_below(&p, 100) == 0) {
				rl_ranges_clear(&pool[k], &s[k]);
				memset(flag[k], 0, SPAN);
			} else if (rl_prng_below(&p, 3) == 0) {
				rl_ranges_add(&pool[k], &s[k], lo, lo + n);
				memset(&flag[k][lo], 1, n);
			} else {
				assert_int_equal(rl_ranges_take(&pool[k], &s[k],
								lo),
						 flag[k][lo]);
				flag[k][lo] = false;
			}
			compare(k, &s[k], flag[k]);
			for (uint32_t v = 0; v < rl_min_u32(end, SPAN); v++) {
				common += flag[0][v] && flag[1][v];
				within += v >= lo && flag[k][v];
			}
			assert_int_equal(rl_ranges_common(&pool[0], &s[0],
							  &pool[1], &s[1], end),
					 common);
			assert_int_equal(rl_ranges_within(&pool[k], &s[k], lo,
							  end), within);
		}
		assert_int_equal(pool[0].lost + pool[1].lost, 0);
	}
}

static void
an_empty_pool_forgets_and_says_how_much(void **state)
{
	struct rl_ranges s = { 0 };

	(void)state;
	rl_range_pool_init(&pool[0], node[0], 3);
	rl_ranges_add(&pool[0], &s, 0, 10);
	rl_ranges_add(&pool[0], &s, 20, 30);
	rl_ranges_add(&pool[0], &s, 40, 45);
	assert_int_equal(pool[0].lost, 5);
	assert_int_equal(s.count, 20);
	rl_ranges_add(&pool[0], &s, 10, 20); /* joins two into one */
	rl_ranges_add(&pool[0], &s, 40, 45);
	assert_int_equal(s.count, 35);
	/* a hole in the middle needs a node that is not there */
	assert_true(rl_ranges_take(&pool[0], &s, 5));
	assert_int_equal(pool[0].lost, 5 + 24);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sets_agree_with_arrays_of_flags),
		cmocka_unit_test(an_empty_pool_forgets_and_says_how_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
