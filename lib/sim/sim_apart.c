/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How long devices may run independently.
 *
 * Devices interact only through wires, and the effect of one device reaches
 * another no sooner than a frame takes. So, if nothing else can interfere, each
 * device may have all its turns within that time, a window, before the next
 * device has any. The result is the same as if all had advanced by single
 * nanoseconds. Devices that are independent can also run in parallel: each
 * thread has a part of them.
 *
 * What else can interfere:
 *
 * - Faults, notices and the controller have their times, and no window goes
 *   beyond the next of these.
 * - Events of roles reach the host after the window, in order of time
 *   (sim_told.c). That is soon enough for all but the controller, which must
 *   learn of a port at once. So with a controller there are windows only while
 *   the fabric is calm: no port can change its state by itself.
 * - A fault that waits for a frame acts on both ends of a link at once. Dozing
 *   links, and checks of both ends, also see more than wires. Then there are no
 *   windows, and devices have their turns in the order of their numbers.
 *
 * Frames for a device of another part wait in their wire (sim_dir.out) until
 * all parts have run. So do free frames that belong to another part. Flits do
 * not cross: a frame is a copy.
 */

#include <string.h>

#include "sim_priv.h"

/* Interval between checks of a fabric that is not calm. */
#define CALM_AGAIN_NS 1000

static enum rl_link_state
end_state(const struct rl_sim *s, const struct sim_end *end)
{
	const struct sim_role *r = &s->role[end->role];

	return s->dead[r->dev] ? RL_LINK_OFF : rl_port_state(r->rp->port);
}

/* States of a port that cannot come up while its link is dark. */
static bool
state_is_down(enum rl_link_state st)
{
	return st == RL_LINK_OFF || st == RL_LINK_INIT || st == RL_LINK_DAMPED;
}

/* Longest time of a frame from a turn of one port to one of its peer. */
static uint64_t
frame_ns(const struct rl_sim *s)
{
	return s->p.wire.latency_ns + s->p.tick_ns +
	       (s->backlog_ps + s->frame_ps) / 1000 + 1;
}

static bool
end_steady(const struct rl_sim *s, const struct sim_end *end)
{
	return rl_port_steady(s->role[end->role].rp->port, frame_ns(s));
}

/*
 * A stalled wire delays all frames, so that the peer may take the link for
 * dead.
 */
static bool
dir_stalls(const struct rl_sim *s, const struct sim_dir *d)
{
	return d->free_ps >
	       s->now_ns * 1000 + s->backlog_ps + s->frame_ps;
}

static bool
link_calm(const struct rl_sim *s, uint32_t link)
{
	const struct sim_dir *const d = &s->dir[2 * link];
	const struct sim_end *const end = &s->end[2 * link];
	const enum rl_link_state a = end_state(s, &end[0]);
	const enum rl_link_state b = end_state(s, &end[1]);

	if (a == RL_LINK_UP && b == RL_LINK_UP)
		return !d[0].odd && !d[1].odd && !dir_stalls(s, &d[0]) &&
		       !dir_stalls(s, &d[1]) &&
		       end_steady(s, &end[0]) && end_steady(s, &end[1]);
	return state_is_down(a) && state_is_down(b) &&
	       (d[0].dark || d[1].dark || a == RL_LINK_OFF ||
		b == RL_LINK_OFF);
}

static bool
apart_calm(struct rl_sim *s)
{
	if (s->calm || s->now_ns < s->calm_ns)
		return s->calm;
	s->calm = true;
	for (uint32_t l = 0; l < s->fabric.topo->nlink && s->calm; l++)
		s->calm = link_calm(s, l);
	s->calm_ns = s->now_ns + CALM_AGAIN_NS;
	return s->calm;
}

static uint64_t
apart_ns(struct rl_sim *s)
{
	if (!s->p.apart || s->p.doze || s->by_number ||
	    (s->ctl != NULL && !apart_calm(s)))
		return 1;
	/* a frame has at least one byte */
	return rl_min_u64(s->p.wire.latency_ns + 1,
			  rl_max_u64(s->p.notice_ns, 1));
}

static void
dir_arrive(struct rl_sim *s, struct sim_dir *d)
{
	while (d->out != NULL) {
		struct rl_sim_frame *const f = d->out;

		d->out = f->next;
		sim_dir_insert(s, d, f);
	}
}

/* After all parts have run: exchanges frames between them. */
static void
apart_meet(struct rl_sim *s)
{
	for (uint32_t i = 0; i < s->nparts; i++) {
		struct sim_part *const pt = &s->part[i];

		while (pt->out != NULL) {
			struct sim_dir *const d = pt->out;

			pt->out = d->next_out;
			dir_arrive(s, d);
		}
		while (pt->back != NULL) {
			struct rl_sim_frame *const f = pt->back;

			pt->back = f->next;
			sim_frame_free(s, f);
		}
	}
	s->flits_peak = rl_max_u64(s->flits_peak, sim_flits_used(s));
	sim_told_flush(s);
}

void
sim_apart_run(struct rl_sim *s, uint64_t until_ns, uint64_t next_ns)
{
	uint64_t end_ns = rl_min_u64(rl_max_u64(next_ns, s->now_ns + 1),
				     until_ns);

	s->by_number = s->triggers != 0 || s->p.check_packets ||
		       s->p.drop != NULL;
	end_ns = rl_min_u64(rl_deadline(s->now_ns, apart_ns(s)), end_ns);
	/* all three give the same result */
	if (s->by_number)
		sim_turn_run_by_number(s, end_ns);
	else if (s->gang != NULL && end_ns - s->now_ns > 1)
		sim_gang_run(s->gang, end_ns);
	else
		for (uint32_t i = 0; i < s->nparts; i++)
			sim_turn_run(&s->part[i], end_ns);
	sim_time(s, end_ns - 1); /* all have got this far */
	apart_meet(s);
}
