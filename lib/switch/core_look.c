/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Out of the waiting room: who waits looks for a path again, by new tables, by an
 * egress that came back, or has waited for too long.
 */

#include "core_priv.h"

/* Packets that one call looks up. */
#define CORE_LOOKS 256
/* Of one flow, before the next flow's turn. */
#define CORE_LOOKS_FLOW 32
/* Expired packets that one call gives up. */
#define CORE_GIVE_UPS 256

/*
 * A quiesced fabric is only at rest while waiting packets stay: packets would go
 * by tables that other devices do not have yet, and the mix of both is not
 * proven.
 */
bool
core_all_stay(const struct rl_core *core)
{
	return core_pass_stays(core) ||
	       (core->still && core->swapped && !RL_PLANTED(ROOM_RESTLESS));
}

/* Whether a flow must not move now. */
static bool
wait_stays(const struct rl_core *core, const struct rl_wait_flow *f)
{
	return core_all_stay(core) ||
	       (core->still && f->place == RL_WAIT_NOWAY &&
		!RL_PLANTED(ROOM_RESTLESS));
}

/*
 * Whether new tables lead a packet only back where it came from, or know its
 * destination but not on the packet's plane. Its detour ends here, and it would
 * wait in vain. Its source has a path: with retry it sends the packet again at
 * once, and does not call the destination unreachable.
 */
static bool
wait_astray(const struct rl_core *core, const struct rl_flit *pkt,
	    enum core_verdict v)
{
	const struct rl_fwd *fwd = core->fwd;
	struct rl_fwd_entry e;
	bool astray = false;

	if (!core->fresh || pkt->dst >= fwd->ndst ||
	    (v != CORE_STRAND && v != CORE_NO_PATH))
		return false;
	e = rl_fwd_lookup(fwd, pkt->plane, pkt->dst);
	for (unsigned int i = 0; v == CORE_STRAND && i < RL_FWD_ALTS; i++)
		astray = astray ||
			 (e.hop[i].port == pkt->in_port &&
			  pkt->in_port < core->p.nports &&
			  core->port[pkt->in_port].state != RL_EGRESS_DEAD);
	for (unsigned int i = 0; v == CORE_NO_PATH && i < fwd->nplanes; i++)
		astray = astray ||
			 rl_fwd_lookup(fwd, i, pkt->dst).hop[0].port !=
				 RL_FWD_PORT_NONE;
	return astray && !RL_PLANTED(ROOM_ASTRAY);
}

/* Whether the adaptive plane takes on the oldest packet of a flow. */
static bool
wait_adapt(struct rl_core *core, struct rl_wait_flow *f, bool *more,
	   uint64_t now_ns)
{
	enum core_adapt_state plane;

	if (core_closed(f->head))
		return false;
	plane = core_adapt_look(core, f->head, now_ns);
	if (plane == CORE_ADAPT_FULL && f->place == RL_WAIT_NOWAY)
		rl_wait_renew(core->wait, f, now_ns);
	if (plane != CORE_ADAPT_ROOM)
		return false;
	CORE_COUNT(core, released_packets);
	core_adapt(core, core_wait_pop(core, f, more));
	return true;
}

/*
 * Sends the oldest packets of a flow, as long as they have a path. @return
 * steps made
 */
static unsigned int
wait_look_flow(struct rl_core *core, struct rl_wait_flow *f, uint64_t now_ns)
{
	bool more = true;
	unsigned int n = 0;
	uint16_t place;

	while (more && n < CORE_LOOKS_FLOW) {
		struct rl_fwd_hop hop = { .port = RL_FWD_PORT_NONE };
		struct rl_flit *pkt = f->head;
		enum core_verdict v = CORE_NO_PATH;
		bool rerouted = false;

		n++;
		if (core_wait_probe(core, pkt, f->place)) {
			more = f->packets > 1;
			core_wait_give_up(core, f, RL_DROP_ASTRAY, now_ns);
			continue;
		}
		if (wait_stays(core, f)) {
			rl_wait_settle(core->wait, f, f->place, now_ns);
			return n;
		}
		__builtin_prefetch(rl_wait_next_of(pkt));
		if (rl_unlikely(core->adapt_vl != RL_VCS) &&
		    wait_adapt(core, f, &more, now_ns))
			continue;
		if (!core_closed(pkt)) {
			core_set_plane(core, pkt);
			v = core_lookup(core, pkt, CORE_NO_PORT, &hop,
					&rerouted);
		}
		if (wait_astray(core, pkt, v)) {
			more = f->packets > 1;
			core_wait_give_up(core, f, RL_DROP_ASTRAY, now_ns);
			continue;
		}
		if (v == CORE_HOLD || v == CORE_STRAND) {
			place = v == CORE_HOLD ? hop.port : RL_WAIT_NOWAY;
			core_wait_settle(core, f, place, now_ns);
			return n;
		}
		if (v == CORE_NO_PATH) {
			more = f->packets > 1;
			core_wait_give_up(core, f, RL_DROP_NO_PATH, now_ns);
			continue;
		}
		pkt = core_wait_pop(core, f, &more);
		CORE_COUNT(core, released_packets);
		if (RL_PLANTED(HOLD_LOST)) {
			core_free_credit(core, pkt);
			rl_packet_put(core->p.cache, pkt);
			continue;
		}
		core_send(core, pkt, hop, rerouted);
	}
	if (more)
		rl_wait_later(core->wait, f);
	return n;
}

void
core_look(struct rl_core *core, uint64_t now_ns)
{
	struct rl_wait_flow *f;
	unsigned int n = 0;

	while ((f = rl_wait_look(core->wait)) != NULL) {
		if (n >= CORE_LOOKS) {
			core_arm(core, now_ns);
			return;
		}
		n += wait_look_flow(core, f, now_ns);
	}
	core->fresh = false;
	core_wait_want_none(core);
	if (core->fence_owed)
		core_fence_all(core, now_ns);
}

/* Gives up, and reports, packets that have waited too long [DRL-7]. */
void
core_watchdog(struct rl_core *core, uint64_t now_ns)
{
	struct rl_wait_flow *f;
	unsigned int n = 0;

	if (now_ns < rl_wait_due(core->wait) ||
	    rl_wait_look(core->wait) != NULL)
		return;
	while (n < CORE_GIVE_UPS &&
	       (f = rl_wait_expired(core->wait, now_ns)) != NULL) {
		n++;
		core_wait_give_up(core, f,
				  f->place == RL_WAIT_NOWAY ? RL_DROP_NO_PATH
							    : RL_DROP_WATCHDOG,
				  now_ns);
	}
	if (n != 0) {
		core_event(core, RL_CEV_WATCHDOG, CORE_NO_PORT, n, now_ns);
		/* packets that joined those may have a path that they lacked */
		rl_wait_look_place(core->wait, RL_WAIT_NOWAY);
		core_arm(core, 0);
	}
	core_wait_want_none(core);
}

void
core_set_ways(struct rl_core *core, const struct rl_fwd *fwd)
{
	core_pass_end(core, fwd);
	core->fwd = fwd;
	core->ways++;
	core->fresh = true;
	core->swapped = core->still;
	rl_wait_look_all(core->wait);
	core_arm(core, 0);
}

void
rl_core_set_fwd(struct rl_core *core, const struct rl_fwd *fwd)
{
	core_set_ways(core, fwd);
	core->adapt_vl = rl_fwd_adapt_vl(fwd);
}

void
rl_core_await_routes(struct rl_core *core, uint64_t until_ns)
{
	const bool less = until_ns < core->await_ns;

	core->await_ns = until_ns;
	if (core->still)
		return;
	rl_wait_await(core->wait, until_ns);
	if (less) { /* waiting packets have another deadline */
		rl_wait_look_place(core->wait, RL_WAIT_NOWAY);
		core_arm(core, 0);
	}
}

void
rl_core_still(struct rl_core *core, bool on)
{
	if (core->still == on)
		return;
	core->fresh = core->swapped;
	core->still = on;
	core->swapped = false;
	rl_wait_await(core->wait, on ? RL_NEVER : core->await_ns);
	if (on)
		core_pass_still(core);
	rl_wait_look_all(core->wait);
	core_arm(core, 0);
}
