/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that a core on the same lcore hands over, past the egress queue. */
#include "bench.h"

static struct rl_link_cfg cfg;
static struct bench b;

static void
open_link(void)
{
	memset(&b, 0, sizeof(b));
	bench_open(&b, &cfg);
	bench_start(&b);
	bench_run(&b, 50 * RL_NS_PER_US);
}

static int
setup(void **state)
{
	(void)state;
	bench_cfg(&cfg);
	cfg.vcs = 4;
	cfg.window_flits = cfg.credits_flits = 128;
	return 0;
}

static struct rl_flit *
make(unsigned int vc, uint16_t flits)
{
	const struct bench_packet k = {
		.sl = (uint8_t)vc, .vc = (uint8_t)vc, .flits = flits,
		.tag = b.end[0].next_tag[vc],
	};

	return bench_make(&b.pool, &k);
}

/* @return whether the packet was taken */
static bool
hand(unsigned int vc, uint16_t flits)
{
	struct rl_flit *pkt = make(vc, flits);
	const uint64_t state = (pkt->state & ~UINT64_C(0xff)) | vc;
	const bool taken = rl_port_hand_room(b.end[0].port) >= flits &&
			   rl_port_hand(b.end[0].port, pkt, state, NULL);

	if (taken)
		b.end[0].next_tag[vc]++;
	else
		rl_packet_put(&b.pool.cache, pkt);
	return taken;
}

static void
finish(void)
{
	bench_settle(&b, 100 * RL_NS_PER_MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

static void
what_is_handed_over_is_numbered_at_once_and_arrives_in_order(void **state)
{
	struct rl_port_info was;

	(void)state;
	open_link();
	was = bench_info(&b.end[0]);
	for (unsigned int i = 0; i < 12; i++)
		assert_true(hand(i % 4, (uint16_t)(1 + i % 3)));
	assert_int_equal(bench_info(&b.end[0]).queued_flits, 0);
	assert_int_equal(bench_info(&b.end[0]).replay_tail - was.replay_tail,
			 24);
	/* it took no room of the queue */
	assert_int_equal(rl_shared_read(&b.end[0].shared->taken[1]), 0);
	finish();
}

static void
nothing_overtakes_what_is_queued(void **state)
{
	(void)state;
	open_link();
	bench_send(&b, 0, 2, 1, 1);
	assert_false(hand(2, 1));
	assert_false(hand(1, 1)); /* nor takes another VC's turn */
	bench_run(&b, 50 * RL_NS_PER_US);
	assert_true(hand(2, 1));
	finish();
}

static void
no_more_is_taken_than_the_peer_has_room_for(void **state)
{
	(void)state;
	cfg.credits_flits = 8;
	cfg.max_packet_flits = 4;
	open_link();
	b.end[1].hold_vcs = 1;
	for (unsigned int i = 0; i < 8; i++)
		assert_true(hand(0, 1));
	assert_false(hand(0, 1));
	assert_true(hand(1, 4));
	assert_true(hand(1, 3));
	assert_false(hand(1, 2));
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	finish();
}

static void
no_more_is_taken_than_the_window_holds_nor_than_a_poll_sends(void **state)
{
	unsigned int n = 0;

	(void)state;
	cfg.window_flits = 16;
	cfg.max_packet_flits = 4;
	open_link();
	for (; n < 100 && hand(n % 4, 1); n++)
		;
	assert_int_equal(n, 16);
	finish();
	cfg.window_flits = 256;
	open_link();
	for (n = 0; n < 200 && hand(n % 4, 1); n++)
		;
	assert_int_equal(n, 128);
	finish();
}

/* @return flits that may go whatever their VCs */
static uint32_t
sure(void)
{
	const struct rl_port *port = b.end[0].port;

	return rl_port_hand_sure(port, rl_port_hand_room(port));
}

/* Packets of one flit, VC by VC in turn, all at once. */
static void
hand_row(uint32_t n)
{
	struct rl_port_row row = { .n = n };

	assert_true(sure() >= n);
	for (uint32_t i = 0; i < n; i++) {
		const unsigned int vc = i % 4;

		row.pkt[i] = make(vc, 1);
		row.sideband[i] = rl_state_sideband(row.pkt[i]->state);
		row.by_vc[vc]++;
		b.end[0].next_tag[vc]++;
	}
	rl_port_hand_row(b.end[0].port, &row);
}

/* The window's end lies within some of them. */
static void
a_row_is_numbered_at_once_and_arrives_in_order(void **state)
{
	(void)state;
	cfg.window_flits = 16;
	cfg.max_packet_flits = 4;
	open_link();
	for (unsigned int i = 0; i < 9; i++) {
		const struct rl_port_info was = bench_info(&b.end[0]);

		hand_row(7);
		assert_int_equal(bench_info(&b.end[0]).replay_tail -
					 was.replay_tail, 7);
		assert_int_equal(bench_info(&b.end[0]).consumed[0] -
					 was.consumed[0], 2);
		bench_run(&b, 50 * RL_NS_PER_US);
	}
	finish();
}

static void
of_a_row_no_vc_takes_more_than_the_peer_has_room_for(void **state)
{
	(void)state;
	cfg.credits_flits = 8;
	cfg.max_packet_flits = 4;
	open_link();
	b.end[1].hold_vcs = 1;
	assert_int_equal(sure(), 8);
	assert_true(hand(2, 3));
	assert_int_equal(sure(), 5);
	for (unsigned int i = 0; i < 8; i++)
		assert_true(hand(0, 1));
	assert_int_equal(sure(), 0);
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	finish();
}

static void
a_fence_waits_until_a_row_is_acknowledged(void **state)
{
	(void)state;
	open_link();
	hand_row(6);
	rl_port_submit(b.end[0].port, rl_pipe_mark(RL_MARK_FENCE), b.now_ns);
	assert_null(rl_port_loop(b.end[0].port, b.now_ns));
	b.end[0].nmarks = 0;
	bench_settle(&b, 100 * RL_NS_PER_MS);
	assert_int_equal(b.end[0].nmarks, 1);
	finish();
}

static void
vcs_with_weights_take_turns(void **state)
{
	(void)state;
	for (unsigned int vc = 0; vc < 4; vc++)
		cfg.vc_weights[vc] = (uint8_t)(1 + vc);
	open_link();
	for (unsigned int vc = 0; vc < 4; vc++)
		assert_false(hand(vc, 1));
	bench_send(&b, 0, 0, 1, 1);
	finish();
}

static void
a_link_that_is_not_up_takes_nothing(void **state)
{
	(void)state;
	open_link();
	rl_port_down(b.end[0].port, b.now_ns);
	assert_false(hand(0, 1));
	bench_close(&b);
}

/* [DRL-8]: a fence follows it as it follows what was queued. */
static void
a_fence_waits_until_what_was_handed_over_is_acknowledged(void **state)
{
	(void)state;
	open_link();
	assert_true(hand(3, 2));
	rl_port_submit(b.end[0].port, rl_pipe_mark(RL_MARK_FENCE), b.now_ns);
	assert_null(rl_port_loop(b.end[0].port, b.now_ns));
	b.end[0].nmarks = 0;
	bench_settle(&b, 100 * RL_NS_PER_MS);
	assert_int_equal(b.end[0].nmarks, 1);
	assert_int_equal(b.end[0].mark[0], RL_MARK_FENCE_DONE);
	finish();
}

/* Nothing but flits passes: no keepalive, and no ACK that stands alone. */
static enum bench_act
flits_alone(void *ctx, struct bench_frame *f)
{
	(void)ctx;
	return f->h.type == RL_FRAME_DATA ? BENCH_PASS : BENCH_DROP;
}

/* And no credits have changed: nothing but the ACK is new. */
static void
what_a_frame_of_flits_acknowledges_is_done_with_at_once(void **state)
{
	struct rl_port_info i;

	(void)state;
	open_link();
	b.end[0].hold_vcs = b.end[1].hold_vcs = 0xff;
	for (unsigned int e = 0; e < 2; e++)
		b.end[e].out->hook = flits_alone;
	for (unsigned int n = 0; n < 4; n++) {
		bench_send(&b, 0, 0, 1, 1);
		bench_run(&b, 5 * RL_NS_PER_US);
		bench_send(&b, 1, 0, 1, 1);
		bench_run(&b, 5 * RL_NS_PER_US);
		i = bench_info(&b.end[0]);
		assert_int_equal(i.replay_acked, i.replay_tail);
	}
	for (unsigned int e = 0; e < 2; e++) {
		b.end[e].out->hook = NULL;
		b.end[e].hold_vcs = 0;
		bench_end_release(&b.end[e]);
	}
	finish();
}

int
main(void)
{
#define HAND(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		HAND(what_is_handed_over_is_numbered_at_once_and_arrives_in_order),
		HAND(nothing_overtakes_what_is_queued),
		HAND(what_a_frame_of_flits_acknowledges_is_done_with_at_once),
		HAND(no_more_is_taken_than_the_peer_has_room_for),
		HAND(no_more_is_taken_than_the_window_holds_nor_than_a_poll_sends),
		HAND(a_row_is_numbered_at_once_and_arrives_in_order),
		HAND(of_a_row_no_vc_takes_more_than_the_peer_has_room_for),
		HAND(a_fence_waits_until_a_row_is_acknowledged),
		HAND(vcs_with_weights_take_turns),
		HAND(a_link_that_is_not_up_takes_nothing),
		HAND(a_fence_waits_until_what_was_handed_over_is_acknowledged),
	};

	return cmocka_run_group_tests_name("hand", tests, NULL, NULL);
}
