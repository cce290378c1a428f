/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A destination that does not answer: packets are reported, the flow fails
 * visibly, and when the way is back it goes on without its past.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

static struct fx fx;

static void
open_limit(uint32_t limit)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.retry_limit = limit;
	fx_open(&fx, &cfg, 2, 4000);
}

/** Runs while the fabric swallows all that endpoint 0 sends. */
static void
run_dark(void)
{
	for (unsigned int i = 0; i < 100; i++) {
		struct rl_pktq q = fx_poll(&fx, 0);
		const uint64_t t = rl_ep_deadline(fx.ep[0]);

		fx_drop_all(&fx, &q);
		if (t == RL_NEVER)
			return;
		fx.now = rl_max_u64(fx.now, t);
	}
	fail_msg("endless");
}

static enum rl_ep_flow_state
state_of(unsigned int ep)
{
	struct rl_ep_flow_info info;

	rl_ep_flow_info(fx.ep[ep], 0, &info);
	return info.state;
}

/*
 * [EP-8] Slow is not dead: each answer comes after the flow gave up, but tells
 * how long the next one must wait.
 */
static void
late_answers_teach(bool opened, uint64_t pause_ns, unsigned int reports)
{
	struct fx_way way = { .delay_ns = 20 };
	struct rl_ep_cfg cfg;
	uint64_t from, next;

	fx_cfg(&cfg);
	cfg.retry_limit = 1;
	cfg.probe_ns = 200;
	cfg.retry_timer_ns = 0;
	fx_open(&fx, &cfg, 2, 4000);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
	if (opened) {
		while (!rl_ep_idle(fx.ep[0]))
			fx_way_step(&fx, &way, 10);
		assert_int_equal(fx_take(&fx, 1, true), 1);
		assert_int_equal(state_of(0), RL_EP_FLOW_OPEN);
	} else {
		run_dark();
		assert_int_equal(state_of(0), RL_EP_FLOW_FAILED);
	}
	way.delay_ns = 5000;
	from = next = fx.now;
	while (!rl_ep_recv_pending(fx.ep[1]) ||
	       state_of(0) != RL_EP_FLOW_OPEN) {
		assert_true(fx.now - from < 50 * way.delay_ns);
		if (rl_ep_idle(fx.ep[0]) && fx.now >= next) {
			assert_int_equal(fx_send(&fx, 0, 1, 0, 200), 0);
			next = fx.now + pause_ns;
		}
		fx_way_step(&fx, &way, 50);
	}
	assert_in_range(fx.nreports, 1, reports);
	assert_int_equal(fx_take(&fx, 1, true), 1);
	fx_way_drop(&fx, &way);
	fx_close(&fx);
}

static void
answers_that_come_too_late_teach_a_flow_to_wait(void **state)
{
	(void)state;
	late_answers_teach(false, 0, 100);
}

/* No other sync is under way when an answer comes. */
static void
they_teach_a_flow_whose_client_sends_now_and_then(void **state)
{
	(void)state;
	late_answers_teach(false, 15000, 2);
}

/* It was open and quick, so its mean is short. */
static void
they_teach_a_flow_that_was_quick(void **state)
{
	(void)state;
	late_answers_teach(true, 0, 100);
	late_answers_teach(true, 15000, 6);
}

static void
after_the_limit_every_packet_is_reported_once_by_its_tag(void **state)
{
	(void)state;
	open_limit(3);
	fx_advance(&fx, 5);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(fx_send(&fx, 0, 1, 0, 700), 0);
	run_dark();
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 4);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_flow_failures), 1);
	assert_int_equal(fx.nreports, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(fx.report[i].src, 0);
		assert_int_equal(fx.report[i].dst, 1);
		assert_int_equal(fx.report[i].cos, 0);
		assert_int_equal(fx.report[i].tag, 5 + i);
		assert_int_equal(fx.report[i].reason, RL_EP_RETRY_LIMIT);
	}
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(rl_ep_flits(fx.ep[0]), 0);
	assert_int_equal(state_of(0), RL_EP_FLOW_FAILED);
	assert_int_equal(rl_ep_deadline(fx.ep[0]), RL_NEVER);
	fx_close(&fx);
}

/* The limit is one of timeouts in a row: progress restarts the count. */
static void
a_flow_that_gets_on_is_never_given_up(void **state)
{
	(void)state;
	open_limit(3);
	for (unsigned int i = 0; i < 10; i++) {
		struct rl_pktq q;

		assert_int_equal(fx_send(&fx, 0, 1, 0, 20), 0);
		for (unsigned int k = 0; k < 2; k++) { /* lost, twice */
			q = fx_poll(&fx, 0);
			assert_int_equal(q.flits, 1);
			fx_drop_all(&fx, &q);
			fx.now = rl_ep_deadline(fx.ep[0]);
		}
		fx_run(&fx, 5);
		assert_int_equal(fx_take(&fx, 1, false), 1);
		assert_true(rl_ep_idle(fx.ep[0]));
	}
	assert_true(fx_ctr(&fx, 0, RL_EPC_timeouts) >= 20);
	assert_int_equal(fx.nreports, 0);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_flow_failures), 0);
	fx_close(&fx);
}

static void
a_failed_flow_goes_on_when_the_way_is_back(void **state)
{
	static const uint32_t before[] = { 0, 1, 600, 1020, 1024 };

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(before); i++) {
		open_limit(2);
		fx_advance(&fx, before[i]);
		/* half of a packet arrives, and one that is ahead */
		assert_int_equal(fx_send(&fx, 0, 1, 0, 5 * 224), 0);
		fx_rx(&fx, 1, fx_cut(&fx, fx_poll_one(&fx, 0), 3));
		fx_drop(&fx, fx_emit(&fx, 2));
		run_dark();
		assert_int_equal(fx.nreports, 2);
		fx.got[0][1][0] += 2;
		for (unsigned int k = 0; k < 10; k++)
			assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
		assert_int_equal(state_of(0), RL_EP_FLOW_SYNC);
		fx_run(&fx, 20);
		assert_int_equal(state_of(0), RL_EP_FLOW_OPEN);
		assert_int_equal(fx_take(&fx, 1, false), 10);
		assert_true(rl_ep_idle(fx.ep[0]));
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_partial_dropped), 1);
		assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_inconsistent), 0);
		fx_advance(&fx, 1100);
		fx_close(&fx);
	}
}

static void
no_data_leaves_before_the_receiver_has_confirmed_the_sync(void **state)
{
	struct rl_flit *sync, *ack;
	struct rl_pktq q;

	(void)state;
	open_limit(1);
	for (unsigned int i = 0; i < 4; i++)
		fx_rx(&fx, 1, fx_emit(&fx, 1));
	fx.got[0][1][0] = fx_take(&fx, 1, false);
	ack = fx_poll_one(&fx, 1);
	fx_rx(&fx, 0, fx_copy(&fx, ack));
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	run_dark();
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	sync = fx_poll_one(&fx, 0);
	assert_int_equal(fx_ctrl_cmd(sync), RL_CMD_SEQ);
	assert_int_equal(fx_ctrl_n(sync), 5);
	/* an ACK of the time before confirms nothing */
	fx_rx(&fx, 0, ack);
	assert_int_equal(state_of(0), RL_EP_FLOW_SYNC);
	fx_rx(&fx, 1, sync);
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 1);
	fx_rx_all(&fx, 0, &q);
	q = fx_poll(&fx, 0);
	assert_int_equal(q.packets, 1);
	assert_int_equal(fx_ctrl_cmd(q.head), -1);
	fx_rx_all(&fx, 1, &q);
	fx.got[0][1][0]++;
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

static void
an_old_sync_moves_nothing(void **state)
{
	struct rl_flit *sync, *old;

	(void)state;
	open_limit(1);
	fx_advance(&fx, 3);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	run_dark();
	fx.got[0][1][0]++;
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	sync = fx_poll_one(&fx, 0);
	old = fx_copy(&fx, sync);
	fx_rx(&fx, 1, sync);
	fx_run(&fx, 4);
	fx_take(&fx, 1, false);
	fx_advance(&fx, 1023); /* so that even ten bits would be the same */
	fx_rx(&fx, 1, old);
	fx_advance(&fx, 5);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_lost_flits), 1);
	fx_close(&fx);
}

static void
a_lost_sync_and_its_lost_answer_are_sent_again(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_limit(3);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	run_dark();
	fx.got[0][1][0]++;
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_drop(&fx, fx_poll_one(&fx, 0));
	fx.now = rl_ep_deadline(fx.ep[0]);
	fx_rx(&fx, 1, fx_poll_one(&fx, 0));
	q = fx_poll(&fx, 1);
	fx_drop_all(&fx, &q);
	fx_run(&fx, 5);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_sync_sent), 3);
	fx_close(&fx);
}

static void
while_the_way_stays_away_each_packet_is_still_reported(void **state)
{
	(void)state;
	open_limit(2);
	for (unsigned int round = 0; round < 5; round++) {
		assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
		assert_int_equal(fx_send(&fx, 0, 1, 0, 900), 0);
		run_dark();
		assert_int_equal(fx.nreports, 2 * (round + 1));
		assert_int_equal(fx.report[fx.nreports - 1].tag, 2 * round + 1);
		assert_true(rl_ep_idle(fx.ep[0]));
	}
	fx.got[0][1][0] = 10;
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_run(&fx, 5);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_close(&fx);
}

/* else a client with many packets waits for each window of them */
static void
after_it_gave_up_a_flow_refuses_until_an_answer(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_limit(4);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	run_dark();
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
		q = fx_poll(&fx, 0); /* a sync */
		fx_drop_all(&fx, &q);
		fx.now = rl_ep_deadline(fx.ep[0]);
	}
	q = fx_poll(&fx, 0);
	fx_drop_all(&fx, &q);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), -EHOSTUNREACH);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_tx_refused_unreachable), 1);
	assert_int_equal(fx_send(&fx, 0, 1, 1, 224), 0); /* another flow */
	fx.got[0][1][0] = 1;
	fx_run(&fx, 10);
	assert_int_equal(fx_take(&fx, 1, false), 4);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_run(&fx, 5);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	/* it gets on: who loses something later is not doubted for that */
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	for (unsigned int i = 0; i < 3; i++) {
		q = fx_poll(&fx, 0);
		fx_drop_all(&fx, &q);
		fx.now = rl_ep_deadline(fx.ep[0]);
	}
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	fx_close(&fx);
}

static void
a_packet_that_had_arrived_may_be_reported_but_is_delivered_once(void **state)
{
	(void)state;
	open_limit(2);
	fx_rx(&fx, 1, fx_emit(&fx, 3));
	run_dark(); /* only the acknowledgments are lost */
	assert_int_equal(fx.nreports, 1);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_advance(&fx, 4);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_lost_flits), 0);
	fx_close(&fx);
}

static void
other_flows_do_not_notice(void **state)
{
	(void)state;
	open_limit(1);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 224), 0);
	run_dark();
	assert_int_equal(fx_send(&fx, 0, 1, 1, 224), 0);
	fx_run(&fx, 4);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	assert_int_equal(fx.nreports, 1);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_that_gets_on_is_never_given_up),
		cmocka_unit_test(
			answers_that_come_too_late_teach_a_flow_to_wait),
		cmocka_unit_test(
			they_teach_a_flow_whose_client_sends_now_and_then),
		cmocka_unit_test(they_teach_a_flow_that_was_quick),
		cmocka_unit_test(
			after_the_limit_every_packet_is_reported_once_by_its_tag),
		cmocka_unit_test(a_failed_flow_goes_on_when_the_way_is_back),
		cmocka_unit_test(
			no_data_leaves_before_the_receiver_has_confirmed_the_sync),
		cmocka_unit_test(an_old_sync_moves_nothing),
		cmocka_unit_test(
			a_lost_sync_and_its_lost_answer_are_sent_again),
		cmocka_unit_test(
			while_the_way_stays_away_each_packet_is_still_reported),
		cmocka_unit_test(
			after_it_gave_up_a_flow_refuses_until_an_answer),
		cmocka_unit_test(
			a_packet_that_had_arrived_may_be_reported_but_is_delivered_once),
		cmocka_unit_test(other_flows_do_not_notice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
