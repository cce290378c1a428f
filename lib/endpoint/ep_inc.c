/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_ctrl.h"
#include "ep_priv.h"

/*
 * Lives of endpoints [EP-7]. An endpoint that restarts has lost its flows, and
 * does not know that it had any; its peers do not know that they are gone. So
 * each life has a number, its incarnation, drawn at random, and stand-alone
 * flits carry two: that of their sender, and that of the peer as the sender
 * knows it.
 *
 *     A (life 7)                                   B (life 3, then 5)
 *       | SYNC from 7 to 0: I begin at tag t           |  no peer met yet
 *       |--------------------------------------------->|  but no longer young
 *       |                          ACK from 3 to 7     |
 *       |<---------------------------------------------|
 *       | data ...                                     X  dies, restarts
 *       |--------------------------------------------->|  of an unknown flow
 *       |                        HELLO from 5 to 0     |
 *       |<---------------------------------------------|
 *    life 5: A reports all that it has for B (RESTARTED),
 *    and drops all that B had begun
 *       | SYNC from 7 to 5 ...                         |
 *
 * Every flow begins with a sync and its ACK, so that a receiver never takes
 * data of a life that it has not met, and a sender never believes the ACK of
 * one that is over. Data carry no incarnation. Tags identify data of an earlier
 * life that are still under way: the first tag of a flow is drawn at random in
 * each life.
 *
 * A SYNC to 0, from a peer that has met no life yet, may have been meant for an
 * earlier life, and so may the data behind it, which that life has delivered.
 * So an endpoint that is young - flits for an earlier life may still be under
 * way - insists on its incarnation: it answers with a HELLO, and the SYNC comes
 * again.
 *
 * Incarnations have no order. One that has ended is remembered, so that a late
 * flit of it is not taken for yet another life; but only for as long as a flit
 * can be under way, so that no error lasts for ever.
 *
 * An endpoint whose incarnation is 0 does none of this: it is for fabrics whose
 * endpoints never restart, and whose flows begin without a round trip.
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

/** The peer has lost its state: it holds and expects nothing. */
static void
rx_reset(struct rl_ep *ep, struct ep_flow *flow)
{
	ep_order_sync(ep, flow, flow->held > 0 ? flow->high : flow->expect,
		      flow->rx_tag);
	flow->flags &= ~(EPF_RX_SYNCED | EPF_RX_SEEN | EPF_ACK_NOW |
			 EPF_SYNC_ACK_NOW | EPF_NAK_NOW | EPF_HINT |
			 EPF_LOST_NOW | EPF_BUSY_NOW | EPF_ECHO_LATE);
	flow->ack_at_ns = RL_NEVER;
	flow->gap_at_ns = RL_NEVER;
	flow->unacked = 0;
}

/** Restarts both halves of a flow whose peer has lost its own. */
static void
restart_flow(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	rx_reset(ep, flow);
	switch ((enum rl_ep_flow_state)flow->state) {
	case RL_EP_FLOW_OPEN:
		ep_fail(ep, flow, RL_EP_RESTARTED, now_ns);
		break;
	case RL_EP_FLOW_SYNC: /* nothing has left: it may go to the new life */
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

/** Rate-limited: a flood is not answered by a flood. */
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

/** Whether flits for an earlier life of ours may still be under way. */
static bool
is_young(const struct rl_ep *ep, uint64_t now_ns)
{
	return ep->born_ns == 0 || now_ns - ep->born_ns < PAST_NS;
}

/** Whether a flit is for this life, or for any life of this endpoint. */
static bool
is_meant(const struct rl_ep *ep, const struct ep_ctrl *c, uint64_t now_ns)
{
	if (c->to != 0)
		return c->to == ep->incarnation;
	return c->cmd == EP_CMD_HELLO || c->cmd == EP_CMD_PROBE ||
	       (c->cmd == EP_CMD_SYNC && !is_young(ep, now_ns));
}

/**
 * The peer insists on its incarnation: flows that wait for its ACK ask again.
 */
static void
sync_again(struct rl_ep *ep, uint16_t id, uint64_t now_ns)
{
	for (uint8_t cos = 0; cos < 16; cos++) {
		struct ep_flow *flow = ep_flow_find(ep, id, cos);

		if (flow == NULL || flow->state != RL_EP_FLOW_SYNC)
			continue;
		ep_ask_over(ep, flow, now_ns);
		flow->retries = 0;
		flow->flags |= EPF_SYNC_NOW;
		ep_ctrl_now(ep, flow);
	}
}

bool
ep_inc_heard(struct rl_ep *ep, uint16_t id, uint8_t cos,
	     const struct ep_ctrl *c, uint64_t now_ns)
{
	struct ep_peer *peer;
	struct ep_flow *flow;

	if (ep->incarnation == 0 || c->from == 0)
		return true;
	peer = ep_peer_get(ep, id);
	if (c->from != peer->inc && is_over(peer, c->from, now_ns)) {
		EP_COUNT(ep, rx_stale_life);
		return false;
	}
	if (c->from != peer->inc) {
		if (peer->inc != 0)
			restarted(ep, id, peer, now_ns);
		peer->inc = c->from;
	}
	if (c->cmd == EP_CMD_HELLO)
		sync_again(ep, id, now_ns);
	if (is_meant(ep, c, now_ns))
		return true;
	/* meant, or perhaps meant, for an earlier life */
	EP_COUNT_N(ep, rx_stale_life, c->to != 0);
	flow = c->to != 0 || c->cmd == EP_CMD_SYNC ? ep_flow_get(ep, id, cos)
						   : NULL;
	if (flow != NULL)
		hello(ep, flow, peer, now_ns);
	return false;
}
