/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_BINDING_H
#define RL_BINDING_H

/**
 * @file To which driver of the kernel's a PCI device is bound, and what keeps
 * DPDK from it. Needs no EAL: all of it is read from sysfs and /dev, below
 * @p root, which is "" except in tests.
 */

#include <stdbool.h>
#include <stddef.h>

#define RL_BINDING_DRIVER 32

/**
 * Any thread. The kernel's driver of a PCI device; empty: none.
 * @return whether there is such a device
 */
bool rl_binding_driver(const char *root, const char *name,
		       char driver[RL_BINDING_DRIVER]);

/** Any thread. Whether it works with hugepages alone: it has no IOMMU. */
bool rl_binding_huge(const char *root, const char *name);

/**
 * Any thread. For a device that DPDK did not open: what is wrong with its
 * binding, and what to do, as a clause. A driver of the kernel's is called
 * wrong, too, though a few of DPDK's work beside it: ask after they failed.
 *
 * @param huge  whether EAL was told to use hugepages
 * @return false: nothing is
 */
bool rl_binding_wrong(const char *root, const char *name, bool huge, char *buf,
		      size_t len);

/**
 * Any thread. After EAL did not start with these arguments: "; NAME: " and the
 * same of the first device of -a with which something is wrong, or "".
 */
void rl_binding_of_args(int argc, char *const argv[], bool huge, char *buf,
			size_t len);

#endif /* RL_BINDING_H */
