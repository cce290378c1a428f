/* SPDX-License-Identifier: BSD-3-Clause */
/* From the client's packets to flits and back [EP-1]. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

static struct fx fx;

static void
a_packet_of_every_length_around_flit_borders_arrives_as_it_was(void **state)
{
	(void)state;
	fx_open_default(&fx, 2);
	for (uint32_t flits = 1; flits <= fx.cfg.max_packet_flits; flits++) {
		const uint32_t border = flits * RL_FLIT_DATA_BYTES;

		for (uint32_t len = border - 1; len <= border + 1; len++) {
			if (len > rl_ep_max_bytes(&fx.cfg))
				continue;
			assert_int_equal(fx_send(&fx, 0, 1, 3, len), 0);
			fx_settle(&fx);
			assert_int_equal(fx_take(&fx, 1, false), 1);
		}
	}
	fx_close(&fx);
}

/* Data without room are left out, and nothing beyond the room is written. */
static void
a_packet_is_copied_as_far_as_the_buffer_goes(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 223, 224, 225, 447, 448, 449,
					  599, 600, 601, 700 };
	uint8_t buf[701], whole[600];
	struct rl_flit *pkt;

	(void)state;
	fx_open_default(&fx, 2);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 600), 0);
	fx_settle(&fx);
	pkt = rl_ep_recv(fx.ep[1]);
	assert_non_null(pkt);
	assert_int_equal(rl_ep_copy_out(pkt, whole, 600), 600);
	for (size_t i = 0; i < RL_ARRAY_SIZE(sizes); i++) {
		const uint32_t n = rl_min_u32(sizes[i], 600);

		memset(buf, 0x5a, sizeof(buf));
		assert_int_equal(rl_ep_copy_out(pkt, buf, sizes[i]), n);
		assert_memory_equal(buf, whole, n);
		for (uint32_t k = n; k < sizeof(buf); k++)
			assert_int_equal(buf[k], 0x5a);
	}
	rl_packet_put(&fx.cache, pkt);
	fx.got[0][1][0]++;
	fx_close(&fx);
}

static void
what_waits_to_be_acknowledged_has_flits_of_its_own(void **state)
{
	struct rl_ep_cfg cfg;
	struct rl_pktq q;
	uint32_t n, bytes;

	(void)state;
	fx_cfg(&cfg);
	n = cfg.max_packet_flits;
	bytes = n * RL_FLIT_DATA_BYTES;
	fx_open_kept(&fx, &cfg, 2, 4000, 2 * n - 1);
	assert_int_equal(fx_send(&fx, 0, 1, 0, bytes), 0);
	assert_int_equal(fx.keep.count, n - 1);
	assert_int_equal(fx.cache.count, 4000);
	assert_int_equal(fx_send_raw(&fx, 1, 0, RL_CLASS_RSP, bytes), -EAGAIN);
	q = fx_poll(&fx, 0); /* copies */
	assert_int_equal(fx.keep.count, n - 1);
	assert_int_equal(fx.cache.count, 4000 - n);
	fx_rx_all(&fx, 1, &q);
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx.keep.count, 2 * n - 1);
	assert_int_equal(fx.cache.count, 4000);
	fx_close(&fx);
	/* without retry nothing waits: the flits themselves leave */
	cfg.retry = false;
	fx_open_kept(&fx, &cfg, 2, 4000, 2 * n - 1);
	assert_int_equal(fx_send(&fx, 0, 1, 0, bytes), 0);
	assert_int_equal(fx.keep.count, 2 * n - 1);
	assert_int_equal(fx.cache.count, 4000 - n);
	fx_close(&fx);
}

static void
an_empty_packet_is_one_flit_without_data(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	fx_open_default(&fx, 2);
	assert_int_equal(fx_send_raw(&fx, 1, 0, RL_CLASS_RSP, 0), 0);
	fx_settle(&fx);
	pkt = rl_ep_recv(fx.ep[1]);
	assert_non_null(pkt);
	assert_int_equal(pkt->pkt_flits, 1);
	assert_int_equal(rl_ep_len_bytes(pkt), 0);
	assert_int_equal(pkt->class, RL_CLASS_RSP);
	fx_drop(&fx, pkt);
	fx_close(&fx);
}

static void
the_header_says_what_switches_and_the_receiver_need(void **state)
{
	static const uint8_t sl[2] = { 0, 5 };
	struct rl_flit *pkt, *f;
	struct rl_txn t;

	(void)state;
	fx_open_default(&fx, 2);
	rl_ep_set_path_sl(fx.ep[0], sl);
	assert_int_equal(fx_send_raw(&fx, 1, 9, RL_CLASS_REQ_NONPOSTED, 500), 0);
	assert_int_equal(fx_send_raw(&fx, 1, 9, RL_CLASS_REQ_NONPOSTED, 10), 0);
	struct rl_pktq q = fx_poll(&fx, 0);

	assert_int_equal(q.packets, 2);
	f = pkt = rl_pktq_pop(&q);
	assert_int_equal(pkt->pkt_flits, 3);
	for (unsigned int i = 0; i < 3; i++, f = f->next) {
		rl_txn_get(f->wire, &t);
		assert_int_equal(t.dst, 1);
		assert_int_equal(t.src, 0);
		assert_int_equal(t.sl, 5);
		assert_int_equal(t.cos, 9);
		assert_int_equal(t.class, RL_CLASS_REQ_NONPOSTED);
		assert_int_equal(t.type, RL_FLIT_DATA);
		assert_int_equal(t.sop, i == 0);
		assert_int_equal(t.eop, i == 2);
		assert_int_equal(t.valid_bytes, i == 2 ? 52 : 224);
		assert_int_equal(t.tag, 0);
		assert_int_equal(t.pos, i);
		assert_int_equal(t.len_flits, 3);
		/* and the copies beside it */
		assert_int_equal(f->sl, 5);
		assert_int_equal(f->class, RL_CLASS_REQ_NONPOSTED);
		assert_int_equal(f->hops, 0);
		assert_int_equal(f->mark, RL_MARK_OK);
		assert_int_equal(f->flags, (i == 0 ? RL_FF_SOP : 0) |
						   (i == 2 ? RL_FF_EOP : 0));
	}
	assert_int_equal(pkt->dst, 1);
	assert_int_equal(pkt->src, 0);
	assert_int_equal(pkt->in_port, RL_PORT_NONE);
	fx_drop(&fx, pkt);
	pkt = rl_pktq_pop(&q);
	assert_int_equal(rl_flit_tag(pkt->wire), 1);
	assert_int_equal(pkt->flags, RL_FF_SOP | RL_FF_EOP);
	fx_drop(&fx, pkt);
	fx_close(&fx);
}

static void
every_documented_refusal_is_given_and_counted(void **state)
{
	uint32_t max;

	(void)state;
	fx_open_default(&fx, 2);
	max = rl_ep_max_bytes(&fx.cfg);
	assert_int_equal(fx_send_raw(&fx, 2, 0, 0, 8), -EINVAL);
	assert_int_equal(fx_send_raw(&fx, 0, 0, 0, 8), -EINVAL);
	assert_int_equal(fx_send_raw(&fx, 1, 16, 0, 8), -EINVAL);
	assert_int_equal(fx_send_raw(&fx, 1, 0, RL_CLASS_CTRL, 8), -EINVAL);
	assert_int_equal(fx_send_raw(&fx, 1, 0, 0, max + 1), -EMSGSIZE);
	assert_int_equal(rl_ep_flits(fx.ep[0]), 0);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_send_raw(&fx, 1, 0, 0, max), 0);
	assert_false(rl_ep_idle(fx.ep[0]));
	fx_close(&fx);
}

static void
a_full_window_is_backpressure_and_opens_with_the_ack(void **state)
{
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.window_flits = 4;
	cfg.max_packet_flits = 4;
	fx_open(&fx, &cfg, 2, 100);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 3 * 224), 0);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 2 * 224), -EBUSY);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 1 * 224), 0);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 1 * 224), -EBUSY);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_refused_window), 2);
	/* another flow has a window of its own */
	assert_int_equal(fx_send(&fx, 0, 1, 1, 4 * 224), 0);
	fx_run(&fx, 4);
	assert_int_equal(fx_take(&fx, 1, false), 3);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 4 * 224), 0);
	fx_close(&fx);
}

static void
buffers_flows_and_the_cache_are_bounds_too(void **state)
{
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.max_flows = 2;
	cfg.tx_buffer_flits = 20;
	fx_open(&fx, &cfg, 2, 40);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 16 * 224), 0);
	assert_int_equal(fx_send(&fx, 0, 1, 1, 5 * 224), -EAGAIN);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_refused_buffer), 1);
	assert_int_equal(fx_send(&fx, 0, 1, 1, 1 * 224), 0);
	assert_int_equal(fx_send(&fx, 0, 1, 2, 1 * 224), -EAGAIN);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_refused_flows), 1);
	/* 23 flits are free: 12 with their copies would be 24 */
	assert_int_equal(fx_send(&fx, 1, 0, 0, 12 * 224), -EAGAIN);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_tx_refused_cache), 1);
	assert_int_equal(fx_send(&fx, 1, 0, 0, 11 * 224), 0);
	fx_close(&fx);
}

/* [LINK-C26] Class 0 is blocked: nothing of it is ever acknowledged. */
static void
a_blocked_level_leaves_each_other_its_part_of_the_retry_buffer(void **state)
{
	uint32_t taken[4] = { 0 };
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.max_flows = 16;
	cfg.window_flits = 64;
	cfg.tx_buffer_flits = 4 * 64 + 30;
	fx_open_levels(&fx, &cfg, 4, 4096, 4);
	for (unsigned int dst = 1; dst < 4; dst++)
		for (unsigned int k = 0; k < 2; k++)
			while (fx_send(&fx, 0, dst, (uint8_t)(4 * k), 224) == 0)
				taken[0]++;
	assert_int_equal(taken[0], 64 + 30); /* of 6 x 64 that it wanted */
	for (uint8_t cos = 1; cos < 4; cos++) {
		while (fx_send(&fx, 0, 1, cos, 224) == 0)
			taken[cos]++;
		while (fx_send(&fx, 0, 2, cos, 224) == 0)
			taken[cos]++;
		/* three quarters, and half of the rest: the other half is kept
		   for a flow that has nothing yet */
		assert_int_equal(taken[cos], 48 + 8);
	}
	/* and all of it is given back */
	for (unsigned int i = 0; i < 40 && !rl_ep_idle(fx.ep[0]); i++)
		fx_run(&fx, 10);
	assert_true(rl_ep_idle(fx.ep[0]));
	taken[0] = 0;
	while (fx_send(&fx, 0, 1, 0, 224) == 0)
		taken[0]++;
	while (fx_send(&fx, 0, 2, 0, 224) == 0)
		taken[0]++;
	assert_int_equal(taken[0], 64 + 11);
	fx_close(&fx);
}

static void
quiesce_refuses_requests_and_lets_responses_and_what_is_accepted_go(void **state)
{
	(void)state;
	fx_open_default(&fx, 2);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 300), 0);
	rl_ep_quiesce(fx.ep[0], fx.now, true);
	assert_int_equal(fx_send_raw(&fx, 1, 1, RL_CLASS_REQ_POSTED, 8), -EBUSY);
	assert_int_equal(fx_send_raw(&fx, 1, 1, RL_CLASS_REQ_NONPOSTED, 8), -EBUSY);
	assert_int_equal(fx_send_raw(&fx, 1, 1, RL_CLASS_RSP, 8), 0);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_refused_quiesce), 2);
	fx_run(&fx, 4);
	assert_true(rl_ep_idle(fx.ep[0]));
	rl_ep_quiesce(fx.ep[0], fx.now, false);
	assert_int_equal(fx_send_raw(&fx, 1, 1, RL_CLASS_REQ_POSTED, 8), 0);
	fx_close(&fx);
}

static void
a_poll_keeps_within_its_budget_and_never_splits_a_new_packet(void **state)
{
	struct rl_pktq q = { 0 };

	(void)state;
	fx_open_default(&fx, 2);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 6 * 224), 0);
	assert_int_equal(fx_send(&fx, 0, 1, 1, 6 * 224), 0);
	assert_int_equal(rl_ep_poll(fx.ep[0], fx.now, &q, 5), 0);
	assert_int_equal(rl_ep_poll(fx.ep[0], fx.now, &q, 11), 6);
	assert_int_equal(rl_ep_deadline(fx.ep[0]), 0);
	assert_int_equal(rl_ep_poll(fx.ep[0], fx.now, &q, 6), 6);
	assert_int_equal(q.packets, 2);
	assert_int_equal(q.flits, 12);
	assert_true(rl_ep_deadline(fx.ep[0]) > 0);
	fx_drop_all(&fx, &q);
	fx_close(&fx);
}

/* [LINK-C26] Data and what stands alone, both. */
static void
a_service_level_without_room_does_not_stop_the_others(void **state)
{
	static const uint8_t path_sl[FX_EPS] = { 0, 1, 2, 0 };
	uint32_t room[RL_SLS] = { 0 };
	struct rl_pktq q = { 0 };
	struct rl_flit *pkt;

	(void)state;
	fx_open_default(&fx, 3);
	rl_ep_set_path_sl(fx.ep[0], path_sl);
	/* endpoint 1, by level 1, is owed an ACK, and first in every line */
	for (unsigned int i = 0; i < 8; i++)
		fx_send(&fx, 1, 0, 3, 10);
	q = fx_poll(&fx, 1);
	fx_rx_all(&fx, 0, &q);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(fx_send(&fx, 0, 1, 0, 6 * 224), 0);
		assert_int_equal(fx_send(&fx, 0, 2, 0, 6 * 224), 0);
	}
	room[1] = 5; /* too little for a packet */
	room[2] = 20;
	assert_int_equal(rl_ep_poll_levels(fx.ep[0], fx.now, &q, 100, room),
			 18 + 1);
	assert_int_equal(room[1], 4); /* the ACK of endpoint 1 */
	assert_int_equal(room[2], 2);
	while ((pkt = rl_pktq_pop(&q)) != NULL) {
		assert_true(pkt->dst == 2 || pkt->class == RL_CLASS_CTRL);
		fx_drop(&fx, pkt);
	}
	room[1] = 0; /* not even room for an ACK, but for that of another */
	for (unsigned int src = 1; src <= 2; src++) {
		for (unsigned int i = 0; i < 8; i++)
			fx_send(&fx, src, 0, 3, 10);
		q = fx_poll(&fx, src);
		fx_rx_all(&fx, 0, &q);
	}
	room[2] = 20;
	assert_int_equal(rl_ep_poll_levels(fx.ep[0], fx.now, &q, 100, room),
			 6 + 1);
	assert_int_equal(room[2], 13);
	fx_drop_all(&fx, &q);
	/* and what was passed over has lost nothing but time */
	room[1] = 100;
	assert_int_equal(rl_ep_poll_levels(fx.ep[0], fx.now, &q, 100, room),
			 24 + 1);
	fx_drop_all(&fx, &q);
	fx_close(&fx);
}

static void
flows_take_turns(void **state)
{
	struct rl_pktq q;

	(void)state;
	fx_open_default(&fx, 2);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(fx_send(&fx, 0, 1, 1, 224), 0);
	q = fx_poll(&fx, 0);
	for (const char *p = "010100"; *p != 0; p++) {
		struct rl_flit *pkt = rl_pktq_pop(&q);

		assert_int_equal(pkt->wire[6] >> 4, *p - '0');
		fx_drop(&fx, pkt);
	}
	fx_close(&fx);
}

static void
stand_alone_flits_do_not_starve_data_nor_data_them(void **state)
{
	unsigned int data = 0, ctrl = 0;

	(void)state;
	fx_open_default(&fx, 2);
	/* both directions full of packets of the longest kind, budget tight */
	for (unsigned int i = 0; i < 200; i++) {
		while (fx_send(&fx, 0, 1, 0, 16 * 224) == 0)
			;
		while (fx_send(&fx, 1, 0, 2, 16 * 224) == 0)
			;
		for (unsigned int e = 0; e < 2; e++) {
			struct rl_pktq q = { 0 };

			rl_ep_poll(fx.ep[e], fx.now, &q, 19);
			for (struct rl_flit *p = q.head; p; p = p->next_pkt)
				if (e == 0)
					*(p->class == RL_CLASS_CTRL ? &ctrl
								    : &data) +=
						1;
			fx_rx_all(&fx, 1 - e, &q);
			fx_take(&fx, 1 - e, false);
		}
		fx.now += 50;
	}
	assert_true(data > 90);
	assert_true(ctrl > 90);
	fx_close(&fx);
}

static void
what_is_not_data_is_zero_on_the_wire(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	fx_open_default(&fx, 2); /* all buffers begin with 0xa5 */
	assert_int_equal(fx_send_raw(&fx, 1, 0, RL_CLASS_RSP, 100), 0);
	pkt = fx_poll_one(&fx, 0);
	for (unsigned int i = RL_FLIT_DATA_OFF + 100; i < RL_FLIT_CRC_OFF; i++)
		assert_int_equal(pkt->wire[i], 0);
	assert_int_equal(pkt->wire[9], 0);
	fx_drop(&fx, pkt);
	fx_close(&fx);
}

static void
acks_due_to_many_flows_do_not_take_the_room_of_a_long_packet(void **state)
{
	unsigned int data = 0;

	(void)state;
	fx_open_default(&fx, 2);
	for (unsigned int i = 0; i < 50; i++) {
		struct rl_pktq q;

		/* six flows of endpoint 1 are owed an ACK before each poll */
		for (uint8_t cos = 1; cos < 7; cos++)
			for (unsigned int k = 0; k < 4; k++)
				fx_send(&fx, 1, 0, cos, 10);
		q = fx_poll(&fx, 1);
		fx_rx_all(&fx, 0, &q);
		fx_take(&fx, 0, false);
		fx_send(&fx, 0, 1, 0, 16 * 224);
		rl_ep_poll(fx.ep[0], fx.now, &q, 19);
		for (struct rl_flit *p = q.head; p != NULL; p = p->next_pkt)
			data += p->class != RL_CLASS_CTRL;
		fx_rx_all(&fx, 1, &q);
		fx_take(&fx, 1, false);
	}
	assert_true(data >= 24);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_of_every_length_around_flit_borders_arrives_as_it_was),
		cmocka_unit_test(a_packet_is_copied_as_far_as_the_buffer_goes),
		cmocka_unit_test(what_waits_to_be_acknowledged_has_flits_of_its_own),
		cmocka_unit_test(an_empty_packet_is_one_flit_without_data),
		cmocka_unit_test(the_header_says_what_switches_and_the_receiver_need),
		cmocka_unit_test(every_documented_refusal_is_given_and_counted),
		cmocka_unit_test(a_full_window_is_backpressure_and_opens_with_the_ack),
		cmocka_unit_test(buffers_flows_and_the_cache_are_bounds_too),
		cmocka_unit_test(a_blocked_level_leaves_each_other_its_part_of_the_retry_buffer),
		cmocka_unit_test(quiesce_refuses_requests_and_lets_responses_and_what_is_accepted_go),
		cmocka_unit_test(a_poll_keeps_within_its_budget_and_never_splits_a_new_packet),
		cmocka_unit_test(a_service_level_without_room_does_not_stop_the_others),
		cmocka_unit_test(flows_take_turns),
		cmocka_unit_test(stand_alone_flits_do_not_starve_data_nor_data_them),
		cmocka_unit_test(what_is_not_data_is_zero_on_the_wire),
		cmocka_unit_test(acks_due_to_many_flows_do_not_take_the_room_of_a_long_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
