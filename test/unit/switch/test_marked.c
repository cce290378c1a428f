/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error marks at their destination [LCB-2, LINK-C17]: the endpoint never sees
 * a flit that bears one, the rest of its packet it does; what is lost so is
 * said once, and its credits return. A switch lets marks pass, but for the one
 * at the end of a packet that was cut off.
 */
#include "core_bench.h"
#include "parts.h"

#define F 8 /* flits of a packet here */

static void
open_endpoint(struct core_bench *c, enum rl_switching switching)
{
	cb_cfg(c);
	c->cfg.switching = switching;
	cb_open(c, 1);
}

/* One packet of F flits in parts of `part`, flit `at` with a mark. */
static void
give_marked(struct core_bench *c, unsigned int at, unsigned int part,
	    enum rl_mark mark)
{
	struct rl_flit *pkt = cb_packet(c, 0, 1, F), *f = pkt;

	for (unsigned int i = 0; i < at; i++)
		f = f->next;
	f->mark = (uint8_t)mark;
	while (pkt != NULL)
		cb_give(c, 0,
			parts_cut(&pkt, part < pkt->pkt_flits
						? part
						: pkt->pkt_flits));
}

/* Flits that the endpoint gets; none of them is marked. */
static unsigned int
take_all(struct core_bench *c)
{
	unsigned int n = 0;
	struct rl_flit *pkt;

	while ((pkt = rl_core_local(c->core)) != NULL) {
		n += pkt->pkt_flits;
		for (const struct rl_flit *f = pkt; f != NULL; f = f->next)
			assert_int_equal(f->mark, RL_MARK_OK);
		rl_packet_put(&c->pool.cache, pkt);
	}
	return n;
}

static void
marked_flits_never_reach_the_endpoint(void **state)
{
	static const enum rl_mark marks[] = { RL_MARK_SOFT_ERROR,
					      RL_MARK_POISON };

	(void)state;
	for (unsigned int m = 0; m < RL_ARRAY_SIZE(marks); m++)
		for (unsigned int at = 0; at < F; at++)
			for (unsigned int part = 1; part <= F; part++) {
				struct core_bench c;

				open_endpoint(&c, part == F
							  ? RL_STORE_AND_FORWARD
							  : RL_CUT_THROUGH);
				give_marked(&c, at, part, marks[m]);
				assert_int_equal(take_all(&c), F - 1);
				assert_int_equal(c.ndrops, 1);
				assert_int_equal(c.drop[0].why,
						 RL_DROP_MARKED);
				assert_int_equal(c.drop[0].tag, 0);
				assert_int_equal(c.drop[0].flits, 1);
				assert_int_equal(CB_COUNTER(&c, drop_marked),
						 1);
				assert_int_equal(cb_freed(&c, 0), F);
				cb_close(&c);
			}
}

/* All flits of a packet bear marks: one word, naming all of them. */
static void
a_packet_of_marked_flits_alone_is_said_once(void **state)
{
	struct core_bench c;
	struct rl_flit *pkt;

	(void)state;
	open_endpoint(&c, RL_STORE_AND_FORWARD);
	pkt = cb_packet(&c, 0, 1, F);
	for (struct rl_flit *f = pkt; f != NULL; f = f->next)
		f->mark = RL_MARK_POISON;
	cb_give(&c, 0, pkt);
	assert_int_equal(take_all(&c), 0);
	assert_int_equal(c.ndrops, 1);
	assert_int_equal(c.drop[0].flits, F);
	assert_int_equal(cb_freed(&c, 0), F);
	cb_close(&c);
}

/*
 * The end of a packet that was cut off is no loss: its copy comes another way.
 * What came before it is the endpoint's to judge.
 */
static void
an_end_marked_transmit_error_goes_without_a_word(void **state)
{
	(void)state;
	for (unsigned int part = 1; part <= F; part++) {
		struct core_bench c;

		open_endpoint(&c, RL_CUT_THROUGH);
		give_marked(&c, F - 1, part, RL_MARK_TRANSMIT_ERROR);
		/* one that is closed when it comes is cut out whole */
		assert_int_equal(take_all(&c), part == F ? 0 : F - 1);
		assert_int_equal(CB_COUNTER(&c, excised_packets), part == F);
		assert_int_equal(c.ndrops, 0);
		assert_int_equal(cb_freed(&c, 0), F);
		cb_close(&c);
	}
}

/*
 * Ports let this mark pass on an end alone. A core that meets it elsewhere does
 * not take the packet for ended: more of it comes to where it waits.
 */
static void
a_mark_within_a_packet_that_waits_does_not_end_it(void **state)
{
	static const uint16_t way = 1;

	(void)state;
	for (unsigned int part = 1; part < F; part++) {
		struct core_bench c;
		unsigned int n = 0;
		struct rl_flit *pkt;

		cb_cfg(&c);
		c.cfg.switching = RL_CUT_THROUGH;
		c.cfg.max_packet_flits = 16;
		cb_route(&c, 0, 1, &way, 1);
		cb_open(&c, -1);
		for (uint16_t p = 0; p < CB_PORTS; p++)
			cb_mark(&c, p, RL_MARK_LINK_UP);
		/* the last flit of a part */
		give_marked(&c, 2 * part - 1 < F - 1 ? 2 * part - 1 : part - 1,
			    part, RL_MARK_TRANSMIT_ERROR);
		assert_int_equal(CB_COUNTER(&c, excised_packets), 0);
		cb_tx(&c, way);
		while ((pkt = rl_pktq_pop(&c.out[way])) != NULL) {
			n += pkt->pkt_flits;
			rl_packet_put(&c.pool.cache, pkt);
		}
		assert_int_equal(n, F);
		assert_int_equal(cb_freed(&c, 0), F);
		cb_close(&c);
	}
}

/*
 * A packet that is closed when it comes goes no further: it would take room on
 * every link to its destination, and be discarded there.
 */
static void
a_switch_sends_no_packet_that_was_cut_off_before_it(void **state)
{
	static const uint16_t way = 1;

	(void)state;
	for (unsigned int flits = 1; flits <= F; flits++)
		for (unsigned int mode = 0; mode < 4; mode++) {
			struct core_bench c;
			struct rl_flit *pkt;

			cb_cfg(&c);
			if (mode & 1)
				c.cfg.switching = RL_CUT_THROUGH;
			cb_route(&c, 0, 1, &way, 1);
			cb_open(&c, -1);
			for (uint16_t p = 0; p < CB_PORTS; p++)
				cb_mark(&c, p, RL_MARK_LINK_UP);
			c.by_queue = mode & 2;
			pkt = cb_packet(&c, 0, 1, flits);
			pkt->last->mark = RL_MARK_TRANSMIT_ERROR;
			cb_give(&c, 0, pkt);
			c.next_tag[1] = 0; /* its copy comes another way */
			cb_rx(&c, 2, 1, flits);
			cb_tx_all(&c);
			cb_expect(&c, way, 1, 0, 0);
			assert_int_equal(CB_COUNTER(&c, excised_packets), 1);
			assert_int_equal(c.ndrops, 0);
			assert_int_equal(cb_freed(&c, 0), flits);
			cb_close(&c);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("marked flits never reach the endpoint [LCB-2, LINK-C17]",
		     marked_flits_never_reach_the_endpoint),
		CASE("a packet of marked flits alone is said once [LCB-2]",
		     a_packet_of_marked_flits_alone_is_said_once),
		CASE("an end marked transmit_error goes without a word "
		     "[LCB-2, DRL-3]",
		     an_end_marked_transmit_error_goes_without_a_word),
		CASE("a mark within a packet that waits does not end it "
		     "[LCB-2]",
		     a_mark_within_a_packet_that_waits_does_not_end_it),
		CASE("a switch sends no packet that was cut off before it "
		     "[LCB-2, DRL-3]",
		     a_switch_sends_no_packet_that_was_cut_off_before_it),
	};

	return cmocka_run_group_tests_name("marks at a destination", tests,
					   NULL, NULL);
}
