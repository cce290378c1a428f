/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * If a port and its core are on two lcores, packets may be in the pipe between
 * them. They are under way all the same; stopping the fabric then gives their
 * flits back. Two lcores make their rounds here when they are told to: one
 * stands still, as if it were not run, while the other comes to rest. Without
 * end-to-end retry no endpoint waits for anything, so that a pipe alone has
 * the packet.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_launch.h>

#include "host_pair.h"

#define LIMIT_NS (60 * RL_NS_PER_S)
#define NEAR 1u /* the lcore of e0, and of s0's port to it */
#define FAR 2u	/* of all else */

static const char fabric_text[] =
	FIGURE1_FABRIC
	"routing: { engine = \"updown\"; };\n"
	"controller: { mode = \"off\"; };\n"
	"link: { keepalive_dead_ns = 0; };\n"
	"endpoint: { retry = false; };\n"
	"lcores: { place = ( { role = \"s\"; lcore = 2; },\n"
	"                    { role = \"s0/0\"; lcore = 1; },\n"
	"                    { role = \"e0\"; lcore = 1; },\n"
	"                    { role = \"e1\"; lcore = 2; } ); };\n";

static struct host_bed bed;
static struct pair_client client[2];

static int
round_main(void *arg)
{
	host_lcore_poll(arg, host_role_now(&bed.host));
	return 0;
}

/* A round of an lcore, while the others stand still. */
static void
round_of(unsigned int lcore)
{
	assert_int_equal(rte_eal_remote_launch(round_main,
					       bed.host.lcore[lcore], lcore),
			 0);
	assert_int_equal(rte_eal_wait_lcore(lcore), 0);
}

static bool
role_idle(const _Atomic uint32_t *idle)
{
	return atomic_load_explicit(idle, memory_order_acquire) != 0;
}

/* Whether all roles of an lcore say that they are idle. */
static bool
at_rest(unsigned int lcore)
{
	const struct host_lcore *lc = bed.host.lcore[lcore];

	for (uint32_t i = 0; i < lc->nports; i++)
		if (!role_idle(&lc->port[i]->idle))
			return false;
	for (uint32_t i = 0; i < lc->nturns; i++)
		if (lc->turn[i].core != NULL &&
		    !role_idle(&lc->turn[i].core->idle))
			return false;
	return true;
}

/* Rounds of these lcores (a bit each) until `cond` holds. */
#define rounds_until(lcores, cond)                                             \
	do {                                                                   \
		const uint64_t end_ns_ = host_now(&bed.host) + LIMIT_NS;       \
                                                                               \
		while (!(cond)) {                                              \
			assert_true(host_now(&bed.host) < end_ns_);            \
			for (unsigned int l_ = NEAR; l_ <= FAR; l_++)          \
				if ((lcores) & 1u << l_)                       \
					round_of(l_);                          \
		}                                                              \
	} while (0)
#define BOTH (1u << NEAR | 1u << FAR)

static int
setup(void **state)
{
	(void)state;
	host_pair_open(&bed, client, fabric_text);
	assert_int_equal(bed.host.nlcores, 2);
	bed.host.sliced = true; /* lcores poll only on command */
	assert_int_equal(host_start(&bed.host), 0);
	rounds_until(BOTH, host_pair_up(&bed));
	/* flows begin with a sync, and its answer */
	client[0].to_send = client[1].to_send = 1;
	rounds_until(BOTH, client[0].received == 1 && client[1].received == 1 &&
				   host_drained(&bed.host));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	host_bed_close(&bed);
	return 0;
}

/* The port of s0 to e0: it is on another lcore than s0's core. */
static struct rl_role_port *
far_from_core(void)
{
	return &bed.host.fabric.dev[rl_topo_find_dev(&bed.cfg.topo, "s0")]
			.port[0];
}

/* Endpoint @p from sends until its packet lies in a pipe, and all rest. */
static void
send_into_pipe(uint16_t from, unsigned int lcore, const struct rte_ring *pipe)
{
	client[from].to_send = 1;
	rounds_until(1u << lcore, client[from].to_send == 0 &&
					  !host_ring_empty(pipe) &&
					  at_rest(lcore));
	assert_true(at_rest(NEAR) && at_rest(FAR));
}

static void
a_packet_between_a_port_and_its_core_is_under_way(void **state)
{
	char name[HOST_ROLE_NAME];

	(void)state;
	send_into_pipe(0, NEAR, far_from_core()->rx.ring);
	assert_int_equal(client[1].received, 1);
	assert_false(host_drained(&bed.host));
	assert_string_equal(host_busy_role(&bed.host, name), "s0/0");
	rounds_until(BOTH, host_drained(&bed.host));
	assert_int_equal(client[1].received, 2);
}

static void
a_packet_between_a_core_and_its_port_is_under_way(void **state)
{
	char name[HOST_ROLE_NAME];

	(void)state;
	send_into_pipe(1, FAR, far_from_core()->tx.ring);
	assert_int_equal(client[0].received, 1);
	assert_false(host_drained(&bed.host));
	assert_string_equal(host_busy_role(&bed.host, name), "s0/0");
	rounds_until(BOTH, host_drained(&bed.host));
	assert_int_equal(client[0].received, 2);
}

static void
what_a_stop_finds_in_pipes_is_given_back(void **state)
{
	const struct rl_role_port *r = far_from_core();

	(void)state;
	send_into_pipe(1, FAR, r->tx.ring);
	send_into_pipe(0, NEAR, r->rx.ring);
	host_stop(&bed.host);
	assert_int_equal(host_leaked_flits(&bed.host), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_packet_between_a_port_and_its_core_is_under_way,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_packet_between_a_core_and_its_port_is_under_way,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_a_stop_finds_in_pipes_is_given_back, setup,
			teardown),
	};

	eal_fixture_start("0@0,1@0,2@1");
	return cmocka_run_group_tests_name("host-pipes", tests, NULL, NULL);
}
