/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From old tables to new ones under traffic, by tokens [RES-5].
 *
 * For a while a core has both. The input channel decides which one a packet
 * uses: on each channel a token separates packets sent by the old tables,
 * before it, from packets sent by the new ones, after it.
 *
 *   in, VL 0  ---> old old old T new new       old tables --> q     ---> out
 *   in, VL 1  ---> old old old old old         new tables --> ahead -/
 *
 * A token leaves by an output channel once tokens have come in by all channels
 * of lower rank, since in the old tables no other channel leads there; until
 * then packets that go there by the new tables wait in `ahead`. So old packets
 * never wait for new ones, and since the old tables have no credit loop, all
 * old packets advance and all tokens get through; new packets wait for old ones
 * and, by tables without a credit loop, for new ones. docs/routing.md has the
 * lemma.
 *
 * A packet that holds no input credit (it looped out of a dead port, or waited)
 * blocks no other. If it is too late for the old tables, because the token has
 * left, it uses the new ones. A link that dies takes its tokens with it: no
 * packet comes in by it any more that could hold a credit, so its input needs
 * no token. Its output needs one when it returns. No token leaves while a port
 * drains: looped packets were sent before it.
 *
 * Packets without a path stay where they are until the change is complete.
 *
 * Channels of an adaptive plane carry no tokens. Once the change has begun here,
 * no packet is sent by the plane, and those that come by it go on by the new
 * tables, as if they were injected here. They may wait for a token, which waits
 * for no packet of the plane. A device that is done has neighbours that have
 * begun, so none of its packets meets the plane of old tables, and goes round.
 */

#include <string.h>

#include "core_priv.h"

size_t
core_pass_bytes(uint16_t nports)
{
	return sizeof(struct core_pass) +
	       nports * sizeof(struct core_pass_port);
}

void
rl_core_pass(struct rl_core *core)
{
	if (!core->passing || core->pass->go)
		return;
	core->pass->go = core->pass->begun = true;
	core_arm(core, 0);
}

bool
rl_core_passing(const struct rl_core *core)
{
	return core->passing;
}

/* Whether a packet that just came in goes by the new tables. */
static bool
comes_next(const struct rl_core *core, const struct rl_flit *pkt)
{
	const struct core_pass *ps = core->pass;
	const struct core_pass_port *pp;

	if (pkt->in_port == RL_PORT_NONE)
		return ps->go;
	pp = &ps->port[pkt->in_port];
	if (RL_PLANTED(TOKEN_UNHEARD))
		return false;
	if (core_joins(core, pkt))
		return ps->begun;
	return pp->dead || pkt->in_vc >= ps->to->vls ||
	       (pp->got >> pkt->in_vc & 1);
}

/* For old packets, by age and mark. */
static bool
goes_next(const struct rl_core *core, struct rl_flit *pkt, enum core_age age)
{
	if (age == CORE_OLD)
		return pkt->flags & RL_FF_NEXT;
	pkt->flags &= (uint8_t)~RL_FF_NEXT;
	if (comes_next(core, pkt))
		pkt->flags |= RL_FF_NEXT;
	return pkt->flags & RL_FF_NEXT;
}

/* Looks a packet up in @p fwd. */
static enum core_verdict
pass_lookup(struct rl_core *core, const struct rl_fwd *fwd, struct rl_flit *pkt,
	    uint16_t looped_from, struct rl_fwd_hop *hop, bool *rerouted)
{
	const struct rl_fwd *const was = core->fwd;
	enum core_verdict v;

	core->fwd = fwd;
	core_set_plane(core, pkt);
	v = core_lookup(core, pkt, looped_from, hop, rerouted);
	core->fwd = was;
	return v;
}

static uint8_t
pass_vl(const struct rl_core *core, const struct rl_fwd *fwd,
	const struct rl_flit *pkt, struct rl_fwd_hop hop)
{
	const bool comes = pkt->in_port < core->p.nports &&
			   !core_joins(core, pkt);
	const uint16_t in = comes ? pkt->in_port : core->p.nports;

	return rl_fwd_vl(fwd, hop.plane, in, hop.port, pkt->sl);
}

/* Whether the token of an output channel has left. */
static bool
has_left(const struct core_pass *ps, uint16_t port, uint8_t vl)
{
	return vl < ps->to->vls && (ps->port[port].sent >> vl & 1);
}

/* Whether packets may go there by the new tables now. */
static bool
is_open(const struct core_pass *ps, uint16_t port, uint8_t vl)
{
	if (ps->to->end[port])
		return ps->port[port].sent == core_pass_vls(ps);
	return vl >= ps->to->vls || has_left(ps, port, vl);
}

/* Queues a packet by the new tables: behind the token. */
static void
send_next(struct rl_core *core, struct rl_flit *pkt, struct rl_fwd_hop hop,
	  uint64_t now_ns)
{
	struct core_pass *ps = core->pass;
	const uint8_t vl = pass_vl(core, ps->to->fwd, pkt, hop);
	struct core_port *cp = &core->port[hop.port];
	struct rl_pktq *q = &cp->q[vl];

	if (!is_open(ps, hop.port, vl)) {
		if (ps->stopped) {
			core_lend(core, pkt);
			core_wait(core, pkt, RL_WAIT_NOWAY, CORE_OLD, now_ns);
			return;
		}
		q = &ps->port[hop.port].ahead[vl];
	} else {
		core_fair_level(core, cp, vl);
		cp->qmask |= 1u << vl;
	}
	pkt->vc = vl;
	rl_pktq_push(q, pkt);
	core_stream_queued(core, q, pkt);
}

/* By the new tables; @p late: not by a channel that has changed over. */
static bool
forward_next(struct rl_core *core, struct rl_flit *pkt, enum core_age age,
	     uint16_t looped_from, bool late, uint64_t now_ns)
{
	struct rl_fwd_hop hop = { .port = RL_FWD_PORT_NONE };
	bool rerouted = false;
	const enum core_verdict v = pass_lookup(core, core->pass->to->fwd, pkt,
						looped_from, &hop, &rerouted);

	if (late || age == CORE_OLD)
		core_lend(core, pkt);
	if (v == CORE_GO) {
		CORE_COUNT_N(core, rerouted_packets, rerouted);
		send_next(core, pkt, hop, now_ns);
		return true;
	}
	if (v == CORE_NO_PATH && !late && age == CORE_NEW) {
		core_drop_no_path(core, pkt, now_ns);
		return true;
	}
	return core_wait_or_drop(core, pkt,
				 v == CORE_HOLD ? hop.port : RL_WAIT_NOWAY, age,
				 now_ns);
}

bool
core_pass_forward(struct rl_core *core, struct rl_flit *pkt, enum core_age age,
		  uint16_t looped_from, uint64_t now_ns)
{
	struct core_pass *ps = core->pass;
	struct rl_fwd_hop hop = { .port = RL_FWD_PORT_NONE };
	bool rerouted = false, late;
	enum core_verdict v;

	if (goes_next(core, pkt, age)) {
		late = pkt->in_port < core->p.nports &&
		       ps->port[pkt->in_port].dead;
		return forward_next(core, pkt, age, looped_from, late, now_ns);
	}
	v = pass_lookup(core, core->fwd, pkt, looped_from, &hop, &rerouted);
	late = v == CORE_GO &&
	       has_left(ps, hop.port, pass_vl(core, core->fwd, pkt, hop));
	if (rl_unlikely(late)) {
		CORE_COUNT_N(core, tokens_overtaken, age == CORE_NEW);
		pkt->flags |= RL_FF_NEXT;
		return forward_next(core, pkt, age, looped_from, true, now_ns);
	}
	if (v == CORE_GO) {
		core_send(core, pkt, hop, rerouted);
		return true;
	}
	return core_wait_or_drop(core, pkt,
				 v == CORE_HOLD ? hop.port : RL_WAIT_NOWAY, age,
				 now_ns);
}

bool
core_pass_token(struct rl_core *core, struct rl_flit *pkt, enum core_age age)
{
	struct core_pass *ps = core->pass;

	if (rl_likely(!rl_is_token(pkt)))
		return false;
	/* a looped packet is not counted, and one of another epoch is late */
	if (core->passing && age == CORE_NEW && pkt->in_port < core->p.nports &&
	    rl_flit_tag(pkt->wire) == ps->to->epoch) {
		CORE_COUNT(core, rx_tokens);
		ps->port[pkt->in_port].got |= (uint8_t)(1u << pkt->in_vc);
		ps->begun = true;
		core_arm(core, 0);
	}
	core_free_credit(core, pkt);
	rl_packet_put(core->p.cache, pkt);
	return true;
}

/* Packets that waited for a token follow it. */
void
core_pass_follow(struct rl_core *core, uint16_t port, unsigned int vl)
{
	struct rl_pktq *from = &core->pass->port[port].ahead[vl];
	struct rl_pktq *to = &core->port[port].q[vl];

	if (rl_pktq_empty(from) || RL_PLANTED(TOKEN_FORGOTTEN))
		return;
	core_stream_moved(core, from, to);
	core_fair_level(core, &core->port[port], vl);
	rl_pktq_splice(to, from);
	core->port[port].qmask |= 1u << vl;
}

/*
 * Packets that wait for a token of @p port wait for a path: all are held, and none
 * may wait for tokens.
 */
void
core_pass_wait(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	for (unsigned int vl = 0; vl < RL_VCS; vl++) {
		struct rl_pktq q = core->pass->port[port].ahead[vl];
		struct rl_flit *pkt;

		core->pass->port[port].ahead[vl] = (struct rl_pktq){ 0 };
		while ((pkt = rl_pktq_pop(&q)) != NULL) {
			core_lend(core, pkt);
			core_wait(core, pkt, RL_WAIT_NOWAY, CORE_OLD, now_ns);
		}
	}
}

void
core_pass_still(struct rl_core *core)
{
	if (!core->passing)
		return;
	core->pass->stopped = true;
	core_arm(core, 0);
}

void
core_pass_end(struct rl_core *core, const struct rl_fwd *fwd)
{
	struct core_pass *ps = core->pass;

	if (!core->passing)
		return;
	for (uint16_t i = 0; i < core->p.nports; i++) {
		if (fwd != ps->to->fwd)
			core_pass_wait(core, i, ps->now_ns);
		for (unsigned int vl = 0; vl < RL_VCS; vl++)
			core_pass_follow(core, i, vl);
	}
	core->passing = false;
}

uint32_t
core_pass_flits(const struct rl_core *core)
{
	uint32_t n = 0;

	for (uint16_t i = 0; core->passing && i < core->p.nports; i++)
		for (unsigned int vl = 0; vl < RL_VCS; vl++)
			n += core->pass->port[i].ahead[vl].flits;
	return n;
}
