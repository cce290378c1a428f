/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door of a port: what a peer says beside its flits is made safe before
 * anybody trusts it, and what no honest peer says is counted. The peer here is
 * the test (rewrite.h).
 */
#include "parts.h"
#include "rewrite.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* --- the sideband ------------------------------------------------------- */

/* With @p vcs VCs, and @p w on the way from end 0 to end 1. */
static void
open_rewritten(struct bench *b, unsigned int vcs, struct rewrite *w)
{
	struct rl_link_cfg cfg;

	bench_cfg(&cfg);
	cfg.vcs = (uint8_t)vcs;
	bench_open_up(b, &cfg);
	rewrite_begin(b, w);
}

static void
flits_on_a_vc_not_in_use_are_refused(void **state)
{
	struct rewrite w = { .from = 4, .to = 7, .clear = 7, .set = 5 };
	struct bench b;

	(void)state;
	open_rewritten(&b, 4, &w);
	for (unsigned int i = 0; i < 3; i++)
		bench_send(&b, 0, 1, 4, 1);
	bench_settle(&b, MS);
	bench_run(&b, 100 * US);
	/*
	 * the second packet came by VC 5, which is not polled: the others came
	 */
	assert_int_equal(COUNTER(&b.end[1], rx_vc_error), 4);
	assert_int_equal(b.end[1].sink.packets, 2);
	assert_int_equal(b.end[1].sink.corrupt, 0);
	assert_int_equal(COUNTER(&b.end[1], tx_nak), 0);
	assert_int_equal(bench_info(&b.end[1]).buffered[5], 0);
	/* its sender must not run dry; VC 6 is unchanged */
	assert_int_equal(bench_info(&b.end[1]).granted[5],
			 (uint16_t)(bench_info(&b.end[1]).granted[6] + 4));
	assert_int_equal(bench_info(&b.end[0]).held_flits, 0);
	bench_close(&b);
}

static void
packets_of_one_flit_on_a_vc_not_in_use_are_refused(void **state)
{
	struct rewrite w = { .from = 1, .to = 1, .clear = 7, .set = 5 };
	struct bench b;

	(void)state;
	open_rewritten(&b, 4, &w);
	bench_send(&b, 0, 1, 1, 3);
	bench_settle(&b, MS);
	assert_int_equal(COUNTER(&b.end[1], rx_vc_error), 1);
	assert_int_equal(b.end[1].sink.packets, 2);
	bench_close(&b);
}

/* The open packet is given up for it; its rest has no start. */
static void
a_packet_of_one_flit_ends_no_other(void **state)
{
	struct rewrite w = { .from = 1, .to = 1, .set = RL_SIDEBAND_SINGLE };
	struct bench b;

	(void)state;
	open_rewritten(&b, RL_VCS, &w);
	b.end[1].hold_vcs = 0xff;
	bench_send(&b, 0, 0, 4, 1);
	bench_settle(&b, MS);
	assert_int_equal(b.end[1].kept.packets, 1);
	assert_int_equal(b.end[1].kept.flits, 1);
	assert_int_equal(COUNTER(&b.end[1], rx_partial_discard), 1);
	assert_int_equal(COUNTER(&b.end[1], rx_discard_to_sop), 2);
	bench_end_release(&b.end[1]);
	bench_close(&b);
}

/* Cores cut on this mark: it may stand on an end alone. */
static void
transmit_error_on_no_end_is_a_soft_error(void **state)
{
	(void)state;
	for (unsigned int at = 0; at < 4; at++) {
		struct rewrite w = { .from = at, .to = at, .clear = 0x180,
				     .set = RL_MARK_TRANSMIT_ERROR << 7 };
		struct rl_flit *f;
		struct bench b;

		open_rewritten(&b, RL_VCS, &w);
		b.end[1].hold_vcs = 0xff;
		bench_send(&b, 0, 0, 4, 1);
		bench_settle(&b, MS);
		f = b.end[1].kept.head;
		assert_non_null(f);
		for (unsigned int i = 0; i < at; i++)
			f = f->next;
		assert_int_equal(f->mark, at == 3 ? RL_MARK_TRANSMIT_ERROR
						  : RL_MARK_SOFT_ERROR);
		assert_int_equal(COUNTER(&b.end[1], rx_mark_error), at != 3);
		bench_end_release(&b.end[1]);
		bench_close(&b);
	}
}

static void
a_full_count_of_links_does_not_begin_again(void **state)
{
	struct rewrite w = { .to = BENCH_EVER, .set = 127 << 9 };
	struct bench b;

	(void)state;
	open_rewritten(&b, RL_VCS, &w);
	b.end[1].hold_vcs = 0xff;
	bench_send(&b, 0, 0, 3, 1);
	bench_send(&b, 0, 0, 1, 1);
	bench_settle(&b, MS);
	for (struct rl_flit *f = b.end[1].kept.head; f != NULL; f = f->next)
		assert_int_equal(f->hops, RL_HOPS_MAX);
	assert_int_equal(b.end[1].kept.tail->hops, RL_HOPS_MAX);
	bench_end_release(&b.end[1]);
	bench_close(&b);
}

/* --- credits and NAKs ---------------------------------------------------- */

static enum bench_act
rewrite_credit(void *ctx, struct bench_frame *f)
{
	const uint16_t *add = ctx;

	f->h.credit[0] = (uint16_t)(f->h.credit[0] + *add);
	reseal(f);
	return BENCH_PASS;
}

static void
credits_that_no_peer_can_have_are_refused(void **state)
{
	uint16_t add = 0;
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	bench_send(&b, 0, 0, 1, 100);
	bench_settle(&b, MS);
	b.wire[1].hook = rewrite_credit;
	b.wire[1].ctx = &add;
	bench_run(&b, 3 * MS);
	assert_int_equal(COUNTER(&b.end[0], rx_credit_error), 0);
	/* first to the edge of what may be believed, then a flit beyond */
	add = 32767 - 256;
	bench_run(&b, 3 * MS);
	assert_int_equal(COUNTER(&b.end[0], rx_credit_error), 0);
	assert_int_equal(bench_info(&b.end[0]).credits[0], 32767);
	add++;
	bench_run(&b, 3 * MS);
	assert_true(COUNTER(&b.end[0], rx_credit_error) > 0);
	assert_int_equal(bench_info(&b.end[0]).credits[0], 32767);
	bench_close(&b);
}

static void
a_limit_that_goes_back_takes_nothing_back(void **state)
{
	struct rl_port_info was;
	struct rl_frame_hdr h;
	struct bench b;
	struct bench_end *const e = &b.end[0];

	(void)state;
	bench_open_up(&b, NULL);
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		was = bench_info(e);
		h = bench_forge(e, RL_FRAME_IDLE, 0, b.now_ns + 2 * vc + 1);
		for (unsigned int i = 0; i < RL_VCS; i++)
			h.credit[i] = (uint16_t)(was.credits[i] +
						 was.consumed[i] + 9);
		h.credit[vc] = (uint16_t)(h.credit[vc] - 14);
		bench_inject(e, &h, b.now_ns);
		for (unsigned int i = 0; i < RL_VCS; i++)
			assert_int_equal(bench_info(e).credits[i] -
					 was.credits[i], i == vc ? 0 : 9);
	}
	assert_int_equal(COUNTER(e, rx_credit_error), 0);
	bench_close(&b);
}

static enum bench_act
rewrite_nak(void *ctx, struct bench_frame *f)
{
	const uint16_t *ack = ctx;

	if (f->h.type != RL_FRAME_DATA && f->h.type != RL_FRAME_IDLE)
		return BENCH_PASS;
	f->h.flags |= RL_FRF_NAK;
	f->h.ack = *ack;
	reseal(f);
	return BENCH_PASS;
}

/* A thousand NAKs for one flit cost one replay, and do not end the link. */
static void
a_storm_of_naks_costs_one_replay_a_flit(void **state)
{
	struct rl_link_cfg cfg;
	uint16_t ack = 0;
	struct bench b;

	(void)state;
	bench_cfg(&cfg);
	cfg.replay_timer_ns = 50 * MS;
	cfg.keepalive_ns = 10 * US;
	bench_open_up(&b, &cfg);
	b.wire[1].hook = rewrite_nak;
	b.wire[1].ctx = &ack;
	bench_send(&b, 0, 0, 1, 100);
	bench_run(&b, 10 * MS);
	assert_true(COUNTER(&b.end[0], rx_nak) > 500);
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 1);
	assert_int_equal(COUNTER(&b.end[0], rx_nak_repeat),
			 COUNTER(&b.end[0], rx_nak) - 1);
	/* each flit that it has got meanwhile is worth one more */
	for (ack = 1; ack <= 10; ack++)
		bench_run(&b, 100 * US);
	ack = 10;
	assert_int_equal(COUNTER(&b.end[0], tx_replays), 11);
	assert_int_equal(COUNTER(&b.end[0], retrains), 0);
	b.wire[1].hook = NULL;
	bench_settle(&b, 200 * MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

/* The ends count differently: a new epoch, though replays know no limit. */
static void
acks_that_stay_impossible_end_the_epoch(void **state)
{
	struct rl_link_cfg cfg;
	struct rl_frame_hdr h;
	struct bench_end *e;
	struct bench b;

	(void)state;
	bench_cfg(&cfg);
	cfg.replay_limit = 255;
	memset(&b, 0, sizeof(b));
	bench_open(&b, &cfg);
	bench_start(&b);
	e = &b.end[0];
	b.wire[0].cut = true;
	bench_send(&b, 0, 0, 1, 40);
	bench_run(&b, 5 * RL_NS_PER_US);
	b.wire[0].cut = false;
	h = bench_forge(e, RL_FRAME_IDLE, 0, b.now_ns);
	h.ack = 20; /* a lie: nothing of it has come */
	bench_inject(e, &h, b.now_ns);
	assert_int_equal(bench_info(e).replay_acked, 20);
	bench_run(&b, 20 * RL_NS_PER_MS);
	assert_int_equal(bench_end_detector(e), RL_DET_PEER);
	assert_int_equal(COUNTER(e, rx_ack_seq_error), 8);
	bench_start(&b);
	bench_close(&b);
}

static void
impossible_acks_count_only_in_a_row(void **state)
{
	struct rl_frame_hdr h;
	struct bench_end *e;
	struct bench b;

	(void)state;
	bench_open_up(&b, NULL);
	e = &b.end[0];
	for (unsigned int i = 1; i <= 40; i++) {
		h = bench_forge(e, RL_FRAME_IDLE, 0, b.now_ns);
		h.ack = i % 8 == 0 ? 0 : 500;
		bench_inject(e, &h, b.now_ns);
	}
	assert_int_equal(COUNTER(e, rx_ack_seq_error), 35);
	assert_int_equal(bench_state(e), RL_LINK_UP);
	bench_close(&b);
}

/* Flits sent beyond all credits give none back. */
static void
what_no_peer_can_have_spent_is_refused(void **state)
{
	struct rl_link_cfg cfg;
	struct rl_frame_hdr h;
	struct bench_end *e;
	struct bench b;
	uint16_t was;

	(void)state;
	bench_cfg(&cfg);
	cfg.retry = false;
	bench_open_up(&b, &cfg);
	e = &b.end[1];
	was = bench_info(e).granted[0];
	h = bench_forge(e, RL_FRAME_IDLE, RL_FRF_SPENT | RL_FRF_ACKREQ,
			b.now_ns);
	h.credit[0] = (uint16_t)(cfg.credits_flits + 1);
	bench_inject(e, &h, b.now_ns);
	assert_int_equal(COUNTER(e, rx_credit_error), 1);
	assert_int_equal(bench_info(e).granted[0], was);
	h = bench_forge(e, RL_FRAME_IDLE, RL_FRF_SPENT, b.now_ns);
	h.credit[0] = (uint16_t)cfg.credits_flits; /* all of it: lost */
	bench_inject(e, &h, b.now_ns);
	assert_int_equal(bench_info(e).granted[0], was + cfg.credits_flits);
	bench_close(&b);
}

/* --- life ------------------------------------------------------------------ */

static void
a_probe_shorter_than_data_is_none(void **state)
{
	struct rl_link_cfg cfg;
	struct rl_frame_hdr h;
	struct bench_end *e;
	struct bench b;

	(void)state;
	bench_cfg(&cfg);
	cfg.flits_per_frame = 4;
	bench_open_up(&b, &cfg);
	e = &b.end[0];
	h = bench_forge(e, RL_FRAME_RETRAIN, 0, b.now_ns);
	h.bytes = (uint16_t)(rl_frame_bytes(4) - 1);
	bench_inject(e, &h, b.now_ns);
	assert_int_equal(COUNTER(e, rx_retrain), 0);
	assert_int_equal(COUNTER(e, rx_truncated), 1);
	h = bench_forge(e, RL_FRAME_RETRAIN, 0, b.now_ns);
	bench_inject(e, &h, b.now_ns);
	assert_int_equal(COUNTER(e, rx_retrain), 1);
	bench_close(&b);
}

/*
 * A peer that acknowledges is alive: no answer to a probe is needed any more.
 */
static void
an_ack_ends_retraining(void **state)
{
	struct rl_link_cfg cfg;
	struct rl_frame_hdr h;
	struct bench_end *e;
	struct bench b;

	(void)state;
	bench_cfg(&cfg);
	cfg.replay_limit = 1;
	cfg.retrain_interval_ns = 5 * MS;
	bench_open_up(&b, &cfg);
	e = &b.end[0];
	b.wire[0].cut = true;
	bench_send(&b, 0, 0, 1, 4);
	while (bench_state(e) == RL_LINK_UP)
		bench_run(&b, US);
	assert_int_equal(bench_state(e), RL_LINK_RETRAIN);
	h = bench_forge(e, RL_FRAME_IDLE, 0, b.now_ns);
	bench_inject(e, &h, b.now_ns); /* nothing new */
	assert_int_equal(bench_state(e), RL_LINK_RETRAIN);
	h = bench_forge(e, RL_FRAME_IDLE, 0, b.now_ns);
	h.ack = 1;
	bench_inject(e, &h, b.now_ns);
	assert_int_equal(bench_state(e), RL_LINK_UP);
	assert_int_equal(bench_info(e).replay_acked, 1);
	bench_close(&b);
}

/* Keeps the last INIT frame that went by, and loses all others. */
static enum bench_act
init_alone(void *ctx, struct bench_frame *f)
{
	uint8_t *last = ctx;

	if (f->h.type == RL_FRAME_INIT)
		memcpy(last, f->data, f->len);
	return f->h.type == RL_FRAME_INIT ? BENCH_PASS : BENCH_DROP;
}

/* A peer that is UP and still answers INIT frames puts off its keepalives. */
static void
an_init_frame_of_the_same_epoch_is_life(void **state)
{
	uint8_t last[RL_FRAME_BYTES_MAX];
	struct rl_link_cfg cfg;
	struct bench_end *e;
	struct bench b;

	(void)state;
	for (unsigned int alive = 0; alive < 2; alive++) {
		bench_cfg(&cfg);
		cfg.keepalive_ns = 100 * US;
		cfg.keepalive_dead_ns = MS;
		memset(&b, 0, sizeof(b));
		bench_open(&b, &cfg);
		e = &b.end[0];
		b.wire[1].hook = init_alone;
		b.wire[1].ctx = last;
		for (unsigned int i = 0; i < 2; i++)
			rl_port_start(b.end[i].port, b.now_ns);
		while (bench_state(e) != RL_LINK_UP)
			bench_run(&b, US);
		for (unsigned int i = 0; i < 30; i++) {
			struct rl_frame_hdr h;

			bench_run(&b, 100 * US);
			assert_int_equal(rl_frame_open(last, sizeof(last), &h,
						       false),
					 RL_FRAME_OK);
			h.flags &= (uint8_t)~RL_FRF_ACKREQ;
			h.stamp = bench_forge(e, RL_FRAME_INIT, 0, b.now_ns)
					  .stamp;
			memcpy(e->frame, last, rl_frame_length(&h));
			if (alive)
				bench_inject(e, &h, b.now_ns);
		}
		assert_int_equal(bench_end_events(e, RL_PEV_DEAD) == 0, alive);
		bench_close(&b);
	}
}

/* --- room ------------------------------------------------------------------ */

/* Adds to what the receiver said it has room for, at the sender alone. */
static enum bench_act
add_credit(void *ctx, struct bench_frame *f)
{
	if (f->h.flags & RL_FRF_SPENT || f->h.type == RL_FRAME_INIT)
		return BENCH_PASS;
	return rewrite_credit(ctx, f);
}

/*
 * Ends that a port makes itself take room for a while, and give none when they
 * leave: a peer that sends beyond its credits is refused, however many there
 * were.
 */
static void
ends_made_here_do_not_widen_the_room(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	uint16_t more = 16;
	struct cut g;

	(void)state;
	cfg.watchdog_ns = MS;
	cut_open(&g, &cfg);
	for (unsigned int i = 0; i < 20; i++) {
		struct rl_flit *pkt = cut_make(&g, 0, 6);

		cut_give(&g, &pkt, 3);
		cut_run(&g, 1200); /* given up: an end is made */
		cut_give(&g, &pkt, 3);
		cut_run(&g, 50);
	}
	assert_int_equal(COUNTER(&g.b.end[1], rx_closed), 20);
	cut_at_rest(&g);
	g.b.wire[1].hook = add_credit;
	g.b.wire[1].ctx = &more;
	bench_run(&g.b, 2 * MS);
	bench_end_release(&g.b.end[1]);
	for (unsigned int i = 0; i < 3; i++) {
		struct rl_flit *pkt = cut_make(&g, 0, 16);

		cut_give(&g, &pkt, 16);
	}
	bench_run(&g.b, 100 * US); /* its core lets nothing go */
	assert_int_equal(bench_info(&g.b.end[1]).buffered[0], 32);
	assert_true(COUNTER(&g.b.end[1], rx_overrun) > 0);
	bench_no_rules(&g.b.wire[1]);
	cut_run(&g, 5000);
	assert_int_equal(rl_port_flits(g.b.end[0].port), 0);
	g.b.end[1].sink.next_tag[0] = 20; /* the others were given up */
	cut_close(&g);
}

/* Their room changes nothing for the peer, which already has its credits. */
static void
an_end_made_here_sends_no_frames(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct rl_flit *pkt;
	struct cut g;
	uint64_t n;

	(void)state;
	cfg.watchdog_ns = MS;
	cut_open(&g, &cfg);
	pkt = cut_make(&g, 0, 6);
	cut_give(&g, &pkt, 3);
	bench_run(&g.b, 1200 * US); /* its core lets nothing go */
	assert_int_equal(bench_info(&g.b.end[1]).buffered[0], 4);
	n = COUNTER(&g.b.end[1], tx_idle);
	bench_run(&g.b, 100 * US);
	assert_in_range(COUNTER(&g.b.end[1], tx_idle) - n, 0, 5);
	cut_give(&g, &pkt, 3);
	cut_run(&g, 50);
	g.b.end[1].sink.next_tag[0] = 1; /* it was given up */
	cut_close(&g);
}

/* And they cost the peer nothing in the next epoch. */
static void
ends_made_here_cost_no_credits_of_the_next_epoch(void **state)
{
	struct rl_link_cfg cfg = cut_cfg();
	struct cut g;

	(void)state;
	cfg.watchdog_ns = MS;
	cut_open(&g, &cfg);
	for (unsigned int i = 0; i < 3; i++) {
		struct rl_flit *pkt = cut_make(&g, 0, 6);

		cut_give(&g, &pkt, 3);
		cut_run(&g, 1200);
		cut_give(&g, &pkt, 3);
		cut_run(&g, 50);
	}
	assert_int_equal(COUNTER(&g.b.end[1], rx_closed), 3);
	cut_at_rest(&g);
	rl_port_down(g.b.end[0].port, g.b.now_ns);
	cut_run(&g, 50);
	rl_port_up(g.b.end[0].port, g.b.now_ns);
	bench_start(&g.b);
	bench_run(&g.b, MS);
	assert_int_equal(COUNTER(&g.b.end[0], trainings), 2);
	assert_int_equal(bench_info(&g.b.end[0]).credits[0],
			 cfg.credits_flits);
	g.b.end[1].sink.next_tag[0] = 3;
	cut_close(&g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[LINK-3] flits on a VC not in use are refused",
		     flits_on_a_vc_not_in_use_are_refused),
		CASE("a packet of one flit by a VC that is not in use is refused",
		     packets_of_one_flit_on_a_vc_not_in_use_are_refused),
		CASE("a packet of one flit in the midst of another ends it not",
		     a_packet_of_one_flit_ends_no_other),
		CASE("[LCB-2] transmit_error on no end is a soft error",
		     transmit_error_on_no_end_is_a_soft_error),
		cmocka_unit_test(a_full_count_of_links_does_not_begin_again),
		CASE("[LCB-3] credits that no peer can have are refused",
		     credits_that_no_peer_can_have_are_refused),
		cmocka_unit_test(a_limit_that_goes_back_takes_nothing_back),
		CASE("[LCB-3] ends made here do not widen the room",
		     ends_made_here_do_not_widen_the_room),
		CASE("[LCB-3] an end made here sends no frames",
		     an_end_made_here_sends_no_frames),
		CASE("ends made here cost no credits of the next epoch",
		     ends_made_here_cost_no_credits_of_the_next_epoch),
		CASE("[LINK-3] a storm of NAKs costs one replay a flit",
		     a_storm_of_naks_costs_one_replay_a_flit),
		CASE("[LINK-3] ACKs that stay impossible end the epoch",
		     acks_that_stay_impossible_end_the_epoch),
		cmocka_unit_test(impossible_acks_count_only_in_a_row),
		CASE("[LCB-3] what no peer can have spent is refused",
		     what_no_peer_can_have_spent_is_refused),
		CASE("[LINK-4] a probe shorter than data is none",
		     a_probe_shorter_than_data_is_none),
		CASE("[LINK-4] an ACK ends retraining", an_ack_ends_retraining),
		CASE("[LINK-5] an INIT frame of the same epoch is life",
		     an_init_frame_of_the_same_epoch_is_life),
	};

	return cmocka_run_group_tests_name("door", tests, NULL, NULL);
}
