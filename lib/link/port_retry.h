/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_RETRY_H
#define PORT_RETRY_H

/**
 * @file
 * What port_tx.c asks of the replay buffer for each frame, and port_hand.c for
 * each packet, inline: a part of port_retry.c.
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

/** A packet, whose flits have @p state, gets its numbers past the queue. */
static inline void
port_retry_hand(struct rl_port *port, struct rl_flit *pkt, uint64_t state,
		const struct rl_flit *follower)
{
	struct rl_replay *r = &port->retry.replay;

	if (pkt->pkt_flits == 1) {
		rl_replay_begin(r, 1);
		rl_replay_put(r, pkt, rl_replay_sideband(r, 1,
							 state & (RL_VCS - 1),
							 state));
	} else {
		rl_replay_push(r, pkt, follower);
	}
}

/** The same for a row of packets of one flit. */
static inline void
port_retry_hand_row(struct rl_port *port, const struct rl_port_row *row)
{
	rl_replay_put_row(&port->retry.replay, row->pkt, row->sideband,
			  row->n);
}

#endif /* PORT_RETRY_H */
