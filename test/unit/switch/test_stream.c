/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open packets in a switch core: cut-through [LCB-1]. Where their parts go,
 * what becomes of them when their input dies (closed: cut out or let go
 * [LCB-2]), when their output dies (what looped, what waits and what still
 * comes leave as one [DRL-1]).
 */
#include "core_bench.h"
#include "parts.h"

#define F 8 /* flits of a packet here */
#define X 1
#define Y 2
#define IN 0

static void
open_switch(struct core_bench *c)
{
	static const uint16_t ways[] = { X, Y };

	cb_cfg(c);
	c->cfg.switching = RL_CUT_THROUGH;
	c->cfg.max_packet_flits = 16;
	for (uint16_t dst = 0; dst < CB_DSTS; dst++)
		cb_route(c, 0, dst, ways, 2);
	cb_open(c, -1);
	for (uint16_t p = 0; p < CB_PORTS; p++)
		cb_mark(c, p, RL_MARK_LINK_UP);
}

static void
give(struct core_bench *c, struct rl_flit **pkt, unsigned int n)
{
	struct rl_flit *part = parts_cut(pkt, n);

	cb_give(c, part->in_port, part);
}

/* The end that an input port makes when its link dies under a packet. */
static void
close_in(struct core_bench *c, uint16_t in_port, uint8_t in_vc)
{
	struct rl_flit *f = rl_flit_get(&c->pool.cache);

	assert_non_null(f);
	memset(f, 0, sizeof(*f));
	rl_packet_start(f);
	f->flags = RL_FF_EOP | RL_FF_CREDIT;
	f->mark = RL_MARK_TRANSMIT_ERROR;
	f->in_port = in_port;
	f->in_vc = f->vc = in_vc;
	cb_give(c, in_port, f);
}

/* Everything that a port was given, put together: the only packet there. */
static struct rl_flit *
only_packet(struct core_bench *c, uint16_t port)
{
	struct rl_flit *pkt = rl_pktq_pop(&c->out[port]), *more;

	assert_non_null(pkt);
	while ((more = rl_pktq_pop(&c->out[port])) != NULL) {
		assert_false(rl_packet_ends(pkt));
		assert_int_equal(more->vc, pkt->vc);
		rl_packet_join(pkt, more);
	}
	return pkt;
}

static void
home(struct core_bench *c, struct rl_flit *pkt)
{
	rl_packet_put(&c->pool.cache, pkt);
}

/* A dead port gives back what it has, as a port does: whole, or open. */
static void
loop_out(struct core_bench *c, uint16_t port, struct rl_flit *pkt)
{
	for (struct rl_flit *f = pkt; f != NULL; f = f->next) {
		f->flags |= RL_FF_LOOPED;
		f->loop_id = port + 1u;
	}
	rl_core_loop(c->core, port, &pkt, 1, c->now_ns);
}

static void
parts_follow_the_first_and_leave_on_its_vc(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt, *out;

	(void)state;
	open_switch(&c);
	/* the VL out (4) is not the VL in (1: SL 1) */
	memset(c.sl2vl, 4, sizeof(c.sl2vl));
	pkt = cb_packet(&c, IN, 1, F);
	for (unsigned int i = 0; i < F; i++) {
		give(&c, &pkt, 1);
		cb_tx(&c, X);
		assert_int_equal(c.out[X].packets, i + 1);
		assert_int_equal(cb_freed(&c, IN), i + 1);
	}
	out = only_packet(&c, X);
	assert_int_equal(out->vc, 4);
	assert_true(bench_intact(out));
	home(&c, out);
	assert_true(rl_core_idle(c.core));
	cb_close(&c);
}

/* Two inputs, one output VC: the second packet waits for the first's end. */
static void
packets_of_one_vc_never_mix(void **state)
{
	struct rl_flit *a, *b, *other;
	struct core_bench c;

	(void)state;
	open_switch(&c);
	a = cb_packet(&c, IN, 1, F);
	b = cb_packet(&c, 3, 1, F);
	other = cb_packet(&c, 3, 2, F); /* another VC: may go between */
	give(&c, &a, 3);
	give(&c, &b, F);
	give(&c, &other, F);
	cb_tx(&c, X);
	assert_int_equal(c.out[X].flits, 3 + F);
	cb_expect(&c, X, 2, 0, 0);
	for (unsigned int i = 3; i < F; i++) {
		give(&c, &a, 1);
		cb_tx(&c, X);
	}
	assert_int_equal(c.out[X].flits, 3 * F);
	cb_ack(&c, X);
	assert_true(rl_core_idle(c.core));
	cb_close(&c);
}

/* A packet without its end goes only where the longest would fit. */
static void
an_open_packet_waits_for_room_for_the_longest(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	open_switch(&c);
	c.full[X] = true;
	/* the queue has 128: all but 15 are taken */
	for (unsigned int i = 0; i < 7; i++)
		cb_rx(&c, IN, 1, 16);
	cb_rx(&c, IN, 1, 1);
	cb_tx(&c, X);
	assert_int_equal(c.out[X].flits, 113);
	pkt = cb_packet(&c, IN, 1, 2);
	give(&c, &pkt, 1);
	cb_tx(&c, X);
	assert_int_equal(c.out[X].flits, 113);
	rl_shared_add(&c.shared[X]->taken[1], 1); /* now 16 are free */
	cb_tx(&c, X);
	assert_int_equal(c.out[X].flits, 114);
	give(&c, &pkt, 1);
	cb_tx(&c, X);
	assert_int_equal(c.out[X].flits, 115);
	cb_close(&c);
}

/* Every live port but those that carry traffic here answers, and time goes on. */
static void
fences_answered(struct core_bench *c)
{
	for (uint16_t p = 0; p < CB_PORTS; p++)
		if (p != X && p != Y)
			cb_mark(c, p, RL_MARK_FENCE_DONE);
	cb_advance(c, c->cfg.restore_delay_ns + 1);
}

/* Places where a packet may wait when its input dies. */
enum where { QUEUED, HELD, STRANDED };

static void
stop_outputs(struct core_bench *c, enum where where)
{
	c->full[X] = true;
	if (where == QUEUED) /* port queue full on the VC of flow 1 */
		for (unsigned int i = 0; i < 8; i++)
			cb_rx(c, IN, 1, 16);
	cb_tx_all(c);
	if (where != QUEUED)
		cb_mark(c, X, RL_MARK_LOOP_BEGIN);
	if (where != STRANDED)
		return;
	cb_mark(c, X, RL_MARK_LOOP_END);
	cb_mark(c, Y, RL_MARK_LOOP_BEGIN);
	cb_mark(c, Y, RL_MARK_LOOP_END);
	cb_advance(c, c->cfg.resume_delay_ns + 1);
}

/* Closed before any of it has left: it goes no further, wherever it waits. */
static void
a_closed_packet_is_cut_out_where_it_waits(void **state)
{
	(void)state;
	for (enum where where = QUEUED; where <= STRANDED; where++) {
		/* 0: first of those that wait, 1: between, 2: last */
		for (unsigned int place = 0; place < 3; place++) {
			struct core_bench c;
			struct rl_flit *pkt;
			uint32_t freed, tag = 0;

			open_switch(&c);
			stop_outputs(&c, where);
			tag = c.next_tag[1];
			for (unsigned int i = 0; i < place; i++)
				cb_rx(&c, 3, 1, 2);
			pkt = cb_packet(&c, 4, 1, F);
			c.next_tag[1]--; /* its copy comes another way */
			give(&c, &pkt, 2);
			give(&c, &pkt, 3);
			for (unsigned int i = place; i < 2; i++)
				cb_rx(&c, 3, 1, 2);
			freed = cb_freed(&c, 4);
			assert_int_equal(freed, where == QUEUED ? 0 : 5);
			close_in(&c, 4, 1);
			assert_int_equal(cb_freed(&c, 4), 6);
			assert_int_equal(CB_COUNTER(&c, excised_packets), 1);
			assert_int_equal(c.ndrops, 0);
			/* in the waiting room it goes when its turn comes */
			assert_int_equal(rl_core_flits(c.core),
					 where == QUEUED ? 4 : 10);
			home(&c, pkt); /* the flits that never came */
			/* the others go on, in order */
			for (uint16_t p = 0; p < CB_PORTS; p++)
				cb_ack(&c, p);
			if (where == QUEUED)
				rl_shared_add(&c.shared[X]->taken[1], 128);
			if (where == HELD)
				cb_mark(&c, X, RL_MARK_LOOP_END);
			cb_advance(&c, c.cfg.resume_delay_ns + 1);
			if (where == STRANDED)
				cb_mark(&c, Y, RL_MARK_LINK_UP);
			for (unsigned int i = 0; i < 5; i++) {
				cb_tx_all(&c);
				fences_answered(&c);
			}
			cb_tx_all(&c);
			cb_expect(&c, where == QUEUED ? X : Y, 1, tag,
				  tag + 1);
			assert_int_equal(rl_core_flits(c.core), 0);
			cb_close(&c);
		}
	}
}

/* Closed when some of it has left: the end follows, at every flit. */
static void
a_closed_packet_that_has_begun_is_let_go(void **state)
{
	(void)state;
	for (unsigned int k = 1; k < F; k++) {
		struct core_bench c;
		struct rl_flit *pkt, *out;

		open_switch(&c);
		pkt = cb_packet(&c, IN, 1, F);
		give(&c, &pkt, k);
		cb_tx(&c, X);
		close_in(&c, IN, 1);
		cb_tx(&c, X);
		out = only_packet(&c, X);
		assert_int_equal(out->pkt_flits, k + 1);
		assert_int_equal(out->last->mark, RL_MARK_TRANSMIT_ERROR);
		assert_int_equal(cb_freed(&c, IN), k + 1);
		assert_int_equal(CB_COUNTER(&c, excised_packets), 0);
		assert_true(rl_core_idle(c.core));
		home(&c, out);
		home(&c, pkt);
		/* the VC is free for others, and so is the input */
		cb_rx(&c, IN, 1, 3);
		cb_tx(&c, X);
		cb_expect(&c, X, 1, 1, 1);
		cb_close(&c);
	}
}

/*
 * The output dies: `sent` flits were given to it, `wait` more had come, of
 * which the port took `late` before the fence; the rest comes after the loop.
 * All of it leaves by the other port, once, in one piece.
 */
static void
output_dies(unsigned int sent, unsigned int wait, bool before)
{
	struct core_bench c;
	struct rl_flit *pkt, *looped, *out;

	open_switch(&c);
	pkt = cb_packet(&c, IN, 1, F);
	give(&c, &pkt, sent);
	cb_tx(&c, X);
	looped = only_packet(&c, X);
	if (before)
		for (unsigned int i = 0; i < wait; i++)
			give(&c, &pkt, 1);
	cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
	cb_tx(&c, X);
	assert_int_equal(c.loop_fences[X], 1);
	if (!before)
		for (unsigned int i = 0; i < wait; i++)
			give(&c, &pkt, 1);
	cb_rx(&c, IN == 0 ? 3 : 0, 1, 2); /* younger: held behind */
	assert_int_equal(rl_core_held(c.core, X), 2);
	cb_tx_all(&c);
	assert_int_equal(c.out[Y].flits, 0);
	loop_out(&c, X, looped);
	cb_tx_all(&c);
	assert_int_equal(c.out[Y].flits, sent + wait);
	cb_mark(&c, X, RL_MARK_LOOP_END);
	while (pkt != NULL) {
		give(&c, &pkt, 1);
		cb_tx_all(&c);
	}
	assert_int_equal(cb_freed(&c, IN), F);
	out = only_packet(&c, Y);
	assert_int_equal(out->pkt_flits, F);
	assert_true(bench_intact(out));
	home(&c, out);
	cb_advance(&c, c.cfg.resume_delay_ns + 1);
	cb_tx_all(&c);
	cb_expect(&c, Y, 1, 1, 1);
	assert_int_equal(rl_core_flits(c.core), 0);
	assert_int_equal(c.ndrops, 0);
	cb_close(&c);
}

static void
an_output_that_dies_under_a_packet_costs_none_of_it(void **state)
{
	(void)state;
	for (unsigned int sent = 1; sent < F; sent++)
		for (unsigned int wait = 0; wait <= F - sent; wait++) {
			output_dies(sent, wait, true);
			output_dies(sent, wait, false);
		}
}

/* The other output dies under it as well, at every flit; the first is back. */
static void
a_packet_that_loops_twice_is_still_one(void **state)
{
	(void)state;
	for (unsigned int a = 1; a < F - 1; a++)
		for (unsigned int b = 0; b < F - a; b++) {
			struct core_bench c;
			struct rl_flit *pkt, *looped, *out;

			open_switch(&c);
			pkt = cb_packet(&c, IN, 1, F);
			give(&c, &pkt, a);
			cb_tx(&c, X);
			cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
			cb_tx(&c, X);
			loop_out(&c, X, only_packet(&c, X));
			cb_mark(&c, X, RL_MARK_LOOP_END);
			cb_tx(&c, Y);
			for (unsigned int i = 0; i < b; i++)
				give(&c, &pkt, 1);
			cb_tx(&c, Y);
			cb_mark(&c, Y, RL_MARK_LOOP_BEGIN);
			cb_tx(&c, Y);
			looped = only_packet(&c, Y);
			assert_int_equal(looped->pkt_flits, a + b);
			cb_advance(&c, c.cfg.resume_delay_ns + 1);
			loop_out(&c, Y, looped); /* no way: it waits */
			cb_mark(&c, Y, RL_MARK_LOOP_END);
			cb_advance(&c, c.cfg.resume_delay_ns + 1);
			assert_int_equal(rl_core_flits(c.core), a + b);
			cb_mark(&c, X, RL_MARK_LINK_UP);
			for (unsigned int i = 0; i < 6; i++) {
				if (pkt != NULL)
					give(&c, &pkt, 1);
				cb_tx_all(&c);
				fences_answered(&c);
			}
			while (pkt != NULL)
				give(&c, &pkt, 1);
			cb_tx_all(&c);
			out = only_packet(&c, X);
			assert_int_equal(out->pkt_flits, F);
			assert_true(bench_intact(out));
			assert_int_equal(cb_freed(&c, IN), F);
			home(&c, out);
			assert_int_equal(rl_core_flits(c.core), 0);
			cb_close(&c);
		}
}

/* Both ends die: what loops is closed before it has found another way. */
static void
a_packet_that_loops_and_is_closed_is_cut_out(void **state)
{
	(void)state;
	for (unsigned int k = 1; k < F; k++)
		for (unsigned int order = 0; order < 2; order++) {
			struct core_bench c;
			struct rl_flit *pkt, *looped;

			open_switch(&c);
			pkt = cb_packet(&c, IN, 1, F);
			give(&c, &pkt, k);
			cb_tx(&c, X);
			looped = only_packet(&c, X);
			cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
			if (order == 0)
				close_in(&c, IN, 1);
			cb_tx(&c, X);
			loop_out(&c, X, looped);
			if (order == 1)
				close_in(&c, IN, 1);
			cb_mark(&c, X, RL_MARK_LOOP_END);
			cb_advance(&c, c.cfg.resume_delay_ns + 1);
			cb_tx_all(&c);
			assert_int_equal(c.out[Y].flits, 0);
			assert_int_equal(CB_COUNTER(&c, excised_packets), 1);
			assert_int_equal(cb_freed(&c, IN), k + 1);
			assert_int_equal(rl_core_flits(c.core), 0);
			assert_int_equal(c.ndrops, 0);
			home(&c, pkt);
			cb_close(&c);
		}
}

/* Given up by the watchdog: reported once, and its rest goes unsaid. */
static void
the_rest_of_a_packet_given_up_goes_with_it(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	open_switch(&c);
	stop_outputs(&c, STRANDED);
	pkt = cb_packet(&c, IN, 1, F);
	give(&c, &pkt, 3);
	cb_advance(&c, c.cfg.no_path_ns + c.cfg.no_path_ns / 16 + 1);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].why, RL_DROP_NO_PATH);
	give(&c, &pkt, 4);
	give(&c, &pkt, 1);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(CB_COUNTER(&c, drop_fragments), 2);
	assert_int_equal(cb_freed(&c, IN), F);
	assert_int_equal(rl_core_flits(c.core), 0);
	/* the input is free for the next */
	cb_rx(&c, IN, 1, 2);
	assert_int_equal(rl_core_flits(c.core), 2);
	cb_close(&c);
}

/* A packet that its port did not loop out, by policy: the rest is dropped. */
static void
a_packet_that_does_not_come_back_is_forgotten(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	open_switch(&c);
	pkt = cb_packet(&c, IN, 1, F);
	give(&c, &pkt, 3);
	cb_tx(&c, X);
	cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
	cb_tx(&c, X);
	give(&c, &pkt, 2);
	assert_int_equal(rl_core_flits(c.core), 2);
	cb_mark(&c, X, RL_MARK_LOOP_END);
	assert_int_equal(rl_core_flits(c.core), 0);
	give(&c, &pkt, 3);
	assert_int_equal(rl_core_flits(c.core), 0);
	assert_int_equal(cb_freed(&c, IN), F);
	cb_rx(&c, IN, 1, 2);
	cb_advance(&c, c.cfg.resume_delay_ns + 1);
	cb_tx_all(&c);
	cb_expect(&c, Y, 1, 1, 1);
	cb_close(&c);
}

/* A restore's fence follows the end of what is open, not its first flits. */
static void
a_fence_waits_for_the_end_of_open_packets(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	open_switch(&c);
	cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, X, RL_MARK_LOOP_END);
	cb_advance(&c, c.cfg.resume_delay_ns + 1);
	pkt = cb_packet(&c, IN, 1, F); /* goes round, by Y */
	give(&c, &pkt, 2);
	cb_mark(&c, X, RL_MARK_LINK_UP);
	for (unsigned int i = 2; i < F; i++) {
		cb_tx(&c, Y);
		assert_int_equal(c.fences[Y], 0);
		give(&c, &pkt, 1);
	}
	cb_tx(&c, Y);
	assert_int_equal(c.out[Y].flits, F);
	assert_int_equal(c.fences[Y], 1);
	cb_close(&c);
}

/* One that is cut out of the queue meanwhile keeps no fence waiting. */
static void
a_fence_does_not_wait_for_what_was_cut_out(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	open_switch(&c);
	cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, X, RL_MARK_LOOP_END);
	cb_advance(&c, c.cfg.resume_delay_ns + 1);
	pkt = cb_packet(&c, IN, 1, F);
	give(&c, &pkt, 2);
	cb_mark(&c, X, RL_MARK_LINK_UP);
	close_in(&c, IN, 1);
	cb_tx(&c, Y);
	assert_int_equal(c.out[Y].flits, 0);
	assert_int_equal(c.fences[Y], 1);
	home(&c, pkt);
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("parts follow the first and leave on its VC [LCB-1]",
		     parts_follow_the_first_and_leave_on_its_vc),
		CASE("packets of one VC never mix [LCB-1]",
		     packets_of_one_vc_never_mix),
		CASE("an open packet waits for room for the longest [LCB-1]",
		     an_open_packet_waits_for_room_for_the_longest),
		CASE("a closed packet is cut out where it waits [LCB-2]",
		     a_closed_packet_is_cut_out_where_it_waits),
		CASE("a closed packet that has begun is let go [LCB-2, DRL-3]",
		     a_closed_packet_that_has_begun_is_let_go),
		CASE("an output that dies under a packet costs none of it "
		     "[DRL-1, DRL-4]",
		     an_output_that_dies_under_a_packet_costs_none_of_it),
		CASE("a packet that loops twice is still one [DRL-1, LINK-C30]",
		     a_packet_that_loops_twice_is_still_one),
		CASE("a packet that loops and is closed is cut out [LCB-2]",
		     a_packet_that_loops_and_is_closed_is_cut_out),
		CASE("the rest of a packet given up goes with it [DRL-7]",
		     the_rest_of_a_packet_given_up_goes_with_it),
		CASE("a packet that does not come back is forgotten [DRL-6]",
		     a_packet_that_does_not_come_back_is_forgotten),
		CASE("a fence waits for the end of open packets [DRL-8]",
		     a_fence_waits_for_the_end_of_open_packets),
		CASE("a fence does not wait for what was cut out [DRL-8]",
		     a_fence_does_not_wait_for_what_was_cut_out),
	};

	return cmocka_run_group_tests_name("open packets in a core", tests,
					   NULL, NULL);
}
