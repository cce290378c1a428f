/* SPDX-License-Identifier: BSD-3-Clause */
/* Each field of an error model is refused outside of its range, by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_error.h"

static void
the_defaults_are_valid_and_do_nothing(void **state)
{
	struct rl_error_cfg c;
	struct rl_error e;
	char err[160];

	(void)state;
	rl_error_cfg_defaults(&c);
	assert_int_equal(rl_error_cfg_check(&c, err, sizeof(err)), 0);
	rl_error_init(&e, &c, 1);
	assert_true(rl_error_clean_run(&e) == UINT64_MAX);
	for (int i = 0; i < 1000; i++)
		assert_true(rl_error_pass(&e));
}

static void
what_is_out_of_range_is_refused_by_name(void **state)
{
	static const struct {
		const char *field;
		struct rl_error_cfg c;
	} t[] = {
		{ "bit_rate", { -1e-9, 0, 1, 0, 1, 1, 0, 256 } },
		{ "bit_rate", { 1.1, 0, 1, 0, 1, 1, 0, 256 } },
		{ "bit_rate", { NAN, 0, 1, 0, 1, 1, 0, 256 } },
		{ "propagate", { 0, 1.0, 1, 0, 1, 1, 0, 256 } },
		{ "propagate", { 0, -0.1, 1, 0, 1, 1, 0, 256 } },
		{ "propagate", { 0, NAN, 1, 0, 1, 1, 0, 256 } },
		{ "lanes", { 0, 0, 0, 0, 1, 1, 0, 256 } },
		{ "lanes", { 0, 0, 3, 0, 1, 1, 0, 255 } },
		{ "lanes", { 0, 0, 32, 0, 1, 1, 0, 256 } },
		{ "burst_rate", { 0, 0, 1, 1.5, 1, 1, 0, 256 } },
		{ "drop_rate", { 0, 0, 1, 0, 1, 1, 2, 256 } },
		{ "span_bytes", { 0, 0, 1, 0, 1, 1, 0, 0 } },
		{ "span_bytes", { 0, 0, 1, 0, 1, 1, 0, 257 } },
		{ "span_bytes", { 0, 0, 16, 0, 1, 1, 0, 250 } },
		{ "burst_min_bytes", { 0, 0, 1, 0, 0, 1, 0, 256 } },
		{ "burst_min_bytes", { 0, 0, 1, 0, 3, 2, 0, 256 } },
		{ "burst_max_bytes", { 0, 0, 1, 0, 1, 17, 0, 16 } },
	};
	char err[160];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(t); i++) {
		assert_int_not_equal(
			rl_error_cfg_check(&t[i].c, err, sizeof(err)), 0);
		assert_non_null(strstr(err, t[i].field));
	}
}

static void
the_ends_of_every_range_are_taken(void **state)
{
	static const struct rl_error_cfg t[] = {
		{ 0, 0, 1, 0, 1, 1, 0, 256 },
		{ 1, 0, 1, 0, 1, 1, 0, 256 },
		{ 0, 0.999, 1, 0, 1, 1, 0, 256 },
		{ 0, 0, 16, 0, 1, 1, 0, 256 },
		{ 0, 0, 1, 1, 256, 256, 0, 256 },
		{ 0, 0, 1, 0, 1, 1, 1, 1 },
	};
	char err[160];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(t); i++)
		assert_int_equal(
			rl_error_cfg_check(&t[i], err, sizeof(err)), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_are_valid_and_do_nothing),
		cmocka_unit_test(what_is_out_of_range_is_refused_by_name),
		cmocka_unit_test(the_ends_of_every_range_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
