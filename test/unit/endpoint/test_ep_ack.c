/* SPDX-License-Identifier: BSD-3-Clause */
/* ACK and NAK: what a receiver says, when, and who believes it [EP-2]. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

static struct fx fx;

static void
open_mode(enum rl_e2e_retry mode)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.retry_mode = mode;
	fx_open(&fx, &cfg, 2, 4000);
}

/** As open_mode(), and ways have just changed: gaps may be detours. */
static void
open_late(enum rl_e2e_retry mode)
{
	open_mode(mode);
	rl_ep_probe_again(fx.ep[1], fx.now);
}

/** Packets of one flit each from 0 to 1, those in @p lost dropped. */
static void
send_but(unsigned int n, const char *lost)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rl_flit *pkt = fx_emit(&fx, 1);

		if (lost[i] == 'x')
			fx_drop(&fx, pkt);
		else
			fx_rx(&fx, 1, pkt);
	}
}

/** Runs endpoint 1's timers @p ns from now; returns what it sends. */
static struct rl_pktq
after(uint64_t ns, unsigned int ep)
{
	fx.now += ns;
	return fx_poll(&fx, ep);
}

static void
acks_are_coalesced_by_count_and_by_time(void **state)
{
	struct rl_pktq q;
	struct rl_flit *ack;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	send_but(3, "   ");
	q = fx_poll(&fx, 1);
	assert_true(rl_pktq_empty(&q)); /* three of four */
	send_but(1, " ");
	ack = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_n(ack), 3);
	fx_rx(&fx, 0, ack);
	assert_true(rl_ep_idle(fx.ep[0]));
	send_but(1, " ");
	q = after(99, 1);
	assert_true(rl_pktq_empty(&q));
	q = after(1, 1);
	assert_int_equal(q.packets, 1);
	assert_int_equal(fx_ctrl_n(q.head), 4);
	fx_drop_all(&fx, &q);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_ack_alone_sent), 2);
	fx_close(&fx);
}

/* One that says so before what is missing has come would tell nothing new. */
static void
a_flit_that_asks_for_an_ack_gets_it_once_the_gap_before_it_is_filled(void **state)
{
	struct rl_flit *first, *asks, *ack;
	struct rl_pktq q;

	(void)state;
	open_late(RL_RETRY_SELECTIVE);
	first = fx_emit(&fx, 1);
	asks = fx_emit(&fx, 1);
	asks->wire[7] |= RL_FLIT_ASKS_ACK;
	fx_encode(&fx, asks, 1);
	fx_rx(&fx, 1, asks);
	q = fx_poll(&fx, 1);
	assert_true(rl_pktq_empty(&q));
	fx_rx(&fx, 1, first);
	ack = fx_poll_one(&fx, 1); /* two of four, and at once */
	assert_int_equal(fx_ctrl_n(ack), 1);
	fx_rx(&fx, 0, ack);
	assert_true(rl_ep_idle(fx.ep[0]));
	fx_close(&fx);
}

static void
an_ack_rides_on_reverse_data_and_then_none_goes_alone(void **state)
{
	struct rl_flit *pkt;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	send_but(4, "    ");
	assert_int_equal(fx_send(&fx, 1, 0, 0, 100), 0);
	pkt = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(pkt), -1);
	assert_int_equal(rl_flit_cmd(pkt->wire), RL_CMD_ACK);
	assert_int_equal(rl_flit_fsn(pkt->wire), 3);
	fx_rx(&fx, 0, pkt);
	assert_true(rl_ep_idle(fx.ep[0]));
	q = after(1000, 1);
	assert_true(rl_pktq_empty(&q));
	/* another class of service is another flow, and acknowledges nothing */
	send_but(4, "    ");
	assert_int_equal(fx_send(&fx, 1, 0, 1, 100), 0);
	fx.now += fx.cfg.ack_delay_ns;
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 2);
	assert_int_equal(fx_ctrl_cmd(q.head), -1);
	assert_int_equal(rl_flit_cmd(q.head->wire), RL_CMD_SEQ);
	fx_drop_all(&fx, &q);
	fx_close(&fx);
}

static void
an_ack_waits_a_little_for_data_while_its_flow_sends(void **state)
{
	struct rl_flit *data;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	/* a round trip of 80 is known, and the flow has just sent */
	assert_int_equal(fx_send(&fx, 1, 0, 0, 100), 0);
	data = fx_poll_one(&fx, 1);
	fx.now += 80 - fx.cfg.ack_delay_ns / 2;
	fx_rx(&fx, 0, data);
	fx_run(&fx, 2);
	assert_true(rl_ep_idle(fx.ep[1]));
	assert_int_equal(fx_send(&fx, 1, 0, 0, 100), 0);
	fx_drop(&fx, fx_poll_one(&fx, 1));
	send_but(4, "    ");
	q = fx_poll(&fx, 1);
	assert_true(rl_pktq_empty(&q));
	/* data come: they carry it, and none goes alone */
	assert_int_equal(fx_send(&fx, 1, 0, 0, 100), 0);
	data = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(data), -1);
	assert_int_equal(rl_flit_ack(data->wire), 3);
	fx_drop(&fx, data);
	/* none come: it goes alone, after an eighth of the round trip */
	send_but(4, "    ");
	q = fx_poll(&fx, 1);
	assert_true(rl_pktq_empty(&q));
	fx.now += 20;
	data = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(data), RL_CMD_ACK);
	fx_drop(&fx, data);
	fx_close(&fx);
}

static void
lost_acks_are_covered_by_later_ones(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_GBN);
	for (unsigned int i = 0; i < 10; i++) {
		send_but(4, "    ");
		q = fx_poll(&fx, 1);
		if (i < 9)
			fx_drop_all(&fx, &q);
	}
	fx_rx_all(&fx, 0, &q);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
	fx_close(&fx);
}

static void
a_gap_is_asked_for_once_and_not_before_the_delay(void **state)
{
	struct rl_flit *nak;
	struct rl_pktq q;

	(void)state;
	open_late(RL_RETRY_SELECTIVE);
	send_but(3, "x  ");
	q = after(49, 1);
	assert_true(rl_pktq_empty(&q));
	fx.now++;
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(nak), RL_CMD_NAK_ONE);
	assert_int_equal(fx_ctrl_n(nak), UINT32_MAX);
	fx_drop(&fx, nak);
	send_but(20, "                    ");
	q = after(1000, 1);
	assert_true(rl_pktq_empty(&q));
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 1);
	fx_close(&fx);
}

/* Nothing loops, no way has changed: what is missing is lost. */
static void
a_gap_is_a_loss_at_once_unless_ways_have_just_changed(void **state)
{
	struct rl_flit *looped;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	send_but(3, "x  ");
	fx_drop(&fx, fx_poll_one(&fx, 1)); /* a NAK, without any delay */
	/* a corrupt flit leaves such a gap, too */
	looped = fx_emit(&fx, 1);
	fx_corrupt(looped, 1);
	fx_rx(&fx, 1, looped);
	/* one that has looped shows that others may come late */
	looped = fx_emit(&fx, 1);
	looped->flags |= RL_FF_LOOPED;
	fx_rx(&fx, 1, looped);
	q = fx_poll(&fx, 1);
	assert_true(rl_pktq_empty(&q));
	fx.now += fx.cfg.nak_delay_ns;
	fx_drop(&fx, fx_poll_one(&fx, 1));
	/* and not for ever */
	fx.now += 64 * fx.cfg.nak_delay_ns;
	send_but(2, "x ");
	fx_drop(&fx, fx_poll_one(&fx, 1));
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 3);
	fx_close(&fx);
}

static void
what_a_detour_overtook_is_not_asked_for(void **state)
{
	struct rl_flit *late;
	struct rl_pktq q;

	(void)state;
	open_late(RL_RETRY_SELECTIVE);
	late = fx_emit(&fx, 3);
	send_but(3, "   ");
	q = after(49, 1);
	assert_true(rl_pktq_empty(&q));
	fx_rx(&fx, 1, late);
	assert_int_equal(fx_take(&fx, 1, false), 4);
	fx_run(&fx, 10);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 0);
	fx_close(&fx);
}

static void
a_new_gap_is_asked_for_alone_while_an_old_one_is_open(void **state)
{
	struct rl_flit *nak;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	send_but(4, "x   ");
	fx.now += 50;
	fx_drop(&fx, fx_poll_one(&fx, 1));
	send_but(4, "  x ");
	fx.now += 50;
	nak = fx_poll_one(&fx, 1);
	fx_rx(&fx, 0, nak);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 1);
	assert_int_equal(rl_flit_tag(q.head->wire), 6);
	fx_rx_all(&fx, 1, &q);
	fx_run(&fx, 10);
	assert_int_equal(fx_take(&fx, 1, false), 8);
	fx_close(&fx);
}

static void
an_ack_on_a_flit_that_was_held_up_for_long_is_not_taken_for_a_recent_one(
	void **state)
{
	struct rl_ep_cfg cfg;
	struct rl_flit *old;

	(void)state;
	fx_cfg(&cfg);
	cfg.window_flits = 511;
	cfg.retry_timer_ns = 1000000;
	fx_open(&fx, &cfg, 2, 4000);
	send_but(4, "    ");
	fx_take(&fx, 1, false);
	assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
	old = fx_poll_one(&fx, 1); /* acknowledges number 3 */
	fx_rx(&fx, 0, fx_copy(&fx, old));
	assert_int_equal(rl_flit_ack(old->wire), 3);
	fx_drop(&fx, old);
	fx_run(&fx, 2);
	assert_int_equal(fx_send(&fx, 1, 0, 0, 10), 0);
	old = fx_poll_one(&fx, 1); /* so does this one, and is held up */
	for (unsigned int i = 0; i < 150; i++) {
		for (unsigned int k = 0; k < 4; k++)
			assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
		fx_run(&fx, 1); /* acknowledged alone, and soon */
	}
	assert_int_equal(fx_take(&fx, 1, false), 600);
	for (unsigned int i = 0; i < 500; i++)
		fx_drop(&fx, fx_emit(&fx, 1));
	/* in ten bits, 3 is 600 behind or 424 ahead */
	fx_rx(&fx, 0, old);
	assert_int_equal(fx_take(&fx, 0, false), 2);
	assert_int_equal(rl_ep_flits(fx.ep[0]), 500);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_ack_stale), 1);
	fx_run(&fx, 50);
	assert_int_equal(fx_take(&fx, 1, false), 500);
	fx_close(&fx);
}

static void
acks_and_naks_out_of_the_window_free_nothing(void **state)
{
	/* five that were never sent, four of which nothing waits any more */
	static const uint32_t n[] = { 20,  21,	 19 + 511, 1000,
				      UINT32_MAX / 2, 9 - 512,
				      8,   0,	 UINT32_MAX };
	struct rl_flit *ack;

	(void)state;
	open_mode(RL_RETRY_GBN);
	fx_advance(&fx, 10);
	send_but(10, "xxxxxxxxxx"); /* numbers 10 to 19 are out */
	for (int cmd = RL_CMD_ACK; cmd <= RL_CMD_NAK_ONE; cmd++)
		for (size_t i = 0; i < RL_ARRAY_SIZE(n); i++) {
			struct rl_pktq q;

			/* any stand-alone flit, rewritten */
			assert_int_equal(fx_send(&fx, 1, 0, 0, 4), 0);
			ack = fx_poll_one(&fx, 1);
			memset(ack->wire + 18, 0, 224);
			ack->wire[7] = 0xc0 | RL_FLIT_CTRL << 2 | RL_CLASS_CTRL;
			ack->wire[8] = 22; /* as long as one is */
			ack->wire[18] = (uint8_t)cmd;
			rl_put32(ack->wire + 20, n[i]);
			fx_encode(&fx, ack, 0);
			fx_rx(&fx, 0, ack);
			q = fx_poll(&fx, 0);
			assert_true(rl_pktq_empty(&q));
			assert_int_equal(rl_ep_flits(fx.ep[0]), 10);
		}
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_malformed), 0);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_nak_received), 2 * 9);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_nak_ignored), 2 * 9);
	/* by ACKs, and by the ACK that a NAK of go-back-N is */
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_ack_invalid), 2 * 5);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_ack_stale), 2 * 4);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
	fx_run(&fx, 40);
	assert_int_equal(fx_take(&fx, 1, false), 10);
	fx_close(&fx);
}

static void
malformed_control_flits_are_dropped(void **state)
{
	static const struct {
		unsigned int off;
		uint8_t val;
		uint8_t valid; /* bytes of the flit, where not as they were */
	} bad[] = { { 18, 8, 0 }, { 18, 255, 0 }, { 19, 65, 0 },
		    { 19, 1, 0 }, { 8, 9, 0 },
		    /* longer than any map, and the flit as long */
		    { 19, 65, 22 + 65 }, { 19, 202, 22 + 202 } };
	uint32_t number = 0;

	(void)state;
	open_mode(RL_RETRY_GBN);
	for (size_t i = 0; i <= RL_ARRAY_SIZE(bad); i++) {
		struct rl_flit *f;

		send_but(4, "    ");
		f = fx_poll_one(&fx, 1);
		if (i < RL_ARRAY_SIZE(bad)) {
			f->wire[bad[i].off] = bad[i].val;
			if (bad[i].valid != 0)
				f->wire[8] = bad[i].valid;
		} else {
			number = 1; /* a control flit has no number */
		}
		fx_encode(&fx, f, number);
		fx_rx(&fx, 0, f);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_malformed), i + 1);
	}
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_ctrl), 0);
	fx_close(&fx);
}

static void
a_flit_that_is_held_already_has_the_gap_asked_for_again(void **state)
{
	struct rl_flit *last, *again;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	send_but(4, " x  ");
	last = fx_emit(&fx, 1);
	again = fx_copy(&fx, last);
	fx_rx(&fx, 1, last);
	fx.now += 50;
	fx_drop(&fx, fx_poll_one(&fx, 1)); /* the NAK is lost */
	fx_rx(&fx, 1, again);
	fx_run(&fx, 3);
	assert_int_equal(fx_take(&fx, 1, false), 5);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 2);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 0);
	fx_close(&fx);
}

static void
an_answer_that_overtakes_a_lost_one_has_it_asked_for_again(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_SELECTIVE);
	send_but(5, " x x ");
	fx.now += 50;
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	q = fx_poll(&fx, 0);
	assert_int_equal(q.packets, 2);
	fx_drop(&fx, rl_pktq_pop(&q)); /* number 1 is lost once more */
	fx_rx_all(&fx, 1, &q);
	fx_run(&fx, 3);
	assert_int_equal(fx_take(&fx, 1, false), 5);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 2);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 0);
	fx_close(&fx);
}

static void
each_gap_is_asked_for_at_its_own_time(void **state)
{
	struct rl_flit *nak;

	(void)state;
	open_late(RL_RETRY_SELECTIVE);
	send_but(2, "x ");
	fx.now = 40;
	send_but(2, "x ");
	fx.now = 50;
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(nak->wire[40], 1); /* number 0, not yet 2 */
	fx_drop(&fx, nak);
	fx.now = 90;
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(nak->wire[37], 2); /* from number 2 on */
	assert_int_equal(nak->wire[40], 1);
	fx_drop(&fx, nak);
	fx_close(&fx);
}

static void
what_arrives_while_the_nak_waits_is_not_asked_for(void **state)
{
	struct rl_flit *late, *later, *nak;
	struct rl_pktq q = { 0 };

	(void)state;
	open_late(RL_RETRY_SELECTIVE);
	late = fx_emit(&fx, 1);
	send_but(1, " ");
	later = fx_emit(&fx, 1);
	send_but(1, " ");
	fx.now = 50;
	assert_int_equal(rl_ep_poll(fx.ep[1], fx.now, &q, 0), 0);
	fx_rx(&fx, 1, late); /* number 2 is still missing */
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(nak), RL_CMD_NAK_ONE);
	assert_int_equal(fx_ctrl_n(nak), 1);
	assert_int_equal(nak->wire[40], 1);
	fx_drop(&fx, nak);
	send_but(1, " ");
	fx_rx(&fx, 1, later);
	fx.now = 1000;
	late = fx_emit(&fx, 1);
	send_but(1, " ");
	fx.now = 1050;
	assert_int_equal(rl_ep_poll(fx.ep[1], fx.now, &q, 0), 0);
	fx_rx(&fx, 1, late); /* nothing is missing any more */
	nak = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(nak), RL_CMD_ACK);
	fx_drop(&fx, nak);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 1);
	fx_close(&fx);
}

static void
a_nak_that_the_fabric_doubles_is_answered_once(void **state)
{
	struct rl_flit *nak, *dup;
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_GBN);
	send_but(4, "    ");
	fx.now += 300; /* a round trip is known */
	fx_settle(&fx);
	send_but(4, "x   ");
	fx.now += 50;
	nak = fx_poll_one(&fx, 1);
	dup = fx_copy(&fx, nak);
	fx_rx(&fx, 0, nak);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 4);
	fx_drop_all(&fx, &q);
	fx.now += 299;
	nak = fx_copy(&fx, dup);
	fx_rx(&fx, 0, nak);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 0);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_nak_ignored), 1);
	fx.now += 1; /* later it is another loss */
	fx_rx(&fx, 0, dup);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.flits, 4);
	fx_drop_all(&fx, &q);
	fx_close(&fx);
}

static void
go_back_n_asks_once_whatever_gaps_lie_behind_the_first(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_mode(RL_RETRY_GBN);
	send_but(4, "x   ");
	fx.now += 50;
	fx_drop(&fx, fx_poll_one(&fx, 1));
	send_but(8, " x x x  "); /* the requested flits bring these along */
	q = after(1000, 1);
	assert_true(rl_pktq_empty(&q));
	fx_run(&fx, 20);
	assert_int_equal(fx_take(&fx, 1, false), 12);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_are_coalesced_by_count_and_by_time),
		cmocka_unit_test(
			a_flit_that_asks_for_an_ack_gets_it_once_the_gap_before_it_is_filled),
		cmocka_unit_test(an_ack_rides_on_reverse_data_and_then_none_goes_alone),
		cmocka_unit_test(an_ack_waits_a_little_for_data_while_its_flow_sends),
		cmocka_unit_test(lost_acks_are_covered_by_later_ones),
		cmocka_unit_test(a_gap_is_asked_for_once_and_not_before_the_delay),
		cmocka_unit_test(a_gap_is_a_loss_at_once_unless_ways_have_just_changed),
		cmocka_unit_test(what_a_detour_overtook_is_not_asked_for),
		cmocka_unit_test(a_new_gap_is_asked_for_alone_while_an_old_one_is_open),
		cmocka_unit_test(an_ack_on_a_flit_that_was_held_up_for_long_is_not_taken_for_a_recent_one),
		cmocka_unit_test(acks_and_naks_out_of_the_window_free_nothing),
		cmocka_unit_test(malformed_control_flits_are_dropped),
		cmocka_unit_test(a_flit_that_is_held_already_has_the_gap_asked_for_again),
		cmocka_unit_test(an_answer_that_overtakes_a_lost_one_has_it_asked_for_again),
		cmocka_unit_test(each_gap_is_asked_for_at_its_own_time),
		cmocka_unit_test(what_arrives_while_the_nak_waits_is_not_asked_for),
		cmocka_unit_test(a_nak_that_the_fabric_doubles_is_answered_once),
		cmocka_unit_test(go_back_n_asks_once_whatever_gaps_lie_behind_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
