/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port dies, step by step: what goes at once, what is held, for how long,
 * and what happens where there is no other way [DRL-1, DRL-2, DRL-4, DRL-7].
 */
#include "core_bench.h"

/* By when a packet without a way is given up: a slot of the wheel later. */
#define LATEST(c) ((c)->cfg.no_path_ns + (c)->cfg.no_path_ns / 16 + 1)
#define PORTS(...)                                                             \
	(const uint16_t[]){ __VA_ARGS__ },                                     \
		sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)
#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* Flow 1 by ports 1, 2; flow 2 by 2, 1; flow 3 by 3; flow 4 by 4 alone. */
static void
open_routes(struct core_bench *c)
{
	cb_route(c, 0, 1, PORTS(1, 2));
	cb_route(c, 0, 2, PORTS(2, 1));
	cb_route(c, 0, 3, PORTS(3));
	cb_route(c, 0, 4, PORTS(4));
	cb_open(c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(c, i, RL_MARK_LINK_UP);
}

static unsigned int
events(struct core_bench *c, enum rl_core_event_type type, uint32_t *packets)
{
	struct rl_core_event ev;
	unsigned int n = 0;

	while (rl_core_event_pop(c->core, &ev)) {
		if (ev.type != type)
			continue;
		n++;
		*packets = ev.packets;
	}
	return n;
}

/* The whole of it, in the order of the patent. */
static void
looped_goes_at_once_new_is_held_until_after_the_delay(void **state)
{
	struct core_bench c;
	uint32_t packets = 0;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	for (unsigned int i = 0; i < 5; i++)
		cb_rx(&c, 0, 1, 2);
	cb_tx(&c, 1); /* 0-4 are in the port */
	cb_rx(&c, 0, 1, 2);
	cb_rx(&c, 0, 1, 2); /* 5, 6 still queued here */
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_DRAIN);
	cb_rx(&c, 0, 1, 2); /* 7 is new */
	cb_tx_all(&c);
	assert_int_equal(c.loop_fences[1], 1);
	assert_int_equal(c.out[2].packets, 0);
	assert_int_equal(rl_core_held(c.core, 1), 6);
	cb_loop(&c, 1, 2);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 1); /* at once */
	cb_rx(&c, 0, 1, 2); /* 8 */
	cb_loop(&c, 1, 3);
	cb_mark(&c, 1, RL_MARK_LOOP_END);
	cb_advance(&c, 19 * US);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 4);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_DELAY);
	cb_rx(&c, 0, 1, 2); /* 9 */
	cb_advance(&c, 1 * US);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_DEAD);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 9);
	assert_int_equal(c.loop_fences[1], 1);
	assert_int_equal(c.out[1].packets, 0);
	assert_int_equal(events(&c, RL_CEV_RESUME, &packets), 1);
	assert_int_equal(packets, 5);
	assert_int_equal(CB_COUNTER(&c, failovers), 1);
	assert_int_equal(CB_COUNTER(&c, looped_packets), 5);
	assert_int_equal(CB_COUNTER(&c, rerouted_packets), 10);
	/* later packets take the detour by themselves */
	cb_rx(&c, 0, 1, 2);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 10);
	assert_true(rl_core_idle(c.core));
	assert_int_equal(cb_freed(&c, 0), 22);
	cb_close(&c);
}

static void
traffic_for_other_ports_flows_on(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	for (unsigned int i = 0; i < 10; i++) {
		cb_rx(&c, 0, 1, 2);
		cb_rx(&c, 0, 2, 2);
		cb_rx(&c, 0, 3, 2);
		cb_tx_all(&c);
		cb_expect(&c, 2, 2, 0, i);
		cb_expect(&c, 3, 3, 0, i);
	}
	assert_int_equal(c.out[2].packets, 10);
	assert_int_equal(rl_core_held(c.core, 1), 20);
	cb_close(&c);
}

static void
the_delay_is_as_long_as_the_settings_say(void **state)
{
	static const uint64_t delay_ns[] = { 0, 1, 999, 20000, 1000000 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(delay_ns); i++) {
		struct core_bench c;

		cb_cfg(&c);
		c.cfg.resume_delay_ns = delay_ns[i];
		open_routes(&c);
		cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
		cb_rx(&c, 0, 1, 2);
		cb_advance(&c, 5 * MS); /* the drain may take its time */
		assert_int_equal(rl_core_held(c.core, 1), 2);
		cb_mark(&c, 1, RL_MARK_LOOP_END);
		assert_true(rl_core_deadline(c.core) <=
			    c.now_ns + delay_ns[i]);
		if (delay_ns[i] != 0) {
			cb_advance(&c, delay_ns[i] - 1);
			assert_int_equal(rl_core_held(c.core, 1), 2);
			assert_int_equal(rl_core_deadline(c.core),
					 c.now_ns + 1);
			cb_advance(&c, 1);
		} else {
			cb_advance(&c, 0);
		}
		assert_int_equal(rl_core_held(c.core, 1), 0);
		cb_tx_all(&c);
		cb_expect(&c, 2, 1, 0, 0);
		cb_close(&c);
	}
}

/* Whatever else wakes the core meanwhile. */
static void
the_delay_is_not_cut_short_by_other_ports(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	c.cfg.resume_delay_ns = 20 * US;
	open_routes(&c);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	cb_rx(&c, 0, 1, 2);
	cb_mark(&c, 1, RL_MARK_LOOP_END);
	for (unsigned int i = 0; i < 19; i++) {
		cb_mark(&c, 3, RL_MARK_FENCE_DONE); /* a tick is due at once */
		cb_advance(&c, US);
		assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_DELAY);
		assert_int_equal(rl_core_held(c.core, 1), 2);
	}
	cb_advance(&c, US);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_DEAD);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 0);
	cb_close(&c);
}

/* A port that never trained: traffic waits for it, then goes round. */
static void
traffic_waits_for_the_first_training_but_not_for_ever(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 1, PORTS(1, 2));
	cb_open(&c, -1);
	cb_mark(&c, 2, RL_MARK_LINK_UP);
	assert_false(rl_core_idle(c.core));
	cb_rx(&c, 0, 1, 2);
	cb_advance(&c, c.cfg.watchdog_ns - 1);
	cb_tx_all(&c);
	assert_int_equal(c.out[2].packets, 0);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_TRAIN);
	cb_advance(&c, 1);
	cb_tx_all(&c);
	assert_int_equal(CB_STATE(&c, 1), RL_EGRESS_DEAD);
	cb_expect(&c, 2, 1, 0, 0);
	cb_close(&c);

	cb_cfg(&c); /* and in time: by the port it waited for */
	cb_route(&c, 0, 1, PORTS(1, 2));
	cb_open(&c, -1);
	cb_mark(&c, 2, RL_MARK_LINK_UP);
	cb_rx(&c, 0, 1, 2);
	cb_mark(&c, 1, RL_MARK_LINK_UP);
	cb_tx_all(&c);
	cb_expect(&c, 1, 1, 0, 0);
	cb_close(&c);
}

/* The only way dies: all of it waits, and is given up with names [DRL-7]. */
static void
no_alternate_waits_for_the_watchdog_and_is_reported(void **state)
{
	struct core_bench c;
	uint32_t packets = 0;
	uint64_t t;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	for (unsigned int i = 0; i < 4; i++)
		cb_rx(&c, 0, 4, 3);
	cb_tx(&c, 4);
	cb_mark(&c, 4, RL_MARK_LOOP_BEGIN);
	cb_rx(&c, 0, 4, 3);
	cb_loop(&c, 4, 4);
	cb_mark(&c, 4, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	assert_int_equal(CB_STATE(&c, 4), RL_EGRESS_DEAD);
	cb_rx(&c, 0, 4, 3);
	assert_int_equal(rl_core_flits(c.core), 18);
	assert_false(rl_core_idle(c.core));
	t = c.now_ns;
	cb_advance(&c, c.cfg.no_path_ns - 1);
	assert_int_equal(c.ndrops, 0);
	while (c.ndrops == 0) {
		assert_true(rl_core_deadline(c.core) > c.now_ns);
		cb_advance(&c, rl_core_deadline(c.core) - c.now_ns);
		assert_true(c.now_ns - t <= LATEST(&c));
	}
	assert_int_equal(c.ndrops, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(c.drop[i].why, RL_DROP_NO_PATH);
		assert_int_equal(c.drop[i].tag, i);
	}
	assert_int_equal(CB_COUNTER(&c, drop_no_path), 6);
	assert_int_equal(CB_COUNTER(&c, evicted_packets), 0);
	assert_int_equal(events(&c, RL_CEV_WATCHDOG, &packets), 1);
	assert_int_equal(packets, 6);
	assert_int_equal(cb_freed(&c, 0), 18);
	assert_true(rl_core_idle(c.core));
	cb_close(&c);
}

static void
what_had_no_way_goes_on_when_the_link_returns(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	c.cfg.restore_delay_ns = 0;
	open_routes(&c);
	for (unsigned int i = 0; i < 4; i++)
		cb_rx(&c, 0, 4, 3);
	cb_tx(&c, 4);
	cb_mark(&c, 4, RL_MARK_LOOP_BEGIN);
	cb_rx(&c, 0, 4, 3);
	cb_loop(&c, 4, 4);
	cb_mark(&c, 4, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	cb_rx(&c, 0, 4, 3);
	cb_mark(&c, 4, RL_MARK_LINK_UP);
	cb_rx(&c, 0, 4, 3);
	for (uint16_t i = 0; i < CB_PORTS; i++) {
		cb_tx(&c, i);
		if (i != 4)
			cb_mark(&c, i, RL_MARK_FENCE_DONE);
	}
	cb_advance(&c, 0);
	cb_advance(&c, 0);
	cb_tx_all(&c);
	cb_expect(&c, 4, 4, 0, 6);
	assert_int_equal(c.ndrops, 0);
	cb_close(&c);
}

/* Nor do younger ones that find no way either put off the oldest's time. */
static void
a_stream_without_a_way_does_not_extend_the_watchdog(void **state)
{
	struct core_bench c;
	uint64_t t;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	cb_mark(&c, 4, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, 4, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	t = c.now_ns;
	while (c.ndrops == 0) {
		cb_rx(&c, 0, 4, 1);
		cb_advance(&c, 500 * US);
		assert_true(c.now_ns - t <= LATEST(&c) + 500 * US);
	}
	assert_int_equal(c.drop[0].tag, 0);
	cb_close(&c);
}

/*
 * Packets without a way are not kept for ever by another link that comes and
 * goes.
 */
static void
an_unrelated_flap_does_not_extend_the_watchdog(void **state)
{
	struct core_bench c;
	uint64_t t;

	(void)state;
	cb_cfg(&c);
	c.cfg.restore_delay_ns = 0;
	open_routes(&c);
	cb_mark(&c, 4, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, 4, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	cb_rx(&c, 0, 4, 3);
	t = c.now_ns;
	while (c.ndrops == 0) {
		assert_true(c.now_ns - t <= LATEST(&c) + 300 * US);
		cb_mark(&c, 3, RL_MARK_LOOP_BEGIN);
		cb_mark(&c, 3, RL_MARK_LOOP_END);
		cb_advance(&c, 100 * US);
		cb_mark(&c, 3, RL_MARK_LINK_UP);
		for (uint16_t i = 0; i < CB_PORTS; i++) {
			c.fences[i] = 0;
			cb_tx(&c, i);
			if (c.fences[i] != 0)
				cb_mark(&c, i, RL_MARK_FENCE_DONE);
		}
		cb_advance(&c, 100 * US);
		cb_advance(&c, 0);
		assert_int_equal(CB_STATE(&c, 3), RL_EGRESS_ALIVE);
	}
	assert_int_equal(c.drop[0].why, RL_DROP_NO_PATH);
	cb_close(&c);
}

/* The alternate dies after each number of looped packets it was given. */
static void
the_alternate_fails_after_every_looped_packet(void **state)
{
	(void)state;
	for (unsigned int k = 0; k <= 6; k++) {
		struct core_bench c;

		cb_cfg(&c);
		cb_route(&c, 0, 1, PORTS(1, 2, 3));
		cb_open(&c, -1);
		for (uint16_t i = 0; i < CB_PORTS; i++)
			cb_mark(&c, i, RL_MARK_LINK_UP);
		for (unsigned int i = 0; i < 6; i++)
			cb_rx(&c, 0, 1, 2);
		cb_tx(&c, 1);
		cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
		cb_loop(&c, 1, k);
		if (k % 2 == 0)
			cb_tx(&c, 2); /* else they still wait here */
		cb_rx(&c, 0, 1, 2); /* 6 */
		cb_mark(&c, 2, RL_MARK_LOOP_BEGIN);
		cb_loop(&c, 1, 6 - k);
		cb_rx(&c, 0, 1, 2); /* 7 */
		if (k % 2 == 0)
			cb_loop(&c, 2, k);
		cb_mark(&c, 1, RL_MARK_LOOP_END);
		cb_advance(&c, 20 * US);
		cb_rx(&c, 0, 1, 2); /* 8 */
		cb_mark(&c, 2, RL_MARK_LOOP_END);
		cb_advance(&c, 20 * US);
		cb_tx_all(&c);
		cb_expect(&c, 3, 1, 0, 8);
		assert_int_equal(c.out[1].packets + c.out[2].packets, 0);
		assert_int_equal(rl_core_flits(c.core), 0);
		cb_close(&c);
	}
}

/* A packet never comes back to the dead port, nor to where it came from. */
static void
a_looped_packet_takes_the_next_hop_after_the_dead_one(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	cb_route(&c, 0, 1, PORTS(3, 1, 2, 4));
	cb_open(&c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(&c, i, RL_MARK_LINK_UP);
	/* 3 dies and is passed over; then it is back */
	cb_mark(&c, 3, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, 3, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	cb_rx(&c, 2, 1, 2); /* came in by 2 */
	cb_tx(&c, 1);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	cb_loop(&c, 1, 1);
	cb_tx_all(&c);
	cb_expect(&c, 4, 1, 0, 0);
	cb_close(&c);
}

/* The next one after the dead one has to wait; one before it does not. */
static void
a_looped_packet_goes_by_a_better_way_that_is_back(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	c.cfg.restore_delay_ns = 0;
	cb_route(&c, 0, 1, PORTS(3, 1, 4));
	cb_open(&c, -1);
	for (uint16_t i = 0; i < CB_PORTS; i++)
		cb_mark(&c, i, RL_MARK_LINK_UP);
	cb_mark(&c, 3, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, 3, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	cb_rx(&c, 0, 1, 2);
	cb_tx(&c, 1);
	cb_mark(&c, 3, RL_MARK_LINK_UP);
	for (uint16_t i = 0; i < CB_PORTS; i++) {
		c.fences[i] = 0;
		cb_tx(&c, i);
		if (c.fences[i] != 0)
			cb_mark(&c, i, RL_MARK_FENCE_DONE);
	}
	cb_advance(&c, 0);
	cb_advance(&c, 0);
	assert_int_equal(CB_STATE(&c, 3), RL_EGRESS_ALIVE);
	cb_mark(&c, 4, RL_MARK_LOOP_BEGIN);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	cb_loop(&c, 1, 1);
	cb_tx_all(&c);
	cb_expect(&c, 3, 1, 0, 0);
	cb_close(&c);
}

/* A packet that waits gives its credit back, one queued for a link does not. */
static void
waiting_packets_give_their_credits_back(void **state)
{
	struct core_bench c;

	(void)state;
	cb_cfg(&c);
	open_routes(&c);
	for (unsigned int i = 0; i < 5; i++)
		cb_rx(&c, 0, 1, 4);
	assert_int_equal(cb_freed(&c, 0), 0);
	cb_tx(&c, 1);
	assert_int_equal(cb_freed(&c, 0), 20);
	cb_mark(&c, 1, RL_MARK_LOOP_BEGIN);
	cb_rx(&c, 0, 1, 4);
	cb_loop(&c, 1, 5);
	assert_int_equal(cb_freed(&c, 0), 24);
	cb_mark(&c, 1, RL_MARK_LOOP_END);
	cb_advance(&c, 20 * US);
	cb_tx_all(&c);
	cb_expect(&c, 2, 1, 0, 5);
	assert_int_equal(cb_freed(&c, 0), 24);
	cb_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C28 [DRL-4] looped goes at once, new is held until "
		     "after the delay, in order",
		     looped_goes_at_once_new_is_held_until_after_the_delay),
		CASE("LINK-C28 [DRL-4] traffic for other ports flows on",
		     traffic_for_other_ports_flows_on),
		CASE("LINK-C28 the delay is not cut short by other ports",
		     the_delay_is_not_cut_short_by_other_ports),
		CASE("LINK-C28 the delay is as long as the settings say",
		     the_delay_is_as_long_as_the_settings_say),
		cmocka_unit_test(
			traffic_waits_for_the_first_training_but_not_for_ever),
		CASE("LINK-C30 [DRL-7] no alternate waits for the watchdog and "
		     "is reported",
		     no_alternate_waits_for_the_watchdog_and_is_reported),
		CASE("LINK-C30 what had no way goes on when the link returns",
		     what_had_no_way_goes_on_when_the_link_returns),
		CASE("LINK-C30 [DRL-7] a stream without a way does not extend "
		     "the watchdog",
		     a_stream_without_a_way_does_not_extend_the_watchdog),
		CASE("LINK-C30 [DRL-7] an unrelated flap does not extend the "
		     "watchdog",
		     an_unrelated_flap_does_not_extend_the_watchdog),
		CASE("LINK-C30 the alternate fails after every looped packet",
		     the_alternate_fails_after_every_looped_packet),
		CASE("[DRL-2] a looped packet takes the next hop after the "
		     "dead one",
		     a_looped_packet_takes_the_next_hop_after_the_dead_one),
		CASE("[DRL-2] a looped packet goes by a better way that is back",
		     a_looped_packet_goes_by_a_better_way_that_is_back),
		CASE("[LCB-3] [DRL-11] waiting packets give their credits "
		     "back",
		     waiting_packets_give_their_credits_back),
	};

	return cmocka_run_group_tests_name("failover", tests, NULL, NULL);
}
