/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CARRIER_H
#define RL_CARRIER_H

/**
 * @file Whether kernel interfaces have a carrier, according to rtnetlink.
 * Neither net_af_packet nor net_af_xdp reports that a cable is out or an
 * interface is down.
 *
 * A separate thread polls one interface after the other, every few
 * milliseconds. Listening is not enough: the kernel announces such changes at
 * most once a second, so a second cable that is pulled would be noticed late.
 * And an answer may take long while others hold the kernel's lock; no other
 * thread waits for that.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "rl_phy_eth.h"

/** A wire whose carrier only the kernel knows. */
struct rl_carrier_wire {
	unsigned int ifindex;
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
 * Control thread. Starts to poll @p n interfaces, possibly with several wires
 * each, in the network namespace of the caller. The wires must outlive it.
 * @return 0 or -errno
 */
int rl_carrier_start(struct rl_carrier *c, const struct rl_carrier_wire wire[],
		     unsigned int n);

/** Control thread. Waits for the thread's last answer; @p c may be zeroed. */
void rl_carrier_stop(struct rl_carrier *c);

#endif /* RL_CARRIER_H */
