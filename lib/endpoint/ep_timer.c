/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * One timer a flow, in a binary heap by time. A flow has three deadlines
 * (retry, ACK, gap); its timer is due no later than the earliest of them. The
 * heap changes only when a deadline comes closer: when one is put off - at
 * every ACK - the timer just fires early, finds nothing due and arms itself
 * again. So a deadline costs one heap operation per expiry, not one per flit.
 */

static void
heap_put(struct rl_ep *ep, uint32_t i, struct ep_timer t)
{
	ep->heap[i] = t;
	t.flow->heap_pos = i + 1;
}

static void
sift_up(struct rl_ep *ep, uint32_t i, struct ep_timer t)
{
	while (i > 0) {
		const uint32_t up = (i - 1) / 2;

		if (ep->heap[up].at_ns <= t.at_ns)
			break;
		heap_put(ep, i, ep->heap[up]);
		i = up;
	}
	heap_put(ep, i, t);
}

static void
sift_down(struct rl_ep *ep, uint32_t i, struct ep_timer t)
{
	for (;;) {
		uint32_t c = 2 * i + 1;

		if (c >= ep->nheap)
			break;
		if (c + 1 < ep->nheap &&
		    ep->heap[c + 1].at_ns < ep->heap[c].at_ns)
			c++;
		if (ep->heap[c].at_ns >= t.at_ns)
			break;
		heap_put(ep, i, ep->heap[c]);
		i = c;
	}
	heap_put(ep, i, t);
}

void
ep_timer_arm(struct rl_ep *ep, struct ep_flow *flow, uint64_t at_ns)
{
	const struct ep_timer t = { .at_ns = at_ns, .flow = flow };

	if (at_ns == RL_NEVER)
		return;
	if (flow->heap_pos != 0) {
		if (at_ns >= ep->heap[flow->heap_pos - 1].at_ns)
			return;
		sift_up(ep, flow->heap_pos - 1, t);
		return;
	}
	RL_DASSERT(ep->nheap < ep->cfg.max_flows);
	sift_up(ep, ep->nheap++, t);
}

struct ep_flow *
ep_timer_pop(struct rl_ep *ep)
{
	struct ep_flow *top = ep->heap[0].flow;
	const struct ep_timer last = ep->heap[--ep->nheap];

	if (last.flow != top)
		sift_down(ep, 0, last);
	top->heap_pos = 0;
	return top;
}
