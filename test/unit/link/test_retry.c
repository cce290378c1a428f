/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link-level retry: every way in which a flit, an ACK or a NAK can be lost,
 * corrupted or doubled ends with each packet delivered once and in order, and
 * moves the counter that names it [LINK-3].
 */
#include "bench.h"

#define DATA_NEW(a, from, to)                                                  \
	((struct bench_rule){ .type = RL_FRAME_DATA, .without = RL_FRF_RETRY,  \
			      .act = (a), .first = (from), .last = (to),       \
			      .arg = 20 /* the number, if spoilt */ })

static void
finish(struct bench *b)
{
	bench_settle(b, 50 * RL_NS_PER_MS);
	bench_check_delivered(b);
	bench_close(b);
}

/* Checks that the flits on the wire are numbered 0, 1, 2, ... */
static enum bench_act
check_numbers(void *ctx, struct bench_frame *f)
{
	uint16_t *next = ctx;

	if (f->h.type == RL_FRAME_DATA) {
		assert_int_equal(f->h.seq, *next);
		*next = (uint16_t)(*next + f->h.nflits);
	}
	return BENCH_PASS;
}

static void
numbers_are_consecutive_and_only_an_ack_frees(void **state)
{
	struct bench b;
	uint16_t next = 0;

	(void)state;
	bench_open_up(&b, NULL);
	b.wire[0].hook = check_numbers;
	b.wire[0].ctx = &next;
	b.wire[1].cut = true;
	bench_send(&b, 0, 0, 3, 10);
	bench_send(&b, 0, 1, 1, 10);
	bench_run(&b, 60 * RL_NS_PER_US);
	assert_int_equal(next, 40);
	assert_int_equal(b.end[1].sink.packets, 20);
	assert_int_equal(bench_info(&b.end[0]).held_flits, 40);
	assert_int_equal(bench_info(&b.end[0]).outstanding_flits, 40);
	b.wire[0].hook = NULL;
	b.wire[1].cut = false;
	bench_run(&b, 2 * RL_NS_PER_MS);
	assert_int_equal(bench_info(&b.end[0]).held_flits, 0);
	finish(&b);
}

/* One ACK for many flits, and the buffer is free. */
static void
an_ack_is_cumulative_and_coalesced(void **state)
{
	struct rl_link_cfg cfg;
	struct bench b;
	uint64_t acks;

	(void)state;
	bench_cfg(&cfg);
	cfg.ack_coalesce_flits = 16;
	cfg.ack_delay_ns = 40 * RL_NS_PER_US;
	bench_open_up(&b, &cfg);
	bench_run(&b, 100 * RL_NS_PER_US);
	acks = COUNTER(&b.end[1], tx_ack);
	bench_send(&b, 0, 0, 1, 48);
	bench_settle(&b, RL_NS_PER_MS);
	/* one more tells credits after the long silence */
	assert_in_range(COUNTER(&b.end[1], tx_ack) - acks, 3, 4);
	acks = COUNTER(&b.end[1], tx_ack);
	/* fewer than 16: after the delay, not before */
	bench_send(&b, 0, 0, 1, 15);
	bench_run(&b, 30 * RL_NS_PER_US);
	assert_int_equal(COUNTER(&b.end[1], tx_ack) - acks, 0);
	assert_int_equal(bench_info(&b.end[0]).outstanding_flits, 15);
	bench_run(&b, 30 * RL_NS_PER_US);
	assert_int_equal(COUNTER(&b.end[1], tx_ack) - acks, 1);
	assert_int_equal(bench_info(&b.end[0]).outstanding_flits, 0);
	finish(&b);
}

/* ACKs ride on the frames of the other direction: no lone ones. */
static void
acks_ride_on_reverse_frames(void **state)
{
	struct bench b;
	uint64_t idle;

	(void)state;
	bench_open_up(&b, NULL);
	idle = COUNTER(&b.end[1], tx_idle);
	for (unsigned int i = 0; i < 50; i++) {
		bench_send(&b, 0, 0, 1, 2);
		bench_send(&b, 1, 0, 1, 2);
		bench_run(&b, 2 * RL_NS_PER_US);
	}
	assert_true(COUNTER(&b.end[1], tx_idle) - idle <= 1);
	assert_true(bench_info(&b.end[0]).outstanding_flits <= 12);
	finish(&b);
}

static enum bench_act
lose_two_of_three_idles(void *ctx, struct bench_frame *f)
{
	if (f->h.type == RL_FRAME_DATA)
		return BENCH_PASS;
	return rl_prng_below(ctx, 3) != 0 ? BENCH_DROP : BENCH_PASS;
}

static void
a_later_ack_covers_those_that_were_lost(void **state)
{
	struct rl_prng prng;
	struct bench b;

	(void)state;
	rl_prng_seed(&prng, 6);
	bench_open_up(&b, NULL);
	b.wire[1].hook = lose_two_of_three_idles;
	b.wire[1].ctx = &prng;
	for (unsigned int i = 0; i < 400; i++) {
		bench_send(&b, 0, i % 3, 1 + i % 4, 1);
		bench_run(&b, 3 * RL_NS_PER_US);
	}
	finish(&b);
}

static void
the_50th_of_100_is_lost_or_hurt(enum bench_act act)
{
	struct bench_end *rx;
	struct bench b;

	bench_open_up(&b, NULL);
	rx = &b.end[1];
	bench_rule(&b.wire[0], DATA_NEW(act, 49, 49));
	bench_send(&b, 0, 0, 1, 100);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(rx, tx_nak), 1);
	assert_int_equal(COUNTER(rx, rx_missing_seq), 1);
	assert_int_equal(COUNTER(rx, rx_bad), act == BENCH_HURT);
	assert_int_equal(COUNTER(rx, rx_expected_bad), act == BENCH_HURT);
	assert_int_equal(COUNTER(rx, rx_check_error), act == BENCH_SPOIL);
	assert_int_equal(COUNTER(&b.end[0], rx_nak), 1);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 1);
	assert_int_equal(COUNTER(&b.end[0], tx_replay_timeout), 0);
	/* replayed from the 50th on: what was under way, and not more */
	assert_true(COUNTER(&b.end[0], tx_replay_flits) >= 1);
	assert_true(COUNTER(&b.end[0], tx_replay_flits) <= 10);
	assert_int_equal(COUNTER(rx, rx_ok), 100);
	assert_int_equal(COUNTER(rx, rx_duplicate_seq), 0);
	assert_int_equal(COUNTER(rx, rx_replay),
			 COUNTER(&b.end[0], tx_replay_flits));
	assert_int_equal(COUNTER(rx, rx_replays), 1);
	assert_int_equal(COUNTER(rx, rx_expected_good), 100);
	finish(&b);
}

static void
one_lost_flit_costs_one_nak(void **state)
{
	(void)state;
	the_50th_of_100_is_lost_or_hurt(BENCH_DROP);
	the_50th_of_100_is_lost_or_hurt(BENCH_SPOIL);
}

static void
one_bad_flit_costs_one_nak(void **state)
{
	(void)state;
	the_50th_of_100_is_lost_or_hurt(BENCH_HURT);
}

/* The expected flit is bad, and so are four after it: still one NAK. */
static void
while_silent_further_bad_flits_cause_no_nak(void **state)
{
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	bench_rule(&b.wire[0], DATA_NEW(BENCH_HURT, 20, 24));
	bench_send(&b, 0, 0, 1, 60);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
	assert_int_equal(COUNTER(&b.end[1], rx_missing_seq), 1);
	assert_true(COUNTER(&b.end[1], rx_silent_drop) >= 5);
	finish(&b);
}

/* Bad again in its replay: silent, so the timer must mend it. */
static void
a_flit_bad_twice_is_mended_by_the_timer(void **state)
{
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	bench_rule(&b.wire[0], DATA_NEW(BENCH_HURT, 20, 20));
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .with = RL_FRF_RETRY,
		.act = BENCH_HURT });
	bench_send(&b, 0, 0, 1, 60);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
	assert_int_equal(COUNTER(&b.end[0], tx_replay_timeout), 1);
	assert_int_equal(COUNTER(&b.end[1], rx_bad), 2);
	finish(&b);
}

static void
what_fec_corrects_needs_no_nak(void **state)
{
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	bench_rule(&b.wire[0], DATA_NEW(BENCH_NUDGE, 3, 40));
	bench_send(&b, 0, 0, 1, 60);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[1], rx_corrected), 38);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	finish(&b);
}

/* Time until all is delivered, with flits first..last lost once. */
static uint64_t
recovery_time(uint32_t first, uint32_t last)
{
	struct rl_link_cfg cfg;
	struct bench b;
	uint64_t t;

	bench_cfg(&cfg);
	cfg.replay_timer_ns = RL_NS_PER_MS;
	bench_open_up(&b, &cfg);
	bench_rule(&b.wire[0], DATA_NEW(BENCH_DROP, first, last));
	t = b.now_ns;
	bench_send(&b, 0, 0, 1, 200);
	while (b.end[1].sink.packets < 200) {
		bench_run(&b, b.step_ns);
		assert_true(b.now_ns - t < 100 * RL_NS_PER_MS);
	}
	t = b.now_ns - t;
	assert_true(COUNTER(&b.end[0], tx_replays) ==
		    (last >= first ? 1 : 0));
	finish(&b);
	return t;
}

static void
a_burst_of_100_costs_one_recovery(void **state)
{
	const uint64_t none = recovery_time(1, 0);
	const uint64_t one = recovery_time(50, 50);
	const uint64_t burst = recovery_time(50, 149);

	(void)state;
	/* beyond the 100 slots that went by unused */
	assert_true(one > none);
	assert_true(burst - none - 100 * RL_NS_PER_US <= 2 * (one - none));
}

static void
a_lost_nak_is_mended_by_the_timer(void **state)
{
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	bench_rule(&b.wire[0], DATA_NEW(BENCH_DROP, 49, 49));
	bench_rule(&b.wire[1], (struct bench_rule){
		.with = RL_FRF_NAK, .act = BENCH_DROP });
	bench_send(&b, 0, 0, 1, 100);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
	assert_int_equal(COUNTER(&b.end[0], rx_nak), 0);
	assert_int_equal(COUNTER(&b.end[0], tx_replay_timeout), 1);
	finish(&b);
}

/* A tail lost, and the frame that asks for it too: the timer is all there is. */
static void
a_lost_tail_is_mended_by_the_timer(void **state)
{
	for (unsigned int tail = 1; tail <= 5; tail++) {
		struct rl_link_cfg cfg;
		struct bench b;

		(void)state;
		bench_cfg(&cfg);
		cfg.keepalive_ns = 0;
		cfg.keepalive_dead_ns = 0;
		bench_open_up(&b, &cfg);
		bench_rule(&b.wire[0], DATA_NEW(BENCH_DROP, 40 - tail, 39));
		bench_rule(&b.wire[0], (struct bench_rule){
			.type = RL_FRAME_IDLE, .act = BENCH_DROP });
		bench_send(&b, 0, 0, 5, 8);
		bench_settle(&b, 5 * RL_NS_PER_MS);
		assert_int_equal(COUNTER(&b.end[0], tx_ask), 2);
		assert_int_equal(COUNTER(&b.end[0], tx_replays), 1);
		assert_int_equal(COUNTER(&b.end[0], tx_replay_flits), tail);
		assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
		finish(&b);
	}
}

/* With idle frames it shows at once, by a NAK. */
static void
a_lost_tail_shows_by_the_number_of_an_idle_frame(void **state)
{
	struct rl_link_cfg cfg;
	struct bench b;

	(void)state;
	bench_cfg(&cfg);
	cfg.keepalive_ns = 20 * RL_NS_PER_US;
	cfg.replay_timer_ns = RL_NS_PER_MS;
	bench_open_up(&b, &cfg);
	bench_rule(&b.wire[0], DATA_NEW(BENCH_DROP, 38, 39));
	bench_send(&b, 0, 0, 1, 40);
	bench_settle(&b, 200 * RL_NS_PER_US);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 1);
	assert_int_equal(COUNTER(&b.end[0], tx_replay_timeout), 0);
	finish(&b);
}

/* Frames are forged with any ACK number; nothing may be freed by a wrong one. */
static void
acks_outside_the_window_are_ignored_and_counted(void **state)
{
	static const struct {
		int32_t off; /* from the oldest outstanding number */
		bool good;
	} c[] = { { -1, false },  { -40, false }, { -32768, false },
		  { 41, false },  { 100, false }, { 32767, false },
		  { 0, true },	  { 1, true },	  { 40, true } };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		for (unsigned int nak = 0; nak < 2; nak++) {
			struct rl_port_info was, is;
			struct rl_frame_hdr h;
			struct bench_end *e;
			struct bench b;

			bench_open_up(&b, NULL);
			e = &b.end[0];
			bench_send(&b, 0, 0, 1, 60);
			bench_settle(&b, RL_NS_PER_MS);
			b.wire[1].cut = true;
			bench_send(&b, 0, 0, 1, 40);
			bench_run(&b, 60 * RL_NS_PER_US);
			was = bench_info(e);
			assert_int_equal(was.outstanding_flits, 40);
			h = bench_forge(e, RL_FRAME_IDLE,
					nak ? RL_FRF_NAK : 0, b.now_ns);
			h.ack = (uint16_t)(60 + c[i].off);
			bench_inject(e, &h, b.now_ns);
			is = bench_info(e);
			assert_int_equal(is.held_flits,
					 c[i].good ? 40 - c[i].off : 40);
			assert_int_equal(COUNTER(e, rx_ack_seq_error),
					 !c[i].good);
			assert_int_equal(COUNTER(e, tx_replays),
					 nak && c[i].good && c[i].off < 40);
			b.wire[1].cut = false;
			finish(&b);
		}
	}
}

/* A frame that an ACK raced: the replay brings what was taken already. */
static void
duplicates_of_a_replay_are_dropped_and_acknowledged_again(void **state)
{
	struct rl_frame_hdr h;
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	b.wire[1].cut = true;
	bench_send(&b, 0, 0, 4, 10);
	bench_run(&b, 60 * RL_NS_PER_US);
	assert_int_equal(COUNTER(&b.end[1], rx_ok), 40);
	h = bench_forge(&b.end[0], RL_FRAME_IDLE, RL_FRF_NAK, b.now_ns);
	bench_inject(&b.end[0], &h, b.now_ns);
	b.wire[1].cut = false;
	bench_settle(&b, 5 * RL_NS_PER_MS);
	/* the first duplicate is acknowledged, which ends the replay */
	assert_true(COUNTER(&b.end[0], tx_replay_flits) >= 1);
	assert_true(COUNTER(&b.end[0], tx_replay_flits) <= 8);
	assert_int_equal(COUNTER(&b.end[1], rx_duplicate_seq),
			 COUNTER(&b.end[0], tx_replay_flits));
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 1);
	assert_int_equal(COUNTER(&b.end[1], rx_replays), 1);
	assert_int_equal(COUNTER(&b.end[1], rx_expected_good), 40);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
	finish(&b);
}

static void
frames_that_come_twice_are_taken_once(void **state)
{
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	for (unsigned int i = 0; i < 2; i++)
		bench_rule(&b.wire[i], (struct bench_rule){
			.act = BENCH_TWICE, .last = BENCH_EVER });
	bench_send(&b, 0, 0, 3, 30);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[1], rx_duplicate_seq), 90);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	finish(&b);
}

/* A frame is overtaken by those after it: a gap, then duplicates. */
static void
a_frame_that_is_late_is_not_taken_twice(void **state)
{
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_LATE, .first = 10,
		.last = 10, .arg = 4000 });
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_LATE, .first = 30,
		.last = 30, .arg = 60000 });
	bench_send(&b, 0, 0, 3, 30);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	finish(&b);
}

static void
poison_is_forwarded_marked_and_not_naked(void **state)
{
	struct bench_packet k = { .src = 1, .dst = 2, .flits = 3 };
	struct bench b;
	struct rl_flit *pkt;

	(void)state;
	bench_open_up(&b, NULL);
	pkt = bench_make(&b.pool, &k);
	for (struct rl_flit *f = pkt; f != NULL; f = f->next)
		f->mark = RL_MARK_POISON;
	b.end[0].next_tag[0] = 1;
	rl_port_submit(b.end[0].port, pkt, b.now_ns);
	bench_settle(&b, RL_NS_PER_MS);
	assert_int_equal(b.end[1].sink.marked, 1);
	assert_int_equal(COUNTER(&b.end[1], rx_poisoned), 3);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	finish(&b);
}

/* Any packet length in frames of any size. */
static void
every_packet_size_crosses_in_every_frame_size(void **state)
{
	static const uint32_t per_frame[] = { 1, 2, 3, 5, 6, 7, 16, 32 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(per_frame); i++) {
		struct rl_link_cfg cfg;
		struct bench b;

		bench_cfg(&cfg);
		cfg.flits_per_frame = per_frame[i];
		bench_open_up(&b, &cfg);
		for (uint32_t len = 1; len <= cfg.max_packet_flits; len++) {
			bench_send(&b, 0, len % RL_VCS, len, 2);
			bench_run(&b, 10 * RL_NS_PER_US);
		}
		bench_settle(&b, 5 * RL_NS_PER_MS);
		assert_int_equal(b.end[1].sink.packets, 64);
		assert_int_equal(COUNTER(&b.end[1], rx_packets), 64);
		assert_int_equal(COUNTER(&b.end[1], rx_ok), 32 * 33);
		finish(&b);
	}
}

/* Marks, mark by mark, and the number of links crossed travel in the sideband. */
static void
what_changes_by_hop_travels_beside_the_flit(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct bench_packet k = { .src = 9, .dst = 700, .sl = 13,
					  .class = RL_CLASS_RSP, .vc = 6,
					  .flits = 2 };
		struct rl_flit *pkt;
		struct bench b;

		bench_open_up(&b, NULL);
		b.end[1].hold_vcs = 0xff;
		pkt = bench_make(&b.pool, &k);
		pkt->last->mark = (uint8_t)i; /* an end may bear any */
		pkt->hops = (uint8_t)(i * 42);
		if (i & 1)
			pkt->flags |= RL_FF_LOOPED;
		if (i & 2)
			pkt->flags |= RL_FF_REFLECTED;
		rl_port_submit(b.end[0].port, pkt, b.now_ns);
		bench_settle(&b, RL_NS_PER_MS);
		pkt = b.end[1].kept.head;
		assert_non_null(pkt);
		assert_true(bench_intact(pkt));
		assert_int_equal(pkt->last->mark, i);
		assert_int_equal(pkt->hops, i * 42 + 1);
		assert_int_equal(!!(pkt->flags & RL_FF_LOOPED), i & 1);
		assert_int_equal(!!(pkt->flags & RL_FF_REFLECTED), i >> 1);
		assert_int_equal(pkt->in_vc, 6);
		assert_int_equal(pkt->in_port, 4);
		assert_int_equal(pkt->dst, 700);
		assert_int_equal(pkt->src, 9);
		assert_int_equal(pkt->sl, 13);
		assert_int_equal(pkt->class, RL_CLASS_RSP);
		assert_int_equal(pkt->loop_id, 0);
		bench_close(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C4 numbers are consecutive and only an ACK frees",
		     numbers_are_consecutive_and_only_an_ack_frees),
		CASE("LINK-C4 an ACK is cumulative and coalesced",
		     an_ack_is_cumulative_and_coalesced),
		cmocka_unit_test(acks_ride_on_reverse_frames),
		CASE("LINK-C6 a later ACK covers those that were lost",
		     a_later_ack_covers_those_that_were_lost),
		CASE("LINK-C7 the 50th of 100 lost: one NAK, replay from 50, "
		     "100 delivered", one_lost_flit_costs_one_nak),
		CASE("LINK-C8 the 50th of 100 bad: the same",
		     one_bad_flit_costs_one_nak),
		CASE("LINK-C8 while silent further bad flits cause no NAK",
		     while_silent_further_bad_flits_cause_no_nak),
		CASE("LINK-C8 a flit bad twice is mended by the timer",
		     a_flit_bad_twice_is_mended_by_the_timer),
		CASE("[FLIT-4] what FEC corrects needs no NAK",
		     what_fec_corrects_needs_no_nak),
		CASE("LINK-C9 a burst of 100 lost costs one recovery",
		     a_burst_of_100_costs_one_recovery),
		CASE("LINK-C10 a lost NAK is mended by the timer",
		     a_lost_nak_is_mended_by_the_timer),
		CASE("LINK-C11 a lost tail is mended by the timer",
		     a_lost_tail_is_mended_by_the_timer),
		CASE("LINK-C11 a lost tail shows by the number of an idle "
		     "frame", a_lost_tail_shows_by_the_number_of_an_idle_frame),
		CASE("LINK-C15 ACKs and NAKs outside the window are ignored "
		     "and counted",
		     acks_outside_the_window_are_ignored_and_counted),
		CASE("LINK-C16 duplicates of a replay are dropped and "
		     "acknowledged again",
		     duplicates_of_a_replay_are_dropped_and_acknowledged_again),
		CASE("LINK-C16 frames that come twice are taken once",
		     frames_that_come_twice_are_taken_once),
		cmocka_unit_test(a_frame_that_is_late_is_not_taken_twice),
		CASE("LINK-C17 poison is forwarded marked and not NAKed",
		     poison_is_forwarded_marked_and_not_naked),
		CASE("LINK-C20 every packet size crosses in every frame size",
		     every_packet_size_crosses_in_every_frame_size),
		CASE("[FLIT-3] what changes by hop travels beside the flit",
		     what_changes_by_hop_travels_beside_the_flit),
	};

	return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
