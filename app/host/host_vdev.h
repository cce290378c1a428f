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
 * Control thread, before EAL. @p vdev: the argument of a --vdev. If the entry
 * for its port leaves rx_queues out, sets it to those that the port gets.
 */
void host_vdev_plan(struct rl_config *cfg, int process, const char *vdev);

/**
 * Control thread, before EAL, after host_vdev_plan() for all. @p vdev: as
 * there. Claims an interface of the kernel for this process; removes a socket
 * file that a killed process left. @p buf gets it with arguments for its
 * receive queues, and, if it is the end of a wire of process @p process over
 * net_af_xdp, with rl_steer as its program.
 *
 * @param err HOST_ERR_MAX bytes, one line on failure
 * @return 1: buf holds the new argument; 0: keep the old one; -errno
 */
int host_vdev(struct rl_config *cfg, int process, const char *vdev, char *buf,
	      size_t len, char *err);

#endif /* HOST_VDEV_H */
