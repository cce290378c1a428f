/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ledgers are balanced, and which are clean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rl_ledger.h"

/* Books that balance, and are dirty all the same. */
static void
one_fault_of_any_kind_makes_books_unclean(void **state)
{
	static const struct rl_ledger good = { .sent_packets = 5,
					       .delivered_packets = 3,
					       .reported_packets = 2 };
	struct rl_ledger l = good;

	(void)state;
	assert_true(rl_ledger_balanced(&l) && rl_ledger_clean(&l));
	l.duplicated_packets = 1;
	assert_true(rl_ledger_balanced(&l));
	assert_false(rl_ledger_clean(&l));
	l = good;
	l.reordered_packets = 1;
	assert_false(rl_ledger_clean(&l));
	l = good;
	l.corrupted_packets = 1;
	assert_false(rl_ledger_clean(&l));
	l = good;
	l.lost_packets = l.reported_packets;
	l.reported_packets = 0;
	assert_true(rl_ledger_balanced(&l));
	assert_false(rl_ledger_clean(&l));
	l = good;
	l.sent_packets++;
	assert_false(rl_ledger_balanced(&l));
	l.sent_packets -= 2;
	assert_false(rl_ledger_balanced(&l));
	l = good;
	l.inexact = 1;
	assert_false(rl_ledger_balanced(&l));
	l = good;
	l.unknown_packets = 1;
	assert_false(rl_ledger_balanced(&l));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_fault_of_any_kind_makes_books_unclean),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
