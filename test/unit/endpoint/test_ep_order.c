/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's judgement, case by case [FLIT-5, FLIT-6, EP-2, EP-4, DRL-5]:
 * expected, duplicate, ahead, corrupt, and what the modulus of 1024 does to
 * each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

static struct fx fx;

static void
open_with(uint32_t window, enum rl_isn_kind isn)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.window_flits = window;
	cfg.isn = isn;
	cfg.max_packet_flits = window < 16 ? window : 16;
	cfg.ack_coalesce_flits = window < 4 ? window : 4;
	fx_open(&fx, &cfg, 2, 4000);
}

/** The window, then one flit of it lost; then the lost one comes. */
static void
lose_one(uint32_t window, uint32_t lost)
{
	struct rl_flit *late = NULL;

	for (uint32_t i = 0; i < window; i++) {
		struct rl_flit *pkt = fx_emit(&fx, 1);

		if (i == lost)
			late = pkt;
		else
			fx_rx(&fx, 1, pkt);
	}
	assert_int_equal(fx_take(&fx, 1, false), lost);
	fx_rx(&fx, 1, late);
	assert_int_equal(fx_take(&fx, 1, false), window - lost);
	fx_run(&fx, 4);
	assert_true(rl_ep_idle(fx.ep[0]));
}

static void
a_loss_at_every_edge_of_the_window_and_of_the_wrap_is_filled(void **state)
{
	static const uint32_t window[] = { 1, 2, 63, 64, 65, 256, 511 };
	static const uint32_t start[] = { 0, 1, 512, 513, 768, 1022, 1023,
					  1024, 1025, 2047, 3071, 3072 };

	(void)state;
	for (size_t w = 0; w < RL_ARRAY_SIZE(window); w++)
		for (size_t s = 0; s < RL_ARRAY_SIZE(start); s++) {
			const uint32_t lost[] = { 0, window[w] / 2,
						  window[w] - 1 };

			/* 1023 is the last number before the wrap */
			open_with(window[w], RL_ISN_WIDE);
			fx_advance(&fx, start[s]);
			for (size_t k = 0; k < 3; k++)
				lose_one(window[w], lost[k]);
			assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 0);
			assert_int_equal(
				fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
			fx_close(&fx);
		}
}

/** Kinds of mixing must not differ in what the endpoint does. */
static const enum rl_isn_kind isns[] = { RL_ISN_XOR10, RL_ISN_WIDE,
					 RL_ISN_WIDE19 };

static bool
has_isn(enum rl_isn_kind isn)
{
	struct rl_codec *c = aligned_alloc(64, (rl_codec_memsize() + 63) & ~63ull);
	int rc = rl_codec_init(c, RL_CRC_BCH, isn, RL_ISA_SCALAR);

	free(c);
	return rc == 0;
}

static void
a_duplicate_at_any_distance_is_dropped_acknowledged_again_and_never_nakked(
	void **state)
{
	static const uint32_t behind[] = { 1,	2,    63,   255,  510,	511,
					   512, 513,  514,  767,  1022, 1023,
					   1024, 1025, 1535, 1536, 2047, 2048,
					   2049, 3072 };

	(void)state;
	for (size_t k = 0; k < RL_ARRAY_SIZE(isns); k++) {
		if (!has_isn(isns[k]))
			continue;
		for (size_t i = 0; i < RL_ARRAY_SIZE(behind); i++) {
			struct rl_flit *pkt, *dup, *ack;

			open_with(256, isns[k]);
			fx_advance(&fx, 700);
			pkt = fx_emit(&fx, 1);
			dup = fx_copy(&fx, pkt);
			fx_rx(&fx, 1, pkt);
			fx_take(&fx, 1, false);
			fx_advance(&fx, behind[i] - 1);
			fx_rx(&fx, 1, dup);
			assert_int_equal(fx_take(&fx, 1, false), 0);
			assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 1);
			ack = fx_poll_one(&fx, 1);
			assert_int_equal(fx_ctrl_cmd(ack), RL_CMD_ACK);
			assert_int_equal(fx_ctrl_n(ack), 700 + behind[i] - 1);
			fx_drop(&fx, ack);
			fx_run(&fx, 4);
			assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 0);
			assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_inconsistent),
					 0);
			/* and nothing is upset */
			fx_advance(&fx, 5);
			fx_close(&fx);
		}
	}
}

/* [LINK-C29] */
static void
a_duplicate_1024_late_is_told_from_the_expected_flit_by_its_tag(void **state)
{
	struct rl_flit *pkt, *dup;

	(void)state;
	open_with(256, RL_ISN_WIDE);
	pkt = fx_emit(&fx, 16);
	dup = fx_copy(&fx, pkt);
	fx_rx(&fx, 1, pkt);
	fx_run(&fx, 4);
	fx_take(&fx, 1, false);
	fx_advance(&fx, 1024 - 16);
	/* number by number, all sixteen look like the expected ones */
	fx_rx(&fx, 1, dup);
	assert_int_equal(fx_take(&fx, 1, false), 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_late_alias), 16);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 16);
	fx_advance(&fx, 20);
	fx_close(&fx);
}

static void
a_late_duplicate_that_looks_ahead_is_not_held(void **state)
{
	struct rl_flit *pkt, *dup;

	(void)state;
	open_with(256, RL_ISN_WIDE);
	pkt = fx_emit(&fx, 1);
	dup = fx_copy(&fx, pkt);
	fx_rx(&fx, 1, pkt);
	fx_advance(&fx, 1024 - 100);
	fx_rx(&fx, 1, dup); /* 99 ahead, says its number */
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_late_alias), 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_ahead), 0);
	fx_advance(&fx, 200); /* over the place where it would have been */
	fx_close(&fx);
}

static void
duplicates_of_flits_held_are_dropped(void **state)
{
	struct rl_flit *a, *b, *dup;

	(void)state;
	open_with(64, RL_ISN_WIDE);
	a = fx_emit(&fx, 2);
	b = fx_emit(&fx, 3);
	dup = fx_copy(&fx, b);
	fx_rx(&fx, 1, b);
	fx_rx(&fx, 1, dup);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_ahead), 3);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 3);
	fx_rx(&fx, 1, a);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	fx_close(&fx);
}

static void
every_order_of_four_packets_is_put_right(void **state)
{
	(void)state;
	for (unsigned int perm = 0; perm < 256; perm++) {
		struct rl_flit *pkt[4];
		const unsigned int o[4] = { perm & 3, perm >> 2 & 3,
					    perm >> 4 & 3, perm >> 6 };

		if ((1u << o[0] | 1u << o[1] | 1u << o[2] | 1u << o[3]) != 15)
			continue;
		open_with(64, RL_ISN_XOR10);
		fx_advance(&fx, 1020); /* over the wrap */
		for (unsigned int i = 0; i < 4; i++)
			pkt[i] = fx_emit(&fx, 1 + i % 3);
		for (unsigned int i = 0; i < 4; i++)
			fx_rx(&fx, 1, pkt[o[i]]);
		assert_int_equal(fx_take(&fx, 1, false), 4);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 0);
		fx_close(&fx);
	}
}

static void
a_burst_with_a_gap_in_it_is_judged_as_flit_by_flit(void **state)
{
	struct rl_pktq q;
	struct rl_flit *pkt;

	(void)state;
	open_with(256, RL_ISN_WIDE);
	for (unsigned int i = 0; i < 60; i++)
		assert_int_equal(fx_send(&fx, 0, 1, i & 1, 224), 0);
	q = fx_poll(&fx, 0);
	pkt = rl_pktq_pop(&q);
	fx_rx_all(&fx, 1, &q); /* one burst, all predictions wrong for cos 0 */
	assert_int_equal(fx_take(&fx, 1, false), 30);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_ahead), 29);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_corrupt), 0);
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_take(&fx, 1, false), 30);
	fx_close(&fx);
}

/* More than the codec verifies at once, with packets across the seams. */
static void
a_long_burst_arrives_once_and_whole(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_with(256, RL_ISN_WIDE);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(fx_send(&fx, 0, 1, 0, (1 + i % 3) * 224), 0);
	q = fx_poll(&fx, 0);
	fx_rx_all(&fx, 1, &q);
	assert_int_equal(fx_take(&fx, 1, false), 100);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_ok), 199);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_duplicate), 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_corrupt), 0);
	fx_close(&fx);
}

static void
a_corrected_header_finds_its_flow(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	open_with(256, RL_ISN_WIDE);
	fx_advance(&fx, 77);
	assert_int_equal(fx_send(&fx, 0, 1, 5, 224), 0);
	pkt = fx_poll_one(&fx, 0);
	pkt->wire[6] ^= 0x50; /* says cos 0, of which 77 is expected */
	pkt->wire[7] ^= 0x04; /* and that it is not data */
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_fec_corrected), 1);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx_send(&fx, 0, 1, 5, 224), 0);
	pkt = fx_poll_one(&fx, 0);
	pkt->wire[6] ^= 0x50; /* the flow alone is wrong */
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_fec_corrected), 2);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

static void
corrupt_flits_are_counted_and_never_reach_the_client(void **state)
{
	(void)state;
	open_with(256, RL_ISN_WIDE);
	for (uint32_t salt = 1; salt < 2000; salt += 7) {
		struct rl_flit *pkt = fx_emit(&fx, 1);

		fx_corrupt(pkt, salt);
		fx_rx(&fx, 1, pkt);
		assert_int_equal(fx_take(&fx, 1, false), 0);
		fx_run(&fx, 6); /* asked for, sent again */
		assert_int_equal(fx_take(&fx, 1, false), 1);
	}
	/* a wrong correction may hit the header: then the timer helps */
	assert_true(fx_ctr(&fx, 1, RL_EPC_nak_sent) + 10 >
		    fx_ctr(&fx, 1, RL_EPC_rx_corrupt) +
			    fx_ctr(&fx, 1, RL_EPC_rx_uncorrectable));
	assert_true(fx_ctr(&fx, 1, RL_EPC_rx_corrupt) > 0);
	assert_true(fx_ctr(&fx, 1, RL_EPC_rx_uncorrectable) > 0);
	fx_close(&fx);
}

static void
marked_misrouted_and_malformed_flits_are_counted_by_reason(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	fx_open(&fx, &cfg, 3, 400);
	pkt = fx_emit(&fx, 2);
	pkt->next->mark = RL_MARK_TRANSMIT_ERROR;
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_marked), 1);
	pkt = fx_emit(&fx, 1);
	fx_rx(&fx, 2, pkt);
	assert_int_equal(fx_ctr(&fx, 2, RL_EPC_rx_misrouted), 1);
	/* headers that no endpoint of this fabric writes, with a good CRC */
	static const struct {
		unsigned int off;
		uint8_t val;
	} bad[] = {
		{ 4, 3 },    { 4, 1 },	 { 7, 0xc8 }, { 8, 225 },
		{ 16, 0 },   { 16, 17 }, { 14, 1 },   { 7, 0x80 },
		{ 7, 0x40 },
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++) {
		pkt = fx_emit(&fx, 1);
		pkt->wire[bad[i].off] = bad[i].val;
		fx_encode(&fx, pkt, 3 + (uint32_t)i);
		fx_rx(&fx, 1, pkt);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_malformed), i + 1);
	}
	assert_int_equal(rl_ep_flow_count(fx.ep[2]), 0);
	fx_close(&fx);
}

/* Headers whose fields fit each other, and no packet. */
static void
a_place_beyond_the_packet_and_a_packet_too_long_are_refused(void **state)
{
	struct rl_ep_cfg cfg;
	struct rl_flit *pkt;
	struct rl_txn txn;

	(void)state;
	fx_cfg(&cfg);
	fx_open(&fx, &cfg, 2, 400);
	for (uint16_t beyond = 0; beyond < 3; beyond++) {
		pkt = fx_emit(&fx, 1);
		rl_txn_get(pkt->wire, &txn);
		txn.sop = txn.eop = false;
		txn.len_flits = 4;
		txn.pos = (uint16_t)(4 + beyond);
		rl_txn_put(pkt->wire, &txn);
		fx_encode(&fx, pkt, 0);
		fx_rx(&fx, 1, pkt);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_malformed),
				 2 * beyond + 1);
		pkt = fx_emit(&fx, 1);
		rl_txn_get(pkt->wire, &txn);
		txn.eop = false;
		txn.len_flits = (uint16_t)(cfg.max_packet_flits + 1 + beyond);
		rl_txn_put(pkt->wire, &txn);
		fx_encode(&fx, pkt, 0);
		fx_rx(&fx, 1, pkt);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_malformed),
				 2 * beyond + 2);
	}
	fx_close(&fx);
}

static void
a_number_and_a_header_that_contradict_each_other_are_not_believed(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	open_with(64, RL_ISN_WIDE);
	fx_advance(&fx, 10);
	pkt = fx_emit(&fx, 1);
	fx_encode(&fx, pkt, 11); /* the expected packet, another number */
	fx_rx(&fx, 1, pkt);
	pkt = fx_emit(&fx, 1);
	fx_encode(&fx, pkt, 10); /* a later packet, the expected number */
	fx_rx(&fx, 1, pkt);
	pkt = fx_emit(&fx, 1);
	fx_encode(&fx, pkt, 10 + 64); /* beyond the window */
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_inconsistent), 3);
	assert_int_equal(fx_take(&fx, 1, false), 0);
	fx_run(&fx, 10);
	assert_int_equal(fx_take(&fx, 1, false), 3);
	fx_close(&fx);
}

static void
a_flit_of_one_packet_may_travel_alone(void **state)
{
	struct rl_flit *pkt, *f[10];

	(void)state;
	open_with(64, RL_ISN_WIDE);
	pkt = fx_emit(&fx, 10);
	for (unsigned int i = 0; i < 10; i++) {
		f[i] = pkt;
		pkt = pkt->next;
		rl_packet_start(f[i]);
		f[i]->flags = RL_FF_SOP | RL_FF_EOP;
	}
	for (unsigned int i = 0; i < 10; i++)
		fx_rx(&fx, 1, f[(i * 7 + 3) % 10]);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

static void
a_slow_client_costs_retries_but_no_packet(void **state)
{
	struct rl_ep_cfg cfg;
	unsigned int sent = 0, got = 0;

	(void)state;
	fx_cfg(&cfg);
	cfg.rx_buffer_flits = 16;
	cfg.retry_limit = 0;
	fx_open(&fx, &cfg, 2, 2000);
	for (unsigned int i = 0; i < 300; i++) {
		while (sent < 200 && fx_send(&fx, 0, 1, 0, 500) == 0)
			sent++;
		fx_run(&fx, 1);
		/* what waits, one packet more, what is held, and a part */
		assert_true(rl_ep_flits(fx.ep[1]) <= 16 + 3 + 16 + 3);
		if (i % 5 == 4)
			got += fx_take(&fx, 1, false);
	}
	while (!rl_ep_idle(fx.ep[0])) {
		fx_run(&fx, 1);
		got += fx_take(&fx, 1, false);
	}
	assert_true(fx_ctr(&fx, 1, RL_EPC_rx_overflow) > 0);
	assert_int_equal(got, 200);
	fx_close(&fx);
}

static void
reorder_windows_are_given_back_for_other_flows(void **state)
{
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.max_flows = 64;
	cfg.rx_buffer_flits = 8; /* so there are 8 windows for 48 flows */
	cfg.tx_buffer_flits = 8;
	cfg.max_packet_flits = 8;
	fx_open(&fx, &cfg, 4, 400);
	for (unsigned int src = 1; src < 4; src++)
		for (uint8_t cos = 0; cos < 16; cos++) {
			struct rl_flit *a, *b;

			assert_int_equal(fx_send(&fx, src, 0, cos, 20), 0);
			a = fx_poll_one(&fx, src);
			assert_int_equal(fx_send(&fx, src, 0, cos, 20), 0);
			b = fx_poll_one(&fx, src);
			fx_rx(&fx, 0, b);
			fx_rx(&fx, 0, a);
			assert_int_equal(fx_take(&fx, 0, false), 2);
			fx_run(&fx, 2);
		}
	assert_int_equal(rl_ep_flow_count(fx.ep[0]), 48);
	fx_close(&fx);
}

/* Number and header of what was held are looked at again when its turn comes. */
static void
what_was_held_and_is_not_the_next_after_all_is_dropped(void **state)
{
	struct rl_flit *first, *next, *later, *posing;

	(void)state;
	open_with(64, RL_ISN_XOR10);
	first = fx_emit(&fx, 2); /* numbers 0 and 1 */
	next = fx_emit(&fx, 1);	 /* 2 */
	later = fx_emit(&fx, 1); /* 3 */
	posing = fx_copy(&fx, later);
	fx_encode(&fx, posing, 2); /* the packet after the next in its place */
	fx_rx(&fx, 1, posing);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_ahead), 1);
	fx_rx(&fx, 1, first);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_inconsistent), 1);
	fx_rx(&fx, 1, next);
	fx_rx(&fx, 1, later);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_held_and_is_not_the_next_after_all_is_dropped),
		cmocka_unit_test(a_loss_at_every_edge_of_the_window_and_of_the_wrap_is_filled),
		cmocka_unit_test(a_duplicate_at_any_distance_is_dropped_acknowledged_again_and_never_nakked),
		cmocka_unit_test(a_duplicate_1024_late_is_told_from_the_expected_flit_by_its_tag),
		cmocka_unit_test(a_late_duplicate_that_looks_ahead_is_not_held),
		cmocka_unit_test(duplicates_of_flits_held_are_dropped),
		cmocka_unit_test(every_order_of_four_packets_is_put_right),
		cmocka_unit_test(a_burst_with_a_gap_in_it_is_judged_as_flit_by_flit),
		cmocka_unit_test(a_long_burst_arrives_once_and_whole),
		cmocka_unit_test(a_corrected_header_finds_its_flow),
		cmocka_unit_test(corrupt_flits_are_counted_and_never_reach_the_client),
		cmocka_unit_test(marked_misrouted_and_malformed_flits_are_counted_by_reason),
		cmocka_unit_test(a_place_beyond_the_packet_and_a_packet_too_long_are_refused),
		cmocka_unit_test(a_number_and_a_header_that_contradict_each_other_are_not_believed),
		cmocka_unit_test(a_flit_of_one_packet_may_travel_alone),
		cmocka_unit_test(a_slow_client_costs_retries_but_no_packet),
		cmocka_unit_test(reorder_windows_are_given_back_for_other_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
