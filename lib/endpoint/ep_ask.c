/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_congest.h"

/*
 * Slow is not dead [EP-8]. A fabric may be slow without losing anything: an
 * expired timer proves nothing, so it retransmits nothing. It sends a probe.
 *
 *   sender                                             receiver
 *     | data ... newest is n - 1                            |
 *     |---------------------------------------------------->|
 *     | timer: PROBE number p, of all before n              |
 *     |---------------------------------------------------->|
 *     |                ECHO p: all up to m, but not these   |
 *     |<----------------------------------------------------|
 *     | those are gone: retransmit them                     |
 *
 * A probe takes the path of the data, behind them (over many paths its answer
 * waits instead, ep_spread.c). So flits that are missing when it arrives are gone
 * - unless they were retransmitted after the probe had
 * left; then the echo says nothing about them, and the next probe will.
 *
 * Probes are repeated with backoff, no faster than the last measured round
 * trip. A flow gives up when its probes stay unanswered: give_up_ns after the
 * first of them left, or later in a slow fabric (ep_patience_ns()). While the
 * peer answers, however late, the flow is kept; if it makes no progress for that
 * long, the peer is overloaded, which is reported as an event and counted.
 * Packets that wait for their turn age only while nothing of their service
 * level leaves.
 */

uint32_t
ep_probe_next(struct ep_peer *peer)
{
	if (++peer->probe == 0) /* 0 means no probe */
		peer->probe = 1;
	return peer->probe;
}

void
ep_ask_now(struct rl_ep *ep, struct ep_flow *flow)
{
	flow->flags &= ~EPF_ASK;
	if (flow->flags & EPF_PROBE_NOW)
		return;
	ep_probe_next(ep_peer_get(ep, flow->peer));
	flow->flags |= EPF_PROBE_NOW;
	ep_ctrl_now(ep, flow);
}

void
ep_ask(struct rl_ep *ep, struct ep_flow *flow)
{
	if (flow->resend > 0)
		flow->flags |= EPF_ASK;
	else
		ep_ask_now(ep, flow);
}

void
ep_asked(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if (flow->ask == 0 && flow->state == RL_EP_FLOW_OPEN)
		flow->ask = ep_peer_get(ep, flow->peer)->probe;
	if (flow->asked_ns == 0)
		flow->asked_ns = rl_max_u64(now_ns, 1);
	/*
	 * Karn: if the ACK was lost, the echo takes its place, much later. The
	 * probe has a number of its own, so time that instead.
	 */
	flow->flags &= ~EPF_RTT_RUNS;
	if (flow->state == RL_EP_FLOW_OPEN && !(flow->flags & EPF_RTT_PROBE)) {
		flow->flags |= EPF_RTT_PROBE;
		flow->rtt_seq = ep->peer[flow->peer].probe;
		flow->rtt_t0_ns = now_ns;
		ep_cc_asked(ep, flow);
	}
	ep_rto_start(ep, flow, now_ns);
}

bool
ep_is_asked(const struct rl_ep *ep, const struct ep_flow *flow, uint32_t probe)
{
	return flow->ask != 0 &&
	       (rl_seq_before_eq(flow->ask, probe) ||
		RL_PLANTED(FLOW_FLUSH_OLD)) &&
	       rl_seq_before_eq(probe, ep->peer[flow->peer].probe);
}

void
ep_time_echo(struct rl_ep *ep, struct ep_flow *flow, uint32_t probe,
	     uint64_t now_ns)
{
	if (!(flow->flags & EPF_RTT_PROBE) ||
	    rl_seq_before(probe, flow->rtt_seq) ||
	    rl_seq_before(ep->peer[flow->peer].probe, probe))
		return;
	flow->flags &= ~EPF_RTT_PROBE;
	if (probe != flow->rtt_seq)
		return; /* the timed probe was lost */
	ep_rtt_sample(ep, flow, flow->rtt_t0_ns, now_ns);
	ep_cc_round(ep, flow, now_ns - flow->rtt_t0_ns);
	flow->backoff = 0;
}

/** No progress for long: tells the client, once, and of one flow at a time. */
static void
overloaded(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	const uint64_t long_ns = ep->cfg.give_up_ns;

	if (long_ns == 0 || flow->una == flow->sent ||
	    (flow->flags & (EPF_OVERLOADED | EPF_TX_BUSY)) ||
	    flow->blocked != 0 || now_ns - flow->alive_ns < long_ns)
		return;
	flow->flags |= EPF_OVERLOADED;
	EP_COUNT(ep, overloads);
	if (ep->said_ns != 0 && now_ns - ep->said_ns < long_ns)
		return;
	ep->said_ns = now_ns;
	ep_tell(ep, RL_EP_EV_OVERLOADED, flow->peer, flow->alive_ns, now_ns);
}

void
ep_answered(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	ep_ask_over(ep, flow, now_ns);
	flow->ask = 0;
	flow->retries = 0;
	overloaded(ep, flow, now_ns);
}
