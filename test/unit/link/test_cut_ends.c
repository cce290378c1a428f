/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a packet that is cut through ends when it does not end well [LCB-2]: the
 * link dies under it [DRL-3], its output dies, it grows too long, or without
 * link retry a flit of it is lost.
 */
#include "../../few.h"
#include "parts.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static enum bench_act
lose_some(void *ctx, struct bench_frame *f)
{
	unsigned int *n = ctx;

	return f->h.type == RL_FRAME_DATA && ++*n % 17 == 5 ? BENCH_DROP
							     : BENCH_PASS;
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
		struct cut g;

		cut_open(&g, &cfg);
		rx = &g.b.end[1];
		pkt = cut_make(&g, 5, 16);
		cut_give(&g, &pkt, k);
		bench_run(&g.b, (k + 10) * US);
		assert_int_equal(rx->kept.flits, k);
		cut_kill(&g);
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
		cut_run(&g, 100);
		cut_at_rest(&g);
		cut_close(&g);
	}
}

/* Takes every free flit away, or gives them back. */
static void
drought(struct cut *g, struct rl_pktq *hoard)
{
	struct rl_flit *f;

	while ((f = rl_flit_get(&g->b.pool.cache)) != NULL) {
		rl_packet_start(f);
		rl_pktq_push(hoard, f);
	}
}

static void
rain(struct cut *g, struct rl_pktq *hoard, unsigned int flits)
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
	struct cut g;

	(void)state;
	cut_open(&g, &cfg);
	rx = &g.b.end[1];
	pkt = cut_make(&g, 5, 8);
	next = cut_make(&g, 5, 1);
	cut_give(&g, &pkt, 4);
	bench_run(&g.b, 20 * US);
	drought(&g, &hoard);
	cut_kill(&g);
	rl_port_submit(g.b.end[0].port, pkt, g.b.now_ns);
	bench_cut(&g.b, false);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(g.b.end[i].port, true, g.b.now_ns);
	bench_run(&g.b, MS);
	assert_int_equal(COUNTER(rx, rx_closed), 0);
	assert_int_not_equal(bench_state(rx), RL_LINK_UP);
	assert_int_equal(g.b.end[0].looped.flits, 8);
	rain(&g, &hoard, UINT32_MAX);
	cut_run(&g, 500);
	assert_int_equal(COUNTER(rx, rx_closed), 1);
	assert_int_equal(bench_state(rx), RL_LINK_UP);
	cut_give(&g, &next, 1);
	cut_run(&g, 50);
	assert_int_equal(g.in.closed.packets, 1);
	assert_int_equal(g.in.whole.packets, 1);
	cut_at_rest(&g);
	g.b.end[1].sink.next_tag[5] = 1; /* the first looped out */
	cut_close(&g);
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
	struct cut g;

	cut_open(&g, &cfg);
	tx = &g.b.end[0];
	tx->no_fence = true;
	bench_rule(&g.b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_DROP, .first = k,
		.last = BENCH_EVER });
	pkt = cut_make(&g, 1, 10);
	for (unsigned int i = 0; i < given; i++)
		cut_give(&g, &pkt, 1);
	bench_run(&g.b, 40 * US);
	assert_int_equal(bench_info(tx).replay_acked, k);
	cut_kill(&g);
	bench_run(&g.b, 5 * US);
	for (unsigned int i = 0; i < late; i++)
		cut_give(&g, &pkt, 1);
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
	cut_run(&g, 10);
	assert_int_equal(g.in.closed.packets, k > 0 && k < 10);
	assert_int_equal(g.in.whole.packets, k == 10);
	assert_int_equal(bench_info(tx).reserved_flits, 0);
	cut_close(&g);
}

static void
an_output_that_dies_gives_the_open_packet_back_at_every_flit(void **state)
{
	(void)state;
	for (unsigned int given = 1; given <= 10; given++)
		for (unsigned int k = 0; k <= given; k++)
			for (unsigned int late = 0; late <= 10 - given;
			     late += FEW(3))
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
	struct cut g;
	unsigned int out;

	cfg.credits_flits = 64;
	cfg.flits_per_frame = frame;
	cut_open(&g, &cfg);
	rx = &g.b.end[1];
	pkt = cut_make(&g, 4, flits);
	cut_give(&g, &pkt, flits); /* whole: the sender looks at no length */
	cut_run(&g, 100);
	assert_int_equal(COUNTER(rx, rx_clipped), 1);
	assert_int_equal(rx->ndrops, 1);
	assert_int_equal(rx->drop[0].why, RL_DROP_TOO_LONG);
	assert_int_equal(rx->drop[0].tag, 0);
	assert_int_equal(g.in.whole.packets, 0);
	out = g.in.closed.flits;
	/* flits beyond the first frame had not gone on: cut out */
	assert_int_equal(out, frame < 16 ? 16 : 0);
	assert_int_equal(COUNTER(rx, rx_discard_to_sop), flits - 16);
	rx->sink.next_tag[4] = 1;
	pkt = cut_make(&g, 4, 16);
	cut_give(&g, &pkt, 16);
	cut_run(&g, 100);
	assert_int_equal(g.in.whole.packets, 1);
	assert_int_equal(COUNTER(rx, rx_clipped), 1);
	cut_at_rest(&g);
	cut_close(&g);
}

static void
a_packet_that_grows_too_long_is_clipped(void **state)
{
	static const uint32_t frame[] = { 1, 3, 8, 15, 16, 32 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(frame); i++)
		for (unsigned int flits = 17; flits < 40; flits += FEW(3))
			clip_one(flits, frame[i]);
}

/*
 * Without link retry a lost or corrupt flit closes its packet while the link
 * goes on: reported once, and no credit is won or lost, however often.
 */
static void
lose_one(enum bench_act act, unsigned int at, uint32_t frame)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct bench_end *rx;
	struct cut g;

	cfg.retry = false;
	cfg.flits_per_frame = frame;
	cut_open(&g, &cfg);
	rx = &g.b.end[1];
	bench_rule(&g.b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = act, .first = at, .last = at });
	for (unsigned int n = 0; n < 40; n++) {
		struct rl_flit *pkt = cut_make(&g, n % 2, 8);

		cut_give(&g, &pkt, 8);
		cut_run(&g, 1);
	}
	cut_run(&g, 1000);
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
	cut_at_rest(&g);
	parts_finish(&g.in, &g.b.pool, &rx->sink);
	rx->sink.disorder = rx->sink.duplicates = 0; /* one is missing */
	cut_close(&g);
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
	struct cut g;

	(void)state;
	cfg.retry = false;
	cfg.credits_flits = 16;
	cut_open(&g, &cfg);
	g.b.wire[0].hook = lose_some;
	g.b.wire[0].ctx = &frames;
	for (unsigned int n = 0; n < 300; n++) {
		struct rl_flit *pkt = cut_make(&g, n % 3, 5);

		cut_give(&g, &pkt, 5);
		cut_run(&g, 8);
	}
	cut_run(&g, 2000);
	assert_int_equal(COUNTER(&g.b.end[1], rx_overrun), 0);
	assert_true(COUNTER(&g.b.end[1], rx_closed) > 20);
	assert_int_equal(bench_info(&g.b.end[0]).queued_flits, 0);
	g.b.wire[0].hook = NULL;
	whole = g.in.whole.packets;
	for (unsigned int n = 0; n < 30; n++) {
		struct rl_flit *pkt = cut_make(&g, n % 3, 16);

		cut_give(&g, &pkt, 16);
		cut_run(&g, 300);
	}
	assert_int_equal(g.in.whole.packets, whole + 30);
	parts_finish(&g.in, &g.b.pool, &g.b.end[1].sink);
	assert_int_equal(g.b.end[1].sink.corrupt, 0);
	g.b.end[1].sink.disorder = g.b.end[1].sink.duplicates = 0;
	cut_close(&g);
}

/* Nothing follows the flit that is lost, and nothing else is ever said. */
static void
without_link_retry_a_lost_tail_is_given_up_in_the_end(void **state)
{
	(void)state;
	for (unsigned int mode = 0; mode < 2; mode++)
		for (unsigned int k = 1; k < 8; k++) {
			struct rl_link_cfg cfg = cut_cfg();
			struct bench_end *rx;
			struct rl_flit *pkt;
			struct cut g;

			cfg.retry = false;
			cfg.keepalive_ns = cfg.keepalive_dead_ns = 0;
			cfg.watchdog_ns = 300 * US;
			if (mode == 1)
				cfg.switching = RL_STORE_AND_FORWARD;
			cut_open(&g, &cfg);
			rx = &g.b.end[1];
			bench_rule(&g.b.wire[0], (struct bench_rule){
				.type = RL_FRAME_DATA, .act = BENCH_DROP,
				.first = k, .last = BENCH_EVER });
			pkt = cut_make(&g, 2, 8);
			cut_give(&g, &pkt, 8);
			cut_run(&g, 290);
			assert_int_equal(rx->ndrops, 0);
			cut_run(&g, 30);
			assert_int_equal(rx->ndrops, 1);
			assert_int_equal(rx->drop[0].why,
					 RL_DROP_UNCORRECTABLE);
			assert_int_equal(g.in.closed.packets, mode == 0);
			assert_int_equal(rl_port_flits(rx->port), 0);
			rx->sink.next_tag[2] = 1;
			cut_close(&g);
		}
}

/* Begun, credits and window held, and nothing comes any more. */
static void
no_end_comes(bool cut, bool retry)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_flit *pkt, *rest;
	struct cut g;

	cfg.switching = cut ? RL_CUT_THROUGH : RL_STORE_AND_FORWARD;
	cfg.retry = retry;
	cfg.watchdog_ns = 5 * MS;
	cfg.replay_timer_min_ns = cfg.replay_timer_max_ns = 300 * US;
	cut_open(&g, &cfg);
	pkt = cut_make(&g, 2, 6);
	rest = pkt;
	cut_give(&g, &rest, 3);
	cut_run(&g, 4000);
	/* another that goes on, however slowly, is not held for broken */
	cut_give(&g, &rest, 1);
	cut_run(&g, 4000);
	assert_int_equal(COUNTER(&g.b.end[1], rx_stalled), 0);
	assert_int_equal(g.b.end[1].ndrops, 0);
	cut_run(&g, 2000);
	assert_int_equal(COUNTER(&g.b.end[1], rx_stalled), 1);
	assert_int_equal(g.b.end[1].ndrops, 1);
	assert_int_equal(g.b.end[1].drop[0].why,
			 retry ? RL_DROP_WATCHDOG : RL_DROP_UNCORRECTABLE);
	assert_int_equal(COUNTER(&g.b.end[1], rx_closed), cut);
	assert_int_equal(rl_port_flits(g.b.end[1].port), 0);
	/* its later flits belong to no packet, and are ignored */
	cut_give(&g, &rest, 2);
	cut_run(&g, 1000);
	assert_int_equal(g.b.end[1].ndrops, 1);
	assert_true(g.in.whole.head == NULL);
	/* and the VC serves the next */
	pkt = cut_make(&g, 2, 4);
	cut_give(&g, &pkt, 4);
	cut_run(&g, 1000);
	assert_non_null(g.in.whole.head);
	cut_at_rest(&g);
	g.b.end[1].sink.next_tag[2] = 1; /* the first was given up */
	cut_close(&g);
	assert_int_equal(g.b.end[1].sink.packets, 1);
}

static void
a_packet_that_gets_no_end_is_closed_in_the_end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		no_end_comes(i & 1, i & 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
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
		CASE("without link retry a lost tail is given up in the end "
		     "[LCB-4]",
		     without_link_retry_a_lost_tail_is_given_up_in_the_end),
		CASE("a packet that comes slowly is taken; one that gets no end "
		     "is closed in the end [LCB-1, LCB-4]",
		     a_packet_that_gets_no_end_is_closed_in_the_end),
	};

	return cmocka_run_group_tests_name("ends of cut-through packets", tests,
					   NULL, NULL);
}
