/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link returns: what went round must be across before anything takes the
 * short way again [DRL-8]. And the duplicate filter [DRL-5].
 */
#include "core_bench.h"

#define PORTS(...)                                                             \
	(const uint16_t[]){ __VA_ARGS__ },                                     \
		sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)
#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

static void
open_routes(struct core_bench *c)
{
	cb_route(c, 0, 1, PORTS(1, 2));
	cb_route(c, 0, 2, PORTS(2, 1));
	cb_open(c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(c, i, RL_MARK_LINK_UP);
}

static void
dies(struct core_bench *c, uint16_t port)
{
	cb_mark(c, port, RL_MARK_LOOP_BEGIN);
	cb_tx(c, port);
	cb_mark(c, port, RL_MARK_LOOP_END);
	cb_advance(c, c->cfg.resume_delay_ns);
	assert_int_equal(CB_STATE(c, port), RL_EGRESS_DEAD);
}

/* Gives the fences to all ports but one and answers them. */
static void
answer_fences(struct core_bench *c, int but)
{
	for (uint16_t i = 0; i < CB_PORTS; i++) {
		if (i == but)
			continue;
		c->fences[i] = 0;
		cb_tx(c, i);
		if (c->fences[i] != 0)
			cb_mark(c, i, RL_MARK_FENCE_DONE);
	}
	cb_advance(c, 0);
}

static void
traffic_returns_after_the_fences_and_the_delay(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	dies(&c, 1);
	for (unsigned int i = 0; i < 5; i++)
		cb_rx(&c, 0, 1, 2);
	cb_tx(&c, 2);
	cb_mark(&c, 1, RL_MARK_LINK_UP);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_RESTORE);
	cb_rx(&c, 0, 1, 2); /* 5: held */
	cb_rx(&c, 0, 2, 2); /* by 2, as ever */
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 4);
	cb_expect(&c, 2, 2, 0, 0);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		assert_int_equal(c.fences[i], i != 1);
	/* all but the one that matters */
	for (uint16_t i = 0; i < CB_PORTS; i++)
		if (i != 1 && i != 2)
			cb_mark(&c, i, RL_MARK_FENCE_DONE);
	cb_advance(&c, 500 * US);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_RESTORE);
	cb_mark(&c, 2, RL_MARK_FENCE_DONE);
	assert_true(rl_core_deadline(c.core) <= c.now_ns);
	cb_advance(&c, 0);
	assert_int_equal(rl_core_deadline(c.core), c.now_ns + 50 * US);
	cb_advance(&c, 50 * US - 1);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_RESTORE);
	cb_advance(&c, 1);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_ALIVE);
	cb_rx(&c, 0, 1, 2); /* 6 */
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 5, 6);
	assert_int_equal(CB_COUNTER(&c, restores), 1);
	assert_int_equal(CB_COUNTER(&c, restore_timeouts), 0);
	cb_close(&c);
}

/* The fence follows what was queued in the core when it was wanted. */
static void
a_fence_follows_what_was_queued_and_not_what_comes(void **state)
{
	struct core_bench c;
	struct rl_flit *out[1];

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	dies(&c, 1);
	for (unsigned int i = 0; i < 3; i++)
		cb_rx(&c, 0, 1, 2); /* VL 1 of port 2 */
	cb_mark(&c, 1, RL_MARK_LINK_UP);
	for (unsigned int i = 0; i < 3; i++)
		cb_rx(&c, 0, 2, 2); /* VL 2 of port 2, after it */
	for (unsigned int i = 0; i < 7; i++) {
		unsigned int mine = 0;

		assert_int_equal(rl_core_tx(c.core, 2, out, 1), 1);
		if (rl_pipe_is_mark(out[0]) == RL_MARK_FENCE) {
			for (const struct rl_flit *p = c.out[2].head;
			     p != NULL; p = p->next_pkt)
				mine += p->dst == 1;
			assert_int_equal(mine, 3);
			c.fences[2]++;
			continue;
		}
		rl_shared_add(&c.shared[2]->taken[out[0]->vc], 2);
		rl_pktq_push(&c.out[2], out[0]);
	}
	assert_int_equal(c.fences[2], 1);
	assert_int_equal(c.out[2].packets, 6);
	cb_close(&c);
}

/* A fence that does not come back: bounded, counted, and traffic returns. */
static void
a_restore_does_not_wait_for_ever(void **state)
{
	struct core_bench c;
	uint64_t t;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	dies(&c, 1);
	cb_mark(&c, 1, RL_MARK_LINK_UP);
	cb_rx(&c, 0, 1, 2);
	cb_tx_all(&c);
	cb_advance(&c, 0);
	t = c.now_ns;
	while (CB_STATE(&c, 1) == RL_EGRESS_RESTORE) {
		assert_true(rl_core_deadline(c.core) > c.now_ns);
		cb_advance(&c, rl_core_deadline(c.core) - c.now_ns);
		assert_true(c.now_ns - t <= c.cfg.watchdog_ns);
	}
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 0, 0);
	assert_int_equal(CB_COUNTER(&c, restore_timeouts), 1);
	cb_close(&c);
}

static void
two_links_restored_at_once_each_get_their_fences(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 1, PORTS(1, 3));
	cb_route(&c, 0, 2, PORTS(2, 3));
	cb_open(&c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(&c, i, RL_MARK_LINK_UP);
	dies(&c, 1);
	dies(&c, 2);
	for (unsigned int i = 0; i < 3; i++) {
		cb_rx(&c, 0, 1, 2);
		cb_rx(&c, 0, 2, 2);
	}
	cb_mark(&c, 1, RL_MARK_LINK_UP);
	cb_tx_all(&c); /* a fence for 1 is on its way */
	cb_mark(&c, 2, RL_MARK_LINK_UP);
	cb_rx(&c, 0, 1, 2);
	cb_rx(&c, 0, 2, 2);
	/* the answer to the first does not open the second */
	for (uint16_t i = 0; i < CB_PORTS; i++)
		if (c.fences[i] != 0)
			cb_mark(&c, i, RL_MARK_FENCE_DONE);
	cb_advance(&c, 0);
	cb_advance(&c, 51 * US);
	assert_int_equal(CB_STATE(&c, 2), RL_EGRESS_RESTORE);
	for (unsigned int i = 0; i < 3; i++)
		answer_fences(&c, -1);
	cb_advance(&c, 50 * US);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_ALIVE);
	assert_int_equal(CB_STATE(&c, 2), RL_EGRESS_ALIVE);
	cb_tx_all(&c);
	cb_expect(&c, 3, 1, 0, 2);
	cb_expect(&c, 3, 2, 0, 2);
	cb_expect(&c, 1, 1, 3, 3);
	cb_expect(&c, 2, 2, 3, 3);
	cb_close(&c);
}

/* The way round dies while the link returns: its death is no answer. */
static void
a_way_round_that_dies_is_fenced_again(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 1, PORTS(1, 2, 3));
	cb_open(&c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(&c, i, RL_MARK_LINK_UP);
	dies(&c, 1);
	for (unsigned int i = 0; i < 4; i++)
		cb_rx(&c, 0, 1, 2);
	cb_tx(&c, 2);
	cb_mark(&c, 1, RL_MARK_LINK_UP);
	cb_rx(&c, 0, 1, 2); /* 4: held for 1 */
	answer_fences(&c, 2);
	cb_tx(&c, 2); /* its fence is behind 0-3 */
	cb_mark(&c, 2, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, 2, RL_MARK_FENCE_DONE); /* the dead port's answer */
	cb_advance(&c, 60 * US);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_RESTORE);
	cb_loop(&c, 2, 4);
	cb_mark(&c, 2, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	c.fences[3] = 0;
	cb_tx_all(&c);
	cb_expect(&c, 3, 1, 0, 3);
	assert_int_equal(c.fences[3], 1); /* behind them */
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_RESTORE);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		if (i != 1 && i != 2)
			cb_mark(&c, i, RL_MARK_FENCE_DONE);
	cb_advance(&c, 0);
	cb_advance(&c, 50 * US);
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 4, 4);
	cb_close(&c);
}

static void
a_link_that_dies_again_while_it_returns_starts_over(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	dies(&c, 1);
	cb_mark(&c, 1, RL_MARK_LINK_UP);
	cb_rx(&c, 0, 1, 2);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_DRAIN);
	cb_rx(&c, 0, 1, 2);
	cb_tx_all(&c);
	assert_int_equal(c.loop_fences[1], 2);
	cb_mark(&c, 1, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 1);
	cb_close(&c);
}

/* A new table is in force from the next packet on. */
static void
a_new_table_moves_new_packets_only(void **state)
{
	struct rl_fwd_entry entry[CB_DSTS];
	struct core_bench c;
	struct rl_fwd fwd;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	cb_rx(&c, 0, 1, 2);
	fwd = c.fwd;
	memcpy(entry, c.entry[0], sizeof(entry));
	entry[1].hop[0].port = 3;
	rl_fwd_entries(&fwd, entry);
	assert_ptr_not_equal(rl_core_fwd(c.core), &fwd);
	rl_core_set_fwd(c.core, &fwd);
	assert_ptr_equal(rl_core_fwd(c.core), &fwd);
	cb_rx(&c, 0, 1, 2);
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 0, 0);
	cb_expect(&c, 3, 1, 1, 1);
	cb_close(&c);
}

/* --- the duplicate filter ------------------------------------------------ */

/* A packet of flow 1 with a tag, as it arrives by a port. */
static struct rl_flit *
copy_of(struct core_bench *c, uint16_t in_port, uint32_t tag, bool looped)
{
	const uint32_t next = c->next_tag[1];
	struct rl_flit *pkt;

	c->next_tag[1] = tag;
	pkt = cb_packet(c, in_port, 1, 3);
	c->next_tag[1] = next;
	if (looped)
		pkt->flags |= RL_FF_LOOPED;
	return pkt;
}

static void
open_filter(struct core_bench *c)
{
	cb_cfg(c);
	c->cfg.dup_filter = true;
	cb_route(c, 0, 1, PORTS(3));
	cb_open(c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(c, i, RL_MARK_LINK_UP);
}

static void
a_looped_copy_of_what_the_dead_port_delivered_is_dropped(void **state)
{
	struct core_bench c;

	(void)state;
	open_filter(&c);
	for (uint32_t tag = 0; tag < 10; tag++)
		cb_give(&c, 1, copy_of(&c, 1, tag, false));
	dies(&c, 1);
	/* the neighbour's port looped 7 to 12 to its other link */
	for (uint32_t tag = 7; tag <= 12; tag++)
		cb_give(&c, 2, copy_of(&c, 2, tag, true));
	cb_tx_all(&c);
	cb_expect(&c, 3, 1, 0, 12);
	assert_int_equal(CB_COUNTER(&c, drop_duplicate), 3);
	assert_int_equal(c.ndrops, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(c.drop[i].why, RL_DROP_DUPLICATE);
		assert_int_equal(c.drop[i].tag, 7 + i);
	}
	assert_int_equal(cb_freed(&c, 2), 18);
	cb_close(&c);
}

/* Sent again by the endpoint, or looped though nothing here died: passes. */
static void
what_is_no_duplicate_of_a_dead_port_passes(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	open_filter(&c);
	cb_give(&c, 1, copy_of(&c, 1, 0, false));
	cb_give(&c, 2, copy_of(&c, 2, 0, true)); /* 1 is alive */
	dies(&c, 1);
	cb_give(&c, 2, copy_of(&c, 2, 0, false)); /* not looped */
	pkt = copy_of(&c, 2, 0, true); /* another flow's same tag */
	rl_put16(pkt->wire + 4, 77);
	cb_give(&c, 2, pkt);
	pkt = copy_of(&c, 2, 0, true); /* came a longer way: came back */
	pkt->hops++;
	cb_give(&c, 2, pkt);
	assert_int_equal(CB_COUNTER(&c, drop_duplicate), 0);
	cb_give(&c, 2, copy_of(&c, 2, 0, true)); /* this is one */
	assert_int_equal(CB_COUNTER(&c, drop_duplicate), 1);
	cb_close(&c);
}

/* Stand-alone ACKs of a flow all bear tag 0: none is another's duplicate. */
static void
control_flits_are_never_taken_for_duplicates(void **state)
{
	struct bench_packet k = { .src = 9, .dst = 1, .flits = 1,
				  .class = RL_CLASS_CTRL };
	struct core_bench c;

	(void)state;
	open_filter(&c);
	cb_give(&c, 1, bench_make(&c.pool, &k));
	dies(&c, 1);
	for (unsigned int i = 0; i < 3; i++) {
		struct rl_flit *pkt = bench_make(&c.pool, &k);

		pkt->flags |= RL_FF_LOOPED;
		cb_give(&c, 2, pkt);
	}
	cb_tx_all(&c);
	assert_int_equal(c.out[3].packets, 4);
	assert_int_equal(CB_COUNTER(&c, drop_duplicate), 0);
	cb_close(&c);
}

/*
 * Cut-through: the start of a packet came, the link died, the packet was
 * closed. Its looped copy begins alike and is the only one that is whole.
 */
static void
a_packet_cut_off_does_not_make_its_copy_a_duplicate(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt, *end;

	(void)state;
	cb_cfg(&c);
	c.cfg.dup_filter = true;
	c.cfg.switching = RL_CUT_THROUGH;
	cb_route(&c, 0, 1, PORTS(3));
	cb_open(&c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(&c, i, RL_MARK_LINK_UP);
	pkt = copy_of(&c, 1, 0, false);
	pkt->last->flags &= (uint8_t)~RL_FF_EOP; /* its first three flits */
	cb_give(&c, 1, pkt);
	end = copy_of(&c, 1, 0, false);
	end->flags &= (uint8_t)~RL_FF_SOP;
	end->last->mark = RL_MARK_TRANSMIT_ERROR;
	cb_give(&c, 1, end);
	dies(&c, 1);
	pkt = copy_of(&c, 2, 0, true);
	pkt->last->flags &= (uint8_t)~RL_FF_EOP;
	cb_give(&c, 2, pkt);
	end = copy_of(&c, 2, 0, true);
	end->flags &= (uint8_t)~RL_FF_SOP;
	cb_give(&c, 2, end);
	cb_tx_all(&c);
	assert_int_equal(CB_COUNTER(&c, drop_duplicate), 0);
	assert_int_equal(c.out[3].flits, 6); /* the other was cut out */
	cb_close(&c);
}

static void
the_filter_forgets_the_oldest_and_no_more(void **state)
{
	struct core_bench c;

	(void)state;
	open_filter(&c);
	for (uint32_t tag = 0; tag < 1000; tag++) {
		cb_give(&c, 1, copy_of(&c, 1, tag, false));
		cb_tx(&c, 3);
		cb_ack(&c, 3);
	}
	dies(&c, 1);
	cb_give(&c, 2, copy_of(&c, 2, 1000 - 256, true));
	cb_give(&c, 2, copy_of(&c, 2, 999, true));
	assert_int_equal(CB_COUNTER(&c, drop_duplicate), 2);
	cb_give(&c, 2, copy_of(&c, 2, 1000 - 257, true));
	assert_int_equal(CB_COUNTER(&c, drop_duplicate), 2);
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("[DRL-8] traffic returns after the fences and the delay, "
		     "in order",
		     traffic_returns_after_the_fences_and_the_delay),
		CASE("[DRL-8] a fence follows what was queued and not what "
		     "comes", a_fence_follows_what_was_queued_and_not_what_comes),
		CASE("[DRL-8] a restore does not wait for ever",
		     a_restore_does_not_wait_for_ever),
		CASE("[DRL-8] two links restored at once each get their fences",
		     two_links_restored_at_once_each_get_their_fences),
		CASE("[DRL-8] a way round that dies is fenced anew",
		     a_way_round_that_dies_is_fenced_again),
		CASE("[DRL-8] a link that dies again while it returns starts "
		     "over", a_link_that_dies_again_while_it_returns_starts_over),
		cmocka_unit_test(a_new_table_moves_new_packets_only),
		CASE("LINK-C29 [DRL-5] a looped copy of what the dead port "
		     "delivered is dropped and counted",
		     a_looped_copy_of_what_the_dead_port_delivered_is_dropped),
		CASE("[DRL-5] what is no duplicate of a dead port passes",
		     what_is_no_duplicate_of_a_dead_port_passes),
		CASE("[DRL-5] control flits are never taken for duplicates",
		     control_flits_are_never_taken_for_duplicates),
		CASE("[DRL-5] a packet cut off does not make its copy a "
		     "duplicate",
		     a_packet_cut_off_does_not_make_its_copy_a_duplicate),
		CASE("[DRL-5] the filter forgets the oldest and no more",
		     the_filter_forgets_the_oldest_and_no_more),
	};

	return cmocka_run_group_tests_name("restore", tests, NULL, NULL);
}
