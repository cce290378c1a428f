/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link retry off: a port is an RXL hop [LCB-4]. Nothing is sent again; a lost
 * or corrupt flit takes its packet with it, is reported once, mixes with
 * nothing, and costs no credits.
 */
#include "bench.h"

static struct rl_link_cfg
noretry_cfg(uint32_t per_frame, uint32_t credits)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.retry = false;
	cfg.flits_per_frame = per_frame;
	cfg.credits_flits = credits;
	cfg.max_packet_flits = 8;
	return cfg;
}

/* Every packet either came, or was reported, or some flit of it was lost. */
static unsigned int
reports(const struct bench_end *e, uint32_t tag)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < e->ndrops; i++)
		n += e->drop[i].tag == tag;
	return n;
}

static void
a_clean_wire_delivers_all_and_keeps_nothing(void **state)
{
	struct rl_link_cfg cfg = noretry_cfg(4, 64);
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	for (unsigned int i = 0; i < 300; i++) {
		bench_send(&b, 0, i % RL_VCS, 1 + i % 8, 1);
		bench_run(&b, 2 * RL_NS_PER_US);
	}
	bench_settle(&b, RL_NS_PER_MS);
	bench_check_delivered(&b);
	assert_int_equal(COUNTER(&b.end[0], tx_replay_flits), 0);
	assert_int_equal(COUNTER(&b.end[0], rx_ack_seq_error), 0);
	assert_int_equal(bench_info(&b.end[0]).held_flits, 0);
	bench_close(&b);
}

/* One flit of the second of three packets is corrupted: any of its four. */
static void
a_bad_flit_takes_its_packet_and_is_reported_once(void **state)
{
	(void)state;
	for (unsigned int at = 0; at < 4; at++) {
		struct rl_link_cfg cfg = noretry_cfg(1, 64);
		struct bench_end *rx;
		struct bench b;

		bench_open_up(&b, &cfg);
		rx = &b.end[1];
		bench_rule(&b.wire[0], (struct bench_rule){
			.type = RL_FRAME_DATA, .act = BENCH_HURT,
			.first = 4 + at, .last = 4 + at });
		bench_send(&b, 0, 0, 4, 3);
		bench_settle(&b, RL_NS_PER_MS);
		assert_int_equal(rx->sink.packets, 2);
		assert_int_equal(rx->sink.corrupt, 0);
		assert_int_equal(COUNTER(rx, rx_bad), 1);
		assert_int_equal(COUNTER(rx, tx_nak), 0);
		assert_int_equal(rx->ndrops, 1);
		assert_int_equal(reports(rx, 1), 1);
		assert_int_equal(rx->drop[0].why,
				 at == 0 ? RL_DROP_FRAGMENT
					 : RL_DROP_UNCORRECTABLE);
		bench_run(&b, 100 * RL_NS_PER_US);
		assert_int_equal(bench_info(&b.end[0]).credits[0], 64);
		bench_close(&b);
	}
}

/* A lost frame holds the end of one packet and the start of the next. */
static void
packets_on_both_sides_of_a_loss_do_not_mix(void **state)
{
	(void)state;
	for (unsigned int lost = 0; lost < 6; lost++) {
		struct rl_link_cfg cfg = noretry_cfg(4, 64);
		struct bench_end *rx;
		struct bench b;

		bench_open_up(&b, &cfg);
		rx = &b.end[1];
		bench_rule(&b.wire[0], (struct bench_rule){
			.type = RL_FRAME_DATA, .act = BENCH_DROP,
			.first = lost, .last = lost });
		bench_send(&b, 0, 0, 6, 5); /* in frames of four */
		bench_settle(&b, RL_NS_PER_MS);
		assert_int_equal(rx->sink.corrupt, 0);
		assert_int_equal(rx->sink.duplicates, 0);
		assert_int_equal(COUNTER(rx, rx_missing_seq), 1);
		for (uint32_t tag = 0; tag < 5; tag++)
			assert_true(reports(rx, tag) <= 1);
		/* a frame of four flits hits one packet of six, or two */
		assert_in_range(rx->sink.packets, 3, 4);
		assert_int_equal(rx->sink.packets + rx->ndrops, 5);
		bench_close(&b);
	}
}

static enum bench_act
lose_a_third(void *ctx, struct bench_frame *f)
{
	const uint32_t r = rl_prng_below(ctx, 12);

	if (r < 4)
		return BENCH_DROP;
	if (r == 4 && f->h.nflits != 0)
		return BENCH_HURT;
	return r == 5 ? BENCH_TWICE : BENCH_PASS;
}

/* 2000 packets through 16 credits while frames are lost: no credit is. */
static void
lost_flits_give_their_credits_back(void **state)
{
	struct rl_link_cfg cfg = noretry_cfg(3, 16);
	struct rl_prng prng;
	struct bench b;

	(void)state;
	rl_prng_seed(&prng, 5);
	bench_open_up(&b, &cfg);
	for (unsigned int w = 0; w < 2; w++) {
		b.wire[w].hook = lose_a_third;
		b.wire[w].ctx = &prng;
	}
	for (unsigned int i = 0; i < 2000; i++) {
		bench_send(&b, 0, i % 3, 1 + i % 8, 1);
		for (unsigned int n = 0; n < 100000 &&
		     bench_info(&b.end[0]).queued_flits > 100; n++)
			bench_run(&b, b.step_ns);
		assert_true(bench_info(&b.end[0]).queued_flits <= 100);
		b.end[1].ndrops = 0;
	}
	for (unsigned int w = 0; w < 2; w++)
		bench_no_rules(&b.wire[w]);
	bench_settle(&b, 10 * RL_NS_PER_MS);
	assert_int_equal(b.end[1].sink.corrupt, 0);
	assert_int_equal(b.end[1].sink.duplicates, 0);
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	bench_close(&b);
}

/* The link dies in the middle of a packet: it is looped out whole. */
static void
a_packet_half_sent_is_looped_out_whole(void **state)
{
	struct rl_link_cfg cfg = noretry_cfg(1, 64);
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	bench_send(&b, 0, 0, 8, 3);
	bench_run(&b, 11 * RL_NS_PER_US);
	assert_int_equal(COUNTER(&b.end[0], tx_flits), 11);
	rl_port_down(b.end[0].port, b.now_ns);
	bench_run(&b, 50 * RL_NS_PER_US);
	assert_int_equal(b.end[0].looped.packets, 2);
	assert_int_equal(b.end[0].looped.flits, 16);
	assert_true(bench_intact(b.end[0].looped.head));
	assert_int_equal(b.end[1].sink.packets, 1);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LCB-4] a clean wire delivers all and keeps nothing",
		     a_clean_wire_delivers_all_and_keeps_nothing),
		CASE("[LCB-4] a bad flit takes its packet and is reported once",
		     a_bad_flit_takes_its_packet_and_is_reported_once),
		CASE("[LCB-4] packets on both sides of a loss do not mix",
		     packets_on_both_sides_of_a_loss_do_not_mix),
		CASE("[LCB-4] lost flits give their credits back",
		     lost_flits_give_their_credits_back),
		CASE("[LCB-4] a packet half sent is looped out whole",
		     a_packet_half_sent_is_looped_out_whole),
	};

	return cmocka_run_group_tests_name("noretry", tests, NULL, NULL);
}
