/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lives of endpoints [EP-7]: a restart is known at once, packets of the old
 * life are reported, and nothing of an earlier life is taken for the new.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

#define HELLO 7

static struct fx fx;

static void
open_young(bool retry)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.retry = retry;
	cfg.give_up_ns = 1000000;
	fx_open_lives(&fx, &cfg, 3, 4000);
	fx.now = 1000;
}

/* Endpoints that have lived for a second: no flit can be of before. */
static void
open_lives(bool retry)
{
	open_young(retry);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(fx_poll(&fx, i).packets, 0);
	fx.now += RL_NS_PER_S;
}

/** Sends @p n packets of one flit, and has them delivered. */
static void
deliver(unsigned int src, unsigned int dst, unsigned int n)
{
	unsigned int got = 0;

	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(fx_send(&fx, src, dst, 0, 224), 0);
		fx_settle(&fx);
		got += fx_take(&fx, dst, false);
	}
	assert_int_equal(got, n);
}

static unsigned int
events(enum rl_ep_event_kind kind, uint16_t ep)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fx.nevents; i++)
		n += fx.event[i].kind == kind && fx.event[i].ep == ep;
	return n;
}

static void
a_flow_begins_with_a_sync_and_its_ack(void **state)
{
	struct rl_flit *sync, *ack, *data;

	(void)state;
	open_lives(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	sync = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(sync), RL_CMD_SEQ);
	fx_rx(&fx, 1, sync);
	ack = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(ack), RL_CMD_ACK);
	fx_rx(&fx, 0, ack);
	data = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(data), -1);
	fx_rx(&fx, 1, data);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	/* and the rest without more ado */
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	data = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(data), -1);
	fx_rx(&fx, 1, data);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

/*
 * A sync that names no receiver may have been meant for an earlier life. The
 * sender hears the new incarnation, and names it.
 */
static void
a_young_endpoint_wants_to_be_named(void **state)
{
	/* ns of its life; whether a sync without a receiver is enough */
	static const struct {
		uint64_t age;
		bool enough;
	} row[] = {
		{ 0, false },
		{ 1, false },
		{ RL_NS_PER_S - 1, false },
		{ RL_NS_PER_S, true },
		{ 5 * RL_NS_PER_S, true },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		struct rl_flit *pkt;
		struct rl_pktq q;

		open_young(true);
		assert_int_equal(fx_poll(&fx, 1).packets, 0); /* it is born */
		fx.now += row[i].age;
		assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
		assert_int_equal(fx_send(&fx, 0, 1, 1, 224), 0);
		q = fx_poll(&fx, 0);
		assert_int_equal(q.packets, 2);
		fx_rx_all(&fx, 1, &q);
		q = fx_poll(&fx, 1);
		assert_int_equal(fx_ctrl_cmd(q.head),
				 row[i].enough ? RL_CMD_ACK : HELLO);
		/* one hello for both, and both come again, at once */
		assert_int_equal(q.packets, row[i].enough ? 2 : 1);
		fx_rx_all(&fx, 0, &q);
		q = fx_poll(&fx, 0);
		assert_int_equal(q.packets, 2);
		for (pkt = q.head; pkt != NULL; pkt = pkt->next_pkt)
			assert_int_equal(fx_ctrl_cmd(pkt),
					 row[i].enough ? -1 : RL_CMD_SEQ);
		fx_rx_all(&fx, 1, &q);
		fx_settle(&fx);
		assert_int_equal(fx_take(&fx, 1, false), 2);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_stale_life), 0);
		assert_int_equal(fx.nreports, 0);
		fx_close(&fx);
	}
}

/* A packet that an earlier life delivered is not delivered again. */
static void
a_new_life_takes_no_late_sync_without_a_receiver_nor_its_data(void **state)
{
	struct rl_flit *sync, *data;

	(void)state;
	open_lives(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	sync = fx_poll_one(&fx, 0);
	fx_rx(&fx, 1, fx_copy(&fx, sync));
	fx_rx(&fx, 0, fx_poll_one(&fx, 1)); /* its ACK */
	data = fx_poll_one(&fx, 0);
	fx_rx(&fx, 1, fx_copy(&fx, data));
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_restart(&fx, 1, 7);
	fx_rx(&fx, 1, sync);
	fx_rx(&fx, 1, data);
	assert_int_equal(fx_take(&fx, 1, false), 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_stranger), 1);
	/* the sender had no ACK: it reports what it does not know to be there */
	fx_settle(&fx);
	assert_int_equal(fx.nreports, 1);
	assert_int_equal(fx.report[0].reason, RL_EP_RESTARTED);
	deliver(0, 1, 3);
	fx_close(&fx);
}

/* An ACK on data does not answer a sync: it may be older. */
static void
a_sync_is_answered_alone_however_many_data_go_back(void **state)
{
	bool answered = false;
	struct rl_flit *sync;
	struct rl_pktq q;

	(void)state;
	open_lives(true);
	deliver(1, 0, 1);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	sync = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(sync), RL_CMD_SEQ);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(fx_send(&fx, 1, 0, 0, 224), 0);
	fx_rx(&fx, 1, sync);
	q = fx_poll(&fx, 1);
	for (struct rl_flit *f = q.head; f != NULL; f = f->next_pkt)
		answered |= fx_ctrl_cmd(f) == RL_CMD_ACK;
	assert_int_equal(q.packets, 5);
	assert_true(answered);
	fx_rx_all(&fx, 0, &q);
	assert_int_equal(fx_take(&fx, 0, false), 4);
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx.nreports, 0);
	fx_close(&fx);
}

static void
a_restarted_sender_begins_after_one_round_trip(void **state)
{
	/* as many as the new one will send, fewer, more */
	static const unsigned int before[] = { 1, 5, 20, 40 };

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(before); i++) {
		unsigned int n = 0;

		open_lives(true);
		deliver(0, 1, before[i]);
		fx_restart(&fx, 0, 7);
		for (unsigned int k = 0; k < 20; k++)
			assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
		fx_rx(&fx, 1, fx_poll_one(&fx, 0)); /* sync */
		assert_int_equal(events(RL_EP_EV_RESTARTED, 1), 1);
		fx_rx(&fx, 0, fx_poll_one(&fx, 1)); /* its ACK */
		fx_settle(&fx);
		n += fx_take(&fx, 1, false);
		assert_int_equal(n, 20);
		assert_int_equal(fx.nreports, 0);
		fx_close(&fx);
	}
}

static void
a_receiver_that_restarts_makes_its_senders_report_at_once_and_go_on(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_lives(true);
	deliver(0, 1, 10);
	fx_run(&fx, 2); /* all acknowledged */
	fx_restart(&fx, 1, 7);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	q = fx_poll(&fx, 0);
	fx_rx_all(&fx, 1, &q);
	assert_int_equal(fx_take(&fx, 1, false), 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_stranger), 3);
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 1); /* one for all three */
	assert_int_equal(fx_ctrl_cmd(q.head), HELLO);
	fx_rx_all(&fx, 0, &q);
	assert_int_equal(events(RL_EP_EV_RESTARTED, 0), 1);
	assert_int_equal(fx.nreports, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(fx.report[i].reason, RL_EP_RESTARTED);
	assert_true(rl_ep_idle(fx.ep[0]));
	fx.got[0][1][0] += 3;
	deliver(0, 1, 10);
	fx_close(&fx);
}

/* The tag that the last event of that kind at endpoint 0 says. */
static uint32_t
told_tag(void)
{
	uint32_t tag = 0;

	for (unsigned int i = 0; i < fx.nevents; i++)
		if (fx.event[i].kind == RL_EP_EV_RESTARTED &&
		    fx.event[i].ep == 0)
			tag = fx.event[i].tag;
	return tag;
}

/* A client that counts must know where one life ends and the next begins. */
static void
a_sender_is_told_from_which_packet_on_the_new_life_gets_them(void **state)
{
	struct rl_pktq q;
	uint32_t last;

	(void)state;
	open_lives(true);
	deliver(0, 1, 10);
	fx_run(&fx, 2);
	fx_restart(&fx, 1, 7);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	q = fx_poll(&fx, 0);
	fx_rx_all(&fx, 1, &q);
	fx_rx(&fx, 0, fx_poll_one(&fx, 1)); /* hello */
	assert_int_equal(fx.nreports, 3);
	last = fx.report[2].tag;
	assert_int_equal(told_tag(), last + 1);
	/* two more wait for the answer to a sync; then it restarts again */
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_drop(&fx, fx_poll_one(&fx, 0)); /* the sync */
	fx_restart(&fx, 1, 8);
	fx.sent[1][0][0] = fx.got[1][0][0] = 0;
	assert_int_equal(fx_send(&fx, 1, 0, 0, 224), 0);
	fx_rx(&fx, 0, fx_poll_one(&fx, 1)); /* its sync, of a new life */
	assert_int_equal(events(RL_EP_EV_RESTARTED, 0), 2);
	assert_int_equal(fx.nreports, 3);
	assert_int_equal(told_tag(), last + 1); /* those two, not what follows */
	fx.got[0][1][0] += 3;
	fx_settle(&fx);
	fx_run(&fx, 20);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	assert_int_equal(fx_take(&fx, 0, false), 1);
	fx_close(&fx);
}

static void
both_halves_go_if_only_one_way_was_used_since(void **state)
{
	(void)state;
	open_lives(true);
	deliver(0, 1, 10);
	deliver(1, 0, 10);
	fx_restart(&fx, 1, 7);
	/* the new one sends, the old one's flow to it is gone as well */
	fx.sent[1][0][0] = fx.got[1][0][0] = 0;
	deliver(1, 0, 3);
	assert_int_equal(events(RL_EP_EV_RESTARTED, 0), 1);
	fx_run(&fx, 5);
	deliver(0, 1, 3);
	assert_int_equal(fx.nreports, 0);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_stranger), 0);
	fx_close(&fx);
}

static void
an_ack_of_an_earlier_life_frees_nothing(void **state)
{
	struct rl_flit *ack;

	(void)state;
	open_lives(true);
	deliver(0, 1, 10);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_rx(&fx, 1, fx_poll_one(&fx, 0));
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx.now += fx.cfg.ack_delay_ns;
	ack = fx_poll_one(&fx, 1);
	assert_int_equal(fx_ctrl_cmd(ack), RL_CMD_ACK);
	fx_restart(&fx, 0, 7);
	deliver(0, 1, 9);
	for (unsigned int i = 0; i < 3; i++) /* 9, 10, 11: ACK 10 fits */
		fx_drop(&fx, fx_emit(&fx, 1));
	fx_rx(&fx, 0, ack);
	assert_false(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_rx_stale_life), 1);
	fx_run(&fx, 20);
	assert_int_equal(fx_take(&fx, 1, false), 3);
	fx_close(&fx);
}

static void
a_late_sync_of_an_earlier_life_moves_nothing(void **state)
{
	struct rl_flit *old;

	(void)state;
	open_lives(true);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	{
		struct rl_flit *sync = fx_poll_one(&fx, 0);

		old = fx_copy(&fx, sync);
		fx_rx(&fx, 1, sync);
	}
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_restart(&fx, 0, 7);
	deliver(0, 1, 5);
	assert_int_equal(events(RL_EP_EV_RESTARTED, 1), 1);
	fx_rx(&fx, 1, old);
	assert_int_equal(events(RL_EP_EV_RESTARTED, 1), 1);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_stale_life), 1);
	deliver(0, 1, 5);
	assert_int_equal(fx.nreports, 0);
	fx_close(&fx);
}

static void
data_of_an_earlier_life_are_never_delivered(void **state)
{
	(void)state;
	for (int retry = 0; retry < 2; retry++) {
		struct rl_flit *old[8];
		struct rl_pktq q;

		open_lives(retry);
		deliver(0, 1, 3);
		for (unsigned int i = 0; i < 8; i++)
			assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
		q = fx_poll(&fx, 0);
		assert_int_equal(q.packets, 8);
		for (unsigned int i = 0; i < 8; i++)
			old[i] = rl_pktq_pop(&q);
		fx_restart(&fx, 0, 7);
		deliver(0, 1, 5); /* expects number 5: old ones bear 3..10 */
		for (unsigned int i = 0; i < 8; i++)
			fx_rx(&fx, 1, old[i]);
		assert_int_equal(fx_take(&fx, 1, false), 0);
		deliver(0, 1, 20);
		assert_int_equal(fx.nreports, 0);
		fx_close(&fx);
	}
}

static void
while_a_peer_is_unreachable_it_may_restart(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	open_lives(true);
	deliver(0, 1, 3);
	pkt = fx_emit(&fx, 1);
	rl_ep_dropped(fx.ep[0], fx.now, 1, 0, rl_flit_tag(pkt->wire), 0,
		      RL_EP_DROP_NO_PATH);
	fx_drop(&fx, pkt);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 1);
	fx_restart(&fx, 1, 7);
	fx_run(&fx, 20);
	assert_int_equal(rl_ep_unreachable_count(fx.ep[0]), 0);
	/* three of them had arrived, but no ACK of them had */
	assert_int_equal(fx.nreports, 4);
	assert_int_equal(fx.report[3].reason, RL_EP_RESTARTED);
	fx.got[0][1][0]++;
	deliver(0, 1, 3);
	fx_close(&fx);
}

static void
a_life_that_was_held_to_be_over_is_believed_after_a_while(void **state)
{
	(void)state;
	open_lives(true);
	deliver(0, 1, 3);
	fx_restart(&fx, 0, 7);
	deliver(0, 1, 3);
	fx_restart(&fx, 0, 100); /* the first number again */
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_run(&fx, 3);
	assert_int_equal(fx_take(&fx, 1, false), 0);
	fx.now += 2 * RL_NS_PER_S;
	fx_run(&fx, 10);
	assert_int_equal(fx.nreports, 1); /* it was given up meanwhile */
	fx.got[0][1][0]++;
	deliver(0, 1, 3);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_begins_with_a_sync_and_its_ack),
		cmocka_unit_test(a_young_endpoint_wants_to_be_named),
		cmocka_unit_test(
			a_new_life_takes_no_late_sync_without_a_receiver_nor_its_data),
		cmocka_unit_test(a_sync_is_answered_alone_however_many_data_go_back),
		cmocka_unit_test(a_restarted_sender_begins_after_one_round_trip),
		cmocka_unit_test(a_receiver_that_restarts_makes_its_senders_report_at_once_and_go_on),
		cmocka_unit_test(
			a_sender_is_told_from_which_packet_on_the_new_life_gets_them),
		cmocka_unit_test(both_halves_go_if_only_one_way_was_used_since),
		cmocka_unit_test(an_ack_of_an_earlier_life_frees_nothing),
		cmocka_unit_test(a_late_sync_of_an_earlier_life_moves_nothing),
		cmocka_unit_test(data_of_an_earlier_life_are_never_delivered),
		cmocka_unit_test(while_a_peer_is_unreachable_it_may_restart),
		cmocka_unit_test(a_life_that_was_held_to_be_over_is_believed_after_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
