/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PHY_ETH_H
#define RL_PHY_ETH_H

/**
 * @file An ethdev as the wire of a port [PHY-1]: one queue pair of it, or one
 * transmit queue and all that it receives by. (Or a pair of bare rings, for
 * fabrics with more links than DPDK has ethdev numbers.)
 *
 * Transmit: the port writes each frame into a fresh mbuf, out of its replay
 * buffer; after rte_eth_tx_burst() the mbuf is the driver's and is never read
 * again. That makes net_ring safe, which hands the same mbuf to the other side.
 * Frames that the driver does not take stay pending, and no new frame is given
 * out before they are gone: backpressure.
 *
 * Receive: flits are read in place if the frame starts on a cache line in one
 * segment, as with our own headroom of 128 bytes; other frames go through a
 * bounce buffer.
 *
 * Faults are injected between port and ethdev, see rl_inject.h.
 */

#include "rl_inject.h"
#include "rl_role.h"
#include "rl_tap.h"

struct rte_eth_dev_info;
struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

#define RL_PHY_BURST 32

struct rl_phy_eth_params {
	uint16_t port_id;
	uint16_t queue;
	uint16_t rx_queues; /**< more than 1: receives from all of them */
	struct rte_ring *rx_ring;  /**< both NULL: use the ethdev */
	struct rte_ring *tx_ring;  /**< of it */
	uint32_t frame_bytes;	   /**< largest frame, either way */
	struct rte_mempool *pool;  /**< rl_frame_pool() */
	struct rl_inject_dir *rx_fault; /**< NULL: none */
};

struct rl_phy_eth_counters {
	uint64_t tx_frames;
	uint64_t tx_bytes;	  /**< of frames from the port */
	uint64_t tx_backpressure; /**< polls that found frames pending */
	uint64_t tx_no_mbuf;
	uint64_t rx_frames;
	uint64_t rx_bounced;
	uint64_t rx_oversize;	  /**< longer than frame_bytes: dropped */
};

/** Belongs to the lcore of its port role; counters may be read by any. */
struct rl_phy_eth {
	struct rl_phy_eth_params p;
	_Atomic bool dark;    /**< the last call of rl_phy_eth_carrier() */
	_Atomic bool removed; /**< the ethdev is gone, or about to go */
	uint32_t data_at; /* of a frame in an mbuf of the pool, from its start */
	uint16_t npending;
	uint16_t nspare;
	uint16_t rx_next; /**< queue to be read next, if several */
	_Atomic(struct rl_tap *) tap; /**< of arriving frames; NULL: none */
	struct rl_phy_eth_counters c;
	uint8_t *bounce; /**< RL_PHY_BURST buffers */
	uint32_t bounce_bytes;
	struct rte_mbuf *pending[RL_PHY_BURST];
	struct rte_mbuf *spare[RL_PHY_BURST]; /**< given out, returned unused */
};

/**
 * Control thread. A pool for frames of up to @p frame_bytes, aligned.
 *
 * @param dma  a device reads and writes them (rl_driver.hardware): each has an
 *   address that the device knows. Otherwise none has, so that a pool without
 *   hugepages is not spread page by page.
 * @return NULL with rte_errno set
 */
struct rte_mempool *rl_frame_pool(const char *name, uint32_t frames,
				  uint32_t frame_bytes, bool dma);

/** Approximate memory of a pool in bytes. */
size_t rl_frame_pool_bytes(uint32_t frames, uint32_t frame_bytes, bool dma);

/**
 * Control thread. Configures an ethdev with @p queues queue pairs on @p pool
 * and starts it. A device that hashes (rl_ethdev_hashes()) spreads what it
 * receives over several. @p mtu: to be set, 0: leave it; a device without this
 * setting keeps its own.
 *
 * @return 0 or the -errno of the driver, with *what set to the step that
 *   failed
 */
int rl_ethdev_start(uint16_t port_id, uint16_t queues, struct rte_mempool *pool,
		    uint16_t mtu, const char **what);

/** Control thread. Whether it can spread frames by the hash of IP addresses. */
bool rl_ethdev_hashes(const struct rte_eth_dev_info *info);

/**
 * The port's lcore. A burst from the next of @p queues receive queues that has
 * frames; *next is the queue to begin with. Frames that came by one queue keep
 * their order.
 * @return frames in @p m, up to @p n
 */
uint16_t rl_ethdev_rx(uint16_t port_id, uint16_t queues, uint16_t *next,
		      struct rte_mbuf *m[], uint16_t n);

/**
 * Control thread. Largest frame of a started ethdev, by its MTU.
 * @return bytes, without FCS
 */
uint32_t rl_ethdev_frame_bytes(uint16_t port_id);

/**
 * Control thread. Makes a wire of a started ethdev.
 * @return 0; -EINVAL if the pool's buffers are too small or not aligned;
 *   -ENOMEM
 */
int rl_phy_eth_open(struct rl_phy_eth *phy, const struct rl_phy_eth_params *p);

/**
 * Any thread, one at a time. Sets the wire's carrier, at first there is one. The
 * lcore never asks for it: some drivers read a PHY, others ask the kernel
 * (rl_carrier.h does).
 */
void rl_phy_eth_carrier(struct rl_phy_eth *phy, bool up);

/** Any thread. What rl_phy_eth_carrier() said last. */
static inline bool
rl_phy_eth_is_dark(const struct rl_phy_eth *phy)
{
	return atomic_load_explicit(&phy->dark, memory_order_relaxed);
}

/**
 * Control thread. The ethdev is to be closed while the lcore runs, because its
 * device was pulled out, or its peer ended: from its next poll on, the lcore does not touch it, and
 * the link's status is RL_PHY_REMOVED. Close it after the lcore's next round.
 */
void rl_phy_eth_remove(struct rl_phy_eth *phy);

/**
 * Control thread, after rl_phy_eth_remove(). A started ethdev takes the place of
 * the one that was removed, with the same pool and frame size.
 */
void rl_phy_eth_replace(struct rl_phy_eth *phy, uint16_t port_id);

/** Control thread, after the lcores. Frees what the wire holds. */
void rl_phy_eth_close(struct rl_phy_eth *phy);

/**
 * Control thread. Copies of all arriving frames go to @p tap from now on; NULL:
 * stop. A removed tap may be in use until its lcore has made another round.
 */
void rl_phy_eth_tap(struct rl_phy_eth *phy, struct rl_tap *tap);

/** For struct rl_phy; the ctx is a struct rl_phy_eth. */
extern const struct rl_phy_ops rl_phy_eth_ops;

#endif /* RL_PHY_ETH_H */
