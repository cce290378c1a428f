/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_DRIVER_H
#define RL_DRIVER_H

/**
 * @file
 * DPDK's drivers: what is known of each by its name, which its ports begin
 * with. A driver may have a second name (eth_pcap for net_pcap).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_driver {
	const char *name;  /**< as its ports say it, too */
	const char *alias; /**< what EAL takes for it as well */
	const char *more;  /**< arguments, behind the port's name */
	const char *one_queue; /**< asks for one queue, where its arguments may
				    ask for several, and it fills them all */
	const char *room; /**< asks for longer buffers of its own */
	uint32_t frames; /**< that its pool needs: descriptors of a queue, what
			      its owner has in hand, the pool's caches */
	bool live;	 /**< frames come from a kernel's interface, iface= */
	bool leaks;	 /**< what waits at its start may be meant for others */
	bool tells;	 /**< a thread of EAL's hears that the other end went */
	bool hardware;	 /**< a device, not a --vdev */
};

/** Any thread. Of a port, or of a driver as DPDK calls it; never NULL. */
const struct rl_driver *rl_driver_of(const char *name);

/** Any thread. Whether @p name is a port of driver @p driver ("net_..."). */
bool rl_driver_is(const char *name, const char *driver);

/**
 * Any thread. Value of "key=value" in a list of device arguments, into @p buf.
 * @return whether it is there
 */
bool rl_devarg(const char *args, const char *key, char *buf, size_t len);

#endif /* RL_DRIVER_H */
