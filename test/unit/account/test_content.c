/* SPDX-License-Identifier: BSD-3-Clause */
/* What a packet holds follows from its key, in any part of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rl_content.h"

#define KEY 0x0123456789abcdefull
#define BYTES 700

static uint8_t whole[BYTES + 8];

static int
make_whole(void **state)
{
	(void)state;
	rl_content_fill(KEY, whole, 0, BYTES);
	return 0;
}

static void
any_part_is_made_as_in_the_whole(void **state)
{
	uint8_t part[BYTES];

	(void)state;
	for (uint32_t off = 0; off < BYTES; off += 8)
		for (uint32_t len = 0; len <= BYTES - off; len += 13) {
			memset(part, 0, sizeof(part));
			rl_content_fill(KEY, part, off, len);
			assert_memory_equal(part, whole + off, len);
			assert_true(rl_content_same(KEY, part, off, len));
		}
	assert_int_equal(whole[BYTES], 0); /* and nothing behind it */
}

static void
a_changed_bit_a_moved_part_and_another_key_are_seen(void **state)
{
	(void)state;
	for (uint32_t at = 0; at < BYTES; at++) {
		whole[at] ^= 0x10;
		assert_false(rl_content_same(KEY, whole, 0, BYTES));
		whole[at] ^= 0x10;
	}
	assert_true(rl_content_same(KEY, whole, 0, BYTES));
	assert_false(rl_content_same(KEY, whole + 224, 448, 224));
	assert_false(rl_content_same(KEY + 1, whole, 0, BYTES));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_part_is_made_as_in_the_whole),
		cmocka_unit_test(
			a_changed_bit_a_moved_part_and_another_key_are_seen),
	};

	return cmocka_run_group_tests_name("content", tests, make_whole, NULL);
}
