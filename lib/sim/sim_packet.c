/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Checks packets between roles: a chain of the stated length, in one VC, from a
 * start to an end, unless cut-through lets fragments pass. Without end-to-end
 * retry every link-level packet is one of the client's, so the transaction
 * headers must agree: an incomplete packet must never be forwarded [DRL-3].
 */

#include <stdio.h>

#include "sim_priv.h"

/* @return the fault, or NULL */
static const char *
chain_fault(const struct rl_flit *pkt)
{
	const struct rl_flit *f = pkt, *next;
	unsigned int n = 0;

	for (; f != NULL && n <= RL_PACKET_FLITS_MAX; f = next) {
		const unsigned int run = rl_run_flits(f);

		next = rl_packet_next(f);
		if (next == NULL && f != pkt->last)
			return "its last flit is another";
		if (n != 0 && f->flags & RL_FF_SOP)
			return "a start in its middle";
		if (next != NULL && f->flags & RL_FF_EOP)
			return "an end in its middle";
		if (run != 0 && (n == 0 || next == NULL || run < 2 ||
				 run > RL_RUN_FLITS ||
				 f->flags & RL_FF_LOOPED))
			return "a run that is none";
		n += run == 0 ? 1 : run;
	}
	return n != pkt->pkt_flits ? "longer or shorter than it says" : NULL;
}

static const char *
whole_fault(const struct rl_flit *pkt)
{
	struct rl_flit *f[RL_PACKET_FLITS_HELD];
	const uint32_t n = rl_packet_flits(pkt, f);

	if (!(pkt->flags & RL_FF_SOP))
		return "no start";
	if (!(pkt->last->flags & RL_FF_EOP))
		return "no end";
	for (uint32_t pos = 0; pos < n; pos++) {
		struct rl_txn t;

		rl_txn_get(f[pos]->wire, &t);
		if (t.pos != pos || t.sop != (pos == 0))
			return "flits of it are missing";
		if (t.len_flits != pkt->pkt_flits)
			return "not all of it";
	}
	return NULL;
}

static void
show_packet(const struct rl_sim *s, const struct sim_pipe *sp,
	    const struct rl_flit *pkt)
{
	/* see host_pipe() */
	const enum rl_sim_pass way = (enum rl_sim_pass)((sp - s->pipe) % 3);
	const struct sim_role *port =
		&s->role[way == RL_SIM_PASS_OUT ? sp->consumer : sp->producer];

	s->p.tap->packet(s->p.tap->ctx, port->dev, (uint16_t)port->port, way,
			 pkt, sp->part->now_ns);
}

void
sim_packet_check(struct rl_sim *s, const struct sim_pipe *sp,
		 const struct rl_flit *pkt)
{
	const struct rl_config *cfg = s->p.cfg;
	const bool received = (sp - s->pipe) % 3 == 0; /* see host_pipe() */
	const char *why;

	if (rl_pipe_is_mark(pkt) != RL_MARK_NONE)
		return;
	if (s->p.tap != NULL)
		show_packet(s, sp, pkt);
	if (s->broken[0] != '\0')
		return;
	why = chain_fault(pkt);
	if (why == NULL && received &&
	    cfg->link.switching == RL_STORE_AND_FORWARD &&
	    cfg->link.retry && !cfg->endpoint.retry)
		why = whole_fault(pkt);
	if (why == NULL)
		return;
	snprintf(s->broken, sizeof(s->broken),
		 "at %llu ns role %u passes packet %u of %u to %u (%u flits): "
		 "%s",
		 (unsigned long long)s->now_ns, sp->producer,
		 rl_flit_tag(pkt->wire), pkt->src, pkt->dst, pkt->pkt_flits,
		 why);
}
