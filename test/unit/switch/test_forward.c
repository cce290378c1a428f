/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookup, queues and credits of a core whose links all live [SW-1]. */
#include "core_bench.h"

#define PORTS(...)                                                             \
	(const uint16_t[]){ __VA_ARGS__ },                                     \
		sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)

static void
open_alive(struct core_bench *c, int ep)
{
	cb_open(c, ep);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(c, i, RL_MARK_LINK_UP);
}

static void
a_packet_takes_its_first_next_hop(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 1, PORTS(1, 2));
	cb_route(&c, 0, 2, PORTS(2, 1));
	open_alive(&c, -1);
	for (unsigned int i = 0; i < 5; i++) {
		cb_rx(&c, 0, 1, 3);
		cb_rx(&c, 0, 2, 1 + i);
	}
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 0, 4);
	cb_expect(&c, 2, 2, 0, 4);
	assert_int_equal(cb_freed(&c, 0), 30);
	assert_int_equal(CB_COUNTER(&c, rerouted_packets), 0);
	assert_int_equal(CB_COUNTER(&c, rx_packets), 10);
	assert_int_equal(CB_COUNTER(&c, tx_packets), 10);
	assert_int_equal(CB_COUNTER(&c, tx_flits), 30);
	assert_true(rl_core_idle(c.core));
	assert_int_equal(rl_core_freed(c.core), 1);
	assert_int_equal(rl_core_freed(c.core), 0);
	assert_int_equal(rl_core_given(c.core), 1u << 1 | 1u << 2);
	assert_int_equal(rl_core_given(c.core), 0);
	cb_close(&c);
}

static void
an_unknown_or_unreachable_destination_is_reported(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	cb_cfg(&c);
	open_alive(&c, -1);
	cb_rx(&c, 0, 3, 2); /* no next hop */
	pkt = cb_packet(&c, 0, 1, 2);
	pkt->dst = CB_DSTS; /* no such destination */
	cb_give(&c, 0, pkt);
	pkt = cb_packet(&c, 0, 1, 2);
	pkt->dst = 65535;
	cb_give(&c, 0, pkt);
	assert_int_equal(c.ndrops, 3);
	assert_int_equal(c.drop[0].why, RL_DROP_NO_PATH);
	/* no endpoint sends to those: their address was altered [EP-8] */
	assert_int_equal(c.drop[1].why, RL_DROP_ADDRESS);
	assert_int_equal(c.drop[2].why, RL_DROP_ADDRESS);
	assert_int_equal(CB_COUNTER(&c, drop_no_path), 1);
	assert_int_equal(CB_COUNTER(&c, drop_address), 2);
	assert_int_equal(cb_freed(&c, 0), 6);
	cb_close(&c);
}

/* An egress queue is bounded: the rest waits in the core, and its credits. */
static void
the_core_keeps_within_the_ports_queue(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	c.cfg.queue_flits = 32;
	cb_route(&c, 0, 1, PORTS(1));
	open_alive(&c, -1);
	c.full[1] = true;
	for (unsigned int i = 0; i < 10; i++)
		cb_rx(&c, 0, 1, 5);
	cb_tx(&c, 1);
	assert_int_equal(c.out[1].flits, 30); /* 35 would be too many */
	assert_int_equal(cb_freed(&c, 0), 30);
	assert_int_equal(rl_core_flits(c.core), 20);
	assert_true(rl_core_tx_pending(c.core, 1));
	rl_shared_add(&c.shared[1]->taken[1], 2);
	cb_tx(&c, 1);
	assert_int_equal(c.out[1].flits, 30); /* 33 is one too many */
	rl_shared_add(&c.shared[1]->taken[1], 1);
	cb_tx(&c, 1);
	assert_int_equal(c.out[1].flits, 35);
	rl_shared_add(&c.shared[1]->taken[1], 32);
	cb_tx(&c, 1);
	cb_expect(&c, 1, 1, 0, 9);
	cb_close(&c);
}

/* N inputs to one output: nothing is dropped, and all take turns. */
static void
an_incast_of_five_to_one_loses_nothing(void **state)
{
	struct core_bench c;
	uint32_t from[CB_PORTS] = { 0 };

	(void)state;
	cb_cfg(&c);
	for (uint16_t d = 0; d < CB_DSTS; d++)
		cb_route(&c, 0, d, PORTS(5));
	open_alive(&c, -1);
	c.full[5] = true;
	for (unsigned int i = 0; i < 50; i++)
		for (uint16_t p = 0; p < 5; p++)
			cb_rx(&c, p, p, 4);
	for (unsigned int n = 0; n < 1000 && rl_core_flits(c.core) != 0; n++) {
		cb_tx(&c, 5);
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			rl_shared_add(&c.shared[5]->taken[vc],
				      n % 3 == vc ? 4 : 0);
	}
	assert_int_equal(c.out[5].packets, 250);
	assert_int_equal(c.ndrops, 0);
	for (uint16_t p = 0; p < 5; p++) {
		cb_expect(&c, 5, p, 0, 49);
		from[p] = cb_freed(&c, p);
		assert_int_equal(from[p], 200);
	}
	cb_close(&c);
}

static void
a_full_vc_does_not_stop_the_others(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 0, PORTS(1));
	cb_route(&c, 0, 1, PORTS(1));
	open_alive(&c, -1);
	c.full[1] = true;
	for (unsigned int i = 0; i < 200; i++)
		cb_rx(&c, 0, 0, 4); /* VL 0 */
	cb_tx(&c, 1);
	assert_int_equal(c.out[1].flits, 128);
	c.full[1] = false;
	for (unsigned int i = 0; i < 100; i++)
		cb_rx(&c, 2, 1, 4); /* VL 1 */
	cb_tx(&c, 1);
	cb_expect(&c, 1, 1, 0, 99);
	assert_int_equal(c.out[1].flits, 128 + 400);
	cb_close(&c);
}

/* Never back where it came from, unless the table changes its plane. */
static void
a_packet_does_not_go_back_on_its_plane(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	cb_cfg(&c);
	c.fwd.nplanes = 2;
	cb_route(&c, 0, 1, PORTS(1, 2));
	cb_route(&c, 0, 2, PORTS(1));
	c.entry[0][2].hop[0].plane = 1; /* a detour back is allowed */
	cb_route(&c, 1, 1, PORTS(3));
	c.fwd.plane_of[7][1] = 1; /* VL 7, SL 1 */
	open_alive(&c, -1);
	cb_rx(&c, 1, 1, 2);
	cb_rx(&c, 1, 2, 2);
	pkt = cb_packet(&c, 0, 1, 2);
	pkt->in_vc = 7;
	cb_give(&c, 0, pkt);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 0);
	cb_expect(&c, 1, 2, 0, 0);
	cb_expect(&c, 3, 1, 1, 1); /* the plane came from its VL and SL */
	assert_int_equal(CB_COUNTER(&c, rerouted_packets), 1);
	cb_close(&c);
}

static void
a_packet_that_crossed_too_many_links_is_reported(void **state)
{
	static const struct {
		uint8_t hops;
		bool dropped;
	} h[] = { { 1, false }, { 125, false }, { 126, false },
		  { 127, true }, { 128, true }, { 255, true } };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(h); i++) {
		struct core_bench c;
		struct rl_flit *pkt;

		cb_cfg(&c);
		cb_route(&c, 0, 1, PORTS(1));
		open_alive(&c, -1);
		pkt = cb_packet(&c, 0, 1, 3);
		pkt->hops = h[i].hops;
		cb_give(&c, 0, pkt);
		cb_tx_all(&c);
		assert_int_equal(c.out[1].packets, !h[i].dropped);
		assert_int_equal(CB_COUNTER(&c, drop_hops), h[i].dropped);
		assert_int_equal(c.ndrops, h[i].dropped);
		if (h[i].dropped)
			assert_int_equal(c.drop[0].why, RL_DROP_HOPS);
		assert_int_equal(cb_freed(&c, 0), 3);
		cb_close(&c);
	}
}

static void
an_endpoint_takes_its_own_and_frees_their_credits(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	cb_cfg(&c);
	open_alive(&c, 4);
	cb_rx(&c, 0, 4, 3);
	cb_rx(&c, 1, 4, 2);
	assert_int_equal(cb_freed(&c, 0), 0);
	assert_false(rl_core_idle(c.core));
	for (uint32_t i = 0; i < 2; i++) {
		pkt = rl_core_local(c.core);
		assert_non_null(pkt);
		assert_int_equal(rl_flit_tag(pkt->wire), i);
		assert_int_equal(cb_freed(&c, (uint16_t)i), 3 - i);
		rl_packet_put(&c.pool.cache, pkt);
	}
	assert_null(rl_core_local(c.core));
	cb_close(&c);
}

/* A foreign packet goes out again once, marked; the second time it ends. */
static void
a_misrouted_packet_is_reflected_once(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 2, PORTS(0, 1));
	open_alive(&c, 4);
	cb_rx(&c, 0, 2, 3);
	cb_tx_all(&c);
	cb_expect(&c, 1, 2, 0, 0); /* not where it came from */
	for (const struct rl_flit *f = c.out[1].head; f != NULL; f = f->next)
		assert_true(f->flags & RL_FF_REFLECTED);
	assert_int_equal(CB_COUNTER(&c, reflected_packets), 1);
	pkt = cb_packet(&c, 1, 2, 3);
	pkt->flags |= RL_FF_REFLECTED;
	cb_give(&c, 1, pkt);
	cb_tx_all(&c);
	assert_int_equal(c.out[0].packets, 0);
	assert_int_equal(CB_COUNTER(&c, drop_misroute), 1);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].why, RL_DROP_MISROUTE);
	/* reflected by another, but ours: taken */
	pkt = cb_packet(&c, 1, 4, 3);
	pkt->flags |= RL_FF_REFLECTED;
	cb_give(&c, 1, pkt);
	assert_int_equal(CB_COUNTER(&c, local_packets), 1);
	cb_close(&c);
}

/* Of the service level that this bench gives to packets for a destination. */
static uint32_t
inject_room(struct core_bench *c, uint16_t dst, uint32_t limit_flits)
{
	uint32_t room[RL_SLS];

	rl_core_inject_room(c->core, limit_flits, room);
	return room[dst % 3];
}

/*
 * A level whose VL is blocked keeps its flits here, and no others wait for
 * that: without end-to-end room of its own a blocked VC would stop them all.
 */
static void
what_is_injected_takes_no_room_of_other_levels(void **state)
{
	struct core_bench c;
	struct rl_pktq q = { 0 };

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 1, PORTS(1));
	open_alive(&c, 4);
	c.full[1] = true;
	for (unsigned int i = 0; i < 80; i++)
		rl_pktq_push(&q, cb_packet(&c, RL_PORT_NONE, 1, 5));
	rl_core_inject(c.core, &q, c.now_ns);
	cb_tx(&c, 1); /* the port's queue takes 128 flits of the 400 */
	assert_int_equal(inject_room(&c, 1, 256), 0);
	assert_int_equal(inject_room(&c, 0, 256), 256);
	assert_int_equal(inject_room(&c, 2, 256), 256);
	cb_close(&c);
}

/* A receiver that stops taking a VC: its packets wait, with their credits. */
static void
an_endpoint_that_holds_a_vc_takes_the_others_and_later_all_in_order(
	void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	cb_cfg(&c);
	open_alive(&c, 4);
	rl_core_hold_local(c.core, 1u << 2);
	for (unsigned int i = 0; i < 6; i++) {
		pkt = cb_packet(&c, 1, 4, 2);
		pkt->in_vc = pkt->next->in_vc = i % 2 == 0 ? 2 : 5;
		cb_give(&c, 1, pkt);
	}
	for (unsigned int tag = 1; tag < 6; tag += 2) {
		pkt = rl_core_local(c.core);
		assert_non_null(pkt);
		assert_int_equal(rl_flit_tag(pkt->wire), tag);
		rl_packet_put(&c.pool.cache, pkt);
	}
	assert_null(rl_core_local(c.core));
	assert_int_equal(cb_freed(&c, 1), 6); /* of the others alone */
	assert_int_equal(rl_core_flits(c.core), 6);
	assert_false(rl_core_idle(c.core));
	pkt = cb_packet(&c, 1, 4, 2); /* tag 6, behind what is held */
	pkt->in_vc = pkt->next->in_vc = 2;
	cb_give(&c, 1, pkt);
	rl_core_hold_local(c.core, 0);
	for (unsigned int tag = 0; tag <= 6; tag += 2) {
		pkt = rl_core_local(c.core);
		assert_non_null(pkt);
		assert_int_equal(rl_flit_tag(pkt->wire), tag);
		rl_packet_put(&c.pool.cache, pkt);
	}
	assert_int_equal(cb_freed(&c, 1), 14);
	assert_int_equal(rl_core_flits(c.core), 0);
	cb_close(&c);
}

static void
what_is_injected_counts_until_it_leaves(void **state)
{
	struct core_bench c;
	struct rl_pktq q = { 0 };

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 1, PORTS(1));
	open_alive(&c, 4);
	c.full[1] = true;
	assert_int_equal(inject_room(&c, 1, 256), 256);
	for (unsigned int i = 0; i < 40; i++)
		rl_pktq_push(&q, cb_packet(&c, 3, 1, 5)); /* stale in_port */
	rl_core_inject(c.core, &q, c.now_ns);
	assert_true(rl_pktq_empty(&q));
	assert_int_equal(inject_room(&c, 1, 256), 56);
	assert_int_equal(inject_room(&c, 1, 200), 0);
	assert_int_equal(inject_room(&c, 1, 100), 0);
	cb_tx(&c, 1);
	assert_int_equal(inject_room(&c, 1, 256), 56 + 125);
	rl_shared_add(&c.shared[1]->taken[1], 125);
	cb_tx(&c, 1);
	assert_int_equal(inject_room(&c, 1, 256), 256);
	cb_expect(&c, 1, 1, 0, 39);
	/* dropped packets have left, too */
	rl_pktq_push(&q, cb_packet(&c, 0, 7, 5));
	rl_core_inject(c.core, &q, c.now_ns);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(inject_room(&c, 1, 256), 256);
	assert_int_equal(cb_freed(&c, 3), 0); /* and no port gets credits */
	cb_close(&c);
}

/* A burst smaller than what waits: order is kept from call to call. */
static void
bursts_of_any_size_give_the_same_order(void **state)
{
	(void)state;
	for (unsigned int burst = 1; burst <= 9; burst++) {
		struct core_bench c;
		struct rl_flit *out[9];
		uint32_t next[3] = { 0 };
		unsigned int n;

		cb_cfg(&c);
		for (uint16_t d = 0; d < 3; d++)
			cb_route(&c, 0, d, PORTS(1));
		open_alive(&c, -1);
		for (unsigned int i = 0; i < 12; i++)
			cb_rx(&c, 0, (uint16_t)(i % 3), 2);
		while ((n = rl_core_tx(c.core, 1, out, burst)) != 0) {
			assert_true(n <= burst);
			for (unsigned int i = 0; i < n; i++) {
				assert_int_equal(rl_flit_tag(out[i]->wire),
						 next[out[i]->dst]++);
				rl_packet_put(&c.pool.cache, out[i]);
			}
		}
		for (unsigned int d = 0; d < 3; d++)
			assert_int_equal(next[d], 4);
		cb_close(&c);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_takes_its_first_next_hop),
		CASE("[DRL-7] an unknown or unreachable destination is "
		     "reported",
		     an_unknown_or_unreachable_destination_is_reported),
		CASE("LINK-C18 the core keeps within the port's queue",
		     the_core_keeps_within_the_ports_queue),
		CASE("LINK-C26 an incast of five to one loses nothing",
		     an_incast_of_five_to_one_loses_nothing),
		CASE("LINK-C26 a full VC does not stop the others",
		     a_full_vc_does_not_stop_the_others),
		cmocka_unit_test(a_packet_does_not_go_back_on_its_plane),
		CASE("[DRL-2] a packet that crossed too many links is "
		     "reported",
		     a_packet_that_crossed_too_many_links_is_reported),
		cmocka_unit_test(
			an_endpoint_takes_its_own_and_frees_their_credits),
		CASE("LINK-C31 [DRL-10] a misrouted packet is reflected once",
		     a_misrouted_packet_is_reflected_once),
		cmocka_unit_test(what_is_injected_counts_until_it_leaves),
		CASE("LINK-C26 what is injected takes no room of other levels",
		     what_is_injected_takes_no_room_of_other_levels),
		CASE("LINK-C26 an endpoint that holds a VC takes the others, "
		     "and later all in order",
		     an_endpoint_that_holds_a_vc_takes_the_others_and_later_all_in_order),
		cmocka_unit_test(bursts_of_any_size_give_the_same_order),
	};

	return cmocka_run_group_tests_name("forward", tests, NULL, NULL);
}
