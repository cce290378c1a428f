/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drain before down [LINK-5]: a link that is removed on purpose goes down when
 * all that both ends had sent has arrived, and nothing loops back.
 */
#include "bench.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static void
open_up(struct bench *b, const struct rl_link_cfg *cfg)
{
	memset(b, 0, sizeof(*b));
	bench_open(b, cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * US;
	b->wire[0].slot_ns = b->wire[1].slot_ns = US;
	bench_start(b);
	bench_run(b, 50 * US);
	for (unsigned int i = 0; i < 2; i++)
		b->end[i].nmarks = b->end[i].nevents = 0;
}

static void
check_marks(const struct bench_end *e)
{
	assert_int_equal(e->nmarks, 3);
	assert_int_equal(e->mark[0], RL_MARK_LINK_DRAIN);
	assert_int_equal(e->mark[1], RL_MARK_LOOP_BEGIN);
	assert_int_equal(e->mark[2], RL_MARK_LOOP_END);
}

static bool
is_planned(const struct bench_end *e, enum rl_port_event_type type)
{
	for (unsigned int i = 0; i < e->nevents; i++)
		if (e->event[i].type == type && !e->event[i].planned)
			return false;
	return bench_end_events(e, type) != 0;
}

/* Down without a loss of time or a loopback, at both ends. */
static void
check_drained(struct bench *b)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct bench_end *e = &b->end[i];

		check_marks(e);
		assert_int_equal(bench_end_events(e, RL_PEV_EMPTY), 1);
		assert_int_equal(bench_end_events(e, RL_PEV_DEAD), 1);
		/* as planned: it has not failed */
		assert_int_equal(COUNTER(e, deaths), 0);
		assert_int_equal(COUNTER(e, drained_down), 1);
		assert_true(is_planned(e, RL_PEV_DEAD));
		assert_true(is_planned(e, RL_PEV_DRAINED));
		assert_int_equal(COUNTER(e, looped_packets), 0);
		assert_int_equal(e->looped.packets, 0);
		assert_int_equal(rl_port_flits(e->port), 0);
		assert_int_equal(e->sink.duplicates, 0);
		assert_int_equal(e->sink.disorder, 0);
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			assert_int_equal(e->sink.next_tag[vc],
					 b->end[1 - i].next_tag[vc]);
	}
	assert_int_equal(bench_state(&b->end[0]), RL_LINK_OFF);
	assert_int_equal(bench_end_detector(&b->end[0]), RL_DET_COMMAND);
}

static enum bench_act
lose_third(void *ctx, struct bench_frame *f)
{
	struct rl_prng *prng = ctx;

	return f->h.type != RL_FRAME_CLOSE && rl_prng_below(prng, 3) == 0
		       ? BENCH_DROP
		       : BENCH_PASS;
}

/* At any moment of any traffic, over a good wire and a bad one. */
static void
all_that_was_sent_arrives_before_the_link_goes_down(void **state)
{
	(void)state;
	for (unsigned int lossy = 0; lossy < 2; lossy++)
		for (unsigned int at = 0; at < 40; at += 3) {
			struct rl_link_cfg cfg;
			struct rl_prng prng;
			struct bench b;

			bench_cfg(&cfg);
			cfg.replay_limit = 255;
			if (at % 2 != 0) /* nothing is said without need */
				cfg.keepalive_ns = cfg.keepalive_dead_ns = 0;
			open_up(&b, &cfg);
			rl_prng_seed(&prng, at);
			for (unsigned int i = 0; i < 2 && lossy; i++) {
				b.wire[i].hook = lose_third;
				b.wire[i].ctx = &prng;
			}
			bench_send(&b, 0, 1, 5, 6);
			bench_send(&b, 1, 2, 3, 4);
			bench_run(&b, at * US);
			assert_int_equal(rl_port_drain_down(b.end[0].port,
							    b.now_ns), 0);
			assert_int_equal(rl_port_drain_down(b.end[0].port,
							    b.now_ns),
					 -EALREADY);
			bench_run(&b, 20 * MS);
			if (bench_end_events(&b.end[1], RL_PEV_DEAD) != 0)
				assert_int_equal(
					bench_end_detector(&b.end[1]),
					RL_DET_PEER);
			check_drained(&b);
			bench_close(&b);
		}
}

static void
both_ends_may_be_told_at_once(void **state)
{
	struct bench b;

	(void)state;
	open_up(&b, NULL);
	bench_send(&b, 0, 0, 4, 8);
	bench_send(&b, 1, 0, 4, 2);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rl_port_drain_down(b.end[i].port, b.now_ns),
				 0);
	bench_run(&b, 5 * MS);
	check_drained(&b);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_OFF);
	bench_close(&b);
}

/* Packets for the port between the order and the fence still leave by it. */
static void
the_fence_is_the_last_word_of_the_core(void **state)
{
	struct bench b;

	(void)state;
	open_up(&b, NULL);
	b.end[0].no_fence = true;
	rl_port_drain_down(b.end[0].port, b.now_ns);
	bench_run(&b, 100 * US);
	bench_send(&b, 0, 3, 5, 2);
	bench_run(&b, 2 * MS);
	assert_int_equal(b.end[1].sink.packets, 2);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	assert_int_equal(bench_end_events(&b.end[0], RL_PEV_EMPTY), 0);
	rl_port_submit(b.end[0].port, rl_pipe_mark(RL_MARK_LOOP_FENCE),
		       b.now_ns);
	bench_run(&b, MS);
	check_drained(&b);
	bench_close(&b);
}

/*
 * A peer that gives no credits keeps no link: after an eighth of the watchdog's
 * time the link goes down as it is.
 */
static void
a_drain_that_cannot_end_is_ended_by_the_watchdog(void **state)
{
	struct rl_link_cfg cfg;
	struct bench b;

	(void)state;
	bench_cfg(&cfg);
	cfg.credits_flits = 32;
	cfg.watchdog_ns = 80 * MS;
	open_up(&b, &cfg);
	b.end[1].hold_vcs = 0xff;
	bench_send(&b, 0, 0, 4, 12); /* eight of them fit */
	bench_run(&b, 100 * US);
	rl_port_drain_down(b.end[0].port, b.now_ns);
	bench_run(&b, 9 * MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	bench_run(&b, 2 * MS);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_OFF);
	assert_int_equal(b.end[0].looped.packets, 4);
	check_marks(&b.end[0]);
	/* what it held goes another way: a failover */
	assert_int_equal(COUNTER(&b.end[0], deaths), 1);
	assert_int_equal(COUNTER(&b.end[0], drained_down), 0);
	assert_false(is_planned(&b.end[0], RL_PEV_DEAD));
	bench_close(&b);
}

/* The link dies in the middle: all loops out as ever, and it stays down. */
static void
a_link_that_dies_while_it_drains_loops_and_stays_down(void **state)
{
	(void)state;
	for (unsigned int at = 0; at < 30; at++) {
		struct bench b;
		uint64_t got;

		open_up(&b, NULL);
		bench_send(&b, 0, 0, 4, 4);
		bench_run(&b, 3 * US);
		rl_port_drain_down(b.end[0].port, b.now_ns);
		bench_run(&b, at * US);
		bench_cut(&b, true);
		for (unsigned int i = 0; i < 2; i++)
			rl_port_phy_status(b.end[i].port, false, b.now_ns);
		bench_run(&b, MS);
		got = b.end[1].sink.packets;
		assert_int_equal(bench_state(&b.end[0]), RL_LINK_OFF);
		if (at > 1) /* else its core never heard of the drain */
			check_marks(&b.end[0]);
		assert_true(got + b.end[0].looped.packets >= 4);
		assert_int_equal(COUNTER(&b.end[0], deaths) +
					 COUNTER(&b.end[0], drained_down), 1);
		assert_true(COUNTER(&b.end[0], deaths) == 1 ||
			    b.end[0].looped.packets == 0);
		/* it trains when it is told to, as a new link */
		bench_cut(&b, false);
		for (unsigned int i = 0; i < 2; i++) {
			rl_port_phy_status(b.end[i].port, true, b.now_ns);
			b.end[i].nmarks = 0;
		}
		bench_run(&b, MS);
		assert_int_equal(bench_state(&b.end[0]), RL_LINK_OFF);
		assert_int_equal(rl_port_up(b.end[0].port, b.now_ns), 0);
		bench_run(&b, MS);
		assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
		b.end[1].sink.next_tag[1] = 0;
		bench_send(&b, 0, 1, 3, 5);
		bench_settle(&b, MS);
		assert_int_equal(b.end[1].sink.packets, got + 5);
		/* a later death is fenced again */
		assert_int_equal(rl_port_down(b.end[0].port, b.now_ns), 0);
		bench_run(&b, 100 * US);
		assert_int_equal(b.end[0].mark[b.end[0].nmarks - 1],
				 RL_MARK_LOOP_END);
		bench_close(&b);
	}
}

static void
an_order_up_meanwhile_brings_it_back_afterwards(void **state)
{
	struct bench b;

	(void)state;
	open_up(&b, NULL);
	bench_send(&b, 0, 0, 4, 4);
	rl_port_drain_down(b.end[0].port, b.now_ns);
	assert_int_equal(rl_port_up(b.end[0].port, b.now_ns), 0);
	bench_run(&b, 5 * MS);
	assert_int_equal(COUNTER(&b.end[0], drained_down), 1);
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	assert_int_equal(COUNTER(&b.end[0], looped_packets), 0);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	bench_check_delivered(&b);
	bench_close(&b);
}

static void
an_order_down_meanwhile_does_not_wait(void **state)
{
	struct bench b;

	(void)state;
	open_up(&b, NULL);
	bench_send(&b, 0, 0, 4, 8);
	rl_port_drain_down(b.end[0].port, b.now_ns);
	bench_run(&b, 4 * US);
	assert_int_equal(rl_port_down(b.end[0].port, b.now_ns), 0);
	bench_run(&b, 100 * US);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_OFF);
	assert_true(b.end[0].looped.packets > 0);
	bench_close(&b);
}

/* A frame without flits from the peer of end 0, which has got nothing. */
static void
inject(struct bench *b, enum rl_frame_type type, uint8_t flags)
{
	struct rl_frame_hdr h =
		bench_forge(&b->end[0], type, flags, b->now_ns);

	if (flags & RL_FRF_ECHO)
		h.stamp_echo = (uint32_t)b->now_ns | 1;
	bench_inject(&b->end[0], &h, b->now_ns);
}

/*
 * The same frame asks for a drain and, by its NAK, makes the link die: the core
 * hears of the death alone. Seed 60021297 of the simulation.
 */
static void
a_frame_that_ends_a_link_does_not_drain_it_too(void **state)
{
	struct rl_link_cfg cfg;
	struct bench b;

	(void)state;
	bench_cfg(&cfg);
	cfg.replay_limit = cfg.retrain_limit = 1;
	open_up(&b, &cfg);
	bench_send(&b, 0, 0, 4, 1);
	bench_cut(&b, true);
	while (bench_state(&b.end[0]) == RL_LINK_UP)
		bench_run(&b, US);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_RETRAIN);
	inject(&b, RL_FRAME_RETRAIN, RL_FRF_ECHO);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	/* it lacks what this end asks for: one replay, which leads nowhere */
	for (const uint64_t asks = COUNTER(&b.end[0], tx_ask);
	     COUNTER(&b.end[0], tx_ask) == asks;)
		bench_run(&b, US);
	inject(&b, RL_FRAME_IDLE, RL_FRF_ECHO);
	inject(&b, RL_FRAME_IDLE, RL_FRF_NAK | RL_FRF_DRAIN);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_LOOPBACK);
	bench_run(&b, 20 * US);
	assert_int_equal(b.end[0].nmarks, 2);
	assert_int_equal(b.end[0].mark[0], RL_MARK_LOOP_BEGIN);
	assert_int_equal(b.end[0].mark[1], RL_MARK_LOOP_END);
	bench_close(&b);
}

static void
a_link_that_is_not_up_goes_down_at_once(void **state)
{
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	rl_port_start(b.end[0].port, b.now_ns);
	assert_int_equal(rl_port_drain_down(b.end[0].port, b.now_ns), 0);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_OFF);
	assert_int_equal(rl_port_drain_down(b.end[0].port, b.now_ns),
			 -EALREADY);
	assert_int_equal(rl_port_up(b.end[0].port, b.now_ns), 0);
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_INIT);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("all that was sent arrives before the link goes down "
		     "[LINK-5]",
		     all_that_was_sent_arrives_before_the_link_goes_down),
		CASE("both ends may be told at once",
		     both_ends_may_be_told_at_once),
		CASE("the fence is the last word of the core",
		     the_fence_is_the_last_word_of_the_core),
		CASE("a drain that cannot end is ended by the watchdog [DRL-7]",
		     a_drain_that_cannot_end_is_ended_by_the_watchdog),
		CASE("a link that dies while it drains loops and stays down",
		     a_link_that_dies_while_it_drains_loops_and_stays_down),
		CASE("a frame that ends a link does not drain it, too",
		     a_frame_that_ends_a_link_does_not_drain_it_too),
		CASE("an order up meanwhile brings it back afterwards",
		     an_order_up_meanwhile_brings_it_back_afterwards),
		CASE("an order down meanwhile does not wait",
		     an_order_down_meanwhile_does_not_wait),
		CASE("a link that is not up goes down at once",
		     a_link_that_is_not_up_goes_down_at_once),
	};

	return cmocka_run_group_tests_name("drain before down", tests, NULL,
					   NULL);
}
