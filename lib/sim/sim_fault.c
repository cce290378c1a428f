/* SPDX-License-Identifier: BSD-3-Clause */

/* Faults as they happen. */

#include <errno.h>
#include <stdlib.h>

#include "sim_priv.h"

/* Frames that lingered arrive within so long after the heal. */
#define LATE_NS (200 * RL_NS_PER_US)

static void
drop_list(struct rl_sim *s, struct rl_sim_frame **list)
{
	while (*list != NULL) {
		struct rl_sim_frame *f = *list;

		*list = f->next;
		sim_frame_put(s->mem, f);
		s->st.frames_lost++;
	}
}

/* What is under way when the wire goes dark. */
static void
cut_flight(struct rl_sim *s, struct sim_dir *d, enum rl_sim_flight how)
{
	struct rl_sim_frame *list = d->head;

	if (how == RL_SIM_FLIGHT_ARRIVE)
		return;
	d->head = d->tail = NULL;
	while (how == RL_SIM_FLIGHT_LATE && list != NULL) {
		struct rl_sim_frame *f = list;

		list = f->next;
		if (rl_prng_below(&d->prng, 2) == 0) {
			sim_frame_put(s->mem, f);
			s->st.frames_lost++;
			continue;
		}
		f->next = d->late;
		d->late = f;
		s->st.frames_late++;
	}
	drop_list(s, &list);
}

static void
fault_cut(struct rl_sim *s, const struct rl_sim_fault *f, unsigned int dir)
{
	struct sim_dir *d = &s->dir[dir];

	d->dark = true;
	cut_flight(s, d, f->flight);
	if (!f->silent) {
		/* the receiving end sees no light */
		s->end[dir ^ 1].phy_up = false;
	}
	sim_wake_at(s, s->end[dir ^ 1].role, s->now_ns);
	sim_wake_at(s, s->end[dir].role, s->now_ns);
}

static void
fault_heal(struct rl_sim *s, unsigned int dir)
{
	struct sim_dir *d = &s->dir[dir];

	d->dark = false;
	d->noise = (struct rl_sim_noise){ 0 };
	d->drop_left = 0;
	d->trigger = NULL;
	/* a stall ends, and what it held back goes first */
	if (d->free_ps > s->now_ns * 1000)
		d->free_ps = s->now_ns * 1000;
	for (struct rl_sim_frame *f = d->head; f != NULL; f = f->next)
		f->at_ns = rl_min_u64(f->at_ns,
				      s->now_ns + s->p.wire.latency_ns);
	while (d->late != NULL) {
		struct rl_sim_frame *f = d->late;

		d->late = f->next;
		f->at_ns = s->now_ns + rl_prng_range(&d->prng, 0, LATE_NS);
		sim_dir_insert(s, d, f);
	}
	s->end[dir ^ 1].phy_up = true;
	sim_wake_at(s, s->end[dir ^ 1].role, s->now_ns);
	sim_wake_at(s, s->end[dir].role, s->now_ns);
}

/* Nothing moves until then, also what is under way. */
static void
fault_stall(struct rl_sim *s, const struct rl_sim_fault *f, unsigned int dir)
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
fault_arm(struct rl_sim *s, const struct rl_sim_fault *f, unsigned int dir)
{
	struct sim_trigger *t = sim_alloc(s->mem, sizeof(*t));

	RL_ASSERT(t != NULL);
	t->fault = *f;
	t->left = f->nth;
	t->next = s->dir[dir].trigger;
	s->dir[dir].trigger = t;
	sim_dir_update(&s->dir[dir]);
}

/* A fault whose time has come, in one direction. */
static void
fault_dir(struct rl_sim *s, const struct rl_sim_fault *f, unsigned int dir)
{
	struct sim_dir *d = &s->dir[dir];

	if (f->kind != RL_SIM_HEAL && f->kind != RL_SIM_UP)
		s->fault_ns[f->link] = s->now_ns;
	switch (f->kind) {
	case RL_SIM_CUT:
		fault_cut(s, f, dir);
		break;
	case RL_SIM_HEAL:
		fault_heal(s, dir);
		break;
	case RL_SIM_STALL:
		fault_stall(s, f, dir);
		break;
	case RL_SIM_NOISE:
		d->noise = f->noise;
		s->soft |= f->noise.soft_ppb != 0;
		break;
	case RL_SIM_DROP:
		d->drop_left = f->count == 0 ? 1 : f->count;
		break;
	case RL_SIM_DOWN:
	case RL_SIM_DRAIN:
	case RL_SIM_UP:
		rl_role_port_order(s->role[s->end[dir].role].rp,
				   f->kind == RL_SIM_DOWN ? RL_ORDER_DOWN
				   : f->kind == RL_SIM_UP ? RL_ORDER_UP
							  : RL_ORDER_DRAIN);
		sim_wake_at(s, s->end[dir].role, s->now_ns);
		break;
	case RL_SIM_FAULT_KINDS:
		RL_ASSERT(false);
	}
	sim_dir_update(d);
}

static void
fault_now(struct rl_sim *s, const struct rl_sim_fault *f)
{
	for (unsigned int i = 0; i < 2; i++)
		if (f->dirs & 1u << i)
			fault_dir(s, f, 2 * f->link + i);
}

void
sim_fault_fire(struct rl_sim *s, const struct rl_sim_fault *f, unsigned int dir)
{
	if (f->kind == RL_SIM_CUT)
		fault_now(s, f);
	else
		fault_dir(s, f, dir);
}

void
sim_fault_apply(struct rl_sim *s, const struct rl_sim_fault *f)
{
	if (f->nth == 0) {
		fault_now(s, f);
		return;
	}
	switch (f->kind) {
	case RL_SIM_CUT:
		fault_arm(s, f, 2 * f->link + f->counts);
		return;
	case RL_SIM_DROP:
		for (unsigned int i = 0; i < 2; i++)
			if (f->dirs & 1u << i)
				fault_arm(s, f, 2 * f->link + i);
		return;
	case RL_SIM_HEAL:
	case RL_SIM_STALL:
	case RL_SIM_NOISE:
	case RL_SIM_DOWN:
	case RL_SIM_DRAIN:
	case RL_SIM_UP:
	case RL_SIM_FAULT_KINDS:
		fault_now(s, f);
		return;
	}
}

void
rl_sim_heal_all(struct rl_sim *sim)
{
	for (unsigned int dir = 0; dir < 2 * sim->fabric.topo->nlink; dir++) {
		struct rl_role_port *rp = sim->role[sim->end[dir].role].rp;

		fault_heal(sim, dir);
		sim_dir_update(&sim->dir[dir]);
		rl_role_port_order(rp, RL_ORDER_UP);
	}
	sim->next_fault = sim->todo.n;
}

int
rl_sim_schedule(struct rl_sim *sim, const struct rl_sim_faults *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		RL_ASSERT(list->f[i].link < sim->fabric.topo->nlink);
		if (rl_sim_fault_add(&sim->todo, &list->f[i]) != 0)
			return -ENOMEM;
	}
	return 0;
}
