/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_congest.h"
#include "ep_ctrl.h"

/*
 * One flow over many paths [EP-10]. Flits of a flow overtake each other all the
 * time, so a gap is usual and no loss. How long a gap may last follows what is
 * measured: how much later than flits with higher numbers flits have arrived,
 * the most of the last one to two periods, doubled, but not less than
 * nak_delay_ns. A flit that was asked for measures nothing, since its copy may
 * have come. But a duplicate shows that the wait was too short: then it grows,
 * once in each wait.
 *
 * A probe may overtake data, too. So it is answered once what is missing before
 * it has had that time to come:
 *
 *   data 7, 8, 9 --------------.      by a longer path
 *   PROBE, of all before 10 ----|---> 7 to 9 are missing: wait
 *                                `--> 7, 8, 9
 *   ECHO <--------------------------- nothing is missing
 *
 * While an answer waits later probes change nothing: what they ask about may
 * have been sent again after the first one.
 *
 * One of many paths may lead nowhere, to a switch whose last other link has died,
 * while the tables still lead round it. So a notice of no path that names data
 * proves nothing of the peer. It asks by a probe, which keeps to the tables, and
 * so does the flow's data for as long as probes at most wait, whatever is sent
 * again first. If the probe meets no path either, there is none (ep_reach.c).
 *
 * If many send to one, nearly all that is in flight may wait here for what is
 * late. What finds no room is lost, and found missing only after the wait. So
 * the endpoint counts flows: those that filled their window with one of as many
 * flits as it has room for. It tells their senders, and each keeps as much in
 * flight as its part of the room (ep_congest.c).
 */

/** The most is known for one to two of these. */
#define PERIOD_NS RL_NS_PER_S
/** No answer waits for longer, as its time is kept in 32 bits. */
#define WAIT_MAX_NS RL_NS_PER_S

static void
note(struct ep_spread *s, uint64_t late_ns, uint64_t now_ns)
{
	const uint64_t age_ns = now_ns - s->period_ns;

	if (age_ns >= PERIOD_NS) {
		s->most_ns[1] = age_ns < 2 * PERIOD_NS ? s->most_ns[0] : 0;
		s->most_ns[0] = 0;
		s->period_ns = now_ns;
	}
	s->most_ns[0] = rl_max_u64(s->most_ns[0], late_ns);
}

uint64_t
ep_nak_wait_ns(const struct rl_ep *ep, uint64_t now_ns)
{
	const uint64_t most_ns = rl_max_u64(ep->spread.most_ns[0],
					    ep->spread.most_ns[1]);

	if (ep->cfg.order == RL_ORDER_PATH)
		return now_ns < ep->late_ns ? ep->cfg.nak_delay_ns : 0;
	return rl_min_u64(rl_max_u64(ep->cfg.nak_delay_ns, 2 * most_ns),
			  WAIT_MAX_NS);
}

void
ep_spread_came(struct rl_ep *ep, const struct ep_flow *flow, uint32_t seq,
	       uint64_t now_ns)
{
	uint32_t next;

	if (flow->held == 0 || !rl_seq_before(seq, flow->high) ||
	    rl_seq_before(seq, flow->expect) ||
	    (rl_seq_before(seq, flow->nak_hi) &&
	     flow->nak_hi - flow->expect <= ep->cfg.window_flits))
		return;
	next = ep_win_find(flow->rx_win, seq, flow->high, true);
	note(&ep->spread,
	     now_ns - ep_win_at(flow->rx_win, next)->t_ns, now_ns);
}

void
ep_spread_needless(struct rl_ep *ep, uint64_t now_ns)
{
	const uint64_t wait_ns = ep_nak_wait_ns(ep, now_ns);

	if (ep->cfg.order == RL_ORDER_PATH || now_ns < ep->spread.grown_ns)
		return;
	note(&ep->spread, wait_ns / 4 * 3, now_ns);
	ep->spread.grown_ns = now_ns + wait_ns;
}

void
ep_spread_arrived(struct rl_ep *ep, const struct ep_flow *flow, uint32_t n,
		  bool asks)
{
	struct ep_spread *s = &ep->spread;
	const uint16_t now = (uint16_t)(s->epoch + 1);
	struct ep_cc *cc;

	if (rl_likely(ep->cfg.order == RL_ORDER_PATH))
		return;
	cc = &ep->cc[flow - ep->flow];
	if (cc->seen != now &&
	    (asks || ep->cfg.congestion == RL_CONGESTION_NONE)) {
		cc->seen = now;
		s->flows++;
		if (s->flows > 1u << s->share && s->share < EP_SHARE_MAX)
			s->share++;
	}
	s->flits += n;
	if (s->flits < ep->cfg.rx_buffer_flits)
		return;
	/* fewer by more than chance: three quarters of half as many */
	if (8u * s->flows < (3u << s->share) + 8 && s->share > 0)
		s->share--;
	s->flits = 0;
	s->flows = 0;
	s->epoch++;
}

bool
ep_spread_untold(const struct rl_ep *ep, const struct ep_flow *flow)
{
	return ep->cfg.order == RL_ORDER_ENDPOINT &&
	       ep->cc[flow - ep->flow].told != ep->spread.share;
}

bool
ep_spread_no_path(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if (ep->cfg.order == RL_ORDER_PATH)
		return false;
	ep->cc[flow - ep->flow].tables_ns =
		now_ns +
		rl_max_u64(ep->cfg.retry_timer_max_ns, ep->cfg.probe_ns);
	if (flow->ask == 0 && flow->blocked == 0)
		ep_ask_now(ep, flow);
	return true;
}

uint8_t
ep_spread_flags(const struct rl_ep *ep, const struct ep_flow *flow,
		uint64_t now_ns)
{
	return ep->cfg.order == RL_ORDER_ENDPOINT &&
			       now_ns < ep->cc[flow - ep->flow].tables_ns
		       ? RL_FF_TABLES
		       : 0;
}

uint8_t
ep_spread_tell(struct rl_ep *ep, const struct ep_flow *flow)
{
	if (ep->cfg.order == RL_ORDER_PATH)
		return 0;
	ep->cc[flow - ep->flow].told = ep->spread.share;
	return (uint8_t)(ep->spread.share << EP_CTRL_SHARE_SHIFT);
}

bool
ep_spread_asked(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	const uint32_t end = flow->echo_end;

	if (!(flow->flags & EPF_RX_SYNCED) || (flow->flags & EPF_TURNED) ||
	    !rl_seq_before(flow->expect, end) ||
	    end - flow->expect > ep->cfg.window_flits)
		return false;
	flow->flags |= EPF_ECHO_LATE;
	flow->echo_by = (uint32_t)(now_ns + ep_nak_wait_ns(ep, now_ns));
	return true;
}

uint64_t
ep_spread_timer(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	const int32_t left = (int32_t)(flow->echo_by - (uint32_t)now_ns);

	if (!(flow->flags & EPF_ECHO_LATE))
		return RL_NEVER;
	if (left > 0 && rl_seq_before(flow->expect, flow->echo_end))
		return now_ns + (uint32_t)left;
	flow->flags &= ~EPF_ECHO_LATE;
	flow->flags |= EPF_ECHO_NOW;
	ep_ctrl_now(ep, flow);
	return RL_NEVER;
}
