/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The change from old tables to new ones as a whole, see core_pass.c: when it
 * begins, when tokens leave, when it ends, and what a link that dies does to it.
 */

#include <string.h>

#include "core_priv.h"
#include "rl_codec_ref.h"

#define PASS_AGAIN_NS 1000 /* no flit for a token: retry after this */

static void
wire_token(uint8_t *wire, uint32_t epoch)
{
	const struct rl_txn t = {
		.dst = RL_EP_TOKEN,
		.src = RL_EP_TOKEN,
		.class = RL_CLASS_CTRL,
		.type = RL_FLIT_CTRL,
		.sop = true,
		.eop = true,
		.tag = epoch,
		.len_flits = 1,
	};

	memset(wire, 0, RL_FLIT_BYTES);
	rl_txn_put(wire, &t);
	rl_ref_fec_encode(wire);
}

/* Whether no packet that holds a credit of the peer can come in by a port. */
static bool
port_dark(enum rl_egress_state s)
{
	return s == RL_EGRESS_TRAIN || s == RL_EGRESS_DRAIN ||
	       s == RL_EGRESS_DELAY || s == RL_EGRESS_DEAD;
}

void
rl_core_stage(struct rl_core *core, const struct rl_fwd_pass *to)
{
	struct core_pass *ps = core->pass;

	if (core->fwd == to->fwd || (core->passing && ps->to == to))
		return; /* already told */
	if (core->passing)
		rl_core_set_fwd(core, core->fwd); /* ends the previous change */
	RL_ASSERT(to->vls >= 1 && to->vls <= RL_VCS);
	memset(ps, 0, core_pass_bytes(core->p.nports));
	ps->to = to;
	ps->again_ns = RL_NEVER;
	wire_token(ps->wire, to->epoch);
	for (uint16_t i = 0; i < core->p.nports; i++)
		ps->port[i].dead = port_dark(core->port[i].state);
	core->passing = true;
}

/* Sends a token, behind all packets that went by the old tables. */
static bool
send_token(struct rl_core *core, uint16_t port, unsigned int vl)
{
	struct core_pass *ps = core->pass;
	struct core_port *cp = &core->port[port];
	struct rl_flit *f = rl_flit_get(core->p.cache);

	if (f == NULL)
		return false;
	memcpy(f->wire, ps->wire, RL_FLIT_BYTES);
	f->state = 0;
	f->loop_id = 0;
	rl_packet_start(f);
	f->flags = RL_FF_SOP | RL_FF_EOP;
	f->class = RL_CLASS_CTRL;
	f->vc = f->in_vc = (uint8_t)vl;
	f->in_port = RL_PORT_NONE;
	f->dst = f->src = RL_EP_TOKEN;
	CORE_COUNT(core, tx_tokens);
	core_fair_level(core, cp, vl); /* nothing passes it */
	rl_pktq_push(&cp->q[vl], f);
	cp->qmask |= 1u << vl;
	ps->port[port].sent |= (uint8_t)(1u << vl);
	if (!ps->to->end[port])
		core_pass_follow(core, port, vl);
	else if (ps->port[port].sent == core_pass_vls(ps))
		for (unsigned int i = 0; i < RL_VCS; i++)
			core_pass_follow(core, port, i);
	return true;
}

/* The lowest rank of the channels whose tokens have not arrived. */
static uint32_t
lowest_awaited(const struct rl_core *core)
{
	const struct core_pass *ps = core->pass;
	uint32_t low = UINT32_MAX;

	for (uint16_t i = 0; i < core->p.nports; i++)
		for (unsigned int vl = 0; vl < ps->to->vls; vl++)
			if (!ps->port[i].dead && !(ps->port[i].got >> vl & 1))
				low = rl_min_u32(low, ps->to->rank[i].in[vl]);
	return low;
}

/* Sends all tokens that may leave. @return whether all have left */
static bool
send_tokens(struct rl_core *core, uint64_t now_ns)
{
	struct core_pass *ps = core->pass;
	const uint32_t low = RL_PLANTED(TOKEN_EARLY) ? UINT32_MAX
						     : lowest_awaited(core);
	bool all = low == UINT32_MAX;

	for (uint16_t i = 0; i < core->p.nports; i++) {
		all = all && core->port[i].state != RL_EGRESS_RESTORE;
		if (core->port[i].state != RL_EGRESS_ALIVE)
			continue;
		for (unsigned int vl = 0; vl < ps->to->vls; vl++) {
			if (ps->port[i].sent >> vl & 1)
				continue;
			if (ps->to->rank[i].out[vl] <= low &&
			    send_token(core, i, vl))
				continue;
			if (ps->to->rank[i].out[vl] <= low)
				ps->again_ns = now_ns + PASS_AGAIN_NS;
			all = false;
		}
	}
	return all;
}

void
core_pass_leave(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	struct core_pass_port *pp = &core->pass->port[port];

	if (!core->passing)
		return;
	pp->dead = pp->dead || port_dark(core->port[port].state);
	pp->sent = 0; /* if the link returns, tokens go again */
	for (unsigned int vl = 0; vl < RL_VCS; vl++) {
		struct rl_pktq q = pp->ahead[vl];
		struct rl_flit *pkt;

		pp->ahead[vl] = (struct rl_pktq){ 0 };
		while ((pkt = rl_pktq_pop(&q)) != NULL)
			core_forward(core, pkt, CORE_OLD, CORE_NO_PORT, now_ns);
	}
}

void
core_pass_tick(struct rl_core *core, uint64_t now_ns)
{
	struct core_pass *ps = core->pass;

	ps->now_ns = now_ns;
	if (!core->passing || !ps->begun)
		return;
	if (ps->stopped)
		for (uint16_t i = 0; i < core->p.nports; i++)
			core_pass_wait(core, i, now_ns);
	ps->again_ns = RL_NEVER;
	if ((core->p.endpoint && !ps->go) || core_drains(core))
		return;
	if (send_tokens(core, now_ns))
		rl_core_set_fwd(core, ps->to->fwd);
	else
		core_arm(core, ps->again_ns);
}
