/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cut-through at a port [LCB-1]: packets that come in parts and go on in
 * parts, the room that is kept for their rest, and how they end when a link
 * dies under them [DRL-3] or they grow too long [LCB-2].
 */
#include "parts.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

struct rig {
	struct bench b;
	struct parts in; /* what end 1 gave its core */
	uint32_t next_tag[RL_VCS];
};

static struct rl_link_cfg
cut_cfg(void)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.switching = RL_CUT_THROUGH;
	cfg.max_packet_flits = 16;
	cfg.window_flits = 64;
	cfg.credits_flits = 32;
	cfg.ack_coalesce_flits = 1;
	return cfg;
}

static void
rig_open(struct rig *g, const struct rl_link_cfg *cfg)
{
	memset(g, 0, sizeof(*g));
	g->b.pool_flits = 8192;
	bench_open(&g->b, cfg);
	for (unsigned int i = 0; i < 2; i++) {
		g->b.wire[i].delay_ns = 2 * US;
		g->b.wire[i].slot_ns = US;
	}
	g->b.end[1].hold_vcs = 0xff;
	bench_start(&g->b);
	bench_run(&g->b, 50 * US);
	g->b.end[0].nmarks = g->b.end[1].nmarks = 0;
}

/* Time goes on, and the core at end 1 takes what comes. */
static void
rig_run(struct rig *g, unsigned int us)
{
	for (unsigned int i = 0; i < us; i++) {
		bench_run(&g->b, US);
		parts_accept(&g->in, &g->b.end[1]);
	}
}

static struct rl_flit *
make(struct rig *g, unsigned int vc, unsigned int flits)
{
	const struct bench_packet k = {
		.src = 1, .dst = 2, .sl = (uint8_t)vc, .vc = (uint8_t)vc,
		.flits = (uint16_t)flits, .tag = g->next_tag[vc]++,
	};

	return bench_make(&g->b.pool, &k);
}

/* Hands the next n flits of a packet to the port of end 0. */
static void
give(struct rig *g, struct rl_flit **pkt, unsigned int n)
{
	rl_port_submit(g->b.end[0].port, parts_cut(pkt, n), g->b.now_ns);
}

static void
check_at_rest(struct rig *g)
{
	const struct rl_port_info a = bench_info(&g->b.end[0]);

	assert_int_equal(a.reserved_flits, 0);
	assert_int_equal(a.held_flits, 0);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(a.credits[vc], g->b.cfg.credits_flits);
}

static void
rig_close(struct rig *g)
{
	bench_end_release(&g->b.end[1]);
	parts_finish(&g->in, &g->b.pool, &g->b.end[1].sink);
	assert_int_equal(g->b.end[1].sink.corrupt, 0);
	assert_int_equal(g->b.end[1].sink.disorder, 0);
	assert_int_equal(g->b.end[1].sink.duplicates, 0);
	bench_close(&g->b);
}

static void
kill_link(struct rig *g)
{
	bench_cut(&g->b, true);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(g->b.end[i].port, false, g->b.now_ns);
}

/* Bit i of `cuts`: a cut behind flit i. */
static void
a_packet_in_any_parts_arrives_the_same(void **state)
{
	(void)state;
	for (uint32_t frame = 1; frame <= 4; frame += 3) {
		struct rl_link_cfg cfg = cut_cfg();
		struct rig g;

		cfg.flits_per_frame = frame;
		rig_open(&g, &cfg);
		for (unsigned int cuts = 0; cuts < 32; cuts++) {
			struct rl_flit *pkt = make(&g, cuts % RL_VCS, 6);
			unsigned int n = 0;

			for (unsigned int i = 0; i < 6; i++) {
				n++;
				if (i < 5 && !(cuts & 1u << i))
					continue;
				give(&g, &pkt, n);
				rig_run(&g, cuts % 3);
				n = 0;
			}
			assert_null(pkt);
		}
		rig_run(&g, 400);
		assert_int_equal(g.in.whole.packets, 32);
		check_at_rest(&g);
		rig_close(&g);
	}
}

/* Flits go on when they arrive, not when their packet has. */
static void
the_first_flit_goes_on_long_before_the_last_arrives(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_flit *pkt;
	struct rig g;

	(void)state;
	rig_open(&g, &cfg);
	pkt = make(&g, 3, 16);
	give(&g, &pkt, 1);
	rig_run(&g, 10);
	assert_int_equal(g.in.taken, 1);
	assert_int_equal(g.in.open[3]->pkt_flits, 1);
	for (unsigned int i = 1; i < 16; i++) {
		give(&g, &pkt, 1);
		rig_run(&g, 10);
		assert_int_equal(g.in.taken, i + 1);
	}
	assert_int_equal(g.in.whole.packets, 1);
	assert_int_equal(COUNTER(&g.b.end[1], rx_packets), 1);
	rig_run(&g, 20);
	check_at_rest(&g);
	rig_close(&g);
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
	struct rig g;

	(void)state;
	cfg.window_flits = 200;
	cfg.credits_flits = 20;
	cfg.replay_limit = 255; /* or the link retrains, and rightly */
	rig_open(&g, &cfg);
	rl_prng_seed(&prng, 7);
	g.b.wire[0].hook = lose_some;
	g.b.wire[0].ctx = &frames;
	for (unsigned int round = 0; round < 50; round++) {
		struct rl_flit *pkt[RL_VCS];
		unsigned int left = RL_VCS;

		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			pkt[vc] = make(&g, vc,
				       1 + rl_prng_below(&prng, 16));
		while (left != 0) {
			const unsigned int vc = rl_prng_below(&prng, RL_VCS);

			if (pkt[vc] == NULL)
				continue;
			give(&g, &pkt[vc],
			     1 + rl_prng_below(&prng, pkt[vc]->pkt_flits));
			left -= pkt[vc] == NULL;
			rig_run(&g, rl_prng_below(&prng, 3));
		}
		rig_run(&g, 100);
	}
	rig_run(&g, 2000);
	assert_int_equal(g.in.whole.packets, 50 * RL_VCS);
	assert_true(COUNTER(&g.b.end[0], tx_replays) > 0);
	check_at_rest(&g);
	rig_close(&g);
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
		struct rig g;

		cfg.window_flits = 20;
		rig_open(&g, &cfg);
		pkt = make(&g, 0, flits);
		give(&g, &pkt, 1);
		rig_run(&g, 20);
		assert_int_equal(bench_info(&g.b.end[0]).reserved_flits, 15);
		/* 20 - 1 - 15: four fit, five do not */
		other = make(&g, 1, 4);
		give(&g, &other, 4);
		rig_run(&g, 40);
		assert_int_equal(g.in.whole.packets, 1);
		other = make(&g, 1, 5);
		give(&g, &other, 5);
		rig_run(&g, 40);
		assert_int_equal(g.in.whole.packets, 1);
		assert_true(COUNTER(&g.b.end[0], tx_window_full) > 0);
		/* the one that waits does not stop the one that has begun */
		while (pkt != NULL)
			give(&g, &pkt, 1);
		rig_run(&g, 80);
		assert_int_equal(g.in.whole.packets, 3);
		check_at_rest(&g);
		rig_close(&g);
	}
}

/* Credits: a packet without its end starts only where the longest would. */
static void
a_packet_begins_only_with_credits_for_the_longest(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_flit *pkt, *first;
	struct rig g;

	(void)state;
	cfg.credits_flits = 17;
	rig_open(&g, &cfg);
	first = make(&g, 2, 2);
	give(&g, &first, 2);
	bench_run(&g.b, 30 * US); /* taken by nobody: 15 credits are left */
	pkt = make(&g, 2, 3);
	give(&g, &pkt, 1);
	bench_run(&g.b, 30 * US);
	assert_int_equal(bench_info(&g.b.end[0]).queued_flits, 1);
	assert_true(COUNTER(&g.b.end[0], tx_credit_stall) > 0);
	assert_int_equal(bench_info(&g.b.end[0]).reserved_flits, 0);
	rig_run(&g, 60); /* now it is taken */
	assert_int_equal(bench_info(&g.b.end[0]).queued_flits, 0);
	give(&g, &pkt, 2);
	rig_run(&g, 60);
	assert_int_equal(g.in.whole.packets, 2);
	check_at_rest(&g);
	rig_close(&g);
}

/*
 * The link dies when k flits of a packet have gone on: an end marked
 * transmit_error closes it, and in the next epoch there is room for all but
 * what is still held.
 */
static void
a_packet_cut_off_is_closed_and_its_credits_return(void **state)
{
	(void)state;
	for (unsigned int k = 1; k < 16; k++) {
		struct rl_link_cfg cfg = cut_cfg();
		struct rl_flit *pkt, *closed;
		struct bench_end *rx;
		struct rig g;

		rig_open(&g, &cfg);
		rx = &g.b.end[1];
		pkt = make(&g, 5, 16);
		give(&g, &pkt, k);
		bench_run(&g.b, (k + 10) * US);
		assert_int_equal(rx->kept.flits, k);
		kill_link(&g);
		bench_run(&g.b, 5 * US);
		assert_int_equal(COUNTER(rx, rx_closed), 1);
		assert_int_equal(rx->kept.flits, k + 1);
		/* the other end gives all of it back, and takes the rest */
		rl_port_submit(g.b.end[0].port, pkt, g.b.now_ns);
		bench_cut(&g.b, false);
		for (unsigned int i = 0; i < 2; i++)
			rl_port_phy_status(g.b.end[i].port, true, g.b.now_ns);
		bench_run(&g.b, MS);
		assert_int_equal(bench_info(&g.b.end[0]).credits[5],
				 32 - (k + 1));
		parts_accept(&g.in, rx);
		assert_int_equal(g.in.closed.packets, 1);
		closed = g.in.closed.head;
		assert_int_equal(closed->pkt_flits, k + 1);
		assert_int_equal(closed->dst, 2);
		for (const struct rl_flit *f = closed; f != closed->last;
		     f = f->next)
			assert_int_equal(f->mark, RL_MARK_OK);
		rig_run(&g, 100);
		check_at_rest(&g);
		rig_close(&g);
	}
}

/* Takes every free flit away, or gives them back. */
static void
drought(struct rig *g, struct rl_pktq *hoard)
{
	struct rl_flit *f;

	while ((f = rl_flit_get(&g->b.pool.cache)) != NULL) {
		rl_packet_start(f);
		rl_pktq_push(hoard, f);
	}
}

static void
rain(struct rig *g, struct rl_pktq *hoard, unsigned int flits)
{
	struct rl_flit *f;

	for (; flits > 0 && (f = rl_pktq_pop(hoard)) != NULL; flits--)
		rl_flit_put(&g->b.pool.cache, f);
}

/* No buffer for the end: the link does not train before there is one. */
static void
a_close_that_finds_no_buffer_comes_before_the_next_epoch(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_pktq hoard = { 0 };
	struct rl_flit *pkt, *next;
	struct bench_end *rx;
	struct rig g;

	(void)state;
	rig_open(&g, &cfg);
	rx = &g.b.end[1];
	pkt = make(&g, 5, 8);
	next = make(&g, 5, 1);
	give(&g, &pkt, 4);
	bench_run(&g.b, 20 * US);
	drought(&g, &hoard);
	kill_link(&g);
	rl_port_submit(g.b.end[0].port, pkt, g.b.now_ns);
	bench_cut(&g.b, false);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(g.b.end[i].port, true, g.b.now_ns);
	bench_run(&g.b, MS);
	assert_int_equal(COUNTER(rx, rx_closed), 0);
	assert_int_not_equal(bench_state(rx), RL_LINK_UP);
	assert_int_equal(g.b.end[0].looped.flits, 8);
	rain(&g, &hoard, UINT32_MAX);
	rig_run(&g, 500);
	assert_int_equal(COUNTER(rx, rx_closed), 1);
	assert_int_equal(bench_state(rx), RL_LINK_UP);
	give(&g, &next, 1);
	rig_run(&g, 50);
	assert_int_equal(g.in.closed.packets, 1);
	assert_int_equal(g.in.whole.packets, 1);
	check_at_rest(&g);
	g.b.end[1].sink.next_tag[5] = 1; /* the first looped out */
	rig_close(&g);
}

/*
 * The output dies with `given` flits of ten handed over, k of them
 * acknowledged; `late` more come before the fence. What loops is all of it, in
 * order, in one piece, and without an end where the end has not come.
 */
static void
die_under(unsigned int given, unsigned int k, unsigned int late)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct bench_end *tx;
	struct rl_flit *pkt, *looped;
	struct rig g;

	rig_open(&g, &cfg);
	tx = &g.b.end[0];
	tx->no_fence = true;
	bench_rule(&g.b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_DROP, .first = k,
		.last = BENCH_EVER });
	pkt = make(&g, 1, 10);
	for (unsigned int i = 0; i < given; i++)
		give(&g, &pkt, 1);
	bench_run(&g.b, 40 * US);
	assert_int_equal(bench_info(tx).replay_acked, k);
	kill_link(&g);
	bench_run(&g.b, 5 * US);
	for (unsigned int i = 0; i < late; i++)
		give(&g, &pkt, 1);
	bench_run(&g.b, 5 * US);
	assert_int_equal(bench_state(tx), RL_LINK_LOOPBACK);
	rl_port_submit(tx->port, rl_pipe_mark(RL_MARK_LOOP_FENCE),
		       g.b.now_ns);
	bench_run(&g.b, 5 * US);
	assert_int_not_equal(bench_state(tx), RL_LINK_LOOPBACK);
	assert_int_equal(tx->looped.packets, k < 10);
	if (k < 10) {
		looped = tx->looped.head;
		assert_int_equal(looped->pkt_flits, given + late);
		assert_int_equal(rl_packet_ends(looped), given + late == 10);
		assert_true(looped->flags & RL_FF_SOP);
		assert_int_equal(COUNTER(tx, looped_acked_flits), k);
		if (pkt != NULL) /* the core's part: it joins the rest */
			rl_packet_join(looped, pkt);
		assert_true(bench_intact(looped));
	}
	/* the peer gave k flits on, and an end where it had none */
	rig_run(&g, 10);
	assert_int_equal(g.in.closed.packets, k > 0 && k < 10);
	assert_int_equal(g.in.whole.packets, k == 10);
	assert_int_equal(bench_info(tx).reserved_flits, 0);
	rig_close(&g);
}

static void
an_output_that_dies_gives_the_open_packet_back_at_every_flit(void **state)
{
	(void)state;
	for (unsigned int given = 1; given <= 10; given++)
		for (unsigned int k = 0; k <= given; k++)
			for (unsigned int late = 0; late <= 10 - given; late++)
				die_under(given, k, late);
}

/*
 * A packet longer than any may be: at most the longest goes on, its last flit
 * the end of it, marked; the rest is dropped, and one word is said of it.
 */
static void
clip_one(unsigned int flits, uint32_t frame)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_flit *pkt;
	struct bench_end *rx;
	struct rig g;
	unsigned int out;

	cfg.credits_flits = 64;
	cfg.flits_per_frame = frame;
	rig_open(&g, &cfg);
	rx = &g.b.end[1];
	pkt = make(&g, 4, flits);
	give(&g, &pkt, flits); /* whole: the sender looks at no length */
	rig_run(&g, 100);
	assert_int_equal(COUNTER(rx, rx_clipped), 1);
	assert_int_equal(rx->ndrops, 1);
	assert_int_equal(rx->drop[0].why, RL_DROP_TOO_LONG);
	assert_int_equal(rx->drop[0].tag, 0);
	assert_int_equal(g.in.whole.packets, 0);
	out = g.in.closed.flits;
	/* what no longer fits the first frame had not gone on: cut out */
	assert_int_equal(out, frame < 16 ? 16 : 0);
	assert_int_equal(COUNTER(rx, rx_discard_to_sop), flits - 16);
	rx->sink.next_tag[4] = 1;
	pkt = make(&g, 4, 16);
	give(&g, &pkt, 16);
	rig_run(&g, 100);
	assert_int_equal(g.in.whole.packets, 1);
	assert_int_equal(COUNTER(rx, rx_clipped), 1);
	check_at_rest(&g);
	rig_close(&g);
}

static void
a_packet_that_grows_too_long_is_clipped(void **state)
{
	static const uint32_t frame[] = { 1, 3, 8, 15, 16, 32 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(frame); i++)
		for (unsigned int flits = 17; flits < 40; flits++)
			clip_one(flits, frame[i]);
}

/*
 * Without link retry a flit that is lost or hurt closes its packet while the
 * link goes on: reported once, and no credit is won or lost, however often.
 */
static void
lose_one(enum bench_act act, unsigned int at, uint32_t frame)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct bench_end *rx;
	struct rig g;

	cfg.retry = false;
	cfg.flits_per_frame = frame;
	rig_open(&g, &cfg);
	rx = &g.b.end[1];
	bench_rule(&g.b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = act, .first = at, .last = at });
	for (unsigned int n = 0; n < 40; n++) {
		struct rl_flit *pkt = make(&g, n % 2, 8);

		give(&g, &pkt, 8);
		rig_run(&g, 1);
	}
	rig_run(&g, 1000);
	/* with one flit a frame exactly one packet is hit */
	assert_int_equal(g.in.whole.packets + rx->ndrops, 40);
	if (frame == 1) {
		assert_int_equal(rx->ndrops, 1);
		assert_int_equal(rx->drop[0].tag, at / 16);
		assert_int_equal(g.in.closed.packets, at % 8 != 0);
	}
	for (unsigned int i = 0; i < rx->ndrops; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_true(rx->drop[i].tag != rx->drop[j].tag ||
				    frame > 8);
	check_at_rest(&g);
	parts_finish(&g.in, &g.b.pool, &rx->sink);
	rx->sink.disorder = rx->sink.duplicates = 0; /* one is missing */
	rig_close(&g);
}

static void
without_link_retry_a_lost_flit_closes_its_packet(void **state)
{
	static const uint32_t frame[] = { 1, 3, 5 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(frame); i++)
		for (unsigned int at = 0; at < 32; at++)
			lose_one(BENCH_HURT, at, frame[i]);
}

/* Frames are lost, credits with them; they are asked for and come back. */
static void
without_link_retry_lost_frames_win_and_lose_no_credits(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	unsigned int frames = 0, whole;
	struct rig g;

	(void)state;
	cfg.retry = false;
	cfg.credits_flits = 16;
	rig_open(&g, &cfg);
	g.b.wire[0].hook = lose_some;
	g.b.wire[0].ctx = &frames;
	for (unsigned int n = 0; n < 300; n++) {
		struct rl_flit *pkt = make(&g, n % 3, 5);

		give(&g, &pkt, 5);
		rig_run(&g, 8);
	}
	rig_run(&g, 2000);
	assert_int_equal(COUNTER(&g.b.end[1], rx_overrun), 0);
	assert_true(COUNTER(&g.b.end[1], rx_closed) > 20);
	assert_int_equal(bench_info(&g.b.end[0]).queued_flits, 0);
	g.b.wire[0].hook = NULL;
	whole = g.in.whole.packets;
	for (unsigned int n = 0; n < 30; n++) {
		struct rl_flit *pkt = make(&g, n % 3, 16);

		give(&g, &pkt, 16);
		rig_run(&g, 300);
	}
	assert_int_equal(g.in.whole.packets, whole + 30);
	parts_finish(&g.in, &g.b.pool, &g.b.end[1].sink);
	assert_int_equal(g.b.end[1].sink.corrupt, 0);
	g.b.end[1].sink.disorder = g.b.end[1].sink.duplicates = 0;
	rig_close(&g);
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
		CASE("a packet cut off is closed and its credits return [DRL-3]",
		     a_packet_cut_off_is_closed_and_its_credits_return),
		CASE("a close that finds no buffer comes before the next epoch "
		     "[DRL-3]",
		     a_close_that_finds_no_buffer_comes_before_the_next_epoch),
		CASE("an output that dies gives the open packet back, at every "
		     "flit [DRL-1, LINK-C27]",
		     an_output_that_dies_gives_the_open_packet_back_at_every_flit),
		CASE("a packet that grows too long is clipped [LCB-2]",
		     a_packet_that_grows_too_long_is_clipped),
		CASE("without link retry a lost flit closes its packet "
		     "[LCB-4]",
		     without_link_retry_a_lost_flit_closes_its_packet),
		CASE("without link retry lost frames win and lose no credits "
		     "[LCB-4, LINK-C25]",
		     without_link_retry_lost_frames_win_and_lose_no_credits),
	};

	return cmocka_run_group_tests_name("cut-through at a port", tests,
					   NULL, NULL);
}
