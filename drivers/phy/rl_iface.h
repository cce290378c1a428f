/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_IFACE_H
#define RL_IFACE_H

/**
 * @file Conditions on a kernel interface before EAL opens it: a driver that
 * fails explains little, and net_af_xdp, when it ends, removes any XDP program
 * from the interface, even another process's.
 */

#include <stdbool.h>
#include <stddef.h>

/** Any thread. Whether this process has a capability; true: not known. */
bool rl_iface_may(unsigned int cap);

/**
 * Control thread, before EAL, and before a port whose interface has gone is
 * opened again. @p vdev: the arguments of a --vdev. If it opens a kernel
 * interface, claims that for this process, until it ends.
 *
 * @param err  one line on failure
 * @return 0; -ENODEV: no such interface; -EPERM: missing rights; -EAFNOSUPPORT:
 *   the kernel lacks it; -EBUSY: another process of reflit has it
 */
int rl_iface_claim(const char *vdev, char *err, size_t len);

#endif /* RL_IFACE_H */
