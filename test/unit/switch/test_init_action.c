/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fate of packets whose link is not trained, at the start and after a
 * death [LINK-C3]: init_action as set.
 */
#include "core_bench.h"

#define PORTS(...)                                                             \
	(const uint16_t[]){ __VA_ARGS__ },                                     \
		sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)
#define US RL_NS_PER_US

/* Flow 1 by ports 1, 2; flow 4 by 4 alone. Only ports 0 and 2 are trained. */
static void
open_untrained(struct core_bench *c, enum rl_init_action action)
{
	cb_cfg(c);
	c->cfg.init_action = action;
	c->cfg.restore_delay_ns = 0;
	cb_route(c, 0, 1, PORTS(1, 2));
	cb_route(c, 0, 4, PORTS(4));
	cb_open(c, -1);
}

/* A link trained; one that was dead before waits for the others' fences. */
static void
train(struct core_bench *c, uint16_t port)
{
	cb_mark(c, port, RL_MARK_LINK_UP);
	for (uint16_t i = 0; i < CB_PORTS; i++) {
		c->fences[i] = 0;
		cb_tx(c, i);
		if (c->fences[i] != 0)
			cb_mark(c, i, RL_MARK_FENCE_DONE);
	}
	cb_advance(c, 0);
	cb_advance(c, 0);
	assert_int_equal(CB_STATE(c, port), RL_EGRESS_ALIVE);
}

static void
block_waits_for_the_link_itself(void **state)
{
	struct core_bench c;

	(void)state;
	open_untrained(&c, RL_INIT_BLOCK);
	train(&c, 2);
	for (unsigned int i = 0; i < 4; i++) {
		cb_rx(&c, 0, 1, 2);
		cb_rx(&c, 0, 4, 3);
	}
	cb_advance(&c, 100 * US);
	cb_tx_all(&c);
	assert_int_equal(c.out[2].packets, 0);
	assert_int_equal(rl_core_held(c.core, 1), 8);
	assert_int_equal(rl_core_held(c.core, 4), 12);
	assert_int_equal(cb_freed(&c, 0), 20); /* the room has lent as many */
	train(&c, 1);
	train(&c, 4);
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 0, 3);
	cb_expect(&c, 4, 4, 0, 3);
	assert_int_equal(c.ndrops, 0);
	cb_close(&c);
}

static void
discard_drops_counts_and_tells_at_once(void **state)
{
	struct core_bench c;

	(void)state;
	open_untrained(&c, RL_INIT_DISCARD);
	train(&c, 2);
	for (unsigned int i = 0; i < 4; i++)
		cb_rx(&c, 0, 1, 2);
	assert_int_equal(c.ndrops, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(c.drop[i].why, RL_DROP_INIT);
		assert_int_equal(c.drop[i].tag, i);
	}
	assert_int_equal(CB_COUNTER(&c, drop_init), 4);
	assert_int_equal(CB_COUNTER(&c, held_packets), 0);
	assert_int_equal(cb_freed(&c, 0), 8); /* and their credits return */
	assert_int_equal(rl_core_flits(c.core), 0);
	train(&c, 1);
	cb_rx(&c, 0, 1, 2);
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 4, 4);
	cb_close(&c);
}

static void
best_effort_takes_another_way_or_waits(void **state)
{
	struct core_bench c;

	(void)state;
	open_untrained(&c, RL_INIT_BEST_EFFORT);
	cb_rx(&c, 0, 1, 2);
	cb_rx(&c, 0, 4, 3); /* no way yet for either */
	assert_int_equal(CB_COUNTER(&c, stranded_packets), 2);
	train(&c, 2);
	cb_rx(&c, 0, 1, 2);
	cb_rx(&c, 0, 4, 3);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 1); /* not by port 1, but in order */
	assert_int_equal(c.out[4].packets, 0);
	train(&c, 4);
	cb_tx_all(&c);
	cb_expect(&c, 4, 4, 0, 1);
	train(&c, 1);
	cb_rx(&c, 0, 1, 2);
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 2, 2);
	assert_int_equal(c.ndrops, 0);
	cb_close(&c);
}

/*
 * The only link dies and trains again. What it held has been accepted, so it
 * waits whatever is set; what is new is treated as set.
 */
static void
a_link_that_trains_again_obeys_the_same_setting(void **state)
{
	(void)state;
	for (enum rl_init_action a = RL_INIT_BLOCK; a <= RL_INIT_BEST_EFFORT;
	     a++) {
		const bool drops = a == RL_INIT_DISCARD;
		struct core_bench c;

		open_untrained(&c, a);
		train(&c, 4);
		for (unsigned int i = 0; i < 3; i++)
			cb_rx(&c, 0, 4, 3);
		cb_tx(&c, 4);
		cb_mark(&c, 4, RL_MARK_LOOP_BEGIN);
		cb_rx(&c, 0, 4, 3); /* 3: while it drains */
		cb_loop(&c, 4, 3);
		cb_mark(&c, 4, RL_MARK_LOOP_END);
		cb_advance(&c, 20 * US);
		assert_int_equal(CB_STATE(&c, 4), RL_EGRESS_DEAD);
		assert_int_equal(c.ndrops, 0);
		cb_rx(&c, 0, 4, 3); /* 4: while it trains */
		assert_int_equal(c.ndrops, drops);
		assert_int_equal(CB_COUNTER(&c, drop_init), drops);
		if (drops) {
			assert_int_equal(c.drop[0].why, RL_DROP_INIT);
			assert_int_equal(c.drop[0].tag, 4);
		}
		train(&c, 4);
		cb_tx_all(&c);
		cb_expect(&c, 4, 4, 0, drops ? 3 : 4);
		cb_close(&c);
	}
}

/* By new tables its only way trains: what a link had accepted waits there. */
static void
what_was_accepted_waits_for_another_link_to_train(void **state)
{
	struct core_bench c;

	(void)state;
	open_untrained(&c, RL_INIT_DISCARD);
	train(&c, 1);
	for (unsigned int i = 0; i < 2; i++)
		cb_rx(&c, 0, 1, 2);
	cb_tx(&c, 1);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	cb_route(&c, 0, 1, PORTS(2));
	rl_core_set_fwd(c.core, &c.fwd);
	cb_loop(&c, 1, 2);
	assert_int_equal(c.ndrops, 0);
	cb_mark(&c, 1, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	train(&c, 2);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 1);
	assert_int_equal(c.ndrops, 0);
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C3 block: packets wait for the link itself",
		     block_waits_for_the_link_itself),
		CASE("LINK-C3 discard: packets are dropped, counted and told "
		     "at once",
		     discard_drops_counts_and_tells_at_once),
		CASE("LINK-C3 best effort: packets take another way, or wait",
		     best_effort_takes_another_way_or_waits),
		CASE("LINK-C3 a link that trains again obeys the same setting",
		     a_link_that_trains_again_obeys_the_same_setting),
		CASE("LINK-C3 what was accepted waits for another link to "
		     "train",
		     what_was_accepted_waits_for_another_link_to_train),
	};

	return cmocka_run_group_tests_name("init action", tests, NULL, NULL);
}
