/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packets out of accepted flits [LCB-1, LCB-2].
 *
 * Store-and-forward: packets are assembled per VC and go on whole. Cut-through:
 * what a frame brought of a packet goes on at once, as a fragment. A flit that
 * belongs to no packet begun here is dropped until a start-of-packet [DRL-3].
 */

#include <string.h>

#include "port_credits.h"
#include "port_packet.h"

void
port_packet_reset(struct rl_port *port)
{
	port->packet.part_due_ns = RL_NEVER;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (RL_PLANTED(KEEP_PARTIAL) && port->packet.part[vc] != NULL)
			continue;
		RL_ASSERT(port->packet.part[vc] == NULL &&
			  port->packet.open_flits[vc] == 0);
		port->told.told[vc] = false;
	}
}

void
port_packet_flush(struct rl_port *port)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(&port->packet.out)) != NULL)
		rl_packet_put(port->p.cache, pkt);
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		port->packet.open_flits[vc] = 0;
		if (port->packet.part[vc] != NULL)
			rl_packet_put(port->p.cache, port->packet.part[vc]);
		port->packet.part[vc] = NULL;
	}
	port->packet.close_mask = port->packet.close_tell = 0;
}

static void
rx_discard(struct rl_port *port, struct rl_flit *pkt)
{
	if (!RL_PLANTED(CREDIT_LEAK))
		port_rx_free(port, pkt->in_vc, pkt->pkt_flits);
	rl_packet_put(port->p.cache, pkt);
}

/* A packet, or a fragment of one, goes to the core. */
static void
rx_pass(struct rl_port *port, struct rl_flit *pkt)
{
	const unsigned int vc = pkt->in_vc;

	port->packet.part[vc] = NULL;
	if (rl_packet_ends(pkt)) {
		PORT_COUNT(port, rx_packets);
		port->packet.open_flits[vc] = 0;
	} else {
		if (port->packet.open_flits[vc] == 0)
			memcpy(port->told.open_txn[vc],
			       pkt->wire + RL_FLIT_PAYLOAD_OFF,
			       RL_FLIT_TXN_BYTES);
		port->packet.open_flits[vc] =
			(uint16_t)(port->packet.open_flits[vc] + pkt->pkt_flits);
	}
	rl_pktq_push(&port->packet.out, pkt);
}

/*
 * What is said of a packet, or of a fragment, stands in its first flit. The
 * others only have what the sideband brought.
 */
static void
rx_start(struct rl_port *port, struct rl_flit *f, uint64_t now_ns)
{
	rl_packet_start(f);
	f->in_port = port->p.index;
	f->flags |= RL_FF_CREDIT;
	f->dst = rl_flit_dst(f->wire);
	f->src = rl_flit_src(f->wire);
	f->sl = rl_flit_sl(f->wire);
	f->class = rl_flit_class(f->wire);
	f->plane = 0;
	f->t_ns = now_ns;
}

/* Tells a packet from its neighbours on the wire: flow and tag. */
static uint64_t
rx_name(const struct rl_flit *f)
{
	return (uint64_t)rl_get32(f->wire + 2) << 32 | rl_flit_tag(f->wire);
}

/* Reports a packet; the rest of it goes without a word. */
static void
rx_tell(struct rl_port *port, unsigned int vc, const struct rl_flit *pkt,
	enum rl_drop_reason why, uint64_t now_ns)
{
	port->told.told[vc] = true;
	port->told.name[vc] = rx_name(pkt);
	if (port->p.drop != NULL)
		port->p.drop(port->p.drop_ctx, pkt, why, now_ns);
}

/* With link retry nothing is lost; what does not come was never sent. */
static enum rl_drop_reason
packet_lost_why(const struct rl_port *port)
{
	return port->p.cfg->retry ? RL_DROP_WATCHDOG : RL_DROP_UNCORRECTABLE;
}

/* The end of the packet open on @p vc, in the place of the flit it waits for. */
static void
rx_make_end(struct rl_port *port, struct rl_flit *f, unsigned int vc,
	    uint64_t now_ns)
{
	uint8_t *pos = f->wire + RL_FLIT_PAYLOAD_OFF + 12;

	memset(f->wire, 0, RL_FLIT_BYTES);
	memcpy(f->wire + RL_FLIT_PAYLOAD_OFF, port->told.open_txn[vc],
	       RL_FLIT_TXN_BYTES);
	rl_put16(pos, (uint16_t)(rl_get16(pos) + port->packet.open_flits[vc]));
	rl_codec_fec_encode(port->p.codec, f->wire);
	f->vc = (uint8_t)vc;
	f->flags = RL_FF_EOP;
	f->mark = RL_MARK_TRANSMIT_ERROR;
	f->hops = 0;
	f->in_vc = (uint8_t)vc;
	f->loop_id = 0;
	rx_start(port, f, now_ns);
}

/*
 * Half a packet has gone on and the rest will not come: an end of its own
 * making closes it, marked transmit_error, so that everyone downstream is
 * done with it [DRL-3]. Where no buffer is free, it waits for one, and the VC
 * takes nothing meanwhile.
 *
 * The end takes room in the input buffer as every flit does, though the peer
 * spent no credit on it. After a death that room is missing in the next epoch
 * until the end has left; on a link that goes on it is counted in rx_own.
 */
void
port_packet_close(struct rl_port *port, uint64_t now_ns)
{
	for (uint32_t m = port->packet.close_mask; m != 0; m &= m - 1) {
		const unsigned int vc = (unsigned int)__builtin_ctz(m);
		const uint32_t bit = 1u << vc;
		struct rl_flit *f;

		if (RL_PLANTED(EOP_NEVER)) {
			port->packet.open_flits[vc] = 0;
			port->packet.close_mask &= ~bit;
			continue;
		}
		f = rl_flit_get(port->p.cache);
		if (f == NULL)
			return;
		rx_make_end(port, f, vc, now_ns);
		port_rx_made(port, vc,
			     port_link_open(port) && !RL_PLANTED(CREDIT_CLOSE));
		if (port->packet.close_tell & bit)
			rx_tell(port, vc, f, packet_lost_why(port), now_ns);
		port->packet.close_tell &= ~bit;
		port->packet.close_mask &= ~bit;
		PORT_COUNT(port, rx_closed);
		rx_pass(port, f);
	}
}

/* The link is dead: packets cut off by it are not whole and never will be. */
void
port_packet_abandon(struct rl_port *port, uint64_t now_ns)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (port->packet.open_flits[vc] != 0)
			port->packet.close_mask |= 1u << vc;
		if (port->packet.part[vc] == NULL || RL_PLANTED(KEEP_PARTIAL))
			continue;
		PORT_COUNT(port, rx_partial_discard);
		rx_discard(port, port->packet.part[vc]);
		port->packet.part[vc] = NULL;
	}
	port_packet_close(port, now_ns);
}

/* The packet in assembly is reported and dropped. */
static void
rx_drop_packet(struct rl_port *port, unsigned int vc, enum rl_drop_reason why,
	       uint64_t now_ns)
{
	struct rl_flit *pkt = port->packet.part[vc];

	rx_tell(port, vc, pkt, why, now_ns);
	port->packet.part[vc] = NULL;
	rx_discard(port, pkt);
}

void
port_packet_lost(struct rl_port *port, unsigned int vc, uint64_t now_ns)
{
	if (port->packet.open_flits[vc] != 0) {
		port->packet.close_mask |= 1u << vc;
		if (port->packet.part[vc] == NULL)
			port->packet.close_tell |= 1u << vc;
	}
	if (port->packet.part[vc] != NULL)
		rx_drop_packet(port, vc, packet_lost_why(port), now_ns);
	port_packet_close(port, now_ns);
}

/*
 * A packet of which nothing has come for the watchdog's time gets no more.
 *
 * A peer that has begun a packet has credits and window for all of it, and so
 * has the one that it comes from. What delays the rest ends within the
 * watchdog's time, by the death of a link at the latest. Until then it is only
 * slow. A peer that is broken, or lies, must not keep the VC, and the window of
 * the egress that the packet has begun to leave by, for ever.
 *
 * Without link retry a tail may be lost. The next frame of any type shows that
 * (rx_lost()); a link without keepalives may send none.
 */
void
port_packet_tick(struct rl_port *port, uint64_t now_ns)
{
	const uint64_t limit_ns = port->p.cfg->watchdog_ns;
	struct port_packet *p = &port->packet;

	if (rl_likely(now_ns < p->part_due_ns))
		return;
	p->part_due_ns = RL_NEVER;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		const uint64_t due_ns = rl_deadline(p->since_ns[vc], limit_ns);

		if (p->part[vc] == NULL && p->open_flits[vc] == 0)
			continue;
		if (now_ns < due_ns) {
			p->part_due_ns = rl_min_u64(p->part_due_ns, due_ns);
			continue;
		}
		PORT_COUNT(port, rx_stalled);
		port_packet_lost(port, vc, now_ns);
	}
}

/* A timer that runs on when all packets have ended has nothing to look for. */
bool
port_packet_rests(const struct rl_port *port)
{
	const struct port_packet *p = &port->packet;

	for (unsigned int vc = 0;
	     vc < RL_VCS && p->part_due_ns != RL_NEVER; vc++)
		if (p->part[vc] != NULL || p->open_flits[vc] != 0)
			return false;
	return p->close_mask == 0;
}

/* A flit of no packet begun here: dropped until a start-of-packet. */
static void
rx_drop_fragment(struct rl_port *port, struct rl_flit *f, uint64_t now_ns)
{
	const unsigned int vc = f->in_vc;

	PORT_COUNT(port, rx_discard_to_sop);
	rx_start(port, f, now_ns);
	if (port->p.drop != NULL && (f->flags & RL_FF_EOP) &&
	    !(port->told.told[vc] && port->told.name[vc] == rx_name(f)))
		port->p.drop(port->p.drop_ctx, f, RL_DROP_FRAGMENT, now_ns);
	rx_discard(port, f);
}

/*
 * The packet in assembly is longer than any may be. What has not gone on is
 * cut out; what has is closed [LCB-2]. The rest is dropped until the next
 * start-of-packet.
 */
static void
rx_clip(struct rl_port *port, unsigned int vc, uint64_t now_ns)
{
	struct rl_flit *pkt = port->packet.part[vc];

	PORT_COUNT(port, rx_clipped);
	if (port->packet.open_flits[vc] == 0) {
		rx_drop_packet(port, vc, RL_DROP_TOO_LONG, now_ns);
		return;
	}
	rx_tell(port, vc, pkt, RL_DROP_TOO_LONG, now_ns);
	/* its last flit becomes the end; it may reach the maximum, no more
	 * (it came by itself, and is in no run) */
	pkt->last->flags |= RL_FF_EOP;
	pkt->last->mark = RL_MARK_TRANSMIT_ERROR;
	rx_pass(port, pkt);
}

/* A packet goes on; its timer, if it is the first that is open, starts. */
static void
packet_begun(struct rl_port *port, unsigned int vc, uint64_t now_ns)
{
	struct port_packet *p = &port->packet;

	p->since_ns[vc] = now_ns;
	if (rl_unlikely(p->part_due_ns == RL_NEVER))
		p->part_due_ns = rl_deadline(now_ns, port->p.cfg->watchdog_ns);
}

/* An accepted flit joins the packet of its VC. */
void
port_packet_add(struct rl_port *port, struct rl_flit *f, uint64_t now_ns)
{
	const unsigned int vc = f->in_vc;
	const uint32_t max = port->p.cfg->max_packet_flits;
	struct rl_flit *pkt = port->packet.part[vc];
	uint32_t flits;

	if (f->flags & RL_FF_SOP) {
		if (pkt != NULL) {
			PORT_COUNT(port, rx_partial_discard);
			rx_discard(port, pkt);
			pkt = NULL;
		}
		port->told.told[vc] = false;
		if (port->packet.open_flits[vc] != 0) {
			port->packet.close_mask |= 1u << vc;
			port_packet_close(port, now_ns);
		}
		if (port->packet.close_mask & 1u << vc) {
			rx_drop_fragment(port, f, now_ns);
			return;
		}
	} else if (pkt == NULL && port->packet.open_flits[vc] == 0) {
		if (!RL_PLANTED(NO_DISCARD_TO_SOP)) {
			rx_drop_fragment(port, f, now_ns);
			return;
		}
		f->flags |= RL_FF_SOP;
	}
	if (pkt == NULL) {
		rx_start(port, f, now_ns);
		pkt = f;
	} else {
		rl_packet_append(pkt, f);
	}
	port->packet.part[vc] = pkt;
	packet_begun(port, vc, now_ns);
	flits = pkt->pkt_flits + port->packet.open_flits[vc];
	/* an open packet keeps room for the flit that may have to close it */
	if (flits > max ||
	    (flits == max && !(f->flags & RL_FF_EOP) &&
	     port->p.cfg->switching == RL_CUT_THROUGH))
		rx_clip(port, vc, now_ns);
	else if (f->flags & RL_FF_EOP)
		rx_pass(port, pkt);
}

/*
 * The same for flits in the middle of a packet that is in assembly here: as
 * many of the first @p n as have the first one's sideband, and so its @p state.
 * The packet stays shorter than the longest allowed: whoever reaches that looks
 * at each flit.
 *
 * @return how many joined; 0: port_packet_add() takes the first
 */
uint32_t
port_packet_join(struct rl_port *port, struct rl_flit *const f[],
		 const uint8_t *sideband, uint32_t n, uint64_t state,
		 uint64_t now_ns)
{
	const unsigned int vc = RL_SIDEBAND_VC(rl_get16(sideband));
	struct rl_flit *pkt = port->packet.part[vc];
	uint32_t flits;

	if (pkt == NULL)
		return 0;
	flits = pkt->pkt_flits + port->packet.open_flits[vc] + 1u;
	if (flits >= port->p.cfg->max_packet_flits)
		return 0;
	n = rl_min_u32(n, port->p.cfg->max_packet_flits - flits);
	n = port_packet_alike(sideband, n);
	rl_packet_extend(pkt, f, n, state, state);
	port->packet.since_ns[vc] = now_ns;
	return n;
}

/* Cut-through: what arrived of a packet goes on without its rest [LCB-1]. */
void
port_packet_pass(struct rl_port *port)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		if (port->packet.part[vc] != NULL)
			rx_pass(port, port->packet.part[vc]);
}
