/* SPDX-License-Identifier: BSD-3-Clause */

/* A direction of a wire: the frames on it, and whether it is dark. */

#include "sim_priv.h"

void
sim_dir_update(struct sim_dir *d)
{
	d->odd = d->tapped || d->dark || d->trigger != NULL ||
		 rl_wire_odd(&d->wire);
}

void
sim_dir_insert(struct rl_sim *s, struct sim_dir *d, struct rl_sim_frame *f)
{
	f->next = NULL;
	if (d->head == NULL) {
		d->head = d->tail = f;
	} else if (d->tail->at_ns <= f->at_ns) {
		d->tail->next = f;
		d->tail = f;
		return; /* the first frame decides when to wake */
	} else {
		struct rl_sim_frame **at = &d->head;

		while ((*at)->at_ns <= f->at_ns)
			at = &(*at)->next;
		f->next = *at;
		*at = f;
		if (d->head != f)
			return; /* the same */
	}
	if (d->head->at_ns <= sim_part_of(s, d->rx_role)->now_ns)
		sim_ready(s, d->rx_role);
	else if (!s->is_ready[d->rx_role])
		sim_heap_earlier(s, d->rx_role, d->head->at_ns);
}

void
sim_dir_show(const struct sim_part *pt, const struct sim_dir *d,
	     const struct rl_sim_frame *f, enum rl_sim_fate fate)
{
	const struct rl_sim *s = pt->sim;
	const unsigned int from = (unsigned int)(d - s->dir) & 1;
	const struct rl_topo_link *l = &s->fabric.topo->link[d->link];

	s->p.tap->frame(s->p.tap->ctx, l->dev[from], l->port[from], f->data,
			f->len, fate, pt->now_ns);
}

/* A frame of the wire's is lost on its way. */
static void
lose(struct rl_sim *s, const struct sim_dir *d, struct rl_sim_frame *f)
{
	if (d->tapped)
		sim_dir_show(&s->part[0], d, f, RL_SIM_FATE_LOST);
	sim_frame_free(s, f);
	s->part[0].st.frames_lost++;
}

static void
cut_flight(struct rl_sim *s, struct sim_dir *d, enum rl_fault_flight how)
{
	struct rl_sim_frame *list = d->head;

	if (how == RL_FAULT_FLIGHT_ARRIVE)
		return;
	d->head = d->tail = NULL;
	while (how == RL_FAULT_FLIGHT_LATE && list != NULL) {
		struct rl_sim_frame *f = list;

		list = f->next;
		if (rl_prng_below(&d->wire.prng, 2) == 0) {
			lose(s, d, f);
			continue;
		}
		f->next = d->late;
		d->late = f;
		s->part[0].st.frames_late++;
	}
	while (list != NULL) {
		struct rl_sim_frame *f = list;

		list = f->next;
		lose(s, d, f);
	}
}

void
sim_dir_darken(struct rl_sim *s, unsigned int dir, uint8_t why,
	       enum rl_fault_flight how, bool silent)
{
	struct sim_dir *d = &s->dir[dir];

	d->dark |= why;
	s->reach.stale = true;
	cut_flight(s, d, how);
	if (!silent) {
		/* the receiving end loses the signal */
		s->end[dir ^ 1].phy_up = false;
	}
	sim_dir_update(d);
	sim_wake_at(s, s->end[dir ^ 1].role, s->now_ns);
	sim_wake_at(s, s->end[dir].role, s->now_ns);
}

void
sim_dir_lighten(struct rl_sim *s, unsigned int dir, uint8_t why)
{
	struct sim_dir *d = &s->dir[dir];

	d->dark &= (uint8_t)~why;
	s->reach.stale = true;
	if (d->dark == 0)
		s->end[dir ^ 1].phy_up = true;
	sim_dir_update(d);
	sim_wake_at(s, s->end[dir ^ 1].role, s->now_ns);
	sim_wake_at(s, s->end[dir].role, s->now_ns);
}
