/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CARRIER_H
#define RL_CARRIER_H

/**
 * @file Whether wires have a carrier: of kernel interfaces according to
 * rtnetlink, of all others according to their drivers. Neither net_af_packet nor
 * net_af_xdp reports that a cable is out or an interface is down.
 *
 * A separate thread polls one wire after the other, every few milliseconds.
 * Listening to the kernel is not enough: it announces such changes at most once a
 * second, so a second cable that is pulled would be noticed late. And an answer
 * may take long: others hold the kernel's lock, or the driver of a NIC reads its
 * PHY. No other thread waits for that.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "rl_phy_eth.h"
#include "rl_unplug.h"

struct rl_carrier_wire {
	unsigned int ifindex; /**< 0: its driver knows */
	uint16_t port_id;     /**< an ethdev that stays open */
	struct rl_unplug *unplug; /**< of its device; NULL: it stays */
	struct rl_phy_eth *phy; /**< gets rl_phy_eth_carrier() */
};

struct rl_carrier {
	struct rl_carrier_wire *wire; /**< NULL: not started */
	unsigned int nwire;
	int fd;
	pthread_t thread;
	_Atomic bool stop;
};

/**
 * Control thread. Starts to poll @p n wires, possibly several of an interface,
 * in the network namespace of the caller. The wires must outlive it.
 * @return 0 or -errno
 */
int rl_carrier_start(struct rl_carrier *c, const struct rl_carrier_wire wire[],
		     unsigned int n);

/** Control thread. Waits for the thread's last answer; @p c may be zeroed. */
void rl_carrier_stop(struct rl_carrier *c);

#endif /* RL_CARRIER_H */
