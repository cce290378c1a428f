/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events for the host while devices run independently. One device may then be
 * ahead of another, and in another thread. So each part stores its events, and
 * the host gets them when all parts have run, in order of time. Events of equal
 * time are in the order of device numbers, so that the result does not depend
 * on the parts.
 */

#include <stdlib.h>

#include "sim_priv.h"

static int
told_order(const void *a, const void *b)
{
	const struct sim_told *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

static void
hear(struct rl_sim *s, const struct sim_told *t)
{
	const struct rl_role_sink *const sink = s->p.sink;

	switch (t->kind) {
	case SIM_TOLD_PORT:
		sim_hear_port(s, t->dev, t->port, &t->port_event);
		break;
	case SIM_TOLD_CORE:
		sim_hear_core(s, t->dev, &t->core_event);
		break;
	case SIM_TOLD_EP:
		sink->ep_event(sink->ctx, t->dev, &t->ep_event);
		break;
	case SIM_TOLD_REPORT:
		s->p.report(s->p.ctx, &t->report, t->t_ns);
		break;
	case SIM_TOLD_NOTICE:
		sim_hear_notice(s, &t->notice);
		break;
	}
}

/* Moves all events to the part that has the most. */
static struct sim_part *
gather(struct rl_sim *s)
{
	struct sim_part *to = &s->part[0];

	for (uint32_t i = 1; i < s->nparts; i++)
		if (s->part[i].ntold > to->ntold)
			to = &s->part[i];
	for (uint32_t i = 0; i < s->nparts; i++) {
		struct sim_part *const pt = &s->part[i];

		for (uint32_t k = 0; pt != to && k < pt->ntold; k++) {
			const struct sim_told *const from = &pt->told[k];
			struct sim_told *const t = sim_told_add(
				to, from->kind, from->dev, from->t_ns);

			if (t == NULL)
				break;
			*t = *from;
		}
		if (pt != to)
			pt->ntold = 0;
	}
	return to;
}

void
sim_told_flush(struct rl_sim *s)
{
	struct sim_part *const pt = gather(s);
	const uint32_t n = pt->ntold;

	if (n == 0)
		return;
	qsort(pt->told, n, sizeof(*pt->told), told_order);
	/* by index: the handlers may add events */
	for (uint32_t i = 0; i < n; i++) {
		const struct sim_told t = pt->told[i];

		hear(s, &t);
	}
	pt->ntold -= n;
	for (uint32_t i = 0; i < pt->ntold; i++)
		pt->told[i] = pt->told[n + i];
}
