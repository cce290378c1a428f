/* SPDX-License-Identifier: BSD-3-Clause */

/* Pools for frames, and the few steps from an ethdev's name to its start. */

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "rl_driver.h"
#include "rl_phy_eth.h"

#define RING_DESC 1024
/* Ethernet header, FCS, and two VLAN tags, if a device does not say. */
#define OVERHEAD 26u
#define POOL_CACHE 256
#define PAGE_BYTES 4096u

static uint32_t
data_room(uint32_t frame_bytes)
{
	return RTE_ALIGN_CEIL(RTE_PKTMBUF_HEADROOM + frame_bytes,
			      RL_CACHE_LINE);
}

struct rte_mempool *
rl_frame_pool(const char *name, uint32_t frames, uint32_t frame_bytes,
	      bool dma)
{
	struct rte_pktmbuf_pool_private priv = {
		.mbuf_data_room_size = (uint16_t)data_room(frame_bytes),
	};
	const uint32_t elt =
		(uint32_t)sizeof(struct rte_mbuf) + data_room(frame_bytes);

	if (data_room(frame_bytes) > UINT16_MAX) {
		rte_errno = EINVAL;
		return NULL;
	}
	return rte_mempool_create(name, frames, elt,
				  frames >= 4 * POOL_CACHE ? POOL_CACHE : 0,
				  sizeof(priv), rte_pktmbuf_pool_init, &priv,
				  rte_pktmbuf_init, NULL, SOCKET_ID_ANY,
				  dma ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG);
}

size_t
rl_frame_pool_bytes(uint32_t frames, uint32_t frame_bytes, bool dma)
{
	size_t elt = sizeof(struct rte_mbuf) + data_room(frame_bytes) +
		     3 * RL_CACHE_LINE; /* header, spreading */

	if (dma) /* without hugepages a frame lies within whole pages */
		elt = RTE_ALIGN_CEIL(elt, PAGE_BYTES);
	return frames * (elt + sizeof(void *)) + (1u << 20);
}

/* Of addresses alone: fragments have no ports, and stay with their flow. */
static uint64_t
hash_of(const struct rte_eth_dev_info *info)
{
	return info->flow_type_rss_offloads & RTE_ETH_RSS_IP;
}

bool
rl_ethdev_hashes(const struct rte_eth_dev_info *info)
{
	return hash_of(info) != 0;
}

/*
 * Spread what it receives over several queues, if a device does so when asked.
 * Receive in several buffers, if the longest frame of the device exceeds one. No
 * interrupts for changes of the link: a driver that promises them answers from
 * memory, and with vmxnet3 and e1000 none came. rl_carrier.h asks often enough.
 */
static void
choose(uint16_t port_id, uint16_t queues, uint16_t mtu,
       struct rte_mempool *pool, struct rte_eth_conf *conf)
{
	const uint32_t room =
		rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_dev_info info;
	uint32_t over = OVERHEAD;

	if (rte_eth_dev_get_name_by_port(port_id, name) != 0 ||
	    rte_eth_dev_info_get(port_id, &info) != 0)
		return;
	if (queues > 1 && rl_ethdev_hashes(&info)) {
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf->rx_adv_conf.rss_conf.rss_hf = hash_of(&info);
	}
	if (!rl_driver_of(name)->hardware)
		return;
	if (info.max_mtu != UINT16_MAX && info.max_rx_pktlen > info.max_mtu)
		over = info.max_rx_pktlen - info.max_mtu;
	if (RTE_MAX(mtu, (uint16_t)RTE_ETHER_MTU) + over > room)
		conf->rxmode.offloads |= info.rx_offload_capa &
					 RTE_ETH_RX_OFFLOAD_SCATTER;
}

int
rl_ethdev_start(uint16_t port_id, uint16_t queues, struct rte_mempool *pool,
		uint16_t mtu, const char **what)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t rx_desc = RING_DESC, tx_desc = RING_DESC;
	int ret;

	choose(port_id, queues, mtu, pool, &conf);
	*what = "configure";
	ret = rte_eth_dev_configure(port_id, queues, queues, &conf);
	if (ret != 0)
		return ret;
	*what = "set the MTU of";
	ret = mtu != 0 ? rte_eth_dev_set_mtu(port_id, mtu) : 0;
	if (ret != 0 && ret != -ENOTSUP)
		return ret;
	*what = "size the queues of";
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port_id, &rx_desc, &tx_desc);
	if (ret != 0)
		return ret;
	*what = "set up the queues of";
	for (uint16_t q = 0; q < queues; q++) {
		ret = rte_eth_rx_queue_setup(port_id, q, rx_desc,
					     SOCKET_ID_ANY, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port_id, q, tx_desc,
						     SOCKET_ID_ANY, NULL);
		if (ret != 0)
			return ret;
	}
	*what = "start";
	return rte_eth_dev_start(port_id);
}

uint16_t
rl_ethdev_rx(uint16_t port_id, uint16_t queues, uint16_t *next,
	     struct rte_mbuf *m[], uint16_t n)
{
	uint16_t got = 0;

	for (uint16_t i = 0; i < queues && got == 0; i++) {
		const uint16_t q = *next;

		*next = q + 1 < queues ? q + 1 : 0;
		got = rte_eth_rx_burst(port_id, q, m, n);
	}
	return got;
}

uint32_t
rl_ethdev_frame_bytes(uint16_t port_id)
{
	uint16_t mtu = RTE_ETHER_MTU;

	(void)rte_eth_dev_get_mtu(port_id, &mtu);
	return (uint32_t)mtu + RTE_ETHER_HDR_LEN;
}
