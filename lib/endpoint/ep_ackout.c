/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * When a receiver acknowledges: at once, after a number of flits, or a time
 * after the first of them. A due ACK rides on data, or goes alone.
 */

void
ep_ack_soon(struct rl_ep *ep, struct ep_flow *flow)
{
	if (!ep->cfg.retry)
		return;
	flow->ack_at_ns = RL_NEVER;
	flow->flags |= EPF_ACK_NOW;
	ep_list_push(ep, EP_LIST_CTRL, flow);
}

void
ep_ack_sync(struct rl_ep *ep, struct ep_flow *flow)
{
	flow->ack_at_ns = RL_NEVER;
	flow->flags |= EPF_ACK_NOW | EPF_SYNC_ACK_NOW;
	ep_list_push(ep, EP_LIST_CTRL, flow);
}

/**
 * How long a due ACK may wait for data to ride on, if there is none yet: an
 * eighth of a round trip, while the flow is sending and has room for more. 0:
 * not at all.
 */
static uint64_t
hold_ns(const struct rl_ep *ep, const struct ep_flow *flow, uint64_t now_ns)
{
	if ((ep->cfg.profile != RL_PROFILE_RXL &&
	     ep->cfg.profile != RL_PROFILE_CXL) ||
	    flow->state != RL_EP_FLOW_OPEN || flow->blocked != 0 ||
	    flow->next - flow->una + ep->cfg.max_packet_flits >
		    flow->window ||
	    now_ns - flow->rtt_t0_ns > 2 * flow->srtt_ns)
		return 0;
	return rl_min_u64(flow->srtt_ns / 8, ep->cfg.ack_delay_ns);
}

void
ep_ack_count(struct rl_ep *ep, struct ep_flow *flow, uint32_t n, uint64_t now_ns)
{
	const uint32_t limit = ep->cfg.ack_coalesce_flits;
	const uint32_t before = flow->unacked;
	uint64_t wait = ep->cfg.ack_delay_ns;

	if (!ep->cfg.retry)
		return;
	flow->flags |= EPF_RX_SEEN;
	flow->unacked = (uint16_t)(before + n);
	if (rl_unlikely(ep_spread_untold(ep, flow))) {
		ep_ack_soon(ep, flow);
		return;
	}
	if (flow->unacked >= limit) {
		wait = hold_ns(ep, flow, now_ns);
		if (wait == 0) {
			ep_ack_soon(ep, flow);
			return;
		}
	}
	/* the first of them sets the deadline, and the last brings it closer */
	if (flow->ack_at_ns == RL_NEVER ||
	    (before < limit && flow->unacked >= limit)) {
		flow->ack_at_ns = rl_min_u64(flow->ack_at_ns,
					     rl_deadline(now_ns, wait));
		ep_timer_arm(ep, flow, flow->ack_at_ns);
	}
}
