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
 */

#include <string.h>

#include "port_priv.h"

/* All flits queued before a fence are acknowledged: the core may know. */
void
port_fence_check(struct rl_port *port)
{
	if (!port->fence_wanted)
		return;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		if (rl_seq_before(port->done[vc], port->fence_at[vc]))
			return;
	port->fence_wanted = false;
	port->fence_done = true;
}

void
rl_port_submit(struct rl_port *port, struct rl_flit *pkt, uint64_t now_ns)
{
	(void)now_ns;
	switch (rl_pipe_is_mark(pkt)) {
	case RL_MARK_LOOP_FENCE:
		if (port->drain && port_link_open(port))
			port->drain_fenced = true;
		else
			port->loop_fence = true;
		return;
	case RL_MARK_FENCE:
		memcpy(port->fence_at, port->queued, sizeof(port->fence_at));
		port->fence_wanted = true;
		if (!port_link_open(port)) {
			port->fence_wanted = false;
			port->fence_done = true;
		}
		port_fence_check(port);
		return;
	case RL_MARK_NONE:
		break;
	case RL_MARK_LINK_UP:
	case RL_MARK_LOOP_BEGIN:
	case RL_MARK_LOOP_END:
	case RL_MARK_FENCE_DONE:
	case RL_MARK_LINK_DRAIN:
		RL_ASSERT(false);
	}
	RL_ASSERT(pkt->vc < RL_VCS);
	port->queued[pkt->vc] += pkt->pkt_flits;
	rl_pktq_push(&port->txq[pkt->vc], pkt);
	port->txq_mask |= 1u << pkt->vc;
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
	if (port->tx_begun[vc])
		return 0;
	return rl_packet_ends(head) ? head->pkt_flits
				    : port->p.cfg->max_packet_flits;
}

/* Keeps the reservation of a packet that comes in fragments. */
static void
tx_reserve(struct rl_port *port, unsigned int vc, const struct rl_flit *head)
{
	const uint16_t n = head->pkt_flits;
	uint32_t *reserved = &port->replay.reserved;

	if (!port->tx_begun[vc]) {
		if (rl_packet_ends(head))
			return;
		port->tx_begun[vc] = true;
		port->tx_left[vc] =
			(uint16_t)(port->p.cfg->max_packet_flits - n);
		*reserved += port->tx_left[vc];
		return;
	}
	RL_ASSERT(n <= port->tx_left[vc]);
	port->tx_left[vc] = (uint16_t)(port->tx_left[vc] - n);
	*reserved -= n;
	if (rl_packet_ends(head)) {
		*reserved -= port->tx_left[vc];
		port->tx_begun[vc] = false;
	}
}

/*
 * A flit that was hurt inside this device beyond what FEC mends is marked, and
 * its FEC made good, so that no link retries what cannot be mended; its
 * destination drops it [LCB-2]. Its CRC stays wrong.
 */
static bool
tx_soft_error(struct rl_port *port, struct rl_flit *f)
{
	const uint8_t *wire = f->wire;
	uint8_t fec;

	rl_codec_fec_check(port->p.codec, &wire, 1, &fec);
	if (fec != RL_FEC_BAD)
		return false;
	PORT_COUNT(port, tx_soft_error);
	if (f->mark == RL_MARK_OK)
		f->mark = RL_MARK_SOFT_ERROR;
	rl_codec_fec_encode(port->p.codec, f->wire);
	return true;
}

/*
 * The peer does not take what it was sent. Was it hurt here? Where that is not
 * looked at before each transmission, it is looked at before the second: a flit
 * with a bad FEC would be refused for ever, by this link and by every other
 * that it is looped out to. The one case in which a flit that a replay buffer
 * holds is written to.
 */
void
port_soft_errors(struct rl_port *port)
{
	struct rl_replay *r = &port->replay;

	for (uint32_t i = r->acked; rl_seq_before(i, r->sent_max); i++) {
		struct rl_replay_slot *slot = &r->slot[i & r->mask];

		if (tx_soft_error(port, slot->flit))
			slot->sideband = rl_sideband_pack(slot->flit);
	}
}

/* Moves a packet from its queue into the replay buffer, numbered. */
static void
tx_take(struct rl_port *port, unsigned int vc)
{
	struct rl_flit *const head = rl_pktq_pop(&port->txq[vc]);
	const uint16_t n = head->pkt_flits;

	tx_reserve(port, vc, head);
	head->vc = (uint8_t)vc;
	if (rl_unlikely(port->p.cfg->soft_error_check))
		for (struct rl_flit *f = head; f != NULL; f = f->next)
			tx_soft_error(port, f);
	rl_replay_push(&port->replay, head, port->txq[vc].head);
	port->consumed[vc] = (uint16_t)(port->consumed[vc] + n);
	if (rl_pktq_empty(&port->txq[vc]))
		port->txq_mask &= ~(1u << vc);
	rl_shared_add(&port->p.shared->taken[vc], n);
}

/* Fills the replay buffer with what the next frame can carry. */
void
port_tx_fill(struct rl_port *port)
{
	struct rl_replay *r = &port->replay;
	unsigned int tried = 0;
	bool full = false; /* a packet waits for the window */

	port->starved = false;
	while (r->tail - r->next < port->frame_flits &&
	       port->txq_mask != 0 && tried < RL_VCS) {
		const unsigned int vc = (port->txq_turn + tried) % RL_VCS;
		const struct rl_flit *head = port->txq[vc].head;
		uint32_t need;

		if (head == NULL) {
			tried++;
			continue;
		}
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
		if ((uint16_t)(port->limit[vc] - port->consumed[vc]) < need) {
			PORT_COUNT(port, tx_credit_stall);
			port->starved = true;
			tried++;
			continue;
		}
		tx_take(port, vc);
		if (!full)
			port->txq_turn = (uint8_t)((vc + 1) % RL_VCS);
		tried = 0;
	}
	if (full)
		PORT_COUNT(port, tx_window_full);
}
