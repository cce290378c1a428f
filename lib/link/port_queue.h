/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_QUEUE_H
#define PORT_QUEUE_H

/**
 * @file
 * What other files of a port do to its egress queue, inline: a part of
 * port_queue.c.
 */

#include "port_priv.h"

/* Nothing waits for credits. */
static inline void
port_queue_fed(struct rl_port *port)
{
	port->queue.starved = false;
}

/* Consumes credits without a use: for a planted bug. */
static inline void
port_queue_charge(struct rl_port *port, uint32_t n)
{
	port->queue.consumed[0] = (uint16_t)(port->queue.consumed[0] + n);
}

/* A packet goes past the queue, because nothing waits in it. */
static inline void
port_queue_passed(struct rl_port *port, unsigned int vc, uint32_t flits)
{
	struct port_queue *q = &port->queue;

	q->queued[vc] += flits;
	q->consumed[vc] = (uint16_t)(q->consumed[vc] + flits);
}

#endif /* PORT_QUEUE_H */
