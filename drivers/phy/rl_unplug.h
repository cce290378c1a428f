/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_UNPLUG_H
#define RL_UNPLUG_H

/**
 * @file PCI devices that leave a running machine, and come back [PHY-7]; kernel
 * interfaces that are deleted, or moved to another network namespace, and come
 * back under their names [PHY-1].
 *
 * A driver's socket says that it has lost its interface. Three signs say that a PCI
 * device leaves: the kernel asks for it (VFIO: it waits until the process lets go),
 * its driver reports that it was removed, or its configuration space is gone or
 * reads all ones. EAL's thread brings the first two. While such a device is away, a
 * read of its registers returns all ones, or raises SIGBUS, which EAL handles from
 * the first watch on.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rl_binding.h"

/** A device or an interface that is watched. */
struct rl_unplug {
	const char *name; /**< of its port: its address; of the interface */
	char driver[RL_BINDING_DRIVER]; /**< of the kernel's: it gave it to us */
	uint16_t port_id;
	bool watched;
	int fd; /**< a socket of the driver's at the interface; 0: a device */
	_Atomic bool asked; /**< any thread: it leaves */
};

/**
 * Control thread. Watches the device of a port; does nothing if that is no PCI
 * device. @p u must not move until rl_unplug_forget().
 */
void rl_unplug_watch(struct rl_unplug *u, const char *name, uint16_t port_id);

/**
 * Control thread. The same for a kernel interface that a driver has sockets at:
 * of AF_XDP, or else of AF_PACKET.
 */
void rl_unplug_watch_iface(struct rl_unplug *u, const char *iface, bool xdp);

/** Any thread. Says that it leaves. */
void rl_unplug_ask(struct rl_unplug *u);

/** Control thread. Whether somebody said that it leaves. */
bool rl_unplug_asked(const struct rl_unplug *u);

/**
 * Control thread, or that of rl_carrier.h. Whether it is no longer there: takes
 * system calls.
 */
bool rl_unplug_gone(const struct rl_unplug *u);

/**
 * Control thread. Whether a device is at its address, with the driver of the
 * kernel's that it had; or an interface has the name, and is up.
 */
bool rl_unplug_back(const struct rl_unplug *u);

/** Control thread. Ends the watch; its port must still be open. */
void rl_unplug_forget(struct rl_unplug *u);

#endif /* RL_UNPLUG_H */
