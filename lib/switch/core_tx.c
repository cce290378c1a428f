/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From the queues of the core to the ports: arbitration, how much room a port
 * has, and the marks that follow packets.
 */

#include "core_priv.h"

/*
 * A FENCE follows every packet that was queued when it was requested, to its
 * end. Some may have been excised meanwhile; an empty queue holds none.
 */
static bool
fence_ready(const struct core_port *cp)
{
	if (cp->fence_out || cp->fence_want == cp->fence_done)
		return false;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		if (rl_seq_before(cp->ended[vc], cp->fence_at[vc]) &&
		    (cp->begun[vc].on || !rl_pktq_empty(&cp->q[vc])))
			return false;
	return true;
}

/*
 * What VC @p vc of an egress may send next: only the rest of a packet it has
 * begun; otherwise the first packet of its queue (core_fair.c).
 */
static struct rl_pktq *
tx_source(struct core_port *cp, unsigned int vc)
{
	if (cp->begun[vc].on)
		return rl_pktq_empty(&cp->begun[vc].rest) ? NULL
							  : &cp->begun[vc].rest;
	return rl_pktq_empty(&cp->q[vc]) ? NULL : &cp->q[vc];
}

/* Takes the next flits of @p q for VC @p vc, if the port's queue has room. */
static struct rl_flit *
tx_next(struct rl_core *core, uint16_t port, unsigned int vc,
	struct rl_pktq *q)
{
	struct core_port *cp = &core->port[port];
	struct rl_flit *pkt = q->head;
	const uint32_t queued =
		cp->sent[vc] - rl_shared_read(&cp->shared->taken[vc]);
	const bool whole = rl_packet_ends(pkt);
	const uint32_t need = whole || cp->begun[vc].on
				      ? pkt->pkt_flits
				      : core->p.cfg->max_packet_flits;

	if (queued + need > core->p.cfg->queue_flits)
		return NULL;
	rl_pktq_pop(q);
	if (rl_unlikely(cp->fair[vc] != 0) && q == &cp->q[vc])
		core_fair_taken(core, cp, vc, pkt);
	if (rl_unlikely(cp->begun[vc].on)) {
		if (!RL_PLANTED(VC_MIXED))
			pkt->vc = (uint8_t)vc; /* not the VC it came in by */
		if (whole)
			core_begun_end(core, port, vc);
	} else if (rl_unlikely(!whole)) {
		core_begin(core, port, vc, pkt);
	}
	if (rl_pktq_empty(&cp->q[vc]) && !cp->begun[vc].on)
		cp->qmask &= ~(1u << vc);
	cp->sent[vc] += pkt->pkt_flits;
	cp->ended[vc] += whole;
	CORE_COUNT(core, tx_packets);
	CORE_COUNT_N(core, tx_flits, pkt->pkt_flits);
	core_free_credit(core, pkt);
	return pkt;
}

/* A port that runs empty gets no more once begun packets have ended. */
static bool
core_leave_ready(const struct core_port *cp)
{
	if (rl_likely(cp->state != RL_EGRESS_LEAVE) || cp->left)
		return false;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		if (cp->begun[vc].on)
			return false;
	return true;
}

/* VCs to skip, from the current turn to the next VC with something queued. */
static unsigned int
tx_skip(const struct core_port *cp)
{
	const uint32_t twice = cp->qmask | cp->qmask << RL_VCS;

	return (unsigned int)__builtin_ctz(twice >> cp->turn);
}

static unsigned int
tx_some(struct rl_core *core, uint16_t port, struct rl_flit *out[],
	unsigned int max)
{
	struct core_port *cp = &core->port[port];
	unsigned int n = 0, passed = 0;

	if (cp->loop_fence_owed && n < max) {
		cp->loop_fence_owed = false;
		out[n++] = rl_pipe_mark(RL_MARK_LOOP_FENCE);
	}
	if (cp->state != RL_EGRESS_ALIVE && cp->state != RL_EGRESS_LEAVE)
		return n;
	while (n < max && cp->qmask != 0 && passed < RL_VCS) {
		const unsigned int skip = tx_skip(cp);
		unsigned int vc;
		struct rl_pktq *q;
		struct rl_flit *pkt;

		if (passed + skip >= RL_VCS) { /* a full round */
			cp->turn = (uint8_t)((cp->turn + RL_VCS - passed) %
					     RL_VCS);
			break;
		}
		passed += skip + 1;
		vc = (cp->turn + skip) % RL_VCS;
		cp->turn = (uint8_t)((vc + 1) % RL_VCS);
		q = tx_source(cp, vc);
		if (q == NULL) {
			if (!cp->begun[vc].on)
				cp->qmask &= ~(1u << vc);
			continue;
		}
		pkt = tx_next(core, port, vc, q);
		if (pkt == NULL)
			continue;
		out[n++] = pkt;
		passed = 0;
	}
	if (n < max && core_leave_ready(cp)) {
		cp->left = true;
		out[n++] = rl_pipe_mark(RL_MARK_LOOP_FENCE);
	}
	if (n < max && fence_ready(cp)) {
		cp->fence_out = true;
		cp->fence_sent = cp->fence_want;
		out[n++] = rl_pipe_mark(RL_MARK_FENCE);
	}
	return n;
}

unsigned int
rl_core_tx(struct rl_core *core, uint16_t port, struct rl_flit *out[],
	   unsigned int max)
{
	const unsigned int n = tx_some(core, port, out, max);

	core->given |= (uint64_t)(n != 0) << (port & 63);
	return n;
}

bool
rl_core_tx_pending(const struct rl_core *core, uint16_t port)
{
	const struct core_port *cp = &core->port[port];

	return cp->qmask != 0 || cp->loop_fence_owed ||
	       core_leave_ready(cp) ||
	       (cp->fence_want != cp->fence_done && !cp->fence_out);
}
