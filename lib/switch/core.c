/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A packet comes into a core, from a port or from the endpoint, and goes on: by the
 * adaptive plane, by the tables (core_send.c), or to those of its flow that wait
 * (core_wait.c). core_failover.c handles the death and return of ports. Files call
 * only those below them:
 *
 *   core_turn.c, core_tx.c, core_failover.c
 *   core_token.c
 *   core.c, core_look.c
 *   core_adapt.c, core_pass.c
 *   core_wait.c
 *   core_send.c
 *   core_stream.c
 *   core_fence.c, core_fair.c, core_base.c
 */

#include <string.h>

#include "core_priv.h"

#define CORE_ROUND(n)                                                          \
	(((n) + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1))

static size_t
core_struct_bytes(uint16_t nports)
{
	return CORE_ROUND(sizeof(struct rl_core) +
			  nports * sizeof(struct core_port));
}

static size_t
core_recent_bytes(const struct rl_link_cfg *cfg, uint16_t nports)
{
	return cfg->dup_filter ? CORE_ROUND((size_t)nports * CORE_RECENT *
					    sizeof(uint64_t))
			       : 0;
}

static size_t
core_stream_bytes(const struct rl_link_cfg *cfg, uint16_t nports)
{
	return cfg->switching == RL_CUT_THROUGH
		       ? CORE_ROUND((size_t)nports * RL_VCS *
				    sizeof(struct core_stream))
		       : 0;
}

static struct rl_wait_params
core_wait_params(const struct rl_link_cfg *cfg, uint16_t nports)
{
	return (struct rl_wait_params){
		.nports = nports,
		.flows = rl_min_u32(CORE_FLOWS_PORT * nports, CORE_FLOWS_MAX),
		.budget_flits = cfg->wait_flits * nports,
		.no_way_ns = rl_min_u64(cfg->no_path_ns, cfg->watchdog_ns),
		.bound_ns = cfg->watchdog_ns,
	};
}

size_t
rl_core_memsize(const struct rl_link_cfg *cfg, uint16_t nports)
{
	const struct rl_wait_params wp = core_wait_params(cfg, nports);

	return core_struct_bytes(nports) + core_recent_bytes(cfg, nports) +
	       core_stream_bytes(cfg, nports) +
	       CORE_ROUND(core_pass_bytes(nports)) +
	       CORE_ROUND(core_fair_bytes()) + rl_wait_memsize(&wp);
}

struct rl_core *
rl_core_init(void *mem, const struct rl_core_params *p)
{
	const struct rl_wait_params wp = core_wait_params(p->cfg, p->nports);
	struct rl_core *core = mem;
	uint8_t *at = (uint8_t *)mem + core_struct_bytes(p->nports);
	uint64_t *recent = (uint64_t *)(void *)at;
	size_t n;

	RL_ASSERT(((uintptr_t)mem & (RL_CACHE_LINE - 1)) == 0);
	RL_ASSERT(p->nports < CORE_NO_PORT);
	n = core_struct_bytes(p->nports) +
	    core_recent_bytes(p->cfg, p->nports) +
	    core_stream_bytes(p->cfg, p->nports);
	memset(mem, 0, n); /* the room touches what it uses */
	core->pass = (struct core_pass *)(void *)((uint8_t *)mem + n);
	n += CORE_ROUND(core_pass_bytes(p->nports));
	core->fair = (struct core_fair *)(void *)((uint8_t *)mem + n);
	memset(core->fair, 0, core_fair_bytes());
	core->fair_shift = core_fair_quantum(p->cfg);
	n += CORE_ROUND(core_fair_bytes());
	core->wait = rl_wait_init((uint8_t *)mem + n, &wp);
	if (p->cfg->switching == RL_CUT_THROUGH)
		core->stream = (struct core_stream *)(void *)(
			at + core_recent_bytes(p->cfg, p->nports));
	core->p = *p;
	core->fwd = p->fwd;
	core->adapt_vl = rl_fwd_adapt_vl(p->fwd);
	core->adapt_again_ns = RL_NEVER;
	core->next_due_ns = 0;
	core->unsettled = p->cfg->init_action == RL_INIT_BEST_EFFORT
				  ? 0
				  : p->nports;
	for (uint16_t i = 0; i < p->nports; i++) {
		struct core_port *cp = &core->port[i];

		/* best effort: as after a death, others take its traffic */
		cp->state = p->cfg->init_action == RL_INIT_BEST_EFFORT
				    ? RL_EGRESS_DEAD
				    : RL_EGRESS_TRAIN;
		cp->shared = p->shared[i];
		cp->due_ns = RL_NEVER;
		cp->bound_ns = RL_NEVER;
		if (p->cfg->dup_filter)
			cp->recent = recent + (size_t)i * CORE_RECENT;
	}
	return core;
}

void
rl_core_prefetch(const struct rl_core *core)
{
	const uint8_t *at = (const uint8_t *)core;
	const uint8_t *const end = (const uint8_t *)core->ev;

	for (; at < end; at += RL_CACHE_LINE)
		__builtin_prefetch(at, 1);
	for (uint16_t i = 0; i < core->p.nports; i++) {
		at = (const uint8_t *)&core->port[i];
		__builtin_prefetch(at, 1);
		__builtin_prefetch(at + RL_CACHE_LINE, 1);
	}
}

void
rl_core_prefetch_route(const struct rl_core *core, const struct rl_flit *pkt)
{
	rl_core_prefetch_to(core, pkt->dst, pkt->in_vc, pkt->sl);
}

void
rl_core_prefetch_to(const struct rl_core *core, uint16_t dst, unsigned int vc,
		    unsigned int sl)
{
	const struct rl_fwd *fwd = core->fwd;

	if (dst < fwd->ndst)
		rl_fwd_prefetch(fwd,
				fwd->plane_of[vc % RL_VCS][sl & (RL_SLS - 1)],
				dst);
}

/*
 * The common case of core_lookup(): the first next hop is alive and does not
 * lead back. The packet goes there. @return whether this case applied
 */
static inline bool
core_first_hop(struct rl_core *core, struct rl_flit *pkt)
{
	const struct rl_fwd *fwd = core->fwd;
	unsigned int port, plane;
	struct rl_fwd_hop hop;

	if (rl_unlikely(pkt->dst >= fwd->ndst))
		return false;
	hop = rl_fwd_word_hop(rl_fwd_word(fwd, pkt->plane, pkt->dst));
	port = hop.port;
	plane = hop.plane;
	/* this covers RL_FWD_NONE, too */
	if (rl_unlikely(port >= core->p.nports || port == pkt->in_port ||
			core->port[port].state != RL_EGRESS_ALIVE))
		return false;
	core_queue(core, pkt, port, plane);
	return true;
}

/* The same, with the whole list of next hops. @return as forward_once() */
static bool
core_forward_by(struct rl_core *core, struct rl_flit *pkt, enum core_age age,
		uint16_t looped_from, uint64_t now_ns)
{
	struct rl_fwd_hop hop = { .port = RL_FWD_PORT_NONE };
	bool rerouted = false;

	switch (core_lookup(core, pkt, looped_from, &hop, &rerouted)) {
	case CORE_GO:
		core_send(core, pkt, hop, rerouted);
		break;
	case CORE_HOLD:
		return core_wait_or_drop(core, pkt, hop.port, age, now_ns);
	case CORE_STRAND:
		if (rl_unlikely(core->adapt_vl != RL_VCS))
			(void)core_adapt_look(core, pkt, now_ns);
		return core_wait_or_drop(core, pkt, RL_WAIT_NOWAY, age, now_ns);
	case CORE_NO_PATH:
		if (!core_pass_token(core, pkt, age))
			core_drop_no_path(core, pkt, now_ns);
		break;
	}
	return true;
}

/*
 * A packet joins the packets of its flow that wait. Only a looped packet that
 * is older than all of them may go on at once. @return false: those were given
 * up for it, so it has to look for a path of its own
 */
static bool
forward_once(struct rl_core *core, struct rl_flit *pkt, enum core_age age,
	     uint16_t looped_from, uint64_t now_ns)
{
	if (rl_unlikely(core->adapt_vl != RL_VCS) && core_adapt(core, pkt))
		return true;
	if (rl_unlikely(rl_wait_any(core->wait)) &&
	    !RL_PLANTED(WAIT_OVERTAKEN)) {
		const struct rl_wait_flow *f = rl_wait_find(core->wait, pkt);

		if (f != NULL &&
		    !(age == CORE_OLD && rl_wait_is_oldest(f, pkt)))
			return core_wait_or_drop(core, pkt, f->place, age,
						 now_ns);
	}
	if (rl_unlikely(core->passing))
		return core_pass_token(core, pkt, age) ||
		       core_pass_forward(core, pkt, age, looped_from, now_ns);
	if (rl_likely(looped_from == CORE_NO_PORT && core_first_hop(core, pkt)))
		return true;
	return core_forward_by(core, pkt, age, looped_from, now_ns);
}

void
core_forward(struct rl_core *core, struct rl_flit *pkt, enum core_age age,
	     uint16_t looped_from, uint64_t now_ns)
{
	while (rl_unlikely(
		!forward_once(core, pkt, age, looped_from, now_ns))) {
		age = CORE_NEW;
		looped_from = CORE_NO_PORT;
	}
}

/*
 * At an endpoint: packets for this endpoint go to it; others go out again, once
 * and marked [DRL-10]. @return whether the packet was disposed of
 */
static bool
core_at_endpoint(struct rl_core *core, struct rl_flit *pkt, uint64_t now_ns)
{
	if (pkt->dst == core->p.ep_id) {
		CORE_COUNT(core, local_packets);
		core_local(core, pkt, now_ns);
		return true;
	}
	if (core_pass_token(core, pkt, CORE_NEW))
		return true;
	if (pkt->flags & RL_FF_REFLECTED) {
		CORE_COUNT(core, drop_misroute);
		core_drop(core, pkt, RL_DROP_MISROUTE, now_ns);
		return true;
	}
	CORE_COUNT(core, reflected_packets);
	for (struct rl_flit *f = pkt; f != NULL; f = rl_packet_next(f))
		f->flags |= RL_FF_REFLECTED;
	return false;
}

void
core_rx_one(struct rl_core *core, uint16_t port, struct rl_flit *pkt,
	    uint64_t now_ns)
{
	if (core->stream != NULL && !(pkt->flags & RL_FF_SOP)) {
		core_fragment(core, pkt, now_ns);
		return;
	}
	if (rl_unlikely(core_closed(pkt))) {
		/* cut off upstream: its copy comes by another path */
		core_excise(core, pkt);
		return;
	}
	if (core->p.cfg->dup_filter && core_is_duplicate(core, pkt, port)) {
		CORE_COUNT(core, drop_duplicate);
		core_drop(core, pkt, RL_DROP_DUPLICATE, now_ns);
		return;
	}
	if (core->p.endpoint && core_at_endpoint(core, pkt, now_ns))
		return;
	if (pkt->hops >= RL_HOPS_MAX) {
		CORE_COUNT(core, drop_hops);
		core_drop(core, pkt, RL_DROP_HOPS, now_ns);
		return;
	}
	core_set_plane(core, pkt);
	core_forward(core, pkt, CORE_NEW, CORE_NO_PORT, now_ns);
}

void
rl_core_rx(struct rl_core *core, uint16_t port, struct rl_flit *const pkts[],
	   unsigned int n, uint64_t now_ns)
{
	RL_DASSERT(port < core->p.nports);
	CORE_COUNT_N(core, rx_packets, n);
	for (unsigned int i = 0; i < n; i++) {
		if (i + 1 < n)
			__builtin_prefetch(pkts[i + 1]);
		core_rx_one(core, port, pkts[i], now_ns);
	}
}

/* What the endpoint says. */
#define SAYS (RL_FF_SOP | RL_FF_EOP | RL_FF_TABLES)

/* Change flags as a part of the state, since the state is loaded next. */
void
rl_core_inject(struct rl_core *core, struct rl_pktq *q, uint64_t now_ns)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(q)) != NULL) {
		CORE_COUNT(core, injected_packets);
		pkt->in_port = RL_PORT_NONE;
		for (struct rl_flit *f = pkt; f != NULL;
		     f = rl_packet_next(f)) {
			f->loop_id = 0;
			f->state &= ~rl_flit_state(0, 0, (uint8_t)~SAYS);
		}
		/* counts among its own queued flits */
		pkt->state |= rl_flit_state(0, 0, RL_FF_CREDIT);
		core_set_plane(core, pkt);
		core->own_flits[pkt->sl & (RL_SLS - 1)] += pkt->pkt_flits;
		core_forward(core, pkt, CORE_NEW, CORE_NO_PORT, now_ns);
	}
}

/* Packets held by a VC are older than later ones on the same VC. */
void
rl_core_hold_local(struct rl_core *core, uint32_t vc_mask)
{
	struct rl_flit *pkt;

	if (vc_mask == core->hold_vcs)
		return;
	core->hold_vcs = vc_mask;
	while ((pkt = rl_pktq_pop(&core->local)) != NULL)
		rl_pktq_push(&core->local_held, pkt);
	core->local = core->local_held;
	core->local_held = (struct rl_pktq){ 0 };
}

struct rl_flit *
rl_core_local(struct rl_core *core)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(&core->local)) != NULL &&
	       rl_unlikely(core->hold_vcs >> pkt->in_vc & 1))
		rl_pktq_push(&core->local_held, pkt);
	if (pkt != NULL)
		core_free_credit(core, pkt);
	return pkt;
}
