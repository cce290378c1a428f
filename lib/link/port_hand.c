/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Past the egress queue: a port and its core that are polled by one lcore, one
 * after the other, need no ring between them, and a packet that would be the
 * only one to wait needs no queue. It gets its number at once.
 */

#include "port_priv.h"

/*
 * Flits that may have a number and wait to be sent. What has none yet takes
 * turns by VC; what has one goes in the order of numbers. So this much is what
 * a packet of another VC may have before it: about what a poll sends.
 */
#define HAND_AHEAD 64

bool
rl_port_hand(struct rl_port *port, struct rl_flit *pkt, uint64_t state,
	     const struct rl_flit *follower)
{
	const struct rl_replay *r = &port->retry.replay;
	struct port_queue *q = &port->queue;
	const unsigned int vc = state & (RL_VCS - 1);
	const uint32_t n = pkt->pkt_flits;

	if (q->mask != 0 || port->link.state != RL_LINK_UP ||
	    port->retry.replaying || port->p.cfg->vc_weights[vc] != 0)
		return false;
	if (r->tail - r->next + n > HAND_AHEAD || rl_replay_room(r) < n ||
	    (uint16_t)(q->limit[vc] - q->consumed[vc]) < n)
		return false;
	RL_DASSERT(!q->begun[vc]);
	pkt->state = state;
	q->queued[vc] += n;
	q->consumed[vc] = (uint16_t)(q->consumed[vc] + n);
	port_retry_push(port, pkt, follower);
	return true;
}
