/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_stamp.h"

static struct rl_flit flit[4];

/** A received packet as an endpoint would hand it over. */
static struct rl_flit *
packet(const struct rl_stamp *s)
{
	const uint32_t n = (s->len_bytes + 223) / 224;
	struct rl_stamp_writer w;

	rl_stamp_begin(&w, s);
	memset(flit, 0, sizeof(flit));
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t len = rl_min_u32(224, s->len_bytes - i * 224);
		const struct rl_txn t = {
			.dst = s->dst,
			.src = s->src,
			.cos = s->cos,
			.class = s->class,
			.sop = i == 0,
			.eop = i + 1 == n,
			.valid_bytes = (uint8_t)len,
			.pos = (uint16_t)i,
			.len_flits = (uint16_t)n,
		};

		rl_txn_put(flit[i].wire, &t);
		rl_stamp_fill(&w, flit[i].wire + RL_FLIT_DATA_OFF, i * 224,
			      len);
		if (i == 0)
			rl_packet_start(&flit[0]);
		else
			rl_packet_append(&flit[0], &flit[i]);
	}
	return &flit[0];
}

static const struct rl_stamp stamp = {
	.src = 3, .dst = 9, .cos = 2, .class = RL_CLASS_RSP, .number = 77,
	.len_bytes = 700, .t_ns = 123456789, .seed = 5,
};

static void
a_stamp_is_read_as_it_was_written_at_every_length(void **state)
{
	(void)state;
	for (uint32_t len = RL_STAMP_BYTES; len <= 4 * 224; len++) {
		struct rl_stamp s = stamp, got;

		s.len_bytes = len;
		assert_int_equal(rl_stamp_check(packet(&s), 5, &got),
				 RL_STAMP_OK);
		assert_int_equal(got.src, 3);
		assert_int_equal(got.dst, 9);
		assert_int_equal(got.cos, 2);
		assert_int_equal(got.class, RL_CLASS_RSP);
		assert_int_equal(got.number, 77);
		assert_int_equal(got.len_bytes, len);
		assert_int_equal(got.t_ns, 123456789);
	}
}

static void
every_flipped_bit_is_noticed(void **state)
{
	struct rl_stamp got;
	struct rl_flit *pkt = packet(&stamp);

	(void)state;
	for (uint32_t i = 0; i < stamp.len_bytes; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			uint8_t *b = &flit[i / 224].wire[RL_FLIT_DATA_OFF +
							 i % 224];
			enum rl_stamp_verdict v;

			*b ^= (uint8_t)(1u << bit);
			v = rl_stamp_check(pkt, 5, &got);
			assert_int_equal(v, i < RL_STAMP_BYTES
						    ? RL_STAMP_FOREIGN
						    : RL_STAMP_BODY);
			*b ^= (uint8_t)(1u << bit);
		}
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_OK);
}

static void
flits_exchanged_cut_or_of_another_packet_are_noticed(void **state)
{
	struct rl_flit tmp[4];
	struct rl_stamp got, other = stamp;
	struct rl_flit *pkt = packet(&stamp);

	(void)state;
	memcpy(tmp, flit, sizeof(tmp));
	memcpy(flit[1].wire + 18, tmp[2].wire + 18, 224);
	memcpy(flit[2].wire + 18, tmp[1].wire + 18, 224);
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_BODY);
	pkt = packet(&stamp);
	flit[3].wire[8]--;
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_BODY);
	pkt = packet(&stamp);
	pkt->pkt_flits = 3;
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_BODY);
	other.number++;
	packet(&other);
	tmp[1] = flit[1];
	pkt = packet(&stamp);
	memcpy(flit[1].wire, tmp[1].wire, RL_FLIT_BYTES);
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_BODY);
}

static void
another_seed_flow_or_class_is_foreign(void **state)
{
	struct rl_stamp got;
	struct rl_flit *pkt = packet(&stamp);

	(void)state;
	assert_int_equal(rl_stamp_check(pkt, 6, &got), RL_STAMP_FOREIGN);
	pkt->wire[4] ^= 1; /* from another endpoint */
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_FOREIGN);
	pkt = packet(&stamp);
	pkt->wire[2] ^= 1; /* for another endpoint */
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_FOREIGN);
	pkt = packet(&stamp);
	pkt->wire[6] ^= 0x10;
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_FOREIGN);
	pkt = packet(&stamp);
	pkt->wire[7] ^= RL_CLASS_RSP;
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_FOREIGN);
	pkt = packet(&stamp);
	pkt->wire[8] = RL_STAMP_BYTES - 1;
	assert_int_equal(rl_stamp_check(pkt, 5, &got), RL_STAMP_FOREIGN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stamp_is_read_as_it_was_written_at_every_length),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(flits_exchanged_cut_or_of_another_packet_are_noticed),
		cmocka_unit_test(another_seed_flow_or_class_is_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
