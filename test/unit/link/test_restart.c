/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A restarted process is another one; and what both ends must agree on before
 * a link carries data: the fabric, and the length of frames.
 */
#include "bench.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* The process at an end dies, and another, of the same seed, takes its place. */
static void
renew(struct bench *b, unsigned int i, const struct rl_link_cfg *cfg,
      uint64_t digest)
{
	struct bench_end *e = &b->end[i];
	const struct bench_end_params p = {
		.cfg = cfg, .pool = &b->pool, .in = e->in, .out = e->out,
		.uid = i + 1, .index = (uint16_t)(i + 3), .kind = b->kind,
		.digest = digest,
	};

	bench_end_close(e);
	bench_end_open(e, &p);
}

static void
check_up(struct bench *b)
{
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(bench_state(&b->end[i]), RL_LINK_UP);
}

/* Everything that end `from` sends from now on arrives. */
static void
check_carries(struct bench *b, unsigned int from, unsigned int packets)
{
	struct bench_sink *s = &b->end[!from].sink;

	memset(s, 0, sizeof(*s));
	s->next_tag[0] = b->end[from].next_tag[0];
	bench_send(b, from, 0, 1, packets);
	bench_settle(b, 50 * MS);
	assert_int_equal(s->packets, packets);
	assert_int_equal(s->duplicates + s->disorder + s->corrupt, 0);
}

/*
 * Whatever it had sent before, and though nothing but its INIT frames tells of
 * the restart: there are no keepalives.
 */
static void
a_restarted_peer_is_never_taken_for_the_old_one(void **state)
{
	(void)state;
	for (unsigned int before = 0; before <= 60; before += 20) {
		struct bench b = { 0 };
		struct rl_link_cfg cfg;

		bench_cfg(&cfg);
		cfg.keepalive_ns = cfg.keepalive_dead_ns = 0;
		bench_open(&b, &cfg);
		bench_start(&b);
		if (before != 0)
			check_carries(&b, 1, before);
		renew(&b, 1, &cfg, 0);
		rl_port_start(b.end[1].port, b.now_ns);
		bench_run(&b, 2 * MS);
		check_up(&b);
		assert_int_equal(COUNTER(&b.end[0], deaths), 1);
		assert_int_equal(bench_end_detector(&b.end[0]), RL_DET_PEER);
		assert_int_equal(COUNTER(&b.end[0], peer_restarts), 1);
		assert_int_equal(COUNTER(&b.end[1], peer_restarts), 0);
		check_carries(&b, 1, 50);
		check_carries(&b, 0, 50);
		assert_int_equal(COUNTER(&b.end[0], rx_duplicate_seq), 0);
		bench_close(&b);
	}
}

/* A link that goes down and up again is the same process's. */
static void
a_new_epoch_is_no_restart(void **state)
{
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	bench_start(&b);
	rl_port_down(b.end[0].port, b.now_ns);
	bench_run(&b, 20 * US);
	rl_port_up(b.end[0].port, b.now_ns);
	bench_start(&b);
	assert_int_equal(COUNTER(&b.end[0], trainings), 2);
	assert_int_equal(COUNTER(&b.end[0], peer_restarts), 0);
	assert_int_equal(COUNTER(&b.end[1], peer_restarts), 0);
	bench_close(&b);
}

/* --- what must be agreed on ---------------------------------------------- */

static void
links_of_two_fabrics_do_not_train_and_say_so_once(void **state)
{
	static const struct {
		uint64_t a, b;
		bool train;
	} c[] = { { 0, 0, true },   { 0, 7, true },	{ 7, 0, true },
		  { 7, 7, true },   { 7, 8, false },
		  { 1, 1ull << 63 | 1, false } };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct bench b = { 0 };

		bench_open(&b, NULL);
		renew(&b, 0, &b.cfg, c[i].a);
		renew(&b, 1, &b.cfg, c[i].b);
		for (unsigned int k = 0; k < 2; k++)
			rl_port_start(b.end[k].port, b.now_ns);
		bench_run(&b, 5 * MS);
		for (unsigned int k = 0; k < 2; k++) {
			const struct bench_end *e = &b.end[k];

			assert_int_equal(bench_state(e), c[i].train
								 ? RL_LINK_UP
								 : RL_LINK_INIT);
			assert_int_equal(bench_end_events(e, RL_PEV_REFUSED),
					 !c[i].train);
			assert_true((COUNTER(e, rx_init_refused) > 5) ==
				    !c[i].train);
		}
		/* its configuration is mended: it trains */
		renew(&b, 1, &b.cfg, c[i].a);
		bench_start(&b);
		bench_close(&b);
	}
}

static enum bench_act
count_long(void *ctx, struct bench_frame *f)
{
	uint32_t *most = ctx;

	if (f->h.type == RL_FRAME_DATA && f->h.nflits > *most)
		*most = f->h.nflits;
	return BENCH_PASS;
}

static void
frames_are_as_long_as_the_smaller_of_both_takes(void **state)
{
	static const uint32_t flits[][2] = { { 8, 3 }, { 3, 8 }, { 1, 8 },
					     { 6, 5 }, { 32, 32 } };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(flits); i++) {
		const uint32_t want = rl_min_u32(flits[i][0], flits[i][1]);
		struct rl_link_cfg cfg[2];
		struct bench b = { 0 };
		uint32_t most = 0;

		for (unsigned int k = 0; k < 2; k++) {
			bench_cfg(&cfg[k]);
			cfg[k].flits_per_frame = 32;
		}
		bench_open(&b, &cfg[0]);
		for (unsigned int k = 0; k < 2; k++) {
			cfg[k].flits_per_frame = flits[i][k];
			renew(&b, k, &cfg[k], 0);
			b.wire[k].hook = count_long;
			b.wire[k].ctx = &most;
		}
		bench_start(&b);
		for (unsigned int k = 0; k < 2; k++)
			assert_int_equal(bench_info(&b.end[k]).flits_per_frame,
					 want);
		check_carries(&b, 0, 100);
		check_carries(&b, 1, 100);
		assert_int_equal(most, want);
		bench_close(&b);
	}
}

/* Loses all frames that are longer than *ctx. */
static enum bench_act
lose_long(void *ctx, struct bench_frame *f)
{
	return f->len > *(uint32_t *)ctx ? BENCH_DROP : BENCH_PASS;
}

/* A way that the short frames pass and the long ones do not is no way. */
static void
a_link_that_cannot_carry_data_never_trains(void **state)
{
	(void)state;
	for (unsigned int way = 0; way < 2; way++) {
		struct bench b = { 0 };
		struct rl_link_cfg cfg;
		uint32_t most;

		bench_cfg(&cfg);
		cfg.flits_per_frame = 5;
		bench_open(&b, &cfg);
		most = rl_frame_bytes(5) - 1;
		b.wire[way].hook = lose_long;
		b.wire[way].ctx = &most;
		for (unsigned int k = 0; k < 2; k++)
			rl_port_start(b.end[k].port, b.now_ns);
		bench_run(&b, 20 * MS);
		for (unsigned int k = 0; k < 2; k++) {
			assert_int_equal(bench_state(&b.end[k]), RL_LINK_INIT);
			assert_int_equal(COUNTER(&b.end[k], rx_init_echo), 0);
		}
		/* the sign of it: one end hears, and gets no echo */
		assert_true(COUNTER(&b.end[way], rx_init) > 5);
		most++;
		bench_start(&b);
		check_up(&b);
		bench_close(&b);
	}
}

/* It begins later: probes are as long as data, so none gets through. */
static void
a_link_that_cannot_carry_data_any_more_dies(void **state)
{
	struct bench b = { 0 };
	struct rl_link_cfg cfg;
	uint32_t most;

	(void)state;
	bench_cfg(&cfg);
	cfg.flits_per_frame = 5;
	cfg.replay_limit = 2;
	cfg.retrain_limit = 2;
	bench_open(&b, &cfg);
	bench_start(&b);
	most = rl_frame_bytes(5) - 1;
	b.wire[0].hook = lose_long;
	b.wire[0].ctx = &most;
	bench_send(&b, 0, 0, 5, 4);
	bench_run(&b, 10 * MS);
	assert_int_equal(bench_end_detector(&b.end[0]), RL_DET_RETRAIN);
	assert_int_equal(b.end[0].looped.packets, 4);
	/* and it does not come back until it can */
	assert_int_equal(COUNTER(&b.end[1], trainings), 1);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LINK-4] a peer that starts anew is never taken for the "
		     "old one",
		     a_restarted_peer_is_never_taken_for_the_old_one),
		cmocka_unit_test(a_new_epoch_is_no_restart),
		CASE("[LINK-4] links of two fabrics do not train, and say so "
		     "once",
		     links_of_two_fabrics_do_not_train_and_say_so_once),
		CASE("[FLIT-3] frames are as long as the smaller of both takes",
		     frames_are_as_long_as_the_smaller_of_both_takes),
		CASE("[LINK-4] a link that cannot carry data never trains",
		     a_link_that_cannot_carry_data_never_trains),
		CASE("[LINK-4] a link that cannot carry data any more dies",
		     a_link_that_cannot_carry_data_any_more_dies),
	};

	return cmocka_run_group_tests_name("restart", tests, NULL, NULL);
}
