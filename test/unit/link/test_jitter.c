/* SPDX-License-Identifier: BSD-3-Clause */
/* What the replay timer knows of the jitter of a wire [LINK-C12]. */
#include "bench.h"

#define TIMER (100 * RL_NS_PER_US)

/* Nobody takes frames out of the wire before a moment; they stay in order. */
static enum bench_act
held_until(void *ctx, struct bench_frame *f)
{
	const uint64_t *until_ns = ctx;

	f->due_ns = rl_max_u64(f->due_ns, *until_ns);
	return BENCH_PASS;
}

/* What a slow wire has done once is known for some seconds, and then forgotten;
 * of other wires only the mean is. */
static void
jitter(bool slow)
{
	struct rl_link_cfg cfg;
	uint64_t until_ns;
	struct bench b;

	bench_cfg(&cfg);
	cfg.keepalive_dead_ns = 0;
	cfg.replay_timer_ns = 0;
	cfg.replay_timer_min_ns = TIMER;
	cfg.replay_timer_max_ns = 50 * RL_NS_PER_MS;
	cfg.slow_wire = slow;
	memset(&b, 0, sizeof(b));
	bench_open(&b, &cfg);
	b.wire[0].delay_ns = b.wire[1].delay_ns = 2 * RL_NS_PER_US;
	bench_start(&b);
	bench_run(&b, 5 * RL_NS_PER_MS);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C12 the timer knows the jitter of a slow wire",
		     the_timer_knows_the_jitter_of_a_slow_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
