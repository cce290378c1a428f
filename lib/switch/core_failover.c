/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a core does when a port's link dies and returns.
 *
 *   TRAIN --LINK_UP--> ALIVE --LOOP_BEGIN--> DRAIN --LOOP_END--> DELAY
 *     |                  ^ ^                                       |  |
 *     | bound            | +---------- fences answered             |  | delay
 *     v                  |             and delay over              |  v
 *    DEAD --LINK_UP--> RESTORE <-------------LINK_UP---------------+ DEAD
 *
 * DRAIN  Looped packets go on at once by the next hop after the dead port; new
 *        ones for it wait. Packets still queued here for the port are younger
 *        than looped ones and older than new ones, and wait in that order.
 * DELAY  The programmable delay: the last packets of the dead link may still be
 *        on their way through the neighbour.
 * DEAD   Held traffic has gone on; all traffic is rerouted.
 * RESTORE  The link is back. Rerouted packets must be across before any packet
 *        takes the short path: a fence through every other egress comes
 *        back when the neighbour has acknowledged all before it; then the
 *        restore delay covers the rest of the path. Meanwhile traffic for the
 *        port is held.
 *        An egress that dies meanwhile answers no fence: its packets come
 *        back and are rerouted. So a restore waits until it has drained and
 *        its held packets have gone on, and then sends new fences.
 *
 * LEAVE  A planned removal: ALIVE or RESTORE -> LEAVE -> DRAIN. New traffic is
 *        held as in a drain, but the port still sends what it has; when it has
 *        run empty, its link is taken down by command, and nothing loops.
 *
 * All of this affects only traffic for that port; the rest flows [DRL-4].
 */

#include "core_priv.h"

/* The only function that writes an egress's state. */
static void
core_set_state(struct rl_core *core, uint16_t port, enum rl_egress_state to)
{
	struct core_port *cp = &core->port[port];
	bool legal = false;

	switch ((enum rl_egress_state)cp->state) {
	case RL_EGRESS_TRAIN:
		legal = to == RL_EGRESS_ALIVE || to == RL_EGRESS_DEAD;
		break;
	case RL_EGRESS_ALIVE:
		legal = to == RL_EGRESS_DRAIN || to == RL_EGRESS_LEAVE;
		break;
	case RL_EGRESS_LEAVE:
		legal = to == RL_EGRESS_DRAIN;
		break;
	case RL_EGRESS_DRAIN:
		legal = to == RL_EGRESS_DELAY;
		break;
	case RL_EGRESS_DELAY:
		legal = to == RL_EGRESS_DEAD || to == RL_EGRESS_RESTORE;
		break;
	case RL_EGRESS_DEAD:
		legal = to == RL_EGRESS_RESTORE;
		break;
	case RL_EGRESS_RESTORE:
		legal = to == RL_EGRESS_ALIVE || to == RL_EGRESS_DRAIN ||
			to == RL_EGRESS_LEAVE;
		break;
	}
	RL_ASSERT(legal);
	core->unsettled -= core_holds(cp->state);
	core->unsettled += core_holds(to);
	core->wants &= to != RL_EGRESS_DEAD; /* a dead port is not told yet */
	core->ways++;
	/* relaxed: readers on other threads depend on no other data */
	atomic_store_explicit(&cp->state, to, memory_order_relaxed);
	cp->due_ns = RL_NEVER;
	cp->bound_ns = RL_NEVER;
}

/* Looks up the packets that wait for an egress again. @return packets */
static uint32_t
core_release(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	const uint32_t n = rl_wait_at(core->wait, port)->packets;

	rl_wait_look_place(core->wait, port);
	core_arm(core, now_ns);
	return n;
}

static void
core_alive(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	core_set_state(core, port, RL_EGRESS_ALIVE);
	core_release(core, port, now_ns);
}

static void
core_link_up(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	struct core_port *cp = &core->port[port];

	if (cp->state == RL_EGRESS_TRAIN) {
		core_alive(core, port, now_ns);
		return;
	}
	RL_ASSERT(cp->state == RL_EGRESS_DEAD || cp->state == RL_EGRESS_DELAY);
	core_set_state(core, port, RL_EGRESS_RESTORE);
	/* New packets now queue here: look up all that wait elsewhere. */
	if (!RL_PLANTED(WAIT_FORGOTTEN))
		rl_wait_look_all(core->wait);
	/*
	 * Beyond the waiting room's budget, held packets fill buffers upstream,
	 * and two switches that restore at once can block each other's fences.
	 * Packets out of order, which endpoints mend, are better than waiting
	 * for the watchdog.
	 */
	cp->bound_ns = rl_deadline(now_ns, core->p.cfg->watchdog_ns /
						   CORE_RESTORE_SHARE);
	core_fence_again(core, now_ns); /* also its own restore */
	if (RL_PLANTED(REORDER_RESTORE))
		core_alive(core, port, now_ns);
}

/* Packets queued here for a port wait from now on, ahead of new ones. */
static void
core_hold_queued(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	struct core_port *cp = &core->port[port];
	uint32_t n = 0;

	cp->fence_done = cp->fence_want; /* no restore waits for this port */
	cp->qmask = 0;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		struct rl_pktq queued = cp->q[vc];
		struct rl_flit *pkt;

		core_fair_level(core, cp, vc);
		n += queued.packets;
		cp->q[vc] = (struct rl_pktq){ 0 };
		while ((pkt = rl_pktq_pop(&queued)) != NULL) {
			core_set_plane(core, pkt);
			core_forward(core, pkt, CORE_OLD, CORE_NO_PORT, now_ns);
		}
		cp->qmask |= (uint32_t)cp->begun[vc].on << vc;
	}
	core_pass_leave(core, port, now_ns);
	core_event(core, RL_CEV_HOLD, port, n, now_ns);
}

/*
 * Planned removal of a link: new packets wait for another path until it has run
 * empty; packets that have begun to leave finish there.
 */
static void
core_link_drain(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	struct core_port *cp = &core->port[port];

	core_set_state(core, port, RL_EGRESS_LEAVE);
	cp->left = false;
	core_hold_queued(core, port, now_ns);
}

static void
core_loop_begin(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	struct core_port *cp = &core->port[port];
	const bool left = cp->state == RL_EGRESS_LEAVE && cp->left;

	if (!left) /* else it ran empty, as planned, unless packets loop */
		CORE_COUNT(core, failovers);
	cp->left = left;
	core_set_state(core, port, RL_EGRESS_DRAIN);
	cp->loop_fence_owed = !left;
	core_hold_queued(core, port, now_ns);
	cp->qmask = 0; /* the rest of a begun packet loops back, too */
	core_rests_wait(core, port);
	if (RL_PLANTED(RESUME_BEFORE_DRAIN)) {
		cp->state = RL_EGRESS_DEAD;
		core_release(core, port, now_ns);
		core_look(core, now_ns);
		cp->state = RL_EGRESS_DRAIN;
	}
}

static void
core_mark(struct rl_core *core, uint16_t port, enum rl_pipe_mark mark,
	  uint64_t now_ns)
{
	struct core_port *cp = &core->port[port];

	switch (mark) {
	case RL_MARK_LINK_UP:
		core_link_up(core, port, now_ns);
		return;
	case RL_MARK_LOOP_BEGIN:
		core_loop_begin(core, port, now_ns);
		return;
	case RL_MARK_LINK_DRAIN:
		core_link_drain(core, port, now_ns);
		return;
	case RL_MARK_LOOP_END:
		core_begun_abort(core, port, now_ns);
		core_set_state(core, port, RL_EGRESS_DELAY);
		core_set_due(core, cp,
			     rl_deadline(now_ns, core->p.cfg->resume_delay_ns));
		return;
	case RL_MARK_FENCE_DONE:
		cp->fence_out = false;
		if (rl_seq_before(cp->fence_done, cp->fence_sent))
			cp->fence_done = cp->fence_sent; /* else it died since */
		core_arm(core, now_ns);
		return;
	case RL_MARK_NONE:
	case RL_MARK_LOOP_FENCE:
	case RL_MARK_FENCE:
		RL_ASSERT(false);
	}
}

void
rl_core_loop(struct rl_core *core, uint16_t port, struct rl_flit *const items[],
	   unsigned int n, uint64_t now_ns)
{
	for (unsigned int i = 0; i < n; i++) {
		const enum rl_pipe_mark mark = rl_pipe_is_mark(items[i]);

		if (mark != RL_MARK_NONE) {
			core_mark(core, port, mark, now_ns);
			continue;
		}
		CORE_COUNT(core, looped_packets);
		if (rl_unlikely(core->port[port].left)) {
			core->port[port].left = false;
			CORE_COUNT(core, failovers);
		}
		if (core->stream != NULL && !rl_packet_ends(items[i]))
			core_looped_open(core, port, items[i]);
		if (rl_unlikely(core_closed(items[i]))) {
			core_excise(core, items[i]);
			continue;
		}
		core_set_plane(core, items[i]);
		core_forward(core, items[i], CORE_OLD, port, now_ns);
	}
	core_look(core, now_ns);
	core_arm(core, rl_wait_due(core->wait));
}

static void
core_restore_tick(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	struct core_port *cp = &core->port[port];

	if (now_ns >= cp->bound_ns) {
		CORE_COUNT(core, restore_timeouts);
	} else if ((core_drains(core) || core->fence_owed) &&
		   !RL_PLANTED(FENCE_DEAD)) {
		cp->due_ns = RL_NEVER; /* fenced again once rerouted */
		return;
	} else if (cp->fence_gen != 0) {
		if (!core_fences_done(core, cp->fence_gen))
			return;
		cp->fence_gen = 0; /* fences crossed: start the restore delay */
		core_set_due(
			core, cp,
			rl_deadline(now_ns, core->p.cfg->restore_delay_ns));
		return;
	} else if (now_ns < cp->due_ns) {
		return;
	}
	CORE_COUNT(core, restores);
	core_event(core, RL_CEV_RESTORE, port,
		   rl_wait_at(core->wait, port)->packets, now_ns);
	core_alive(core, port, now_ns);
}

static void
core_port_tick(struct rl_core *core, uint16_t port, uint64_t now_ns)
{
	struct core_port *cp = &core->port[port];

	switch ((enum rl_egress_state)cp->state) {
	case RL_EGRESS_TRAIN:
		if (cp->bound_ns == RL_NEVER)
			cp->bound_ns =
				rl_deadline(now_ns, core->p.cfg->watchdog_ns);
		if (now_ns >= cp->bound_ns) {
			core_set_state(core, port, RL_EGRESS_DEAD);
			core_release(core, port, now_ns);
			core_fence_again(core, now_ns);
		}
		return;
	case RL_EGRESS_DELAY:
		if (now_ns < cp->due_ns)
			return;
		core_set_state(core, port, RL_EGRESS_DEAD);
		core_event(core, RL_CEV_RESUME, port,
			   core_release(core, port, now_ns), now_ns);
		if (!RL_PLANTED(FENCE_DEAD))
			core_fence_again(core, now_ns);
		return;
	case RL_EGRESS_RESTORE:
		core_restore_tick(core, port, now_ns);
		return;
	case RL_EGRESS_ALIVE:
	case RL_EGRESS_LEAVE:
	case RL_EGRESS_DRAIN:
	case RL_EGRESS_DEAD:
		return;
	}
}

void
rl_core_tick(struct rl_core *core, uint64_t now_ns)
{
	if (now_ns < core->next_due_ns)
		return;
	if (rl_unlikely(!core->begun)) {
		/* best effort: links may still train for the first time */
		core->begun = true;
		if (core->p.cfg->init_action == RL_INIT_BEST_EFFORT)
			rl_core_await_routes(
				core,
				rl_deadline(now_ns, core->p.cfg->watchdog_ns));
	}
	for (uint16_t i = 0; i < core->p.nports; i++)
		core_port_tick(core, i, now_ns);
	core->next_due_ns = RL_NEVER;
	core_pass_tick(core, now_ns);
	if (rl_unlikely(core->adapt_again_ns <= now_ns)) {
		core->adapt_again_ns = RL_NEVER;
		rl_wait_look_place(core->wait, RL_WAIT_NOWAY);
	}
	core_look(core, now_ns);
	core_watchdog(core, now_ns);
	core_arm(core, rl_wait_due(core->wait));
	core_arm(core, core->adapt_again_ns);
	for (uint16_t i = 0; i < core->p.nports; i++) {
		const struct core_port *cp = &core->port[i];

		/* answers wake a restore that waits for fences */
		core_arm(core, cp->bound_ns);
		if (cp->state != RL_EGRESS_RESTORE || cp->fence_gen == 0)
			core_arm(core, cp->due_ns);
	}
}

uint64_t
rl_core_deadline(const struct rl_core *core)
{
	return core->next_due_ns;
}
