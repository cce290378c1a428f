/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequence arithmetic at its edges: the wraps of 32, 16 and 10 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rl_base.h"
#include "rl_prng.h"
#include "rl_seq.h"

static void
free_running_numbers_compare_across_their_wrap(void **state)
{
	static const struct {
		uint32_t a, b;
		int32_t diff;
	} c[] = {
		{0, 0, 0},
		{1, 0, 1},
		{0, 1, -1},
		{0, UINT32_MAX, 1},
		{UINT32_MAX, 0, -1},
		{5, UINT32_MAX - 4, 10},
		{UINT32_MAX - 4, 5, -10},
		{0x7fffffff, 0, INT32_MAX},
		{0, 0x7fffffff, -INT32_MAX},
		{0x80000000, 1, INT32_MAX},
		{0x80000000, 0x7fffffff, 1},
		{0x7fffffff, 0x80000000, -1},
		{0x80000000, 0, INT32_MIN}, /* the one that has no sign */
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		assert_int_equal(rl_seq_diff(c[i].a, c[i].b), c[i].diff);
		assert_int_equal(rl_seq_before(c[i].a, c[i].b), c[i].diff < 0);
		assert_int_equal(rl_seq_before_eq(c[i].a, c[i].b),
				 c[i].diff <= 0);
	}
}

static void
numbers_of_few_bits_compare_across_their_wrap(void **state)
{
	static const struct {
		uint32_t a, b;
		unsigned int bits;
		int32_t diff;
	} c[] = {
		{0, 0, 10, 0},
		{0, 1023, 10, 1},
		{1023, 0, 10, -1},
		{511, 0, 10, 511},  /* the last that is ahead */
		{512, 0, 10, -512}, /* half the modulus: behind */
		{513, 0, 10, -511},
		{0, 511, 10, -511},
		{0, 512, 10, -512},
		{0, 513, 10, 511},
		{3, 1020, 10, 7},
		{1024, 0, 10, 0}, /* bits above do not count */
		{0xfffffc05, 3, 10, 2},
		{0, 65535, 16, 1},
		{65535, 0, 16, -1},
		{32767, 0, 16, 32767},
		{32768, 0, 16, -32768},
		{10, 65530, 16, 16},
		{1, 0, 1, -1}, /* one bit knows only "same" and "other" */
		{0, 1, 1, -1},
		{1, 0, 2, 1},
		{2, 0, 2, -2},
		{3, 0, 2, -1},
		{0x3fffffff, 0, 31, 0x3fffffff},
		{0x40000000, 0, 31, -0x40000000},
		{0, 0x7fffffff, 31, 1},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++)
		if (rl_seq_diff_bits(c[i].a, c[i].b, c[i].bits) != c[i].diff)
			fail_msg("case %u: %d", i,
				 rl_seq_diff_bits(c[i].a, c[i].b, c[i].bits));
}

static void
a_wire_number_is_widened_next_to_a_known_one(void **state)
{
	static const struct {
		uint32_t near, wire;
		unsigned int bits;
		uint32_t want;
	} c[] = {
		{0, 0, 10, 0},
		{0, 511, 10, 511},
		{0, 512, 10, UINT32_MAX - 511}, /* behind 0 is before the wrap */
		{0, 1023, 10, UINT32_MAX},
		{1023, 0, 10, 1024},
		{1024, 1023, 10, 1023},
		{1535, 1022, 10, 2046},
		{1535, 1023, 10, 1023},
		{UINT32_MAX, 0, 10, 0},
		{UINT32_MAX, 510, 10, 510},
		{UINT32_MAX, 511, 10, UINT32_MAX - 512},
		{UINT32_MAX - 3, 2, 16, 2},
		{65535, 0, 16, 65536},
		{65536, 65535, 16, 65535},
		{0x12347fff, 0xfffe, 16, 0x1234fffe},
		{0x12347fff, 0xffff, 16, 0x1233ffff},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++)
		if (rl_seq_widen(c[i].near, c[i].wire, c[i].bits) != c[i].want)
			fail_msg("case %u: %u", i,
				 rl_seq_widen(c[i].near, c[i].wire, c[i].bits));
}

/* Any two numbers within a window survive the way over the wire. */
static void
within_the_windows_widening_is_exact_three_times_round(void **state)
{
	static const struct {
		unsigned int bits;
		uint32_t window;
	} c[] = {{RL_E2E_SEQ_BITS, RL_E2E_WINDOW_MAX},
		 {RL_LINK_SEQ_BITS, RL_LINK_WINDOW_MAX}};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		const uint32_t mod = 1u << c[i].bits;
		const uint32_t step = mod > 4096 ? 37 : 1;
		const int32_t w = (int32_t)c[i].window;

		assert_true(2 * c[i].window < mod);
		for (uint32_t n = 0; n < 4 * mod; n += step) {
			const uint32_t near = n - mod; /* begins below 0 */
			const int32_t slips[] = {-w, -w + 1, -1, 0,
						 1,  w - 1,  w};

			for (unsigned int s = 0; s < RL_ARRAY_SIZE(slips); s++) {
				const uint32_t far = near + (uint32_t)slips[s];

				assert_int_equal(rl_seq_widen(near,
							      far & (mod - 1),
							      c[i].bits), far);
				assert_int_equal(rl_seq_diff_bits(far, near,
								  c[i].bits),
						 slips[s]);
			}
		}
	}
}

/* One flit beyond half the modulus, and the two can no longer be told apart. */
static void
half_the_modulus_is_one_too_many(void **state)
{
	const uint32_t half = 1u << (RL_E2E_SEQ_BITS - 1);

	(void)state;
	assert_int_equal(RL_E2E_WINDOW_MAX, half - 1);
	assert_int_equal(RL_LINK_WINDOW_MAX, 32767);
	assert_int_equal(rl_seq_diff_bits(half, 0, RL_E2E_SEQ_BITS),
			 rl_seq_diff_bits(0, half, RL_E2E_SEQ_BITS));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_running_numbers_compare_across_their_wrap),
		cmocka_unit_test(numbers_of_few_bits_compare_across_their_wrap),
		cmocka_unit_test(a_wire_number_is_widened_next_to_a_known_one),
		cmocka_unit_test(within_the_windows_widening_is_exact_three_times_round),
		cmocka_unit_test(half_the_modulus_is_one_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
