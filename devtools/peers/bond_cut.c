/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's bonding PMD in active-backup over two cables, of which the one in use
 * is cut. One thread sends numbered packets at a steady rate into the bond and
 * takes them from the far ends of the cables; it drops what comes by a cable
 * that is cut. The bond hears of the cut as its members' link status, which it
 * polls; or it does not hear of it. Cables are net_ring: wire and cut are free
 * of everybody else's doing.
 *
 *   bond_cut [EAL options] -- POLL_MS RATE_PPS MS TOLD
 *
 * The cut comes after half of MS. Prints one JSON object. See failover.sh.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_eth_bond.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_version.h>

/* its name before 23.11 */
#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
#define rte_eth_bond_member_add rte_eth_bond_slave_add
#endif

#define BYTES 270
#define BURST 32
#define RING 1024

struct cable {
	struct rte_ring *far; /* what its member sends */
	uint16_t port;
	bool cut;
};

/*
 * The bond gives its members MAC addresses and refuses those that cannot take
 * one. net_ring has none: this answers for it, in place of ethdev's own.
 */
int
rte_eth_dev_default_mac_addr_set(uint16_t port, struct rte_ether_addr *mac)
{
	(void)port;
	(void)mac;
	return 0;
}

/* What came through. */
struct got {
	uint64_t packets;
	uint64_t again;  /* a number that was there before, or out of order */
	uint64_t next;
	uint64_t last;	 /* cycles */
	uint64_t silence[2]; /* longest, before and after the cut */
};

static int
start(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_conf conf;
	int ret;

	memset(&conf, 0, sizeof(conf));
	ret = rte_eth_dev_configure(port, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, RING, 0, NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(port, 0, RING, 0, NULL);
	return ret != 0 ? ret : rte_eth_dev_start(port);
}

static int
open_bond(struct cable c[2], unsigned int poll_ms, struct rte_mempool *pool)
{
	const int bond = rte_eth_bond_create("net_bonding0",
					     BONDING_MODE_ACTIVE_BACKUP, 0);
	int ret = bond;

	for (unsigned int i = 0; i < 2 && ret >= 0; i++) {
		char name[32];
		struct rte_ring *in;

		snprintf(name, sizeof(name), "in%u", i);
		in = rte_ring_create(name, RING, 0, 0);
		snprintf(name, sizeof(name), "far%u", i);
		c[i].far = rte_ring_create(name, RING, 0, 0);
		if (in == NULL || c[i].far == NULL)
			return -1;
		snprintf(name, sizeof(name), "cable%u", i);
		ret = rte_eth_from_rings(name, &in, 1, &c[i].far, 1, 0);
		c[i].port = (uint16_t)ret;
		if (ret >= 0)
			ret = rte_eth_bond_member_add((uint16_t)bond, c[i].port);
	}
	if (ret >= 0)
		ret = rte_eth_bond_link_monitoring_set((uint16_t)bond, poll_ms);
	if (ret >= 0)
		ret = start((uint16_t)bond, pool);
	return ret < 0 ? ret : bond;
}

static uint16_t
send_burst(uint16_t bond, struct rte_mempool *pool, uint64_t first, uint16_t n)
{
	struct rte_mbuf *m[BURST];
	uint16_t sent;

	if (rte_pktmbuf_alloc_bulk(pool, m, n) != 0)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		uint8_t *p = rte_pktmbuf_mtod(m[i], uint8_t *);
		const uint64_t number = first + i;

		memset(p, 0, BYTES);
		memcpy(p + 14, &number, sizeof(number));
		m[i]->data_len = BYTES;
		m[i]->pkt_len = BYTES;
	}
	sent = rte_eth_tx_burst(bond, 0, m, n);
	rte_pktmbuf_free_bulk(m + sent, n - sent);
	return sent;
}

static void
receive(const struct cable *c, struct got *g, bool after)
{
	struct rte_mbuf *m[BURST];
	const unsigned int n =
		rte_ring_dequeue_burst(c->far, (void **)m, BURST, NULL);
	const uint64_t now = rte_get_timer_cycles();

	for (unsigned int i = 0; i < n && !c->cut; i++) {
		uint64_t number;

		memcpy(&number, rte_pktmbuf_mtod(m[i], uint8_t *) + 14,
		       sizeof(number));
		g->again += number < g->next;
		g->next = number + 1;
		g->packets++;
		if (g->last != 0 && now - g->last > g->silence[after])
			g->silence[after] = now - g->last;
		g->last = now;
	}
	rte_pktmbuf_free_bulk(m, n);
}

static void
run(uint16_t bond, struct cable c[2], struct rte_mempool *pool,
    uint64_t rate, uint64_t ms, bool told)
{
	const uint64_t hz = rte_get_timer_hz(), begin = rte_get_timer_cycles();
	const uint64_t end = begin + hz / 1000 * ms;
	const uint64_t cut_at = begin + hz / 1000 * (ms / 2);
	struct got g = { 0 };
	uint64_t sent = 0, now = begin;
	bool after = false;

	while (now < end + hz / 10) {
		/* by the clock, however long another had the CPU */
		const uint64_t due =
			(uint64_t)((double)((now < end ? now : end) - begin) *
				   (double)rate / (double)hz);

		if (!after && now >= cut_at) {
			const unsigned int i = (uint16_t)rte_eth_bond_primary_get(
						       bond) == c[1].port;

			after = c[i].cut = true;
			if (told)
				rte_eth_dev_set_link_down(c[i].port);
		}
		if (sent < due)
			sent += send_burst(bond, pool, sent,
					   (uint16_t)(due - sent > BURST
							      ? BURST
							      : due - sent));
		for (unsigned int i = 0; i < 2; i++)
			receive(&c[i], &g, after);
		now = rte_get_timer_cycles();
	}
	/* nothing came any more: that is silence, too */
	if (g.last < end && end - g.last > g.silence[1])
		g.silence[1] = end - g.last;
	printf("{\"sent\": %lu, \"received\": %lu, \"out_of_order\": %lu, "
	       "\"quiet_silence_ns\": %.0f, \"silence_ns\": %.0f}\n",
	       sent, g.packets, g.again, (double)g.silence[0] * 1e9 / (double)hz,
	       (double)g.silence[1] * 1e9 / (double)hz);
}

int
main(int argc, char **argv)
{
	const int used = rte_eal_init(argc, argv);
	struct cable c[2] = { 0 };
	struct rte_mempool *pool;
	char **a = argv + used + 1;
	int bond;

	if (used < 0 || argc - used != 5) {
		fprintf(stderr, "usage: bond_cut [EAL options] -- POLL_MS "
				"RATE_PPS MS TOLD\n");
		return 2;
	}
	pool = rte_pktmbuf_pool_create("packets", 8191, 256, 0,
				       RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	bond = pool == NULL ? -1 : open_bond(c, (unsigned int)atoi(a[0]), pool);
	if (bond < 0) {
		fprintf(stderr, "bond_cut: no bond: %d\n", bond);
		return 1;
	}
	rte_delay_ms(100); /* its members come up */
	run((uint16_t)bond, c, pool, (uint64_t)atoll(a[1]),
	    (uint64_t)atoll(a[2]), atoi(a[3]) != 0);
	return 0;
}
