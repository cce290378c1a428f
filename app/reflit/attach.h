/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATTACH_H
#define ATTACH_H

/**
 * @file
 * The ethdevs that a fabric file attaches to endpoints: finds them, starts
 * them, and makes them clients. Scans the files of net_pcap beforehand,
 * because that driver stops silently at a corrupt record and at the end.
 */

#include "client_dev.h"
#include "host.h"
#include "ledger.h"

struct attach_dev {
	const struct rl_attach *cfg;
	uint32_t dev;		/**< device of the endpoint */
	struct rl_netdev port;
	struct rte_mempool *rx_pool; /**< of frames that it reads */
	bool open;
	struct rl_netdev_stats stats; /**< by attach_note_stats() */
	struct client_dev client;
	struct host_unplug unplug; /**< of a port that calls its peer, or that
					may lose its interface */
	struct rl_unplug iface;
	uint32_t mtu;		/**< of its interface; 0: not known */
	uint64_t mtu_due_ns;	/**< when to ask again */
	struct rl_l2 *l2;	/**< of a port on a network, or NULL */
	uint64_t file_frames;	/**< in its rx_pcap; 0: none, or endless */
	bool file_truncated;
	bool end_noted;
	bool gone_noted;
	bool cut_noted;
};

/** An endpoint that frames go to, without a port of its own. */
struct attach_sink {
	uint32_t dev;
	struct client_dev client;
};

struct attach {
	struct attach_dev *dev;
	uint32_t ndev;
	struct attach_sink *sink;
	uint32_t nsinks;
	struct rte_mempool *pool; /**< of frames that are written */
	struct proof **by_flow; /**< [dst * nep + src] */
	struct proof **flow;	/**< the same without gaps */
	uint32_t nflows;
	uint32_t cap;
	struct ledger ledger; /**< of halves of flows; opened by the caller */
};

/**
 * Control thread, before EAL. Its arguments say how much net_pcap reads ahead.
 * Returns the memory that attached ports need, in MB; prints what can't work.
 * @return 0 or -EINVAL
 */
int attach_plan(const struct rl_config *cfg, int process, int argc,
		char *const argv[], uint32_t *mb);

/**
 * Control thread, after rte_eal_init(), before host_open(). Finds and starts
 * the ports.
 *
 * @param err  HOST_ERR_MAX bytes, one line on failure
 * @return 0 or -errno; attach_close() is due in either case
 */
int attach_open(struct attach *a, const struct rl_config *cfg, int process,
		char *err);

/**
 * Control thread, after host_open(). Makes the ports clients. @return as above
 */
int attach_connect(struct attach *a, struct host *h, char *err);

/** Any thread. The longest frame that a port writes at an MTU; 0: not known. */
uint32_t attach_longest(const struct rl_netdev *d, uint32_t mtu);

/** Control thread. The attached port of an endpoint, or NULL. */
struct attach_dev *attach_find(struct attach *a, uint32_t dev);

/** Control thread. Whether the client of an endpoint is a port or a sink. */
bool attach_has(const struct attach *a, uint32_t dev);

/**
 * Control thread. Prints once for each file that all of it is sent, and for
 * each port that its frames arrive truncated.
 */
void attach_note(struct attach *a);

/**
 * Control thread, often. Checks whether ports that take no frames have a link.
 * Prints when their frames are thrown away, and when they take frames again.
 * Printed times count from @p start_ns.
 */
void attach_note_takers(struct attach *a, uint64_t start_ns);

/**
 * Control thread. Whether frames wait for a port that takes none now, and that
 * is still waited for (taker.h).
 */
bool attach_waits(const struct attach *a);

/** Control thread, often. Looks after peers that end and are started again. */
void attach_peers(struct attach *a, struct host *h);

/** Control thread. Asks the drivers for their counters. */
void attach_note_stats(struct attach *a);

/** Control thread. Whether all of every finite file is sent. */
bool attach_finished(const struct attach *a);

/** Control thread, after host_stop(). Stops ports, and writes files. */
void attach_close(struct attach *a);

#endif /* ATTACH_H */
