/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More parallel links than a table has next hops [DRL-2]: each of them is used
 * when the others are dead, and each packet comes once and in the order of its
 * flow; none is given up [DRL-7]. Real ports and cores; and a core alone, for what may not be used.
 */
#include "core_bench.h"
#include "duo.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* A little traffic on every flow, all the time. */
static void
traffic(struct duo *d, unsigned int us)
{
	for (unsigned int i = 0; i < us; i++) {
		const uint64_t t = d->now_ns / US;

		if (t % 3 == 0 && d->pool.cache.count > 128)
			duo_send(d, t / 3 % DUO_FLOWS, 1 + t % 6);
		duo_run(d, US);
	}
}

static void
open_links(struct duo *d, unsigned int links)
{
	duo_cfg(d, links);
	d->pool_flits = 2048;
	duo_open(d);
	traffic(d, 60);
}

/* @p living is all that is left, after all others died within `apart_us`. */
static void
lives(unsigned int links, unsigned int living, unsigned int apart_us)
{
	struct duo d;

	open_links(&d, links);
	for (unsigned int i = 1; i < links; i++) {
		duo_kill(&d, (living + i) % links);
		traffic(&d, apart_us);
	}
	traffic(&d, 300);
	duo_settle(&d, 10 * MS);
	duo_check(&d);
	assert_int_equal(d.a.drops[RL_DROP_NO_PATH], 0);
	assert_int_equal(DUO_COUNTER(&d.a, failovers), links - 1);
	duo_close(&d);
}

static void
any_one_that_lives_carries_all(void **state)
{
	(void)state;
	for (unsigned int links = 4; links <= DUO_LINKS; links++)
		for (unsigned int living = 0; living < links; living++)
			lives(links, living, 0);
}

static void
the_links_die_one_by_one_at_every_step_of_a_drain(void **state)
{
	(void)state;
	for (unsigned int apart_us = 1; apart_us < 60; apart_us++)
		lives(6, apart_us % 6, apart_us);
}

/* A link that tables name returns, while one that they do not name carries. */
static void
traffic_returns_in_order_from_a_link_beside(void **state)
{
	(void)state;
	for (unsigned int step = 0; step < 60; step++) {
		struct duo d;

		open_links(&d, 6);
		for (unsigned int i = 0; i < 5; i++)
			duo_kill(&d, i);
		traffic(&d, 60);
		duo_heal(&d, step % 5);
		traffic(&d, step * 3);
		duo_kill(&d, 5);
		traffic(&d, 300);
		duo_settle(&d, 10 * MS);
		duo_check(&d);
		assert_int_equal(d.a.drops[RL_DROP_NO_PATH], 0);
		duo_close(&d);
	}
}

/* --- a core alone -------------------------------------------------------- */

#define IN 0

/* Ports 1 to 4 lead to one neighbour; the table knows the first. */
static void
open_core(struct core_bench *c, bool grouped)
{
	static const uint16_t only[] = { 1 };

	cb_cfg(c);
	for (uint16_t i = 1; i <= 4; i++)
		c->beside[i] = (uint16_t)(i % 4 + 1);
	cb_route(c, 0, 1, only, 1);
	c->fwd.grouped = grouped;
	cb_open(c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(c, i, RL_MARK_LINK_UP);
}

static void
die(struct core_bench *c, uint16_t port)
{
	cb_mark(c, port, RL_MARK_LOOP_BEGIN);
	cb_mark(c, port, RL_MARK_LOOP_END);
	cb_advance(c, 21 * US);
}

static void
a_core_with_ungrouped_tables_keeps_to_them(void **state)
{
	(void)state;
	for (unsigned int grouped = 0; grouped < 2; grouped++) {
		struct core_bench c;

		open_core(&c, grouped);
		die(&c, 1);
		cb_rx(&c, IN, 1, 2);
		cb_tx_all(&c);
		if (grouped)
			cb_expect(&c, 2, 1, 0, 0);
		else
			assert_int_equal(c.out[2].flits, 0);
		assert_int_equal(CB_COUNTER(&c, rerouted_packets), grouped);
		cb_close(&c);
	}
}

/* Nor by a link beside the one it came by. */
static void
nothing_goes_back_where_it_came_from(void **state)
{
	struct core_bench c;

	(void)state;
	open_core(&c, true);
	cb_rx(&c, 1, 1, 2); /* came from the neighbour that it would go to */
	cb_tx_all(&c);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		assert_int_equal(c.out[i].flits, 0);
	die(&c, 1);
	die(&c, 2);
	cb_rx(&c, 3, 1, 2); /* came by a link beside: 4 leads there as well */
	cb_tx_all(&c);
	assert_int_equal(c.out[3].flits + c.out[4].flits, 0);
	cb_close(&c);
}

/* Packets that wait for a parallel link use it, and new packets stay behind. */
static void
a_link_beside_that_drains_is_waited_for(void **state)
{
	struct core_bench c;

	(void)state;
	open_core(&c, true);
	die(&c, 1);
	cb_rx(&c, IN, 1, 2);
	cb_tx_all(&c);
	cb_mark(&c, 2, RL_MARK_LOOP_BEGIN);
	cb_rx(&c, IN, 1, 2);
	cb_tx_all(&c);
	assert_int_equal(c.out[3].flits, 0); /* not before what loops */
	cb_loop(&c, 2, 1);
	cb_mark(&c, 2, RL_MARK_LOOP_END);
	cb_advance(&c, 21 * US);
	cb_tx_all(&c);
	cb_expect(&c, 3, 1, 0, 1);
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("DRL-2 of four to eight parallel links any one that lives "
		     "carries all", any_one_that_lives_carries_all),
		CASE("DRL-2 six die one by one at every step of a drain",
		     the_links_die_one_by_one_at_every_step_of_a_drain),
		CASE("DRL-2 traffic returns in order from a link beside",
		     traffic_returns_in_order_from_a_link_beside),
		CASE("DRL-2 tables without groups are kept to",
		     a_core_with_ungrouped_tables_keeps_to_them),
		CASE("DRL-2 nothing goes back where it came from",
		     nothing_goes_back_where_it_came_from),
		CASE("DRL-2 a link beside that drains is waited for",
		     a_link_beside_that_drains_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
