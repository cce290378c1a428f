/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notice of a dropped packet, the same on all hosts: they all call
 * rl_drop_notice(). One packet, one notice, which names its flits. An address
 * that no endpoint has was altered: that is a loss, not a missing way [EP-8].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_flit_cache.h"
#include "rl_role.h"

#define NEP 4
#define FLITS 5

static _Alignas(64) struct rl_flit flit[FLITS];

/** Positions pos .. pos+FLITS-1 of packet 77, from 1 to 2. */
static struct rl_flit *
packet(uint16_t pos)
{
	memset(flit, 0, sizeof(flit));
	for (uint16_t i = 0; i < FLITS; i++) {
		const struct rl_txn txn = {
			.dst = 2,
			.src = 1,
			.cos = 3,
			.tag = 77,
			.pos = (uint16_t)(pos + i),
			.len_flits = 12,
			.valid_bytes = RL_FLIT_DATA_BYTES,
		};

		rl_txn_put(flit[i].wire, &txn);
		if (i == 0)
			rl_packet_start(&flit[0]);
		else
			rl_packet_append(&flit[0], &flit[i]);
	}
	return &flit[0];
}

static void
one_packet_brings_one_notice_that_names_all_its_flits(void **state)
{
	struct rl_ep_notice n;

	(void)state;
	assert_true(rl_drop_notice(packet(4), RL_DROP_NO_PATH, true, NEP, &n));
	assert_int_equal(n.whose, 1);
	assert_int_equal(n.peer, 2);
	assert_int_equal(n.cos, 3);
	assert_int_equal(n.tag, 77);
	assert_int_equal(n.pos, 4);
	assert_int_equal(n.flits, FLITS);
	assert_int_equal(n.why, RL_EP_DROP_NO_PATH);
}

static void
each_reason_is_told_or_not_as_the_table_says(void **state)
{
	static const struct {
		enum rl_drop_reason why;
		int retry; /* the reason with end-to-end retry; -1: no notice */
		int off;   /* ... and without */
	} row[] = {
		{ RL_DROP_POLICY, RL_EP_DROP_LOST, RL_EP_DROP_LOST },
		{ RL_DROP_LOOPBACK_NONE, -1, -1 },
		{ RL_DROP_NO_PATH, RL_EP_DROP_NO_PATH, RL_EP_DROP_NO_PATH },
		{ RL_DROP_WATCHDOG, RL_EP_DROP_NO_PATH, RL_EP_DROP_NO_PATH },
		{ RL_DROP_HOPS, RL_EP_DROP_LOST, RL_EP_DROP_LOST },
		{ RL_DROP_MISROUTE, RL_EP_DROP_LOST, RL_EP_DROP_LOST },
		{ RL_DROP_TOO_LONG, RL_EP_DROP_LOST, RL_EP_DROP_LOST },
		{ RL_DROP_FRAGMENT, -1, -1 },
		{ RL_DROP_DUPLICATE, -1, -1 },
		{ RL_DROP_UNCORRECTABLE, RL_EP_DROP_LOST, RL_EP_DROP_LOST },
		{ RL_DROP_MARKED, RL_EP_DROP_LOST, RL_EP_DROP_LOST },
		{ RL_DROP_INIT, -1, RL_EP_DROP_LOST },
		{ RL_DROP_ASTRAY, RL_EP_DROP_ASTRAY, RL_EP_DROP_ASTRAY },
		{ RL_DROP_NO_ROOM, -1, RL_EP_DROP_LOST },
		{ RL_DROP_ADDRESS, RL_EP_DROP_LOST, RL_EP_DROP_LOST },
	};

	(void)state;
	assert_int_equal(RL_ARRAY_SIZE(row), RL_DROP_REASON_COUNT);
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++)
		for (int retry = 0; retry < 2; retry++) {
			const int want = retry ? row[i].retry : row[i].off;
			struct rl_ep_notice n;

			assert_int_equal(row[i].why, i);
			assert_int_equal(rl_drop_notice(packet(0), row[i].why,
							retry, NEP, &n),
					 want >= 0);
			if (want >= 0)
				assert_int_equal(n.why, want);
		}
}

static void
an_altered_address_is_a_loss_told_by_what_was_not_altered(void **state)
{
	struct rl_ep_notice n;
	struct rl_flit *pkt = packet(4);

	(void)state;
	rl_put16(flit[0].wire + 2, NEP + 9); /* its destination */
	assert_true(rl_drop_notice(pkt, RL_DROP_ADDRESS, true, NEP, &n));
	assert_int_equal(n.whose, 1);
	assert_int_equal(n.peer, 2);
	assert_int_equal(n.pos, 4);
	assert_int_equal(n.flits, FLITS);
	assert_int_equal(n.why, RL_EP_DROP_LOST);
	/* whatever reason a host gives for it */
	assert_true(rl_drop_notice(pkt, RL_DROP_NO_PATH, true, NEP, &n));
	assert_int_equal(n.why, RL_EP_DROP_LOST);
}

static void
an_address_that_no_endpoint_has_gets_no_notice(void **state)
{
	struct rl_ep_notice n;
	struct rl_flit *pkt = packet(0);

	(void)state;
	for (int i = 0; i < FLITS; i++)
		rl_put16(flit[i].wire + (i % 2 ? 2 : 4), NEP);
	assert_false(rl_drop_notice(pkt, RL_DROP_ADDRESS, true, NEP, &n));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_packet_brings_one_notice_that_names_all_its_flits),
		cmocka_unit_test(each_reason_is_told_or_not_as_the_table_says),
		cmocka_unit_test(an_altered_address_is_a_loss_told_by_what_was_not_altered),
		cmocka_unit_test(an_address_that_no_endpoint_has_gets_no_notice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
