/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From the egress queues into the replay buffer [LINK-2].
 *
 * A packet leaves its egress queue only when the window has room for all of
 * it and the peer has given credits for all of it, so that a packet once begun
 * can always be finished: a full window can never wait for the rest of a
 * packet that itself waits for the window. Packets take turns by VC; one that
 * waits for credits is passed over, one that waits for the window keeps its
 * turn, lest long packets starve.
 *
 * Where VCs have weights, a turn is so many flits. The last packet of a turn may
 * be longer than what is left of it; what it took too much is paid off in later
 * turns, so that in the long run shares are as weights, whatever the lengths of
 * packets. Who has nothing to send saves nothing up.
 */

#include <string.h>

#include "port_lanes.h"
#include "port_priv.h"

void
port_queue_reset(struct rl_port *port)
{
	struct port_queue *q = &port->queue;

	memset(q->consumed, 0, sizeof(q->consumed));
	memset(q->limit, 0, sizeof(q->limit));
	memset(q->queued, 0, sizeof(q->queued));
	memset(q->begun, 0, sizeof(q->begun));
	memset(q->left, 0, sizeof(q->left));
	memset(q->due, 0, sizeof(q->due));
	q->weighed = RL_VCS;
	q->fence_wanted = false;
	q->starved = false;
}

void
port_queue_push(struct rl_port *port, struct rl_flit *pkt)
{
	RL_ASSERT(pkt->vc < RL_VCS);
	port->queue.queued[pkt->vc] += pkt->pkt_flits;
	rl_pktq_push(&port->queue.q[pkt->vc], pkt);
	port->queue.mask |= 1u << pkt->vc;
}

struct rl_flit *
port_queue_pop(struct rl_port *port, unsigned int vc)
{
	struct rl_pktq *q = &port->queue.q[vc];
	struct rl_flit *pkt = rl_pktq_pop(q);

	if (rl_pktq_empty(q))
		port->queue.mask &= ~(1u << vc);
	if (pkt != NULL)
		rl_shared_add(&port->p.shared->taken[vc], pkt->pkt_flits);
	return pkt;
}

void
port_queue_want_fence(struct rl_port *port, bool open)
{
	struct port_queue *q = &port->queue;

	memcpy(q->fence_at, q->queued, sizeof(q->fence_at));
	q->fence_wanted = true;
	if (open)
		port_queue_fence(port);
	else
		port_queue_drop_fence(port);
}

void
port_queue_drop_fence(struct rl_port *port)
{
	if (!port->queue.fence_wanted)
		return;
	port->queue.fence_wanted = false;
	port_owe(port, OWE_FENCE_DONE);
}

void
port_queue_fence(struct rl_port *port)
{
	const struct port_queue *q = &port->queue;

	if (rl_likely(!q->fence_wanted))
		return;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		if (rl_seq_before(port->retry.done[vc], q->fence_at[vc]))
			return;
	port_queue_drop_fence(port);
}

void
port_queue_credits(struct rl_port *port, const uint16_t limit[RL_VCS])
{
	struct port_queue *q = &port->queue;
	const port_lanes now = port_lanes_get(limit);

	if (rl_likely(port_lanes_same(limit, q->limit)))
		return; /* as in most frames */
	if (rl_likely(!port_lanes_back(now - port_lanes_get(q->limit)) &&
		      !port_lanes_back(now - port_lanes_get(q->consumed)))) {
		port_lanes_put(q->limit, now);
		return;
	}
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		/* cyclic: only a limit that lies ahead is news */
		if ((int16_t)(limit[vc] - q->limit[vc]) <= 0)
			continue;
		/* and no input buffer has room for more than half the cycle */
		if (rl_unlikely((int16_t)(limit[vc] - q->consumed[vc]) < 0))
			PORT_COUNT(port, rx_credit_error);
		else
			q->limit[vc] = limit[vc];
	}
}

/*
 * Room that must be there before a packet, or the next fragment of one, may
 * leave its queue. A packet whose end has not come yet (cut-through) may still
 * grow to the longest there is; its rest is reserved when it begins.
 */
static uint32_t
tx_need(const struct rl_port *port, unsigned int vc,
	const struct rl_flit *head)
{
	if (port->queue.begun[vc])
		return 0;
	return rl_packet_ends(head) ? head->pkt_flits
				    : port->p.cfg->max_packet_flits;
}

/* Keeps the reservation of a packet that comes in fragments. */
static void
tx_reserve(struct rl_port *port, unsigned int vc, const struct rl_flit *head)
{
	const uint16_t n = head->pkt_flits;
	if (!port->queue.begun[vc]) {
		port->queue.begun[vc] = true;
		port->queue.left[vc] =
			(uint16_t)(port->p.cfg->max_packet_flits - n);
		port_retry_reserve(port, port->queue.left[vc]);
		return;
	}
	RL_ASSERT(n <= port->queue.left[vc]);
	port->queue.left[vc] = (uint16_t)(port->queue.left[vc] - n);
	port_retry_reserve(port, -n);
	if (rl_packet_ends(head)) {
		port_retry_reserve(port, -port->queue.left[vc]);
		port->queue.begun[vc] = false;
	}
}

static void
tx_take(struct rl_port *port, unsigned int vc)
{
	struct port_queue *q = &port->queue;
	struct rl_flit *const head = port_queue_pop(port, vc);
	const uint16_t n = head->pkt_flits;

	if (rl_unlikely(q->begun[vc] || !rl_packet_ends(head)))
		tx_reserve(port, vc, head);
	/* whole, as it is read next: a byte would have to leave the store
	 * buffer first */
	head->state = (head->state & ~UINT64_C(0xff)) | vc;
	port_retry_push(port, head, q->q[vc].head);
	q->consumed[vc] = (uint16_t)(q->consumed[vc] + n);
}

static void
turn_ends(struct port_queue *q, unsigned int vc)
{
	q->turn = (uint8_t)((vc + 1) % RL_VCS);
	q->weighed = RL_VCS;
}

/* Whether a VC that could send has not had its share: else its turn ends. */
static bool
turn_lasts(struct rl_port *port, unsigned int vc)
{
	const uint8_t weight = port->p.cfg->vc_weights[vc];
	struct port_queue *q = &port->queue;

	if (rl_likely(weight == 0))
		return true;
	if (q->weighed != vc) {
		q->weighed = (uint8_t)vc;
		q->due[vc] = (int16_t)((q->due[vc] < 0 ? q->due[vc] : 0) +
				       weight);
	}
	if (q->due[vc] > 0)
		return true;
	turn_ends(q, vc);
	return false;
}

/* A VC has sent @p n flits. */
static void
turn_spend(struct rl_port *port, unsigned int vc, uint32_t n)
{
	struct port_queue *q = &port->queue;

	if (port->p.cfg->vc_weights[vc] == 0) {
		turn_ends(q, vc);
		return;
	}
	q->due[vc] = (int16_t)(q->due[vc] - (int32_t)n);
	q->turn = (uint8_t)vc;
	if (q->due[vc] <= 0 || rl_pktq_empty(&q->q[vc]))
		turn_ends(q, vc);
}

/* VCs from number @p tried of this turn on that have nothing queued. */
static unsigned int
fill_skip(const struct port_queue *q, unsigned int tried)
{
	const uint32_t twice = q->mask | q->mask << RL_VCS;

	return (unsigned int)__builtin_ctz(twice >> (q->turn + tried) %
							     RL_VCS);
}

/* Fills the replay buffer with what the next frame can carry. */
void
port_queue_fill(struct rl_port *port)
{
	const struct rl_replay *r = &port->retry.replay;
	unsigned int tried = 0;
	bool full = false; /* a packet waits for the window */

	port->queue.starved = false;
	while (r->tail - r->next < port->shake.flits &&
	       port->queue.mask != 0 && tried < RL_VCS) {
		const struct rl_flit *head;
		unsigned int vc;
		uint32_t need, n;

		tried += fill_skip(&port->queue, tried);
		if (tried >= RL_VCS)
			break;
		vc = (port->queue.turn + tried) % RL_VCS;
		head = port->queue.q[vc].head;
		need = tx_need(port, vc, head);
		if (rl_replay_room(r) < need) {
			/* keeps its turn; what has begun holds the room, and
			 * must go on to give it back */
			full = true;
			tried++;
			continue;
		}
		if (full && need != 0) {
			tried++;
			continue;
		}
		if ((uint16_t)(port->queue.limit[vc] - port->queue.consumed[vc]) < need) {
			PORT_COUNT(port, tx_credit_stall);
			port->queue.starved = true;
			tried++;
			continue;
		}
		tried = 0;
		if (!full && !turn_lasts(port, vc))
			continue;
		n = head->pkt_flits;
		tx_take(port, vc);
		if (!full)
			turn_spend(port, vc, n);
	}
	if (full)
		PORT_COUNT(port, tx_window_full);
}
