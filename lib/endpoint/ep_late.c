/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * Without retry: packets that were skipped, and arrive after all [EP-4]. An old
 * gap is skipped, since its packets are usually lost; then the fabric has told
 * their source. But the fabric may only have been slow; the packets can't be
 * delivered any more, and their source must be told.
 *
 * So the newest EP_LATE gaps of all flows are remembered. The first flit of a
 * packet that lies in one takes it out of the gap, and adds it to those owed to
 * their source. Any other flit behind the expected one was delivered, and is a
 * duplicate.
 *
 * A flit that arrived here corrupt is in no notice of the fabric either. So a gap
 * behind corrupt flits is reported to its source as it is skipped.
 */

static void
gap_add(struct ep_late *l, struct ep_flow *flow, uint32_t lo, uint32_t hi)
{
	l->gap[l->gap_i++ % EP_LATE] =
		(struct ep_gap){ .flow = flow, .lo = lo, .hi = hi };
}


void
ep_late_told(struct rl_ep *ep, const struct ep_flow *flow, uint32_t lo,
	     uint32_t hi)
{
	struct ep_late *l = &ep->late;

	for (uint32_t i = 0; i < EP_LATE; i++) {
		struct ep_gap *g = &l->gap[i];
		const struct ep_gap was = *g;

		if (g->flow != flow || rl_seq_before_eq(hi, g->lo) ||
		    rl_seq_before_eq(g->hi, lo))
			continue;
		g->flow = NULL;
		/* the rest of it on both sides */
		if (rl_seq_before(was.lo, lo))
			*g = (struct ep_gap){ was.flow, was.lo, lo };
		if (rl_seq_before(hi, was.hi) && g->flow == NULL)
			*g = (struct ep_gap){ was.flow, hi, was.hi };
		else if (rl_seq_before(hi, was.hi))
			gap_add(l, was.flow, hi, was.hi);
	}
}

void
ep_late_forget(struct rl_ep *ep, const struct ep_flow *flow)
{
	struct ep_late *l = &ep->late;
	uint32_t n = 0;

	for (uint32_t i = 0; i < EP_LATE; i++)
		if (l->gap[i].flow == flow)
			l->gap[i].flow = NULL;
	for (uint32_t i = 0; i < l->nowed; i++)
		if (l->owed[i].flow != flow)
			l->owed[n++] = l->owed[i];
	l->nowed = n;
}

static bool
is_skipped(const struct ep_late *l, const struct ep_flow *flow, uint32_t tag)
{
	for (uint32_t i = 0; i < EP_LATE; i++)
		if (l->gap[i].flow == flow &&
		    rl_seq_before_eq(l->gap[i].lo, tag) &&
		    rl_seq_before(tag, l->gap[i].hi))
			return true;
	return false;
}

/** @return false: there is no room to note it; the packet stays skipped */
static bool
owe(struct ep_late *l, struct ep_flow *flow, uint32_t tag)
{
	struct ep_gap *last = l->nowed == 0 ? NULL : &l->owed[l->nowed - 1];

	if (last != NULL && last->flow == flow && last->hi == tag &&
	    last->hi - last->lo < EP_LATE_RANGE) {
		last->hi++;
		return true;
	}
	if (l->nowed == EP_LATE)
		return false;
	l->owed[l->nowed++] = (struct ep_gap){ flow, tag, tag + 1 };
	return true;
}

void
ep_late_hurt(struct ep_flow *flow)
{
	flow->hurt++;
}

void
ep_late_skipped(struct rl_ep *ep, struct ep_flow *flow, uint32_t lo,
		uint32_t hi)
{
	if (!rl_seq_before(lo, hi))
		return;
	if (!ep->cfg.retry && flow->hurt > 0) {
		const uint32_t from = lo;

		for (; lo != hi && owe(&ep->late, flow, lo); lo++)
			;
		flow->hurt -= rl_min_u32(flow->hurt, lo - from);
		flow->flags |= EPF_LATE_NOW;
		ep_ctrl_now(ep, flow);
	}
	if (lo != hi)
		gap_add(&ep->late, flow, lo, hi);
}

bool
ep_late_came(struct rl_ep *ep, struct ep_flow *flow, uint32_t tag)
{
	if (ep->cfg.retry || !is_skipped(&ep->late, flow, tag))
		return false;
	if (owe(&ep->late, flow, tag)) {
		ep_late_told(ep, flow, tag, tag + 1);
		flow->flags |= EPF_LATE_NOW;
		ep_ctrl_now(ep, flow);
	}
	return true;
}

bool
ep_late_next(struct rl_ep *ep, struct ep_flow *flow, uint32_t *lo,
	     uint32_t *hi)
{
	struct ep_late *l = &ep->late;
	uint32_t i = 0;

	while (i < l->nowed && l->owed[i].flow != flow)
		i++;
	if (i == l->nowed) {
		flow->flags &= ~EPF_LATE_NOW;
		return false;
	}
	*lo = l->owed[i].lo;
	*hi = l->owed[i].hi;
	for (l->nowed--; i < l->nowed; i++)
		l->owed[i] = l->owed[i + 1];
	return true;
}
