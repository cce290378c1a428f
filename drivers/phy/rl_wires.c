/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "rl_refuse.h"
#include "rl_wires.h"

#define QUEUES_MAX RTE_PMD_RING_MAX_RX_RINGS

static uint32_t
ports_free(void)
{
	const uint32_t used = rte_eth_dev_count_total();

	return used >= RTE_MAX_ETHPORTS ? 0 : RTE_MAX_ETHPORTS - used;
}

/* Device names are unique in a process: finds a free number for a fabric. */
static unsigned int
free_number(const struct rl_wires *w)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	unsigned int i = 0;
	uint16_t port;

	for (; w->nends != 0; i++) {
		snprintf(name, sizeof(name), "net_ring_end%u.%u", i,
			 w->used[0]);
		if (rte_eth_dev_get_port_by_name(name, &port) != 0)
			break;
	}
	return i;
}

/* Without names: each name takes one of DPDK's 2,560 memory zones. */
static int
open_rings(struct rl_wires *w)
{
	const ssize_t bytes = rte_ring_get_memsize(
		rte_align32pow2(w->ring_frames + 1));

	if (bytes < 0)
		return (int)bytes;
	for (uint32_t k = 0; k < w->nends; k++) {
		struct rte_ring *r = rte_zmalloc("wire", (size_t)bytes,
						 RTE_CACHE_LINE_SIZE);
		int ret;

		if (r == NULL)
			return -ENOMEM;
		w->ring[w->used[k]] = r;
		ret = rte_ring_init(r, "wire", w->ring_frames,
				    RING_F_SP_ENQ | RING_F_SC_DEQ |
					    RING_F_EXACT_SZ);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
open_port(struct rl_wires *w, unsigned int number, uint32_t first, uint16_t n,
	  struct rte_mempool *pool, char *err, size_t errlen)
{
	struct rte_ring *rx[QUEUES_MAX], *tx[QUEUES_MAX];
	const char *what = "create";
	char name[32];
	int port, ret;

	for (uint16_t q = 0; q < n; q++) {
		tx[q] = w->ring[w->used[first + q]];
		rx[q] = w->ring[w->used[first + q] ^ 1];
	}
	snprintf(name, sizeof(name), "end%u.%u", number, w->used[first]);
	port = rte_eth_from_rings(name, rx, n, tx, n, 0);
	if (port < 0) {
		ret = rte_errno != 0 ? -rte_errno : -EIO;
		goto fail;
	}
	w->port_id[w->nports++] = (uint16_t)port;
	ret = rl_ethdev_start((uint16_t)port, n, pool, 0, &what);
	if (ret != 0)
		goto fail;
	for (uint16_t q = 0; q < n; q++)
		w->end[w->used[first + q]] = (struct rl_wire_end){
			.pool = pool,
			.port_id = (uint16_t)port,
			.queue = q,
		};
	return 0;

fail:
	return rl_refuse(err, errlen, ret, "cannot %s net_ring ethdev %s: %s",
			 what, name, strerror(-ret));
}

static int
list_ends(struct rl_wires *w, uint32_t nlinks, const bool other[])
{
	w->nlinks = nlinks;
	w->port_id = calloc(RTE_MAX_ETHPORTS, sizeof(*w->port_id));
	w->ring = calloc(2 * nlinks, sizeof(*w->ring));
	w->end = calloc(2 * nlinks, sizeof(*w->end));
	w->used = calloc(2 * nlinks, sizeof(*w->used));
	if (w->port_id == NULL || w->ring == NULL || w->end == NULL ||
	    w->used == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * nlinks; i++)
		if (other == NULL || !other[i / 2])
			w->used[w->nends++] = i;
	return 0;
}

int
rl_wires_open(struct rl_wires *w, uint32_t nlinks, const bool other[],
	      uint32_t ring_frames, struct rte_mempool *pool, char *err,
	      size_t errlen)
{
	const uint32_t ports = ports_free();
	uint32_t on_ports, queues;
	unsigned int number;
	int ret;

	memset(w, 0, sizeof(*w));
	snprintf(err, errlen, "no memory for %u wires; raise -m", nlinks);
	w->ring_frames = ring_frames;
	ret = list_ends(w, nlinks, other);
	number = free_number(w);
	if (ret == 0)
		ret = open_rings(w);
	if (ret != 0)
		goto fail;
	on_ports = RTE_MIN(w->nends, ports * QUEUES_MAX);
	queues = ports == 0 ? 1 : (on_ports + ports - 1) / ports;
	for (uint32_t i = 0; i < on_ports; i += queues) {
		const uint32_t n = RTE_MIN(queues, on_ports - i);

		ret = open_port(w, number, i, (uint16_t)n, pool, err, errlen);
		if (ret != 0)
			goto fail;
	}
	for (uint32_t k = on_ports; k < w->nends; k++)
		w->end[w->used[k]] = (struct rl_wire_end){
			.pool = pool,
			.rx_ring = w->ring[w->used[k] ^ 1],
			.tx_ring = w->ring[w->used[k]],
		};
	return 0;

fail:
	rl_wires_close(w);
	return ret;
}

void
rl_wires_close(struct rl_wires *w)
{
	void *m;

	for (uint16_t i = 0; i < w->nports; i++) {
		struct rte_eth_dev_info info;

		(void)rte_eth_dev_stop(w->port_id[i]);
		/* removes the device, too, so that its name is free again */
		if (rte_eth_dev_info_get(w->port_id[i], &info) == 0)
			(void)rte_dev_remove(info.device);
	}
	for (uint32_t i = 0; w->ring != NULL && i < 2 * w->nlinks; i++) {
		while (w->ring[i] != NULL &&
		       rte_ring_dequeue(w->ring[i], &m) == 0)
			rte_pktmbuf_free(m);
		rte_free(w->ring[i]);
	}
	free(w->port_id);
	free(w->ring);
	free(w->end);
	free(w->used);
	memset(w, 0, sizeof(*w));
}
