/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * When a receiver acknowledges: at once, or after so many flits, or so long
 * after the first of them. What is due rides on data, or goes alone.
 */

void
ep_ack_soon(struct rl_ep *ep, struct ep_flow *flow)
{
	if (ep->cfg.retry)
		ep_ack_sync(ep, flow);
}

void
ep_ack_sync(struct rl_ep *ep, struct ep_flow *flow)
{
	flow->ack_at_ns = RL_NEVER;
	flow->flags |= EPF_ACK_NOW;
	ep_list_push(ep, EP_LIST_CTRL, flow);
}

void
ep_ack_count(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if (!ep->cfg.retry)
		return;
	flow->flags |= EPF_RX_SEEN;
	if (++flow->unacked >= ep->cfg.ack_coalesce_flits) {
		ep_ack_soon(ep, flow);
	} else if (flow->ack_at_ns == RL_NEVER) {
		flow->ack_at_ns = rl_deadline(now_ns, ep->cfg.ack_delay_ns);
		ep_timer_arm(ep, flow, flow->ack_at_ns);
	}
}
