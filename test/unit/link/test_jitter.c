/* SPDX-License-Identifier: BSD-3-Clause */
/* What the replay timer knows of the jitter of a wire [LINK-C12]. */
#include "bench.h"

#define TIMER (100 * RL_NS_PER_US)

/* Frames stay in the wire until a given time, in order. */
static enum bench_act
held_until(void *ctx, struct bench_frame *f)
{
	const uint64_t *until_ns = ctx;

	f->due_ns = rl_max_u64(f->due_ns, *until_ns);
	return BENCH_PASS;
}

/* The timer remembers a delay of a slow wire for some seconds; of other
 * wires it knows only the mean. */
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

static void
jitter(bool slow)
{
	uint64_t until_ns;
	struct bench b;

	open_bench(&b, slow);
	assert_int_equal(bench_info(&b.end[0]).replay_timer_ns, TIMER);
	until_ns = b.now_ns + 4 * RL_NS_PER_MS;
	b.wire[1].hook = held_until;
	b.wire[1].ctx = &until_ns;
	bench_run(&b, 20 * RL_NS_PER_MS);
	bench_no_rules(&b.wire[1]);
	assert_int_equal(bench_info(&b.end[0]).replay_timer_ns >
			 4 * RL_NS_PER_MS, slow);
	bench_run(&b, 1 * RL_NS_PER_S);
	assert_int_equal(bench_info(&b.end[0]).replay_timer_ns >
			 4 * RL_NS_PER_MS, slow);
	b.now_ns += 9 * RL_NS_PER_S;
	bench_run(&b, 100 * RL_NS_PER_MS);
	assert_int_equal(bench_info(&b.end[0]).replay_timer_ns, TIMER);
	bench_settle(&b, 100 * RL_NS_PER_MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

static void
the_timer_knows_the_jitter_of_a_slow_wire(void **state)
{
	(void)state;
	jitter(true);
	jitter(false);
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
		CASE("LINK-C12 the timer knows the jitter of a slow wire",
		     the_timer_knows_the_jitter_of_a_slow_wire),
		CASE("[LINK-6] a peer that is not run is sent nothing again",
		     a_peer_that_is_not_run_is_sent_nothing_again),
		CASE("LINK-C12 a peer that runs and says nothing is sent all again at once",
		     a_peer_that_runs_and_says_nothing_is_sent_all_again_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
