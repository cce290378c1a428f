/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lookup and queues. core_failover.c handles the death and return of ports.
 *
 * Every destination has a list of next hops, best first. A packet takes the
 * first whose egress is alive. It does not skip an egress that is between
 * states (draining, delayed, training, restoring): it waits for that egress,
 * behind packets of its flow that already wait. It skips an egress that is
 * dead. Packets wait in the waiting room, see wait.c and core_wait.c.
 *
 * A packet that looped out of port X was sent there by this rule, so every hop
 * before X in its list was dead or skipped then. It goes on by the next hop
 * after X if that is alive; otherwise it waits, or goes, with the rest of its
 * flow.
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
 * The flits have left the core, or the buffer they came in by: return what they
 * held: a credit, the endpoint's room to inject, or a part of the waiting
 * room's budget.
 */
void
core_free_credit(struct rl_core *core, struct rl_flit *pkt)
{
	if (rl_unlikely(pkt->flags & RL_FF_LENT)) {
		pkt->flags &= (uint8_t)~RL_FF_LENT;
		rl_wait_repay(core->wait, pkt->pkt_flits);
		return;
	}
	if (!(pkt->flags & RL_FF_CREDIT))
		return;
	pkt->flags &= (uint8_t)~RL_FF_CREDIT;
	if (pkt->in_port == RL_PORT_NONE) {
		core->own_flits[pkt->sl & (RL_SLS - 1)] -= pkt->pkt_flits;
		return;
	}
	core->freed |= 1ull << (pkt->in_port & 63);
	rl_shared_add(&core->port[pkt->in_port].shared->freed[pkt->in_vc],
		      pkt->pkt_flits);
}

uint64_t
rl_core_freed(struct rl_core *core)
{
	const uint64_t freed = core->freed;

	core->freed = 0;
	return freed;
}

uint64_t
rl_core_given(struct rl_core *core)
{
	const uint64_t given = core->given;

	core->given = 0;
	return given;
}

void
core_drop(struct rl_core *core, struct rl_flit *pkt, enum rl_drop_reason why,
	  uint64_t now_ns)
{
	core_free_credit(core, pkt);
	core_stream_dropped(core, pkt);
	if (core->p.drop != NULL &&
	    !(RL_PLANTED(WATCHDOG_SILENT) && (why == RL_DROP_WATCHDOG ||
					      why == RL_DROP_NO_PATH)))
		core->p.drop(core->p.drop_ctx, pkt, why, now_ns);
	rl_packet_put(core->p.cache, pkt);
}

/*
 * Whether a hop leads back to the device the packet came from. It may only do
 * so on another plane.
 */
static bool
hop_back(const struct rl_core *core, const struct rl_flit *pkt,
	 struct rl_fwd_hop hop)
{
	return hop.port == pkt->in_port &&
	       (core->p.endpoint ||
		(hop.plane == pkt->plane && !core_joins(core, pkt)));
}

/* The same for any link parallel to that of the hop. */
static bool
hop_back_beside(const struct rl_core *core, const struct rl_flit *pkt,
		struct rl_fwd_hop hop)
{
	const uint16_t first = hop.port;
	bool back;

	do {
		back = hop_back(core, pkt, hop);
		hop.port = core->p.beside[hop.port];
	} while (!back && hop.port != first);
	return back;
}

/* Whether a packet may take a hop or must wait for it. CORE_STRAND: neither. */
static enum core_verdict
hop_try(const struct rl_core *core, const struct rl_flit *pkt,
	struct rl_fwd_hop hop)
{
	const enum rl_egress_state state = core->port[hop.port].state;

	if (hop_back(core, pkt, hop) || state == RL_EGRESS_DEAD)
		return CORE_STRAND;
	return core_holds(state) ? CORE_HOLD : CORE_GO;
}

/*
 * Whether packets may overtake each other: receivers restore their order. Then
 * none waits for a port while another one is alive.
 */
static bool
core_reorders(const struct rl_core *core)
{
	return core->adapt_vl != RL_VCS;
}

/*
 * Takes a hop if it is better than the one found so far, @p v. @return whether no
 * other could be better
 */
static bool
hop_take(const struct rl_core *core, const struct rl_flit *pkt,
	 struct rl_fwd_hop hop, struct rl_fwd_hop *best, enum core_verdict *v)
{
	const enum core_verdict w = hop_try(core, pkt, hop);

	if (w < *v) {
		*best = hop;
		*v = w;
	}
	return *v == CORE_GO || (*v == CORE_HOLD && !core_reorders(core));
}

/* Checks the next hops of an entry, from number @p from on. */
static enum core_verdict
core_scan(const struct rl_core *core, const struct rl_fwd_entry *e,
	  const struct rl_flit *pkt, unsigned int from, struct rl_fwd_hop *hop)
{
	enum core_verdict v = CORE_STRAND;

	for (unsigned int i = from; i < RL_FWD_ALTS &&
				    e->hop[i].port != RL_FWD_PORT_NONE; i++)
		if (hop_take(core, pkt, e->hop[i], hop, &v))
			break;
	return v;
}

/*
 * Goes on with links parallel to those of an entry, which has room for only a
 * few of them [DRL-2]. @return the verdict on @p hop, found so far: @p v
 */
static enum core_verdict
core_scan_beside(const struct rl_core *core, const struct rl_fwd_entry *e,
		 const struct rl_flit *pkt, struct rl_fwd_hop *hop,
		 enum core_verdict v)
{
	const uint16_t *const beside = core->p.beside;
	bool done = v == CORE_HOLD && !core_reorders(core);

	for (unsigned int i = 0; i < RL_FWD_ALTS && !done &&
				 e->hop[i].port != RL_FWD_PORT_NONE; i++) {
		const uint16_t first = e->hop[i].port;
		struct rl_fwd_hop h = e->hop[i];

		if (hop_back_beside(core, pkt, h))
			continue;
		for (h.port = beside[first]; h.port != first && !done;
		     h.port = beside[h.port])
			done = hop_take(core, pkt, h, hop, &v);
	}
	return v;
}

/*
 * @p looped_from: the port that the packet looped out of, or CORE_NO_PORT. The
 * packet goes on by the next live hop after that one, if there is any.
 */
enum core_verdict
core_lookup(const struct rl_core *core, const struct rl_flit *pkt,
	    uint16_t looped_from, struct rl_fwd_hop *hop, bool *rerouted)
{
	struct rl_fwd_entry e;
	enum core_verdict v = CORE_STRAND;

	if (pkt->dst >= core->fwd->ndst)
		return CORE_NO_PATH;
	e = rl_fwd_lookup(core->fwd, pkt->plane, pkt->dst);
	if (e.hop[0].port == RL_FWD_PORT_NONE)
		return CORE_NO_PATH;
	if (looped_from != CORE_NO_PORT) {
		unsigned int start = 0;

		for (unsigned int i = 0; i < RL_FWD_ALTS; i++)
			if (e.hop[i].port == looped_from)
				start = i + 1;
		v = core_scan(core, &e, pkt, start, hop);
	}
	if (v != CORE_GO)
		v = core_scan(core, &e, pkt, 0, hop);
	if (rl_unlikely(v != CORE_GO && core->fwd->grouped &&
			core->p.beside != NULL))
		v = core_scan_beside(core, &e, pkt, hop, v);
	*rerouted = v == CORE_GO && hop->port != e.hop[0].port;
	return v;
}

/* Queues a packet for an egress on the VL that the table gives. */
static inline void
core_queue(struct rl_core *core, struct rl_flit *pkt, unsigned int port,
	   unsigned int plane)
{
	struct core_port *cp = &core->port[port];
	const bool in_here = pkt->in_port >= core->p.nports ||
			     core_joins(core, pkt);
	const uint16_t in = in_here ? core->p.nports : pkt->in_port;
	const uint8_t vl = rl_fwd_vl(core->fwd, plane, in, (uint16_t)port,
				     pkt->sl);

	RL_DASSERT(vl < RL_VCS);
	pkt->vc = vl;
	core_enqueue(core, cp, vl, pkt);
	core_stream_queued(core, &cp->q[vl], pkt);
}

void
core_send(struct rl_core *core, struct rl_flit *pkt, struct rl_fwd_hop hop,
	  bool rerouted)
{
	if (rl_unlikely(rerouted))
		CORE_COUNT(core, rerouted_packets);
	core_queue(core, pkt, hop.port, hop.plane);
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

/* An address that no endpoint has was altered on the way: a loss [EP-8]. */
void
core_drop_no_path(struct rl_core *core, struct rl_flit *pkt, uint64_t now_ns)
{
	const bool address = pkt->dst >= core->fwd->ndst;

	CORE_COUNT_N(core, drop_address, address);
	CORE_COUNT_N(core, drop_no_path, !address);
	core_drop(core, pkt, address ? RL_DROP_ADDRESS : RL_DROP_NO_PATH,
		  now_ns);
}

/* The same, with the whole list of next hops. */
static void
core_forward_by(struct rl_core *core, struct rl_flit *pkt, enum core_age age,
		uint16_t looped_from, uint64_t now_ns)
{
	struct rl_fwd_hop hop = { .port = RL_FWD_PORT_NONE };
	bool rerouted = false;

	switch (core_lookup(core, pkt, looped_from, &hop, &rerouted)) {
	case CORE_GO:
		core_send(core, pkt, hop, rerouted);
		return;
	case CORE_HOLD:
		core_wait_or_drop(core, pkt, hop.port, age, now_ns);
		return;
	case CORE_STRAND:
		if (rl_unlikely(core->adapt_vl != RL_VCS))
			(void)core_adapt_look(core, pkt, now_ns);
		core_wait_or_drop(core, pkt, RL_WAIT_NOWAY, age, now_ns);
		return;
	case CORE_NO_PATH:
		if (core_pass_token(core, pkt, age))
			return;
		core_drop_no_path(core, pkt, now_ns);
		return;
	}
}

/*
 * A packet joins the packets of its flow that wait. Only a looped packet that
 * is older than all of them may go on at once.
 */
void
core_forward(struct rl_core *core, struct rl_flit *pkt, enum core_age age,
	     uint16_t looped_from, uint64_t now_ns)
{
	if (rl_unlikely(core->adapt_vl != RL_VCS) && core_adapt(core, pkt))
		return;
	if (rl_unlikely(rl_wait_any(core->wait)) &&
	    !RL_PLANTED(WAIT_OVERTAKEN)) {
		const struct rl_wait_flow *f = rl_wait_find(core->wait, pkt);

		if (f != NULL &&
		    !(age == CORE_OLD && rl_wait_is_oldest(f, pkt))) {
			core_wait_or_drop(core, pkt, f->place, age, now_ns);
			return;
		}
	}
	if (rl_unlikely(core->passing)) {
		if (!core_pass_token(core, pkt, age))
			core_pass_forward(core, pkt, age, looped_from, now_ns);
		return;
	}
	if (rl_likely(looped_from == CORE_NO_PORT &&
		      core_first_hop(core, pkt)))
		return;
	core_forward_by(core, pkt, age, looped_from, now_ns);
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
