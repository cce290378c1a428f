/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When a client writes what it has gathered, and for how long it waits for a port
 * that takes nothing [DRL-11], by a clock moved by hand.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gather.h"
#include "taker.h"

#define START_NS 1000000000ull
#define FULL 32

static void
a_steady_stream_is_written_in_whole_bursts(void **state)
{
	struct gather g = { 0 };
	uint64_t now_ns = START_NS;
	uint32_t held = 0, writes = 0;

	(void)state;
	for (unsigned int poll = 0; poll < 800; poll++, now_ns += 5000) {
		held += 4;
		if (gather_due(&g, held, 4, FULL, now_ns)) {
			assert_int_equal(held, FULL);
			held = 0;
			writes++;
		}
	}
	assert_int_equal(writes, 100);
}

static void
a_frame_alone_waits_for_one_poll(void **state)
{
	struct gather g = { 0 };

	(void)state;
	assert_false(gather_due(&g, 0, 0, FULL, START_NS));
	assert_false(gather_due(&g, 1, 1, FULL, START_NS + 1000));
	assert_true(gather_due(&g, 1, 0, FULL, START_NS + 2000));
	/* the next one starts again */
	assert_false(gather_due(&g, 1, 1, FULL, START_NS + 90000));
}

static void
a_trickle_waits_for_50_us_at_most(void **state)
{
	struct gather g = { 0 };
	uint64_t now_ns = START_NS;
	uint32_t held = 0;

	(void)state;
	do {
		held++;
		now_ns += 10000;
	} while (!gather_due(&g, held, 1, FULL, now_ns));
	assert_int_equal(held, 6);
}

/* Frames that the device did not take are offered again, poll by poll. */
static void
what_a_device_did_not_take_is_written_again(void **state)
{
	struct gather g = { 0 };

	(void)state;
	assert_true(gather_due(&g, FULL, 8, FULL, START_NS));
	assert_true(gather_due(&g, FULL, 0, FULL, START_NS + 1000));
	assert_true(gather_due(&g, 3, 0, FULL, START_NS + 2000));
}

static void
a_port_that_takes_nothing_is_waited_for_in_bounds(void **state)
{
	static const struct {
		uint64_t after_ns;
		uint32_t taken, left;
		bool down, gone;
	} row[] = {
		{ 0, 0, FULL, false, false },
		{ TAKER_DOWN_NS - 1, 0, FULL, true, false },
		{ TAKER_DOWN_NS, 0, FULL, false, false },
		{ TAKER_UP_NS - 1, 0, 1, false, false },
		{ TAKER_UP_NS, 0, 0, false, false }, /* nothing to throw away */
		{ TAKER_UP_NS, 0, 1, false, true },
		{ TAKER_UP_NS + 1, 0, 1, true, true }, /* at once from now on */
		{ TAKER_UP_NS + 2, 1, FULL, false, false }, /* it is back */
		{ TAKER_UP_NS + 3, 0, FULL, true, false },
		{ TAKER_UP_NS + 2 + TAKER_DOWN_NS, 0, 9, true, false },
		{ TAKER_UP_NS + 3 + TAKER_DOWN_NS, 0, 9, true, true },
	};
	struct taker t = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (taker_gone(&t, row[i].taken, row[i].left, row[i].down,
			       START_NS + row[i].after_ns) != row[i].gone)
			fail_msg("row %zu", i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_stream_is_written_in_whole_bursts),
		cmocka_unit_test(a_frame_alone_waits_for_one_poll),
		cmocka_unit_test(a_trickle_waits_for_50_us_at_most),
		cmocka_unit_test(what_a_device_did_not_take_is_written_again),
		cmocka_unit_test(a_port_that_takes_nothing_is_waited_for_in_bounds),
	};

	return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
