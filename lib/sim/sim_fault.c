/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include "sim_priv.h"

/* Late frames arrive within this time after the heal. */
#define LATE_NS (200 * RL_NS_PER_US)

static void
fault_cut(struct rl_sim *s, const struct rl_fault *f, unsigned int dir)
{
	sim_dir_darken(s, dir, SIM_DARK_FAULT, f->flight, f->silent);
}

static void
fault_heal(struct rl_sim *s, unsigned int dir)
{
	struct sim_dir *d = &s->dir[dir];

	rl_wire_clear(&d->wire);
	for (; d->trigger != NULL; d->trigger = d->trigger->next)
		s->triggers--;
	/* a stall ends, and frames that it delayed go first */
	if (d->free_ps > s->now_ns * 1000)
		d->free_ps = s->now_ns * 1000;
	for (struct rl_sim_frame *f = d->head; f != NULL; f = f->next)
		f->at_ns = rl_min_u64(f->at_ns,
				      s->now_ns + s->p.wire.latency_ns);
	while (d->late != NULL) {
		struct rl_sim_frame *f = d->late;

		d->late = f->next;
		f->at_ns = s->now_ns + rl_prng_range(&d->wire.prng, 0, LATE_NS);
		sim_dir_insert(s, d, f);
	}
	sim_dir_lighten(s, dir, SIM_DARK_FAULT);
}

/*
 * Delays everything until the end of the stall, including frames on the wire.
 */
static void
fault_stall(struct rl_sim *s, const struct rl_fault *f, unsigned int dir)
{
	struct sim_dir *d = &s->dir[dir];
	const uint64_t end_ns = s->now_ns + f->for_ns;

	if (d->free_ps < end_ns * 1000)
		d->free_ps = end_ns * 1000;
	for (struct rl_sim_frame *w = d->head; w != NULL; w = w->next)
		if (w->at_ns < end_ns)
			w->at_ns = end_ns;
}

static void
fault_arm(struct rl_sim *s, const struct rl_fault *f, unsigned int dir)
{
	struct sim_trigger *t = sim_alloc(s->mem, sizeof(*t));

	RL_ASSERT(t != NULL);
	t->fault = *f;
	t->left = f->nth;
	t->next = s->dir[dir].trigger;
	s->dir[dir].trigger = t;
	s->triggers++;
	sim_dir_update(&s->dir[dir]);
}

static void
fault_dir(struct rl_sim *s, const struct rl_fault *f, unsigned int dir)
{
	struct sim_dir *d = &s->dir[dir];

	if (f->kind != RL_FAULT_HEAL && f->kind != RL_FAULT_UP)
		s->fault_ns[f->link] = s->now_ns;
	switch (f->kind) {
	case RL_FAULT_CUT:
		fault_cut(s, f, dir);
		break;
	case RL_FAULT_HEAL:
		fault_heal(s, dir);
		break;
	case RL_FAULT_STALL:
		fault_stall(s, f, dir);
		break;
	case RL_FAULT_NOISE:
		rl_wire_noise(&d->wire, &f->noise);
		s->soft |= (f->noise.soft_ppb | f->noise.poison_ppb) != 0;
		break;
	case RL_FAULT_DROP:
		d->wire.drop_left = f->count == 0 ? 1 : f->count;
		break;
	case RL_FAULT_CORRUPT:
		d->wire.corrupt_bytes = f->noise.burst_bytes == 0
						? 8
						: f->noise.burst_bytes;
		break;
	case RL_FAULT_DOWN:
	case RL_FAULT_DRAIN:
	case RL_FAULT_UP:
		rl_role_port_order(s->role[s->end[dir].role].rp,
				   f->kind == RL_FAULT_DOWN ? RL_ORDER_DOWN
				   : f->kind == RL_FAULT_UP ? RL_ORDER_UP
							  : RL_ORDER_DRAIN);
		sim_wake_at(s, s->end[dir].role, s->now_ns);
		s->down[f->link] = f->kind != RL_FAULT_UP;
		s->reach.stale = true;
		break;
	default: /* of no wire: fault_device() */
		RL_ASSERT(false);
	}
	sim_dir_update(d);
	sim_doze_disturb(s, dir);
}

static void
fault_now(struct rl_sim *s, const struct rl_fault *f)
{
	for (unsigned int i = 0; i < 2; i++)
		if (f->dirs & 1u << i)
			fault_dir(s, f, 2 * f->link + i);
}

void
sim_fault_fire(struct rl_sim *s, const struct rl_fault *f, unsigned int dir)
{
	s->triggers--;
	sim_apart_disturb(s);
	if (f->kind == RL_FAULT_CUT)
		fault_now(s, f);
	else
		fault_dir(s, f, dir);
}

/* Without a controller, a removed link drains and goes down. */
static void
fault_planned(struct rl_sim *s, const struct rl_fault *f)
{
	const struct rl_topo_dev *td = &s->fabric.topo->dev[f->dev];
	struct rl_fault one = *f;

	s->reach.stale = true;
	if (f->is_dev)
		for (uint16_t p = 0; p < td->nports; p++)
			s->down[td->port[p].link] = f->kind == RL_FAULT_REMOVE;
	else
		s->down[f->link] = f->kind == RL_FAULT_REMOVE;
	if (sim_ctl_planned(s, f))
		return;
	one.kind = f->kind == RL_FAULT_REMOVE ? RL_FAULT_DRAIN : RL_FAULT_UP;
	if (!f->is_dev) {
		fault_now(s, &one);
		return;
	}
	for (uint16_t p = 0; p < td->nports; p++) {
		one.link = td->port[p].link;
		fault_now(s, &one);
	}
}

/* Faults of a device or of the controller. @return whether it was one */
static bool
fault_device(struct rl_sim *s, const struct rl_fault *f)
{
	switch (f->kind) {
	case RL_FAULT_CRASH:
		sim_dev_crash(s, f->dev);
		return true;
	case RL_FAULT_RESTART:
		sim_dev_restart(s, f->dev);
		return true;
	case RL_FAULT_REMOVE:
	case RL_FAULT_ADD:
		fault_planned(s, f);
		return true;
	case RL_FAULT_SOFT:
	case RL_FAULT_POISON:
	case RL_FAULT_BLOCK:
	case RL_FAULT_UNBLOCK:
		rl_role_core_fault(&s->fabric.dev[f->dev].core, f);
		sim_wake_at(s, s->dev_role[f->dev], s->now_ns);
		return true;
	case RL_FAULT_CTL_CRASH:
		sim_ctl_crash(s);
		return true;
	case RL_FAULT_CTL_RESTART:
		sim_ctl_restart(s);
		return true;
	case RL_FAULT_LATE:
	case RL_FAULT_CTL_LATE:
		sim_ctl_late(s, f);
		return true;
	default: /* of a wire */
		return false;
	}
}

void
sim_fault_apply(struct rl_sim *s, const struct rl_fault *f)
{
	sim_apart_disturb(s);
	if (fault_device(s, f))
		return;
	if (f->nth == 0)
		fault_now(s, f);
	else if (f->kind == RL_FAULT_CUT)
		fault_arm(s, f, 2 * f->link + f->counts);
	else /* DROP, CORRUPT: each direction by itself */
		for (unsigned int i = 0; i < 2; i++)
			if (f->dirs & 1u << i)
				fault_arm(s, f, 2 * f->link + i);
}

/* Marks lasting faults: dead links, crashed devices, removals. */
static void
mark_lasting(const struct rl_sim *s, bool *link, bool *dev)
{
	for (uint32_t i = 0; i < s->todo.n; i++) {
		const struct rl_fault *f = &s->todo.f[i];

		if (f->t_ns > s->now_ns)
			continue;
		if (f->kind == RL_FAULT_HEAL) /* the fault has ended */
			link[f->link] = false;
		if (!f->lasting)
			continue;
		if (f->kind == RL_FAULT_CRASH)
			dev[f->dev] = true;
		else
			link[f->link] = true;
	}
}

int
rl_sim_heal_most(struct rl_sim *sim)
{
	const struct rl_topo *topo = sim->fabric.topo;
	bool *link = sim_alloc(sim->mem, topo->nlink + 1);
	bool *dev = sim_alloc(sim->mem, topo->ndev);

	if (link == NULL || dev == NULL)
		return -ENOMEM;
	sim_apart_disturb(sim);
	mark_lasting(sim, link, dev);
	sim->next_fault = sim->todo.n;
	for (uint32_t d = 0; d < topo->ndev; d++) {
		struct rl_role_core *core = &sim->fabric.dev[d].core;

		rl_role_core_soft(core, 0);
		rl_role_core_poison(core, 0);
		rl_role_core_hold(core, 0);
		if (sim->dead[d] && !dev[d])
			sim_dev_restart(sim, d);
	}
	for (unsigned int dir = 0; dir < 2 * topo->nlink; dir++) {
		struct rl_role_port *rp = sim->role[sim->end[dir].role].rp;

		if (!link[dir / 2]) {
			fault_heal(sim, dir);
			sim->down[dir / 2] = false;
			sim_dir_update(&sim->dir[dir]);
		} else if (sim->down[dir / 2]) {
			continue;
		}
		/* a port that waits for tables is not down by command */
		if (sim_link_crashed(sim, dir / 2))
			continue;
		rl_role_port_order(rp, RL_ORDER_UP);
		sim_wake_at(sim, sim->end[dir].role, sim->now_ns);
	}
	sim_ctl_heal(sim); /* first: orders to one that is dead are lost */
	for (uint32_t i = 0; i < sim->todo.n; i++) {
		struct rl_fault f = sim->todo.f[i];

		if (f.kind != RL_FAULT_REMOVE || f.t_ns > sim->now_ns)
			continue;
		f.kind = RL_FAULT_ADD;
		fault_planned(sim, &f);
	}
	return 0;
}

void
rl_sim_heal_all(struct rl_sim *sim)
{
	for (uint32_t i = 0; i < sim->todo.n; i++)
		sim->todo.f[i].lasting = false;
	rl_sim_heal_most(sim);
}

int
rl_sim_schedule(struct rl_sim *sim, const struct rl_sim_faults *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		RL_ASSERT(list->f[i].link < sim->fabric.topo->nlink &&
			  list->f[i].dev < sim->fabric.ndev);
		if (rl_sim_fault_add(&sim->todo, &list->f[i]) != 0)
			return -ENOMEM;
	}
	return 0;
}
