/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_congest.h"
#include "ep_ctrl.h"

/*
 * How much a flow may have in flight [EP-9]. Once a round trip a flit is timed.
 * By how much that took longer than the shortest round trip of the flow (base)
 * says how many of its flits wait in queues, by Little's law:
 *
 *     queued = window * (round trip - base) / round trip
 *
 * The window follows so that a few of its flits wait (QUEUED_*): it shrinks by
 * what exceeds them, at most to half; and grows if less wait and the client has
 * more than the window lets through, first twofold, or the window is smaller
 * than a flow without a queue should have (WINDOW_CALM). So what is in flight is what
 * the path holds, and the queues; and flows that share a queue have equal parts
 * of it, however long their paths are, unless a part of their window (1 /
 * QUEUED_PART) is more than that.
 *
 * Not all of a round trip is path and queue:
 *
 * - An ACK may be ack_delay_ns late, unless the timed packet asks for one at
 *   once. It does if it fills the window, or the window was full in this round
 *   or the last one.
 * - Packets that were taken before the window shrank are still sent. They are
 *   not timed (ep_tx.c).
 * - A host that polls late makes round trips long without any queue: it says by
 *   how much (jitter_ns).
 *
 * The floor is one packet of the longest kind. A detour may make the path longer
 * than the base says, which looks like a queue that never ends. So after many
 * rounds with a queue the window is at its floor for one round: if that takes
 * nearly as long, the flow's own flits are not what it waits for, and this is
 * its base.
 */

/**
 * The first window: small, so that its round trip is not one through queues of
 * flows that begin at the same time.
 */
#define WINDOW_FIRST 64
/**
 * A flow that meets no queue has at least this window, full or not: should its
 * peer be cut off, its client does not wait before that is known.
 */
#define WINDOW_CALM 256
/**
 * Flits of a flow in queues; less if the endpoint has many flows, but not less
 * than a packet of the longest kind.
 */
#define QUEUED_MAX 128
#define QUEUED_ALL 256
/** Over many paths, as many on each of so many. */
#define QUEUED_PATHS 4
/** But a quarter of its window may be: round trips differ by a frame or two. */
#define QUEUED_PART 4
/** Rounds with a queue until one at the floor. */
#define ROUNDS_QUEUED 128

static bool
is_on(const struct rl_ep *ep)
{
	return ep->cfg.congestion != RL_CONGESTION_NONE && ep->cfg.retry;
}

static uint32_t
floor_flits(const struct rl_ep *ep)
{
	return ep->cfg.max_packet_flits;
}

/*
 * The largest window. Over many paths nearly all that is in flight may wait for
 * order at the receiver, whose room all flows to it share [EP-10].
 */
static uint32_t
most_flits(const struct rl_ep *ep, const struct ep_flow *flow)
{
	uint32_t share;

	if (ep->cfg.order == RL_ORDER_PATH)
		return ep->cfg.window_flits;
	share = ep->cfg.rx_buffer_flits >> ep->cc[flow - ep->flow].share;
	return rl_min_u32(ep->cfg.window_flits,
			  rl_max_u32(share, floor_flits(ep)));
}

void
ep_cc_share(const struct rl_ep *ep, struct ep_flow *flow, uint8_t flags)
{
	if (ep->cfg.order == RL_ORDER_PATH)
		return;
	ep->cc[flow - ep->flow].share =
		(flags >> EP_CTRL_SHARE_SHIFT) & EP_SHARE_MAX;
	if (!is_on(ep) || flow->window > most_flits(ep, flow))
		flow->window = (uint16_t)most_flits(ep, flow);
}

void
ep_cc_begin(const struct rl_ep *ep, struct ep_flow *flow)
{
	uint32_t n = ep->cfg.window_flits;

	if (is_on(ep) || ep->cfg.order == RL_ORDER_ENDPOINT)
		ep->cc[flow - ep->flow] = (struct ep_cc){ 0 };
	if (is_on(ep))
		n = rl_min_u32(n, rl_max_u32(WINDOW_FIRST, floor_flits(ep)));
	flow->window = (uint16_t)n;
}

bool
ep_cc_asks(const struct rl_ep *ep, const struct ep_flow *flow, uint32_t n,
	   bool timed)
{
	const bool full = flow->sent + n - flow->una +
				  ep->cfg.max_packet_flits > flow->window;

	if (!is_on(ep))
		return false;
	/* a window that is not larger waits for the receiver's ACKs */
	if (flow->window < 2 * ep->cfg.ack_coalesce_flits)
		return full;
	return timed && (full || (flow->flags & (EPF_FULL | EPF_WAS_FULL)));
}

/*
 * Its answer does not wait, unless it waits for flits on other paths. But if
 * more is under way than the window lets through, its round trip says nothing
 * of this window.
 */
void
ep_cc_asked(const struct rl_ep *ep, struct ep_flow *flow)
{
	flow->flags &= ~EPF_RTT_ASKED;
	if (is_on(ep) && ep->cfg.order == RL_ORDER_PATH &&
	    flow->sent - flow->una <= flow->window)
		flow->flags |= EPF_RTT_ASKED;
}

static void
grow(const struct rl_ep *ep, struct ep_flow *flow, uint32_t by)
{
	flow->window = (uint16_t)rl_min_u32(flow->window + by,
					    most_flits(ep, flow));
}

/* By what is queued beyond an aim that is no less than the floor. */
static void
shrink(struct rl_ep *ep, struct ep_flow *flow, uint32_t by)
{
	by = rl_min_u32(by, flow->window / 2);
	flow->window = (uint16_t)(flow->window - by);
	EP_COUNT_N(ep, window_cuts, by > 0);
}

/** Begins a round at the floor, if the flow has had a queue for so long. */
static void
drain(const struct rl_ep *ep, struct ep_flow *flow, struct ep_cc *cc,
      uint64_t rtt_ns)
{
	if (++cc->rounds < ROUNDS_QUEUED ||
	    flow->window < 2 * floor_flits(ep))
		return;
	cc->rounds = 0;
	cc->kept = flow->window;
	cc->before_ns = rtt_ns;
	flow->window = (uint16_t)floor_flits(ep);
}

/** The round at the floor took @p rtt_ns. */
static void
drained(const struct rl_ep *ep, struct ep_flow *flow, struct ep_cc *cc,
	uint64_t rtt_ns, bool asked)
{
	flow->window = (uint16_t)rl_min_u32(cc->kept, most_flits(ep, flow));
	cc->kept = 0;
	if (asked && rtt_ns >= cc->before_ns - cc->before_ns / 4)
		cc->base_ns = rtt_ns;
}

/** How many of its flits may wait in queues. */
static uint32_t
queued_aim(const struct rl_ep *ep)
{
	const uint32_t paths =
		ep->cfg.order == RL_ORDER_ENDPOINT ? QUEUED_PATHS : 1;
	uint32_t flows = 1;

	for (unsigned int l = 0; l < RL_SLS; l++)
		flows += ep->tx_flows[l];
	return rl_max_u32(floor_flits(ep),
			  paths * rl_min_u32(QUEUED_MAX, QUEUED_ALL / flows));
}

void
ep_cc_round(struct rl_ep *ep, struct ep_flow *flow, uint64_t rtt_ns)
{
	struct ep_cc *cc = &ep->cc[flow - ep->flow];
	const bool full = flow->flags & EPF_FULL;
	const bool asked = flow->flags & EPF_RTT_ASKED;
	uint64_t free_ns;
	uint32_t queued = 0, aim;

	if (!is_on(ep))
		return;
	flow->flags &= ~(EPF_FULL | EPF_WAS_FULL | EPF_RTT_ASKED);
	flow->flags |= full ? EPF_WAS_FULL : 0;
	rtt_ns = rl_max_u64(rtt_ns, 1);
	if (cc->base_ns == 0 || rtt_ns < cc->base_ns)
		cc->base_ns = rtt_ns;
	if (cc->kept != 0) {
		drained(ep, flow, cc, rtt_ns, asked);
		return;
	}
	free_ns = cc->base_ns + ep->jitter_ns +
		  (asked ? 0 : ep->cfg.ack_delay_ns);
	if (rtt_ns > free_ns)
		queued = (uint32_t)(flow->window * (rtt_ns - free_ns) / rtt_ns);
	aim = rl_max_u32(queued_aim(ep), flow->window / QUEUED_PART);
	if (queued > aim)
		shrink(ep, flow, queued - aim);
	else if (full)
		grow(ep, flow, queued < aim / 2 ? flow->window
						: (aim - queued + 1) / 2);
	else if (queued < aim / 2 && flow->window < WINDOW_CALM)
		grow(ep, flow, rl_min_u32(flow->window,
					  WINDOW_CALM - flow->window));
	if (queued < aim / 2)
		cc->rounds = 0;
	else
		drain(ep, flow, cc, rtt_ns);
}
