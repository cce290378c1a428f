/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where a packet goes by the tables, and how it gets there, or out of the core.
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

#include "core_priv.h"

void
core_drop(struct rl_core *core, struct rl_flit *pkt, enum rl_drop_reason why,
	  uint64_t now_ns)
{
	core_free_credit(core, pkt);
	core_stream_dropped(core, pkt);
	if (core->p.drop != NULL &&
	    !(RL_PLANTED(WATCHDOG_SILENT) &&
	      (why == RL_DROP_WATCHDOG || why == RL_DROP_NO_PATH)))
		core->p.drop(core->p.drop_ctx, pkt, why, now_ns);
	rl_packet_put(core->p.cache, pkt);
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

	for (unsigned int i = from;
	     i < RL_FWD_ALTS && e->hop[i].port != RL_FWD_PORT_NONE; i++)
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

	for (unsigned int i = 0;
	     i < RL_FWD_ALTS && !done && e->hop[i].port != RL_FWD_PORT_NONE;
	     i++) {
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

void
core_send(struct rl_core *core, struct rl_flit *pkt, struct rl_fwd_hop hop,
	  bool rerouted)
{
	if (rl_unlikely(rerouted))
		CORE_COUNT(core, rerouted_packets);
	core_queue(core, pkt, hop.port, hop.plane);
}
