/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Into the waiting room, out of it, and given up there. wait.c explains how the
 * room works.
 *
 * A packet that enters returns its input credit and is charged to the room's
 * budget until it leaves the core, so waiting packets take nothing from packets
 * that have a path [DRL-11]. Packets that looped out of a dead port hold no
 * credit and are always admitted; they are charged, too.
 *
 * When the budget is spent, or all flow queues are in use, packets without a
 * path are given up, oldest first, and reported like expired ones. If that does
 * not help:
 *   - a packet whose path is coming keeps its credit: backpressure, no loss;
 *   - one without a path is given up at once: it must not hold a credit;
 *   - a packet of the device's own endpoint keeps its share of the endpoint's
 *     room to inject: it blocks no other, and its time is bounded.
 * If an expected path does not come, packets that kept their credits return
 * them, and the oldest packets without a path make room for them.
 */

#include "core_priv.h"

/* Packets that one call looks up. */
#define CORE_LOOKS 256
/* Of one flow, before the next flow's turn. */
#define CORE_LOOKS_FLOW 32
/* Expired packets that one call gives up. */
#define CORE_GIVE_UPS 256

/* The only way out of the room, except for packets released with it. */
static struct rl_flit *
wait_pop(struct rl_core *core, struct rl_wait_flow *f, bool *more)
{
	struct rl_flit *pkt = rl_wait_pop(core->wait, f, more);

	core->kept -= (pkt->flags & RL_FF_CREDIT) != 0;
	return pkt;
}

/* Gives up the oldest packet of a flow. @return whether more of it waits */
static bool
wait_give_up(struct rl_core *core, struct rl_wait_flow *f,
	     enum rl_drop_reason why, uint64_t now_ns)
{
	bool more;
	struct rl_flit *pkt = wait_pop(core, f, &more);

	if (core_closed(pkt)) { /* counted when it was closed */
		core_free_credit(core, pkt);
		rl_packet_put(core->p.cache, pkt);
		return more;
	}
	if (why == RL_DROP_NO_PATH)
		CORE_COUNT(core, drop_no_path);
	else if (why == RL_DROP_ASTRAY)
		CORE_COUNT(core, drop_astray);
	else if (why == RL_DROP_WATCHDOG)
		CORE_COUNT(core, drop_watchdog);
	core_drop(core, pkt, why, now_ns);
	return more;
}

/*
 * Packets that joined one that is given up may have a path that it lacked: they
 * came by another port, or on another plane. Without this lookup, packets that
 * could go are given up one by one, for as long as more of them come.
 */
static void
wait_look_heir(struct rl_core *core, struct rl_wait_flow *f, uint64_t now_ns)
{
	struct rl_fwd_hop hop;
	bool rerouted;

	if (core->still || core_pass_stays(core) || core_closed(f->head) ||
	    RL_PLANTED(ROOM_HEIR))
		return;
	core_set_plane(core, f->head);
	if (core_lookup(core, f->head, CORE_NO_PORT, &hop, &rerouted) ==
	    CORE_STRAND)
		return;
	rl_wait_later(core->wait, f);
	core_arm(core, now_ns);
}

/*
 * Why a packet without a path gives way to others. While new tables are
 * expected it may soon have one: a source with retry is then not told "no
 * path", and retries when its timer expires.
 */
static enum rl_drop_reason
wait_no_room(const struct rl_core *core, uint64_t now_ns)
{
	return core->still || core->passing || now_ns < core->await_ns
		       ? RL_DROP_NO_ROOM
		       : RL_DROP_NO_PATH;
}

/* Gives up the oldest packets without a path until @p flits are affordable. */
static bool
wait_afford(struct rl_core *core, uint32_t flits, uint64_t now_ns)
{
	struct rl_wait_flow *f;

	while (!rl_wait_affords(core->wait, flits)) {
		f = rl_wait_oldest(core->wait);
		if (f == NULL || flits > core->wait->p.budget_flits)
			return false;
		CORE_COUNT(core, evicted_packets);
		if (wait_give_up(core, f, wait_no_room(core, now_ns), now_ns))
			wait_look_heir(core, f, now_ns);
	}
	return true;
}

/* From now on the room's budget holds the packet. */
static void
wait_lend(struct rl_core *core, struct rl_flit *pkt)
{
	if (!RL_PLANTED(WAIT_CREDIT))
		core_free_credit(core, pkt);
	pkt->flags |= RL_FF_LENT;
	rl_wait_lend(core->wait, pkt->pkt_flits);
}

void
core_lend(struct rl_core *core, struct rl_flit *pkt)
{
	if (pkt->flags & RL_FF_CREDIT)
		wait_lend(core, pkt);
}

void
core_rest_lend(struct rl_core *core, struct rl_flit *pkt)
{
	if ((pkt->flags & RL_FF_CREDIT) &&
	    rl_wait_affords(core->wait, pkt->pkt_flits))
		wait_lend(core, pkt);
}

static void
wait_want_port(struct rl_core *core, uint16_t port)
{
	struct rl_port_shared *shared = core->port[port].shared;

	if (rl_shared_read(&shared->wanted) != 0)
		return;
	rl_shared_write(&shared->wanted, 1);
	core->freed |= 1ull << (port & 63); /* hosts poll it */
}

/*
 * Ends the damping of ports that could carry packets without a path [DRL-8]:
 * every dead port, not only those of the packet's list, since tables computed
 * while a link was out do not know it.
 */
static void
wait_want(struct rl_core *core)
{
	if (rl_likely(core->wants))
		return;
	core->wants = core->wanted = true;
	for (uint16_t i = 0; i < core->p.nports; i++)
		if (core->port[i].state == RL_EGRESS_DEAD)
			wait_want_port(core, i);
}

/* Every packet has a path again. */
static void
wait_want_none(struct rl_core *core)
{
	if (rl_wait_at(core->wait, RL_WAIT_NOWAY)->packets != 0)
		return;
	core->wants = false;
	if (rl_likely(!core->wanted))
		return;
	core->wanted = false;
	for (uint16_t i = 0; i < core->p.nports; i++)
		rl_shared_write(&core->port[i].shared->wanted, 0);
}

/*
 * A packet with a credit wants to wait. @return whether it may; otherwise it
 * has been disposed of
 */
static bool
wait_admit(struct rl_core *core, struct rl_flit *pkt, uint16_t place,
	   uint64_t now_ns)
{
	struct rl_wait *w = core->wait;
	bool joins, fits;

	if (rl_likely(rl_wait_affords(w, pkt->pkt_flits))) {
		wait_lend(core, pkt);
		return true;
	}
	if (pkt->in_port == RL_PORT_NONE)
		return true; /* it only holds up its own endpoint */
	joins = rl_wait_find(w, pkt) != NULL;
	fits = wait_afford(core, pkt->pkt_flits, now_ns);
	if (joins && rl_wait_find(w, pkt) == NULL) {
		/* the packet it was to join is gone: look up its own path */
		core_forward(core, pkt, CORE_NEW, CORE_NO_PORT, now_ns);
		return false;
	}
	if (fits) {
		wait_lend(core, pkt);
	} else if (place == RL_WAIT_NOWAY) {
		const enum rl_drop_reason why = wait_no_room(core, now_ns);

		CORE_COUNT(core, evicted_packets);
		CORE_COUNT_N(core, drop_no_path, why == RL_DROP_NO_PATH);
		core_drop(core, pkt, why, now_ns);
	}
	return fits || place != RL_WAIT_NOWAY;
}

/*
 * Whether a packet is a probe, or the answer to one, without a path while the
 * fabric, or a flow, is being quiesced. Its source waits for news of it; all
 * data ahead of it waits here, too, or has gone on.
 */
static bool
wait_probe(const struct rl_core *core, const struct rl_flit *pkt,
	   uint16_t place)
{
	return rl_unlikely(core->still) && place == RL_WAIT_NOWAY &&
	       pkt->class == RL_CLASS_CTRL && rl_flit_tag(pkt->wire) != 0 &&
	       !RL_PLANTED(ROOM_PROBE);
}

/*
 * Finds a queue of its own for a flow that has no packets here yet: if none is
 * free, gives up the flow that has been without a path for longest. In a shared
 * queue, packets with a path would wait behind packets without one.
 */
static void
wait_find_record(struct rl_core *core, const struct rl_flit *pkt,
		 uint64_t now_ns)
{
	struct rl_wait_flow *oldest;
	bool more;

	if (rl_likely(!rl_wait_is_full(core->wait)) ||
	    rl_wait_find(core->wait, pkt) != NULL)
		return;
	oldest = rl_wait_oldest(core->wait);
	for (more = oldest != NULL; more;) {
		CORE_COUNT(core, evicted_packets);
		more = wait_give_up(core, oldest,
				    wait_no_room(core, now_ns), now_ns);
	}
}

/*
 * Where packets for a port wait. A link that has yet to train may not do so for
 * long: in a quiesced fabric its packets wait as those without a path do, so
 * that all can come to rest.
 */
static uint16_t
wait_place(const struct rl_core *core, uint16_t port)
{
	if (rl_unlikely(core->still) && port != RL_WAIT_NOWAY &&
	    core->port[port].state == RL_EGRESS_TRAIN)
		return RL_WAIT_NOWAY;
	return port;
}

void
core_wait(struct rl_core *core, struct rl_flit *pkt, uint16_t place,
	  enum core_age age, uint64_t now_ns)
{
	place = wait_place(core, place);
	if (wait_probe(core, pkt, place)) {
		CORE_COUNT(core, drop_astray);
		core_drop(core, pkt, RL_DROP_ASTRAY, now_ns);
		return;
	}
	if (pkt->flags & RL_FF_CREDIT) {
		if (!wait_admit(core, pkt, place, now_ns))
			return;
	} else if (!(pkt->flags & RL_FF_LENT)) {
		wait_lend(core, pkt); /* it looped: it has no credit to keep */
	}
	wait_find_record(core, pkt, now_ns);
	core->kept += (pkt->flags & RL_FF_CREDIT) != 0;
	if (place == RL_WAIT_NOWAY) {
		CORE_COUNT(core, stranded_packets);
		wait_want(core);
	} else {
		CORE_COUNT(core, held_packets);
	}
	rl_wait_put(core->wait, pkt, place, age == CORE_OLD, now_ns);
	core_stream_wait(core, pkt);
	core_arm(core, rl_wait_due(core->wait));
}

/*
 * Whether a packet must not wait for a link to train [LINK-C3]. @p s is the
 * state of the egress that it would wait at; DEAD: none. Packets that are not
 * new have been accepted, here or by a link that died.
 */
static bool
core_init_discards(const struct rl_core *core, enum core_age age,
		   enum rl_egress_state s)
{
	return core->p.cfg->init_action == RL_INIT_DISCARD &&
	       age == CORE_NEW &&
	       (s == RL_EGRESS_TRAIN || s == RL_EGRESS_DEAD);
}

void
core_wait_or_drop(struct rl_core *core, struct rl_flit *pkt, uint16_t place,
		  enum core_age age, uint64_t now_ns)
{
	const enum rl_egress_state s = place == RL_WAIT_NOWAY
					       ? RL_EGRESS_DEAD
					       : core->port[place].state;

	if (core_init_discards(core, age, s)) {
		CORE_COUNT(core, drop_init);
		core_drop(core, pkt, RL_DROP_INIT, now_ns);
		return;
	}
	core_wait(core, pkt, place, age, now_ns);
}

/*
 * A flow has lost its expected path: packets that kept their credits return
 * them, going beyond the budget for a moment. @p f may be gone afterwards.
 * Looped packets may have exceeded the budget, too: that alone is no reason to
 * give anything up, as they take nothing from others.
 */
static void
wait_return_credits(struct rl_core *core, struct rl_wait_flow *f,
		    uint64_t now_ns)
{
	bool lent = false;

	if (rl_likely(core->kept == 0))
		return;
	for (struct rl_flit *pkt = f->head; pkt != NULL;
	     pkt = rl_wait_next_of(pkt)) {
		if (!(pkt->flags & RL_FF_CREDIT) ||
		    pkt->in_port == RL_PORT_NONE)
			continue;
		wait_lend(core, pkt);
		core->kept--;
		lent = true;
	}
	if (lent)
		wait_afford(core, 0, now_ns);
}

static void
wait_settle(struct rl_core *core, struct rl_wait_flow *f, uint16_t place,
	    uint64_t now_ns)
{
	const bool lost = place == RL_WAIT_NOWAY && f->place != place;

	if (place == RL_WAIT_NOWAY)
		wait_want(core);
	rl_wait_settle(core->wait, f, place, now_ns);
	if (lost) {
		CORE_COUNT_N(core, stranded_packets, f->packets);
		wait_return_credits(core, f, now_ns);
	}
}

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
		astray = astray || rl_fwd_lookup(fwd, i, pkt->dst)
					   .hop[0].port != RL_FWD_PORT_NONE;
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
	core_adapt(core, wait_pop(core, f, more));
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

	while (more && n < CORE_LOOKS_FLOW) {
		struct rl_fwd_hop hop = { .port = RL_FWD_PORT_NONE };
		struct rl_flit *pkt = f->head;
		enum core_verdict v = CORE_NO_PATH;
		bool rerouted = false;

		n++;
		if (wait_probe(core, pkt, f->place)) {
			more = f->packets > 1;
			wait_give_up(core, f, RL_DROP_ASTRAY, now_ns);
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
			wait_give_up(core, f, RL_DROP_ASTRAY, now_ns);
			continue;
		}
		if (v == CORE_HOLD || v == CORE_STRAND) {
			wait_settle(core, f,
				    v == CORE_HOLD ? wait_place(core, hop.port)
						   : RL_WAIT_NOWAY,
				    now_ns);
			return n;
		}
		if (v == CORE_NO_PATH) {
			more = f->packets > 1;
			wait_give_up(core, f, RL_DROP_NO_PATH, now_ns);
			continue;
		}
		pkt = wait_pop(core, f, &more);
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
	wait_want_none(core);
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
		wait_give_up(core, f,
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
	wait_want_none(core);
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
