/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error rates [LINK-5]: hurt flits of those received, whatever the load. What a
 * link with a key makes of them stands in test_stranger.c, and what becomes of a
 * link that died of them in test_flap.c.
 */
#include "detect.h"

/* What befalls one of so many flits that are sent for the first time. */
struct hurt {
	enum bench_act act;
	unsigned int every, seen;
};

static enum bench_act
hurt_some(void *ctx, struct bench_frame *f)
{
	struct hurt *h = ctx;

	if (f->h.type != RL_FRAME_DATA || f->h.flags & RL_FRF_RETRY)
		return BENCH_PASS;
	return ++h->seen % h->every == 0 ? h->act : BENCH_PASS;
}

/* Sends n flits, one after such a time, unless the link dies meanwhile. */
static void
errors(struct bench *b, enum bench_act act, unsigned int every, unsigned int n,
       uint64_t gap_ns)
{
	struct hurt h = { .act = act, .every = every };

	b->wire[0].hook = hurt_some;
	b->wire[0].ctx = &h;
	for (unsigned int i = 0; i < n; i++) {
		if (bench_state(&b->end[0]) != RL_LINK_UP ||
		    bench_state(&b->end[1]) != RL_LINK_UP)
			break;
		bench_send(b, 0, 0, 1, 1);
		for (uint64_t ns = 0; ns < gap_ns; ns += b->step_ns)
			bench_run(b, b->step_ns);
	}
	b->wire[0].hook = NULL;
}

/*
 * All rates off, but for one: two in ten that are received may be corrected, two
 * in a hundred lost.
 */
static struct rl_link_cfg
rate_cfg(enum bench_act act)
{
	struct rl_link_cfg cfg = deaf_cfg();

	cfg.keepalive_ns = RL_NS_PER_S; /* they would be received as well */
	cfg.error_window_ns = 2 * MS;
	cfg.error_corrected_max = act == BENCH_NUDGE ? 200000 : 0;
	cfg.error_uncorrectable_max = act == BENCH_HURT ? 20000 : 0;
	cfg.error_replay_max = act == BENCH_DROP ? 20000 : 0;
	return cfg;
}

/* A flit and its frame are two that were received, and what is sent again, too. */
static void
an_error_rate_is_judged_alike_at_any_load(void **state)
{
	static const struct {
		unsigned int every;
		bool degraded, dead;
	} c[] = { { 400, false, false }, { 12, false, false },
		  { 3, true, false }, { 1, true, true } };
	static const enum bench_act act[] = { BENCH_NUDGE, BENCH_HURT,
					      BENCH_DROP };
	static const uint64_t gap_us[] = { 3, 12, 90 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c) * 9; i++) {
		const unsigned int k = i / 9, a = i % 3;
		struct rl_link_cfg cfg = rate_cfg(act[a]);
		struct bench_end *e;
		struct bench b;

		if ((k == 1 || k == 2) && act[a] != BENCH_NUDGE)
			continue; /* what is sent again is received as well */
		bench_open_up(&b, &cfg);
		e = &b.end[1];
		/* where all are lost, none shows the gap: a replay mends many */
		errors(&b, act[a], c[k].every + (act[a] == BENCH_DROP && k == 3),
		       4000, gap_us[i / 3 % 3] * US);
		bench_run(&b, 10 * US);
		assert_int_equal(bench_end_events(e, RL_PEV_DEGRADED) != 0,
				 c[k].degraded);
		if (c[k].dead) /* of replays either end may know first */
			check_dead(bench_end_detector(e) == RL_DET_PEER
					   ? &b.end[0] : e,
				   RL_DET_ERROR_RATE, "error-rate");
		else
			assert_int_equal(COUNTER(e, deaths), 0);
		bench_close(&b);
	}
}

/* What is sent again and again is held against the line at its sender, too. */
static void
replays_are_an_error_rate_of_the_sender(void **state)
{
	struct rl_link_cfg cfg = rate_cfg(BENCH_DROP);
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	/* the receiver hears of frames enough, and has no word in it */
	errors(&b, BENCH_DROP, 1, 1500, 12 * US);
	assert_int_equal(bench_end_events(&b.end[0], RL_PEV_DEGRADED), 1);
	assert_true(bench_info(&b.end[0]).degraded ||
		    COUNTER(&b.end[0], deaths) != 0);
	bench_close(&b);
}

/* Even where both limits are passed between two looks. */
static void
degraded_is_said_before_dead_whatever_comes(void **state)
{
	struct rl_link_cfg cfg = rate_cfg(BENCH_NUDGE);
	unsigned int degraded = 0, dead = 0;
	struct bench_end *e;
	struct bench b;

	(void)state;
	cfg.error_corrected_max = 1;
	cfg.window_flits = 256;
	bench_open_up(&b, &cfg);
	e = &b.end[1];
	b.wire[0].slot_ns = 0;
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_NUDGE,
		.last = BENCH_EVER });
	for (unsigned int i = 0; i < 140; i++) {
		bench_send(&b, 0, 0, 1, 1);
		bench_end_port(&b.end[0], b.now_ns);
	}
	b.now_ns += 100 * US; /* all of them arrive at once */
	bench_end_port(e, b.now_ns);
	bench_run(&b, 10 * US);
	check_dead(e, RL_DET_ERROR_RATE, "error-rate");
	for (unsigned int i = 0; i < e->nevents; i++) {
		if (e->event[i].type == RL_PEV_DEGRADED && degraded == 0)
			degraded = i + 1;
		if (e->event[i].type == RL_PEV_DEAD && dead == 0)
			dead = i + 1;
	}
	assert_true(degraded != 0 && degraded < dead);
	assert_int_equal(COUNTER(e, degraded), 1);
	bench_close(&b);
}

/* Once all rates were below half of their limits for a window. */
static void
a_degraded_link_may_recover_and_degrade_again(void **state)
{
	struct rl_link_cfg cfg = rate_cfg(BENCH_NUDGE);
	struct bench_end *e;
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	e = &b.end[1];
	for (unsigned int n = 1; n <= 3; n++) {
		assert_false(bench_info(e).degraded);
		errors(&b, BENCH_NUDGE, 3, 1500, 3 * US);
		assert_true(bench_info(e).degraded);
		assert_int_equal(COUNTER(e, degraded), n);
		errors(&b, BENCH_PASS, 1, 10, 3 * US);
		assert_true(bench_info(e).degraded);
		errors(&b, BENCH_PASS, 1, 3000, 3 * US);
	}
	assert_int_equal(COUNTER(e, deaths), 0);
	bench_close(&b);
}

/* A burst is no rate; and with the detector off, or each of its limits. */
static void
what_is_off_ends_no_link_and_a_burst_does_not(void **state)
{
	(void)state;
	for (unsigned int off = 0; off < 3; off++) {
		struct rl_link_cfg cfg = deaf_cfg();
		struct bench b;

		cfg.error_window_ns = off == 1 ? 0 : MS;
		cfg.error_corrected_max = off == 2 ? 0 : 1;
		cfg.error_uncorrectable_max = off == 2 ? 0 : 1;
		cfg.error_replay_max = off == 2 ? 0 : 1;
		bench_open_up(&b, &cfg);
		errors(&b, BENCH_NUDGE, 1, off ? 400 : 60, 12 * US);
		errors(&b, BENCH_HURT, 1, off ? 400 : 60, 12 * US);
		errors(&b, BENCH_DROP, 1, off ? 400 : 3, 12 * US);
		bench_settle(&b, 10 * MS);
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(COUNTER(&b.end[i], deaths), 0);
			assert_int_equal(bench_end_events(&b.end[i],
							  RL_PEV_DEGRADED), 0);
		}
		bench_check_delivered(&b);
		bench_close(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LINK-5] an error rate is judged alike at any load",
		     an_error_rate_is_judged_alike_at_any_load),
		CASE("[LINK-5] replays are an error rate of the sender",
		     replays_are_an_error_rate_of_the_sender),
		CASE("[LINK-5] degraded is said before dead, whatever comes",
		     degraded_is_said_before_dead_whatever_comes),
		CASE("[LINK-5] a degraded link may recover and degrade again",
		     a_degraded_link_may_recover_and_degrade_again),
		CASE("[LINK-5] what is off ends no link, and a burst does not",
		     what_is_off_ends_no_link_and_a_burst_does_not),
	};

	return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
