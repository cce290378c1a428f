/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/* A poll: timers first, then output. */

static void
timers_run(struct rl_ep *ep, uint64_t now_ns)
{
	/*
	 * Visits each flow only once: a handler may leave a deadline that is
	 * already due, which waits for the next poll.
	 */
	for (uint32_t n = ep->nheap; n > 0 && ep->nheap > 0; n--) {
		struct ep_flow *flow;

		if (ep->heap[0].at_ns > now_ns)
			return;
		flow = ep_timer_pop(ep);
		if (flow->ack_at_ns <= now_ns)
			ep_ack_soon(ep, flow);
		if (flow->gap_at_ns <= now_ns)
			ep_on_gap_timer(ep, flow, now_ns);
		if (flow->rto_at_ns <= now_ns)
			ep_on_rto(ep, flow, now_ns);
		ep_timer_arm(ep, flow, ep_spread_timer(ep, flow, now_ns));
		ep_timer_arm(ep, flow,
			     rl_min_u64(flow->rto_at_ns,
					rl_min_u64(flow->ack_at_ns,
						   flow->gap_at_ns)));
	}
}

unsigned int
rl_ep_poll(struct rl_ep *ep, uint64_t now_ns, struct rl_pktq *out,
	   unsigned int budget_flits)
{
	uint32_t room_sl[RL_SLS];

	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		room_sl[sl] = budget_flits;
	return rl_ep_poll_levels(ep, now_ns, out, budget_flits, room_sl);
}

unsigned int
rl_ep_poll_levels(struct rl_ep *ep, uint64_t now_ns, struct rl_pktq *out,
		  unsigned int budget_flits, uint32_t room_sl[RL_SLS])
{
	uint32_t first = 0, data, done;

	if (rl_unlikely(ep->born_ns == 0))
		ep->born_ns = rl_max_u64(now_ns, 1);
	timers_run(ep, now_ns);
	ep_place_poll(ep, now_ns);
	/*
	 * Data goes before stand-alone flits, as it may carry ACKs. But a NAK
	 * can't wait, nor can an ACK that no data carried last time - unless
	 * these took a packet's room last time.
	 */
	if (!ep->data_waits)
		first = ep_poll_ctrl(ep, out, ep->ctrl_first, budget_flits,
				     room_sl, now_ns);
	data = ep_poll_data(ep, out, budget_flits - first, room_sl, now_ns);
	ep->data_waits = first > 0 && data == 0 &&
			 ep->list_mask[EP_LIST_TX] != 0;
	done = first + data;
	done += ep_poll_ctrl(ep, out, ep->turn, budget_flits - done, room_sl,
			     now_ns);
	ep->ctrl_first = ep->turn;
	ep_enc_flush(ep);
	return done;
}
