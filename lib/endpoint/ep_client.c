/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * Hands packets to the client, and turns flits away if it is too slow. A whole
 * packet waits in `ready`. Once that holds rx_buffer_flits:
 *
 * - with end-to-end retry, flits are turned away. Their sender gets "busy" in a
 *   stand-alone ACK, keeps what it has, and probes; once half of `ready` is free
 *   the senders are told to go on, each in its turn (ep_place.c). Backpressure
 *   in the fabric would not do: the packets that wait there could block ACKs
 *   that this client needs before it takes anything.
 * - without retry, flits come only once, so none may be turned away: the
 *   endpoint says that it has no room, packets stay in the core, and the
 *   fabric's credits hold up the senders.
 */

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

struct rl_flit *
rl_ep_recv(struct rl_ep *ep)
{
	return rl_pktq_pop(&ep->ready);
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
