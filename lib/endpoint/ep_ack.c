/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_congest.h"
#include "ep_ctrl.h"
#include "ep_priv.h"

/*
 * What an acknowledgment, a NAK and an echo do to the sending half of a
 * flow. The invariant behind all of it:
 *
 *     una <= sent <= next <= una + window_flits
 *
 * una .. sent-1 are in the fabric or lost, sent .. next-1 wait for their first
 * transmission, and the receiver expects a number in una .. sent. Any message
 * that names a number outside of that is ignored and counted: it is late, or
 * forged.
 */

void
ep_mark(struct ep_flow *flow, uint32_t seq)
{
	if (ep_win_bit(flow->tx_win, seq))
		return;
	ep_win_set(flow->tx_win, seq);
	flow->resend++;
}

void
ep_mark_all(struct ep_flow *flow)
{
	for (uint32_t s = flow->una; s != flow->sent; s++)
		ep_mark(flow, s);
}

static void
busy_over(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if (!(flow->flags & EPF_TX_BUSY))
		return;
	flow->flags &= ~EPF_TX_BUSY;
	flow->backoff = 0;
	if (flow->una != flow->sent) /* some of it was turned away */
		ep_ask(ep, flow);
	ep_rto_start(ep, flow, now_ns);
	ep_tx_ready(ep, flow);
}

void
ep_on_ack(struct rl_ep *ep, struct ep_flow *flow, uint32_t n, uint64_t now_ns)
{
	const int32_t progress = rl_seq_diff(n + 1, flow->una);

	if (progress <= 0) {
		if (progress < 0)
			EP_COUNT(ep, ack_stale);
		return;
	}
	if (rl_seq_before_eq(flow->sent, n)) {
		EP_COUNT(ep, ack_invalid);
		return;
	}
	EP_COUNT(ep, ack_received);
	if ((flow->flags & EPF_RTT_RUNS) && rl_seq_before_eq(flow->rtt_seq, n)) {
		flow->flags &= ~EPF_RTT_RUNS;
		ep_rtt_sample(ep, flow, flow->rtt_t0_ns, now_ns);
		ep_cc_round(ep, flow, now_ns - flow->rtt_t0_ns);
		flow->backoff = 0;
	}
	/*
	 * Karn: a measured timer may have been too short, and only a flit that
	 * was sent once shows whether it still is.
	 */
	if (ep->cfg.retry_timer_ns != 0)
		flow->backoff = 0;
	ep->outstanding -= (uint32_t)progress;
	ep_tx_release(ep, flow, n + 1);
	flow->retries = 0;
	ep_alive(ep, flow, now_ns);
	busy_over(ep, flow, now_ns);
}

/** Whether @p seq was sent and is not acknowledged. */
static bool
in_flight(const struct ep_flow *flow, uint32_t seq)
{
	return flow->state == RL_EP_FLOW_OPEN &&
	       rl_seq_before_eq(flow->una, seq) &&
	       rl_seq_before(seq, flow->sent);
}

/**
 * Whether the first flit in flight was retransmitted within the last round
 * trip: then a NAK that asks for it can't be an answer to that.
 */
static bool
gbn_recent(const struct rl_ep *ep, const struct ep_flow *flow, uint64_t now_ns)
{
	const uint64_t rtt_ns = flow->srtt_ns != 0 ? flow->srtt_ns
						   : ep_rto_ns(ep, flow) / 8;

	return flow->gbn_ns != 0 && flow->una == flow->gbn_seq &&
	       now_ns - flow->gbn_ns < rtt_ns;
}

void
ep_on_nak_gbn(struct rl_ep *ep, struct ep_flow *flow, uint32_t n,
	      uint64_t now_ns)
{
	EP_COUNT(ep, nak_received);
	ep_on_ack(ep, flow, n, now_ns);
	if (n + 1 != flow->una || !in_flight(flow, flow->una) ||
	    gbn_recent(ep, flow, now_ns)) {
		EP_COUNT(ep, nak_ignored);
		return;
	}
	flow->gbn_seq = flow->una;
	flow->gbn_ns = now_ns;
	ep_mark_all(flow);
	ep_tx_ready(ep, flow);
}

void
ep_on_nak_one(struct rl_ep *ep, struct ep_flow *flow, uint32_t n)
{
	EP_COUNT(ep, nak_received);
	if (!in_flight(flow, n + 1)) {
		EP_COUNT(ep, nak_ignored);
		return;
	}
	ep_mark(flow, n + 1);
	ep_tx_ready(ep, flow);
}

void
ep_mark_map(struct rl_ep *ep, struct ep_flow *flow, const struct ep_ctrl *c)
{
	const uint32_t from = c->n + 1 + c->base;

	for (unsigned int i = 0; i < 8 * c->map_bytes; i++)
		if ((c->map[i >> 3] >> (i & 7) & 1) &&
		    in_flight(flow, from + i))
			ep_mark(flow, from + i);
	ep_tx_ready(ep, flow);
}

void
ep_on_nak_map(struct rl_ep *ep, struct ep_flow *flow, const struct ep_ctrl *c,
	      uint64_t now_ns)
{
	const uint32_t before = flow->resend;

	EP_COUNT(ep, nak_received);
	ep_on_ack(ep, flow, c->n, now_ns);
	ep_mark_map(ep, flow, c);
	if (flow->resend <= before)
		EP_COUNT(ep, nak_ignored);
}

/*
 * A slow client does not mean a broken path: the flow does not age, and sends
 * only probes, so that it can't miss the end of the slowness.
 */
void
ep_on_busy(struct rl_ep *ep, struct ep_flow *flow, bool busy, uint64_t now_ns)
{
	if (!ep->cfg.retry || flow->state != RL_EP_FLOW_OPEN)
		return;
	if (!busy) {
		busy_over(ep, flow, now_ns);
		return;
	}
	if (flow->una == flow->sent)
		return;
	if (!(flow->flags & EPF_TX_BUSY))
		EP_COUNT(ep, busy_received);
	flow->flags |= EPF_TX_BUSY;
	flow->flags &= ~EPF_RTT_RUNS;
	for (uint32_t s = flow->una; flow->resend > 0; s++)
		if (ep_win_bit(flow->tx_win, s)) {
			ep_win_clear(flow->tx_win, s);
			flow->resend--;
		}
	flow->retries = 0;
	flow->alive_ns = now_ns;
}

void
ep_on_sync_ack(struct rl_ep *ep, struct ep_flow *flow, uint32_t n,
	       uint64_t now_ns)
{
	/* to a sync before it gave up, whether or not it has sent another one */
	if (flow->state == RL_EP_FLOW_FAILED || n + 1 != flow->una) {
		EP_COUNT(ep, ack_stale);
		if (flow->rtt_t0_ns != 0)
			ep_rtt_sample(ep, flow, flow->rtt_t0_ns, now_ns);
		flow->rtt_t0_ns = 0;
		return;
	}
	EP_COUNT(ep, ack_received);
	ep_flow_set_state(flow, RL_EP_FLOW_OPEN);
	if (flow->retries == 0 && flow->asked_ns != 0) /* Karn, as above */
		ep_rtt_sample(ep, flow, flow->asked_ns, now_ns);
	flow->retries = 0;
	flow->backoff = 0;
	flow->flags &= ~EPF_SYNC_NOW;
	ep_alive(ep, flow, now_ns);
	ep_tx_ready(ep, flow);
}
