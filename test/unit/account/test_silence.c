/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a flow that had something to send was silent [EP-6]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rl_silence.h"

static void
silence_counts_from_when_there_was_something_to_send(void **state)
{
	/* made, arrived; the longest so far, and its end */
	static const uint64_t row[][4] = {
		{ 100, 130, 30, 130 },	 /* nothing came before */
		{ 110, 150, 30, 130 },	 /* 20 behind the one before */
		{ 1000, 1020, 30, 130 }, /* nothing to send for long */
		{ 1010, 1060, 40, 1060 },
		{ 900, 1100, 40, 1060 }, /* as long: the first is told */
		{ 1200, 1200, 40, 1060 },
		{ 1300, 1250, 40, 1060 }, /* clocks of two lcores */
	};
	struct rl_silence s = { .ns = 0 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		rl_silence_add(&s, row[i][0], row[i][1]);
		assert_int_equal(s.arrived_ns, row[i][1]);
		assert_int_equal(s.ns, row[i][2]);
		assert_int_equal(s.end_ns, row[i][3]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_counts_from_when_there_was_something_to_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
