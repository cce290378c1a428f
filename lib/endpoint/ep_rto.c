/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * The probe timer. It runs while anything is outstanding, and starts again on
 * forward progress, or when a probe leaves; a NAK does not move it, or endless
 * NAKs could keep a flow from probing. While retransmissions or a probe wait to
 * be sent, the fabric is slow, and an expiry is not counted; but it probes, so
 * that endless drop notices can't keep it from finding out that the peer is
 * gone.
 *
 * When it expires, a probe asks what is missing (ep_ask.c). With explicit
 * numbers, as in CXL, the two ends may count differently: then all is sent
 * again. A flow gives up after retry_limit expiries without an answer, or at
 * ep_give_up_at_ns(), whichever comes first.
 */

/** The longest timer caps the backoff before this. */
#define BACKOFF_MAX 20

static void
give_up(struct rl_ep *ep, struct ep_flow *flow, enum rl_ep_reason why,
	uint64_t now_ns)
{
	if (flow->blocked & EPB_UNREACHABLE)
		why = RL_EP_UNREACHABLE;
	ep_fail(ep, flow, why, now_ns);
}

/** Handles an expiry of the timer. @return false: the flow gave up */
static bool
expired(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	const uint32_t limit = ep->cfg.retry_limit;

	if (flow->flags & (EPF_SYNC_NOW | EPF_PROBE_NOW))
		return true;
	if (flow->resend != 0 && flow->state == RL_EP_FLOW_OPEN) {
		ep_ask_now(ep, flow);
		return true;
	}
	EP_COUNT(ep, timeouts);
	flow->retries++;
	if (limit != 0 && flow->retries > limit) {
		give_up(ep, flow, RL_EP_RETRY_LIMIT, now_ns);
		return false;
	}
	if (flow->backoff < BACKOFF_MAX)
		flow->backoff++;
	if (flow->state == RL_EP_FLOW_SYNC) {
		flow->flags |= EPF_SYNC_NOW;
		ep_ctrl_now(ep, flow);
	} else {
		if (ep->isn || flow->retries > 1)
			ep_ask(ep, flow);
		if (!ep->isn) { /* there an answer may be ambiguous */
			ep_mark_all(flow);
			ep_tx_ready(ep, flow);
		}
	}
	return true;
}

void
ep_on_rto(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	uint64_t at = RL_NEVER;

	if (RL_PLANTED(E2E_TAIL)) {
		flow->rto_at_ns = RL_NEVER;
		return;
	}
	/* slow alone is not stalled: the last probe was unanswered, too */
	if (flow->una != flow->sent && !(flow->blocked & EPB_HELD) &&
	    flow->retries > 0)
		ep_tx_stall(ep, flow, true);
	if (ep_give_up_at_ns(ep, flow) <= now_ns)
		give_up(ep, flow, RL_EP_GIVE_UP, now_ns);
	if (flow->blocked & EPB_UNREACHABLE)
		at = ep_reach_timer(ep, flow, now_ns);
	if ((flow->blocked & EPB_HELD) && flow->state == RL_EP_FLOW_OPEN)
		at = rl_min_u64(at, ep_flush_timer(ep, flow, now_ns));
	else if (!(flow->blocked & EPB_UNREACHABLE) &&
		 (flow->state == RL_EP_FLOW_SYNC ||
		  (flow->state == RL_EP_FLOW_OPEN && flow->una != flow->sent)))
		at = expired(ep, flow, now_ns)
			     ? rl_deadline(now_ns, ep_rto_ns(ep, flow))
			     : RL_NEVER;
	flow->rto_at_ns = rl_min_u64(at, ep_give_up_at_ns(ep, flow));
}
