/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/* Events: tells the client about its peers. */

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
ep_tell_restarted(struct rl_ep *ep, uint16_t peer, uint32_t tag,
		  uint64_t now_ns)
{
	const struct rl_ep_event ev = {
		.t_ns = now_ns,
		.tag = tag,
		.ep = ep->id,
		.peer = peer,
		.kind = RL_EP_EV_RESTARTED,
	};

	if (ep->event != NULL)
		ep->event(ep->event_ctx, &ev);
}
