/* SPDX-License-Identifier: BSD-3-Clause */

/* Events of roles for the host: deaths of ports, and dropped packets. */
#include <stdlib.h>

#include "sim_priv.h"

void
sim_on_port_event(void *ctx, uint32_t dev, uint16_t port,
		  const struct rl_port_event *ev)
{
	struct rl_sim *s = ctx;
	struct sim_told *t;

	rl_device_port_event(&s->fabric.dev[dev], ev,
			     s->p.cfg->controller.await_ns);
	if (!s->p.apart) {
		sim_hear_port(s, dev, port, ev);
		return;
	}
	t = sim_told_add(sim_dev_part(s, dev), SIM_TOLD_PORT, dev, ev->t_ns);
	if (t == NULL)
		return;
	t->port = port;
	t->port_event = *ev;
}

void
sim_hear_port(struct rl_sim *s, uint32_t dev, uint16_t port,
	      const struct rl_port_event *ev)
{
	struct rl_failover *f;

	sim_apart_disturb(s);

	if (s->p.sink != NULL)
		s->p.sink->port_event(s->p.sink->ctx, dev, port, ev);
	sim_ctl_port_event(s, dev, port, ev);
	f = rl_failover_take(&s->failovers, dev, port, ev);
	if (f != NULL)
		f->fault_ns = s->fault_ns[rl_failover_link(f, s->fabric.topo)];
}

void
sim_on_ep_event(void *ctx, uint32_t dev, const struct rl_ep_event *ev)
{
	struct rl_sim *s = ctx;
	struct sim_told *t;

	if (s->p.sink == NULL || s->p.sink->ep_event == NULL)
		return;
	if (!s->p.apart) {
		s->p.sink->ep_event(s->p.sink->ctx, dev, ev);
		return;
	}
	t = sim_told_add(sim_dev_part(s, dev), SIM_TOLD_EP, dev, ev->t_ns);
	if (t != NULL)
		t->ep_event = *ev;
}

void
sim_on_core_event(void *ctx, uint32_t dev, const struct rl_core_event *ev)
{
	struct rl_sim *s = ctx;
	struct sim_told *t;

	if (s->p.sink == NULL && ev->type != RL_CEV_WATCHDOG)
		return;
	if (!s->p.apart) {
		sim_hear_core(s, dev, ev);
		return;
	}
	t = sim_told_add(sim_dev_part(s, dev), SIM_TOLD_CORE, dev, ev->t_ns);
	if (t != NULL)
		t->core_event = *ev;
}

void
sim_hear_core(struct rl_sim *s, uint32_t dev, const struct rl_core_event *ev)
{
	if (s->p.sink != NULL)
		s->p.sink->core_event(s->p.sink->ctx, dev, ev);
	sim_ctl_core_event(s, dev, ev);
}

void
sim_hear_notice(struct rl_sim *s, const struct sim_notice *n)
{
	const uint32_t have = s->notice_tail - s->notice_head;
	uint32_t at;

	if (have == s->notice_mask + 1 || s->notice == NULL) {
		const uint32_t size = have == 0 ? 64 : 2 * have;
		struct sim_notice *more = malloc(size * sizeof(*more));

		if (more == NULL)
			return;
		for (uint32_t i = 0; i < have; i++)
			more[i] = s->notice[(s->notice_head + i) &
					    s->notice_mask];
		free(s->notice);
		s->notice = more;
		s->notice_mask = size - 1;
		s->notice_head = 0;
		s->notice_tail = have;
	}
	/* in order of time */
	for (at = s->notice_tail++; at != s->notice_head; at--) {
		const struct sim_notice *before =
			&s->notice[(at - 1) & s->notice_mask];

		if (before->at_ns <= n->at_ns)
			break;
		s->notice[at & s->notice_mask] = *before;
	}
	s->notice[at & s->notice_mask] = *n;
}

static void
notice_add(struct sim_part *pt, const struct sim_notice *n, uint64_t now_ns)
{
	struct sim_told *t;

	if (!pt->sim->p.apart) {
		sim_hear_notice(pt->sim, n);
		return;
	}
	t = sim_told_add(pt, SIM_TOLD_NOTICE, pt->running, now_ns);
	if (t != NULL)
		t->notice = *n;
}

void
sim_on_drop(void *ctx, const struct rl_flit *pkt, enum rl_drop_reason why,
	    uint64_t now_ns)
{
	struct sim_part *const pt = ctx;
	const struct rl_sim *const s = pt->sim;
	struct sim_notice notice = { .at_ns = now_ns + s->p.notice_ns };

	if (rl_is_token(pkt))
		return; /* a dropped token is no loss */
	pt->st.drops[why]++;
	pt->st.ctrl_drops[why] += rl_flit_class(pkt->wire) == RL_CLASS_CTRL;
	if (s->p.tap != NULL)
		s->p.tap->drop(s->p.tap->ctx, pkt, why, now_ns);
	if (s->p.drop != NULL)
		s->p.drop(s->p.ctx, pkt, why, now_ns);
	if (s->p.notice_ns != RL_NEVER &&
	    rl_drop_notice(pkt, why, s->p.cfg->endpoint.retry,
			   s->fabric.topo->nep, &notice.say))
		notice_add(pt, &notice, now_ns);
}

void
sim_on_report(void *ctx, const struct rl_ep_report *report, uint64_t now_ns)
{
	struct sim_part *const pt = ctx;
	const struct rl_sim *const s = pt->sim;
	struct sim_told *t;

	if (s->p.tap != NULL)
		s->p.tap->report(s->p.tap->ctx, report, now_ns);
	if (s->p.report == NULL)
		return;
	if (!s->p.apart) {
		s->p.report(s->p.ctx, report, now_ns);
		return;
	}
	t = sim_told_add(pt, SIM_TOLD_REPORT, pt->running, now_ns);
	if (t != NULL)
		t->report = *report;
}

uint64_t
sim_notice_due(const struct rl_sim *s)
{
	return s->notice_head == s->notice_tail
		       ? RL_NEVER
		       : s->notice[s->notice_head & s->notice_mask].at_ns;
}

void
sim_notice_deliver(struct rl_sim *s)
{
	const struct rl_topo *topo = s->fabric.topo;

	while (sim_notice_due(s) <= s->now_ns) {
		const struct sim_notice n =
			s->notice[s->notice_head++ & s->notice_mask];
		uint32_t dev;

		if (n.say.whose >= topo->nep)
			continue;
		dev = topo->ep_dev[n.say.whose];
		if (s->dead[dev])
			continue;
		rl_ep_notice(s->fabric.dev[dev].core.ep, s->now_ns, &n.say);
		sim_ready(s, s->dev_role[dev]);
	}
}

const struct rl_failover *
rl_sim_failovers(const struct rl_sim *sim, uint32_t *n)
{
	*n = sim->failovers.n;
	return sim->failovers.rec;
}
