/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATTACH_PORT_H
#define ATTACH_PORT_H

/**
 * @file
 * One ethdev as a client's port: what its driver needs and what it can carry.
 *
 * Drivers differ in what they say about themselves, and some say it wrong: a
 * frame longer than the slot of net_af_packet is handed out cut short,
 * net_af_xdp needs thousands of buffers of at most a page before it receives
 * anything, and what a driver's queue drops stands in its own counters. All
 * that is known of drivers by their names is in attach_port.c.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "rl_config.h"

#define ATTACH_IFNAME 16 /* IFNAMSIZ */

/** An ethdev that frames are read from and written to. */
struct attach_port {
	const char *name;	  /**< of the configuration */
	char iface[ATTACH_IFNAME]; /**< kernel interface behind it, or empty */
	char driver[32];
	uint16_t port_id;
	bool open;
	bool live;	   /**< its frames come from a kernel: check them */
	bool asks_socket;  /**< what it misses, its socket alone knows */
	uint32_t rx_bytes; /**< frames of so many bytes may be cut short */
	uint32_t tx_bytes; /**< longest frame that it writes */
	struct rte_mempool *pool; /**< of frames that it reads */
	uint64_t socket_missed;	  /**< taken from the socket so far */
};

/** What a driver counted. */
struct attach_port_stats {
	uint64_t missed;    /**< frames it had no room for */
	uint64_t rx_errors; /**< frames it refused */
	uint64_t no_mbuf;   /**< frames lost for want of a buffer */
	uint64_t tx_errors; /**< frames it could not write */
};

/** Any thread, before EAL too. Frames and bytes of a port's pool. */
uint32_t attach_port_frames(const char *name, uint32_t read_ahead);
uint32_t attach_port_bytes(const char *name, uint32_t max_bytes);

/**
 * Control thread, after rte_eal_init(). Finds the port of @p cfg, makes its
 * pool, starts it, and makes sure that it can receive frames whole.
 *
 * @param max_bytes   longest packet of the fabric
 * @param read_ahead  frames that the driver keeps for good
 * @param err         @p len bytes, one line on failure
 * @return 0 or -errno; attach_port_close() is due in either case
 */
int attach_port_open(struct attach_port *p, const struct rl_attach *cfg,
		     uint32_t max_bytes, uint32_t read_ahead, char *err,
		     size_t len);

/** Control thread. Counts since the start. */
void attach_port_stats(struct attach_port *p, struct attach_port_stats *st);

void attach_port_close(struct attach_port *p);

#endif /* ATTACH_PORT_H */
