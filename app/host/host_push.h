/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef HOST_PUSH_H
#define HOST_PUSH_H

#include <stdint.h>

struct host;

/**
 * @file
 * Passes orders of a local controller on to the lcore of its device. Each call
 * gives the order if it is due, checks whether it is done, and tells the local
 * controller. Control thread only; it never waits, so call it again.
 */

/** Handles the newest order of the local controller of @p dev. */
void host_push_order(struct host *h, uint32_t dev);

/** Handles a question of the controller: whether held traffic is quiet. */
void host_push_view(struct host *h, uint32_t dev);

#endif /* HOST_PUSH_H */
