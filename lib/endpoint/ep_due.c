/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * When a flow probes its peer, and when it gives up: both follow the measured
 * round trip, of the flow and of all flows of the endpoint, so that a new flow
 * knows how slow the fabric is.
 */

/** First timer of a flow, before any measurement, in minima. */
#define RTO_FIRST 10
/** The timer is never less than this many round trips. */
#define RTO_CAP_RTTS 4
/** Nor is a flow given up in fewer. */
#define GIVE_UP_RTTS 8
/**
 * Nor in fewer of the longest round trips: the mean is that of near peers, and
 * follows a fabric that fills up too slowly.
 */
#define GIVE_UP_LONGEST 4
/** The longest round trip is known for one to two of these. */
#define LONGEST_PERIOD_NS (4 * RL_NS_PER_S)

uint64_t
ep_rto_ns(const struct rl_ep *ep, const struct ep_flow *flow)
{
	const struct rl_ep_cfg *c = &ep->cfg;
	uint64_t t, cap;

	if (c->retry_timer_ns != 0) {
		t = c->retry_timer_ns;
	} else if (flow->state == RL_EP_FLOW_SYNC) {
		/* a sync is small, and all else waits for it */
		t = rl_max_u64(c->probe_ns,
			       rl_max_u64(flow->srtt_ns, ep->srtt_ns));
	} else if (flow->srtt_ns == 0) {
		t = rl_max_u64(RTO_FIRST * c->retry_timer_min_ns, ep->srtt_ns);
	} else {
		/* the ACK may have waited at the receiver */
		t = flow->srtt_ns + 4 * flow->rttvar_ns + c->ack_delay_ns;
		t = rl_max_u64(t, c->retry_timer_min_ns);
	}
	cap = rl_max_u64(rl_max_u64(c->retry_timer_max_ns, c->retry_timer_ns),
			 RTO_CAP_RTTS * rl_max_u64(flow->srtt_ns, ep->srtt_ns));
	return t > cap >> flow->backoff ? cap : t << flow->backoff;
}

static void
smooth(uint64_t *mean_ns, uint64_t ns)
{
	*mean_ns += ns / 8;
	*mean_ns -= *mean_ns / 8;
	*mean_ns = rl_max_u64(*mean_ns, 1);
}

static void
note_longest(struct rl_ep *ep, uint64_t rtt_ns, uint64_t now_ns)
{
	const uint64_t age_ns = now_ns - ep->period_ns;
	/* longer than what it measures, or none would fit in */
	const uint64_t period_ns = rl_max_u64(LONGEST_PERIOD_NS,
					      4 * ep->longest_ns[0]);

	if (age_ns >= period_ns) {
		ep->longest_ns[1] =
			age_ns < 2 * period_ns ? ep->longest_ns[0] : 0;
		ep->longest_ns[0] = 0;
		ep->period_ns = now_ns;
	}
	ep->longest_ns[0] = rl_max_u64(ep->longest_ns[0], rtt_ns);
}

/* Smoothed as RFC 6298 does: gains of 1/8 and 1/4. */
void
ep_rtt_sample(struct rl_ep *ep, struct ep_flow *flow, uint64_t t0_ns,
	      uint64_t now_ns)
{
	const uint64_t rtt_ns = now_ns - t0_ns;
	uint64_t err;

	note_longest(ep, rtt_ns, now_ns);
	smooth(&ep->srtt_ns, rtt_ns);
	if (flow->srtt_ns == 0) {
		flow->srtt_ns = rl_max_u64(rtt_ns, 1);
		flow->rttvar_ns = rtt_ns / 2;
		return;
	}
	err = rtt_ns > flow->srtt_ns ? rtt_ns - flow->srtt_ns
				     : flow->srtt_ns - rtt_ns;
	flow->rttvar_ns += err / 4;
	flow->rttvar_ns -= flow->rttvar_ns / 4;
	smooth(&flow->srtt_ns, rtt_ns);
}

uint64_t
ep_patience_ns(const struct rl_ep *ep, const struct ep_flow *flow)
{
	const uint64_t mean = rl_max_u64(flow->srtt_ns, ep->srtt_ns);
	const uint64_t longest = rl_max_u64(ep->longest_ns[0],
					    ep->longest_ns[1]);

	return rl_max_u64(ep->cfg.give_up_ns,
			  rl_max_u64(GIVE_UP_RTTS * mean,
				     GIVE_UP_LONGEST * longest));
}

static uint64_t
waits_until_ns(const struct rl_ep *ep, const struct ep_flow *flow)
{
	const unsigned int level = ep_sl(ep, flow->peer, flow->cos);
	uint64_t since_ns = flow->asked_ns;

	if (flow->blocked & EPB_UNREACHABLE)
		since_ns = rl_max_u64(flow->alive_ns,
				      ep->peer[flow->peer].since_ns);
	else if (since_ns == 0 && flow->una != flow->sent &&
		 flow->resend == 0 && !(flow->flags & EPF_PROBE_NOW))
		return RL_NEVER; /* the next probe is due first */
	else if (since_ns == 0) /* it waits for its turn */
		since_ns = rl_max_u64(flow->alive_ns, ep->moved_ns[level]);
	return rl_deadline(since_ns, ep_patience_ns(ep, flow));
}

uint64_t
ep_give_up_at_ns(const struct rl_ep *ep, const struct ep_flow *flow)
{
	if (ep->cfg.give_up_ns == 0 || flow->state == RL_EP_FLOW_FAILED ||
	    RL_PLANTED(NO_GIVE_UP))
		return RL_NEVER;
	if (flow->state == RL_EP_FLOW_SYNC)
		return waits_until_ns(ep, flow);
	if (flow->una == flow->sent &&
	    (flow->una == flow->next || (flow->blocked & EPB_HELD)))
		return RL_NEVER;
	if (flow->flushed) /* nothing can be done before it is released */
		return RL_NEVER;
	/* without retry only a blocked peer keeps packets for long */
	if (!ep->cfg.retry && !(flow->blocked & EPB_UNREACHABLE))
		return RL_NEVER;
	return waits_until_ns(ep, flow);
}

/** When the next probe is due, counted from the last. */
static uint64_t
ask_wait_ns(const struct rl_ep *ep, const struct ep_flow *flow)
{
	if ((flow->blocked & EPB_HELD) && flow->ask != 0)
		return rl_max_u64(ep->cfg.probe_ns, flow->srtt_ns);
	return ep_rto_ns(ep, flow);
}

void
ep_rto_start(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	flow->rto_at_ns = rl_min_u64(ep_give_up_at_ns(ep, flow),
				     ep_probe_at_ns(ep, flow));
	/* packets that have not left only age */
	if (flow->una != flow->sent || flow->state == RL_EP_FLOW_SYNC)
		flow->rto_at_ns = rl_min_u64(
			flow->rto_at_ns,
			rl_deadline(now_ns, ask_wait_ns(ep, flow)));
	ep_timer_arm(ep, flow, flow->rto_at_ns);
}

void
ep_ask_over(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	/*
	 * Which of its asks is answered may be unclear: it took this at most.
	 * An outage looks the same, so this counts up to give_up_ns only, or
	 * patience would grow with each outage.
	 */
	if (flow->asked_ns != 0)
		note_longest(ep, rl_min_u64(now_ns - flow->asked_ns,
					    ep->cfg.give_up_ns), now_ns);
	flow->asked_ns = 0;
}

void
ep_alive(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	ep_ask_over(ep, flow, now_ns);
	flow->alive_ns = now_ns;
	flow->flags &= ~EPF_OVERLOADED;
	if (!(flow->blocked & EPB_HELD)) /* else it asks what has arrived */
		flow->ask = 0;
	ep_rto_start(ep, flow, now_ns);
}

