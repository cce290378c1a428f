/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_IFACE_H
#define RL_IFACE_H

/**
 * @file
 * What must hold of a kernel's interface before EAL opens it: a driver that
 * fails says little, and net_af_xdp takes away whatever XDP program stands on
 * the interface as it ends, also that of another process.
 */

#include <stddef.h>

/**
 * Control thread, before EAL. @p vdev: what stands behind a --vdev. Where that
 * opens an interface of the kernel's, the interface is this process's from now
 * on, until it ends.
 *
 * @param err  one line on failure
 * @return 0; -ENODEV: there is none; -EPERM: it takes rights; -EAFNOSUPPORT:
 *   the kernel lacks it; -EBUSY: another process of reflit's has it
 */
int rl_iface_claim(const char *vdev, char *err, size_t len);

#endif /* RL_IFACE_H */
