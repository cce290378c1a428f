/* SPDX-License-Identifier: BSD-3-Clause */
/* The shares of VCs in a link [LCB-3]. */
#include "bench.h"

static const unsigned int len[] = { 8, 1, 3 };

/* Flits of each of three VCs that a busy link carries in so many slots. */
static void
share(const struct rl_link_cfg *cfg, uint32_t busy_vcs, uint32_t slots,
      uint64_t flits[3])
{
	struct bench b = { .pool_flits = 16384 };

	bench_open(&b, cfg);
	b.wire[0].slot_ns = b.wire[1].slot_ns = RL_NS_PER_US;
	bench_start(&b);
	bench_run(&b, 50 * RL_NS_PER_US);
	for (unsigned int vc = 0; vc < 3; vc++)
		if (busy_vcs >> vc & 1)
			bench_send(&b, 0, vc, len[vc], 2400 / len[vc]);
	bench_run(&b, slots * RL_NS_PER_US);
	for (unsigned int vc = 0; vc < 3; vc++)
		flits[vc] = (uint64_t)b.end[1].sink.next_tag[vc] * len[vc];
	bench_settle(&b, 100 * RL_NS_PER_MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

static struct rl_link_cfg
cfg_with(uint8_t w0, uint8_t w1, uint8_t w2)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.window_flits = cfg.credits_flits = 64;
	cfg.max_packet_flits = 8;
	cfg.flits_per_frame = 1;
	cfg.vcs = 3;
	cfg.vc_weights[0] = w0;
	cfg.vc_weights[1] = w1;
	cfg.vc_weights[2] = w2;
	return cfg;
}

static void
assert_near(uint64_t have, double want)
{
	/* a packet under way, and a turn begun */
	assert_in_range(have, want - 24, want + 24);
}

static void
without_weights_packets_take_turns_whatever_their_length(void **state)
{
	struct rl_link_cfg cfg = cfg_with(0, 0, 0);
	uint64_t flits[3], all;

	(void)state;
	share(&cfg, 7, 1000, flits);
	all = flits[0] + flits[1] + flits[2];
	assert_true(all > 900);
	for (unsigned int vc = 0; vc < 3; vc++)
		assert_near(flits[vc], (double)all * len[vc] / 12);
}

static void
shares_are_as_weights_whatever_the_lengths_of_packets(void **state)
{
	static const uint8_t w[][3] = { { 1, 1, 1 }, { 4, 2, 1 }, { 1, 2, 4 },
					{ 10, 1, 5 }, { 1, 1, 12 } };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(w); i++) {
		struct rl_link_cfg cfg = cfg_with(w[i][0], w[i][1], w[i][2]);
		const double sum = w[i][0] + w[i][1] + w[i][2];
		uint64_t flits[3], all;

		share(&cfg, 7, 1500, flits);
		all = flits[0] + flits[1] + flits[2];
		assert_true(all > 1400); /* and the link is never idle */
		for (unsigned int vc = 0; vc < 3; vc++)
			assert_near(flits[vc], (double)all * w[i][vc] / sum);
	}
}

static void
a_vc_with_nothing_to_send_leaves_the_link_to_the_others(void **state)
{
	struct rl_link_cfg cfg = cfg_with(20, 1, 1);
	uint64_t flits[3], all;

	(void)state;
	share(&cfg, 6, 1000, flits);
	all = flits[1] + flits[2];
	assert_true(all > 900);
	assert_near(flits[1], (double)all / 2);
	share(&cfg, 2, 1000, flits);
	assert_true(flits[1] > 900);
}

/* Nothing is saved up while there is nothing to send, or nowhere to. */
static void
a_vc_that_was_blocked_gets_no_more_than_its_share_afterwards(void **state)
{
	struct rl_link_cfg cfg = cfg_with(2, 2, 2);
	struct bench b = { .pool_flits = 16384 };
	uint32_t before;

	(void)state;
	bench_open(&b, &cfg);
	b.wire[0].slot_ns = b.wire[1].slot_ns = RL_NS_PER_US;
	b.end[1].hold_vcs = 1;
	bench_start(&b);
	bench_run(&b, 50 * RL_NS_PER_US);
	bench_send(&b, 0, 0, 1, 1000);
	bench_send(&b, 0, 1, 1, 2000);
	bench_run(&b, 600 * RL_NS_PER_US);
	assert_true(b.end[1].sink.next_tag[1] > 450);
	b.end[1].hold_vcs = 0;
	bench_end_release(&b.end[1]);
	before = b.end[1].sink.next_tag[1];
	bench_run(&b, 200 * RL_NS_PER_US);
	assert_in_range(b.end[1].sink.next_tag[1] - before, 75, 125);
	bench_settle(&b, 100 * RL_NS_PER_MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

/* If room comes a few flits at a time, no short packet takes it away. */
static void
at_a_full_window_short_packets_do_not_pass_a_long_one(void **state)
{
	struct rl_link_cfg cfg = cfg_with(0, 0, 0);
	struct bench b = { .pool_flits = 16384 };
	uint32_t longs;

	(void)state;
	cfg.window_flits = 16;
	bench_open(&b, &cfg);
	for (unsigned int i = 0; i < 2; i++) {
		b.wire[i].slot_ns = RL_NS_PER_US;
		b.wire[i].delay_ns = 20 * RL_NS_PER_US;
	}
	bench_start(&b);
	bench_run(&b, 200 * RL_NS_PER_US);
	bench_send(&b, 0, 0, 8, 200);
	bench_send(&b, 0, 1, 1, 2000);
	bench_run(&b, 1000 * RL_NS_PER_US);
	assert_true(COUNTER(&b.end[0], tx_window_full) > 0);
	longs = b.end[1].sink.next_tag[0];
	assert_true(longs > 10);
	assert_in_range(b.end[1].sink.next_tag[1], longs - 4, longs + 4);
	bench_settle(&b, 1000 * RL_NS_PER_MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("without weights packets take turns whatever their length",
		     without_weights_packets_take_turns_whatever_their_length),
		CASE("shares are as weights whatever the lengths of packets",
		     shares_are_as_weights_whatever_the_lengths_of_packets),
		CASE("who has nothing to send leaves the link to the others",
		     a_vc_with_nothing_to_send_leaves_the_link_to_the_others),
		CASE("a vc that was blocked gets no more than its share afterwards",
		     a_vc_that_was_blocked_gets_no_more_than_its_share_afterwards),
		CASE("at a full window short packets do not pass a long one",
		     at_a_full_window_short_packets_do_not_pass_a_long_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
