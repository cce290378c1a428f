/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_WIRES_H
#define RL_WIRES_H

/**
 * @file Software wires: every link of a fabric as two rings between two queue
 * pairs of net_ring ethdevs, so that a fabric runs without NICs.
 *
 * Each end of a link has an ethdev of its own as long as DPDK has port numbers
 * left; a bigger fabric puts up to 16 ends onto the queue pairs of one ethdev,
 * and any further links use bare rings. Ports cannot tell the difference.
 */

#include "rl_phy_eth.h"

/**
 * One end of a link: where its port finds its wire. No pool: the link has
 * another wire.
 */
struct rl_wire_end {
	struct rte_mempool *pool;
	uint32_t frame_bytes; /**< 0: as planned by the caller */
	uint16_t port_id;
	uint16_t queue;
	uint16_t rx_queues; /**< see struct rl_phy_eth_params */
	bool syscalls; /**< each burst costs a system call: rl_phy.syscalls */
	struct rte_ring *rx_ring; /**< both NULL if there is an ethdev */
	struct rte_ring *tx_ring;
};

struct rl_wires {
	uint32_t nlinks;
	uint32_t nends;		  /**< with rings */
	uint32_t *used;		  /**< the numbers of these ends, in order */
	uint32_t ring_frames;
	uint16_t nports;
	uint16_t *port_id;	  /**< nports of them */
	struct rte_ring **ring;	  /**< [2 * link + end that sends] */
	struct rl_wire_end *end;  /**< [2 * link + end] */
};

/**
 * Control thread. Opens wires for @p nlinks links.
 *
 * @param other  [nlinks] whether a link has another wire, and gets none here;
 *   NULL: no link has
 * @param ring_frames  frames a direction holds, a power of two
 * @param pool         of the frames
 * @param err          @p errlen bytes; one line on failure
 * @return 0; -ENOMEM, or a driver's -errno; on failure there is nothing to
 *   close
 */
int rl_wires_open(struct rl_wires *w, uint32_t nlinks, const bool other[],
		  uint32_t ring_frames, struct rte_mempool *pool, char *err,
		  size_t errlen);

/** Control thread, after the lcores. Frees rings and ethdevs. */
void rl_wires_close(struct rl_wires *w);

#endif /* RL_WIRES_H */
