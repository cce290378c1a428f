/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "ep_priv.h"

/*
 * What concerns all flows with a peer. Most peers of a large fabric are never
 * spoken to, so what is known of one is filled in when it is first needed; a
 * bit says whether it is.
 */

static bool
known(const struct rl_ep *ep, uint16_t peer)
{
	return ep->peer_known[peer >> 6] >> (peer & 63) & 1;
}

struct ep_peer *
ep_peer_get(struct rl_ep *ep, uint16_t peer)
{
	if (!known(ep, peer)) {
		ep->peer_known[peer >> 6] |= 1ull << (peer & 63);
		memset(&ep->peer[peer], 0, sizeof(ep->peer[peer]));
	}
	return &ep->peer[peer];
}

bool
ep_peer_held(const struct rl_ep *ep, uint16_t peer)
{
	return ep->held ||
	       (known(ep, peer) && (ep->peer[peer].flags & EPP_HELD));
}

void
ep_tell(struct rl_ep *ep, enum rl_ep_event_kind kind, uint16_t peer,
	uint64_t since_ns, uint64_t now_ns)
{
	const struct rl_ep_event ev = {
		.t_ns = now_ns,
		.since_ns = since_ns,
		.ep = ep->id,
		.peer = peer,
		.kind = kind,
	};

	if (ep->event != NULL)
		ep->event(ep->event_ctx, &ev);
}

void
rl_ep_quiesce(struct rl_ep *ep, uint64_t now_ns, bool on)
{
	if (ep->quiesced == on)
		return;
	ep->quiesced = on;
	ep_tell(ep, on ? RL_EP_EV_QUIESCED : RL_EP_EV_UNQUIESCED, RL_EP_ALL, 0,
		now_ns);
}

/** What was held back leaves. */
static void
release(struct rl_ep *ep, uint16_t dst)
{
	for (uint32_t i = 0; i < ep->nflows; i++) {
		struct ep_flow *flow = &ep->flow[i];

		if ((dst == RL_EP_ALL || flow->peer == dst) &&
		    ep_tx_wants(ep, flow))
			ep_list_push(ep, EP_LIST_TX, flow);
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

		if (!!(peer->flags & EPP_HELD) == on)
			return 0;
		peer->flags ^= EPP_HELD;
	}
	if (!on)
		release(ep, dst);
	ep_tell(ep, on ? RL_EP_EV_HELD : RL_EP_EV_RELEASED, dst, 0, now_ns);
	return 0;
}

bool
rl_ep_quiescent(const struct rl_ep *ep, uint16_t dst)
{
	for (uint32_t i = 0; i < ep->nflows; i++) {
		const struct ep_flow *flow = &ep->flow[i];

		if ((dst == RL_EP_ALL || flow->peer == dst) &&
		    flow->una != flow->sent)
			return false;
	}
	return true;
}

bool
rl_ep_unreachable(const struct rl_ep *ep, uint16_t peer, uint64_t *since_ns)
{
	(void)ep;
	(void)peer;
	(void)since_ns;
	return false;
}

uint32_t
rl_ep_unreachable_count(const struct rl_ep *ep)
{
	(void)ep;
	return 0;
}
