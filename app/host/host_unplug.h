/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_UNPLUG_H
#define HOST_UNPLUG_H

/**
 * @file
 * Devices at the ends of wires that are pulled out of the running machine, and
 * that come back [PHY-7]; their kernel interfaces that are deleted or moved to
 * another network namespace, and come back under their names; ports whose drivers
 * connect to a peer once, and whose peer ends and is started again [PHY-8]. All of
 * it is the control thread's.
 *
 *   HERE -- it leaves: the lcore is told, the link dies --> LEAVES
 *   LEAVES -- all lcores have made a round: its ethdev is closed --> AWAY
 *   AWAY -- there is a device or a peer again: it is opened --> HERE
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_lcore.h>

#include "rl_unplug.h"

struct host;

enum host_unplug_state {
	HOST_UNPLUG_HERE,
	HOST_UNPLUG_LEAVES,
	HOST_UNPLUG_AWAY,
};

/** The device at one end of a wire, or the peer of a port. */
struct host_unplug {
	enum host_unplug_state state;
	bool calls;	 /**< a peer, see rl_listen_calls() */
	bool was_up;	 /**< the peer answered since it was opened */
	bool told;	 /**< that it is away */
	bool refused;	 /**< to come back, and that was said */
	uint64_t up_ns;	 /**< when the peer was there, or was opened */
	uint64_t due_ns; /**< when to look again */
	uint64_t rounds[RTE_MAX_LCORE]; /**< of lcores when it left */
};

/** Whose device or peer that is, and how it is closed and opened. */
struct host_unplug_port {
	void *ctx;
	const char *name;
	const char *at;	     /**< as in "it is back, at ..." */
	const char *without; /**< as in "... until it is back" */
	const char *iface;   /**< kernel interface that it may lose, or empty */
	bool (*leaves)(void *ctx, uint64_t now_ns);
	void (*tell)(void *ctx); /**< the lcore, not to use it any more */
	void (*let_go)(void *ctx);
	/** @return 0; -EAGAIN: it is not there; -errno with a line in @p err */
	int (*take_back)(void *ctx, char *err, size_t len);
};

/** One step of a port. */
void host_unplug_turn(struct host *h, struct host_unplug *u,
		      const struct host_unplug_port *p);

/**
 * For leaves() of a port that calls: @p up, whether its driver says that the
 * peer is there. @return whether to connect anew
 */
bool host_unplug_peer(struct host_unplug *u, bool up, uint64_t now_ns);

/**
 * For leaves() of all others, which looks now and then. @return whether the
 * device or the interface leaves, or has gone
 */
bool host_unplug_device(struct host_unplug *u, const struct rl_unplug *device,
			uint64_t now_ns);

/**
 * Control thread, before the lcores run. A wire that calls its peer has no carrier
 * until its driver is asked: to take the carrier from a link that has trained
 * meanwhile would end it.
 */
void host_unplug_begin(struct host *h);

/** Looks after all ends of wires. Call it often, after host_open() and
    before host_wires_carriers(), which asks those that came. */
void host_unplug_step(struct host *h);

#endif /* HOST_UNPLUG_H */
