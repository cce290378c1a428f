/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports with several receive queues [PHY-9]. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "eal_fixture.h"
#include "rl_netdev.h"
#include "rl_phy_eth.h"

#define FRAME_BYTES 1088u
#define RING 64
#define POOL 8192

static int
setup(void **state)
{
	*state = rl_frame_pool("frames", POOL, FRAME_BYTES, false);
	return *state == NULL;
}

static int
teardown(void **state)
{
	/* every frame was given back */
	assert_int_equal(rte_mempool_avail_count(*state), POOL);
	rte_mempool_free(*state);
	return 0;
}

/* Frames with numbers from @p first on. */
static void
put_numbers(struct rte_mempool *pool, struct rte_ring *r, unsigned int n,
	    uint32_t first)
{
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		assert_non_null(m);
		m->hash.usr = first + i;
		assert_int_equal(rte_ring_enqueue(r, m), 0);
	}
}

static void
queues_take_turns_and_each_keeps_its_order(void **state)
{
	static const struct {
		uint16_t n;
		uint32_t first;
	} want[] = { { 32, 0 }, { 3, 100 }, { 8, 32 }, { 0, 0 }, { 0, 0 } };
	struct rte_mempool *pool = *state;
	struct rte_ring *r[3];
	struct rte_mbuf *m[32];
	uint16_t next = 0;
	const char *what;
	char name[8];
	int port;

	for (unsigned int q = 0; q < 3; q++) {
		snprintf(name, sizeof(name), "turn%u", q);
		r[q] = rte_ring_create(name, RING, SOCKET_ID_ANY, 0);
		assert_non_null(r[q]);
	}
	port = rte_eth_from_rings("turns", r, 3, r, 3, 0);
	assert_true(port >= 0);
	assert_int_equal(rl_ethdev_start((uint16_t)port, 3, pool, 0, &what),
			 0);
	put_numbers(pool, r[0], 40, 0);
	put_numbers(pool, r[2], 3, 100);
	for (unsigned int i = 0; i < RTE_DIM(want); i++) {
		assert_int_equal(rl_ethdev_rx((uint16_t)port, 3, &next, m, 32),
				 want[i].n);
		assert_true(next < 3);
		for (uint16_t k = 0; k < want[i].n; k++)
			assert_int_equal(m[k]->hash.usr, want[i].first + k);
		rte_pktmbuf_free_bulk(m, want[i].n);
	}
	rte_eth_dev_stop((uint16_t)port);
	assert_int_equal(rte_vdev_uninit("net_ring_turns"), 0);
	for (unsigned int q = 0; q < 3; q++)
		rte_ring_free(r[q]);
}

/* The driver counts by queue. */
static void
each_queue_of_a_port_is_read(void **state)
{
	struct rte_mempool *pool = *state;
	struct rl_phy_eth_params p = { .frame_bytes = FRAME_BYTES,
				       .pool = pool };
	struct rl_phy_frame f[RL_PHY_BURST];
	struct rte_eth_stats st;
	struct rl_netdev d;
	struct rl_phy_eth phy;
	char err[256];

	assert_int_equal(rte_vdev_init("net_null1", "size=256"), 0);
	assert_int_equal(rl_netdev_find(&d, "net_null1"), 0);
	assert_int_equal(rl_netdev_check_queues(&d, 4, err, sizeof(err)), 0);
	assert_int_equal(rl_netdev_start(&d, pool, 0, err, sizeof(err)), 0);
	p.port_id = d.port_id;
	p.rx_queues = d.queues;
	assert_int_equal(rl_phy_eth_open(&phy, &p), 0);
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(rl_phy_eth_ops.rx(&phy, f, RL_PHY_BURST, 1),
				 RL_PHY_BURST);
		rl_phy_eth_ops.rx_free(&phy, f, RL_PHY_BURST);
	}
	assert_int_equal(rte_eth_stats_get(d.port_id, &st), 0);
	for (unsigned int q = 0; q < 4; q++)
		assert_int_equal(st.q_ipackets[q], 2 * RL_PHY_BURST);
	rl_phy_eth_close(&phy);
	rl_netdev_let_go(&d);
}

static void
a_port_has_as_many_queues_as_its_driver_can_fill(void **state)
{
	static const struct {
		const char *vdev;
		unsigned int asked;
		unsigned int queues; /* 0: refused */
		const char *why;
	} tab[] = {
		{ "net_null2", 0, 1, "" },
		{ "net_null2", 1, 1, "" },
		{ "net_null2", 64, 64, "" },
		{ "net_null2", 1024, 1024, "" },
		{ "net_null2", 1025, 0, "net_null has at most 1024; ask for" },
		{ "net_ring2", 0, 1, "" },
		{ "net_ring2", 1, 1, "" },
		{ "net_ring2", 2, 0, "net_ring spreads no frames over queues" },
		{ "net_ring2", 17, 0, "net_ring has at most 16; ask for less" },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(tab); i++) {
		struct rl_netdev d;
		char err[256] = "";

		assert_int_equal(rte_vdev_init(tab[i].vdev, ""), 0);
		assert_int_equal(rl_netdev_find(&d, tab[i].vdev), 0);
		assert_int_equal(d.queues, 1);
		assert_int_equal(rl_netdev_check_queues(&d, tab[i].asked, err,
							sizeof(err)),
				 tab[i].queues != 0 ? 0 : -ENOTSUP);
		if (tab[i].queues != 0)
			assert_int_equal(d.queues, tab[i].queues);
		else
			assert_non_null(strstr(err, tab[i].why));
		assert_int_equal(rte_vdev_uninit(tab[i].vdev), 0);
	}
	assert_int_equal(rl_netdev_frames("net_null2", 0),
			 rl_netdev_frames("net_null2", 1));
	assert_int_equal(rl_netdev_frames("net_null2", 4),
			 rl_netdev_frames("net_null2", 1) + 3 * 2048);
}

static void
an_argument_of_a_port_is_set_where_it_stands(void **state)
{
	static const char *const tab[][2] = {
		{ "net_x0", "net_x0,queues=12" },
		{ "net_x0,iface=a", "net_x0,iface=a,queues=12" },
		{ "net_x0,queues=4", "net_x0,queues=12" },
		{ "net_x0,queues=,iface=a", "net_x0,queues=12,iface=a" },
		{ "net_x0,iface=queues,a=queues=1",
		  "net_x0,iface=queues,a=queues=1,queues=12" },
	};
	char buf[64];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(tab); i++) {
		const size_t n = strlen(tab[i][1]) + 1;

		assert_true(rl_devarg_set(buf, n, tab[i][0], "queues", 12));
		assert_string_equal(buf, tab[i][1]);
		assert_false(rl_devarg_set(buf, n - 1, tab[i][0], "queues",
					   12));
	}
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(queues_take_turns_and_each_keeps_its_order),
		T(each_queue_of_a_port_is_read),
		T(a_port_has_as_many_queues_as_its_driver_can_fill),
		T(an_argument_of_a_port_is_set_where_it_stands),
	};
#undef T

	eal_fixture_start("0");
	return cmocka_run_group_tests_name("phy queues", tests, NULL, NULL);
}
