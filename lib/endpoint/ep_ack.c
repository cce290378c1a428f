/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * What an acknowledgment, a NAK and the retry timer do to the sending half of
 * a flow. The invariant behind all of it:
 *
 *     una <= sent <= next <= una + window_flits
 *
 * una .. sent-1 are in the fabric or lost, sent .. next-1 wait to be sent
 * first, and the receiver expects a number in una .. sent. Whatever names a
 * number outside of that is ignored and counted: it is late, or forged.
 *
 * The timer runs while una < sent. It starts again on forward progress only;
 * a NAK does not move it, or a receiver that asks for ever could keep a flow
 * from being given up. While flits wait to be sent again the fabric is what
 * is slow, and an expiry is not held against the receiver.
 *
 * When the timer expires, go-back-N sends everything again. Selective retry
 * sends only the last flit: if all had arrived, the duplicate brings back the
 * lost ACK; if not, it shows the receiver what is missing, and the NAK asks
 * for exactly that. Only the next expiry sends everything.
 */

/** Backoff beyond this is cut by retry_timer_max_ns anyway. */
#define BACKOFF_MAX 20
/** First timer of a flow, before anything is measured, in minima. */
#define RTO_FIRST 10

uint64_t
ep_rto_ns(const struct rl_ep *ep, const struct ep_flow *flow)
{
	const struct rl_ep_cfg *c = &ep->cfg;
	uint64_t t, cap;

	if (c->retry_timer_ns != 0) {
		t = c->retry_timer_ns;
	} else if (flow->srtt_ns == 0) {
		t = RTO_FIRST * c->retry_timer_min_ns;
	} else {
		/* the ACK may have waited at the receiver */
		t = flow->srtt_ns + 4 * flow->rttvar_ns + c->ack_delay_ns;
		t = rl_max_u64(t, c->retry_timer_min_ns);
	}
	cap = rl_max_u64(c->retry_timer_max_ns, c->retry_timer_ns);
	return t > cap >> flow->backoff ? cap : t << flow->backoff;
}

/** Smoothed as RFC 6298 does: gains of 1/8 and 1/4. */
static void
rtt_sample(struct ep_flow *flow, uint64_t rtt_ns)
{
	uint64_t err;

	if (flow->srtt_ns == 0) {
		flow->srtt_ns = rl_max_u64(rtt_ns, 1);
		flow->rttvar_ns = rtt_ns / 2;
		return;
	}
	err = rtt_ns > flow->srtt_ns ? rtt_ns - flow->srtt_ns
				     : flow->srtt_ns - rtt_ns;
	flow->rttvar_ns += err / 4;
	flow->rttvar_ns -= flow->rttvar_ns / 4;
	flow->srtt_ns += rtt_ns / 8;
	flow->srtt_ns -= flow->srtt_ns / 8;
	flow->srtt_ns = rl_max_u64(flow->srtt_ns, 1);
}

void
ep_tx_release(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto)
{
	struct ep_win *w = flow->tx_win;

	for (uint32_t s = flow->una; s != upto; s++) {
		rl_flit_put(ep->cache, w->slot[s & ep->win_mask]);
		if (flow->resend > 0 && ep_win_bit(w, ep->win_mask, s)) {
			ep_win_clear(w, ep->win_mask, s);
			flow->resend--;
		}
	}
	ep_tx_let_go(ep, flow->cos, upto - flow->una);
	flow->una = upto;
	if (flow->una == flow->next) {
		RL_DASSERT(flow->resend == 0);
		ep_win_give(ep, w);
		flow->tx_win = NULL;
	}
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
		flow->flags &= (uint8_t)~EPF_RTT_RUNS;
		rtt_sample(flow, now_ns - flow->rtt_t0_ns);
	}
	ep->outstanding -= (uint32_t)progress;
	ep_tx_release(ep, flow, n + 1);
	flow->retries = 0;
	flow->backoff = 0;
	flow->rto_at_ns = RL_NEVER;
	if (flow->una != flow->sent) {
		flow->rto_at_ns = rl_deadline(now_ns, ep_rto_ns(ep, flow));
		ep_timer_arm(ep, flow, flow->rto_at_ns);
	}
}

static void
mark(struct rl_ep *ep, struct ep_flow *flow, uint32_t seq)
{
	if (ep_win_bit(flow->tx_win, ep->win_mask, seq))
		return;
	ep_win_set(flow->tx_win, ep->win_mask, seq);
	flow->resend++;
}

static void
mark_all(struct rl_ep *ep, struct ep_flow *flow)
{
	for (uint32_t s = flow->una; s != flow->sent; s++)
		mark(ep, flow, s);
}

/** Whether @p seq was sent and is not acknowledged. */
static bool
in_flight(const struct ep_flow *flow, uint32_t seq)
{
	return flow->state == RL_EP_FLOW_OPEN &&
	       rl_seq_before_eq(flow->una, seq) &&
	       rl_seq_before(seq, flow->sent);
}

static void
after_marks(struct rl_ep *ep, struct ep_flow *flow)
{
	if (ep_tx_wants(ep, flow))
		ep_list_push(ep, EP_LIST_TX, flow);
}

/**
 * Whether the first flit in flight has been sent again within a round trip:
 * then a NAK that asks for it can't be an answer to that.
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
	mark_all(ep, flow);
	after_marks(ep, flow);
}

void
ep_on_nak_one(struct rl_ep *ep, struct ep_flow *flow, uint32_t n)
{
	EP_COUNT(ep, nak_received);
	if (!in_flight(flow, n + 1)) {
		EP_COUNT(ep, nak_ignored);
		return;
	}
	mark(ep, flow, n + 1);
	after_marks(ep, flow);
}

void
ep_on_nak_map(struct rl_ep *ep, struct ep_flow *flow, uint32_t n,
	      const uint8_t *map, unsigned int bytes, uint64_t now_ns)
{
	const uint32_t before = flow->resend;

	EP_COUNT(ep, nak_received);
	ep_on_ack(ep, flow, n, now_ns);
	for (unsigned int i = 0; i < 8 * bytes; i++)
		if ((map[i >> 3] >> (i & 7) & 1) && in_flight(flow, n + 1 + i))
			mark(ep, flow, n + 1 + i);
	if (flow->resend <= before)
		EP_COUNT(ep, nak_ignored);
	after_marks(ep, flow);
}

/** Reports every packet of which a flit is in the retry buffer. */
static void
report_all(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	struct rl_ep_report r = {
		.src = ep->id,
		.dst = flow->peer,
		.cos = flow->cos,
		.reason = RL_EP_RETRY_LIMIT,
	};
	bool first = true;

	for (uint32_t s = flow->una; s != flow->next; s++) {
		const uint32_t tag = rl_flit_tag(
			flow->tx_win->slot[s & ep->win_mask]->wire);

		if (!first && tag == r.tag)
			continue;
		first = false;
		r.tag = tag;
		EP_COUNT(ep, reported_packets);
		if (ep->report != NULL)
			ep->report(ep->report_ctx, &r, now_ns);
	}
}

/*
 * The destination does not answer: everything the flow holds is reported, and
 * the flow waits for its client. The receiver does not know; should the
 * client send again, the flow first tells it where it goes on (SYNC).
 */
static void
fail(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	EP_COUNT(ep, flow_failures);
	report_all(ep, flow, now_ns);
	ep->outstanding -= flow->next - flow->una;
	ep_tx_release(ep, flow, flow->next);
	flow->sent = flow->next;
	flow->sync_tag = flow->tx_tag;
	flow->retries = 0;
	flow->backoff = 0;
	flow->rto_at_ns = RL_NEVER;
	flow->flags &= (uint8_t)~(EPF_RTT_RUNS | EPF_SYNC_NOW);
	ep_flow_set_state(flow, RL_EP_FLOW_FAILED);
}

void
ep_on_sync_ack(struct rl_ep *ep, struct ep_flow *flow, uint32_t n,
	       uint64_t now_ns)
{
	(void)now_ns;
	if (n + 1 != flow->una) {
		EP_COUNT(ep, ack_stale);
		return;
	}
	EP_COUNT(ep, ack_received);
	ep_flow_set_state(flow, RL_EP_FLOW_OPEN);
	flow->retries = 0;
	flow->backoff = 0;
	flow->rto_at_ns = RL_NEVER;
	flow->flags &= (uint8_t)~EPF_SYNC_NOW;
	after_marks(ep, flow);
}

void
ep_on_rto(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	const uint32_t limit = ep->cfg.retry_limit;

	if (flow->state == RL_EP_FLOW_FAILED || RL_PLANTED(E2E_TAIL) ||
	    (flow->state == RL_EP_FLOW_OPEN && flow->una == flow->sent)) {
		flow->rto_at_ns = RL_NEVER;
		return;
	}
	if (flow->resend == 0 && !(flow->flags & EPF_SYNC_NOW)) {
		EP_COUNT(ep, timeouts);
		flow->retries++;
		if (limit != 0 && flow->retries > limit) {
			fail(ep, flow, now_ns);
			return;
		}
		if (flow->backoff < BACKOFF_MAX)
			flow->backoff++;
		if (flow->state == RL_EP_FLOW_SYNC) {
			flow->flags |= EPF_SYNC_NOW;
			ep_ctrl_now(ep, flow);
		} else if (flow->retries == 1 &&
			   ep->cfg.retry_mode == RL_RETRY_SELECTIVE) {
			EP_COUNT(ep, probes);
			mark(ep, flow, flow->sent - 1);
		} else {
			mark_all(ep, flow);
		}
		after_marks(ep, flow);
	}
	flow->rto_at_ns = rl_deadline(now_ns, ep_rto_ns(ep, flow));
}

void
rl_ep_dropped(struct rl_ep *ep, uint64_t now_ns, uint16_t dst, uint8_t cos,
	      uint32_t tag, uint16_t pos, enum rl_ep_drop why)
{
	struct ep_flow *flow = ep_flow_find(ep, dst, cos);
	const struct rl_ep_report r = {
		.src = ep->id,
		.dst = dst,
		.cos = cos,
		.tag = tag,
		.reason = RL_EP_DROPPED,
	};

	(void)why;
	EP_COUNT(ep, drop_notices);
	if (pos == RL_EP_POS_CTRL)
		return; /* whoever waits for it asks again */
	if (flow == NULL || rl_seq_before_eq(flow->tx_tag, tag))
		return; /* never sent: the header was hurt */
	if (!ep->cfg.retry) {
		EP_COUNT(ep, reported_packets);
		if (ep->report != NULL)
			ep->report(ep->report_ctx, &r, now_ns);
		return;
	}
	if (flow->state != RL_EP_FLOW_OPEN)
		return;
	for (uint32_t s = flow->una; s != flow->sent; s++) {
		const uint8_t *w =
			flow->tx_win->slot[s & ep->win_mask]->wire;

		if (rl_flit_tag(w) == tag && rl_get16(w + 14) == pos) {
			mark(ep, flow, s);
			break;
		}
	}
	after_marks(ep, flow);
}
