/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Into the waiting room, and given up there. core_look.c leads out of it, and
 * wait.c explains how it works.
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

/* The only way out of the room, except for packets released with it. */
struct rl_flit *
core_wait_pop(struct rl_core *core, struct rl_wait_flow *f, bool *more)
{
	struct rl_flit *pkt = rl_wait_pop(core->wait, f, more);

	core->kept -= (pkt->flags & RL_FF_CREDIT) != 0;
	return pkt;
}

/* Gives up the oldest packet of a flow. @return whether more of it waits */
bool
core_wait_give_up(struct rl_core *core, struct rl_wait_flow *f,
		  enum rl_drop_reason why, uint64_t now_ns)
{
	bool more;
	struct rl_flit *pkt = core_wait_pop(core, f, &more);

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
		if (core_wait_give_up(core, f, wait_no_room(core, now_ns),
				      now_ns))
			wait_look_heir(core, f, now_ns);
	}
	return true;
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
void
core_wait_want_none(struct rl_core *core)
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

enum wait_verdict {
	WAIT_IN,
	WAIT_ALONE, /* the packets that it was to join are gone */
	WAIT_OUT,   /* it was dropped */
};

/* A packet with a credit wants to wait. */
static enum wait_verdict
wait_admit(struct rl_core *core, struct rl_flit *pkt, uint16_t place,
	   uint64_t now_ns)
{
	struct rl_wait *w = core->wait;
	bool joins, fits;

	if (rl_likely(rl_wait_affords(w, pkt->pkt_flits))) {
		core_charge(core, pkt);
		return WAIT_IN;
	}
	if (pkt->in_port == RL_PORT_NONE)
		return WAIT_IN; /* it only holds up its own endpoint */
	joins = rl_wait_find(w, pkt) != NULL;
	fits = wait_afford(core, pkt->pkt_flits, now_ns);
	if (joins && rl_wait_find(w, pkt) == NULL)
		return WAIT_ALONE;
	if (fits) {
		core_charge(core, pkt);
	} else if (place == RL_WAIT_NOWAY) {
		const enum rl_drop_reason why = wait_no_room(core, now_ns);

		CORE_COUNT(core, evicted_packets);
		CORE_COUNT_N(core, drop_no_path, why == RL_DROP_NO_PATH);
		core_drop(core, pkt, why, now_ns);
		return WAIT_OUT;
	}
	return WAIT_IN;
}

/*
 * Whether a packet is a probe, or the answer to one, without a path while the
 * fabric, or a flow, is being quiesced. Its source waits for news of it; all
 * data ahead of it waits here, too, or has gone on.
 */
bool
core_wait_probe(const struct rl_core *core, const struct rl_flit *pkt,
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
		more = core_wait_give_up(core, oldest,
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

bool
core_wait(struct rl_core *core, struct rl_flit *pkt, uint16_t place,
	  enum core_age age, uint64_t now_ns)
{
	enum wait_verdict v;

	place = wait_place(core, place);
	if (core_wait_probe(core, pkt, place)) {
		CORE_COUNT(core, drop_astray);
		core_drop(core, pkt, RL_DROP_ASTRAY, now_ns);
		return true;
	}
	if (pkt->flags & RL_FF_CREDIT) {
		v = wait_admit(core, pkt, place, now_ns);
		if (rl_unlikely(v != WAIT_IN))
			return v == WAIT_OUT;
	} else if (!(pkt->flags & RL_FF_LENT)) {
		/* it looped: it has no credit to keep */
		core_charge(core, pkt);
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
	return true;
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

bool
core_wait_or_drop(struct rl_core *core, struct rl_flit *pkt, uint16_t place,
		  enum core_age age, uint64_t now_ns)
{
	const enum rl_egress_state s = place == RL_WAIT_NOWAY
					       ? RL_EGRESS_DEAD
					       : core->port[place].state;

	if (core_init_discards(core, age, s)) {
		CORE_COUNT(core, drop_init);
		core_drop(core, pkt, RL_DROP_INIT, now_ns);
		return true;
	}
	return core_wait(core, pkt, place, age, now_ns);
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
		core_charge(core, pkt);
		core->kept--;
		lent = true;
	}
	if (lent)
		wait_afford(core, 0, now_ns);
}

void
core_wait_settle(struct rl_core *core, struct rl_wait_flow *f, uint16_t place,
		 uint64_t now_ns)
{
	bool lost;

	place = wait_place(core, place);
	lost = place == RL_WAIT_NOWAY && f->place != place;
	if (place == RL_WAIT_NOWAY)
		wait_want(core);
	rl_wait_settle(core->wait, f, place, now_ns);
	if (lost) {
		CORE_COUNT_N(core, stranded_packets, f->packets);
		wait_return_credits(core, f, now_ns);
	}
}
