/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * A peer without a path to it [EP-6]. The fabric says so by a notice of a flit
 * that it dropped for lack of a path, and the peer is unreachable from then on:
 * new packets for it are refused, and only probes are sent to it. Its flows
 * keep their packets, as the path may come back at once: a controller may be
 * about to install it. They are reported once they are give_up_ns old, or if
 * they take too much of the retry buffer (ep_txbuf.c).
 *
 *        notice: no path                     echo of a probe
 *   reachable --------> unreachable: probes ---------------> reachable,
 *                          |                                 what is missing
 *                          |                                 is sent again
 *                          | give_up_ns without progress
 *                          v
 *                       all is reported; probes go on
 *
 * One flow carries the probes, the one that the notice was about; its retry
 * timer paces them. The first goes after probe_ns. Later ones wait for a
 * quarter of the time that the peer has been unreachable, up to
 * retry_timer_max_ns, so recovery takes at most a quarter longer than the
 * outage. The device knows more if it gets new tables, or a link of its comes
 * back: rl_ep_probe_again() restarts probes at the initial rate. An echo carries
 * the number of its probe; echoes of probes from an earlier outage prove nothing.
 *
 * A notice counts only if it names a flit that is under way: a corrupt flit may
 * have any address. A notice of a stand-alone flit counts if the flow waits for
 * the answer to one: to its sync, or to the named probe. A flow of many paths
 * believes only the latter (ep_spread.c).
 */

static uint64_t
probe_wait_ns(const struct rl_ep *ep, const struct ep_peer *peer,
	      uint64_t now_ns)
{
	const struct rl_ep_cfg *c = &ep->cfg;
	const uint64_t t = rl_max_u64((now_ns - peer->pace_ns) / 4,
				      c->probe_ns);

	return rl_min_u64(t, rl_max_u64(c->retry_timer_max_ns, c->probe_ns));
}

static void
set_blocked(struct rl_ep *ep, uint16_t peer, bool on)
{
	for (uint8_t cos = 0; cos < 16; cos++) {
		struct ep_flow *flow = ep_flow_find(ep, peer, cos);

		if (flow == NULL)
			continue;
		flow->blocked &= (uint8_t)~EPB_UNREACHABLE;
		ep_tx_stall(ep, flow, on);
		if (!on)
			continue;
		flow->blocked |= EPB_UNREACHABLE;
		flow->rto_at_ns = rl_min_u64(flow->rto_at_ns,
					     ep_give_up_at_ns(ep, flow));
		ep_timer_arm(ep, flow, flow->rto_at_ns);
	}
}

/**
 * A peer's flows keep their packets in the hope of a path. If there are too
 * many such flows, they report them, since flows with a path need the room.
 */
static void
make_room(struct rl_ep *ep, uint16_t peer, uint64_t now_ns)
{
	for (uint8_t cos = 0; cos < 16 && rl_unlikely(ep_tx_crowded(ep));
	     cos++) {
		struct ep_flow *flow = ep_flow_find(ep, peer, cos);

		if (flow != NULL && flow->una != flow->next)
			ep_fail(ep, flow, RL_EP_UNREACHABLE, now_ns);
	}
}

static void
unreachable(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	struct ep_peer *peer = ep_peer_get(ep, flow->peer);

	if (peer->blocked & EPB_UNREACHABLE)
		return;
	EP_COUNT(ep, unreachables);
	peer->blocked |= EPB_UNREACHABLE;
	peer->lead_cos = flow->cos;
	peer->since_ns = now_ns;
	peer->pace_ns = now_ns;
	peer->probe_first = peer->probe + 1;
	peer->probe_at_ns = rl_deadline(now_ns, ep->cfg.probe_ns);
	ep->nunreachable++;
	set_blocked(ep, flow->peer, true);
	flow->rto_at_ns = rl_min_u64(flow->rto_at_ns, peer->probe_at_ns);
	ep_timer_arm(ep, flow, flow->rto_at_ns);
	ep_tell(ep, RL_EP_EV_UNREACHABLE, flow->peer, now_ns, now_ns);
	make_room(ep, flow->peer, now_ns);
}

/* The probes of a flow that were lost say nothing about new paths. */
static void
ask_soon(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if (flow->backoff == 0 || flow->blocked != 0 ||
	    flow->rto_at_ns == RL_NEVER)
		return;
	flow->backoff = 0;
	flow->rto_at_ns = rl_min_u64(flow->rto_at_ns,
				     rl_deadline(now_ns, ep_rto_ns(ep, flow)));
	ep_timer_arm(ep, flow, flow->rto_at_ns);
}

void
rl_ep_probe_again(struct rl_ep *ep, uint64_t now_ns)
{
	const uint64_t at_ns = rl_deadline(now_ns, ep->cfg.probe_ns);

	ep_late_possible(ep, now_ns);
	for (uint32_t i = 0; i < ep->nflows; i++)
		ask_soon(ep, &ep->flow[i], now_ns);
	for (uint16_t id = 0; ep->nunreachable != 0 && id < ep->npeers; id++) {
		struct ep_peer *peer;
		struct ep_flow *flow;

		if (!(ep_peer_blocked(ep, id) & EPB_UNREACHABLE))
			continue;
		peer = ep_peer_get(ep, id);
		flow = ep_flow_find(ep, id, peer->lead_cos);
		RL_ASSERT(flow != NULL); /* the notice was about this flow */
		peer->pace_ns = now_ns;
		peer->probe_at_ns = rl_min_u64(peer->probe_at_ns, at_ns);
		flow->rto_at_ns = rl_min_u64(flow->rto_at_ns,
					     peer->probe_at_ns);
		ep_timer_arm(ep, flow, flow->rto_at_ns);
	}
}

uint64_t
ep_reach_timer(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	struct ep_peer *peer = ep_peer_get(ep, flow->peer);

	if (peer->lead_cos != flow->cos || RL_PLANTED(FLOW_NO_PROBES))
		return RL_NEVER;
	if (peer->probe_at_ns <= now_ns) {
		peer->probe_at_ns = rl_deadline(
			now_ns, probe_wait_ns(ep, peer, now_ns));
		if (!ep->quiesced) /* the fabric is to come to rest */
			ep_ask_now(ep, flow);
		make_room(ep, flow->peer, now_ns);
	}
	return peer->probe_at_ns;
}

/** Sends a probe for the flow and restarts its timers. */
static void
resume(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	flow->flags &= ~EPF_PROBE_NOW;
	flow->backoff = 0;
	flow->retries = 0;
	if (flow->state == RL_EP_FLOW_FAILED || flow->state == RL_EP_FLOW_NEW)
		return;
	if (flow->state == RL_EP_FLOW_SYNC) {
		flow->flags |= EPF_SYNC_NOW;
		ep_ctrl_now(ep, flow);
	} else if (flow->una == flow->next) {
		return;
	} else if (flow->una != flow->sent) {
		ep_ask(ep, flow);
	}
	flow->asked_ns = 0;
	ep_rto_start(ep, flow, now_ns);
	ep_tx_ready(ep, flow);
}

static void
reach_back(struct rl_ep *ep, uint16_t id, uint64_t now_ns)
{
	struct ep_peer *peer = ep_peer_get(ep, id);

	if (!(peer->blocked & EPB_UNREACHABLE))
		return;
	peer->blocked &= (uint8_t)~EPB_UNREACHABLE;
	ep->nunreachable--;
	set_blocked(ep, id, false);
	for (uint8_t cos = 0; cos < 16; cos++) {
		struct ep_flow *flow = ep_flow_find(ep, id, cos);

		if (flow != NULL)
			resume(ep, flow, now_ns);
	}
	ep_tell(ep, RL_EP_EV_REACHABLE, id, peer->since_ns, now_ns);
}

bool
ep_reach_echo(struct rl_ep *ep, const struct ep_flow *flow, uint32_t probe,
	      uint64_t now_ns)
{
	const struct ep_peer *peer = ep_peer_get(ep, flow->peer);

	if (!(peer->blocked & EPB_UNREACHABLE) ||
	    (rl_seq_before(probe, peer->probe_first) &&
	     !RL_PLANTED(FLOW_OLD_ECHO)) ||
	    rl_seq_before(peer->probe, probe))
		return false;
	reach_back(ep, flow->peer, now_ns);
	return true;
}

bool
rl_ep_unreachable(const struct rl_ep *ep, uint16_t peer, uint64_t *since_ns)
{
	if (peer >= ep->npeers || !(ep_peer_blocked(ep, peer) & EPB_UNREACHABLE))
		return false;
	if (since_ns != NULL)
		*since_ns = ep->peer[peer].since_ns;
	return true;
}

uint32_t
rl_ep_unreachable_count(const struct rl_ep *ep)
{
	return ep->nunreachable;
}

/*
 * Whether packet @p tag is reported for the first time: its parts may be
 * dropped separately, and its receiver may miss it as well. The newest EP_TOLD
 * packets of a flow are known; an older one is reported twice rather than
 * never.
 */
static bool
told_first(struct ep_flow *flow, uint32_t tag)
{
	const uint32_t ahead = tag - flow->told_tag;
	const uint32_t back = flow->told_tag - tag;

	if (flow->told == 0 || rl_seq_before(flow->told_tag, tag)) {
		flow->told = ahead < EP_TOLD ? flow->told << ahead : 0;
		flow->told |= 1;
		flow->told_tag = tag;
		return true;
	}
	if (back >= EP_TOLD)
		return true;
	if (flow->told >> back & 1)
		return false;
	flow->told |= UINT64_C(1) << back;
	return true;
}

/** A drop without end-to-end retry: the packet is gone. */
static void
report_dropped(struct rl_ep *ep, struct ep_flow *flow, uint32_t tag,
	       uint64_t now_ns)
{
	const struct rl_ep_report r = {
		.src = ep->id,
		.dst = flow->peer,
		.cos = flow->cos,
		.tag = tag,
		.reason = RL_EP_DROPPED,
	};

	if (!told_first(flow, tag))
		return;
	EP_COUNT(ep, reported_packets);
	if (ep->report != NULL)
		ep->report(ep->report_ctx, &r, now_ns);
}

void
ep_on_lost(struct rl_ep *ep, struct ep_flow *flow, uint32_t lo,
	   uint32_t hi, uint64_t now_ns)
{
	/* no correct peer has so many gaps, or such numbers */
	if (ep->cfg.retry || hi - lo > 1u << ep->seq_bits ||
	    rl_seq_before(flow->tx_tag, hi)) {
		EP_COUNT(ep, ack_invalid);
		return;
	}
	for (; lo != hi; lo++)
		report_dropped(ep, flow, lo, now_ns);
}

/**
 * The first flit under way that is of packet @p tag or a later one; sent: there
 * is none.
 */
static uint32_t
find_sent(const struct ep_flow *flow, uint32_t tag)
{
	uint32_t lo = flow->una, hi = flow->sent;

	while (lo != hi) {
		const uint32_t s = lo + (hi - lo) / 2;
		const struct rl_flit *f = ep_win_at(flow->tx_win, s);

		if (rl_seq_before(rl_flit_tag(f->wire), tag))
			lo = s + 1;
		else
			hi = s;
	}
	return lo;
}

/** @return whether it was under way: an unanswered sync or probe */
static bool
ctrl_dropped(const struct rl_ep *ep, struct ep_flow *flow, uint32_t tag,
	     enum rl_ep_drop why)
{
	if (flow->state == RL_EP_FLOW_SYNC)
		return true;
	if (tag == 0 || !ep_is_asked(ep, flow, tag))
		return false;
	if (!(flow->blocked & EPB_HELD))
		return true;
	if (why != RL_EP_DROP_LOST)
		ep_flush_done(flow);
	return false;
}

/**
 * Whether any of @p flits flits was under way; with retry these are sent again.
 */
static bool
data_dropped(struct rl_ep *ep, struct ep_flow *flow,
	     const struct rl_ep_notice *n, uint64_t now_ns)
{
	const uint32_t flits = rl_max_u32(n->flits, 1);
	bool any = false;
	uint32_t s;

	if (!ep->cfg.retry) {
		report_dropped(ep, flow, n->tag, now_ns);
		return true;
	}
	if (flow->state != RL_EP_FLOW_OPEN)
		return false;
	for (s = find_sent(flow, n->tag); s != flow->sent; s++) {
		const uint8_t *w = ep_win_at(flow->tx_win, s)->wire;
		const uint32_t pos = rl_get16(w + 14);

		if (rl_flit_tag(w) != n->tag || pos >= n->pos + flits)
			break;
		if (pos < n->pos)
			continue;
		any = true;
		ep_mark(flow, s);
	}
	return any || RL_PLANTED(FLOW_NOTICE_ANY);
}

static void
dropped(struct rl_ep *ep, const struct rl_ep_notice *n, uint64_t now_ns)
{
	struct ep_flow *flow = ep_flow_find(ep, n->peer, n->cos);
	const enum rl_ep_drop why = (enum rl_ep_drop)n->why;
	bool under_way;

	EP_COUNT(ep, drop_notices);
	if (flow == NULL)
		return;
	if (n->pos == RL_EP_POS_CTRL)
		under_way = ctrl_dropped(ep, flow, n->tag, why);
	else if (rl_seq_before(n->tag, ep_first_tag(ep, n->peer, n->cos)) ||
		 rl_seq_before_eq(flow->tx_tag, n->tag))
		return; /* of an earlier life, or never sent: it was altered */
	else
		under_way = data_dropped(ep, flow, n, now_ns);
	if (under_way && why == RL_EP_DROP_NO_PATH &&
	    (n->pos == RL_EP_POS_CTRL || !ep_spread_no_path(ep, flow, now_ns)))
		unreachable(ep, flow, now_ns);
	ep_tx_ready(ep, flow);
}

void
rl_ep_dropped(struct rl_ep *ep, uint64_t now_ns, uint16_t dst, uint8_t cos,
	      uint32_t tag, uint16_t pos, enum rl_ep_drop why)
{
	const struct rl_ep_notice n = {
		.tag = tag,
		.peer = dst,
		.pos = pos,
		.cos = cos,
		.why = (uint8_t)why,
	};

	dropped(ep, &n, now_ns);
}

/**
 * The message that packets were skipped was lost: this delivers its content.
 */
static void
skipped(struct rl_ep *ep, const struct rl_ep_notice *n, uint64_t now_ns)
{
	struct ep_flow *flow = ep_flow_find(ep, n->peer, n->cos);

	EP_COUNT(ep, drop_notices);
	if (flow == NULL ||
	    rl_seq_before(n->tag, ep_first_tag(ep, n->peer, n->cos)))
		return; /* of an earlier life */
	ep_on_lost(ep, flow, n->tag, n->end, now_ns);
}

void
rl_ep_notice(struct rl_ep *ep, uint64_t now_ns, const struct rl_ep_notice *n)
{
	if (n->pos == RL_EP_POS_SKIPPED)
		skipped(ep, n, now_ns);
	else
		dropped(ep, n, now_ns);
}
