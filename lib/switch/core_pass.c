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
#include "rl_codec_ref.h"
#include "rl_fwd_pass.h"

#define PASS_AGAIN_NS 1000 /* no flit for a token: retry after this */

/* State of a port during the change. */
struct core_pass_port {
	uint8_t got;  /* bit per VL: its token has come in */
	uint8_t sent; /* ... has left, or is queued ahead of new packets */
	bool dead;    /* its link has died: no token will come */
	struct rl_pktq ahead[RL_VCS]; /* by the new tables, behind tokens */
};

struct core_pass {
	const struct rl_fwd_pass *to;
	bool go;      /* its local endpoint, if any, uses the new tables */
	bool begun;   /* tokens are under way */
	bool stopped; /* no packet waits for tokens any more: see pass_stop() */
	uint64_t again_ns;
	uint64_t now_ns; /* of the last tick */
	uint8_t wire[RL_FLIT_BYTES]; /* of a token */
	struct core_pass_port port[];
};

size_t
core_pass_bytes(uint16_t nports)
{
	return sizeof(struct core_pass) +
	       nports * sizeof(struct core_pass_port);
}

static uint8_t
all_vls(const struct core_pass *ps)
{
	return (uint8_t)((1u << ps->to->vls) - 1);
}

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

bool
core_pass_stays(const struct rl_core *core)
{
	return core->passing && core->pass->begun;
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
pass_lookup(struct rl_core *core, const struct rl_fwd *fwd,
	    struct rl_flit *pkt, uint16_t looped_from, struct rl_fwd_hop *hop,
	    bool *rerouted)
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
		return ps->port[port].sent == all_vls(ps);
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
static void
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
		return;
	}
	if (v == CORE_NO_PATH && !late && age == CORE_NEW) {
		core_drop_no_path(core, pkt, now_ns);
		return;
	}
	core_wait_or_drop(core, pkt, v == CORE_HOLD ? hop.port : RL_WAIT_NOWAY,
			  age, now_ns);
}

void
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
		forward_next(core, pkt, age, looped_from, late, now_ns);
		return;
	}
	v = pass_lookup(core, core->fwd, pkt, looped_from, &hop, &rerouted);
	late = v == CORE_GO &&
	       has_left(ps, hop.port, pass_vl(core, core->fwd, pkt, hop));
	if (rl_unlikely(late)) {
		CORE_COUNT_N(core, tokens_overtaken, age == CORE_NEW);
		pkt->flags |= RL_FF_NEXT;
		forward_next(core, pkt, age, looped_from, true, now_ns);
	} else if (v == CORE_GO) {
		core_send(core, pkt, hop, rerouted);
	} else {
		core_wait_or_drop(core, pkt,
				  v == CORE_HOLD ? hop.port : RL_WAIT_NOWAY,
				  age, now_ns);
	}
}

bool
core_pass_token(struct rl_core *core, struct rl_flit *pkt, enum core_age age)
{
	struct core_pass *ps = core->pass;

	if (rl_likely(!rl_is_token(pkt)))
		return false;
	/* a looped packet is not counted, and one of another epoch is late */
	if (core->passing && age == CORE_NEW &&
	    pkt->in_port < core->p.nports &&
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
static void
follow(struct rl_core *core, uint16_t port, unsigned int vl)
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
		follow(core, port, vl);
	else if (ps->port[port].sent == all_vls(ps))
		for (unsigned int i = 0; i < RL_VCS; i++)
			follow(core, port, i);
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

/*
 * Packets that wait for a token of @p port look up another path, or wait for
 * one: the port has died, or all packets are held and none may wait for tokens.
 */
static void
empty_port(struct rl_core *core, uint16_t port, bool died, uint64_t now_ns)
{
	for (unsigned int vl = 0; vl < RL_VCS; vl++) {
		struct rl_pktq q = core->pass->port[port].ahead[vl];
		struct rl_flit *pkt;

		core->pass->port[port].ahead[vl] = (struct rl_pktq){ 0 };
		while ((pkt = rl_pktq_pop(&q)) != NULL) {
			if (died) {
				core_forward(core, pkt, CORE_OLD, CORE_NO_PORT,
					     now_ns);
				continue;
			}
			core_lend(core, pkt);
			core_wait(core, pkt, RL_WAIT_NOWAY, CORE_OLD, now_ns);
		}
	}
}

void
core_pass_leave(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	struct core_pass_port *pp = &core->pass->port[port];

	if (!core->passing)
		return;
	pp->dead = pp->dead || port_dark(core->port[port].state);
	pp->sent = 0; /* if the link returns, tokens go again */
	empty_port(core, port, true, now_ns);
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
			empty_port(core, i, false, ps->now_ns);
		for (unsigned int vl = 0; vl < RL_VCS; vl++)
			follow(core, i, vl);
	}
	core->passing = false;
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
			empty_port(core, i, false, now_ns);
	ps->again_ns = RL_NEVER;
	if ((core->p.endpoint && !ps->go) || core_drains(core))
		return;
	if (send_tokens(core, now_ns))
		rl_core_set_fwd(core, ps->to->fwd);
	else
		core_arm(core, ps->again_ns);
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
