/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * Lives of endpoints [EP-7]. An endpoint that is made anew has lost its flows,
 * and does not know that it had any; its peers do not know that they are gone.
 * So each life has a number, its incarnation, drawn at random, and stand-alone
 * flits say both: whose they are, and whom their sender believes to speak to.
 *
 *     A (life 7)                                   B (life 3, then 5)
 *       | SYNC from 7 to 0: I begin at tag t           |  nobody met yet
 *       |--------------------------------------------->|
 *       |                          ACK from 3 to 7     |
 *       |<---------------------------------------------|
 *       | data ...                                     X  dies, is made anew
 *       |--------------------------------------------->|  of no flow it knows
 *       |                        HELLO from 5 to 0     |
 *       |<---------------------------------------------|
 *    life 5: all that A has for B is reported (RESTARTED),
 *    all that B had begun is dropped
 *       | SYNC from 7 to 5 ...                         |
 *
 * Every flow begins with a sync and its ACK, so that a receiver never takes
 * data of a life that it has not met, and a sender never believes the ACK of
 * one that is over. Data carry no incarnation. Those of an earlier life that
 * are still under way are told apart by their tags: the first tag of a flow is
 * drawn at random in each life.
 *
 * Incarnations have no order. One that has ended is remembered, so that a late
 * flit of it is not taken for yet another life; but not for longer than a flit
 * can be under way, lest an error lasted for ever.
 *
 * An endpoint whose incarnation is 0 does none of this: it is for fabrics that
 * are made once, and whose flows begin without a round trip.
 */

/** No flit is under way for longer. */
#define PAST_NS RL_NS_PER_S

static bool
is_over(const struct ep_peer *peer, uint32_t inc, uint64_t now_ns)
{
	for (unsigned int i = 0; i < EP_PAST; i++)
		if (peer->past[i] == inc &&
		    now_ns - peer->past_ns[i] < PAST_NS)
			return true;
	return false;
}

/** The peer has lost its state: nothing is held, nor expected. */
static void
rx_reset(struct rl_ep *ep, struct ep_flow *flow)
{
	if (flow->flags & EPF_TURNED)
		ep->nturned--;
	ep_order_sync(ep, flow, flow->held > 0 ? flow->high : flow->expect,
		      flow->rx_tag);
	flow->flags &= ~(EPF_RX_SYNCED | EPF_RX_SEEN | EPF_ACK_NOW |
			 EPF_SYNC_ACK_NOW | EPF_NAK_NOW | EPF_HINT |
			 EPF_LOST_NOW | EPF_TURNED | EPF_BUSY_NOW);
	flow->ack_at_ns = RL_NEVER;
	flow->gap_at_ns = RL_NEVER;
	flow->unacked = 0;
}

/** Both halves of a flow whose peer has lost its own. */
static void
restart_flow(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	rx_reset(ep, flow);
	switch ((enum rl_ep_flow_state)flow->state) {
	case RL_EP_FLOW_OPEN:
		ep_fail(ep, flow, RL_EP_RESTARTED, now_ns);
		break;
	case RL_EP_FLOW_SYNC: /* nothing has left: it may go to the new one */
		flow->flags |= EPF_SYNC_NOW;
		ep_ctrl_now(ep, flow);
		break;
	case RL_EP_FLOW_NEW:
	case RL_EP_FLOW_FAILED:
		break;
	}
}

static void
restarted(struct rl_ep *ep, uint16_t id, struct ep_peer *peer, uint64_t now_ns)
{
	bool first = true;
	uint32_t tag = 0;

	EP_COUNT(ep, peer_restarts);
	peer->past[peer->past_i] = peer->inc;
	peer->past_ns[peer->past_i] = now_ns;
	peer->past_i = (peer->past_i + 1) % EP_PAST;
	for (uint8_t cos = 0; cos < 16; cos++) {
		struct ep_flow *flow = ep_flow_find(ep, id, cos);

		if (flow == NULL)
			continue;
		restart_flow(ep, flow, now_ns);
		if (first)
			tag = flow->sync_tag; /* it is not open now */
		first = false;
	}
	ep_tell_restarted(ep, id, tag, now_ns);
}

/** Once in a while at the most: whoever floods us gets no flood back. */
static void
hello(struct rl_ep *ep, struct ep_flow *flow, struct ep_peer *peer,
      uint64_t now_ns)
{
	if (peer->hello_ns != 0 &&
	    now_ns - peer->hello_ns < ep->cfg.probe_ns / 8)
		return;
	peer->hello_ns = rl_max_u64(now_ns, 1);
	flow->flags |= EPF_HELLO_NOW;
	ep_ctrl_now(ep, flow);
}

void
ep_inc_stranger(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	hello(ep, flow, ep_peer_get(ep, flow->peer), now_ns);
}

bool
ep_inc_heard(struct rl_ep *ep, uint16_t id, uint8_t cos, uint32_t from,
	     uint32_t to, bool first, uint64_t now_ns)
{
	struct ep_peer *peer;
	struct ep_flow *flow;

	if (ep->incarnation == 0 || from == 0)
		return true;
	peer = ep_peer_get(ep, id);
	if (from != peer->inc && is_over(peer, from, now_ns)) {
		EP_COUNT(ep, rx_stale_life);
		return false;
	}
	if (from != peer->inc) {
		if (peer->inc != 0)
			restarted(ep, id, peer, now_ns);
		peer->inc = from;
	}
	if (to == ep->incarnation || (first && to == 0))
		return true;
	/* meant for whoever was here before us */
	EP_COUNT(ep, rx_stale_life);
	flow = to == 0 ? NULL : ep_flow_get(ep, id, cos);
	if (flow != NULL)
		hello(ep, flow, peer, now_ns);
	return false;
}
