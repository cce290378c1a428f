/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_DRIVER_H
#define RL_DRIVER_H

/**
 * @file DPDK's drivers: properties of each by its name, with which its ports'
 * names begin. A driver may have a second name (eth_pcap for net_pcap).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_driver {
	const char *name;  /**< its ports report it, too */
	const char *alias; /**< alternative name for EAL */
	const char *more;  /**< arguments, behind the port's name */
	const char *queues; /**< argument that requests receive queues, which
				 it all fills */
	const char *single; /**< why it has one queue; NULL: it may have more */
	const char *room; /**< requests longer buffers of its own */
	uint32_t frames; /**< frames its pool needs: descriptors of a queue,
			      frames in its owner's hands, the pool's caches */
	bool live;	 /**< frames come from a kernel interface, iface= */
	bool leaks;	 /**< frames at its start may be for others */
	bool tells;	 /**< EAL's thread learns when the peer is gone */
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

/**
 * Any thread. Into @p buf: the list @p args with "key=value", for the value
 * that it has or at its end. @return false: it is too long
 */
bool rl_devarg_set(char *buf, size_t len, const char *args, const char *key,
		   unsigned int value);

#endif /* RL_DRIVER_H */
