/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cut-through at a port [LCB-1]: packets that come in parts and go on in
 * parts, and the room that is kept for their rest.
 */
#include "parts.h"

#define US RL_NS_PER_US

/* Bit i of `cuts`: a cut behind flit i. */
static void
a_packet_in_any_parts_arrives_the_same(void **state)
{
	(void)state;
	for (uint32_t frame = 1; frame <= 4; frame += 3) {
		struct rl_link_cfg cfg = cut_cfg();
		struct cut g;

		cfg.flits_per_frame = frame;
		cut_open(&g, &cfg);
		for (unsigned int cuts = 0; cuts < 32; cuts++) {
			struct rl_flit *pkt = cut_make(&g, cuts % RL_VCS, 6);
			unsigned int n = 0;

			for (unsigned int i = 0; i < 6; i++) {
				n++;
				if (i < 5 && !(cuts & 1u << i))
					continue;
				cut_give(&g, &pkt, n);
				cut_run(&g, cuts % 3);
				n = 0;
			}
			assert_null(pkt);
		}
		cut_run(&g, 400);
		assert_int_equal(g.in.whole.packets, 32);
		cut_at_rest(&g);
		cut_close(&g);
	}
}

/* Flits go on when they arrive, not when their packet has. */
static void
the_first_flit_goes_on_long_before_the_last_arrives(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_flit *pkt;
	struct cut g;

	(void)state;
	cut_open(&g, &cfg);
	pkt = cut_make(&g, 3, 16);
	cut_give(&g, &pkt, 1);
	cut_run(&g, 10);
	assert_int_equal(g.in.taken, 1);
	assert_int_equal(g.in.open[3]->pkt_flits, 1);
	for (unsigned int i = 1; i < 16; i++) {
		cut_give(&g, &pkt, 1);
		cut_run(&g, 10);
		assert_int_equal(g.in.taken, i + 1);
	}
	assert_int_equal(g.in.whole.packets, 1);
	assert_int_equal(COUNTER(&g.b.end[1], rx_packets), 1);
	cut_run(&g, 20);
	cut_at_rest(&g);
	cut_close(&g);
}

static enum bench_act
lose_some(void *ctx, struct bench_frame *f)
{
	unsigned int *n = ctx;

	return f->h.type == RL_FRAME_DATA && ++*n % 17 == 5 ? BENCH_DROP
							     : BENCH_PASS;
}

/* Parts of packets of eight VCs mixed on one wire, with losses. */
static void
parts_of_all_vcs_mix_on_the_wire_and_in_nothing_else(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	unsigned int frames = 0;
	struct rl_prng prng;
	struct cut g;

	(void)state;
	cfg.window_flits = 200;
	cfg.credits_flits = 20;
	cfg.replay_limit = 255; /* or the link retrains, and rightly */
	cut_open(&g, &cfg);
	rl_prng_seed(&prng, 7);
	g.b.wire[0].hook = lose_some;
	g.b.wire[0].ctx = &frames;
	for (unsigned int round = 0; round < 50; round++) {
		struct rl_flit *pkt[RL_VCS];
		unsigned int left = RL_VCS;

		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			pkt[vc] = cut_make(&g, vc,
				       1 + rl_prng_below(&prng, 16));
		while (left != 0) {
			const unsigned int vc = rl_prng_below(&prng, RL_VCS);

			if (pkt[vc] == NULL)
				continue;
			cut_give(&g, &pkt[vc],
			     1 + rl_prng_below(&prng, pkt[vc]->pkt_flits));
			left -= pkt[vc] == NULL;
			cut_run(&g, rl_prng_below(&prng, 3));
		}
		cut_run(&g, 100);
	}
	cut_run(&g, 2000);
	assert_int_equal(g.in.whole.packets, 50 * RL_VCS);
	assert_true(COUNTER(&g.b.end[0], tx_replays) > 0);
	cut_at_rest(&g);
	cut_close(&g);
}

/*
 * A packet begun may grow to the longest there is: that much of the window is
 * its own, until its end has come, however short it then turns out to be.
 */
static void
a_packet_begun_keeps_room_for_its_rest(void **state)
{
	(void)state;
	for (unsigned int flits = 2; flits <= 16; flits++) {
		struct rl_link_cfg cfg = cut_cfg();
		struct rl_flit *pkt, *other;
		struct cut g;

		cfg.window_flits = 20;
		cut_open(&g, &cfg);
		pkt = cut_make(&g, 0, flits);
		cut_give(&g, &pkt, 1);
		cut_run(&g, 20);
		assert_int_equal(bench_info(&g.b.end[0]).reserved_flits, 15);
		/* 20 - 1 - 15: four fit, five do not */
		other = cut_make(&g, 1, 4);
		cut_give(&g, &other, 4);
		cut_run(&g, 40);
		assert_int_equal(g.in.whole.packets, 1);
		other = cut_make(&g, 1, 5);
		cut_give(&g, &other, 5);
		cut_run(&g, 40);
		assert_int_equal(g.in.whole.packets, 1);
		assert_true(COUNTER(&g.b.end[0], tx_window_full) > 0);
		/* the one that waits does not stop the one that has begun */
		while (pkt != NULL)
			cut_give(&g, &pkt, 1);
		cut_run(&g, 80);
		assert_int_equal(g.in.whole.packets, 3);
		cut_at_rest(&g);
		cut_close(&g);
	}
}

/* Credits: a packet without its end starts only where the longest would. */
static void
a_packet_begins_only_with_credits_for_the_longest(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_flit *pkt, *first;
	struct cut g;

	(void)state;
	cfg.credits_flits = 17;
	cut_open(&g, &cfg);
	first = cut_make(&g, 2, 2);
	cut_give(&g, &first, 2);
	bench_run(&g.b, 30 * US); /* not taken: 15 credits are left */
	pkt = cut_make(&g, 2, 3);
	cut_give(&g, &pkt, 1);
	bench_run(&g.b, 30 * US);
	assert_int_equal(bench_info(&g.b.end[0]).queued_flits, 1);
	assert_true(COUNTER(&g.b.end[0], tx_credit_stall) > 0);
	assert_int_equal(bench_info(&g.b.end[0]).reserved_flits, 0);
	cut_run(&g, 60); /* now it is taken */
	assert_int_equal(bench_info(&g.b.end[0]).queued_flits, 0);
	cut_give(&g, &pkt, 2);
	cut_run(&g, 60);
	assert_int_equal(g.in.whole.packets, 2);
	cut_at_rest(&g);
	cut_close(&g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("a packet in any parts arrives the same [LCB-1]",
		     a_packet_in_any_parts_arrives_the_same),
		CASE("the first flit goes on long before the last arrives "
		     "[LCB-1]",
		     the_first_flit_goes_on_long_before_the_last_arrives),
		CASE("parts of all VCs mix on the wire and in nothing else "
		     "[LCB-1, LCB-3]",
		     parts_of_all_vcs_mix_on_the_wire_and_in_nothing_else),
		CASE("a packet begun keeps room for its rest [LCB-1]",
		     a_packet_begun_keeps_room_for_its_rest),
		CASE("a packet begins only with credits for the longest "
		     "[LCB-1, LCB-3]",
		     a_packet_begins_only_with_credits_for_the_longest),
	};

	return cmocka_run_group_tests_name("cut-through at a port", tests,
					   NULL, NULL);
}
