/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_UNPLUG_H
#define HOST_UNPLUG_H

/**
 * @file
 * Devices at the ends of wires that are pulled out of the running machine, and
 * that come back [PHY-7]. All of it is the control thread's.
 *
 *   HERE -- it leaves (rl_unplug.h): the lcore is told, the link dies --> LEAVES
 *   LEAVES -- all lcores have made a round: its ethdev is closed --> AWAY
 *   AWAY -- there is a device again: it is opened, the link trains --> HERE
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_lcore.h>

struct host;

enum host_unplug_state {
	HOST_UNPLUG_HERE,
	HOST_UNPLUG_LEAVES,
	HOST_UNPLUG_AWAY,
};

/** The device at one end of a wire. */
struct host_unplug {
	enum host_unplug_state state;
	bool refused;	 /**< to come back, and that was said */
	uint64_t due_ns; /**< when to look again */
	uint64_t rounds[RTE_MAX_LCORE]; /**< of lcores when it left */
};

/** Looks after devices that come and go. Call it often, after host_open() and
    before host_wires_carriers(), which asks those that came. */
void host_unplug_step(struct host *h);

#endif /* HOST_UNPLUG_H */
