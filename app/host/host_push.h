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

/** What its local controller has ordered last. */
void host_push_order(struct host *h, uint32_t dev);

/** What the controller asked: is what is held quiet? */
void host_push_view(struct host *h, uint32_t dev);

#endif /* HOST_PUSH_H */
