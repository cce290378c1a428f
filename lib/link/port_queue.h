/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_QUEUE_H
#define PORT_QUEUE_H

/**
 * @file
 * What a packet is charged that passes the egress queue, because nothing waits
 * in it: a part of port_queue.c for port_hand.c.
 */

#include "port_priv.h"

static inline void
port_queue_passed(struct rl_port *port, unsigned int vc, uint32_t flits)
{
	struct port_queue *q = &port->queue;

	q->queued[vc] += flits;
	q->consumed[vc] = (uint16_t)(q->consumed[vc] + flits);
}

#endif /* PORT_QUEUE_H */
