/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loopback at a port [DRL-1, DRL-3, DRL-6, DRL-9]: what comes out of a dead
 * one, in which order and between which marks; and what its peer does.
 */
#include "bench.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static void
open_up(struct bench *b, const struct rl_link_cfg *cfg)
{
	bench_open(b, cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * US;
	b->wire[0].slot_ns = b->wire[1].slot_ns = US;
	bench_start(b);
	bench_run(b, 50 * US);
	b->end[0].nmarks = 0;
}

static void
kill_link(struct bench *b)
{
	bench_cut(b, true);
	for (unsigned int i = 0; i < 2; i++)
		rl_port_phy_status(b->end[i].port, false, b->now_ns);
}

/*
 * A packet of ten flits, three of them lost, seven acknowledged; the link
 * dies. All ten come out, and the peer gives none of its seven on.
 */
static void
ten_flits_seven_acknowledged_all_ten_come_out(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[0];

	(void)state;
	open_up(&b, NULL);
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_DROP, .first = 7,
		.last = BENCH_EVER });
	bench_send(&b, 0, 0, 10, 1);
	bench_run(&b, 40 * US);
	assert_int_equal(bench_info(e).replay_acked, 7);
	assert_int_equal(bench_info(e).replay_base, 0);
	kill_link(&b);
	bench_run(&b, 10 * US);
	assert_int_equal(e->looped.packets, 1);
	assert_int_equal(e->looped.flits, 10);
	assert_true(bench_intact(e->looped.head));
	assert_true(e->looped.head->flags & RL_FF_LOOPED);
	assert_int_equal(COUNTER(e, looped_flits), 10);
	assert_int_equal(COUNTER(e, looped_acked_flits), 7);
	assert_int_equal(b.end[1].sink.packets, 0);
	assert_int_equal(COUNTER(&b.end[1], rx_partial_discard), 1);
	assert_int_equal(rl_port_flits(b.end[1].port), 0);
	bench_close(&b);
}

/* Buffer, then egress queue, then what the core sent before it knew. */
static void
what_loops_comes_in_order(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[0];
	struct rl_flit *pkt;
	uint32_t next[RL_VCS] = { 0 };

	(void)state;
	open_up(&b, NULL);
	b.wire[1].cut = true;
	e->no_fence = true;
	for (unsigned int i = 0; i < 12; i++) /* more than the window */
		bench_send(&b, 0, i % 3, 8, 2);
	bench_run(&b, 30 * US);
	assert_true(bench_info(e).held_flits > 0);
	assert_true(bench_info(e).queued_flits > 0);
	kill_link(&b);
	bench_send(&b, 0, 1, 8, 3);
	bench_run(&b, 3 * US);
	bench_send(&b, 0, 2, 8, 3);
	bench_run(&b, 3 * US);
	/* without the core's fence the port waits for more */
	assert_int_equal(e->nmarks, 1);
	assert_int_equal(e->mark[0], RL_MARK_LOOP_BEGIN);
	assert_int_equal(bench_state(e), RL_LINK_LOOPBACK);
	bench_send(&b, 0, 0, 1, 1);
	rl_port_submit(e->port, rl_pipe_mark(RL_MARK_LOOP_FENCE), b.now_ns);
	bench_run(&b, 3 * US);
	assert_int_equal(e->nmarks, 2);
	assert_int_equal(e->mark[1], RL_MARK_LOOP_END);
	assert_int_equal(bench_state(e), RL_LINK_DAMPED);
	assert_int_equal(e->looped.packets, 24 + 7);
	for (pkt = e->looped.head; pkt != NULL; pkt = pkt->next_pkt) {
		assert_int_equal(rl_flit_tag(pkt->wire), next[pkt->sl]);
		assert_true(bench_intact(pkt));
		next[pkt->sl]++;
	}
	for (unsigned int vc = 0; vc < 3; vc++) {
		assert_int_equal(next[vc], e->next_tag[vc]);
		/* the core's count of the egress queue is even again */
		assert_int_equal(rl_shared_read(&e->shared->taken[vc]),
				 vc == 0 ? 65 : 88);
	}
	bench_close(&b);
}

static void
run_mode(enum rl_loopback mode, struct bench *b)
{
	struct rl_link_cfg cfg;

	memset(b, 0, sizeof(*b));
	bench_cfg(&cfg);
	cfg.loopback = mode;
	cfg.ack_coalesce_flits = 1;
	open_up(b, &cfg);
	bench_rule(&b->wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .act = BENCH_DROP, .first = 17,
		.last = BENCH_EVER });
	bench_send(b, 0, 0, 10, 15); /* 150 flits, a window of 128 */
	bench_run(b, 60 * US);
	kill_link(b);
	bench_run(b, 20 * US);
	/* the first was acknowledged whole and is not looped in any mode */
	assert_int_equal(b->end[1].sink.packets, 1);
}

static void
whole_packets_loops_them_whole(void **state)
{
	struct bench b;

	(void)state;
	run_mode(RL_LOOPBACK_WHOLE, &b);
	assert_int_equal(b.end[0].looped.packets, 14);
	assert_int_equal(b.end[0].looped.flits, 140);
	assert_int_equal(b.end[0].ndrops, 0);
	bench_close(&b);
}

static void
unacked_only_loops_a_fragment(void **state)
{
	struct rl_flit *pkt;
	struct bench b;

	(void)state;
	run_mode(RL_LOOPBACK_UNACKED, &b);
	assert_int_equal(b.end[0].looped.packets, 14);
	assert_int_equal(b.end[0].looped.flits, 133); /* 7 are missing */
	pkt = b.end[0].looped.head;
	assert_int_equal(pkt->pkt_flits, 3);
	assert_false(pkt->flags & RL_FF_SOP);
	assert_int_equal(COUNTER(&b.end[0], looped_acked_flits), 0);
	bench_close(&b);
}

static void
loopback_none_loses_all_and_says_so(void **state)
{
	struct bench b;

	(void)state;
	run_mode(RL_LOOPBACK_NONE, &b);
	assert_int_equal(b.end[0].looped.packets, 0);
	assert_int_equal(b.end[0].ndrops, 14);
	for (unsigned int i = 0; i < 14; i++)
		assert_int_equal(b.end[0].drop[i].why, RL_DROP_LOOPBACK_NONE);
	assert_int_equal(COUNTER(&b.end[0], loop_mode_drop), 14);
	assert_int_equal(COUNTER(&b.end[0], tx_discard), 140);
	bench_close(&b);
}

/*
 * The next hop drops a fragment until a start-of-packet, reports it once, and
 * takes what follows; its credits return.
 */
static void
a_fragment_is_dropped_until_a_start_of_packet(void **state)
{
	struct bench_packet k = { .src = 1, .dst = 2, .flits = 10, .tag = 0 };
	struct bench b = { 0 };
	struct bench_end *rx = &b.end[1];
	struct rl_flit *pkt;

	(void)state;
	open_up(&b, NULL);
	pkt = bench_make(&b.pool, &k);
	for (unsigned int i = 0; i < 7; i++) { /* as unacked-only makes it */
		struct rl_flit *f = pkt->next;

		f->last = pkt->last;
		f->pkt_flits = (uint16_t)(pkt->pkt_flits - 1);
		f->vc = pkt->vc;
		rl_flit_put(&b.pool.cache, pkt);
		pkt = f;
	}
	rl_port_submit(b.end[0].port, pkt, b.now_ns);
	rx->sink.next_tag[0] = 1;
	b.end[0].next_tag[0] = 1;
	bench_send(&b, 0, 0, 4, 2);
	bench_settle(&b, MS);
	bench_check_delivered(&b);
	assert_int_equal(COUNTER(rx, rx_discard_to_sop), 3);
	assert_int_equal(rx->ndrops, 1);
	assert_int_equal(rx->drop[0].why, RL_DROP_FRAGMENT);
	assert_int_equal(rx->drop[0].tag, 0);
	bench_run(&b, 100 * US);
	assert_int_equal(bench_info(&b.end[0]).credits[0], 256);
	bench_close(&b);
}

/* Partial packets give their credits back: no epoch starts with fewer. */
static void
partial_packets_keep_no_credits(void **state)
{
	struct bench b = { 0 };

	(void)state;
	open_up(&b, NULL);
	for (unsigned int i = 0; i < 50; i++) {
		bench_rule(&b.wire[0], (struct bench_rule){
			.type = RL_FRAME_DATA, .act = BENCH_DROP, .first = 20,
			.last = BENCH_EVER });
		bench_send(&b, 0, i % RL_VCS, 32, 1);
		bench_run(&b, 40 * US);
		kill_link(&b);
		bench_run(&b, 5 * US);
		bench_cut(&b, false);
		bench_no_rules(&b.wire[0]);
		for (unsigned int e = 0; e < 2; e++)
			rl_port_phy_status(b.end[e].port, true, b.now_ns);
		bench_start(&b);
		bench_run(&b, 10 * US);
		b.end[0].nmarks = b.end[1].nmarks = 0;
		b.end[0].nevents = b.end[1].nevents = 0;
	}
	assert_int_equal(COUNTER(&b.end[1], rx_partial_discard), 50);
	assert_int_equal(b.end[0].looped.packets, 50);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(bench_info(&b.end[0]).credits[vc], 256);
	bench_close(&b);
}

static void
a_packet_over_the_maximum_is_clipped_and_reported_once(void **state)
{
	static const unsigned int len[] = { 33, 40, 64, 65, 100 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(len); i++) {
		struct bench b = { 0 };
		struct bench_end *rx = &b.end[1];

		open_up(&b, NULL);
		bench_send(&b, 0, 0, 5, 1);
		bench_send(&b, 0, 0, len[i], 1);
		bench_send(&b, 0, 0, 5, 1);
		bench_settle(&b, 5 * MS);
		assert_int_equal(rx->sink.packets, 2);
		assert_int_equal(rx->sink.corrupt, 0);
		assert_int_equal(COUNTER(rx, rx_clipped), 1);
		assert_int_equal(rx->ndrops, 1);
		assert_int_equal(rx->drop[0].why, RL_DROP_TOO_LONG);
		assert_int_equal(rx->drop[0].tag, 1);
		bench_run(&b, 100 * US);
		assert_int_equal(bench_info(&b.end[0]).credits[0], 256);
		bench_close(&b);
	}
}

/* A report may list its flits: there is one more than any packet has. */
static void
what_is_clipped_has_one_flit_more_than_the_longest_may(void **state)
{
	struct rl_link_cfg cfg;
	struct bench b = { .pool_flits = 4096 };
	struct bench_end *rx = &b.end[1];

	(void)state;
	bench_cfg(&cfg);
	cfg.max_packet_flits = RL_PACKET_FLITS_MAX;
	cfg.window_flits = cfg.credits_flits = cfg.queue_flits = 1024;
	open_up(&b, &cfg);
	bench_send(&b, 0, 0, RL_PACKET_FLITS_MAX + 20, 1);
	bench_settle(&b, 5 * MS);
	assert_int_equal(rx->ndrops, 1);
	assert_int_equal(rx->drop[0].why, RL_DROP_TOO_LONG);
	assert_int_equal(rx->drop[0].flits, RL_PACKET_FLITS_HELD);
	bench_close(&b);
}

static const struct rl_port_event *
drained_event(const struct bench_end *e)
{
	for (unsigned int i = 0; i < e->nevents; i++)
		if (e->event[i].type == RL_PEV_DRAINED)
			return &e->event[i];
	fail_msg("nothing drained");
	return NULL;
}

/* Each packet class on each kind of link, replayed or reported. */
static void
policies_choose_by_class_and_link_type(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < 2; kind++) {
		for (unsigned int mask = 0; mask < 16; mask++) {
			struct rl_link_cfg cfg;
			struct bench b = { .kind = kind ? RL_LINK_ENDPOINT
							: RL_LINK_ISL,
					   .pool_flits = 256 };
			struct bench_end *e = &b.end[0];
			const struct rl_port_event *told;
			unsigned int looped = 0;

			bench_cfg(&cfg);
			cfg.replay_isl = (uint8_t)(kind ? ~mask & 15 : mask);
			cfg.replay_endpoint =
				(uint8_t)(kind ? mask : ~mask & 15);
			open_up(&b, &cfg);
			b.wire[0].cut = true;
			for (unsigned int i = 0; i < 8; i++) {
				const struct bench_packet k = {
					.src = 1, .dst = 2, .flits = 3,
					.class = (uint8_t)(i % 4), .tag = i };

				/* half of it sent, half still queued */
				if (i == 4)
					bench_run(&b, 4 * US);
				rl_port_submit(e->port,
					       bench_make(&b.pool, &k),
					       b.now_ns);
			}
			kill_link(&b);
			bench_run(&b, 5 * US);
			for (struct rl_flit *p = e->looped.head; p != NULL;
			     p = p->next_pkt, looped++)
				assert_true(mask & 1u << p->class);
			assert_int_equal(looped,
					 2 * __builtin_popcount(mask));
			assert_int_equal(looped + e->ndrops, 8);
			for (unsigned int i = 0; i < e->ndrops; i++) {
				assert_int_equal(e->drop[i].why,
						 RL_DROP_POLICY);
				assert_false(mask & 1u << e->drop[i].tag % 4);
			}
			assert_int_equal(COUNTER(e, loop_policy_drop),
					 e->ndrops);
			assert_int_equal(COUNTER(e, tx_discard), 3 * e->ndrops);
			/* nor does the failover tell of what was dropped */
			told = drained_event(e);
			assert_int_equal(told->looped_packets, looped);
			assert_int_equal(told->looped_flits,
					 COUNTER(e, looped_flits));
			assert_true(told->looped_acked_flits <=
				    told->looped_flits);
			bench_close(&b);
		}
	}
}

/* A FENCE is answered when all before it is acknowledged, and not before. */
static void
a_fence_is_answered_when_all_before_is_acknowledged(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[0];
	struct rl_flit *const fence = rl_pipe_mark(RL_MARK_FENCE);

	(void)state;
	open_up(&b, NULL);
	rl_port_submit(e->port, fence, b.now_ns); /* nothing before it */
	bench_run(&b, US);
	assert_int_equal(e->nmarks, 1);
	assert_int_equal(e->mark[0], RL_MARK_FENCE_DONE);
	b.wire[1].cut = true;
	bench_send(&b, 0, 0, 5, 2);
	bench_send(&b, 0, 4, 5, 1);
	rl_port_submit(e->port, fence, b.now_ns);
	bench_run(&b, 50 * US);
	assert_int_equal(b.end[1].sink.packets, 3);
	assert_int_equal(e->nmarks, 1); /* arrived, not acknowledged */
	bench_rule(&b.wire[0], (struct bench_rule){
		.type = RL_FRAME_DATA, .without = RL_FRF_RETRY,
		.act = BENCH_DROP, .last = BENCH_EVER });
	bench_send(&b, 0, 0, 5, 1); /* after it: does not count */
	bench_run(&b, 10 * US);
	b.wire[1].cut = false;
	for (unsigned int i = 0; i < 400 && e->nmarks < 2; i++)
		bench_run(&b, US);
	assert_int_equal(e->nmarks, 2);
	assert_int_equal(e->mark[1], RL_MARK_FENCE_DONE);
	bench_no_rules(&b.wire[0]);
	bench_settle(&b, 5 * MS);
	bench_check_delivered(&b);
	bench_close(&b);
}

/* In whatever state it meets a dying link, a fence is answered. */
static void
a_fence_never_hangs_on_a_dead_link(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[0];
	struct rl_flit *const fence = rl_pipe_mark(RL_MARK_FENCE);

	(void)state;
	open_up(&b, NULL);
	b.wire[1].cut = true;
	bench_send(&b, 0, 0, 5, 2);
	rl_port_submit(e->port, fence, b.now_ns);
	bench_run(&b, 20 * US);
	assert_int_equal(e->nmarks, 0);
	kill_link(&b);
	bench_run(&b, 5 * US);
	assert_int_equal(e->nmarks, 3);
	/* not before LOOP_BEGIN: the core must not take it for success */
	assert_int_equal(e->mark[0], RL_MARK_LOOP_BEGIN);
	assert_int_equal(e->mark[1], RL_MARK_FENCE_DONE);
	assert_int_equal(e->mark[2], RL_MARK_LOOP_END);
	rl_port_submit(e->port, fence, b.now_ns); /* DAMPED */
	bench_run(&b, 2 * US);
	assert_int_equal(e->nmarks, 4);
	assert_int_equal(e->mark[3], RL_MARK_FENCE_DONE);
	bench_close(&b);
}

/* A link that comes up and dies before anybody looked: both marks, in order. */
static void
up_and_dead_before_the_core_looks_are_told_in_order(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[0];

	(void)state;
	bench_open(&b, NULL);
	e->no_core = true;
	bench_start(&b);
	rl_port_phy_status(e->port, false, b.now_ns);
	e->no_core = false;
	bench_run(&b, 5 * US);
	assert_int_equal(e->nmarks, 3);
	assert_int_equal(e->mark[0], RL_MARK_LINK_UP);
	assert_int_equal(e->mark[1], RL_MARK_LOOP_BEGIN);
	assert_int_equal(e->mark[2], RL_MARK_LOOP_END);
	bench_close(&b);
}

/* Whole packets that came before the death are given on. */
static void
packets_received_whole_survive_the_death(void **state)
{
	struct bench b = { 0 };

	(void)state;
	open_up(&b, NULL);
	b.end[1].no_core = true;
	bench_send(&b, 0, 0, 4, 5);
	bench_run(&b, 19 * US); /* 16 or so flits have arrived */
	kill_link(&b);
	b.end[1].no_core = false;
	bench_run(&b, 5 * US);
	assert_int_equal(b.end[1].sink.packets, 4);
	assert_int_equal(b.end[1].sink.corrupt, 0);
	bench_close(&b);
}

/* Down by command while it drains: OFF after it, not before. */
static void
a_command_during_the_drain_waits_for_it(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[0];

	(void)state;
	open_up(&b, NULL);
	e->no_fence = true;
	bench_send(&b, 0, 0, 4, 5);
	kill_link(&b);
	bench_run(&b, 5 * US);
	assert_int_equal(rl_port_down(e->port, b.now_ns), 0);
	assert_int_equal(bench_state(e), RL_LINK_LOOPBACK);
	rl_port_submit(e->port, rl_pipe_mark(RL_MARK_LOOP_FENCE), b.now_ns);
	bench_run(&b, 5 * US);
	assert_int_equal(bench_state(e), RL_LINK_OFF);
	assert_int_equal(e->looped.packets, 5);
	bench_close(&b);
}

/* The wire image of what a buffer holds is never written [LINK-2]. */
static void
bodies_never_change_through_replays_and_loopback(void **state)
{
	struct rl_frame_hdr h;
	struct rl_flit *pkt;
	struct bench b = { 0 };

	(void)state;
	open_up(&b, NULL);
	b.wire[1].cut = true;
	bench_send(&b, 0, 3, 9, 8);
	for (uint16_t ack = 1; ack <= 2; ack++) { /* some replays */
		bench_run(&b, 100 * US);
		h = bench_forge(&b.end[0], RL_FRAME_IDLE, RL_FRF_NAK, b.now_ns);
		h.ack = ack;
		bench_inject(&b.end[0], &h, b.now_ns);
	}
	bench_run(&b, 100 * US);
	assert_true(COUNTER(&b.end[0], tx_replays) >= 2);
	kill_link(&b);
	bench_run(&b, 5 * US);
	assert_int_equal(b.end[0].looped.packets, 8);
	for (pkt = b.end[0].looped.head; pkt != NULL; pkt = pkt->next_pkt)
		assert_true(bench_intact(pkt));
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[DRL-9] ten flits, seven acknowledged: all ten come out "
		     "of the port",
		     ten_flits_seven_acknowledged_all_ten_come_out),
		CASE("[DRL-1] what loops comes in order, between its marks",
		     what_loops_comes_in_order),
		CASE("[DRL-9] loopback = whole-packets",
		     whole_packets_loops_them_whole),
		CASE("[DRL-9] loopback = unacked-only loops a fragment",
		     unacked_only_loops_a_fragment),
		CASE("[DRL-9] loopback = none loses all and says so",
		     loopback_none_loses_all_and_says_so),
		CASE("[DRL-3] a fragment is dropped until a start-of-packet",
		     a_fragment_is_dropped_until_a_start_of_packet),
		CASE("[DRL-3] partial packets keep no credits",
		     partial_packets_keep_no_credits),
		CASE("[LCB-2] a packet over the maximum is clipped and "
		     "reported once",
		     a_packet_over_the_maximum_is_clipped_and_reported_once),
		cmocka_unit_test(
			what_is_clipped_has_one_flit_more_than_the_longest_may),
		CASE("LINK-C28 [DRL-6] policies choose by class and link type",
		     policies_choose_by_class_and_link_type),
		CASE("[DRL-8] a fence is answered when all before is "
		     "acknowledged",
		     a_fence_is_answered_when_all_before_is_acknowledged),
		CASE("[DRL-8] a fence never hangs on a dead link",
		     a_fence_never_hangs_on_a_dead_link),
		cmocka_unit_test(
			up_and_dead_before_the_core_looks_are_told_in_order),
		CASE("[DRL-3] packets received whole survive the death",
		     packets_received_whole_survive_the_death),
		cmocka_unit_test(a_command_during_the_drain_waits_for_it),
		CASE("[LINK-2] bodies never change through replays and "
		     "loopback",
		     bodies_never_change_through_replays_and_loopback),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
