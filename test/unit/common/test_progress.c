/* SPDX-License-Identifier: BSD-3-Clause */

/* How long work reports its progress [APP-4]. */

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <unistd.h>
#include <cmocka.h>

#include "progress.h"
#include "rl_base.h"
#include "said.h"

static void
the_time_left_is_what_the_rest_will_take_at_the_pace_so_far(void **state)
{
	static const struct {
		uint64_t all, done, spent_s;
		const char *text;
	} row[] = {
		{ 20, 0, 5, "0 of 20 seeds" },
		{ 20, 10, 5, "10 of 20 seeds, 5 s left" },
		{ 20, 20, 5, "20 of 20 seeds, 0 s left" },
		{ 20, 30, 5, "20 of 20 seeds, 0 s left" },
		{ 100, 10, 10, "10 of 100 seeds, 1 min 30 s left" },
		{ 1000, 1, 61, "1 of 1000 seeds, 16 h 55 min left" },
		{ 1000000000000, 1, 1,
		  "1 of 1000000000000 seeds, 277777777 h 46 min left" },
	};
	char buf[160];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		const struct progress p = { .what = "seeds",
					    .all = row[i].all };

		assert_string_equal(progress_text(&p, row[i].done,
						  row[i].spent_s * RL_NS_PER_S,
						  buf, sizeof(buf)),
				    row[i].text);
	}
}

static void
a_text_that_is_too_long_is_cut(void **state)
{
	const struct progress p = { .what = "seeds", .all = 20 };
	char buf[8];

	(void)state;
	assert_string_equal(progress_text(&p, 3, 1, buf, sizeof(buf)),
			    "3 of 20");
}

/* A script that reads standard error wants none of it unasked. */
static void
without_a_terminal_nothing_is_told_unless_it_is_asked_for(void **state)
{
	const int null = open("/dev/null", O_WRONLY);
	const int was = dup(STDERR_FILENO);
	struct progress quiet, asked;

	(void)state;
	assert_true(null >= 0 && was >= 0);
	assert_int_equal(dup2(null, STDERR_FILENO), STDERR_FILENO);
	progress_begin(&quiet, "seeds", 20, false);
	progress_begin(&asked, "seeds", 20, true);
	assert_int_equal(dup2(was, STDERR_FILENO), STDERR_FILENO);
	close(null);
	close(was);
	assert_false(quiet.on);
	assert_true(asked.on && !asked.terminal);
}

static void
what_is_told_is_a_line_of_its_own_now_and_then(void **state)
{
	struct progress p;
	struct said said;

	(void)state;
	said_begin(&said);
	progress_begin(&p, "seeds", 20, true);
	progress_tell(&p, 1, NULL); /* too early */
	p.told_ns -= 10 * RL_NS_PER_S;
	p.start_ns -= 20 * RL_NS_PER_S;
	progress_tell(&p, 10, "none failed");
	progress_tell(&p, 11, NULL);
	p.told_ns -= 10 * RL_NS_PER_S;
	progress_tell(&p, 20, NULL);
	progress_end(&p);
	said_end(&said);
	assert_string_equal(said.err, "10 of 20 seeds, 20 s left, none failed\n"
				      "20 of 20 seeds, 0 s left\n");
	assert_string_equal(said.out, "");
	assert_false(p.told);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_time_left_is_what_the_rest_will_take_at_the_pace_so_far),
		cmocka_unit_test(a_text_that_is_too_long_is_cut),
		cmocka_unit_test(
			without_a_terminal_nothing_is_told_unless_it_is_asked_for),
		cmocka_unit_test(
			what_is_told_is_a_line_of_its_own_now_and_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
