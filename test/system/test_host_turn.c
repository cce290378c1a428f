/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lcore host gives each device a turn: its ports take what has come, its
 * core is polled, its ports send (host_lcore.c). So what an endpoint sends in
 * one round is its peer's in the next, two switches further on, and what a dead
 * link held leaves by another port in the round of its death. Rounds are polled
 * by hand here. test_turn.c shows the same of the roles alone.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host_pair.h"

#define LIMIT_ROUNDS 1000000u

static const char fabric_text[] =
	FIGURE1_FABRIC "routing: { engine = \"updown\"; };\n";

static struct host_bed bed;
static struct pair_client client[2];

static void
round_once(void)
{
	host_lcore_poll(bed.host.lcore[bed.host.lcore_id[0]],
			host_role_now(&bed.host));
}

static struct rl_role_port *
port(const char *dev, uint16_t index)
{
	const uint32_t d = rl_topo_find_dev(&bed.cfg.topo, dev);

	return &bed.host.fabric.dev[d].port[index];
}

static uint64_t
counter(const struct rl_role_port *r, enum rl_port_counter c)
{
	return rl_port_counters(r->port)[c];
}

static int
setup(void **state)
{
	(void)state;
	host_pair_open(&bed, client, fabric_text);
	assert_int_equal(host_start(&bed.host), 0);
	for (unsigned int i = 0; i < LIMIT_ROUNDS && !host_pair_up(&bed); i++)
		round_once();
	/* the first packets wait until what is behind the links is known */
	client[0].to_send = client[1].to_send = 1;
	for (unsigned int i = 0; i < LIMIT_ROUNDS && !(client[0].received == 1 &&
						       client[1].received == 1);
	     i++)
		round_once();
	return client[0].received == 1 && client[1].received == 1 ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	host_bed_close(&bed);
	return 0;
}

/* The devices of a round: s0, s1, e0, e1. Against that order it takes two. */
static void
a_packet_is_at_its_end_in_the_round_after_it_was_sent(void **state)
{
	(void)state;
	for (unsigned int i = 2; i <= 10; i++) {
		client[0].to_send = client[1].to_send = 1;
		round_once();
		assert_int_equal(client[0].sent, i);
		assert_int_equal(client[1].received, i - 1);
		round_once();
		assert_int_equal(client[1].received, i);
		assert_int_equal(client[0].received, i - 1);
		round_once();
		assert_int_equal(client[0].received, i);
	}
}

/* [DRL-1] */
static void
what_a_dead_link_held_goes_round_it_in_the_round_of_its_death(void **state)
{
	struct rl_role_port *const r[2] = { port("s0", 1), port("s0", 2) };
	unsigned int dead;
	uint64_t before;

	(void)state;
	client[0].to_send = 100;
	round_once();
	round_once(); /* s0 has sent them, and not seen their ACKs */
	dead = counter(r[1], RL_PC_tx_flits) > counter(r[0], RL_PC_tx_flits);
	before = counter(r[!dead], RL_PC_tx_flits);
	assert_true(counter(r[dead], RL_PC_tx_flits) > before);
	rl_role_port_order(r[dead], RL_ORDER_DOWN);
	round_once();
	assert_true(counter(r[dead], RL_PC_looped_flits) > 0);
	assert_true(counter(r[!dead], RL_PC_tx_flits) > before);
	for (unsigned int i = 0; i < LIMIT_ROUNDS && client[1].received < 101;
	     i++)
		round_once();
	assert_int_equal(client[1].received, 101);
}

/* Its endpoint would take it, and say that a peer is unreachable. */
static void
who_has_crashed_hears_of_no_drops(void **state)
{
	const uint32_t e0 = rl_topo_find_dev(&bed.cfg.topo, "e0");
	const struct host_lcore *lc = bed.host.lcore[bed.host.lcore_id[0]];
	const uint64_t *told =
		rl_ep_counters(bed.host.fabric.dev[e0].core.ep);

	(void)state;
	client[0].to_send = 20;
	round_once(); /* they are in s1, or on their way to it */
	assert_int_equal(host_dev_crash(&bed.host, e0), 0);
	rl_role_port_order(port("s1", 0), RL_ORDER_DOWN);
	for (unsigned int i = 0; i < LIMIT_ROUNDS &&
				 lc->drops[RL_DROP_NO_PATH] == 0; i++)
		round_once();
	assert_true(lc->drops[RL_DROP_NO_PATH] > 0);
	round_once();
	assert_int_equal(told[RL_EPC_drop_notices], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_packet_is_at_its_end_in_the_round_after_it_was_sent,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_a_dead_link_held_goes_round_it_in_the_round_of_its_death,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_has_crashed_hears_of_no_drops, setup, teardown),
	};

	eal_fixture_start("0@0");
	return cmocka_run_group_tests_name("host-turn", tests, NULL, NULL);
}
