/* SPDX-License-Identifier: BSD-3-Clause */
/* Small arithmetic at its edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rl_base.h"

static void
deadlines_saturate_at_never(void **state)
{
	static const struct {
		uint64_t t, d, want;
	} c[] = {
		{0, 0, 0},
		{5, 7, 12},
		{RL_NEVER - 1, 1, RL_NEVER},
		{RL_NEVER - 1, 2, RL_NEVER},
		{1, RL_NEVER, RL_NEVER},
		{RL_NEVER, 0, RL_NEVER},
		{RL_NEVER, RL_NEVER, RL_NEVER},
		{RL_NEVER - 10, 9, RL_NEVER - 1},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++)
		assert_true(rl_deadline(c[i].t, c[i].d) == c[i].want);
}

static void
powers_of_two_are_rounded_up_and_kept(void **state)
{
	static const struct {
		uint32_t v, want;
	} c[] = {{0, 1},	   {1, 1},	       {2, 2},
		 {3, 4},	   {4, 4},	       {5, 8},
		 {1023, 1024},	   {1024, 1024},       {1025, 2048},
		 {0x7fffffff, 1u << 31}, {1u << 31, 1u << 31}};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++)
		assert_int_equal(rl_pow2_ceil(c[i].v), c[i].want);
}

static void
the_lesser_and_the_greater_are_taken(void **state)
{
	(void)state;
	assert_int_equal(rl_min_u32(3, UINT32_MAX), 3);
	assert_int_equal(rl_min_u32(UINT32_MAX, 3), 3);
	assert_true(rl_min_u64(RL_NEVER, 1) == 1);
	assert_true(rl_max_u64(RL_NEVER, 1) == RL_NEVER);
	assert_true(rl_max_u64(2, 2) == 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlines_saturate_at_never),
		cmocka_unit_test(powers_of_two_are_rounded_up_and_kept),
		cmocka_unit_test(the_lesser_and_the_greater_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
