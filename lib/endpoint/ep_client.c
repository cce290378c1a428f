/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * Hands packets to the client, and turns flits away if it is too slow. A whole
 * packet waits in `ready`. Once that holds rx_buffer_flits:
 *
 * - with end-to-end retry, flits are turned away. Their sender gets "busy" in a
 *   stand-alone ACK, keeps what it has, and asks with one flit a timeout; once
 *   half of `ready` is free it is told to go on. Backpressure in the fabric
 *   would not do: the packets that wait there could block ACKs that this client
 *   needs before it takes anything.
 * - without retry, flits come only once, so none may be turned away: the
 *   endpoint says that it has no room, packets stay in the core, and the
 *   fabric's credits hold up the senders.
 */

/**
 * Whether the client is too slow to take anything new. Without retry all is
 * taken: the host asks rl_ep_rx_ready() first.
 */
bool
ep_client_full(const struct rl_ep *ep, const struct ep_flow *flow)
{
	return ep->cfg.retry && ep->ready.flits >= ep->cfg.rx_buffer_flits &&
	       flow->part == NULL;
}

/*
 * Flits that are ahead may fill the reorder room: of one flow four times as many
 * as there is room left. So one flow gets four fifths of it, n flows get equal
 * shares, and one that begins always finds room.
 */
#define RX_SHARE 4

bool
ep_rx_share(const struct rl_ep *ep, const struct ep_flow *flow)
{
	return ep->rx_held < ep->cfg.rx_buffer_flits &&
	       (!ep->cfg.retry ||
		flow->held < RX_SHARE * (ep->cfg.rx_buffer_flits - ep->rx_held));
}

/** Turns a flit away: its sender is told, and waits. */
void
ep_turn_back(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f)
{
	EP_COUNT(ep, rx_overflow);
	rl_flit_put(ep->cache, f);
	if (!(flow->flags & EPF_TURNED))
		ep->nturned++;
	flow->flags |= EPF_TURNED | EPF_BUSY_NOW;
	ep_list_push(ep, EP_LIST_CTRL, flow);
}

/** The client has taken packets: senders that were turned away may retry. */
static void
room_again(struct rl_ep *ep)
{
	if (ep->ready.flits > ep->cfg.rx_buffer_flits / 2)
		return;
	for (uint32_t i = 0; ep->nturned > 0; i++) {
		struct ep_flow *flow = &ep->flow[i];

		if (!(flow->flags & EPF_TURNED))
			continue;
		ep->nturned--;
		flow->flags &= ~EPF_TURNED;
		flow->flags |= EPF_BUSY_NOW;
		ep_ctrl_now(ep, flow);
	}
}

struct rl_flit *
rl_ep_recv(struct rl_ep *ep)
{
	struct rl_flit *pkt = rl_pktq_pop(&ep->ready);

	if (rl_unlikely(ep->nturned > 0))
		room_again(ep);
	return pkt;
}

bool
rl_ep_rx_ready(struct rl_ep *ep, uint64_t now_ns)
{
	if (ep->cfg.retry || ep->ready.flits == 0 ||
	    ep->ready.flits + ep->cfg.max_packet_flits <=
		    ep->cfg.rx_buffer_flits)
		return true;
	/* flits may be missing because they were turned away */
	ep->paced_ns = now_ns;
	return false;
}

bool
rl_ep_recv_pending(const struct rl_ep *ep)
{
	return !rl_pktq_empty(&ep->ready);
}
