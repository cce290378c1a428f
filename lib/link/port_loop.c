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
		PORT_COUNT_N(port, tx_discard, pkt->pkt_flits);
		if (why == RL_DROP_POLICY)
			PORT_COUNT(port, loop_policy_drop);
		else
			PORT_COUNT(port, loop_mode_drop);
		/* it does not loop back, and at most the rest was acked */
		port->loop.drained.packets--;
		port->loop.drained.flits -= pkt->pkt_flits;
		port->loop.drained.acked_flits =
			rl_min_u32(port->loop.drained.acked_flits,
				   port->loop.drained.flits);
		if (port->p.drop != NULL)
			port->p.drop(port->p.drop_ctx, pkt, why, now_ns);
		rl_packet_put(port->p.cache, pkt);
		return;
	}
	rl_packet_open(pkt);
	for (struct rl_flit *f = pkt; f != NULL; f = f->next) {
		f->flags = (uint8_t)((f->flags | RL_FF_LOOPED) &
				     ~RL_FF_CREDIT);
		f->loop_id = port->link.loop_id;
		f->t_ns = port->link.dead_ns;
	}
	rl_pktq_push(&port->loop.q, pkt);
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
	struct rl_flit **open = &port->loop.open[vc];

	port->loop.drained.flits += pkt->pkt_flits;
	port->loop.drained.packets += *open == NULL;
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
		struct rl_flit *pkt;

		while ((pkt = port_queue_pop(port, vc)) != NULL) {
			if (RL_PLANTED(LOOP_NO_QUEUE))
				rl_packet_put(port->p.cache, pkt);
			else
				loop_waiting(port, vc, pkt, now_ns);
		}
	}
}

/*
 * The fence has been met: what has no end by now gets none here. The core
 * holds the rest and joins it to this.
 */
static void
loop_unended(struct rl_port *port, uint64_t now_ns)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		struct rl_flit *pkt = port->loop.open[vc];

		port->loop.open[vc] = NULL;
		if (pkt != NULL)
			loop_packet(port, pkt, now_ns);
	}
}

void
port_loop_start(struct rl_port *port, uint64_t now_ns)
{
	struct rl_pktq out = { 0 };

	port_owe(port, OWE_LOOP_BEGIN);
	/* a drain that got so far has the core's last word already */
	port->loop.fence = port->drain.phase >= DRAIN_OUT ||
			   RL_PLANTED(NO_FENCE);
	port_queue_drop_fence(port);
	port->loop.drained = port_retry_drain(port, &out, port->loop.open);
	if (RL_PLANTED(LOOP_ORDER))
		loop_txq(port, now_ns);
	loop_queue(port, &out, now_ns);
	loop_txq(port, now_ns);
}

void
port_loop_fence(struct rl_port *port)
{
	port->loop.fence = true;
}

struct rl_flit *
port_loop_next(struct rl_port *port, bool *end, uint64_t now_ns)
{
	struct rl_flit *pkt;

	if (port->queue.mask != 0)
		loop_txq(port, now_ns);
	pkt = rl_pktq_pop(&port->loop.q);
	if (pkt == NULL && port->loop.fence && port->packet.close_mask == 0) {
		loop_unended(port, now_ns);
		pkt = rl_pktq_pop(&port->loop.q);
		*end = pkt == NULL;
	}
	if (pkt != NULL) {
		PORT_COUNT(port, looped_packets);
		PORT_COUNT_N(port, looped_flits, pkt->pkt_flits);
	}
	if (*end) {
		port->loop.fence = false;
		PORT_COUNT_N(port, looped_acked_flits,
			     port->loop.drained.acked_flits);
	}
	return pkt;
}

void
port_loop_flush(struct rl_port *port)
{
	struct rl_flit *open[RL_VCS];
	struct rl_flit *pkt;

	port_retry_drain(port, &port->loop.q, open);
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (open[vc] != NULL)
			rl_packet_put(port->p.cache, open[vc]);
		if (port->loop.open[vc] != NULL)
			rl_packet_put(port->p.cache, port->loop.open[vc]);
		port->loop.open[vc] = NULL;
		while ((pkt = port_queue_pop(port, vc)) != NULL)
			rl_packet_put(port->p.cache, pkt);
	}
	while ((pkt = rl_pktq_pop(&port->loop.q)) != NULL)
		rl_packet_put(port->p.cache, pkt);
}
