/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows and credits: what bounds a link, and what it must never cost. */
#include "bench.h"

static void
open_up(struct bench *b, const struct rl_link_cfg *cfg, uint64_t delay_ns)
{
	memset(b, 0, sizeof(*b));
	bench_open(b, cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = delay_ns;
	b->wire[0].slot_ns = b->wire[1].slot_ns = RL_NS_PER_US;
	bench_start(b);
	bench_run(b, 4 * delay_ns + 50 * RL_NS_PER_US);
}

static void
finish(struct bench *b)
{
	bench_settle(b, 100 * RL_NS_PER_MS);
	bench_check_delivered(b);
	bench_close(b);
}

static struct rl_link_cfg
small_cfg(uint32_t window, uint32_t credits, uint32_t max_packet)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.window_flits = window;
	cfg.credits_flits = credits;
	cfg.max_packet_flits = max_packet;
	return cfg;
}

static void
a_window_of_4_never_has_more_outstanding(void **state)
{
	static const uint32_t window[] = { 1, 2, 3, 4, 5, 8, 33 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(window); i++) {
		const uint32_t w = window[i];
		struct rl_link_cfg cfg = small_cfg(w, 64, w < 4 ? w : 4);
		uint32_t peak = 0;
		struct bench b;

		open_up(&b, &cfg, 10 * RL_NS_PER_US);
		for (unsigned int n = 0; n < 60; n++)
			bench_send(&b, 0, n % 3,
				   1 + n % cfg.max_packet_flits, 1);
		while (!rl_port_idle(b.end[0].port)) {
			const struct rl_port_info info = bench_info(&b.end[0]);

			assert_true(info.outstanding_flits <= w);
			assert_true(info.held_flits <= w);
			if (info.outstanding_flits > peak)
				peak = info.outstanding_flits;
			bench_run(&b, b.step_ns);
			assert_true(b.now_ns < RL_NS_PER_S);
		}
		if (w <= 5) {
			assert_int_equal(peak, w); /* it was made use of */
			assert_true(COUNTER(&b.end[0], tx_window_full) > 0);
		}
		assert_int_equal(b.end[0].ndrops + b.end[1].ndrops, 0);
		finish(&b);
	}
}

/* Time for 3000 flits with a replay buffer and an input buffer so large. */
static uint64_t
time_with(uint32_t window, uint32_t credits, uint64_t delay_ns)
{
	struct rl_link_cfg cfg = small_cfg(window, credits, 1);
	struct bench b = { .pool_flits = 8192 };
	uint64_t t;

	cfg.ack_coalesce_flits = 1;
	cfg.replay_timer_ns = RL_NS_PER_MS;
	bench_open(&b, &cfg);
	b.wire[0].delay_ns = b.wire[1].delay_ns = delay_ns;
	b.wire[0].slot_ns = b.wire[1].slot_ns = RL_NS_PER_US;
	bench_start(&b);
	bench_run(&b, 4 * delay_ns);
	bench_send(&b, 0, 0, 1, 3000);
	t = b.now_ns;
	bench_settle(&b, 100 * RL_NS_PER_MS);
	t = b.now_ns - t;
	bench_check_delivered(&b);
	bench_close(&b);
	return t;
}

/*
 * A flit takes a slot of 1 us and D to cross; its ACK the same. With a window
 * of (2 D + 2 us) x 1 flit/us the sender never waits; with one flit less it
 * waits a slot in each round. The same of an input buffer, but that its credit
 * returns when the core has taken the flit, a poll of 1 us later.
 */
static void
a_buffer_of_bandwidth_times_delay_never_stalls(void **state)
{
	static const uint32_t delay_us[] = { 5, 20, 60 };

	(void)state;
	for (unsigned int i = 0; i < 2 * RL_ARRAY_SIZE(delay_us); i++) {
		const bool input = i % 2;
		const uint32_t us = delay_us[i / 2], bdp = 2 * us + 2 + input;
		const uint64_t delay_ns = us * RL_NS_PER_US;
		uint64_t t[3];

		for (uint32_t k = 0; k < 3; k++) {
			const uint32_t n = k == 2 ? 2 * bdp : bdp - 1 + k;

			t[k] = input ? time_with(4096, n, delay_ns)
				     : time_with(n, 4096, delay_ns);
		}
		assert_int_equal(t[1], t[2]);
		/* 3000 / bdp rounds, a slot lost in each, one more or less */
		assert_true(t[0] >= t[1] + (3000 / bdp - 2) * RL_NS_PER_US);
	}
}

/* The receiver's core takes nothing: the sender stops at the credits. */
static void
a_full_input_queue_is_backpressure_and_no_drop(void **state)
{
	struct rl_link_cfg cfg = small_cfg(128, 40, 8);
	struct bench b;

	(void)state;
	open_up(&b, &cfg, 2 * RL_NS_PER_US);
	b.end[1].hold_vcs = 1;
	bench_send(&b, 0, 0, 8, 20);
	bench_run(&b, 3 * RL_NS_PER_MS);
	assert_int_equal(b.end[1].kept.flits, 40);
	assert_int_equal(bench_info(&b.end[0]).credits[0], 0);
	assert_int_equal(bench_info(&b.end[0]).queued_flits, 120);
	assert_int_equal(COUNTER(&b.end[1], rx_overrun), 0);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	assert_true(COUNTER(&b.end[0], tx_credit_stall) > 0);
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	finish(&b);
}

/*
 * Credits that come back few at a time are told within the delay of an ACK,
 * whether there is something to acknowledge or not: a sender that waits for
 * them must not wait for a keepalive.
 */
static void
a_few_credits_are_told_within_the_delay_of_an_ack(void **state)
{
	struct rl_link_cfg cfg = small_cfg(128, 40, 4);
	struct rl_flit *pkt;
	struct bench b;

	(void)state;
	cfg.keepalive_ns = 50 * RL_NS_PER_MS;
	cfg.keepalive_dead_ns = 0;
	open_up(&b, &cfg, 2 * RL_NS_PER_US);
	b.end[1].hold_vcs = 1;
	bench_send(&b, 0, 0, 4, 11);
	bench_run(&b, RL_NS_PER_MS);
	assert_int_equal(b.end[1].kept.flits, 40);
	assert_int_equal(bench_info(&b.end[0]).queued_flits, 4);
	pkt = rl_pktq_pop(&b.end[1].kept); /* the core lets one go */
	rl_shared_add(&b.end[1].shared->freed[0], 4);
	bench_sink_take(&b.end[1].sink, pkt);
	rl_packet_put(&b.pool.cache, pkt);
	bench_run(&b, cfg.ack_delay_ns + 20 * RL_NS_PER_US);
	assert_int_equal(bench_info(&b.end[0]).queued_flits, 0);
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	finish(&b);
}

/* Of 40 credits 10 may wait for a frame to ride on; more are told at once. */
static void
more_than_a_quarter_of_the_credits_is_told_at_once(void **state)
{
	static const unsigned int freed[] = { 2, 3 }; /* packets of four */

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(freed); i++) {
		struct rl_link_cfg cfg = small_cfg(128, 40, 4);
		const bool told = 4 * freed[i] > cfg.credits_flits / 4;
		struct bench b;

		cfg.ack_delay_ns = 5 * RL_NS_PER_MS;
		cfg.replay_timer_ns = 40 * RL_NS_PER_MS;
		cfg.keepalive_ns = 50 * RL_NS_PER_MS;
		cfg.keepalive_dead_ns = 0;
		open_up(&b, &cfg, 2 * RL_NS_PER_US);
		b.end[1].hold_vcs = 1;
		bench_send(&b, 0, 0, 4, 13);
		bench_run(&b, 200 * RL_NS_PER_US);
		assert_int_equal(bench_info(&b.end[0]).queued_flits, 12);
		for (unsigned int k = 0; k < freed[i]; k++) {
			struct rl_flit *pkt = rl_pktq_pop(&b.end[1].kept);

			rl_shared_add(&b.end[1].shared->freed[0], 4);
			bench_sink_take(&b.end[1].sink, pkt);
			rl_packet_put(&b.pool.cache, pkt);
		}
		bench_run(&b, 50 * RL_NS_PER_US);
		assert_int_equal(bench_info(&b.end[0]).queued_flits,
				 told ? 0 : 12);
		b.end[1].hold_vcs = 0;
		bench_end_release(&b.end[1]);
		finish(&b);
	}
}

/* A packet starts only where all of it has room (virtual cut-through). */
static void
a_packet_waits_until_the_credits_cover_all_of_it(void **state)
{
	struct rl_link_cfg cfg = small_cfg(128, 10, 8);
	struct bench b;

	(void)state;
	open_up(&b, &cfg, 2 * RL_NS_PER_US);
	b.end[1].hold_vcs = 1;
	bench_send(&b, 0, 0, 3, 1);
	bench_send(&b, 0, 0, 8, 1);
	bench_run(&b, RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[0], tx_flits), 3);
	bench_end_release(&b.end[1]);
	bench_run(&b, RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[0], tx_flits), 11);
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	finish(&b);
}

static void
a_blocked_vc_does_not_stop_the_others(void **state)
{
	(void)state;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		struct rl_link_cfg cfg = small_cfg(128, 32, 8);
		struct bench b;

		open_up(&b, &cfg, 2 * RL_NS_PER_US);
		b.end[1].hold_vcs = 1u << vc;
		for (unsigned int n = 0; n < 20; n++)
			for (unsigned int v = 0; v < RL_VCS; v++)
				bench_send(&b, 0, v, 4, 1);
		bench_run(&b, 2 * RL_NS_PER_MS);
		for (unsigned int v = 0; v < RL_VCS; v++)
			assert_int_equal(b.end[1].sink.next_tag[v],
					 v == vc ? 0 : 20);
		assert_int_equal(b.end[1].kept.flits, 32);
		assert_int_equal(COUNTER(&b.end[1], rx_overrun), 0);
		b.end[1].hold_vcs = 0;
		bench_end_release(&b.end[1]);
		finish(&b);
	}
}

/* Seven blocked, one free; and the free one keeps the wire's full rate. */
static void
seven_blocked_vcs_cost_the_eighth_nothing(void **state)
{
	struct rl_link_cfg cfg = small_cfg(128, 64, 8);
	uint64_t t;
	struct bench b;

	(void)state;
	open_up(&b, &cfg, 2 * RL_NS_PER_US);
	b.end[1].hold_vcs = 0x7f;
	for (unsigned int v = 0; v < 7; v++)
		bench_send(&b, 0, v, 8, 10);
	bench_run(&b, RL_NS_PER_MS);
	bench_send(&b, 0, 7, 4, 100);
	t = b.now_ns;
	while (b.end[1].sink.next_tag[7] < 100)
		bench_run(&b, b.step_ns);
	assert_true(b.now_ns - t <= 420 * RL_NS_PER_US); /* 400 slots */
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	finish(&b);
}

/* Credits 0, and a flit lost: its replay needs none, and costs none. */
static void
replay_at_zero_credits(bool by_timer)
{
	struct rl_link_cfg cfg = small_cfg(128, 24, 8);
	struct bench b;

	open_up(&b, &cfg, 2 * RL_NS_PER_US);
	b.end[1].hold_vcs = 1;
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .without = RL_FRF_RETRY,
		.act = BENCH_DROP, .first = by_timer ? 20 : 10,
		.last = by_timer ? 23 : 10 });
	if (by_timer)
		bench_rule(&b.wire[1], (struct bench_rule){
			.with = RL_FRF_NAK, .act = BENCH_DROP,
			.last = BENCH_EVER });
	bench_send(&b, 0, 0, 8, 6);
	bench_run(&b, RL_NS_PER_MS);
	assert_int_equal(b.end[1].kept.flits, 24);
	assert_int_equal(COUNTER(&b.end[0], tx_replay_timeout), by_timer);
	assert_true(COUNTER(&b.end[0], tx_replays) >= 1);
	assert_int_equal(bench_info(&b.end[0]).credits[0], 0);
	assert_int_equal(bench_info(&b.end[0]).queued_flits, 24);
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	bench_settle(&b, 10 * RL_NS_PER_MS);
	bench_run(&b, 100 * RL_NS_PER_US);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(bench_info(&b.end[0]).credits[vc], 24);
	finish(&b);
}

static void
a_replay_at_zero_credits_proceeds_and_is_not_charged(void **state)
{
	(void)state;
	replay_at_zero_credits(false);
	replay_at_zero_credits(true);
}

/* All frames that tell of credits are lost for a while. */
static void
lost_credit_updates_are_repaired(void **state)
{
	for (unsigned int keepalive = 0; keepalive < 2; keepalive++) {
		struct rl_link_cfg cfg = small_cfg(128, 16, 8);
		struct bench b;

		(void)state;
		cfg.keepalive_ns = keepalive ? 200 * RL_NS_PER_US : 0;
		cfg.keepalive_dead_ns = 0;
		open_up(&b, &cfg, 2 * RL_NS_PER_US);
		b.end[1].hold_vcs = 1;
		bench_send(&b, 0, 0, 8, 7);
		bench_run(&b, 500 * RL_NS_PER_US); /* all acknowledged */
		assert_int_equal(b.end[1].kept.flits, 16);
		assert_int_equal(bench_info(&b.end[0]).outstanding_flits, 0);
		b.wire[1].cut = true;
		b.end[1].hold_vcs = 0;
		bench_end_release(&b.end[1]);
		bench_run(&b, 100 * RL_NS_PER_US); /* the update is lost */
		b.wire[1].cut = false;
		bench_settle(&b, 10 * RL_NS_PER_MS);
		bench_run(&b, RL_NS_PER_MS);
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			assert_int_equal(bench_info(&b.end[0]).credits[vc],
					 16);
		finish(&b);
	}
}

/* The first credits of an epoch are told by one frame; that one is lost. */
static void
the_first_credits_of_an_epoch_may_be_lost_too(void **state)
{
	struct rl_link_cfg cfg = small_cfg(128, 16, 8);
	struct bench b = { 0 };

	(void)state;
	cfg.keepalive_ns = 0;
	cfg.keepalive_dead_ns = 0;
	bench_open(&b, &cfg);
	for (unsigned int i = 0; i < 2; i++) {
		bench_rule(&b.wire[i], (struct bench_rule){
			.type = RL_FRAME_IDLE, .act = BENCH_DROP });
		rl_port_start(b.end[i].port, b.now_ns);
	}
	bench_send(&b, 0, 3, 8, 7);
	finish(&b);
}

/* More than the 16 bits of the counters, in packets of odd length. */
static void
cyclic_credits_wrap_without_loss(void **state)
{
	struct rl_link_cfg cfg = small_cfg(256, 100, 31);
	struct bench b;

	(void)state;
	cfg.flits_per_frame = 16;
	open_up(&b, &cfg, RL_NS_PER_US);
	for (unsigned int n = 0; n < 2300; n++) {
		bench_send(&b, 0, 5, 31, 1);
		while (bench_info(&b.end[0]).queued_flits > 200)
			bench_run(&b, b.step_ns);
	}
	bench_settle(&b, 10 * RL_NS_PER_MS);
	assert_int_equal(b.end[1].sink.flits, 2300 * 31); /* > 65536 */
	bench_run(&b, 100 * RL_NS_PER_US);
	assert_int_equal(bench_info(&b.end[0]).credits[5], 100);
	finish(&b);
}

/* The largest credit there may be is not taken for a step backwards. */
static void
the_largest_credits_are_believed(void **state)
{
	struct rl_link_cfg cfg = small_cfg(128, 32767, 8);
	struct bench b;

	(void)state;
	open_up(&b, &cfg, RL_NS_PER_US);
	assert_int_equal(bench_info(&b.end[0]).credits[0], 32767);
	bench_send(&b, 0, 0, 8, 20);
	bench_settle(&b, 10 * RL_NS_PER_MS);
	bench_run(&b, 10 * RL_NS_PER_MS); /* told when it is worth it */
	finish(&b);
}

/* A sender that ignores its credits: the excess is refused, not stored. */
static void
refuse_beyond_credits(unsigned int flits)
{
	struct rl_link_cfg cfg = small_cfg(128, 16, 8);
	struct rl_frame_hdr h;
	struct bench b;

	open_up(&b, &cfg, RL_NS_PER_US);
	h = bench_forge(&b.end[0], RL_FRAME_IDLE, 0, b.now_ns);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		h.credit[vc] = 1000; /* forged */
	bench_inject(&b.end[0], &h, b.now_ns);
	b.end[1].hold_vcs = 1;
	bench_send(&b, 0, 0, flits, 24 / flits);
	bench_run(&b, 50 * RL_NS_PER_US);
	assert_int_equal(b.end[1].kept.flits, 16);
	assert_true(COUNTER(&b.end[1], rx_overrun) >= 1);
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	finish(&b);
}

static void
what_comes_beyond_the_credits_is_refused(void **state)
{
	(void)state;
	refuse_beyond_credits(8);
	refuse_beyond_credits(1);
}

/* No flit buffers at the receiver for a while: as if lost, then mended. */
static void
a_receiver_without_buffers_recovers(void **state)
{
	struct rl_flit *taken[2048];
	unsigned int n = 0;
	struct bench b;

	(void)state;
	open_up(&b, NULL, RL_NS_PER_US);
	bench_send(&b, 0, 0, 3, 8);
	while (b.pool.cache.count > 1)
		taken[n++] = rl_flit_get(&b.pool.cache);
	bench_run(&b, 250 * RL_NS_PER_US);
	assert_true(COUNTER(&b.end[1], rx_no_buffer) >= 1);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	while (n > 0)
		rl_flit_put(&b.pool.cache, taken[--n]);
	finish(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C18 a window of 4 never has more than 4 "
		     "outstanding, full is backpressure",
		     a_window_of_4_never_has_more_outstanding),
		CASE("LINK-C18 a full input queue is backpressure and no drop",
		     a_full_input_queue_is_backpressure_and_no_drop),
		CASE("LINK-C19 a buffer of bandwidth x delay never stalls, one "
		     "flit less does",
		     a_buffer_of_bandwidth_times_delay_never_stalls),
		CASE("LINK-C24 a replay at zero credits proceeds and is not "
		     "charged",
		     a_replay_at_zero_credits_proceeds_and_is_not_charged),
		CASE("LINK-C25 lost credit updates are repaired",
		     lost_credit_updates_are_repaired),
		CASE("LINK-C25 the first credits of an epoch may be lost too",
		     the_first_credits_of_an_epoch_may_be_lost_too),
		CASE("LINK-C25 a few credits are told within the delay of an "
		     "ACK",
		     a_few_credits_are_told_within_the_delay_of_an_ack),
		CASE("LINK-C25 more than a quarter of the credits is told at "
		     "once",
		     more_than_a_quarter_of_the_credits_is_told_at_once),
		CASE("LINK-C26 a blocked VC does not stop the others",
		     a_blocked_vc_does_not_stop_the_others),
		CASE("LINK-C26 seven blocked VCs cost the eighth nothing",
		     seven_blocked_vcs_cost_the_eighth_nothing),
		CASE("[LCB-3] a packet waits until the credits cover all of it",
		     a_packet_waits_until_the_credits_cover_all_of_it),
		CASE("[LCB-3] cyclic credits wrap without loss",
		     cyclic_credits_wrap_without_loss),
		CASE("[LCB-3] the largest credits are believed",
		     the_largest_credits_are_believed),
		CASE("[LCB-3] what comes beyond the credits is refused",
		     what_comes_beyond_the_credits_is_refused),
		cmocka_unit_test(a_receiver_without_buffers_recovers),
	};

	return cmocka_run_group_tests_name("credit", tests, NULL, NULL);
}
