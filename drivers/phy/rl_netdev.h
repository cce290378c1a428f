/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_NETDEV_H
#define RL_NETDEV_H

/**
 * @file
 * What is known of ethdevs by their drivers (rl_driver.h), and done about it.
 *
 * Drivers differ in what they say about themselves, and some say it wrong: a
 * frame longer than the slot of net_af_packet is handed out cut short,
 * net_af_xdp needs thousands of buffers of at most a page before it receives
 * anything, and what a driver's queue drops stands in its own counters. Who
 * opens an ethdev, as a client or as the end of a link, asks here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rl_driver.h"

#define RL_IFNAME 16 /* IFNAMSIZ */

/** An ethdev, and what lies behind it. */
struct rl_netdev {
	const char *name;	/**< the caller's */
	const struct rl_driver *kind;
	char iface[RL_IFNAME];	/**< kernel interface behind it, or empty */
	char driver[32];
	uint16_t port_id;
	bool live;	   /**< its frames come from a kernel */
	bool asks_socket;  /**< what it misses, its socket alone knows */
	bool promiscuous;  /**< we made it so: undone at the end */
	uint32_t mtu;	   /**< of the interface; 0: none, or not known */
	uint32_t rx_bytes; /**< frames of so many bytes may be cut short */
	uint32_t tx_bytes; /**< longest frame that it writes */
	uint32_t buffer_bytes; /**< the least that it takes as a buffer */
	uint64_t socket_missed; /**< taken from the socket so far */
	uint64_t discarded;	/**< by rl_netdev_begin() */
	uint64_t written_late;	/**< of the errors that its driver counted */
};

/** What a driver counted. */
struct rl_netdev_stats {
	uint64_t missed;    /**< frames it had no room for */
	uint64_t rx_errors; /**< frames it refused */
	uint64_t no_mbuf;   /**< frames lost for want of a buffer */
	uint64_t tx_errors; /**< frames it could not write, and has not since */
	uint64_t discarded; /**< frames that waited at its start: nobody knows
				 that they were meant for this port */
};

/** Any thread, before EAL too. Frames that a pool for this port needs. */
uint32_t rl_netdev_frames(const char *name);

/**
 * Any thread, before EAL too. Bytes that each buffer of such a pool needs, for
 * frames of up to @p frame_bytes.
 */
uint32_t rl_netdev_bytes(const char *name, uint32_t frame_bytes);

/**
 * Control thread. Of a port that rl_netdev_find() does not find: why, and how to
 * give it to EAL. Returns buf.
 */
char *rl_netdev_missing(const char *name, char *buf, size_t len);

/**
 * Control thread. Finds the ethdev of this name, and what is known of it.
 * @return 0; -ENODEV
 */
int rl_netdev_find(struct rl_netdev *d, const char *name);

/** Any thread. Whether frames of @p frame_bytes pass whole, both ways. */
bool rl_netdev_fits(const struct rl_netdev *d, uint32_t frame_bytes);

/** Any thread. What of d->kind->room holds such frames whole. */
uint32_t rl_netdev_slot(const struct rl_netdev *d, uint32_t frame_bytes);

/**
 * Control thread. What may be wrong with the interface behind it, as the rest
 * of a sentence ("; it is down: ..."), or "".
 */
const char *rl_netdev_trouble(const struct rl_netdev *d);

/**
 * Control thread. Whether all queues that its frames are spread over can be
 * read: there is one.
 * @return 0; -ENOTSUP with one line in @p err
 */
int rl_netdev_check_queues(const struct rl_netdev *d, char *err, size_t len);

/**
 * Control thread, once a port has started, before anybody reads it. It takes
 * frames for whatever address from now on, except those that this machine
 * sends itself. What waits is thrown away and counted: net_af_packet gets
 * frames of all interfaces until it is bound to its own [PHY-10].
 */
void rl_netdev_begin(struct rl_netdev *d);

/** Control thread. Stops and closes it; what drivers say of that is nothing. */
void rl_netdev_close(struct rl_netdev *d);

/** Control thread. Counts since the start. */
void rl_netdev_stats(struct rl_netdev *d, struct rl_netdev_stats *st);

#endif /* RL_NETDEV_H */
