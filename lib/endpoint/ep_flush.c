/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * Flows that are held while tables change [RES-6] must have nothing under way.
 * Acknowledgments do not show this: flits lost with a switch are never
 * acknowledged, and if the return path is cut none are. So a held flow sends no
 * data, not even retransmissions, only a probe behind the last of them.
 *
 *   held -- something not acknowledged --> probe, again after probe_ns
 *                                            |
 *              its echo; or notice that it, or the echo, found no path
 *                                            v
 *                                         flushed: nothing is under way
 *                                            | released
 *                                            v
 *                              flits that did not arrive are retransmitted
 *
 * A probe stays behind the data, which take the same path in order; over many
 * paths it may not, and only quiet ports show that all is done. Packets at
 * a switch without a path wait there until all are released (rl_core_still());
 * a probe is dropped there, and a notice tells its source, as for any drop. The
 * echo shows that the probe had arrived; so does the notice that an echo was
 * dropped, which goes to the source of the probe.
 */

static void
flush_ask(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	struct ep_peer *peer = ep_peer_get(ep, flow->peer);
	const uint32_t probe = ep_probe_next(peer);

	if (flow->ask == 0)
		flow->ask = probe;
	flow->flags |= EPF_PROBE_NOW;
	ep_ctrl_now(ep, flow);
	ep_rto_start(ep, flow, now_ns);
}

void
ep_flush_begin(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	flow->flushed = false;
	flow->ask = 0;
	if (flow->una != flow->sent)
		flush_ask(ep, flow, now_ns);
}

uint64_t
ep_flush_timer(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if (flow->flushed || flow->una == flow->sent)
		return RL_NEVER;
	flush_ask(ep, flow, now_ns);
	return flow->rto_at_ns;
}

void
ep_flush_done(struct ep_flow *flow)
{
	if (flow->blocked & EPB_HELD)
		flow->flushed = true;
}

void
ep_flush_end(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	const bool flushed = flow->flushed;

	flow->flushed = false;
	flow->ask = 0;
	if (flow->state != RL_EP_FLOW_OPEN)
		return;
	/* flits that have not left were not held up by the fabric */
	if (flow->una == flow->sent)
		flow->alive_ns = now_ns;
	else if (flushed && !RL_PLANTED(FLOW_FLUSH_LOST))
		ep_ask(ep, flow);
	ep_rto_start(ep, flow, now_ns);
}
