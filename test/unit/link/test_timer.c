/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The replay timer, what restarts it and what holds it; retraining, and the
 * way from a timeout to a dead link [LINK-4].
 */
#include "bench.h"

#define TIMER (100 * RL_NS_PER_US)

static void
finish(struct bench *b)
{
	bench_settle(b, 100 * RL_NS_PER_MS);
	bench_check_delivered(b);
	bench_close(b);
}

/* No keepalives, no asking: nothing but what a test does. */
static struct rl_link_cfg
quiet_cfg(void)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.keepalive_ns = 0;
	cfg.keepalive_dead_ns = 0;
	return cfg;
}

/* When each number was sent last, and the time before. */
struct sent {
	const struct bench *b;
	uint64_t last[UINT16_MAX + 1];
	uint64_t before[UINT16_MAX + 1];
};

static enum bench_act
note_sent(void *ctx, struct bench_frame *f)
{
	struct sent *s = ctx;

	for (unsigned int i = 0; i < f->h.nflits; i++) {
		const uint16_t seq = (uint16_t)(f->h.seq + i);

		s->before[seq] = s->last[seq];
		s->last[seq] = s->b->now_ns;
	}
	return BENCH_PASS;
}

/* Frames of the way back are late at random, some are lost. */
static enum bench_act
late_or_lost(void *ctx, struct bench_frame *f)
{
	const uint32_t r = rl_prng_below(ctx, 100);

	if (r < 60)
		return BENCH_DROP;
	f->due_ns += rl_prng_below(ctx, 250) * RL_NS_PER_US;
	return BENCH_PASS;
}

/*
 * One poll; where it asked what has come, the oldest flit not acknowledged was
 * sent at least a timer ago. And nothing is sent again that has come.
 */
static void
poll_and_judge(struct bench *b, const struct sent *s)
{
	const uint64_t before = COUNTER(&b->end[0], tx_ask);
	uint64_t at;
	uint16_t oldest;

	bench_poll(b);
	b->now_ns += b->step_ns;
	assert_int_equal(COUNTER(&b->end[0], tx_replays), 0);
	if (COUNTER(&b->end[0], tx_ask) == before)
		return;
	oldest = (uint16_t)bench_info(&b->end[0]).replay_acked;
	at = s->last[oldest];
	if (at == b->now_ns - b->step_ns)
		at = s->before[oldest]; /* sent again in this very poll */
	assert_true(at != 0);
	assert_true(b->now_ns - b->step_ns - at >= TIMER);
}

static void
the_timer_is_never_early(void **state)
{
	static struct sent s;
	uint64_t asks = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= 20; seed++) {
		struct rl_prng prng;
		struct bench b;

		rl_prng_seed(&prng, seed);
		bench_open_up(&b, NULL);
		memset(&s, 0, sizeof(s));
		s.b = &b;
		b.wire[0].hook = note_sent;
		b.wire[0].ctx = &s;
		b.wire[1].hook = late_or_lost;
		b.wire[1].ctx = &prng;
		for (unsigned int i = 0; i < 2000; i++) {
			if (rl_prng_below(&prng, 8) == 0 &&
			    bench_info(&b.end[0]).queued_flits < 50)
				bench_send(&b, 0, 0,
					   1 + rl_prng_below(&prng, 6), 1);
			if (rl_prng_below(&prng, 200) == 0) /* backpressure */
				b.wire[0].busy_ns = b.now_ns +
					rl_prng_below(&prng, 300) * 1000;
			poll_and_judge(&b, &s);
		}
		asks += COUNTER(&b.end[0], tx_ask);
		bench_no_rules(&b.wire[0]);
		bench_no_rules(&b.wire[1]);
		finish(&b);
	}
	assert_true(asks > 20); /* else nothing was judged */
}

/* Numbered, but the wire takes no frame: that is not late. */
static void
what_was_never_sent_does_not_time_out(void **state)
{
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	bench_send(&b, 0, 0, 1, 1);
	bench_poll(&b); /* sent */
	b.wire[0].busy_ns = b.now_ns + 2 * RL_NS_PER_MS;
	bench_send(&b, 0, 0, 1, 5);
	bench_run(&b, 1900 * RL_NS_PER_US);
	assert_int_equal(bench_info(&b.end[0]).replay_acked, 1);
	assert_int_equal(bench_info(&b.end[0]).outstanding_flits, 1);
	assert_int_equal(COUNTER(&b.end[0], tx_ask), 0);
	finish(&b);
}

/* The peer's frames go on but acknowledge nothing: no reason to wait longer. */
static void
only_forward_progress_restarts_the_timer(void **state)
{
	struct rl_link_cfg cfg;
	uint64_t t;
	struct bench b;

	(void)state;
	bench_cfg(&cfg);
	cfg.keepalive_ns = 10 * RL_NS_PER_US;
	bench_open_up(&b, &cfg);
	bench_send(&b, 0, 0, 1, 20);
	bench_run(&b, 10 * RL_NS_PER_US); /* some are on their way */
	bench_rule(&b.wire[0], (struct bench_rule){
		.act = BENCH_DROP, .last = BENCH_EVER });
	while (bench_info(&b.end[0]).replay_acked <
	       COUNTER(&b.end[1], rx_ok) ||
	       bench_wire_due(&b.wire[0]) != RL_NEVER)
		bench_run(&b, b.step_ns);
	t = b.now_ns; /* about when the last progress was */
	while (COUNTER(&b.end[0], tx_ask) == 0) {
		const uint64_t heard = COUNTER(&b.end[0], rx_frames);

		bench_run(&b, 12 * b.step_ns);
		if (COUNTER(&b.end[0], tx_ask) == 0)
			assert_true(COUNTER(&b.end[0], rx_frames) > heard);
		assert_true(b.now_ns - t < TIMER + 20 * RL_NS_PER_US);
	}
	bench_no_rules(&b.wire[0]);
	finish(&b);
}

/* So many flits are lost, asked for, and a replay begins; then ACKs are lost. */
static void
replay_of(struct bench *b, unsigned int flits)
{
	bench_rule(&b->wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_DROP, .last = flits - 1 });
	bench_send(b, 0, 0, 1, flits);
	while (COUNTER(&b->end[0], tx_replays) == 0)
		bench_run(b, b->step_ns);
	assert_int_equal(COUNTER(&b->end[0], tx_ask), 1);
	b->wire[1].cut = true;
}

/* A long replay over a slow wire is not begun again while it goes out. */
static void
the_timer_holds_during_a_replay(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	replay_of(&b, 100);
	b.wire[0].slot_ns = 5 * RL_NS_PER_US; /* 500 us for all of it */
	bench_run(&b, 500 * RL_NS_PER_US);
	assert_int_equal(COUNTER(&b.end[0], tx_ask), 1);
	bench_run(&b, 110 * RL_NS_PER_US);
	assert_int_equal(COUNTER(&b.end[0], tx_replay_flits), 100);
	assert_int_equal(COUNTER(&b.end[0], tx_ask), 2);
	b.wire[1].cut = false;
	b.wire[0].slot_ns = RL_NS_PER_US;
	finish(&b);
}

/* Even where a single frame of the replay takes longer than the timer. */
static void
the_timer_holds_while_a_slow_wire_replays(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	replay_of(&b, 10);
	b.wire[0].slot_ns = 3 * TIMER; /* from the first frame of the replay */
	bench_run(&b, 27 * TIMER); /* the last of ten begins at 27 or so */
	assert_int_equal(COUNTER(&b.end[0], tx_ask), 1);
	assert_in_range(COUNTER(&b.end[0], tx_replay_flits), 9, 10);
	b.wire[1].cut = false;
	b.wire[0].slot_ns = RL_NS_PER_US;
	finish(&b);
}

/*
 * An ACK of what was numbered, but never sent, is of the future. Numbered
 * without being sent is what waits in the replay buffer for a wire that is
 * busy.
 */
static void
an_ack_of_what_was_never_sent_is_refused(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct rl_port_info was, is;
	struct rl_frame_hdr h;
	struct bench_end *e;
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	e = &b.end[0];
	bench_send(&b, 0, 0, 1, 1);
	assert_true(rl_port_tx_ready(e->port, b.now_ns)); /* numbers it */
	was = bench_info(e);
	assert_int_equal(was.held_flits, 1);
	h = bench_forge(e, RL_FRAME_IDLE, 0, b.now_ns);
	h.ack = (uint16_t)was.replay_tail;
	bench_inject(e, &h, b.now_ns);
	is = bench_info(e);
	assert_int_equal(COUNTER(e, rx_ack_seq_error), 1);
	assert_int_equal(COUNTER(e, rx_ack), 0);
	assert_int_equal(is.held_flits, 1);
	assert_int_equal(is.replay_acked, was.replay_acked);
	finish(&b);
}

/* Flits that wait behind a replay go on in the poll in which it ends. */
static void
new_flits_follow_a_replay_at_once(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct rl_frame_hdr h;
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	b.wire[0].slot_ns = 0;
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_DROP });
	bench_send(&b, 0, 0, 1, 10);
	bench_poll(&b);
	bench_wire_clear(&b.wire[0]);
	bench_wire_clear(&b.wire[1]);
	h = bench_forge(&b.end[0], RL_FRAME_IDLE, RL_FRF_NAK, b.now_ns);
	bench_inject(&b.end[0], &h, b.now_ns);
	bench_send(&b, 0, 0, 1, 7);
	bench_end_port(&b.end[0], b.now_ns);
	assert_int_equal(COUNTER(&b.end[0], tx_replay_flits), 10);
	assert_int_equal(COUNTER(&b.end[0], tx_flits), 17);
	finish(&b);
}

/* Says the same ACK for ever. */
static enum bench_act
freeze_ack(void *ctx, struct bench_frame *f)
{
	struct rl_frame_hdr h = f->h;
	uint8_t mac[12];

	h.ack = *(uint16_t *)ctx;
	memcpy(mac, f->data, sizeof(mac));
	if (h.type != RL_FRAME_INIT)
		rl_frame_seal(f->data, &h, mac, false);
	return BENCH_PASS;
}

/* Who does not answer is asked again; who has not got it is sent it again. */
static uint64_t
steps(const struct bench_end *e, bool cut)
{
	return cut ? COUNTER(e, tx_ask) : COUNTER(e, tx_replays);
}

/* @param cut: the peer says nothing at all; else all but progress */
static void
escalate(bool cut, uint32_t replays, uint32_t retrains)
{
	struct rl_link_cfg cfg = quiet_cfg();
	uint16_t frozen = 6;
	struct bench_end *e;
	struct bench b;

	cfg.replay_limit = replays;
	cfg.retrain_limit = retrains;
	cfg.retrain_interval_ns = 50 * RL_NS_PER_US;
	bench_open_up(&b, &cfg);
	e = &b.end[0];
	bench_send(&b, 0, 0, 3, 2);
	bench_settle(&b, RL_NS_PER_MS);
	if (cut)
		b.wire[1].cut = true;
	b.wire[1].hook = freeze_ack;
	b.wire[1].ctx = &frozen;
	bench_send(&b, 0, 0, 5, 4);
	for (unsigned int i = 0; steps(e, cut) < replays; i++) {
		bench_run(&b, b.step_ns);
		assert_true(i < replays * 130);
	}
	bench_run(&b, 60 * RL_NS_PER_US);
	assert_int_equal(steps(e, cut), replays);
	assert_int_equal(COUNTER(e, retrains), 0);
	bench_run(&b, (cut ? 50 : 100) * RL_NS_PER_US);
	assert_int_equal(bench_end_events(e, RL_PEV_RETRAIN), 1);
	assert_int_equal(bench_info(e).held_flits, 20);
	bench_run(&b, 30 * RL_NS_PER_MS);
	assert_int_equal(bench_end_events(e, RL_PEV_DEAD), 1);
	assert_int_equal(bench_end_detector(e), RL_DET_RETRAIN);
	if (cut) { /* one retraining, its probes unanswered */
		assert_int_equal(COUNTER(e, tx_ask), replays);
		assert_int_equal(COUNTER(e, tx_replays), 0);
		assert_int_equal(bench_end_events(e, RL_PEV_RETRAIN), 1);
		assert_in_range(COUNTER(e, tx_retrain), retrains,
				retrains + 1);
	} else {
		assert_int_equal(bench_end_events(e, RL_PEV_RETRAIN),
				 retrains);
		assert_int_equal(COUNTER(e, tx_replays),
				 replays * (retrains + 1));
	}
	/* nothing is freed unlooped, and the host is told */
	assert_int_equal(e->looped.packets, 4);
	assert_int_equal(e->looped.flits, 20);
	assert_int_equal(bench_end_events(e, RL_PEV_DRAINED), 1);
	bench_close(&b);
}

static void
frozen_acks_end_in_replays_retrains_and_death(void **state)
{
	(void)state;
	escalate(false, 1, 1);
	escalate(false, 3, 2);
	escalate(false, 8, 8);
}

static void
a_silent_peer_ends_in_replays_probes_and_death(void **state)
{
	(void)state;
	escalate(true, 1, 1);
	escalate(true, 3, 2);
	escalate(true, 8, 8);
}

static void
an_unlimited_replay_count_never_retrains(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct bench b;

	(void)state;
	cfg.replay_limit = 255;
	cfg.retrain_limit = 1;
	bench_open_up(&b, &cfg);
	b.wire[0].cut = true;
	bench_send(&b, 0, 0, 2, 3);
	bench_run(&b, 600 * TIMER);
	assert_true(COUNTER(&b.end[0], tx_ask) > 500);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	assert_int_equal(COUNTER(&b.end[0], retrains), 0);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	b.wire[0].cut = false;
	finish(&b);
}

/* Buffer and numbers are kept through a retraining; then it goes on. */
static void
retraining_keeps_the_buffer_and_resumes(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct bench_end *e;
	struct bench b;

	(void)state;
	cfg.replay_limit = 2;
	cfg.retrain_interval_ns = 50 * RL_NS_PER_US;
	bench_open_up(&b, &cfg);
	e = &b.end[0];
	b.wire[0].cut = true;
	bench_send(&b, 0, 0, 5, 4);
	bench_run(&b, 5 * TIMER);
	assert_int_equal(bench_state(e), RL_LINK_RETRAIN);
	assert_int_equal(bench_info(e).held_flits, 20);
	/* the other direction is not in the way */
	bench_send(&b, 1, 0, 3, 3);
	bench_run(&b, 20 * RL_NS_PER_US);
	assert_int_equal(b.end[0].sink.packets, 3);
	assert_int_equal(bench_state(e), RL_LINK_RETRAIN);
	b.wire[0].cut = false;
	bench_run(&b, 80 * RL_NS_PER_US);
	assert_int_equal(bench_state(e), RL_LINK_UP);
	assert_int_equal(COUNTER(&b.end[1], rx_retrain), 1);
	assert_int_equal(COUNTER(e, deaths), 0);
	finish(&b);
}

/* Limits count what comes without progress, not what ever came. */
static void
progress_forgives_replays_and_retrains(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct bench b;

	(void)state;
	cfg.replay_limit = 2;
	cfg.retrain_limit = 8;
	cfg.retrain_interval_ns = 50 * RL_NS_PER_US;
	bench_open_up(&b, &cfg);
	for (unsigned int i = 0; i < 12; i++) {
		b.wire[0].cut = true;
		bench_send(&b, 0, 0, 2, 2);
		bench_run(&b, 4 * TIMER); /* into a retraining */
		assert_int_equal(bench_state(&b.end[0]), RL_LINK_RETRAIN);
		b.wire[0].cut = false;
		bench_settle(&b, RL_NS_PER_MS);
	}
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	assert_int_equal(COUNTER(&b.end[0], retrains), 12);
	finish(&b);
}

static void
the_timer_follows_the_measured_round_trip(void **state)
{
	static const uint64_t delay_us[] = { 1, 20, 60, 120, 400 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(delay_us); i++) {
		const uint64_t rtt = 2 * (delay_us[i] + 1) * RL_NS_PER_US;
		struct rl_link_cfg cfg;
		struct rl_port_info info;
		uint64_t want;
		struct bench b = { 0 };

		bench_cfg(&cfg);
		cfg.replay_timer_ns = 0;
		cfg.replay_timer_min_ns = 50 * RL_NS_PER_US;
		cfg.replay_timer_max_ns = 500 * RL_NS_PER_US;
		bench_open(&b, &cfg);
		b.now_ns = (1ull << 32) - 1000 * RL_NS_PER_US; /* a wrap */
		for (unsigned int w = 0; w < 2; w++) {
			b.wire[w].delay_ns = delay_us[i] * RL_NS_PER_US;
			b.wire[w].slot_ns = RL_NS_PER_US;
		}
		bench_start(&b);
		for (unsigned int n = 0; n < 60; n++) {
			/* the peer's leisure is no part of the round trip */
			bench_run(&b, 100 * RL_NS_PER_US);
			bench_send(&b, n % 2, 0, 2, 1);
		}
		bench_settle(&b, 5 * RL_NS_PER_MS);
		info = bench_info(&b.end[0]);
		assert_in_range(info.srtt_ns, rtt - 2000, rtt + 2000);
		want = 3 * rtt + 500 + 2 * cfg.ack_delay_ns;
		want = want < 50000 ? 50000 : want > 500000 ? 500000 : want;
		want = want < 2 * rtt ? 2 * rtt : want;
		assert_in_range(info.replay_timer_ns, want - 6000,
				want + 6000);
		bench_close(&b);
	}
}

/* A port polled at its deadlines alone gets as far as one polled always. */
static enum bench_act
lose_some(void *ctx, struct bench_frame *f)
{
	(void)f;
	return rl_prng_below(ctx, 10) == 0 ? BENCH_DROP : BENCH_PASS;
}

static void
deadlines_alone_keep_a_link_going(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 30; seed++) {
		struct rl_link_cfg cfg;
		struct rl_prng prng;
		struct bench b;

		rl_prng_seed(&prng, seed);
		bench_cfg(&cfg);
		if (seed & 1) {
			cfg.keepalive_ns = 0;
			cfg.keepalive_dead_ns = 0;
		}
		cfg.credits_flits = 40;
		bench_open_up(&b, &cfg);
		for (unsigned int i = 0; i < 2; i++) {
			b.wire[i].hook = lose_some;
			b.wire[i].ctx = &prng;
		}
		for (unsigned int i = 0; i < 40; i++)
			bench_send(&b, 0, i % 3, 1 + rl_prng_below(&prng, 9),
				   1);
		bench_settle_by_deadlines(&b, 50 * RL_NS_PER_MS);
		bench_check_delivered(&b);
		bench_close(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C12 the timer is never early",
		     the_timer_is_never_early),
		CASE("LINK-C12 what was never sent does not time out",
		     what_was_never_sent_does_not_time_out),
		CASE("LINK-C12 only forward progress restarts the timer",
		     only_forward_progress_restarts_the_timer),
		CASE("LINK-C12 the timer holds during a replay",
		     the_timer_holds_during_a_replay),
		CASE("LINK-C12 the timer holds while a slow wire replays",
		     the_timer_holds_while_a_slow_wire_replays),
		CASE("LINK-C15 an ACK of what was never sent is refused",
		     an_ack_of_what_was_never_sent_is_refused),
		cmocka_unit_test(new_flits_follow_a_replay_at_once),
		CASE("LINK-C13 frozen ACKs end in replays, retrains and death, "
		     "all looped",
		     frozen_acks_end_in_replays_retrains_and_death),
		CASE("LINK-C13 a silent peer ends in replays, probes and death",
		     a_silent_peer_ends_in_replays_probes_and_death),
		CASE("LINK-C14 an unlimited replay count never retrains",
		     an_unlimited_replay_count_never_retrains),
		cmocka_unit_test(retraining_keeps_the_buffer_and_resumes),
		cmocka_unit_test(progress_forgives_replays_and_retrains),
		cmocka_unit_test(the_timer_follows_the_measured_round_trip),
		cmocka_unit_test(deadlines_alone_keep_a_link_going),
	};

	return cmocka_run_group_tests_name("timer", tests, NULL, NULL);
}
