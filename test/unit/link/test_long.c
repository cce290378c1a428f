/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long runs: wraps of the real modulus of 16 bits with losses exactly at the
 * wrap, the largest window, and random loss over a long time.
 */
#include "bench.h"

#define MODULUS 65536u

static void
open_up(struct bench *b, const struct rl_link_cfg *cfg)
{
	bench_open(b, cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * RL_NS_PER_US;
	b->wire[0].slot_ns = b->wire[1].slot_ns = RL_NS_PER_US;
	bench_start(b);
	bench_run(b, 50 * RL_NS_PER_US);
}

/* Which frame to lose at which wrap. */
struct wraps {
	uint32_t wrap;	   /* of the number of the last new frame */
	uint16_t last_seq;
	uint32_t lost;	   /* frames */
	bool lose_naks;
	uint32_t lose_acks; /* so many answers more */
};

/* Frame holds number n, of the wrap it belongs to. */
static bool
holds(const struct bench_frame *f, uint16_t n)
{
	return (uint16_t)(n - f->h.seq) < f->h.nflits;
}

static enum bench_act
lose_at_the_wrap(void *ctx, struct bench_frame *f)
{
	struct wraps *w = ctx;
	bool lose = false;

	if (f->h.type != RL_FRAME_DATA || f->h.flags & RL_FRF_RETRY)
		return BENCH_PASS;
	if (f->h.seq < w->last_seq)
		w->wrap++;
	w->last_seq = f->h.seq;
	w->lose_naks = w->wrap >= 2;
	switch (w->wrap) {
	case 0: /* the last before */
		lose = holds(f, 65535);
		break;
	case 1: /* the first after, and the one on the other side */
		lose = f->h.seq < 16 || holds(f, 65535);
		break;
	case 2: /* everything around */
		lose = f->h.seq >= 65504 || f->h.seq < 32;
		break;
	case 3:
		lose = f->h.seq < 32;
		w->lose_acks = holds(f, 65500) ? 12 : w->lose_acks;
		break;
	}
	w->lost += lose;
	return lose ? BENCH_DROP : BENCH_PASS;
}

static enum bench_act
lose_answers(void *ctx, struct bench_frame *f)
{
	struct wraps *w = ctx;

	if (w->lose_acks != 0) {
		w->lose_acks--;
		return BENCH_DROP;
	}
	if (w->lose_naks && f->h.flags & RL_FRF_NAK)
		return BENCH_DROP;
	return BENCH_PASS;
}

static void
losses_at_four_wraps_of_the_modulus(void **state)
{
	struct rl_link_cfg cfg;
	struct bench b = { 0 };
	struct wraps w = { 0 };

	(void)state;
	bench_cfg(&cfg);
	cfg.flits_per_frame = 8;
	cfg.max_packet_flits = 16;
	open_up(&b, &cfg);
	b.wire[0].hook = lose_at_the_wrap;
	b.wire[1].hook = lose_answers;
	b.wire[0].ctx = b.wire[1].ctx = &w;
	while (b.end[1].sink.flits < 4 * MODULUS + 1000) {
		if (bench_info(&b.end[0]).queued_flits < 64)
			for (unsigned int len = 1; len <= 16; len++)
				bench_send(&b, 0, len % 3, len, 1);
		bench_run(&b, b.step_ns);
		assert_true(b.now_ns < RL_NS_PER_S);
	}
	assert_int_equal(w.wrap, 4);
	assert_true(w.lost >= 8);
	bench_settle(&b, 10 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	assert_int_equal(COUNTER(&b.end[1], rx_ok), b.end[1].sink.flits);
	bench_check_delivered(&b);
	bench_close(&b);
}

/* Half the modulus less one outstanding, all replayed, at every wrap. */
static void
the_largest_window_fills_and_replays_across_the_wrap(void **state)
{
	struct rl_link_cfg cfg;
	struct rl_frame_hdr h;
	struct bench b = { .pool_flits = 3 * 32768 };

	(void)state;
	bench_cfg(&cfg);
	cfg.flits_per_frame = 32;
	cfg.window_flits = 32767;
	cfg.credits_flits = 32767;
	cfg.replay_timer_ns = 5 * RL_NS_PER_MS;
	open_up(&b, &cfg);
	for (unsigned int i = 0; i < 3; i++) {
		b.wire[1].cut = true;
		bench_send(&b, 0, 1, 31, 1058); /* 32798: one too many */
		bench_run(&b, 7 * RL_NS_PER_MS);
		assert_int_equal(bench_info(&b.end[0]).outstanding_flits,
				 32767 / 31 * 31);
		h = bench_forge(&b.end[0], RL_FRAME_IDLE, RL_FRF_NAK, b.now_ns);
		h.ack = (uint16_t)bench_info(&b.end[0]).replay_acked;
		bench_inject(&b.end[0], &h, b.now_ns);
		b.wire[1].cut = false;
		bench_settle(&b, 50 * RL_NS_PER_MS);
		bench_run(&b, 100 * RL_NS_PER_US); /* credits are told */
		assert_true(COUNTER(&b.end[1], rx_duplicate_seq) > 0);
	}
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	bench_check_delivered(&b);
	bench_close(&b);
}

/* --- random loss -------------------------------------------------------- */

struct loss {
	struct rl_prng prng;
	uint32_t per_mille;
	bool hurt;
};

static enum bench_act
lose_randomly(void *ctx, struct bench_frame *f)
{
	struct loss *l = ctx;

	if (rl_prng_below(&l->prng, 1000) >= l->per_mille)
		return BENCH_PASS;
	if (l->hurt && f->h.nflits != 0 && rl_prng_below(&l->prng, 2) == 0)
		return BENCH_HURT;
	return BENCH_DROP;
}

/* Delivers n frames' worth of flits both ways; returns the time it took. */
static uint64_t
run_lossy(struct bench *b, uint32_t flits)
{
	const uint64_t t = b->now_ns;

	while (b->end[1].sink.flits < flits || b->end[0].sink.flits < flits) {
		for (unsigned int i = 0; i < 2; i++)
			if (bench_info(&b->end[i]).queued_flits < 64)
				bench_send(b, i, b->now_ns / 1000 % RL_VCS, 5,
					   8);
		bench_run(b, b->step_ns);
		assert_true(b->now_ns - t < RL_NS_PER_S);
	}
	return b->now_ns - t;
}

/*
 * The rate that go-back-N can reach. A lost frame costs its slot and all
 * frames sent until the NAK is back: those of a round trip. With loss p per
 * frame and R slots a round trip, a share of 1 / (1 + p (R + 1)) is left.
 */
static void
two_percent_loss_leaves_95_percent_of_the_achievable(void **state)
{
	static const uint32_t delay_us[] = { 1, 2, 8 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(delay_us); i++) {
		/* there and back, a slot each, and half a slot of waiting */
		const double slots = 2.0 * (delay_us[i] + 1) + 0.5;
		const double can = 1.0 / (1.0 + 0.02 * (slots + 1));
		struct loss l = { .per_mille = 20 };
		struct rl_link_cfg cfg;
		struct bench b = { .pool_flits = 8192 };
		double rate, useful;
		uint64_t t;

		rl_prng_seed(&l.prng, 21 + i);
		bench_cfg(&cfg);
		cfg.flits_per_frame = 5;
		cfg.window_flits = 512;
		cfg.replay_timer_ns = 0;
		cfg.replay_timer_min_ns = RL_NS_PER_US;
		cfg.ack_delay_ns = RL_NS_PER_US;
		bench_open(&b, &cfg);
		for (unsigned int w = 0; w < 2; w++) {
			b.wire[w].delay_ns = delay_us[i] * RL_NS_PER_US;
			b.wire[w].slot_ns = RL_NS_PER_US;
		}
		bench_start(&b);
		bench_run(&b, 50 * RL_NS_PER_US);
		for (unsigned int w = 0; w < 2; w++) {
			b.wire[w].hook = lose_randomly;
			b.wire[w].ctx = &l;
		}
		t = run_lossy(&b, 60000);
		rate = 60000.0 / 5 / ((double)t / RL_NS_PER_US);
		/* replayed flits that were not in vain: taken, not duplicates */
		useful = 1.0 - (double)COUNTER(&b.end[1], rx_duplicate_seq) /
				       (double)COUNTER(&b.end[0],
						       tx_replay_flits);
		if (rate < 0.95 * can || useful < 0.90)
			fail_msg("delay %u us: rate %.3f of %.3f, replays "
				 "%.3f useful", delay_us[i], rate, can,
				 useful);
		bench_no_rules(&b.wire[0]);
		bench_no_rules(&b.wire[1]);
		bench_settle(&b, 10 * RL_NS_PER_MS);
		bench_check_delivered(&b);
		bench_close(&b);
	}
}

/* Loss and damage from none to heavy, all sizes: exactly once, in order. */
static void
any_mix_of_loss_and_damage_delivers_exactly_once(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 60; seed++) {
		struct loss l = { .hurt = true };
		struct rl_link_cfg cfg;
		struct bench b = { 0 };

		rl_prng_seed(&l.prng, seed);
		l.per_mille = rl_prng_below(&l.prng, 300);
		bench_cfg(&cfg);
		cfg.flits_per_frame = 1 + rl_prng_below(&l.prng, 8);
		cfg.max_packet_flits = 16;
		cfg.window_flits = 16 + rl_prng_below(&l.prng, 100);
		cfg.credits_flits = 16 + rl_prng_below(&l.prng, 100);
		cfg.ack_coalesce_flits = 1 + rl_prng_below(&l.prng, 20);
		cfg.replay_timer_ns = rl_prng_below(&l.prng, 2) * RL_NS_PER_US;
		cfg.replay_timer_ns *= 20 + rl_prng_below(&l.prng, 200);
		cfg.replay_limit = 255; /* not to die of 30 % */
		open_up(&b, &cfg);
		for (unsigned int w = 0; w < 2; w++) {
			b.wire[w].hook = lose_randomly;
			b.wire[w].ctx = &l;
		}
		for (unsigned int n = 0; n < 150; n++) {
			const uint32_t flits = 1 + rl_prng_below(&l.prng, 16);
			const uint32_t vc = rl_prng_below(&l.prng, RL_VCS);

			bench_send(&b, rl_prng_below(&l.prng, 2), vc, flits, 1);
			bench_run(&b, rl_prng_below(&l.prng, 12) * 1000);
		}
		bench_settle(&b, RL_NS_PER_S);
		bench_check_delivered(&b);
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			assert_int_equal(b.end[0].sink.next_tag[vc],
					 b.end[1].next_tag[vc]);
		assert_int_equal(COUNTER(&b.end[0], deaths), 0);
		bench_close(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C5 losses at four wraps of the modulus",
		     losses_at_four_wraps_of_the_modulus),
		CASE("LINK-C5 the largest window fills and replays across the "
		     "wrap",
		     the_largest_window_fills_and_replays_across_the_wrap),
		CASE("LINK-C21 2 % loss leaves 95 % of the achievable, and 90 "
		     "% of replays are useful",
		     two_percent_loss_leaves_95_percent_of_the_achievable),
		cmocka_unit_test(
			any_mix_of_loss_and_damage_delivers_exactly_once),
	};

	return cmocka_run_group_tests_name("long", tests, NULL, NULL);
}
