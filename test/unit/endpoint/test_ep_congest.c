/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ep_fixture.h"

/*
 * Windows by congestion [EP-9]: round trips of chosen lengths, and what the
 * window becomes. Packets have one flit; the longest has 16.
 */

#define BASE_NS 1000
#define FLOOR 16
#define FIRST 64
#define CALM 256

static struct fx fx;
static uint64_t ack_delay_ns;
static uint32_t ack_coalesce_flits; /* 0: the default */

static int
setup(void **state)
{
	(void)state;
	ack_delay_ns = 100;
	ack_coalesce_flits = 0;
	return 0;
}

static void
open_cfg(enum rl_congestion congestion, uint32_t window)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.congestion = congestion;
	cfg.window_flits = window;
	cfg.max_packet_flits = FLOOR;
	cfg.ack_delay_ns = ack_delay_ns;
	if (cfg.retry_timer_ns <= ack_delay_ns)
		cfg.retry_timer_ns = 100 * ack_delay_ns;
	if (ack_coalesce_flits != 0)
		cfg.ack_coalesce_flits = ack_coalesce_flits;
	cfg.retry_timer_min_ns = 100000000;
	cfg.retry_timer_max_ns = 100000000;
	fx_open(&fx, &cfg, 2, 20000);
	fx.now = 1000000;
}

static uint32_t
window(void)
{
	struct rl_ep_flow_info info;

	rl_ep_flow_info(fx.ep[0], 0, &info);
	return info.tx_window;
}

/**
 * The client has more than the window lets through; all of that takes @p rtt_ns
 * to be acknowledged.
 */
static void
full_round(uint64_t rtt_ns)
{
	struct rl_pktq q = { 0 };
	struct rl_flit *pkt;

	while (fx_send_raw(&fx, 1, 0, 0, 10) == 0)
		;
	q = fx_poll(&fx, 0);
	fx.now += rtt_ns;
	fx_rx_all(&fx, 1, &q);
	q = fx_poll(&fx, 1);
	fx_rx_all(&fx, 0, &q);
	while ((pkt = rl_ep_recv(fx.ep[1])) != NULL)
		rl_packet_put(&fx.cache, pkt);
	assert_true(rl_ep_idle(fx.ep[0]));
}

/** The same with as many packets as @p n only, whose ACK waits. */
static void
short_round(unsigned int n, uint64_t rtt_ns, uint64_t wait_ns)
{
	struct rl_pktq q;

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(fx_send_raw(&fx, 1, 0, 0, 10), 0);
	q = fx_poll(&fx, 0);
	fx.now += rtt_ns;
	fx_rx_all(&fx, 1, &q);
	fx.now += wait_ns;
	fx_settle(&fx);
	for (unsigned int i = 0; i < n; i++)
		rl_packet_put(&fx.cache, rl_ep_recv(fx.ep[1]));
}

/** Brings the window to @p n without a queue. */
static void
grow_to(uint32_t n)
{
	for (unsigned int i = 0; i < 20 && (i == 0 || window() < n); i++)
		full_round(BASE_NS);
	assert_int_equal(window(), n);
}

static void
a_window_doubles_each_round_trip_without_a_queue_up_to_its_limit(void **state)
{
	(void)state;
	open_cfg(RL_CONGESTION_DELAY, 511);
	full_round(BASE_NS);
	assert_int_equal(window(), 2 * FIRST);
	full_round(BASE_NS);
	assert_int_equal(window(), 4 * FIRST);
	full_round(BASE_NS);
	assert_int_equal(window(), 511);
	full_round(BASE_NS);
	assert_int_equal(window(), 511);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_window_cuts), 0);
	fx_close(&fx);
}

static void
the_window_after_a_round_trip_follows_what_is_queued(void **state)
{
	/* of 256 flits, 256 * (rtt - base) / rtt are queued; 128 may be */
	static const struct {
		uint64_t rtt_ns;
		uint32_t window;
	} edge[] = {
		{ BASE_NS, 511 },
		{ 1333, 511 },	   /* 63 are: twofold */
		{ 1334, 288 },	   /* 64: half of what is left */
		{ 1984, 257 },	   /* 126 */
		{ 2000, 256 },	   /* 128 */
		{ 2015, 256 },
		{ 2016, 255 },	   /* 129: one too many */
		{ 2600, 227 },	   /* 157: 29 too many */
		{ 1000000, 129 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(edge); i++) {
		open_cfg(RL_CONGESTION_DELAY, 511);
		full_round(BASE_NS);
		full_round(BASE_NS);
		assert_int_equal(window(), 256);
		full_round(edge[i].rtt_ns);
		assert_int_equal(window(), edge[i].window);
		fx_close(&fx);
	}
}

static void
a_window_shrinks_to_what_may_be_queued_by_half_a_round_trip_at_most(
	void **state)
{
	uint32_t before;

	(void)state;
	open_cfg(RL_CONGESTION_DELAY, 511);
	grow_to(511);
	full_round(1000 * BASE_NS);
	assert_int_equal(window(), 256); /* 382 are too many */
	for (unsigned int i = 0; i < 30; i++) {
		before = window();
		full_round(1000 * BASE_NS);
		assert_in_range(window(), before / 2, before);
	}
	assert_in_range(window(), 128, 129);
	fx_close(&fx);
}

static void
a_window_is_never_below_the_longest_packet(void **state)
{
	struct rl_ep_cfg cfg;

	(void)state;
	fx_cfg(&cfg);
	cfg.congestion = RL_CONGESTION_DELAY;
	cfg.max_packet_flits = cfg.window_flits = 255;
	fx_open(&fx, &cfg, 2, 20000);
	fx.now = 1000000;
	full_round(BASE_NS);
	for (unsigned int i = 0; i < 300; i++) {
		full_round(1000 * BASE_NS);
		assert_int_equal(window(), 255);
	}
	fx_close(&fx);
}

static void
a_flow_that_meets_no_queue_has_room_before_its_client_needs_it(void **state)
{
	(void)state;
	open_cfg(RL_CONGESTION_DELAY, 511);
	short_round(8, BASE_NS, ack_delay_ns);
	assert_int_equal(window(), 2 * FIRST);
	for (unsigned int i = 0; i < 10; i++)
		short_round(8, BASE_NS, ack_delay_ns);
	assert_int_equal(window(), CALM);
	fx_close(&fx);
	/* not more than its limit */
	open_cfg(RL_CONGESTION_DELAY, CALM - 1);
	for (unsigned int i = 0; i < 10; i++)
		short_round(8, BASE_NS, ack_delay_ns);
	assert_int_equal(window(), CALM - 1);
	fx_close(&fx);
	/* nor from what a queue has left of it */
	open_cfg(RL_CONGESTION_DELAY, 511);
	grow_to(511);
	full_round(1000 * BASE_NS);
	full_round(1000 * BASE_NS);
	assert_in_range(window(), CALM / 2 + 1, CALM - 1);
	short_round(8, BASE_NS, ack_delay_ns);
	assert_int_equal(window(), CALM);
	fx_close(&fx);
}

static void
a_flow_with_a_queue_grows_only_if_its_window_is_full(void **state)
{
	(void)state;
	open_cfg(RL_CONGESTION_DELAY, 511);
	full_round(BASE_NS);
	assert_int_equal(window(), 2 * FIRST);
	/* 128 * 1200 / 2200: 69 wait, of the 128 that may */
	for (unsigned int i = 0; i < 10; i++)
		short_round(8, 2 * BASE_NS + 200, 0);
	assert_int_equal(window(), 2 * FIRST);
	fx_close(&fx);
}

static void
an_ack_that_waits_is_no_queue(void **state)
{
	(void)state;
	ack_delay_ns = 10 * BASE_NS;
	ack_coalesce_flits = 32;
	open_cfg(RL_CONGESTION_DELAY, 511);
	grow_to(511);
	/* after a round with a full window the next one asks for its ACK */
	short_round(8, BASE_NS, 0);
	short_round(8, BASE_NS, 0);
	/* 10 us are the ACK's own; a queue as long would leave less */
	for (unsigned int i = 0; i < 10; i++)
		short_round(8, BASE_NS, ack_delay_ns);
	assert_int_equal(window(), 511);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_window_cuts), 0);
	fx_close(&fx);
}

static void
a_longer_path_is_known_after_a_round_at_the_floor(void **state)
{
	unsigned int rounds = 0;

	(void)state;
	open_cfg(RL_CONGESTION_DELAY, 511);
	grow_to(511);
	for (; window() != FLOOR; rounds++) {
		assert_true(rounds < 128);
		full_round(10 * BASE_NS);
	}
	assert_int_equal(rounds, 128);
	for (unsigned int i = 0; i < 5; i++)
		full_round(10 * BASE_NS);
	assert_int_equal(window(), 511);
	/* and the shorter one again at once */
	full_round(BASE_NS);
	full_round(3 * BASE_NS);
	assert_int_equal(window(), 299);
	fx_close(&fx);
}

static void
a_queue_that_a_round_at_the_floor_drains_leaves_the_base(void **state)
{
	uint32_t before = 0;

	(void)state;
	open_cfg(RL_CONGESTION_DELAY, 511);
	grow_to(511);
	while (window() != FLOOR) {
		before = window();
		full_round(10 * BASE_NS);
	}
	full_round(7499);
	assert_int_equal(window(), before);
	for (unsigned int i = 0; i < 10; i++)
		full_round(10 * BASE_NS);
	assert_in_range(window(), 128, 150);
	fx_close(&fx);
}

static void
acks_of_a_small_window_do_not_wait(void **state)
{
	(void)state;
	/* an ACK waits for twice the flits that the floor lets through */
	ack_coalesce_flits = 2 * FLOOR;
	open_cfg(RL_CONGESTION_DELAY, 511);
	grow_to(511);
	for (unsigned int i = 0; window() != FLOOR; i++) {
		assert_true(i < 200);
		full_round(10 * BASE_NS);
	}
	/* asserts that all is acknowledged in its time */
	full_round(10 * BASE_NS);
	assert_true(window() > FLOOR);
	fx_close(&fx);
}

/** Sends and drops all that leaves now. @return how many ask for an ACK */
static unsigned int
drop_asking(void)
{
	struct rl_pktq q = fx_poll(&fx, 0);
	unsigned int n = 0;

	while (!rl_pktq_empty(&q)) {
		struct rl_flit *pkt = rl_pktq_pop(&q);

		n += (pkt->wire[7] & RL_FLIT_ASKS_ACK) != 0;
		fx_drop(&fx, pkt);
	}
	return n;
}

static void
what_was_taken_before_a_window_shrank_is_not_timed(void **state)
{
	struct rl_pktq q = { 0 };
	struct rl_flit *pkt;

	(void)state;
	open_cfg(RL_CONGESTION_DELAY, 511);
	grow_to(511);
	while (fx_send_raw(&fx, 1, 0, 0, 10) == 0)
		;
	rl_ep_poll(fx.ep[0], fx.now, &q, 400);
	fx.now += 1000 * BASE_NS;
	fx_rx(&fx, 1, rl_pktq_pop(&q));
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	assert_int_equal(window(), 256);
	/* with 399 under way there is no room for one in this window */
	assert_int_equal(drop_asking(), 0);
	fx_rx_all(&fx, 1, &q);
	fx_settle(&fx);
	while ((pkt = rl_ep_recv(fx.ep[1])) != NULL)
		rl_packet_put(&fx.cache, pkt);
	/* now there is */
	assert_int_equal(fx_send_raw(&fx, 1, 0, 0, 10), 0);
	assert_int_equal(drop_asking(), 1);
	fx_close(&fx);
}

static void
the_answer_to_a_probe_ends_a_round_trip(void **state)
{
	struct rl_pktq q;

	(void)state;
	open_cfg(RL_CONGESTION_DELAY, 511);
	grow_to(511);
	while (fx_send_raw(&fx, 1, 0, 0, 10) == 0)
		;
	drop_asking();
	do {
		fx.now = rl_ep_deadline(fx.ep[0]);
		q = fx_poll(&fx, 0);
	} while (rl_pktq_empty(&q));
	assert_int_equal(q.flits, 1);
	fx.now += 1000 * BASE_NS;
	fx_rx_all(&fx, 1, &q);
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	assert_int_equal(window(), 256);
	fx_close(&fx);
}

static void
without_congestion_control_the_window_is_the_limit(void **state)
{
	struct rl_flit *pkt;

	(void)state;
	open_cfg(RL_CONGESTION_NONE, 511);
	for (unsigned int i = 0; i < 511; i++)
		assert_int_equal(fx_send_raw(&fx, 1, 0, 0, 10), 0);
	assert_int_equal(fx_send_raw(&fx, 1, 0, 0, 10), -EBUSY);
	assert_int_equal(window(), 511);
	pkt = fx_poll(&fx, 0).head;
	fx.now += 1000 * BASE_NS;
	while (pkt != NULL) {
		struct rl_flit *next = pkt->next_pkt;

		assert_false(pkt->wire[7] & RL_FLIT_ASKS_ACK);
		fx_rx(&fx, 1, pkt);
		pkt = next;
	}
	fx_run(&fx, 20);
	assert_int_equal(window(), 511);
	fx_close(&fx);
}

#define T(name) cmocka_unit_test_setup(name, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_window_doubles_each_round_trip_without_a_queue_up_to_its_limit),
		T(the_window_after_a_round_trip_follows_what_is_queued),
		T(a_window_shrinks_to_what_may_be_queued_by_half_a_round_trip_at_most),
		T(a_window_is_never_below_the_longest_packet),
		T(a_flow_that_meets_no_queue_has_room_before_its_client_needs_it),
		T(a_flow_with_a_queue_grows_only_if_its_window_is_full),
		T(an_ack_that_waits_is_no_queue),
		T(a_longer_path_is_known_after_a_round_at_the_floor),
		T(a_queue_that_a_round_at_the_floor_drains_leaves_the_base),
		T(acks_of_a_small_window_do_not_wait),
		T(what_was_taken_before_a_window_shrank_is_not_timed),
		T(the_answer_to_a_probe_ends_a_round_trip),
		T(without_congestion_control_the_window_is_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
