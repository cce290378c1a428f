/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CARRIER_H
#define RL_CARRIER_H

/**
 * @file
 * Whether kernel interfaces have a carrier, as rtnetlink tells it. Neither
 * net_af_packet nor net_af_xdp says that a cable is out or an interface down:
 * their status is what it was at the start.
 *
 * All calls are the control thread's.
 */

#include <stdbool.h>

struct rl_carrier {
	int fd; /**< -1: closed */
};

enum rl_carrier_news {
	RL_CARRIER_NONE,   /**< nothing more now */
	RL_CARRIER_CHANGE, /**< *ifindex may have changed: *up */
	RL_CARRIER_MISSED, /**< too many at once: ask rl_carrier_now() of all */
};

/** Listens, in the network namespace of the caller. @return 0 or -errno */
int rl_carrier_open(struct rl_carrier *c);

/** Never waits. */
enum rl_carrier_news rl_carrier_next(struct rl_carrier *c,
				     unsigned int *ifindex, bool *up);

/**
 * Whether an interface is up and its cable leads somewhere. One that is gone
 * has no carrier; true where the kernel cannot be asked.
 */
bool rl_carrier_now(unsigned int ifindex);

void rl_carrier_close(struct rl_carrier *c);

#endif /* RL_CARRIER_H */
