/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that wait in a core take nothing from packets with a way [DRL-11]:
 * credits, the budget, which one gives way, how long a full room takes to go
 * on.
 */
#include <time.h>

#include "parts.h"
#include "room_bench.h"

/* Thousands that wait for one port leave the input free for another. */
static void
what_waits_gives_back_its_credits(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 100);
	die(&c, X);
	for (unsigned int i = 0; i < 150; i++) {
		cb_rx(&c, IN, 1, 4);
		assert_int_equal(cb_freed(&c, IN), 4 * (2 * i + 1));
		cb_rx(&c, IN, 4, 4);
		cb_tx(&c, Z);
		assert_int_equal(cb_freed(&c, IN), 4 * (2 * i + 2));
	}
	cb_expect(&c, Z, 4, 0, 149);
	assert_int_equal(c.ndrops, 0);
	assert_int_equal(info(&c).no_way_flits, 600);
	assert_int_equal(info(&c).lent_flits, 600);
	assert_int_equal(rl_core_transit(c.core), 0);
	rise(&c, X);
	cb_tx_all(&c);
	cb_expect(&c, X, 1, 0, 149);
	assert_int_equal(info(&c).lent_flits, 0);
	cb_close(&c);
}

/* The budget to the flit: the oldest without a way make room, and say so. */
static void
the_oldest_without_a_way_give_way(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 4); /* 24 flits of all ports */
	die(&c, X);
	for (unsigned int i = 0; i < 6; i++) {
		cb_rx(&c, IN, 1, 4);
		cb_advance(&c, US);
	}
	assert_int_equal(info(&c).lent_flits, 24);
	assert_int_equal(c.ndrops, 0);
	cb_rx(&c, IN, 1, 1); /* one flit too many */
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].tag, 0);
	assert_int_equal(c.drop[0].why, RL_DROP_NO_PATH);
	assert_int_equal(info(&c).lent_flits, 21);
	cb_mark(&c, Y, RL_MARK_LOOP_BEGIN); /* a way that is coming */
	for (unsigned int i = 0; i < 6; i++)
		cb_rx(&c, IN, 2, 4);
	assert_int_equal(c.ndrops, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(c.drop[i].tag, i);
	assert_int_equal(CB_COUNTER(&c, evicted_packets), 7);
	assert_int_equal(info(&c).lent_flits, 24);
	assert_int_equal(cb_freed(&c, IN), 49);
	cb_close(&c);
}

/* It is counted correctly, and takes no room of others. */
static void
a_packet_that_no_budget_has_room_for_is_reported(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 1); /* 6 flits of all ports */
	die(&c, X);
	cb_rx(&c, IN, 1, 2);
	cb_rx(&c, IN, 1, 7);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].tag, 1);
	assert_int_equal(c.drop[0].why, RL_DROP_NO_PATH);
	assert_int_equal(CB_COUNTER(&c, drop_no_path), 1);
	assert_int_equal(CB_COUNTER(&c, evicted_packets), 1);
	assert_int_equal(info(&c).lent_flits, 2);
	cb_close(&c);
}

/*
 * A packet that waits for a way that is coming is never dropped: backpressure.
 */
static void
beyond_the_budget_a_way_that_is_coming_is_backpressure(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 4);
	cb_mark(&c, Y, RL_MARK_LOOP_BEGIN);
	for (unsigned int i = 0; i < 10; i++)
		cb_rx(&c, IN, 2, 4);
	assert_int_equal(cb_freed(&c, IN), 24);
	assert_int_equal(info(&c).kept_packets, 4);
	assert_int_equal(c.ndrops, 0);
	die(&c, X);
	cb_rx(&c, 4, 1, 2); /* no way, no room, and no right to a credit */
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(cb_freed(&c, 4), 2);
	cb_mark(&c, Y, RL_MARK_LOOP_END);
	rise(&c, Y);
	cb_tx_all(&c);
	cb_expect(&c, Y, 2, 0, 9);
	assert_int_equal(cb_freed(&c, IN), 40);
	assert_int_equal(info(&c).lent_flits, 0);
	assert_int_equal(info(&c).kept_packets, 0);
	cb_close(&c);
}

/* It did not come: credits return after all, the oldest are given up. */
static void
credits_that_were_kept_return_when_the_way_is_lost(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 4);
	cb_mark(&c, Y, RL_MARK_LOOP_BEGIN);
	for (unsigned int i = 0; i < 10; i++)
		cb_rx(&c, IN, 2, 4);
	cb_mark(&c, Y, RL_MARK_LOOP_END);
	cb_advance(&c, c.cfg.resume_delay_ns);
	assert_int_equal(CB_STATE(&c, Y), RL_EGRESS_DEAD);
	assert_int_equal(cb_freed(&c, IN), 40);
	assert_int_equal(c.ndrops, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(c.drop[i].tag, i);
	assert_int_equal(info(&c).lent_flits, 24);
	rise(&c, Y);
	cb_tx_all(&c);
	cb_expect(&c, Y, 2, 4, 9);
	cb_close(&c);
}

/*
 * Flits count against the budget until they have left the core, not only the
 * room.
 */
static void
the_budget_is_paid_back_when_packets_leave(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 16);
	c.full[X] = true;
	die(&c, X);
	for (unsigned int i = 0; i < 10; i++)
		cb_rx(&c, IN, 1, 8);
	rise(&c, X);
	assert_int_equal(info(&c).packets, 0);
	assert_int_equal(info(&c).lent_flits, rl_core_flits(c.core));
	cb_tx(&c, X); /* the port's queue is full */
	assert_int_equal(rl_core_flits(c.core), 80 - 32);
	while (rl_core_flits(c.core) != 0) {
		const uint32_t before = rl_core_flits(c.core);

		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			rl_shared_add(&c.shared[X]->taken[vc],
				      vc == 1 ? 8 : 0);
		cb_tx(&c, X);
		assert_int_equal(rl_core_flits(c.core), before - 8);
		assert_int_equal(info(&c).lent_flits, before - 8);
	}
	c.full[X] = false;
	cb_close(&c);
}

/* The endpoint's own packets wait by the same rules. */
static void
an_endpoint_may_go_on_injecting_while_its_own_wait(void **state)
{
	struct rl_pktq q = { 0 };
	uint32_t room[RL_SLS];
	struct core_bench c;

	(void)state;
	room_open(&c, 4);
	die(&c, X);
	for (uint32_t i = 0; i < 9; i++) {
		rl_pktq_push(&q, cb_packet(&c, RL_PORT_NONE, 1, 4));
		rl_core_inject(c.core, &q, c.now_ns);
		rl_core_inject_room(c.core, 64, room);
		/* beyond the budget its own room shrinks, and no other */
		assert_int_equal(room[1], i < 6 ? 64 : 64 - 4 * (i - 5));
		assert_int_equal(room[0], 64);
	}
	assert_int_equal(c.ndrops, 0);
	while (c.ndrops < 9)
		cb_advance(&c, rl_core_deadline(c.core) - c.now_ns);
	rl_core_inject_room(c.core, 64, room);
	assert_int_equal(room[1], 64);
	assert_int_equal(info(&c).kept_packets, 0);
	assert_int_equal(info(&c).lent_flits, 0);
	cb_close(&c);
}

/* A packet of one flit, to dst from any source. */
static void
give_from(struct core_bench *c, uint16_t src, uint16_t dst)
{
	const struct bench_packet k = { .src = src, .dst = dst, .flits = 1 };
	struct rl_flit *pkt = bench_make(&c->pool, &k);

	pkt->in_port = IN;
	pkt->hops = 1;
	pkt->flags |= RL_FF_CREDIT;
	cb_give(c, IN, pkt);
}

/* [DRL-11] More flows have no way than there are queues for. */
static void
flows_without_a_way_stop_none_that_has_one_however_many_they_are(void **state)
{
	const uint32_t records = 256 * CB_PORTS, more = 60, live = 64;
	struct core_bench c;

	(void)state;
	room_open(&c, 4096);
	die(&c, X);
	for (uint32_t i = 0; i < records; i++)
		give_from(&c, (uint16_t)(100 + i), 1);
	assert_int_equal(c.ndrops, 0);
	for (uint32_t i = 0; i < more; i++)
		give_from(&c, (uint16_t)(5000 + i), 1);
	/* the oldest have been reported for them */
	assert_int_equal(c.ndrops, more);
	assert_int_equal(info(&c).packets, records);
	for (uint32_t i = 0; i < live; i++)
		give_from(&c, (uint16_t)(100 + i), 2);
	cb_tx(&c, Y);
	assert_int_equal(info(&c).packets, records);
	assert_int_equal(c.out[Y].packets, live);
	cb_ack(&c, Y);
	while (info(&c).packets != 0) {
		c.ndrops = 0;
		cb_advance(&c, 100 * US);
	}
	cb_close(&c);
}

static uint64_t
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

/*
 * 16,000 packets of eight flows wait for a port that does not come back, while
 * the next one dies: they all move on to wait there, then go by the third.
 */
static void
a_full_room_goes_on_in_small_steps(void **state)
{
	struct core_bench c;
	uint64_t t, most = 0, all = 0, steps = 0;

	(void)state;
	cb_cfg(&c);
	c.cfg.wait_flits = 4096;
	c.cfg.queue_flits = 32767;
	for (uint16_t d = 0; d < CB_DSTS; d++)
		cb_route(&c, 0, d, PORTS(X, Y, Z));
	cb_open(&c, -1);
	bench_pool_close(&c.pool);
	bench_pool_open(&c.pool, 20000);
	for (uint16_t p = 0; p < CB_PORTS; p++)
		cb_mark(&c, p, RL_MARK_LINK_UP);
	cb_mark(&c, X, RL_MARK_LOOP_BEGIN);
	for (unsigned int i = 0; i < 16000; i++)
		cb_rx(&c, IN, (uint16_t)(i % CB_DSTS), 1);
	assert_int_equal(cb_freed(&c, IN), 16000);
	cb_mark(&c, X, RL_MARK_LOOP_END);
	cb_mark(&c, Y, RL_MARK_LOOP_BEGIN);
	t = cpu_ns();
	cb_advance(&c, c.cfg.resume_delay_ns); /* X is dead: wait for Y */
	t = cpu_ns() - t;
	assert_int_equal(rl_core_held(c.core, Y), 16000);
	print_message("16,000 packets move from one place to another in %llu "
		      "ns\n", (unsigned long long)t);
	cb_mark(&c, Y, RL_MARK_LOOP_END);
	while (CB_STATE(&c, Y) != RL_EGRESS_DEAD || info(&c).packets != 0) {
		const uint64_t before = CB_COUNTER(&c, released_packets);

		t = cpu_ns();
		cb_advance(&c, CB_STATE(&c, Y) != RL_EGRESS_DEAD
				       ? c.cfg.resume_delay_ns : 0);
		t = cpu_ns() - t;
		all += t;
		most = rl_max_u64(most, t);
		steps++;
		assert_true(CB_COUNTER(&c, released_packets) - before <= 288);
		if (steps == 7) /* no packet overtakes those that still wait */
			for (uint16_t d = 0; d < CB_DSTS; d++)
				cb_rx(&c, IN, d, 1);
	}
	print_message("16,000 packets go on in %llu calls, %llu ns in all, "
		      "%llu ns at most in one\n", (unsigned long long)steps,
		      (unsigned long long)all, (unsigned long long)most);
	assert_in_range(steps, 16008 / 288, 16008 / 256 + 2);
	assert_int_equal(info(&c).steps, 0);
	cb_tx_all(&c);
	for (uint16_t d = 0; d < CB_DSTS; d++)
		cb_expect(&c, Z, d, 0, 2000);
	assert_int_equal(c.ndrops, 0);
	cb_close(&c);
}

/* A port is wanted while something waits that it alone could carry. */
static void
the_only_way_is_wanted_as_long_as_something_waits(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 1024);
	die(&c, X);
	cb_rx(&c, IN, 3, 1); /* has another way */
	assert_int_equal(rl_shared_read(&c.shared[X]->wanted), 0);
	rl_core_freed(c.core);
	cb_rx(&c, IN, 1, 1);
	assert_int_equal(rl_shared_read(&c.shared[X]->wanted), 1);
	assert_int_equal(rl_shared_read(&c.shared[Y]->wanted), 0);
	assert_true(rl_core_freed(c.core) & 1u << X); /* hosts poll it */
	rise(&c, X);
	assert_int_equal(rl_shared_read(&c.shared[X]->wanted), 0);
	die(&c, X);
	cb_rx(&c, IN, 1, 1);
	assert_int_equal(rl_shared_read(&c.shared[X]->wanted), 1);
	while (c.ndrops == 0)
		cb_advance(&c, rl_core_deadline(c.core) - c.now_ns);
	assert_int_equal(rl_shared_read(&c.shared[X]->wanted), 0);
	cb_close(&c);
}

/* Also by a port that the present tables do not list. */
static void
every_dead_port_is_wanted_by_what_has_no_way(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 1024);
	die(&c, Z);
	die(&c, X);
	cb_rx(&c, IN, 1, 1);
	assert_int_equal(rl_shared_read(&c.shared[X]->wanted), 1);
	assert_int_equal(rl_shared_read(&c.shared[Z]->wanted), 1);
	assert_int_equal(rl_shared_read(&c.shared[Y]->wanted), 0);
	die(&c, Y); /* it dies while something waits already */
	cb_rx(&c, IN, 2, 1);
	assert_int_equal(rl_shared_read(&c.shared[Y]->wanted), 1);
	cb_close(&c);
}

/* The finding as it was: 100 ns after it came, a packet was given up. */
static void
each_packet_has_a_deadline_of_its_own(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 1024);
	die(&c, X);
	cb_rx(&c, IN, 1, 1);
	cb_advance(&c, c.cfg.no_path_ns - 100);
	cb_rx(&c, IN, 1, 1);
	cb_advance(&c, 100 + c.cfg.no_path_ns / 16);
	assert_int_equal(c.ndrops, 1);
	cb_advance(&c, c.cfg.no_path_ns - 200 - c.cfg.no_path_ns / 16);
	assert_int_equal(c.ndrops, 1);
	cb_advance(&c, 200 + c.cfg.no_path_ns / 16);
	assert_int_equal(c.ndrops, 2);
	/* and no deadline of what has gone is left, once all was looked at */
	cb_advance(&c, 0);
	assert_true(rl_core_deadline(c.core) == RL_NEVER);
	cb_close(&c);
}

/* The answer to a fence that a dead port still owed counts for nothing. */
static void
the_answer_to_an_old_fence_is_not_believed(void **state)
{
	struct core_bench c;

	(void)state;
	room_open(&c, 1024);
	die(&c, X);
	cb_mark(&c, X, RL_MARK_LINK_UP);
	cb_tx(&c, Y); /* the first fence is under way */
	assert_int_equal(c.fences[Y], 1);
	die(&c, Z); /* and a second one is wanted */
	cb_mark(&c, Y, RL_MARK_LOOP_BEGIN);
	cb_tx(&c, Y);
	cb_mark(&c, Y, RL_MARK_FENCE_DONE);
	cb_mark(&c, Y, RL_MARK_LOOP_END);
	assert_false(rl_core_tx_pending(c.core, Y));
	cb_advance(&c, c.cfg.resume_delay_ns);
	assert_false(rl_core_tx_pending(c.core, Y));
	cb_close(&c);
}

/* A middle flit that the peer marked closes nothing: the packet has no end. */
static void
a_marked_flit_without_an_end_closes_nothing(void **state)
{
	struct rl_flit *pkt, *part;
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	c.cfg.switching = RL_CUT_THROUGH;
	c.cfg.max_packet_flits = 16;
	for (uint16_t d = 0; d < CB_DSTS; d++)
		cb_route(&c, 0, d, PORTS(X, Y));
	cb_open(&c, -1);
	for (uint16_t p = 0; p < CB_PORTS; p++)
		cb_mark(&c, p, RL_MARK_LINK_UP);
	pkt = cb_packet(&c, IN, 1, 8);
	part = parts_cut(&pkt, 2);
	cb_give(&c, IN, part);
	part = parts_cut(&pkt, 2);
	part->last->mark = RL_MARK_TRANSMIT_ERROR;
	cb_give(&c, IN, part);
	assert_int_equal(rl_core_flits(c.core), 4);
	assert_int_equal(CB_COUNTER(&c, excised_packets), 0);
	cb_give(&c, IN, pkt);
	cb_tx_all(&c);
	assert_int_equal(c.out[X].flits, 8);
	assert_int_equal(rl_core_flits(c.core), 0);
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[DRL-11] what waits gives back its credits",
		     what_waits_gives_back_its_credits),
		CASE("[DRL-11] the oldest without a way give way",
		     the_oldest_without_a_way_give_way),
		CASE("[DRL-11] a packet that no budget has room for is "
		     "reported",
		     a_packet_that_no_budget_has_room_for_is_reported),
		CASE("[DRL-11] [LCB-3] beyond the budget a way that is coming "
		     "is backpressure",
		     beyond_the_budget_a_way_that_is_coming_is_backpressure),
		CASE("[DRL-11] credits that were kept return when the way is "
		     "lost",
		     credits_that_were_kept_return_when_the_way_is_lost),
		CASE("[DRL-11] the budget is paid back when packets leave",
		     the_budget_is_paid_back_when_packets_leave),
		CASE("[DRL-11] an endpoint may go on injecting while its own "
		     "wait",
		     an_endpoint_may_go_on_injecting_while_its_own_wait),
		CASE("[DRL-11] flows without a way stop none that has one",
		     flows_without_a_way_stop_none_that_has_one_however_many_they_are),
		CASE("[DRL-11] a full room goes on in small steps",
		     a_full_room_goes_on_in_small_steps),
		CASE("[DRL-8] the only way is wanted as long as something "
		     "waits",
		     the_only_way_is_wanted_as_long_as_something_waits),
		CASE("[DRL-8] every dead port is wanted by what has no way",
		     every_dead_port_is_wanted_by_what_has_no_way),
		CASE("[DRL-7] each packet has a deadline of its own",
		     each_packet_has_a_deadline_of_its_own),
		CASE("[DRL-8] the answer to an old fence is not believed",
		     the_answer_to_an_old_fence_is_not_believed),
		CASE("[LCB-2] a marked flit without an end closes nothing",
		     a_marked_flit_without_an_end_closes_nothing),
	};

	return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
