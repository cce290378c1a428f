/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * The retry buffer: how flows share its room, and which flits in it wait to be
 * sent. Undeliverable packets never take the room of deliverable ones [DRL-11]:
 *
 *   which part                      whose                  at its limit
 *   a window, of several levels     each level's           -EAGAIN
 *   the last quarter flows', alike -EBUSY: the flow waits
 *   half, at most all stalled flows' -ENOBUFS; packets for
 *                                                          unreachable peers
 *                                                          are
 *                                                          reported
 *                                                          (ep_reach.c)
 *
 * and never so much that the longest packet does not fit beside it.
 *
 * A flow is stalled once a probe stays unanswered until its timer expires
 * again, or its peer is unreachable, until a flit of it is acknowledged. Before
 * that, flows that are cut off look like others, and at full load one round
 * trip fills the buffer. So its last quarter is shared out in advance: a flow
 * may hold as much of it as any other that holds flits. So flows that make
 * progress have a part of it, however many do not.
 */

/** Parts of the buffer that are shared out to flows, and to stalled ones. */
#define TX_DEALT 4
#define TX_STALLED 2

/*
 * A level with a blocked VL fills its part of the retry buffer and the common
 * part; each other level still has its own part [LCB-3].
 */
static uint32_t
over_own(const struct rl_ep *ep, uint32_t flits)
{
	return flits > ep->tx_own ? flits - ep->tx_own : 0;
}

static unsigned int
level_of(const struct rl_ep *ep, uint8_t cos)
{
	return ep->cos_level[cos & 15];
}

/** The part common to all levels. */
static uint32_t
common(const struct rl_ep *ep)
{
	const uint32_t levels = ep->levels < 2 ? 1 : ep->levels;

	return ep->cfg.tx_buffer_flits - levels * ep->tx_own;
}

bool
ep_tx_room(const struct rl_ep *ep, uint8_t cos, uint32_t n)
{
	const uint32_t held = ep->tx_level[level_of(ep, cos)];

	return ep->tx_common + over_own(ep, held + n) - over_own(ep, held) <=
	       common(ep);
}

/** Flits that stalled flows may hold. */
static uint32_t
stalled_most(const struct rl_ep *ep)
{
	const uint32_t size = ep->cfg.tx_buffer_flits;

	return rl_min_u32(size / TX_STALLED, size - ep->cfg.max_packet_flits);
}

bool
ep_tx_share(const struct rl_ep *ep, const struct ep_flow *flow, uint32_t n)
{
	const unsigned int level = level_of(ep, flow->cos);
	const uint32_t of_level = ep->tx_level[level];
	const uint32_t held = flow->next - flow->una;
	uint32_t left, all;

	if (rl_unlikely(flow->flags & EPF_STALLED))
		return ep->tx_stalled + n <= stalled_most(ep);
	left = common(ep) - ep->tx_common +
	       (ep->tx_own > of_level ? ep->tx_own - of_level : 0);
	all = of_level + left; /* the level's limit */
	return held == 0 || rl_likely(left >= n + all / TX_DEALT) ||
	       (held + n) * ep->tx_flows[level] <= all / TX_DEALT;
}

bool
ep_tx_crowded(const struct rl_ep *ep)
{
	return ep->tx_stalled > stalled_most(ep);
}

void
ep_tx_stall(struct rl_ep *ep, struct ep_flow *flow, bool on)
{
	const uint32_t held = flow->next - flow->una;

	if (!!(flow->flags & EPF_STALLED) == on || (on && held == 0))
		return;
	flow->flags ^= EPF_STALLED;
	ep->tx_stalled += on ? held : 0u - held;
}

static void
set_level(struct rl_ep *ep, unsigned int level, uint32_t flits)
{
	ep->tx_common += over_own(ep, flits) -
			 over_own(ep, ep->tx_level[level]);
	ep->tx_level[level] = flits;
}

void
ep_tx_hold(struct rl_ep *ep, struct ep_flow *flow, uint32_t n)
{
	const unsigned int level = level_of(ep, flow->cos);

	ep->tx_flows[level] += flow->una == flow->next;
	ep->tx_held += n;
	set_level(ep, level, ep->tx_level[level] + n);
	flow->next += n;
	if (rl_unlikely(flow->flags & EPF_STALLED))
		ep->tx_stalled += n;
}

void
ep_tx_gone(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto)
{
	const unsigned int level = level_of(ep, flow->cos);
	const uint32_t n = upto - flow->una;

	if (rl_unlikely(flow->flags & EPF_STALLED))
		ep_tx_stall(ep, flow, false);
	ep->tx_held -= n;
	set_level(ep, level, ep->tx_level[level] - n);
	flow->una = upto;
	if (flow->una == flow->next) {
		RL_DASSERT(flow->resend == 0);
		ep_win_give(ep, flow->tx_win);
		flow->tx_win = NULL;
		ep->tx_flows[level]--;
	}
}

/** Clears the marks of flits that have arrived after all. */
static void
unmark(struct ep_flow *flow, uint32_t upto)
{
	struct ep_win *w = flow->tx_win;

	for (uint32_t s = flow->una; s != upto && flow->resend > 0; s++)
		if (ep_win_bit(w, s)) {
			ep_win_clear(w, s);
			flow->resend--;
		}
}

void
ep_tx_release(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto)
{
	struct ep_win *w = flow->tx_win;
	uint32_t n;

	unmark(flow, upto);
	for (uint32_t s = flow->una; s != upto; s += n) {
		const uint32_t at = s & w->mask;

		n = rl_min_u32(upto - s, w->mask + 1 - at);
		rl_flit_put_bulk(ep->keep, w->slot + at, n);
	}
	ep_tx_gone(ep, flow, upto);
}

bool
ep_tx_wants(const struct ep_flow *flow)
{
	return flow->state == RL_EP_FLOW_OPEN && flow->blocked == 0 &&
	       (flow->resend > 0 ||
		(flow->sent != flow->next && !(flow->flags & EPF_TX_BUSY)));
}

void
ep_tx_ready(struct rl_ep *ep, struct ep_flow *flow)
{
	if (ep_tx_wants(flow))
		ep_list_push(ep, EP_LIST_TX, flow);
}
