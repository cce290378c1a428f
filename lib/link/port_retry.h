/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_RETRY_H
#define PORT_RETRY_H

/**
 * @file
 * What port_tx.c asks of the replay buffer for each frame, inline: a part of
 * port_retry.c.
 */

#include "port_priv.h"

/* Whether flits of the buffer wait to be sent; ends a replay that has none. */
static inline bool
port_retry_pending(struct rl_port *port)
{
	if (port->retry.replay.next != port->retry.replay.tail)
		return true;
	port->retry.replaying = false;
	return false;
}

/* Number @p seq's flit, without a mark so far, was altered in this device. */
void port_retry_mark(struct rl_port *port, uint32_t seq);

/* @p n more go out, all for the first time, behind others: the timer runs. */
static inline void
port_retry_sent_more(struct rl_port *port, uint32_t n)
{
	struct rl_replay *r = &port->retry.replay;

	RL_DASSERT(r->next == r->sent_max && port->retry.due_ns != RL_NEVER);
	r->next += n;
	r->sent_max = r->next;
}

#endif /* PORT_RETRY_H */
