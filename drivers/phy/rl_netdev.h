/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_NETDEV_H
#define RL_NETDEV_H

/**
 * @file Properties of ethdevs by their drivers (rl_driver.h), and their
 * consequences.
 *
 * Drivers report different properties, some wrongly: net_af_packet delivers
 * frames longer than its slot truncated, net_af_xdp needs thousands of buffers
 * of at most a page before it receives anything, and drops of a driver's queue
 * are in its own counters. Any code that opens an ethdev, as a client or as the
 * end of a link, asks here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rl_driver.h"

struct rte_mempool;

#define RL_IFNAME 16 /* IFNAMSIZ */
#define RL_VDEV_MAX 1024

/** Counters of a driver. */
struct rl_netdev_stats {
	uint64_t missed;    /**< frames it had no room for */
	uint64_t rx_errors; /**< frames it refused */
	uint64_t no_mbuf;   /**< frames lost for lack of a buffer */
	uint64_t tx_errors; /**< frames it could not write, and has not since */
	uint64_t discarded; /**< frames that waited at its start: they may not
				 be meant for this port */
};

/** An ethdev, and what is behind it. */
struct rl_netdev {
	const char *name;	/**< the caller's */
	const struct rl_driver *kind;
	char iface[RL_IFNAME];	/**< kernel interface behind it, or empty */
	unsigned int ifindex; /**< of it: it may be renamed; 0: none */
	char driver[32];
	uint16_t port_id;
	uint16_t queues;   /**< that it receives by, see check_queues */
	bool live;	   /**< its frames come from a kernel */
	bool asks_socket;  /**< only its socket knows what it has sent */
	bool promiscuous;  /**< set by us: undone at the end */
	uint32_t mtu;	   /**< of the interface; 0: none, or not known */
	uint32_t mtu_max;  /**< that its driver sets */
	uint32_t rx_bytes; /**< frames of this many bytes may be truncated */
	uint32_t tx_bytes; /**< longest frame that it writes */
	uint32_t buffer_bytes; /**< smallest buffer that it accepts */
	uint64_t socket_missed; /**< taken from the socket so far */
	uint64_t discarded;	/**< when it started */
	uint64_t written_late;	/**< of the errors that its driver counted */
	bool calls;		/**< see rl_listen_calls() */
	char vdev[RL_VDEV_MAX]; /**< its arguments, to open it again */
	struct rl_netdev_stats before; /**< of ethdevs that were let go */
};

/**
 * Any thread, even before EAL. Receive queues that a port fills by its
 * arguments @p vdev; of net_af_xdp, if they say none, all that its interface
 * has.
 */
unsigned int rl_netdev_queues(const char *vdev);

/** Any thread. Queues of an interface that a port of net_af_xdp may have. */
unsigned int rl_netdev_combined(const char *iface);

/**
 * Any thread, even before EAL. Frames that a pool for this port needs, with so
 * many receive queues (0: one).
 */
uint32_t rl_netdev_frames(const char *name, unsigned int queues);

/**
 * Any thread, even before EAL. Bytes that each buffer of such a pool needs, for
 * frames of up to @p frame_bytes.
 */
uint32_t rl_netdev_bytes(const char *name, uint32_t frame_bytes);

/**
 * Control thread. For a port that rl_netdev_find() does not find: why, and how
 * to give it to EAL. Returns buf.
 */
char *rl_netdev_missing(const char *name, char *buf, size_t len);

/**
 * Control thread. Finds the ethdev with this name, and its properties.
 * @return 0; -ENODEV
 */
int rl_netdev_find(struct rl_netdev *d, const char *name);

/**
 * Any thread. Whether frames of @p frame_bytes pass whole, in both directions.
 */
bool rl_netdev_fits(const struct rl_netdev *d, uint32_t frame_bytes);

/** Any thread. The value of d->kind->room that holds such frames whole. */
uint32_t rl_netdev_slot(const struct rl_netdev *d, uint32_t frame_bytes);

/**
 * Control thread. Checks that all queues over which its frames are spread are
 * read, and sets d->queues; and that no frame is too long by its arguments.
 * @p asked: queues that the fabric file wants; 0: what the driver fills.
 * @return 0; -ENOTSUP with one line in @p err
 */
int rl_netdev_check_queues(struct rl_netdev *d, unsigned int asked, char *err,
			   size_t len);

/** Control thread. A pool for it, called @p of and its number; see above. */
struct rte_mempool *rl_netdev_pool(const struct rl_netdev *d, const char *of,
				   uint32_t frames, uint32_t frame_bytes);

/**
 * Control thread. Starts it with d->queues, see rl_ethdev_start(). It accepts
 * frames for all addresses from now on, except those sent by this machine;
 * frames that waited are discarded and counted.
 * @return 0; -errno with one line in @p err
 */
int rl_netdev_start(struct rl_netdev *d, struct rte_mempool *pool, uint16_t mtu,
		    char *err, size_t len);

/** Control thread. Stops and closes it; hides the drivers' output. */
void rl_netdev_close(struct rl_netdev *d);

/**
 * Control thread. Closes it and lets its device go, as nobody uses it any more.
 */
void rl_netdev_let_go(struct rl_netdev *d);

/**
 * Control thread, after rl_netdev_let_go(). Opens the same again, with another
 * number, as rl_netdev_start() does.
 * @return 0; -errno with one line in @p err: try again
 */
int rl_netdev_take_back(struct rl_netdev *d, struct rte_mempool *pool,
			uint16_t mtu, char *err, size_t len);

/** Control thread. The MTU of its interface now; 0: not known. */
uint32_t rl_netdev_mtu(const struct rl_netdev *d);

/** Control thread. Counts since the first start. */
void rl_netdev_stats(struct rl_netdev *d, struct rl_netdev_stats *st);

#endif /* RL_NETDEV_H */
