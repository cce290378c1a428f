/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_VDEV_H
#define HOST_VDEV_H

/**
 * @file
 * What the user gives EAL by --vdev is looked at before EAL opens it: what
 * cannot be opened is refused with the line of the fabric file that wants it.
 */

#include <stddef.h>

struct rl_config;

/**
 * Control thread, before EAL. @p vdev: what stands behind a --vdev. An interface
 * of the kernel's is claimed for this process, a socket file that a killed one
 * left is removed. Where that is the end of a wire
 * of process @p process over net_af_xdp, @p buf gets it with rl_steer as its
 * program.
 *
 * @param err  HOST_ERR_MAX bytes, one line on failure
 * @return 1: buf holds it; 0: it stays as it is; -errno
 */
int host_vdev(const struct rl_config *cfg, int process, const char *vdev,
	      char *buf, size_t len, char *err);

#endif /* HOST_VDEV_H */
