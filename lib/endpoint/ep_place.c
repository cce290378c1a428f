/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * The places of a full receiver [SW-6]. Each flow that is refused queues, and
 * is served in that order: the flow that was refused longest ago comes first.
 *
 *   receiver                                     sender
 *     | full: a flit is refused, "busy"             |
 *     |-------------------------------------------->| stops
 *     | half is free: the first in the queue        |
 *     | get the free room in equal shares, "go on"  |
 *     |-------------------------------------------->|
 *     |                    PROBE: n is the newest   |
 *     |<--------------------------------------------|
 *     | that many flits are needed, no more         |
 *
 * A share is kept free until its flow has used it. Flows without one are
 * refused while others wait, or while all room is free only for shares: so the
 * sender that is nearest cannot take it all.
 *
 * A sender may not use its share: it has died, given up, or is cut off. So if
 * others wait, all shares end place_wait_ns() after the first was dealt, and all
 * flows of a peer that has not used one leave the queue [DRL-11]. A flow that
 * comes too late for its share is refused again, and queues again.
 *
 * An endpoint that only receives knows no round trip, and all may come too late
 * if the fabric is slow. So a sender that comes after its share has ended
 * doubles the wait, once for all shares that ended together; and each time that
 * all are used in time halves it. One that never comes proves nothing.
 */

/** Shares end after this many of the shortest probe timers, ... */
#define PLACE_TIMERS 10
/** ... or after this many round trips, if that is longer. */
#define PLACE_RTTS 4
#define PLACE_LATE_MAX 12

static uint64_t
place_wait_ns(const struct rl_ep *ep)
{
	return rl_max_u64(PLACE_TIMERS * ep->cfg.retry_timer_min_ns,
			  PLACE_RTTS * ep->srtt_ns)
	       << ep->place_late;
}

/** Returns @p n flits of the flow's share. */
static void
place_return(struct rl_ep *ep, struct ep_flow *flow, uint32_t n)
{
	n = rl_min_u32(n, flow->place);
	flow->place -= n;
	ep->placed -= n;
}

/** The same: its sender has come. */
static void
place_use(struct rl_ep *ep, struct ep_flow *flow, uint32_t n)
{
	const uint32_t before = ep->placed;

	place_return(ep, flow, n);
	if (before > 0 && ep->placed == 0 && ep->place_late > 0)
		ep->place_late--;
}

/** The sender is there after all: it was late. */
static void
place_heard(struct rl_ep *ep, const struct ep_flow *flow)
{
	struct ep_peer *peer = ep_peer_get(ep, flow->peer);

	if (rl_likely(!peer->absent))
		return;
	peer->absent = false;
	if (ep->place_ended && ep->place_late < PLACE_LATE_MAX)
		ep->place_late++;
	ep->place_ended = false;
}

/** The @p i-th in the queue. */
static uint32_t *
queue_at(const struct rl_ep *ep, uint32_t i)
{
	return &ep->refused[(ep->refused_first + i) % ep->cfg.max_flows];
}

static void
queue_push(struct rl_ep *ep, struct ep_flow *flow)
{
	*queue_at(ep, ep->nrefused++) = (uint32_t)(flow - ep->flow);
	flow->flags |= EPF_TURNED;
}

static struct ep_flow *
queue_pop(struct rl_ep *ep)
{
	struct ep_flow *flow = &ep->flow[*queue_at(ep, 0)];

	ep->refused_first = (ep->refused_first + 1) % ep->cfg.max_flows;
	ep->nrefused--;
	flow->flags &= ~EPF_TURNED;
	return flow;
}

/** Takes a flow out, wherever it is. */
static void
queue_remove(struct rl_ep *ep, struct ep_flow *flow)
{
	for (uint32_t i = ep->nrefused; i > 0; i--) {
		struct ep_flow *first = queue_pop(ep);

		if (first != flow)
			queue_push(ep, first);
	}
}

bool
ep_client_full(const struct rl_ep *ep, const struct ep_flow *flow)
{
	if (!ep->cfg.retry || flow->part != NULL)
		return false;
	if (rl_unlikely(ep->nrefused + ep->placed > 0))
		return flow->place == 0 &&
		       (ep->nrefused > 0 || ep->ready.flits + ep->placed >=
						    ep->cfg.rx_buffer_flits);
	return ep->ready.flits >= ep->cfg.rx_buffer_flits;
}

/** Whether the first in the queue can be served. */
static bool
can_serve(const struct rl_ep *ep)
{
	const uint32_t size = ep->cfg.rx_buffer_flits;

	return ep->nrefused > 0 && ep->ready.flits <= size / 2 &&
	       ep->ready.flits + ep->placed + ep->cfg.max_packet_flits <= size;
}

/** Deals the free room out to the first in the queue. */
static void
serve(struct rl_ep *ep, uint64_t now_ns)
{
	const uint32_t room =
		ep->cfg.rx_buffer_flits - ep->ready.flits - ep->placed;
	uint32_t n = rl_min_u32(ep->nrefused, room / ep->cfg.max_packet_flits);
	const uint32_t share = room / n;

	if (ep->placed == 0)
		ep->place_end_ns = rl_deadline(now_ns, place_wait_ns(ep));
	for (; n > 0; n--) {
		struct ep_flow *flow = queue_pop(ep);

		flow->place = share;
		ep->placed += share;
		flow->flags |= EPF_BUSY_NOW; /* tells that it may go on */
		ep_ctrl_now(ep, flow);
	}
}

uint64_t
ep_place_deadline(const struct rl_ep *ep)
{
	if (rl_likely(ep->nrefused == 0))
		return RL_NEVER;
	return can_serve(ep) ? 0 : ep->placed > 0 ? ep->place_end_ns : RL_NEVER;
}

static void
shares_end(struct rl_ep *ep)
{
	for (uint32_t i = 0; i < ep->nflows; i++) {
		struct ep_flow *flow = &ep->flow[i];

		if (flow->place == 0)
			continue;
		place_return(ep, flow, UINT32_MAX);
		ep_peer_get(ep, flow->peer)->absent = true;
	}
	for (uint32_t i = ep->nrefused; i > 0; i--) {
		struct ep_flow *flow = queue_pop(ep);

		if (!ep_peer_get(ep, flow->peer)->absent)
			queue_push(ep, flow);
	}
	ep->place_ended = true;
}

void
ep_place_poll(struct rl_ep *ep, uint64_t now_ns)
{
	if (rl_likely(ep->nrefused == 0))
		return;
	if (ep->placed > 0 && ep->place_end_ns <= now_ns)
		shares_end(ep);
	if (can_serve(ep))
		serve(ep, now_ns);
}

void
ep_place_taken(struct rl_ep *ep, struct ep_flow *flow, uint32_t n)
{
	if (rl_unlikely(ep->placed > 0))
		place_use(ep, flow, n);
}

void
ep_place_asked(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto)
{
	const uint32_t needs = rl_seq_before(flow->expect, upto)
				       ? upto - flow->expect
				       : 0;

	place_heard(ep, flow);
	if (flow->place > needs)
		place_use(ep, flow, flow->place - needs);
}

void
ep_place_leave(struct rl_ep *ep, struct ep_flow *flow)
{
	if (!ep->cfg.retry)
		return;
	place_return(ep, flow, UINT32_MAX);
	ep_peer_get(ep, flow->peer)->absent = false;
	if (flow->flags & EPF_TURNED)
		queue_remove(ep, flow);
}

void
ep_turn_back(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f)
{
	EP_COUNT(ep, rx_overflow);
	place_heard(ep, flow);
	rl_flit_put(ep->cache, f);
	if (!(flow->flags & EPF_TURNED))
		queue_push(ep, flow);
	flow->flags |= EPF_BUSY_NOW;
	ep_list_push(ep, EP_LIST_CTRL, flow);
}
