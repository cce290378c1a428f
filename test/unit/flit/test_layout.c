/* SPDX-License-Identifier: BSD-3-Clause */

/* The flit on the wire, bit by bit [FLIT-1], and its transaction header
 * [FLIT-2], against bytes written down by hand. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rl_flit.h"
#include "rl_flit_cache.h"

/* [FLIT-1] 2 + 240 + 8 + 6 bytes, without a hole. */
static void
the_parts_of_a_flit_fill_256_bytes(void **state)
{
	(void)state;
	assert_int_equal(RL_FLIT_PAYLOAD_OFF, 2);
	assert_int_equal(RL_FLIT_PAYLOAD_OFF + RL_FLIT_PAYLOAD_BYTES,
			 RL_FLIT_CRC_OFF);
	assert_int_equal(RL_FLIT_CRC_OFF + 8, RL_FLIT_FEC_OFF);
	assert_int_equal(RL_FLIT_FEC_OFF + RL_FLIT_FEC_BYTES, RL_FLIT_BYTES);
	assert_int_equal(RL_FLIT_PAYLOAD_OFF + RL_FLIT_TXN_BYTES,
			 RL_FLIT_DATA_OFF);
	assert_int_equal(RL_FLIT_DATA_OFF + RL_FLIT_DATA_BYTES,
			 RL_FLIT_CRC_OFF);
}

/* [FLIT-1] FSN in bits 0-9, ReplayCmd in 10-11, spare bits 0. */
static void
the_header_holds_fsn_and_replay_cmd_and_nothing_else(void **state)
{
	static const struct {
		uint16_t fsn;
		enum rl_replay_cmd cmd;
		uint8_t bytes[2];
	} t[] = {
		{ 0, RL_CMD_SEQ, { 0x00, 0x00 } },
		{ 1, RL_CMD_SEQ, { 0x01, 0x00 } },
		{ 0x3ff, RL_CMD_SEQ, { 0xff, 0x03 } },
		{ 0, RL_CMD_ACK, { 0x00, 0x04 } },
		{ 0x155, RL_CMD_NAK_GBN, { 0x55, 0x09 } },
		{ 0x3ff, RL_CMD_NAK_ONE, { 0xff, 0x0f } },
		{ 0x7ff, RL_CMD_ACK, { 0xff, 0x07 } }, /* ten bits count */
	};
	uint8_t wire[2];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(t); i++) {
		memset(wire, 0xee, sizeof(wire));
		rl_flit_set_header(wire, t[i].fsn, t[i].cmd);
		assert_memory_equal(wire, t[i].bytes, 2);
		assert_int_equal(rl_flit_fsn(wire), t[i].fsn & 0x3ff);
		assert_int_equal(rl_flit_cmd(wire), t[i].cmd);
	}
}

/* [FLIT-2] Every field at its place. */
static void
the_transaction_header_lies_as_the_table_says(void **state)
{
	const struct rl_txn t = {
		.dst = 0x1234,
		.src = 0x5678,
		.sl = 0xa,
		.cos = 0x5,
		.class = RL_CLASS_REQ_NONPOSTED,
		.type = RL_FLIT_CTRL,
		.sop = true,
		.eop = false,
		.valid_bytes = 224,
		.tag = 0xdeadbeef,
		.pos = 0x0102,
		.len_flits = 0x0304,
	};
	static const uint8_t bytes[RL_FLIT_TXN_BYTES] = {
		0x34, 0x12, 0x78, 0x56, 0x5a, 0x46, 224,  0x00,
		0xef, 0xbe, 0xad, 0xde, 0x02, 0x01, 0x04, 0x03,
	};
	uint8_t wire[RL_FLIT_BYTES];

	(void)state;
	memset(wire, 0xee, sizeof(wire));
	rl_txn_put(wire, &t);
	assert_memory_equal(wire + 2, bytes, sizeof(bytes));
	assert_int_equal(wire[1], 0xee); /* and nothing beside it */
	assert_int_equal(wire[RL_FLIT_DATA_OFF], 0xee);
	assert_int_equal(rl_flit_dst(wire), t.dst);
	assert_int_equal(rl_flit_src(wire), t.src);
	assert_int_equal(rl_flit_sl(wire), t.sl);
	assert_int_equal(rl_flit_class(wire), t.class);
	assert_int_equal(rl_flit_tag(wire), t.tag);
}

/* [FLIT-2] Each bit of the 16 bytes that is not spare survives by itself. */
static void
every_bit_of_the_transaction_header_is_read_back(void **state)
{
	uint8_t wire[RL_FLIT_BYTES], again[RL_FLIT_BYTES];
	struct rl_txn t;

	(void)state;
	for (unsigned int bit = 0; bit < 8 * RL_FLIT_TXN_BYTES; bit++) {
		const unsigned int byte = 2 + bit / 8;
		const uint8_t mask = (uint8_t)(1u << bit % 8);

		memset(wire, 0, sizeof(wire));
		memset(again, 0, sizeof(again));
		wire[byte] = mask;
		rl_txn_get(wire, &t);
		rl_txn_put(again, &t);
		if (byte == 9 || (byte == 7 && (mask & 0x30)))
			assert_int_equal(again[byte], 0); /* spare */
		else
			assert_memory_equal(again, wire, sizeof(wire));
	}
}

/* A packet is a chain; joining and queueing keep the counts. */
static void
packets_start_grow_join_and_queue_without_losing_a_flit(void **state)
{
	struct rl_flit f[6], *slot[128];
	struct rl_flit_cache c = { .slot = slot, .cap = 6 };
	struct rl_pktq q = { 0 }, r = { 0 };

	(void)state;
	memset(f, 0, sizeof(f));
	for (unsigned int i = 0; i < 6; i++)
		rl_flit_put(&c, &f[i]);
	struct rl_flit *a = rl_flit_get(&c), *b = rl_flit_get(&c);

	rl_packet_start(a);
	rl_packet_append(a, rl_flit_get(&c));
	rl_packet_start(b);
	b->flags = RL_FF_EOP;
	assert_false(rl_packet_ends(a));
	rl_packet_join(a, b);
	assert_true(rl_packet_ends(a));
	assert_int_equal(a->pkt_flits, 3);
	rl_pktq_push(&q, a);
	struct rl_flit *d = rl_flit_get(&c);

	rl_packet_start(d);
	rl_pktq_push(&r, d);
	rl_pktq_splice(&q, &r);
	assert_true(rl_pktq_empty(&r));
	assert_int_equal(q.packets, 2);
	assert_int_equal(q.flits, 4);
	rl_packet_put(&c, rl_pktq_pop(&q));
	rl_packet_put(&c, rl_pktq_pop(&q));
	assert_null(rl_pktq_pop(&q));
	assert_int_equal(q.flits, 0);
	assert_int_equal(c.count, 6);
}

static void
an_empty_cache_says_so_and_counts(void **state)
{
	struct rl_flit_cache c = { 0 };

	(void)state;
	assert_null(rl_flit_get(&c));
	assert_int_equal(c.empty_count, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_flit_fill_256_bytes),
		cmocka_unit_test(
			the_header_holds_fsn_and_replay_cmd_and_nothing_else),
		cmocka_unit_test(the_transaction_header_lies_as_the_table_says),
		cmocka_unit_test(
			every_bit_of_the_transaction_header_is_read_back),
		cmocka_unit_test(
			packets_start_grow_join_and_queue_without_losing_a_flit),
		cmocka_unit_test(an_empty_cache_says_so_and_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
