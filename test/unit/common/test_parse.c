/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers of command lines and of the prompt [APP-4]. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parse.h"
#include "rl_base.h"

static void
times_are_decimal_and_have_a_unit(void **state)
{
	static const struct {
		const char *text;
		int ret;
		uint64_t ns;
	} row[] = {
		{ "0ns", 0, 0 },
		{ "50ms", 0, 50000000 },
		{ "1.5s", 0, 1500000000 },
		{ ".5us", 0, 500 },
		{ "1e3us", 0, 1000000 },
		{ "2.s", 0, 2000000000 },
		{ "3600s", 0, 3600000000000 },
		{ "3600.1s", -ERANGE, 0 },
		{ "1e400s", -ERANGE, 0 },
		{ "0x10ms", -EINVAL, 0 },
		{ "0x1p3s", -EINVAL, 0 },
		{ "10", -EINVAL, 0 },
		{ "ms", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },
		{ "+1s", -EINVAL, 0 },
		{ " 1s", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "1h", -EINVAL, 0 },
		{ "1es", -EINVAL, 0 },
		{ "nans", -EINVAL, 0 },
		{ "infs", -EINVAL, 0 },
		{ ".s", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		uint64_t ns = 77;

		assert_int_equal(parse_time(row[i].text, &ns), row[i].ret);
		assert_int_equal(ns, row[i].ret == 0 ? row[i].ns : 77);
	}
}

static void
a_plain_number_is_nanoseconds_only_by_request(void **state)
{
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(parse_time_or_ns("250", &ns), 0);
	assert_int_equal(ns, 250);
	assert_int_equal(parse_time_or_ns("10us", &ns), 0);
	assert_int_equal(ns, 10000);
	assert_int_equal(parse_time_or_ns("0x10", &ns), -EINVAL);
	assert_int_equal(parse_time("250", &ns), -EINVAL);
}

static void
whole_numbers_have_a_range(void **state)
{
	uint64_t v = 0;

	(void)state;
	assert_int_equal(parse_number("18446744073709551615", 0, UINT64_MAX,
				      &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(parse_number("18446744073709551616", 0, UINT64_MAX,
				      &v), -ERANGE);
	assert_int_equal(parse_number("4", 5, 9, &v), -ERANGE);
	assert_int_equal(parse_number("10", 5, 9, &v), -ERANGE);
	assert_int_equal(parse_number("5", 5, 9, &v), 0);
	assert_int_equal(parse_number("0x5", 5, 9, &v), -EINVAL);
	assert_int_equal(parse_number("5.0", 5, 9, &v), -EINVAL);
	assert_int_equal(parse_number("-5", 5, 9, &v), -EINVAL);
	assert_int_equal(parse_number("", 5, 9, &v), -EINVAL);
}

static void
rates_are_decimal_fractions(void **state)
{
	double v = 0;

	(void)state;
	assert_int_equal(parse_rate("1e-5", 0, 1, &v), 0);
	assert_true(fabs(v - 1e-5) < 1e-12);
	assert_int_equal(parse_rate(".25", 0, 1, &v), 0);
	assert_true(fabs(v - 0.25) < 1e-12);
	assert_int_equal(parse_rate("1.01", 0, 1, &v), -ERANGE);
	assert_int_equal(parse_rate("0x1", 0, 1, &v), -EINVAL);
	assert_int_equal(parse_rate("1e", 0, 1, &v), -EINVAL);
	assert_int_equal(parse_rate("nan", 0, 1, &v), -EINVAL);
	assert_int_equal(parse_rate("-0", 0, 1, &v), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_decimal_and_have_a_unit),
		cmocka_unit_test(
			a_plain_number_is_nanoseconds_only_by_request),
		cmocka_unit_test(whole_numbers_have_a_range),
		cmocka_unit_test(rates_are_decimal_fractions),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
