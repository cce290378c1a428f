/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timer that expires asks, and the answer says what to replay [LINK-6]: asks,
 * answers, and what becomes of them if the link retrains or dies meanwhile.
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

/* All ACKs are lost: the peer is asked, and nothing is sent again. */
static void
what_the_peer_has_is_not_sent_again(void **state)
{
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	bench_rule(&b.wire[1], (struct bench_rule){
		.act = BENCH_DROP, .last = 12 });
	bench_send(&b, 0, 0, 4, 10);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[1], rx_ok), 40);
	assert_true(COUNTER(&b.end[0], tx_ask) >= 1);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	assert_int_equal(COUNTER(&b.end[1], rx_duplicate_seq), 0);
	finish(&b);
}

/* A replay that goes back, and one that begins where the last one ended. */
static void
the_peer_counts_each_replay(void **state)
{
	const struct bench_rule lost = { .type = RL_FRAME_DATA,
					 .without = RL_FRF_RETRY,
					 .act = BENCH_DROP,
					 .first = 5, .last = 5 };
	const struct bench_rule tail = { .type = RL_FRAME_DATA,
					 .without = RL_FRF_RETRY,
					 .act = BENCH_DROP };
	const struct bench_rule again = { .type = RL_FRAME_DATA,
					  .with = RL_FRF_RETRY,
					  .act = BENCH_DROP,
					  .first = 1, .last = 1 };
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	/* nothing is new any more when the second flit of a replay is lost */
	bench_rule(&b.wire[0], lost);
	bench_rule(&b.wire[0], again);
	bench_send(&b, 0, 0, 1, 8);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 2);
	assert_int_equal(COUNTER(&b.end[1], rx_replays), 2);
	/* new flits come, and then the last one is lost */
	bench_send(&b, 0, 0, 1, 8);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	bench_rule(&b.wire[0], tail);
	bench_send(&b, 0, 0, 1, 1);
	bench_settle(&b, 5 * RL_NS_PER_MS);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 3);
	assert_int_equal(COUNTER(&b.end[1], rx_replays), 3);
	finish(&b);
}

/* An answer that was overtaken by an ACK says nothing of what was sent later. */
static void
an_answer_to_an_earlier_ask_replays_nothing(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct bench b;

	(void)state;
	cfg.replay_limit = 8;
	bench_open_up(&b, &cfg);
	b.wire[1].delay_ns = TIMER * 3 / 2;
	bench_send(&b, 0, 0, 1, 1);
	bench_run(&b, TIMER * 6 / 10); /* the ACK has left */
	b.wire[1].delay_ns = 6 * TIMER; /* the answer comes much later */
	bench_run(&b, TIMER);
	assert_int_equal(COUNTER(&b.end[0], tx_ask), 1);
	assert_int_equal(bench_info(&b.end[0]).outstanding_flits, 0);
	bench_send(&b, 0, 0, 1, 1);
	bench_run(&b, 8 * TIMER);
	assert_true(COUNTER(&b.end[0], tx_ask) >= 2);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	assert_int_equal(COUNTER(&b.end[1], rx_duplicate_seq), 0);
	finish(&b);
}

static enum bench_act
count_answers(void *ctx, struct bench_frame *f)
{
	*(unsigned int *)ctx += f->h.type <= RL_FRAME_IDLE &&
				(f->h.flags & RL_FRF_ECHO) != 0;
	return BENCH_PASS;
}

/* The link dies before the answer leaves: its next epoch owes none. */
static void
an_answer_dies_with_its_link(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	unsigned int answers = 0;
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	b.wire[1].busy_ns = RL_NEVER;
	bench_send(&b, 0, 0, 1, 1);
	bench_run(&b, TIMER * 3 / 2);
	assert_int_equal(COUNTER(&b.end[0], tx_ask), 1);
	for (unsigned int i = 0; i < 2; i++) {
		rl_port_phy_status(b.end[i].port, false, b.now_ns);
		bench_wire_clear(&b.wire[i]);
	}
	bench_run(&b, TIMER);
	b.wire[1].busy_ns = 0;
	b.wire[1].hook = count_answers;
	b.wire[1].ctx = &answers;
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(b.end[i].port, true, b.now_ns);
	while (bench_state(&b.end[0]) != RL_LINK_UP ||
	       bench_state(&b.end[1]) != RL_LINK_UP)
		bench_run(&b, TIMER);
	bench_run(&b, TIMER);
	assert_int_equal(answers, 0);
	bench_close(&b);
}

/* A late ACK ends retraining before its probe has left: it is not owed later. */
static void
a_probe_that_no_longer_matters_is_not_owed(void **state)
{
	struct rl_link_cfg cfg = quiet_cfg();
	struct bench_end *e;
	struct bench b;

	(void)state;
	cfg.keepalive_ns = 20 * TIMER;
	cfg.replay_limit = 2;
	bench_open_up(&b, &cfg);
	e = &b.end[0];
	b.wire[1].delay_ns = 20 * TIMER;
	bench_send(&b, 0, 0, 1, 1);
	while (bench_state(e) == RL_LINK_UP) {
		bench_run(&b, RL_NS_PER_US);
		if (COUNTER(e, tx_ask) == 2)
			b.wire[0].busy_ns = RL_NEVER;
	}
	assert_int_equal(bench_state(e), RL_LINK_RETRAIN);
	while (bench_state(e) == RL_LINK_RETRAIN)
		bench_run(&b, RL_NS_PER_US);
	assert_int_equal(bench_state(e), RL_LINK_UP);
	assert_int_equal(COUNTER(&b.end[1], rx_retrain), 0);
	b.wire[0].busy_ns = 0;
	b.wire[1].delay_ns = b.wire[0].delay_ns;
	bench_settle(&b, 100 * RL_NS_PER_MS);
	assert_true(rl_port_rests(b.end[0].port, b.end[1].port, b.now_ns));
	assert_int_equal(COUNTER(&b.end[1], rx_retrain), 0);
	finish(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LINK-6] what the peer has is not sent again",
		     what_the_peer_has_is_not_sent_again),
		CASE("[LINK-6] an answer to an earlier ask replays nothing",
		     an_answer_to_an_earlier_ask_replays_nothing),
		cmocka_unit_test(the_peer_counts_each_replay),
		cmocka_unit_test(an_answer_dies_with_its_link),
		cmocka_unit_test(a_probe_that_no_longer_matters_is_not_owed),
	};

	return cmocka_run_group_tests_name("ask", tests, NULL, NULL);
}
