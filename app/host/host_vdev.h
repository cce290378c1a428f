/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_VDEV_H
#define HOST_VDEV_H

/**
 * @file
 * Checks the user's --vdev arguments before EAL opens them: a device that
 * cannot be opened is refused with the line of the fabric file that needs it.
 */

#include <stddef.h>

struct rl_config;

/**
 * Control thread, before EAL. @p vdev: the argument of a --vdev. Claims an
 * interface of the kernel for this process; removes a socket file that a killed
 * process left. If it is the end of a wire of process @p process over
 * net_af_xdp, @p buf gets it with rl_steer as its program.
 *
 * @param err HOST_ERR_MAX bytes, one line on failure
 * @return 1: buf holds the new argument; 0: keep the old one; -errno
 */
int host_vdev(const struct rl_config *cfg, int process, const char *vdev,
	      char *buf, size_t len, char *err);

#endif /* HOST_VDEV_H */
