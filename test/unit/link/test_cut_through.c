/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports with switching = cut-through [LCB-1]: what arrived of a packet goes on
 * at once, what is cut off is closed by a marked end [DRL-3], and credits and
 * windows come out even [LCB-2].
 */
#include "bench.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static struct rl_link_cfg
cut_cfg(void)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.switching = RL_CUT_THROUGH;
	return cfg;
}

static void
kill_link(struct bench *b)
{
	bench_cut(b, true);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(b->end[i].port, false, b->now_ns);
}

static void
heal_link(struct bench *b)
{
	bench_cut(b, false);
	bench_no_rules(&b->wire[0]);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(b->end[i].port, true, b->now_ns);
	bench_start(b);
	bench_run(b, 10 * US);
	for (unsigned int i = 0; i < 2; i++)
		b->end[i].nmarks = b->end[i].nevents = 0;
}

static void
check_credits(const struct bench *b)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(bench_info(&b->end[0]).credits[vc],
				 b->cfg.credits_flits);
}

static void
flits_go_on_before_their_packet_has_ended(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	bench_send(&b, 0, 0, 32, 1);
	bench_run(&b, 8 * US);
	assert_non_null(b.end[1].part[0]); /* a few flits, far from its end */
	assert_in_range(b.end[1].part[0]->pkt_flits, 3, 8);
	bench_settle(&b, MS);
	assert_int_equal(b.end[1].fragments, 32);
	bench_check_delivered(&b);
	bench_close(&b);
}

/* Cut after each number of flits; fifty epochs: not a credit is missing. */
static void
a_packet_cut_off_is_closed_by_a_marked_end(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct bench b;

	(void)state;
	cfg.flap_damping_max_ns = cfg.flap_damping_ns = 10 * US;
	bench_open_up(&b, &cfg);
	for (unsigned int k = 0; k <= 31; k++) {
		struct bench_end *rx = &b.end[1];

		if (k < 31)
			bench_rule(&b.wire[0], (struct bench_rule){
				.type = RL_FRAME_DATA, .act = BENCH_DROP,
				.first = k, .last = BENCH_EVER });
		bench_send(&b, 0, k % RL_VCS, 31, 1);
		bench_run(&b, 45 * US);
		assert_int_equal(COUNTER(rx, rx_closed), k == 0 ? 0 : k - 1);
		kill_link(&b);
		bench_run(&b, 5 * US);
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			assert_null(rx->part[vc]); /* nothing stays open */
		if (k < 31)
			assert_int_equal(rx->closed, k);
		assert_int_equal(b.end[0].looped.packets,
				 k < 31 ? k + 1 : 31);
		assert_int_equal(b.end[0].looped.tail->pkt_flits, 31);
		heal_link(&b);
		check_credits(&b);
	}
	assert_int_equal(b.end[1].sink.packets, 1);
	assert_int_equal(b.end[1].sink.corrupt, 0);
	bench_close(&b);
}

/* No buffer for the end that closes: it follows when there is one. */
static void
a_packet_waits_to_be_closed_for_a_buffer(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	static struct rl_flit *taken[2048];
	unsigned int n = 0;
	struct bench b;

	(void)state;
	bench_open_up(&b, &cfg);
	bench_send(&b, 0, 0, 20, 1);
	bench_run(&b, 10 * US);
	assert_non_null(b.end[1].part[0]);
	while (b.pool.cache.count > 0)
		taken[n++] = rl_flit_get(&b.pool.cache);
	kill_link(&b);
	bench_run(&b, 5 * MS); /* and it does not train before */
	assert_non_null(b.end[1].part[0]);
	assert_int_equal(bench_state(&b.end[1]), RL_LINK_LOOPBACK);
	while (n > 0)
		rl_flit_put(&b.pool.cache, taken[--n]);
	bench_run(&b, 5 * US);
	assert_null(b.end[1].part[0]);
	assert_int_equal(b.end[1].closed, 1);
	heal_link(&b);
	check_credits(&b);
	bench_close(&b);
}

static void
a_packet_over_the_maximum_is_closed_and_reported_once(void **state)
{
	static const unsigned int len[] = { 33, 40, 64, 65, 100 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(len); i++) {
		struct rl_link_cfg cfg = cut_cfg();
		struct bench_end *rx;
		struct bench b;

		bench_open_up(&b, &cfg);
		rx = &b.end[1];
		bench_send(&b, 0, 0, 5, 1);
		bench_send(&b, 0, 0, len[i], 1);
		bench_send(&b, 0, 0, 5, 1);
		bench_settle(&b, 5 * MS);
		assert_int_equal(rx->sink.packets, 2);
		assert_int_equal(rx->closed, 1);
		assert_null(rx->part[0]);
		assert_int_equal(COUNTER(rx, rx_clipped), 1);
		assert_int_equal(rx->ndrops, 1);
		assert_int_equal(rx->drop[0].why, RL_DROP_TOO_LONG);
		assert_int_equal(rx->drop[0].tag, 1);
		bench_run(&b, 100 * US);
		check_credits(&b);
		bench_close(&b);
	}
}

/* The first n flits of a packet; the rest is returned. */
static struct rl_flit *
split(struct rl_flit *pkt, unsigned int n)
{
	struct rl_flit *f = pkt, *rest;

	if (n >= pkt->pkt_flits)
		return NULL;
	for (unsigned int i = 1; i < n; i++)
		f = f->next;
	rest = f->next;
	rest->last = pkt->last;
	rest->pkt_flits = (uint16_t)(pkt->pkt_flits - n);
	rest->vc = pkt->vc;
	pkt->last = f;
	pkt->pkt_flits = (uint16_t)n;
	f->next = NULL;
	return rest;
}

static struct rl_flit *
packet(struct bench *b, unsigned int vc, unsigned int flits)
{
	const struct bench_packet k = {
		.src = 1, .dst = 2, .sl = (uint8_t)vc, .vc = (uint8_t)vc,
		.flits = (uint16_t)flits, .tag = b->end[0].next_tag[vc]++,
	};

	return bench_make(&b->pool, &k);
}

/*
 * A core that cuts through gives a packet in fragments, on all VCs at once,
 * into windows and credits that hold one or two packets: nothing gets stuck.
 */
static void
fragments_of_eight_vcs_share_a_small_window(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 40; seed++) {
		struct rl_link_cfg cfg = cut_cfg();
		struct rl_flit *rest[RL_VCS] = { NULL };
		struct rl_prng prng;
		struct bench b;

		rl_prng_seed(&prng, seed);
		cfg.max_packet_flits = 8;
		cfg.window_flits = 8 + rl_prng_below(&prng, 20);
		cfg.credits_flits = 8 + rl_prng_below(&prng, 12);
		cfg.flits_per_frame = 1 + rl_prng_below(&prng, 6);
		bench_open_up(&b, &cfg);
		for (unsigned int i = 0; i < 400; i++) {
			const unsigned int vc = rl_prng_below(&prng, RL_VCS);
			struct rl_flit *piece = rest[vc];

			if (piece == NULL)
				piece = packet(&b, vc,
					       1 + rl_prng_below(&prng, 8));
			rest[vc] = split(piece, 1 + rl_prng_below(&prng, 8));
			rl_port_submit(b.end[0].port, piece, b.now_ns);
			bench_run(&b, rl_prng_below(&prng, 4) * US);
		}
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			if (rest[vc] != NULL)
				rl_port_submit(b.end[0].port, rest[vc],
					       b.now_ns);
		bench_settle(&b, 20 * MS);
		bench_check_delivered(&b);
		bench_run(&b, 100 * US);
		check_credits(&b);
		bench_close(&b);
	}
}

/* The core still holds a part of the packet, so it loops without its end. */
static void
an_open_packet_loops_after_the_fence_without_its_end(void **state)
{
	(void)state;
	for (unsigned int sent = 1; sent < 10; sent++) {
		struct rl_link_cfg cfg = cut_cfg();
		struct rl_flit *pkt, *rest;
		struct bench_end *e;
		struct bench b;

		bench_open_up(&b, &cfg);
		e = &b.end[0];
		e->no_fence = true;
		bench_send(&b, 0, 1, 3, 1);
		pkt = packet(&b, 0, 10);
		rest = split(pkt, sent);
		rl_port_submit(e->port, pkt, b.now_ns);
		bench_run(&b, 6 * US);
		kill_link(&b);
		bench_run(&b, 5 * US);
		pkt = rest;
		rest = split(pkt, 1); /* the core did not know yet */
		rl_port_submit(e->port, pkt, b.now_ns);
		bench_run(&b, 5 * US);
		for (pkt = e->looped.head; pkt != NULL; pkt = pkt->next_pkt)
			if (sent < 9) /* open ones wait */
				assert_int_equal(pkt->sl, 1);
		rl_port_submit(e->port, rl_pipe_mark(RL_MARK_LOOP_FENCE),
			       b.now_ns);
		bench_run(&b, 5 * US);
		pkt = e->looped.tail;
		assert_non_null(pkt);
		assert_int_equal(pkt->sl, 0);
		assert_int_equal(pkt->pkt_flits, sent + 1);
		assert_true(pkt->flags & RL_FF_SOP);
		assert_int_equal(rl_packet_ends(pkt), sent == 9);
		assert_int_equal(e->mark[e->nmarks - 1], RL_MARK_LOOP_END);
		if (rest != NULL)
			rl_packet_put(&b.pool.cache, rest);
		bench_close(&b);
	}
}

static enum bench_act
lose_a_tenth(void *ctx, struct bench_frame *f)
{
	const uint32_t r = rl_prng_below(ctx, 20);

	if (r == 0)
		return BENCH_DROP;
	return r == 1 && f->h.nflits != 0 ? BENCH_HURT : BENCH_PASS;
}

static void
loss_and_damage_deliver_exactly_once_here_too(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 30; seed++) {
		struct rl_link_cfg cfg = cut_cfg();
		struct rl_prng prng;
		struct bench b;

		rl_prng_seed(&prng, seed);
		cfg.flits_per_frame = 1 + rl_prng_below(&prng, 8);
		cfg.replay_limit = 255;
		bench_open_up(&b, &cfg);
		for (unsigned int w = 0; w < 2; w++) {
			b.wire[w].hook = lose_a_tenth;
			b.wire[w].ctx = &prng;
		}
		for (unsigned int n = 0; n < 100; n++) {
			const uint32_t flits = 1 + rl_prng_below(&prng, 32);

			bench_send(&b, 0, rl_prng_below(&prng, RL_VCS), flits,
				   1);
			bench_run(&b, rl_prng_below(&prng, 20) * US);
		}
		bench_settle(&b, RL_NS_PER_S);
		bench_check_delivered(&b);
		assert_int_equal(b.end[1].closed, 0);
		bench_close(&b);
	}
}

/* Link retry off: a packet that lost a flit has begun already: closed. */
static void
without_link_retry_a_hole_closes_the_packet(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_prng prng;
	struct bench b;

	(void)state;
	rl_prng_seed(&prng, 3);
	cfg.retry = false;
	cfg.flits_per_frame = 3;
	bench_open_up(&b, &cfg);
	b.wire[0].hook = lose_a_tenth;
	b.wire[0].ctx = &prng;
	for (unsigned int n = 0; n < 400; n++) {
		bench_send(&b, 0, n % RL_VCS, 1 + n % 12, 1);
		bench_run(&b, 6 * US);
		b.end[1].ndrops = 0;
	}
	b.wire[0].hook = NULL;
	bench_settle(&b, 10 * MS);
	/* an end of each VC shows what was lost before it */
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		bench_send(&b, 0, vc, 2, 1);
	bench_settle(&b, 10 * MS);
	assert_true(b.end[1].closed > 20);
	assert_int_equal(b.end[1].sink.corrupt, 0);
	assert_int_equal(b.end[1].sink.duplicates, 0);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_null(b.end[1].part[vc]);
	bench_close(&b);
}

/*
 * A flit corrupted inside the device is marked, its FEC is renewed, and no
 * link retries it.
 */
static void
a_soft_error_is_marked_and_never_retried(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_flit *pkt;
	struct bench b;

	(void)state;
	cfg.soft_error_check = true;
	cfg.switching = RL_STORE_AND_FORWARD;
	bench_open_up(&b, &cfg);
	b.end[1].hold_vcs = 1;
	pkt = packet(&b, 0, 3);
	for (unsigned int i = 100; i < 120; i++)
		pkt->next->wire[i] ^= (uint8_t)(3 * i + 1);
	rl_port_submit(b.end[0].port, pkt, b.now_ns);
	bench_settle(&b, MS);
	assert_int_equal(COUNTER(&b.end[0], tx_soft_error), 1);
	assert_int_equal(COUNTER(&b.end[1], rx_bad), 0);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 0);
	pkt = b.end[1].kept.head;
	assert_non_null(pkt);
	assert_int_equal(pkt->mark, RL_MARK_OK);
	assert_int_equal(pkt->next->mark, RL_MARK_SOFT_ERROR);
	assert_int_equal(pkt->next->next->mark, RL_MARK_OK);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LCB-1] flits go on before their packet has ended",
		     flits_go_on_before_their_packet_has_ended),
		CASE("LINK-C27 [DRL-3] a packet cut off is closed by a marked "
		     "end, and keeps no credits",
		     a_packet_cut_off_is_closed_by_a_marked_end),
		cmocka_unit_test(a_packet_waits_to_be_closed_for_a_buffer),
		CASE("[LCB-2] a packet over the maximum is closed and reported "
		     "once",
		     a_packet_over_the_maximum_is_closed_and_reported_once),
		CASE("[LCB-3] fragments of eight VCs share a small window",
		     fragments_of_eight_vcs_share_a_small_window),
		CASE("[DRL-1] an open packet loops after the fence without its "
		     "end",
		     an_open_packet_loops_after_the_fence_without_its_end),
		CASE("[LCB-1] loss and damage deliver exactly once here too",
		     loss_and_damage_deliver_exactly_once_here_too),
		CASE("[LCB-4] without link retry a hole closes the packet",
		     without_link_retry_a_hole_closes_the_packet),
		CASE("[LCB-2] a soft error is marked and never retried",
		     a_soft_error_is_marked_and_never_retried),
	};

	return cmocka_run_group_tests_name("cut-through", tests, NULL, NULL);
}
