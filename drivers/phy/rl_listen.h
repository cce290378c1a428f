/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_LISTEN_H
#define RL_LISTEN_H

/**
 * @file Socket files that ports listen at: net_memif (role=server), net_vhost,
 * net_virtio_user (server=1). A killed process leaves its file behind, and then
 * these drivers do not start; they would also remove that of a live one.
 */

#include <stdbool.h>
#include <stddef.h>

/**
 * Control thread, before EAL. @p vdev: the arguments of a --vdev. Removes the
 * file if nothing listens at it any more. A file in use is not touched, not
 * even by a connection.
 *
 * @param err  one line on failure
 * @return 0; -EBUSY: another process listens there; -EEXIST: it is no socket;
 *   -errno of its folder
 */
int rl_listen_clear(const char *vdev, char *err, size_t len);

/** Any thread. Whether EAL's start waits until a peer connects. */
bool rl_listen_waits(const char *vdev);

/**
 * Any thread. Whether it connects to the socket of a peer, and its driver does
 * so only once, at its start: net_memif (role=client), net_virtio_user.
 */
bool rl_listen_calls(const char *vdev);

/** Any thread. Whether a process listens where such a port will connect. */
bool rl_listen_answers(const char *vdev);

/** Any thread. Whether both have the same socket. */
bool rl_listen_same(const char *vdev, const char *other);

#endif /* RL_LISTEN_H */
