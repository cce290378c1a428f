/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adaptive plane [ROUTE-9, SW-4]: a packet takes the port with the most room
 * of those that lead nearer; if none has room it leaves by the tables, and stays
 * there. To destination 0 ports 3 and 4 lead nearer, and the tables to port 5.
 */
#include "core_bench.h"

#define VL 7
#define PORTS(...)                                                             \
	(const uint16_t[]){ __VA_ARGS__ },                                     \
		sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)

static uint64_t near[CB_DSTS];
static uint64_t longer[CB_DSTS];
static uint8_t links[CB_DSTS];
static bool parallel; /* ports 5, 1 and 2 */

static void
open_adapt(struct core_bench *c, int ep)
{
	cb_cfg(c);
	c->cfg.queue_flits = 16;
	memset(near, 0, sizeof(near));
	near[0] = 1u << 3 | 1u << 4;
	c->fwd.adapt = near;
	c->fwd.adapt_vl = VL;
	c->fwd.adapt_sls = 1;
	cb_route(c, 0, 0, PORTS(5));
	c->fwd.grouped = parallel;
	c->beside[5] = parallel ? 1 : 5;
	c->beside[1] = parallel ? 2 : 1;
	c->beside[2] = parallel ? 5 : 2;
	cb_open(c, ep);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(c, i, RL_MARK_LINK_UP);
}

/* A packet of 4 flits for 0 arrives by port 0, on a VL. */
static void
give(struct core_bench *c, uint8_t vl)
{
	struct rl_flit *pkt = cb_packet(c, 0, 0, 4);

	for (struct rl_flit *f = pkt; f != NULL; f = f->next)
		f->in_vc = vl;
	cb_give(c, 0, pkt);
	cb_tx_all(c);
}

/* How many packets a port got, all on one VL. */
static unsigned int
got(const struct core_bench *c, uint16_t port, uint8_t vl)
{
	unsigned int n = 0;

	for (struct rl_flit *p = c->out[port].head; p != NULL; p = p->next_pkt) {
		assert_int_equal(p->vc, vl);
		n++;
	}
	return n;
}

static void
the_port_with_the_most_room_is_taken(void **state)
{
	struct core_bench c;

	(void)state;
	open_adapt(&c, -1);
	c.full[3] = c.full[4] = true; /* what is there stays there */
	for (unsigned int i = 0; i < 8; i++) {
		give(&c, VL);
		assert_in_range(got(&c, 3, VL) - got(&c, 4, VL) + 1, 0, 2);
	}
	assert_int_equal(got(&c, 3, VL), 4);
	assert_int_equal(got(&c, 4, VL), 4);
	assert_int_equal(got(&c, 5, 0), 0);
	cb_close(&c);
}

static void
a_packet_that_finds_no_room_leaves_by_the_tables_and_does_not_wait(void **state)
{
	struct core_bench c;

	(void)state;
	open_adapt(&c, -1);
	c.full[3] = c.full[4] = true;
	for (unsigned int i = 0; i < 11; i++)
		give(&c, VL);
	assert_int_equal(got(&c, 5, 0), 3);
	assert_int_equal(CB_COUNTER(&c, adaptive_packets), 8);
	assert_int_equal(CB_COUNTER(&c, escaped_packets), 3);
	assert_int_equal(cb_freed(&c, 0), 44); /* none keeps a credit */
	cb_close(&c);
}

static void
a_packet_on_the_tables_never_comes_back(void **state)
{
	struct core_bench c;

	(void)state;
	open_adapt(&c, -1);
	for (unsigned int i = 0; i < 4; i++)
		give(&c, 0);
	assert_int_equal(got(&c, 5, 0), 4);
	assert_int_equal(CB_COUNTER(&c, adaptive_packets), 0);
	cb_close(&c);
}

static void
the_tables_may_lead_back_where_it_came_from(void **state)
{
	struct core_bench c;

	(void)state;
	open_adapt(&c, -1);
	cb_route(&c, 0, 0, PORTS(0));
	c.full[3] = c.full[4] = true;
	for (unsigned int i = 0; i < 9; i++)
		give(&c, VL);
	assert_int_equal(got(&c, 0, 0), 1);
	cb_close(&c);
}

/* Nor is anything held: what loops out goes on at once. */
static void
a_dead_port_is_not_taken(void **state)
{
	struct core_bench c;

	(void)state;
	open_adapt(&c, -1);
	for (unsigned int i = 0; i < 6; i++)
		give(&c, VL);
	assert_int_equal(got(&c, 3, VL) + got(&c, 4, VL), 6);
	cb_ack(&c, 4);
	cb_mark(&c, 3, RL_MARK_LOOP_BEGIN);
	give(&c, VL);
	while (got(&c, 3, VL) != 0) {
		cb_loop(&c, 3, 1);
		cb_tx_all(&c);
	}
	assert_int_equal(got(&c, 5, 0), 0);
	assert_int_equal(CB_COUNTER(&c, adaptive_packets),
			 6 + got(&c, 4, VL));
	assert_true(got(&c, 4, VL) > 2);
	assert_int_equal(CB_COUNTER(&c, held_packets), 0);
	cb_mark(&c, 4, RL_MARK_LOOP_BEGIN);
	give(&c, VL);
	assert_int_equal(got(&c, 5, 0), 1);
	cb_close(&c);
}

/* The tables lead to a dead port, and the plane is full but alive. */
static void
a_packet_that_can_only_wait_for_the_plane_gets_its_turn(void **state)
{
	struct core_bench c;

	(void)state;
	open_adapt(&c, -1);
	c.full[3] = c.full[4] = true;
	for (unsigned int i = 0; i < 8; i++)
		give(&c, VL);
	cb_mark(&c, 5, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, 5, RL_MARK_LOOP_END);
	give(&c, VL);
	for (unsigned int i = 0; i < 40; i++) /* four times no_path_ns */
		cb_advance(&c, c.cfg.no_path_ns / 10);
	assert_int_equal(c.ndrops, 0);
	assert_int_equal(cb_freed(&c, 0), 36);
	assert_int_equal(got(&c, 3, VL) + got(&c, 4, VL), 8);
	rl_shared_add(&c.shared[4]->taken[VL], 4); /* a packet leaves */
	cb_advance(&c, 1000);
	cb_tx_all(&c);
	assert_int_equal(CB_COUNTER(&c, adaptive_packets), 9);
	assert_int_equal(c.ndrops, 0);
	cb_close(&c);
}

/* An endpoint waits for the plane: what it injects holds no input buffer. */
static void
an_endpoint_sends_on_the_plane_what_does_not_keep_to_the_tables(void **state)
{
	struct rl_pktq q = { 0 };
	struct core_bench c;

	(void)state;
	open_adapt(&c, 6);
	near[0] = 1u << 3;
	for (unsigned int i = 0; i < 8; i++) {
		struct rl_flit *pkt = cb_packet(&c, RL_PORT_NONE, 0, 4);

		if (i == 0)
			pkt->class = RL_CLASS_CTRL;
		if (i == 1)
			pkt->flags |= RL_FF_TABLES;
		rl_pktq_push(&q, pkt);
	}
	c.full[3] = true;
	rl_core_inject(c.core, &q, c.now_ns);
	cb_tx_all(&c);
	assert_int_equal(got(&c, 3, VL), 4);
	assert_int_equal(got(&c, 5, 0), 2);
	assert_int_equal(CB_COUNTER(&c, adaptive_packets), 6);
	cb_close(&c);
}

/* Of the ports to 0 only port 2 is alive. It is taken, until it may come back. */
static void
check_the_last_port(struct core_bench *c)
{
	give(c, 0);
	assert_int_equal(got(c, 2, 0), 1);
	assert_int_equal(CB_COUNTER(c, held_packets), 0);
	cb_mark(c, 2, RL_MARK_LOOP_BEGIN);
	give(c, 0);
	assert_int_equal(CB_COUNTER(c, held_packets), 1);
	cb_close(c);
}

/* Here receivers restore the order, so a packet need not wait for a port. */
static void
nothing_waits_for_a_port_while_another_one_is_alive(void **state)
{
	struct core_bench c;

	(void)state;
	open_adapt(&c, -1);
	cb_route(&c, 0, 0, PORTS(5, 1, 2));
	cb_mark(&c, 5, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	check_the_last_port(&c);
	/* nor for one of parallel links, which the tables do not list */
	parallel = true;
	open_adapt(&c, -1);
	cb_mark(&c, 5, RL_MARK_LOOP_BEGIN);
	give(&c, 0);
	assert_int_equal(got(&c, 1, 0), 1);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	check_the_last_port(&c);
	parallel = false;
}

/* To 0, two links away, a packet from port 0 may begin by port 2, too. */
static void
open_longer(struct core_bench *c)
{
	open_adapt(c, -1);
	memset(links, 0, sizeof(links));
	links[0] = 2;
	c->fwd.adapt_links = links;
	c->fwd.adapt_ends = 1u << 0;
	memset(longer, 0, sizeof(longer));
	longer[0] = 1u << 2;
	c->fwd.adapt_longer = longer;
	c->full[2] = c->full[3] = c->full[4] = true;
}

/*
 * A queue has room for 16 flits, of which one does not count: (4 + 0) links times
 * (1 + 0) flits are less than 2 links times 4.
 */
static void
a_longer_way_is_begun_where_its_queue_is_shorter_by_more(void **state)
{
	static const unsigned int want[] = { 0, 0, 1, 1, 1, 1, 1, 2, 2, 2 };
	struct core_bench c;

	(void)state;
	open_longer(&c);
	near[0] = 1u << 3 | 1u << 4;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(want); i++) {
		give(&c, VL);
		assert_int_equal(got(&c, 2, VL), want[i]);
	}
	assert_int_equal(CB_COUNTER(&c, adaptive_packets),
			 RL_ARRAY_SIZE(want));
	assert_int_equal(CB_COUNTER(&c, nonminimal_packets), 2);
	/* 2 links times 16 flits are less than 4 times 9 */
	give(&c, VL);
	assert_int_equal(CB_COUNTER(&c, escaped_packets), 1);
	cb_close(&c);
}

/* Exactly as long: 2 links times 10 flits are 4 times 5; one more flit is more. */
static void
ways_that_are_equal_are_shortest(void **state)
{
	struct core_bench c;

	(void)state;
	open_longer(&c);
	near[0] = 1u << 3;
	rl_shared_add(&c.shared[3]->taken[VL], (uint32_t)-10);
	rl_shared_add(&c.shared[2]->taken[VL], (uint32_t)-4);
	give(&c, VL);
	assert_int_equal(got(&c, 2, VL), 0);
	rl_shared_add(&c.shared[3]->taken[VL], 3);
	give(&c, VL);
	assert_int_equal(got(&c, 2, VL), 1);
	cb_close(&c);
}

static void
only_packets_of_own_endpoints_begin_a_longer_way(void **state)
{
	struct core_bench c;

	(void)state;
	open_longer(&c);
	c.fwd.adapt_ends = 1u << 1;
	for (unsigned int i = 0; i < 11; i++)
		give(&c, VL);
	assert_int_equal(got(&c, 2, VL), 0);
	assert_int_equal(got(&c, 5, 0), 3);
	cb_close(&c);
	open_longer(&c);
	links[0] = 0; /* not to this destination */
	for (unsigned int i = 0; i < 11; i++)
		give(&c, VL);
	assert_int_equal(got(&c, 2, VL), 0);
	cb_close(&c);
}

/* The nearest switches might lead right back. */
static void
no_longer_way_is_begun_if_no_port_leads_nearer(void **state)
{
	struct core_bench c;

	(void)state;
	open_longer(&c);
	for (uint16_t port = 3; port < 5; port++) {
		cb_mark(&c, port, RL_MARK_LOOP_BEGIN);
		cb_mark(&c, port, RL_MARK_LOOP_END);
	}
	give(&c, VL);
	assert_int_equal(got(&c, 2, VL), 0);
	assert_int_equal(got(&c, 5, 0), 1);
	cb_close(&c);
}

/* After a hop that is not minimal, the way back may be one of the shortest. */
static void
no_packet_goes_back_where_it_came_from(void **state)
{
	struct core_bench c;

	(void)state;
	open_adapt(&c, -1);
	near[0] = 1u << 0 | 1u << 3;
	c.full[3] = true;
	for (unsigned int i = 0; i < 5; i++)
		give(&c, VL);
	assert_int_equal(got(&c, 0, VL), 0);
	assert_int_equal(got(&c, 3, VL), 4);
	assert_int_equal(got(&c, 5, 0), 1);
	cb_close(&c);
}

/* Nor by a link beside the one it came by. */
static void
no_packet_goes_back_by_a_parallel_link(void **state)
{
	struct core_bench c;

	(void)state;
	parallel = true;
	open_adapt(&c, -1);
	parallel = false;
	near[0] = 1u << 1 | 1u << 2 | 1u << 3;
	c.full[1] = c.full[2] = c.full[3] = true;
	for (unsigned int i = 0; i < 4; i++) {
		struct rl_flit *pkt = cb_packet(&c, 5, 0, 4);

		for (struct rl_flit *f = pkt; f != NULL; f = f->next)
			f->in_vc = VL;
		cb_give(&c, 5, pkt);
		cb_tx_all(&c);
	}
	assert_int_equal(got(&c, 1, VL) + got(&c, 2, VL), 0);
	assert_int_equal(got(&c, 3, VL), 4);
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_port_with_the_most_room_is_taken),
		cmocka_unit_test(
			a_packet_that_finds_no_room_leaves_by_the_tables_and_does_not_wait),
		cmocka_unit_test(a_packet_on_the_tables_never_comes_back),
		cmocka_unit_test(the_tables_may_lead_back_where_it_came_from),
		cmocka_unit_test(a_dead_port_is_not_taken),
		cmocka_unit_test(
			a_packet_that_can_only_wait_for_the_plane_gets_its_turn),
		cmocka_unit_test(
			an_endpoint_sends_on_the_plane_what_does_not_keep_to_the_tables),
		cmocka_unit_test(
			nothing_waits_for_a_port_while_another_one_is_alive),
		cmocka_unit_test(
			a_longer_way_is_begun_where_its_queue_is_shorter_by_more),
		cmocka_unit_test(ways_that_are_equal_are_shortest),
		cmocka_unit_test(
			only_packets_of_own_endpoints_begin_a_longer_way),
		cmocka_unit_test(
			no_longer_way_is_begun_if_no_port_leads_nearer),
		cmocka_unit_test(no_packet_goes_back_where_it_came_from),
		cmocka_unit_test(no_packet_goes_back_by_a_parallel_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
