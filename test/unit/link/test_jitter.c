/* SPDX-License-Identifier: BSD-3-Clause */
/* The replay timer, asks and the jitter of a wire [LINK-C12]. */
#include "bench.h"

#define TIMER (100 * RL_NS_PER_US)
#define DARK (100 * RL_NS_PER_MS)

/* Frames stay in the wire until a given time, in order. */
static enum bench_act
held_until(void *ctx, struct bench_frame *f)
{
	const uint64_t *until_ns = ctx;

	f->due_ns = rl_max_u64(f->due_ns, *until_ns);
	return BENCH_PASS;
}

static void
open_bench(struct bench *b, bool slow)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.keepalive_ns = RL_NS_PER_MS;
	cfg.keepalive_dead_ns = 0;
	cfg.replay_timer_ns = 0;
	cfg.replay_timer_min_ns = TIMER;
	cfg.replay_timer_max_ns = 50 * RL_NS_PER_MS;
	cfg.slow_wire = slow;
	memset(b, 0, sizeof(*b));
	bench_open(b, &cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * RL_NS_PER_US;
	bench_start(b);
	bench_run(b, 5 * RL_NS_PER_MS);
}

/* The answer of a peer is late once, and @p later_ns after that errors take all
 * asks for @p dark_ns. */
static uint64_t
asks_into_the_dark(bool slow, uint64_t later_ns, uint64_t dark_ns,
		   uint64_t *retrains)
{
	uint64_t until_ns, n;
	struct bench b;

	open_bench(&b, slow);
	assert_int_equal(bench_info(&b.end[0]).replay_timer_ns, TIMER);
	until_ns = b.now_ns + 40 * RL_NS_PER_MS;
	b.wire[1].hook = held_until;
	b.wire[1].ctx = &until_ns;
	bench_run(&b, 50 * RL_NS_PER_MS);
	bench_no_rules(&b.wire[1]);
	b.now_ns += later_ns;
	bench_run(&b, 100 * RL_NS_PER_MS);
	assert_int_equal(bench_info(&b.end[0]).replay_timer_ns, TIMER);
	b.wire[0].cut = true;
	n = COUNTER(&b.end[0], tx_ask);
	bench_send(&b, 0, 0, 1, 1);
	bench_run(&b, dark_ns);
	n = COUNTER(&b.end[0], tx_ask) - n;
	*retrains = COUNTER(&b.end[0], retrains);
	b.wire[0].cut = false;
	bench_settle(&b, 100 * RL_NS_PER_MS);
	bench_check_delivered(&b);
	bench_close(&b);
	return n;
}

/* After 0.1, 0.2, ... 6.4 ms, and then every 10 ms; on other wires the interval
 * doubles up to 40 ms. */
static void
an_ask_that_a_slow_wire_lost_is_soon_told_again(void **state)
{
	uint64_t retrains;

	(void)state;
	assert_in_range(asks_into_the_dark(true, 0, DARK, &retrains), 14, 17);
	assert_int_equal(retrains, 0);
	assert_in_range(asks_into_the_dark(false, 0, DARK, &retrains), 8, 11);
	assert_int_equal(retrains, 0);
}

static void
a_late_answer_is_forgotten_after_some_seconds(void **state)
{
	uint64_t retrains;

	(void)state;
	asks_into_the_dark(true, 3 * RL_NS_PER_S, 20 * TIMER, &retrains);
	assert_int_equal(retrains, 0);
	asks_into_the_dark(true, 9 * RL_NS_PER_S, 20 * TIMER, &retrains);
	assert_int_not_equal(retrains, 0);
}

/* A kernel does not run the peer for a while: all waits in its ring. */
static void
peer_away(bool slow, uint64_t away_ns)
{
	uint64_t until_ns;
	struct bench b;

	open_bench(&b, slow);
	until_ns = b.now_ns + 20 * RL_NS_PER_MS;
	b.wire[1].hook = held_until;
	b.wire[1].ctx = &until_ns;
	bench_run(&b, 30 * RL_NS_PER_MS);
	bench_no_rules(&b.wire[1]);
	bench_send(&b, 0, 0, 3, 10);
	for (until_ns = b.now_ns + away_ns; b.now_ns < until_ns;
	     b.now_ns += b.step_ns) {
		bench_end_port(&b.end[0], b.now_ns);
		bench_end_core(&b.end[0], b.now_ns);
	}
	bench_run(&b, RL_NS_PER_MS);
	assert_true(COUNTER(&b.end[0], tx_ask) > 0);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	assert_int_equal(COUNTER(&b.end[0], retrains), 0);
	bench_settle(&b, 100 * RL_NS_PER_MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

static void
a_peer_that_is_not_run_is_sent_nothing_again(void **state)
{
	(void)state;
	/* once it was seen to be late, it may be so again */
	peer_away(true, 45 * RL_NS_PER_MS);
	peer_away(false, 45 * RL_NS_PER_MS);
}

/* Loses flits, and the NAKs for them. */
static enum bench_act
lose(void *ctx, struct bench_frame *f)
{
	unsigned int *n = ctx;

	if (f->h.type != RL_FRAME_DATA && !(f->h.flags & RL_FRF_NAK))
		return BENCH_PASS;
	if (*n == 0)
		return BENCH_PASS;
	(*n)--;
	return BENCH_DROP;
}

static void
a_peer_that_runs_and_says_nothing_is_sent_all_again_at_once(void **state)
{
	unsigned int flits = 1, naks = 1;
	struct bench b;

	(void)state;
	open_bench(&b, true);
	b.wire[0].hook = b.wire[1].hook = lose;
	b.wire[0].ctx = &flits;
	b.wire[1].ctx = &naks;
	bench_send(&b, 0, 0, 1, 1);
	bench_run(&b, 6 * RL_NS_PER_MS);
	assert_int_equal(flits, 0);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 1);
	bench_check_delivered(&b);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LINK-5] an ask that a slow wire lost is soon told again",
		     an_ask_that_a_slow_wire_lost_is_soon_told_again),
		CASE("[LINK-6] a late answer is forgotten after some seconds",
		     a_late_answer_is_forgotten_after_some_seconds),
		CASE("[LINK-6] a peer that is not run is sent nothing again",
		     a_peer_that_is_not_run_is_sent_nothing_again),
		CASE("LINK-C12 a peer that runs and says nothing is sent all again at once",
		     a_peer_that_runs_and_says_nothing_is_sent_all_again_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
