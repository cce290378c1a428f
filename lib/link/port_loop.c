/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Loopback [DRL-1]: the port of a dead link gives everything back to the
 * switch core, in order.
 *
 * 1. The replay buffer is emptied: every packet not wholly acknowledged comes
 *    out whole, acknowledged flits included (Figure 1B of the DRL patent).
 * 2. What waited in the egress queues follows, and what the core still sent
 *    before it knew.
 * 3. The core, on hearing LOOP_BEGIN, sends nothing more and puts a fence into
 *    the ring; when the port meets the fence, nothing can follow, and
 *    LOOP_END says so.
 *
 * So no lock is needed, and no packet can fall between the two.
 *
 * What may not be replayed, by packet class or link type [DRL-6], and
 * everything where loopback is "none", is dropped here and handed to the drop
 * function: the one is a report, the other the loss of the related art.
 */

#include "port_priv.h"

static bool
loop_wanted(const struct rl_port *port, const struct rl_flit *pkt,
	    enum rl_drop_reason *why)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	const uint8_t classes = port->p.kind == RL_LINK_ISL
					? cfg->replay_isl
					: cfg->replay_endpoint;

	if (cfg->loopback == RL_LOOPBACK_NONE) {
		*why = RL_DROP_LOOPBACK_NONE;
		return false;
	}
	*why = RL_DROP_POLICY;
	return classes & 1u << (pkt->class & (RL_CLASSES - 1));
}

/* One packet for the core, or its drop by policy. */
static void
loop_packet(struct rl_port *port, struct rl_flit *pkt, uint64_t now_ns)
{
	enum rl_drop_reason why;

	if (!(pkt->flags & RL_FF_SOP)) {
		/* it was not the first; as the head it needs a head's fields */
		pkt->dst = rl_flit_dst(pkt->wire);
		pkt->src = rl_flit_src(pkt->wire);
		pkt->sl = rl_flit_sl(pkt->wire);
		pkt->class = rl_flit_class(pkt->wire);
	}
	if (!loop_wanted(port, pkt, &why)) {
		if (why == RL_DROP_POLICY)
			PORT_COUNT(port, loop_policy_drop);
		else
			PORT_COUNT(port, loop_mode_drop);
		if (port->p.drop != NULL)
			port->p.drop(port->p.drop_ctx, pkt, why, now_ns);
		rl_packet_put(port->p.cache, pkt);
		return;
	}
	for (struct rl_flit *f = pkt; f != NULL; f = f->next) {
		f->flags = (uint8_t)((f->flags | RL_FF_LOOPED) &
				     ~RL_FF_CREDIT);
		f->loop_id = port->loop_id;
		f->t_ns = port->dead_ns;
	}
	rl_pktq_push(&port->loopq, pkt);
}

static void
loop_queue(struct rl_port *port, struct rl_pktq *q, uint64_t now_ns)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(q)) != NULL)
		loop_packet(port, pkt, now_ns);
}

/*
 * A packet or fragment that waited in the queue of @p vc. A fragment joins
 * what went before of its packet, be that from the replay buffer.
 */
static void
loop_waiting(struct rl_port *port, unsigned int vc, struct rl_flit *pkt,
	     uint64_t now_ns)
{
	struct rl_flit **open = &port->loop_open[vc];

	port->drained.flits += pkt->pkt_flits;
	port->drained.packets += *open == NULL;
	if (*open != NULL) {
		rl_packet_join(*open, pkt);
		pkt = *open;
	}
	*open = NULL;
	if (rl_packet_ends(pkt))
		loop_packet(port, pkt, now_ns);
	else
		*open = pkt;
}

/* Whatever waits in the egress queues has not been sent at all. */
static void
loop_txq(struct rl_port *port, uint64_t now_ns)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		struct rl_pktq *q = &port->txq[vc];
		struct rl_flit *pkt;

		if (rl_pktq_empty(q))
			continue;
		rl_shared_add(&port->p.shared->taken[vc], q->flits);
		while ((pkt = rl_pktq_pop(q)) != NULL) {
			if (RL_PLANTED(LOOP_NO_QUEUE))
				rl_packet_put(port->p.cache, pkt);
			else
				loop_waiting(port, vc, pkt, now_ns);
		}
	}
	port->txq_mask = 0;
}

/*
 * The fence has been met: what has no end by now gets none here. The core
 * holds the rest and joins it to this.
 */
static void
loop_unended(struct rl_port *port, uint64_t now_ns)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		struct rl_flit *pkt = port->loop_open[vc];

		port->loop_open[vc] = NULL;
		if (pkt != NULL)
			loop_packet(port, pkt, now_ns);
	}
}

void
port_loop_start(struct rl_port *port, uint64_t now_ns)
{
	const bool unacked =
		port->p.cfg->loopback == RL_LOOPBACK_UNACKED;
	struct rl_pktq out = { 0 };

	port->loop_begin = true;
	port->loop_fence = port->drain_fenced || RL_PLANTED(NO_FENCE);
	port_drain_reset(port);
	if (port->fence_wanted) {
		port->fence_wanted = false;
		port->fence_done = true;
	}
	port->drained = rl_replay_drain(&port->replay, unacked, &out,
					port->loop_open, port->p.cache);
	if (RL_PLANTED(LOOP_ORDER))
		loop_txq(port, now_ns);
	loop_queue(port, &out, now_ns);
	loop_txq(port, now_ns);
}

struct rl_flit *
rl_port_loop(struct rl_port *port, uint64_t now_ns)
{
	struct rl_flit *pkt;

	if (port->up_mark) {
		port->up_mark = false;
		return rl_pipe_mark(RL_MARK_LINK_UP);
	}
	if (port->drain_mark) {
		port->drain_mark = false;
		return rl_pipe_mark(RL_MARK_LINK_DRAIN);
	}
	/* before the answer to a fence: what it followed comes back */
	if (port->state == RL_LINK_LOOPBACK && port->loop_begin) {
		port->loop_begin = false;
		return rl_pipe_mark(RL_MARK_LOOP_BEGIN);
	}
	if (port->fence_done) {
		port->fence_done = false;
		return rl_pipe_mark(RL_MARK_FENCE_DONE);
	}
	if (port->state != RL_LINK_LOOPBACK)
		return NULL;
	if (port->txq_mask != 0)
		loop_txq(port, now_ns);
	pkt = rl_pktq_pop(&port->loopq);
	if (pkt != NULL) {
		PORT_COUNT(port, looped_packets);
		PORT_COUNT_N(port, looped_flits, pkt->pkt_flits);
		return pkt;
	}
	if (!port->loop_fence || port->close_mask != 0)
		return NULL;
	loop_unended(port, now_ns);
	if (!rl_pktq_empty(&port->loopq))
		return rl_port_loop(port, now_ns);
	port->loop_fence = false;
	PORT_COUNT_N(port, looped_acked_flits, port->drained.acked_flits);
	port_drained(port, now_ns);
	return rl_pipe_mark(RL_MARK_LOOP_END);
}
