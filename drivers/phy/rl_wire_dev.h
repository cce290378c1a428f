/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_WIRE_DEV_H
#define RL_WIRE_DEV_H

/**
 * @file
 * One ethdev as the end of a link [PHY-1]: found, given a pool of its own,
 * started, and its frame size known. The control thread's.
 *
 * A frame of flits is as long as the MTU allows. If some hop of the wire has a
 * smaller MTU, long frames never arrive; links train with frames of full
 * length, so such a link does not come up.
 */

#include "rl_netdev.h"
#include "rl_phy_eth.h"
#include "rl_unplug.h"

struct rl_wire_dev {
	struct rl_netdev dev;
	struct rte_mempool *pool;
	uint32_t frame_bytes;
	uint32_t mtu; /**< as asked for */
	bool started; /**< once: it has an entry in the report */
	bool present; /**< its ethdev is open */
	struct rl_unplug unplug;
	unsigned int ifindex; /**< of its interface, if only the kernel knows
				   the carrier; 0: the driver does */
	struct rl_netdev_stats stats; /**< by rl_wire_dev_note_stats() */
};

/**
 * Any thread, even before EAL. Memory of one end with so many receive queues
 * (0: one), at most.
 */
size_t rl_wire_dev_bytes(const char *name, unsigned int rx_queues);

/**
 * Control thread, after rte_eal_init().
 *
 * @param mtu  bytes behind the Ethernet header; 0: the most that the interface
 *   and the driver support
 * @param rx_queues  see rl_netdev_check_queues()
 * @param err  @p len bytes: one line on failure
 * @return 0; -ENODEV (no such port), -EMSGSIZE (the MTU is too small for a
 *   flit, or larger than what the interface carries), -ENOMEM, or the driver's
 *   -errno; rl_wire_dev_close() is due in either case
 */
int rl_wire_dev_open(struct rl_wire_dev *w, const char *name, uint32_t mtu,
		     unsigned int rx_queues, char *err, size_t len);

/**
 * Control thread. Its device was pulled out, or is to be, or its peer has gone:
 * closes the ethdev and lets the device go. The port must have been told by rl_phy_eth_remove(), and
 * its lcore have made a round since.
 */
void rl_wire_dev_let_go(struct rl_wire_dev *w);

/**
 * Control thread, after rl_wire_dev_let_go(), if rl_unplug_back() or its peer
 * listens. Opens the device at the same address again.
 *
 * @param err  @p len bytes: one line on failure
 * @return 0, with an ethdev for rl_phy_eth_replace(); or -errno: try again
 */
int rl_wire_dev_take_back(struct rl_wire_dev *w, char *err, size_t len);

/** Control thread. Asks the driver for its counters. */
void rl_wire_dev_note_stats(struct rl_wire_dev *w);

/** Control thread, after the lcores and rl_phy_eth_close(). */
void rl_wire_dev_close(struct rl_wire_dev *w);

#endif /* RL_WIRE_DEV_H */
