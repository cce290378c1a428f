/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * The retry buffer: its room, by service level, and what of it waits to leave.
 */

/*
 * A level whose VL is blocked fills its part of the retry buffer and what is
 * common to all; each other level still has its part [LCB-3].
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

bool
ep_tx_room(const struct rl_ep *ep, uint8_t cos, uint32_t n)
{
	const uint32_t held = ep->tx_level[level_of(ep, cos)];
	const uint32_t levels = ep->levels < 2 ? 1 : ep->levels;

	return ep->tx_common + over_own(ep, held + n) - over_own(ep, held) <=
	       ep->cfg.tx_buffer_flits - levels * ep->tx_own;
}

static void
set_level(struct rl_ep *ep, uint32_t *level, uint32_t flits)
{
	ep->tx_common += over_own(ep, flits) - over_own(ep, *level);
	*level = flits;
}

void
ep_tx_hold(struct rl_ep *ep, uint8_t cos, uint32_t n)
{
	uint32_t *level = &ep->tx_level[level_of(ep, cos)];

	ep->tx_held += n;
	set_level(ep, level, *level + n);
}

void
ep_tx_let_go(struct rl_ep *ep, uint8_t cos, uint32_t n)
{
	uint32_t *level = &ep->tx_level[level_of(ep, cos)];

	ep->tx_held -= n;
	set_level(ep, level, *level - n);
}

/** What is to be sent again, and has arrived after all. */
static void
unmark(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto)
{
	struct ep_win *w = flow->tx_win;

	for (uint32_t s = flow->una; s != upto && flow->resend > 0; s++)
		if (ep_win_bit(w, ep->win_mask, s)) {
			ep_win_clear(w, ep->win_mask, s);
			flow->resend--;
		}
}

void
ep_tx_release(struct rl_ep *ep, struct ep_flow *flow, uint32_t upto)
{
	struct ep_win *w = flow->tx_win;
	uint32_t n;

	unmark(ep, flow, upto);
	for (uint32_t s = flow->una; s != upto; s += n) {
		const uint32_t at = s & ep->win_mask;

		n = rl_min_u32(upto - s, ep->win_mask + 1 - at);
		rl_flit_put_bulk(ep->keep, w->slot + at, n);
	}
	ep_tx_let_go(ep, flow->cos, upto - flow->una);
	flow->una = upto;
	if (flow->una == flow->next) {
		RL_DASSERT(flow->resend == 0);
		ep_win_give(ep, w);
		flow->tx_win = NULL;
	}
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
