/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/** Reports every packet that has a flit in the retry buffer. */
static void
report_all(struct rl_ep *ep, struct ep_flow *flow, enum rl_ep_reason reason,
	   uint64_t now_ns)
{
	struct rl_ep_report r = {
		.src = ep->id,
		.dst = flow->peer,
		.cos = flow->cos,
		.reason = reason,
	};
	bool first = true;

	for (uint32_t s = flow->una; s != flow->next; s++) {
		const uint32_t tag = rl_flit_tag(
			ep_win_at(flow->tx_win, s)->wire);

		if (!first && tag == r.tag && !RL_PLANTED(FLOW_REPORT_FLITS))
			continue;
		first = false;
		r.tag = tag;
		EP_COUNT(ep, reported_packets);
		if (ep->report != NULL)
			ep->report(ep->report_ctx, &r, now_ns);
	}
}

/*
 * Reports everything the flow holds; the flow then waits for its client. The
 * receiver is not told; if the client sends again, the flow first tells it
 * where it goes on (SYNC).
 */
void
ep_fail(struct rl_ep *ep, struct ep_flow *flow, enum rl_ep_reason reason,
	uint64_t now_ns)
{
	if (flow->state == RL_EP_FLOW_FAILED)
		return;
	EP_COUNT(ep, flow_failures);
	if (flow->una != flow->next) {
		report_all(ep, flow, reason, now_ns);
		ep->outstanding -= flow->next - flow->una;
		ep_tx_release(ep, flow, flow->next);
	}
	flow->sent = flow->next;
	flow->sync_tag = flow->tx_tag;
	flow->retries = 0;
	flow->backoff = 0;
	flow->doubt = reason != RL_EP_RESTARTED && !RL_PLANTED(FLOW_NO_DOUBT);
	if (!(flow->blocked & EPB_UNREACHABLE)) /* else it paces the probes */
		flow->rto_at_ns = RL_NEVER;
	/* a late answer to its sync still tells how slow the fabric is */
	flow->rtt_t0_ns = flow->state == RL_EP_FLOW_SYNC ? flow->asked_ns : 0;
	flow->asked_ns = 0;
	flow->ask = 0;
	flow->flags &= ~(EPF_RTT_RUNS | EPF_RTT_PROBE | EPF_SYNC_NOW |
			 EPF_TX_BUSY | EPF_ASK | EPF_OVERLOADED);
	ep_flow_set_state(flow, RL_EP_FLOW_FAILED);
}
