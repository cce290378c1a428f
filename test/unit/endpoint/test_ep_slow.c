/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client that takes nothing, and windows that are full: its senders wait, or
 * a packet is reported; none vanishes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"

static struct fx fx;

static void
open_slow(bool retry, uint32_t rx_buffer)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.retry = retry;
	cfg.window_flits = 64;
	cfg.max_packet_flits = 4;
	cfg.rx_buffer_flits = rx_buffer;
	cfg.give_up_ns = 300000;
	fx_open(&fx, &cfg, 3, 4000);
}

/** Carries all until @p until_ns while the client of 1 takes nothing. */
static void
run_until(uint64_t until_ns)
{
	for (;;) {
		uint64_t t = RL_NEVER;

		fx_settle(&fx);
		for (unsigned int i = 0; i < fx.neps; i++)
			t = rl_min_u64(t, rl_ep_deadline(fx.ep[i]));
		if (t >= until_ns) {
			fx.now = rl_max_u64(fx.now, until_ns);
			return;
		}
		fx.now = rl_max_u64(fx.now, t);
	}
}

static void
a_slow_client_makes_its_senders_wait_and_costs_nothing(void **state)
{
	unsigned int n = 0, sent = 0;

	(void)state;
	open_slow(true, 16);
	for (unsigned int src = 0; src < 3; src += 2)
		while (fx_send(&fx, src, 1, 0, 500) == 0)
			sent++;
	run_until(20 * fx.cfg.give_up_ns);
	assert_int_equal(fx.nreports, 0);
	assert_true(fx_ctr(&fx, 1, RL_EPC_rx_overflow) > 0);
	assert_true(fx_ctr(&fx, 0, RL_EPC_busy_received) > 0);
	/* one flit each time the timer expires, not a window */
	assert_true(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits) < 100);
	/* it wakes up */
	for (unsigned int i = 0; i < 50 && n < sent; i++) {
		n += fx_take(&fx, 1, false);
		fx_settle(&fx); /* at once: no timer is waited for */
	}
	assert_int_equal(n, sent);
	run_until(fx.now + 1000);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_true(rl_ep_idle(fx.ep[2]));
	assert_int_equal(fx.nreports, 0);
	fx_close(&fx);
}

static void
a_sender_that_does_not_hear_of_the_end_finds_it_out(void **state)
{
	struct rl_pktq q;
	unsigned int n, sent = 0;

	(void)state;
	open_slow(true, 16);
	while (fx_send(&fx, 0, 1, 0, 500) == 0)
		sent++;
	run_until(50000);
	n = fx_take(&fx, 1, false);
	q = fx_poll(&fx, 1);
	assert_true(q.packets > 0);
	fx_drop_all(&fx, &q); /* "go on" is lost */
	for (unsigned int i = 0; i < 50 && n < sent; i++) {
		run_until(fx.now + fx.cfg.retry_timer_max_ns);
		n += fx_take(&fx, 1, false);
	}
	assert_int_equal(n, sent);
	fx_close(&fx);
}

static void
a_client_that_is_slow_for_good_can_still_die(void **state)
{
	unsigned int reports;

	(void)state;
	open_slow(true, 16);
	while (fx_send(&fx, 0, 1, 0, 500) == 0)
		;
	run_until(50000);
	assert_int_equal(fx.nreports, 0);
	/* no answer comes any more */
	while (fx.nreports == 0) {
		struct rl_pktq q = fx_poll(&fx, 0);

		fx_drop_all(&fx, &q);
		if (fx.nreports == 0)
			fx.now = rl_max_u64(fx.now + 1,
					    rl_ep_deadline(fx.ep[0]));
		assert_true(fx.now < 50000 + 2 * fx.cfg.give_up_ns);
	}
	reports = fx.nreports;
	assert_true(reports > 10);
	assert_true(rl_ep_idle(fx.ep[0]));
	fx_close(&fx);
}

/** Endpoint 1 has room for one packet of three senders. */
static void
open_tight(void)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.window_flits = 64;
	cfg.max_packet_flits = 4;
	cfg.rx_buffer_flits = 4;
	fx_open(&fx, &cfg, 4, 4000);
}

static void
send_some(unsigned int src, unsigned int n)
{
	while (n-- > 0)
		assert_int_equal(fx_send(&fx, src, 1, 0, 4 * 224), 0);
}

/** The client of 1 takes a packet. @return whose it was */
static unsigned int
take_one(void)
{
	uint32_t before[FX_EPS];

	for (unsigned int s = 0; s < FX_EPS; s++)
		before[s] = fx.got[s][1][0];
	assert_int_equal(fx_take(&fx, 1, false), 1);
	fx_settle(&fx);
	for (unsigned int s = 0; s < FX_EPS; s++)
		if (fx.got[s][1][0] != before[s])
			return s;
	fail();
	return 0;
}

/* [SW-6] */
static void
a_full_receiver_serves_next_the_flow_it_refused_longest_ago(void **state)
{
	static const unsigned int order[] = { 3, 2, 0 };

	(void)state;
	open_tight();
	for (unsigned int i = 0; i < 3; i++) { /* the first fills it */
		send_some(order[i], 4);
		fx_settle(&fx);
	}
	assert_int_equal(take_one(), 3);
	for (unsigned int i = 0; i < 11; i++) /* 3 had one more */
		assert_int_equal(take_one(), order[(i + (i > 8)) % 3]);
	fx_close(&fx);
}

static void
a_sender_that_comes_later_does_not_pass_those_that_wait(void **state)
{
	(void)state;
	open_tight();
	send_some(0, 3);
	fx_settle(&fx);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_overflow), 8);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	/* before 0 is told that there is room */
	send_some(2, 1);
	fx_rx(&fx, 1, fx_poll_one(&fx, 2));
	assert_false(rl_ep_recv_pending(fx.ep[1]));
	fx_settle(&fx);
	assert_int_equal(take_one(), 0);
	assert_int_equal(take_one(), 2);
	assert_int_equal(take_one(), 0);
	fx_close(&fx);
}

static void
a_place_whose_sender_does_not_come_is_given_to_another(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_tight();
	send_some(0, 2);
	fx_settle(&fx);
	send_some(2, 2);
	fx_settle(&fx);
	assert_int_equal(fx_take(&fx, 1, false), 1);
	q = fx_poll(&fx, 1); /* tells 0 to go on, which it never hears */
	assert_true(q.packets > 0);
	fx_drop_all(&fx, &q);
	for (unsigned int i = 0; i < 1000 && !rl_ep_recv_pending(fx.ep[1]);
	     i++) {
		q = fx_poll(&fx, 0); /* nor does 1 hear of it */
		fx_drop_all(&fx, &q);
		for (unsigned int e = 1; e < 3; e++) {
			q = fx_poll(&fx, e);
			for (struct rl_flit *f; (f = rl_pktq_pop(&q)) != NULL;)
				fx_rx(&fx, f->dst, f);
		}
		fx.now += fx.cfg.retry_timer_min_ns / 4;
	}
	assert_true(fx.now < 40 * fx.cfg.retry_timer_min_ns);
	assert_int_equal(take_one(), 2);
	fx_run(&fx, 10);
	assert_true(rl_ep_recv_pending(fx.ep[1]));
	while (fx_take(&fx, 1, false) > 0)
		fx_run(&fx, 10);
	assert_int_equal(fx.got[0][1][0], 2);
	assert_int_equal(fx.got[2][1][0], 2);
	fx_close(&fx);
}

/*
 * [SW-6] In a slow fabric each sender comes when its share has ended and that of
 * another is kept, unless the receiver waits longer. It knows no round trip.
 */
static void
a_receiver_waits_as_long_as_its_senders_are_slow(void **state)
{
	static struct fx_way way;

	(void)state;
	open_tight();
	way = (struct fx_way){ .delay_ns = 30 * fx.cfg.retry_timer_min_ns };
	send_some(0, 4);
	send_some(2, 4);
	send_some(3, 4);
	while (fx.got[0][1][0] + fx.got[2][1][0] + fx.got[3][1][0] < 12) {
		fx_way_step(&fx, &way, fx.cfg.retry_timer_min_ns / 4);
		fx_take(&fx, 1, false);
		assert_true(fx.now < 100 * way.delay_ns);
	}
	fx_way_drop(&fx, &way);
	fx_close(&fx);
}

/*
 * [DRL-11] Each of its flows waits for room, but none can use it: the others do
 * not wait for them one after the other, nor longer each time.
 */
static void
a_sender_that_is_cut_off_has_one_turn_for_all_its_flows(void **state)
{
	struct rl_pktq q;
	uint64_t from;

	(void)state;
	open_tight();
	for (uint8_t cos = 0; cos < 7; cos++)
		assert_int_equal(fx_send(&fx, 0, 1, cos, 4 * 224), 0);
	fx_settle(&fx);
	send_some(2, 4);
	fx_settle(&fx);
	from = fx.now;
	while (fx.got[2][1][0] < 4) {
		q = fx_poll(&fx, 0); /* nobody hears 0 any more */
		fx_drop_all(&fx, &q);
		for (unsigned int e = 1; e < 3; e++) {
			q = fx_poll(&fx, e);
			for (struct rl_flit *f; (f = rl_pktq_pop(&q)) != NULL;)
				if (f->dst == 0)
					fx_drop(&fx, f);
				else
					fx_rx(&fx, f->dst, f);
		}
		fx_take(&fx, 1, false);
		fx.now += fx.cfg.retry_timer_min_ns / 4;
		assert_true(fx.now - from < 60 * fx.cfg.retry_timer_min_ns);
	}
	fx_run(&fx, 1000); /* it is back */
	for (uint8_t cos = 0; cos < 7; cos++)
		while (fx.got[0][1][cos] == 0) {
			fx_take(&fx, 1, false);
			fx_run(&fx, 100);
		}
	fx_close(&fx);
}

static void
without_retry_the_endpoint_says_when_it_has_no_room(void **state)
{
	struct rl_pktq q;
	unsigned int sent = 0, got = 0, kept = 0;

	(void)state;
	open_slow(false, 16);
	for (unsigned int i = 0; i < 12; i++, sent++)
		assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
	q = fx_poll(&fx, 0);
	while (!rl_pktq_empty(&q)) {
		if (!rl_ep_rx_ready(fx.ep[1], fx.now)) {
			kept = q.packets;
			got += fx_take(&fx, 1, false);
			assert_true(rl_ep_rx_ready(fx.ep[1], fx.now));
		}
		assert_true(rl_ep_flits(fx.ep[1]) <= 16);
		fx_rx(&fx, 1, rl_pktq_pop(&q));
	}
	got += fx_take(&fx, 1, false);
	assert_true(kept > 0);
	assert_int_equal(got, sent);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_overflow), 0);
	fx_close(&fx);
}

static void
with_retry_there_is_always_room_to_turn_away(void **state)
{
	(void)state;
	open_slow(true, 16);
	while (fx_send(&fx, 0, 1, 0, 500) == 0)
		;
	run_until(1000);
	assert_true(rl_ep_rx_ready(fx.ep[1], fx.now));
	fx_close(&fx);
}

static void
no_gap_grows_old_while_the_client_keeps_packets_out(void **state)
{
	struct rl_flit *late;

	(void)state;
	open_slow(false, 16);
	late = fx_emit(&fx, 1);
	fx_rx(&fx, 1, fx_emit(&fx, 1)); /* it has overtaken */
	for (unsigned int i = 0; i < 15; i++)
		fx_rx(&fx, 2, fx_emit(&fx, 1)); /* misrouted: no matter */
	for (unsigned int i = 0; i < 14; i++) {
		assert_int_equal(fx_send(&fx, 2, 1, 0, 224), 0);
		fx_rx(&fx, 1, fx_poll_one(&fx, 2));
	}
	assert_false(rl_ep_rx_ready(fx.ep[1], fx.now));
	for (unsigned int i = 0; i < 10; i++) {
		struct rl_pktq q;

		fx.now += fx.cfg.gap_skip_ns - 1;
		assert_false(rl_ep_rx_ready(fx.ep[1], fx.now));
		q = fx_poll(&fx, 1);
		assert_true(rl_pktq_empty(&q));
	}
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_lost_flits), 0);
	fx_rx(&fx, 1, late);
	assert_int_equal(fx_take(&fx, 1, true), 16);
	fx_close(&fx);
}

static void
what_is_not_waited_for_because_windows_are_full_is_reported(void **state)
{
	struct rl_flit *late[2];
	struct rl_pktq q;

	(void)state;
	open_slow(false, 4);
	late[0] = fx_emit(&fx, 1); /* 0 of the flow of 0 */
	assert_int_equal(fx_send(&fx, 2, 1, 0, 224), 0);
	late[1] = fx_poll_one(&fx, 2);
	for (unsigned int i = 0; i < 3; i++)
		fx_rx(&fx, 1, fx_emit(&fx, 1));
	assert_int_equal(fx_send(&fx, 2, 1, 0, 224), 0);
	fx_rx(&fx, 1, fx_poll_one(&fx, 2));
	assert_int_equal(fx_take(&fx, 1, true), 0);
	fx_rx(&fx, 1, fx_emit(&fx, 1)); /* the fifth that has no room */
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_squeezed), 1);
	q = fx_poll(&fx, 1);
	assert_int_equal(q.packets, 1);
	fx_rx_all(&fx, 0, &q);
	assert_int_equal(fx.nreports, 1);
	assert_int_equal(fx.report[0].src, 0);
	assert_int_equal(fx.report[0].tag, 0);
	assert_int_equal(fx.report[0].reason, RL_EP_DROPPED);
	/* it comes after all, and no gap is left; the other flow has waited */
	fx_rx(&fx, 1, late[0]);
	fx_rx(&fx, 1, late[1]);
	assert_int_equal(fx_take(&fx, 1, true), 4 + 2);
	fx_settle(&fx);
	assert_int_equal(fx.nreports, 1); /* and not once more for that */
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_rx_overflow), 0);
	fx_close(&fx);
}

/** Time passes until packets of endpoint 0 are given up; @return how much */
static uint64_t
until_given_up(void)
{
	const uint64_t from_ns = fx.now;
	struct rl_pktq q;

	while (fx.nreports == 0) {
		q = fx_poll(&fx, 0);
		fx_drop_all(&fx, &q);
		if (fx.nreports == 0)
			fx.now = rl_max_u64(fx.now + 1,
					    rl_ep_deadline(fx.ep[0]));
		assert_true(fx.now < from_ns + 5 * fx.cfg.give_up_ns);
	}
	return fx.now - from_ns;
}

/**
 * Near peers answer at once, a far one took long: the mean says nothing of what
 * another far peer may take.
 */
static void
a_new_peer_has_as_long_as_the_slowest_one_took(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_slow(true, 16);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
	fx_settle(&fx);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
	q = fx_poll(&fx, 0);
	fx.now += fx.cfg.give_up_ns * 4 / 5;
	fx_rx_all(&fx, 1, &q);
	fx.now += fx.cfg.ack_delay_ns;
	q = fx_poll(&fx, 1);
	fx_rx_all(&fx, 0, &q);
	fx_settle(&fx);
	for (unsigned int i = 0; i < 50; i++) {
		fx_take(&fx, 1, false);
		assert_int_equal(fx_send(&fx, 0, 1, 0, 500), 0);
		fx_settle(&fx);
	}
	assert_int_equal(fx_send(&fx, 0, 2, 0, 500), 0);
	assert_true(until_given_up() >= 3 * fx.cfg.give_up_ns);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_client_makes_its_senders_wait_and_costs_nothing),
		cmocka_unit_test(a_sender_that_does_not_hear_of_the_end_finds_it_out),
		cmocka_unit_test(a_client_that_is_slow_for_good_can_still_die),
		cmocka_unit_test(
			a_full_receiver_serves_next_the_flow_it_refused_longest_ago),
		cmocka_unit_test(
			a_sender_that_comes_later_does_not_pass_those_that_wait),
		cmocka_unit_test(
			a_place_whose_sender_does_not_come_is_given_to_another),
		cmocka_unit_test(
			a_receiver_waits_as_long_as_its_senders_are_slow),
		cmocka_unit_test(
			a_sender_that_is_cut_off_has_one_turn_for_all_its_flows),
		cmocka_unit_test(without_retry_the_endpoint_says_when_it_has_no_room),
		cmocka_unit_test(with_retry_there_is_always_room_to_turn_away),
		cmocka_unit_test(no_gap_grows_old_while_the_client_keeps_packets_out),
		cmocka_unit_test(what_is_not_waited_for_because_windows_are_full_is_reported),
		cmocka_unit_test(a_new_peer_has_as_long_as_the_slowest_one_took),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
