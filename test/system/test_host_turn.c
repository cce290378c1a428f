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

#include "../figure1.h"
#include "host_bed.h"

#define LIMIT_ROUNDS 1000000u

static const char fabric_text[] =
	FIGURE1_FABRIC "routing: { engine = \"updown\"; };\n";

struct client {
	uint32_t to_send;
	uint32_t sent;
	uint32_t received;
	struct rl_flit_cache *cache;
};

static struct host_bed bed;
static struct client client[2];

static unsigned int
client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	static const uint8_t data[4 * RL_FLIT_DATA_BYTES];
	struct client *c = ctx;
	const struct rl_ep_msg msg = {
		.dst = c == &client[0],
		.len_bytes = sizeof(data),
	};
	struct rl_flit *pkt;
	unsigned int work = 0;

	while ((pkt = rl_ep_recv(ep)) != NULL) {
		rl_packet_put(c->cache, pkt);
		c->received++;
		work++;
	}
	while (c->to_send != 0 &&
	       rl_ep_send(ep, now_ns, &msg, data, NULL) == 0) {
		c->to_send--;
		c->sent++;
		work++;
	}
	return work;
}

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

static bool
all_up(void)
{
	for (uint32_t d = 0; d < bed.cfg.topo.ndev; d++)
		for (uint16_t p = 0; p < bed.cfg.topo.dev[d].nports; p++)
			if (rl_port_state(
				    bed.host.fabric.dev[d].port[p].port) !=
			    RL_LINK_UP)
				return false;
	return true;
}

static int
setup(void **state)
{
	(void)state;
	memset(client, 0, sizeof(client));
	host_bed_open(&bed, fabric_text, 16);
	for (uint16_t e = 0; e < 2; e++) {
		const struct rl_client c = { .ctx = &client[e],
					     .poll = client_poll };

		client[e].cache = host_bed_client(&bed, e, &c);
	}
	assert_int_equal(host_start(&bed.host), 0);
	for (unsigned int i = 0; i < LIMIT_ROUNDS && !all_up(); i++)
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
	};

	eal_fixture_start("0@0");
	return cmocka_run_group_tests_name("host-turn", tests, NULL, NULL);
}
