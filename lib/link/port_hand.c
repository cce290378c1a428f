/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Past the egress queue: a port and its core that are polled by one lcore, one
 * after the other, need no ring between them, and a packet that would be the
 * only one to wait needs no queue. It gets its number at once.
 */

#include <string.h>

#include "port_queue.h"
#include "port_retry.h"

/*
 * Flits that may have a number and wait to be sent. What has none yet takes
 * turns by VC; what has one goes in the order of numbers. So this much is what
 * a packet of another VC may have before it: 8 frames of 16, a burst.
 */
#define HAND_AHEAD 128

uint32_t
rl_port_hand_room(const struct rl_port *port)
{
	const struct rl_replay *r = &port->retry.replay;
	const struct rl_link_cfg *cfg = port->p.cfg;
	const uint32_t ahead = r->tail - r->next;
	uint64_t weights;

	_Static_assert(sizeof(cfg->vc_weights) == sizeof(weights), "a word");
	memcpy(&weights, cfg->vc_weights, sizeof(weights));
	if (port->queue.mask != 0 || port->link.state != RL_LINK_UP ||
	    port->retry.replaying || weights != 0 || cfg->soft_error_check ||
	    ahead >= HAND_AHEAD)
		return 0;
	return rl_min_u32(HAND_AHEAD - ahead, rl_replay_room(r));
}

bool
rl_port_hand(struct rl_port *port, struct rl_flit *pkt, uint64_t state,
	     const struct rl_flit *follower)
{
	const struct port_queue *q = &port->queue;
	const unsigned int vc = state & (RL_VCS - 1);
	const uint32_t n = pkt->pkt_flits;

	if ((uint16_t)(q->limit[vc] - q->consumed[vc]) < n)
		return false;
	RL_DASSERT(rl_port_hand_room(port) >= n && !q->begun[vc]);
	pkt->state = state;
	port_queue_passed(port, vc, n);
	port_retry_hand(port, pkt, state, follower);
	return true;
}

uint32_t
rl_port_hand_sure(const struct rl_port *port, uint32_t room)
{
	const struct port_queue *const q = &port->queue;

	for (unsigned int vc = 0; vc < port->p.cfg->vcs; vc++)
		room = rl_min_u32(room, (uint16_t)(q->limit[vc] -
						   q->consumed[vc]));
	return room;
}

void
rl_port_hand_row(struct rl_port *port, const struct rl_port_row *row)
{
	RL_DASSERT(row->n <= rl_port_hand_sure(port, rl_port_hand_room(port)));
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		port_queue_passed(port, vc, row->by_vc[vc]);
	port_retry_hand_row(port, row);
}
