/* SPDX-License-Identifier: BSD-3-Clause */

/* The ring of copies under a capture [APP-3]: order, wrapping, and what has no room. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_tap.h"

static uint8_t ring[4096];
static uint8_t frame[4096];

static void
put(struct rl_tap *t, uint8_t value, uint32_t len)
{
	struct rl_tap_rec r = { .t_ns = 1000 + value, .len = len };

	memset(frame, value, len);
	rl_tap_put(t, &r, frame);
}

static void
check_next(struct rl_tap *t, uint8_t value, uint32_t len, uint32_t missed)
{
	struct rl_tap_rec r;
	uint8_t got[4096];

	memset(got, 0xee, sizeof(got));
	assert_true(rl_tap_get(t, &r, got, sizeof(got)));
	assert_int_equal(r.t_ns, 1000 + value);
	assert_int_equal(r.len, len);
	assert_int_equal(r.missed, missed);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(got[i], value);
	assert_int_equal(got[len], 0xee);
}

static void
frames_come_out_as_they_went_in_wherever_the_ring_wraps(void **state)
{
	struct rl_tap t;
	struct rl_tap_rec r;

	(void)state;
	rl_tap_init(&t, ring, sizeof(ring));
	assert_false(rl_tap_get(&t, &r, frame, sizeof(frame)));
	for (unsigned int i = 0; i < 2000; i++) {
		put(&t, (uint8_t)i, i % 700);
		put(&t, (uint8_t)(i + 1), 64);
		check_next(&t, (uint8_t)i, i % 700, 0);
		check_next(&t, (uint8_t)(i + 1), 64, 0);
	}
	assert_false(rl_tap_get(&t, &r, frame, sizeof(frame)));
	assert_int_equal(atomic_load(&t.dropped), 0);
}

static void
what_has_no_room_is_counted_and_told_with_the_next_that_has(void **state)
{
	const uint32_t record = sizeof(struct rl_tap_rec) + 1000;
	const unsigned int fit = sizeof(ring) / record;
	struct rl_tap t;

	(void)state;
	rl_tap_init(&t, ring, sizeof(ring));
	for (unsigned int i = 0; i < fit + 3; i++)
		put(&t, (uint8_t)i, 1000);
	assert_int_equal(atomic_load(&t.dropped), 3);
	check_next(&t, 0, 1000, 0);
	put(&t, 77, 1000);
	put(&t, 78, 1000); /* no room again */
	for (unsigned int i = 1; i < fit; i++)
		check_next(&t, (uint8_t)i, 1000, 0);
	check_next(&t, 77, 1000, 3);
	put(&t, 79, 10);
	check_next(&t, 79, 10, 1);
	assert_int_equal(atomic_load(&t.dropped), 4);
}

static void
a_ring_is_filled_to_its_last_byte(void **state)
{
	const uint32_t len = sizeof(ring) - sizeof(struct rl_tap_rec);
	struct rl_tap t;

	(void)state;
	rl_tap_init(&t, ring, sizeof(ring));
	put(&t, 1, len + 1);
	assert_int_equal(atomic_load(&t.dropped), 1);
	put(&t, 2, len);
	check_next(&t, 2, len, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			frames_come_out_as_they_went_in_wherever_the_ring_wraps),
		cmocka_unit_test(
			what_has_no_room_is_counted_and_told_with_the_next_that_has),
		cmocka_unit_test(a_ring_is_filled_to_its_last_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
