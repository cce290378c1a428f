/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four profiles on the wire [EP-3], and the hole: a flit is lost, and the
 * next one carries an ACK where its number should be [LINK-C32].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

static struct fx fx;

static void
open_profile(enum rl_profile p, enum rl_e2e_retry mode)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.profile = p;
	cfg.retry_mode = mode;
	fx_open(&fx, &cfg, 2, 4000);
}

static const enum rl_profile profiles[] = {
	RL_PROFILE_RXL, RL_PROFILE_RXL_COMPACT, RL_PROFILE_CXL,
	RL_PROFILE_CXL_SEP_ACK,
};

static void
each_profile_delivers_both_ways_over_the_wrap(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		unsigned int got[2] = { 0, 0 };

		open_profile(profiles[i], RL_RETRY_SELECTIVE);
		for (unsigned int n = 0; n < 1500; n++) {
			assert_int_equal(fx_send(&fx, 0, 1, 2, 300), 0);
			assert_int_equal(fx_send(&fx, 1, 0, 2, 100), 0);
			fx_run(&fx, 1);
			got[0] += fx_take(&fx, 0, false);
			got[1] += fx_take(&fx, 1, false);
		}
		fx_run(&fx, 10);
		assert_true(rl_ep_idle(fx.ep[0]) && rl_ep_idle(fx.ep[1]));
		assert_int_equal(got[0], 1500);
		assert_int_equal(got[1], 1500);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
		fx_close(&fx);
	}
}

static void
rxl_sends_zeros_until_it_has_something_to_acknowledge(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	open_profile(RL_PROFILE_RXL, RL_RETRY_GBN);
	pkt = fx_emit(&fx, 1);
	assert_int_equal(rl_get16(pkt->wire), 0);
	fx_rx(&fx, 1, pkt);
	assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
	pkt = fx_poll_one(&fx, 1);
	assert_int_equal(rl_flit_cmd(pkt->wire), RL_CMD_ACK);
	assert_int_equal(rl_flit_fsn(pkt->wire), 0);
	fx_drop(&fx, pkt);
	fx_close(&fx);
}

static void
rxl_compact_has_no_header_and_acknowledges_alone(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_profile(RL_PROFILE_RXL_COMPACT, RL_RETRY_GBN);
	for (unsigned int i = 0; i < 4; i++)
		fx_rx(&fx, 1, fx_emit(&fx, 1));
	assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 2);
	for (struct rl_flit *p = q.head; p != NULL; p = p->next_pkt)
		assert_int_equal(rl_get16(p->wire), 0);
	assert_int_equal(fx_ctrl_cmd(q.tail), RL_CMD_ACK);
	assert_int_equal(fx_ctrl_n(q.tail), 3);
	fx_rx_all(&fx, 0, &q);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_header_bits), 0);
	fx_close(&fx);
}

static void
cxl_shows_its_number_unless_an_ack_is_due(void **state)
{
	struct rl_flit *pkt;
	struct rl_pktq q;

	(void)state;
	open_profile(RL_PROFILE_CXL, RL_RETRY_GBN);
	for (unsigned int i = 0; i < 3; i++) {
		pkt = fx_emit(&fx, 1);
		assert_int_equal(rl_flit_cmd(pkt->wire), RL_CMD_SEQ);
		assert_int_equal(rl_flit_fsn(pkt->wire), i);
		fx_rx(&fx, 1, pkt);
	}
	assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
	pkt = fx_poll_one(&fx, 1);
	assert_int_equal(rl_get16(pkt->wire), 0); /* three of four: number 0 */
	fx_rx(&fx, 0, pkt);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 1);
	assert_int_equal(rl_flit_cmd(q.head->wire), RL_CMD_ACK);
	assert_int_equal(rl_flit_fsn(q.head->wire), 3);
	fx_rx_all(&fx, 0, &q);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_take(&fx, 0, false), 2);
	fx_close(&fx);
}

static void
cxl_sep_ack_always_shows_its_number(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_profile(RL_PROFILE_CXL_SEP_ACK, RL_RETRY_GBN);
	for (unsigned int i = 0; i < 4; i++)
		fx_rx(&fx, 1, fx_emit(&fx, 1));
	assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 2);
	assert_int_equal(rl_flit_cmd(q.head->wire), RL_CMD_SEQ);
	assert_int_equal(rl_flit_cmd(q.tail->wire), RL_CMD_ACK);
	assert_int_equal(rl_flit_fsn(q.tail->wire), 3);
	fx_rx_all(&fx, 0, &q);
	assert_true(rl_ep_idle(fx.ep[0]));
	fx_close(&fx);
}

/**
 * Endpoint 1 owes an ACK; its packet 0 is lost, packet 1 could carry the ACK.
 * @return how many packets endpoint 0 takes at once
 */
static unsigned int
hole(enum rl_profile p)
{
	struct rl_pktq q;
	struct rl_flit *pkt;
	unsigned int n = 0;

	open_profile(p, RL_RETRY_GBN);
	assert_int_equal(fx_send(&fx, 1, 0, 0, 50), 0);
	fx_drop(&fx, fx_poll_one(&fx, 1)); /* number 0 */
	for (unsigned int i = 0; i < 4; i++)
		fx_rx(&fx, 1, fx_emit(&fx, 1));
	assert_int_equal(fx_send(&fx, 1, 0, 0, 60), 0);
	q = fx_poll(&fx, 1); /* number 1, with the ACK where possible */
	fx_rx_all(&fx, 0, &q);
	while ((pkt = rl_ep_recv(fx.ep[0])) != NULL) {
		n++;
		assert_int_equal(rl_flit_tag(pkt->wire), 1);
		fx_drop(&fx, pkt);
	}
	return n;
}

static void
C32_a_loss_before_a_piggybacked_ack_is_seen_with_isn(void **state)
{
	static const enum rl_profile seen[] = { RL_PROFILE_RXL,
						RL_PROFILE_RXL_COMPACT,
						RL_PROFILE_CXL_SEP_ACK };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(hole(seen[i]), 0);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_ahead), 1);
		/* and repaired */
		fx_run(&fx, 10);
		assert_int_equal(fx_take(&fx, 0, false), 2);
		assert_true(rl_ep_idle(fx.ep[1]));
		fx_close(&fx);
	}
}

static void
C32_the_same_loss_is_not_seen_in_cxl_and_data_come_out_of_order(void **state)
{
	struct rl_flit *pkt;
	unsigned int order[8], n = 0;

	(void)state;
	/* packet 1 is taken for packet 0 */
	assert_int_equal(hole(RL_PROFILE_CXL), 1);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_ahead), 0);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_ok), 1);
	/*
	 * The next flit shows its number, 2, where 1 is expected. All after
	 * the last number seen is asked for: packet 0 comes late, and packet 1
	 * once more (RXL paper, Figure 5a).
	 */
	assert_int_equal(fx_send(&fx, 1, 0, 0, 70), 0);
	fx_run(&fx, 20);
	while ((pkt = rl_ep_recv(fx.ep[0])) != NULL) {
		order[n++] = rl_flit_tag(pkt->wire);
		fx_drop(&fx, pkt);
	}
	assert_int_equal(n, 3);
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 2);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_rolled_back), 1);
	assert_true(rl_ep_idle(fx.ep[1]));
	fx_close(&fx);
}

/** One packet from 1 to 0 that carries an ACK in place of its number. */
static struct rl_flit *
hidden(void)
{
	struct rl_flit *f;

	for (unsigned int i = 0; i < 4; i++)
		fx_rx(&fx, 1, fx_emit(&fx, 1));
	assert_int_equal(fx_send(&fx, 1, 0, 0, 50), 0);
	f = fx_poll_one(&fx, 1);
	assert_int_equal(rl_flit_cmd(f->wire), RL_CMD_ACK);
	return f;
}

static struct rl_flit *
numbered(void)
{
	struct rl_flit *f;

	assert_int_equal(fx_send(&fx, 1, 0, 0, 50), 0);
	f = fx_poll_one(&fx, 1);
	assert_int_equal(rl_flit_cmd(f->wire), RL_CMD_SEQ);
	return f;
}

/* A direct link has no hole: the missing flit arrived, but corrupt. */
static void
cxl_takes_no_hidden_number_after_a_corrupt_flit(void **state)
{
	struct rl_flit *f;

	(void)state;
	open_profile(RL_PROFILE_CXL, RL_RETRY_GBN);
	rl_ep_probe_again(fx.ep[0], fx.now); /* a NAK waits a little */
	fx_rx(&fx, 0, numbered());
	f = numbered();
	fx_corrupt(f, 1);
	fx_rx(&fx, 0, f);
	fx_rx(&fx, 0, hidden());
	assert_int_equal(fx_take(&fx, 0, false), 1);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_unsure), 1);
	fx_run(&fx, 20);
	assert_int_equal(fx_take(&fx, 0, false), 2);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_rolled_back), 0);
	assert_true(rl_ep_idle(fx.ep[1]));
	fx_close(&fx);
}

/*
 * The requested flit comes again, and late: behind it a flit that hid its
 * number was turned away, and another arrived corrupt.
 */
static void
cxl_takes_no_hidden_number_after_what_was_asked_for_came_again(void **state)
{
	struct rl_pktq q;
	struct rl_flit *f;

	(void)state;
	open_profile(RL_PROFILE_CXL, RL_RETRY_SELECTIVE);
	rl_ep_probe_again(fx.ep[0], fx.now); /* a NAK waits a little */
	fx_rx(&fx, 0, numbered());
	f = numbered();
	fx_corrupt(f, 1);
	fx_rx(&fx, 0, f);
	fx_rx(&fx, 0, hidden());
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_unsure), 1);
	f = numbered();
	fx_corrupt(f, 1);
	fx_rx(&fx, 0, f);
	fx.now += 100;
	q = fx_poll(&fx, 0);
	fx_rx_all(&fx, 1, &q);
	q = fx_poll(&fx, 1);
	fx_rx_all(&fx, 0, &q);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_retransmitted_flits), 1);
	fx_rx(&fx, 0, hidden());
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_unsure), 2);
	assert_int_equal(fx_take(&fx, 0, false), 2);
	fx_run(&fx, 30);
	assert_int_equal(fx_take(&fx, 0, false), 3);
	assert_true(rl_ep_idle(fx.ep[1]));
	fx_close(&fx);
}

/*
 * A flit that hid its number is acknowledged only when a later one shows its
 * own.
 */
static void
cxl_acknowledges_only_numbers_that_it_has_seen(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_profile(RL_PROFILE_CXL, RL_RETRY_GBN);
	for (unsigned int i = 0; i < 3; i++)
		fx_rx(&fx, 0, numbered());
	fx_rx(&fx, 0, hidden());
	fx_drop(&fx, fx_emit(&fx, 1)); /* carries 0's ACK; not wanted here */
	q = fx_poll(&fx, 0);
	fx_drop_all(&fx, &q);
	fx.now += 100;
	fx_rx(&fx, 0, numbered());
	fx.now += 100;
	q = fx_poll(&fx, 0);
	assert_int_equal(fx_ctrl_n(q.head), 4);
	fx_drop_all(&fx, &q);
	fx_run(&fx, 20);
	assert_int_equal(fx_take(&fx, 0, false), 5);
	fx_close(&fx);
}

/* With an ACK due at every flit, every other one still shows its number. */
static void
cxl_never_hides_two_numbers_in_a_row(void **state)
{
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.profile = RL_PROFILE_CXL;
	cfg.retry_mode = RL_RETRY_GBN;
	cfg.ack_coalesce_flits = 1;
	fx_open(&fx, &cfg, 2, 4000);
	for (unsigned int i = 0; i < 20; i++) {
		struct rl_pktq q;

		assert_int_equal(fx_send(&fx, 0, 1, 0, 9), 0);
		q = fx_poll(&fx, 0);
		fx_rx_all(&fx, 1, &q);
		assert_int_equal(fx_send(&fx, 1, 0, 0, 9), 0);
		q = fx_poll(&fx, 1);
		assert_int_equal(fx_ctrl_cmd(q.head), -1);
		assert_int_equal(rl_flit_cmd(q.head->wire),
				 i % 2 == 0 ? RL_CMD_ACK : RL_CMD_SEQ);
		/* the other ACK goes alone */
		assert_int_equal(q.packets, 1 + i % 2);
		fx_rx_all(&fx, 0, &q);
	}
	fx_run(&fx, 20);
	assert_int_equal(fx_take(&fx, 0, false), 20);
	assert_int_equal(fx_take(&fx, 1, false), 20);
	fx_close(&fx);
}

static void
each_profile_recovers_from_losses_that_it_sees(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (int mode = 0; mode < 2; mode++) {
			open_profile(profiles[i], (enum rl_e2e_retry)mode);
			for (unsigned int k = 0; k < 1200; k++) {
				struct rl_flit *pkt = fx_emit(&fx, 1);

				/* one way only: no ACK takes a number's place */
				if (k % 7 == 3 || k % 31 < 2)
					fx_drop(&fx, pkt);
				else
					fx_rx(&fx, 1, pkt);
				if (k % 100 == 99) {
					fx_run(&fx, 20);
					fx_take(&fx, 1, false);
				}
			}
			fx_run(&fx, 20);
			assert_int_equal(fx.got[0][1][0], 1200);
			assert_true(rl_ep_idle(fx.ep[0]));
			fx_close(&fx);
		}
}

static void
without_isn_selective_retry_can_name_one_flit_only(void **state)
{
	struct rl_flit *nak;

	(void)state;
	open_profile(RL_PROFILE_CXL, RL_RETRY_SELECTIVE);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx_drop(&fx, fx_emit(&fx, 1));
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += 50;
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(nak), RL_CMD_NAK_ONE);
	assert_int_equal(fx_ctrl_n(nak), 0);
	assert_int_equal(rl_flit_cmd(nak->wire), RL_CMD_NAK_ONE);
	assert_int_equal(nak->wire[19], 0); /* no bitmap */
	fx_drop(&fx, nak);
	fx_drop(&fx, fx_emit(&fx, 1));
	fx_drop(&fx, fx_emit(&fx, 1));
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now += 50;
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(nak), RL_CMD_NAK_GBN);
	assert_int_equal(fx_ctrl_n(nak), 0);
	fx_drop(&fx, nak);
	fx_run(&fx, 30);
	assert_int_equal(fx_take(&fx, 1, false), 6);
	fx_close(&fx);
}

static void
a_cxl_replay_shows_its_numbers_even_if_an_ack_is_due(void **state)
{
	struct rl_flit *pkt;
	struct rl_pktq q;

	(void)state;
	open_profile(RL_PROFILE_CXL, RL_RETRY_GBN);
	fx_drop(&fx, fx_emit(&fx, 1));
	fx.now = 10000;
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
		pkt = fx_poll_one(&fx, 1);
		fx_rx(&fx, 0, pkt);
	}
	q = fx_poll(&fx, 0);
	assert_int_equal(q.packets, 2);
	assert_int_equal(rl_flit_cmd(q.head->wire), RL_CMD_SEQ);
	assert_int_equal(fx_ctrl_cmd(q.tail), RL_CMD_ACK);
	fx_drop_all(&fx, &q);
	fx_close(&fx);
}

static void
a_nak_of_one_flit_acknowledges_nothing_so_the_ack_goes_too(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_profile(RL_PROFILE_CXL_SEP_ACK, RL_RETRY_SELECTIVE);
	for (unsigned int i = 0; i < 4; i++)
		fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx_drop(&fx, fx_emit(&fx, 1));
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.now = 50;
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 2);
	assert_int_equal(fx_ctrl_cmd(q.head), RL_CMD_NAK_ONE);
	assert_int_equal(fx_ctrl_cmd(q.tail), RL_CMD_ACK);
	fx_rx(&fx, 0, rl_pktq_pop(&q));
	assert_int_equal(rl_ep_flits(fx.ep[0]), 6);
	fx_rx_all(&fx, 0, &q);
	assert_int_equal(rl_ep_flits(fx.ep[0]), 2);
	fx_close(&fx);
}

/* Without ISN the header says what belongs together: it has to end somewhere. */
static void
a_packet_without_an_end_takes_no_more_room_than_the_longest(void **state)
{
	const uint32_t most = 16;
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.profile = RL_PROFILE_CXL;
	cfg.retry_mode = RL_RETRY_GBN;
	cfg.max_packet_flits = most;
	fx_open(&fx, &cfg, 2, 4000);
	for (uint32_t i = 0; i < 40; i++) {
		struct rl_flit *f = fx_emit(&fx, 1);
		struct rl_txn t;

		rl_txn_get(f->wire, &t);
		t.sop = i == 0;
		t.eop = false;
		t.pos = i != 0;
		t.len_flits = (uint16_t)most;
		rl_txn_put(f->wire, &t);
		fx_encode(&fx, f, 0);
		fx_rx(&fx, 1, f);
		assert_true(rl_ep_flits(fx.ep[1]) <= most);
	}
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_malformed), 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_orphan_flits), 40 - most);
	assert_int_equal(fx_take(&fx, 1, false), 0);
	fx_close(&fx);
}

/* Without ISN a packet may lose its end unseen: the next one is another. */
static void
a_packet_that_begins_in_the_half_of_another_is_delivered_alone(void **state)
{
	struct rl_ep_cfg cfg;
	struct rl_flit *f;
	struct rl_txn t;

	(void)state;
	fx_cfg(&cfg);
	cfg.profile = RL_PROFILE_CXL;
	cfg.retry_mode = RL_RETRY_GBN;
	fx_open(&fx, &cfg, 2, 4000);
	f = fx_emit(&fx, 1);
	rl_txn_get(f->wire, &t);
	t.eop = false;
	t.len_flits = 2;
	rl_txn_put(f->wire, &t);
	fx_encode(&fx, f, 0);
	fx_rx(&fx, 1, f);
	fx_rx(&fx, 1, fx_emit(&fx, 1));
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_partial_dropped), 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_packets), 1);
	f = rl_ep_recv(fx.ep[1]);
	assert_non_null(f);
	assert_int_equal(f->pkt_flits, 1);
	fx_drop(&fx, f);
	assert_null(rl_ep_recv(fx.ep[1]));
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_profile_delivers_both_ways_over_the_wrap),
		cmocka_unit_test(rxl_sends_zeros_until_it_has_something_to_acknowledge),
		cmocka_unit_test(rxl_compact_has_no_header_and_acknowledges_alone),
		cmocka_unit_test(cxl_shows_its_number_unless_an_ack_is_due),
		cmocka_unit_test(cxl_sep_ack_always_shows_its_number),
		cmocka_unit_test(C32_a_loss_before_a_piggybacked_ack_is_seen_with_isn),
		cmocka_unit_test(C32_the_same_loss_is_not_seen_in_cxl_and_data_come_out_of_order),
		cmocka_unit_test(cxl_takes_no_hidden_number_after_a_corrupt_flit),
		cmocka_unit_test(cxl_takes_no_hidden_number_after_what_was_asked_for_came_again),
		cmocka_unit_test(cxl_acknowledges_only_numbers_that_it_has_seen),
		cmocka_unit_test(cxl_never_hides_two_numbers_in_a_row),
		cmocka_unit_test(each_profile_recovers_from_losses_that_it_sees),
		cmocka_unit_test(without_isn_selective_retry_can_name_one_flit_only),
		cmocka_unit_test(a_cxl_replay_shows_its_numbers_even_if_an_ack_is_due),
		cmocka_unit_test(a_nak_of_one_flit_acknowledges_nothing_so_the_ack_goes_too),
		cmocka_unit_test(a_packet_without_an_end_takes_no_more_room_than_the_longest),
		cmocka_unit_test(a_packet_that_begins_in_the_half_of_another_is_delivered_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
