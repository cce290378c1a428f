/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef HOST_PUSH_H
#define HOST_PUSH_H

#include <stdint.h>

struct host;

/**
 * @file
 * Orders of a local controller, on their way to the lcore of its device. Each
 * call gives the order if it is due, looks whether it is done, and tells the
 * local controller. Control thread only; nothing waits, so call again.
 */

/** Tables to install, or the steps of a change by tokens. */
void host_push_tables(struct host *h, uint32_t dev);

/** Flows to hold or to release. */
void host_push_hold(struct host *h, uint32_t dev);

/** What the controller asked: is what is held quiet? */
void host_push_view(struct host *h, uint32_t dev);

#endif /* HOST_PUSH_H */
