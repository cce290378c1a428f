/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "ep_priv.h"

/* Holding back all flows with a peer. */

void
rl_ep_quiesce(struct rl_ep *ep, uint64_t now_ns, bool on)
{
	if (ep->quiesced == on)
		return;
	ep->quiesced = on;
	ep_tell(ep, on ? RL_EP_EV_QUIESCED : RL_EP_EV_UNQUIESCED, RL_EP_ALL, 0,
		now_ns);
}

/** Tells flows to @p dst whether they are held; released ones send. */
static void
tell_flows(struct rl_ep *ep, uint16_t dst, uint64_t now_ns)
{
	for (uint32_t i = 0; i < ep->nflows; i++) {
		struct ep_flow *flow = &ep->flow[i];
		const bool was = flow->blocked & EPB_HELD;

		if (dst != RL_EP_ALL && flow->peer != dst)
			continue;
		flow->blocked = ep_peer_blocked(ep, flow->peer);
		if (was && !(flow->blocked & EPB_HELD))
			ep_flush_end(ep, flow, now_ns);
		else if (!was && (flow->blocked & EPB_HELD))
			ep_flush_begin(ep, flow, now_ns);
		ep_tx_ready(ep, flow);
	}
}

int
rl_ep_hold(struct rl_ep *ep, uint64_t now_ns, uint16_t dst, bool on)
{
	if (dst != RL_EP_ALL && (dst >= ep->npeers || dst == ep->id))
		return -EINVAL;
	if (dst == RL_EP_ALL) {
		if (ep->held == on)
			return 0;
		ep->held = on;
	} else {
		struct ep_peer *peer = ep_peer_get(ep, dst);

		if (!!(peer->blocked & EPB_HELD) == on)
			return 0;
		peer->blocked ^= EPB_HELD;
	}
	ep_late_possible(ep, now_ns);
	tell_flows(ep, dst, now_ns);
	ep_tell(ep, on ? RL_EP_EV_HELD : RL_EP_EV_RELEASED, dst, 0, now_ns);
	return 0;
}

bool
rl_ep_quiescent(const struct rl_ep *ep, uint16_t dst)
{
	for (uint32_t i = 0; i < ep->nflows; i++) {
		const struct ep_flow *flow = &ep->flow[i];

		if ((dst == RL_EP_ALL || flow->peer == dst) &&
		    flow->una != flow->sent && !flow->flushed)
			return false;
	}
	return true;
}
