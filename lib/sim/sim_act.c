/* SPDX-License-Identifier: BSD-3-Clause */

/* What local controllers order, done; and how a device stands. */

#include "sim_ctl.h"

static void
install(struct rl_sim *s, uint32_t dev, uint32_t epoch)
{
	struct rl_role_core *rc = &s->fabric.dev[dev].core;
	const struct rl_fwd *fwd = rl_tables_fwd(s->ctl->tables, epoch, dev);

	/* an epoch that is gone was overtaken by a newer order */
	if (fwd != NULL) {
		rl_core_set_fwd(rc->core, fwd);
		if (rc->ep != NULL)
			rl_ep_set_path_sl(rc->ep, fwd->path_sl);
		rl_tables_installed(s->ctl->tables, dev, epoch);
	}
	rl_local_installed(s->ctl->local[dev], epoch);
	sim_ready(s, s->dev_role[dev]);
}

static void
stage(struct rl_sim *s, uint32_t dev, uint32_t epoch)
{
	const struct rl_fwd_pass *to =
		rl_tables_pass(s->ctl->tables, epoch, dev);

	if (to != NULL) {
		rl_tables_staged(s->ctl->tables, dev, epoch);
		rl_core_stage(s->fabric.dev[dev].core.core, to);
	}
	rl_local_staged(s->ctl->local[dev], epoch);
}

static void
pass(struct rl_sim *s, uint32_t dev, uint32_t epoch)
{
	struct rl_role_core *rc = &s->fabric.dev[dev].core;
	const struct rl_fwd_pass *to =
		rl_tables_pass(s->ctl->tables, epoch, dev);

	if (to == NULL)
		return; /* overtaken by a newer order */
	rl_core_pass(rc->core);
	if (rc->ep != NULL)
		rl_ep_set_path_sl(rc->ep, to->fwd->path_sl);
	sim_ready(s, s->dev_role[dev]);
}

/* Which destinations of an endpoint a list holds. */
static bool
holds(const struct rl_sim *s, uint32_t dev, uint32_t epoch, uint32_t dst)
{
	const struct rl_flows *f = rl_tables_flows(s->ctl->tables, epoch);

	return f != NULL && rl_flows_has(f, s->fabric.topo->dev[dev].ep_id, dst);
}

static void
hold(struct rl_sim *s, uint32_t dev, enum rl_resil_hold what, uint32_t epoch)
{
	struct rl_ep *ep = s->fabric.dev[dev].core.ep;

	rl_core_still(s->fabric.dev[dev].core.core, what != RL_RESIL_HOLD_NONE);
	sim_ready(s, s->dev_role[dev]);
	if (ep == NULL)
		return;
	rl_ep_quiesce(ep, s->now_ns, what == RL_RESIL_HOLD_ALL);
	for (uint32_t dst = 0; dst < s->fabric.topo->nep; dst++)
		rl_ep_hold(ep, s->now_ns, (uint16_t)dst,
			   what == RL_RESIL_HOLD_FLOWS &&
				   holds(s, dev, epoch, dst));
}

static void
start_ports(struct rl_sim *s, uint32_t dev)
{
	struct rl_device *d = &s->fabric.dev[dev];

	for (uint16_t p = 0; p < d->nports; p++) {
		rl_port_start(d->port[p].port, s->now_ns);
		sim_ready(s, d->port[p].phy.ctx == NULL
				     ? s->dev_role[dev]
				     : s->dev_role[dev] + 1 + p);
	}
}

void
sim_ctl_act(struct rl_sim *s, uint32_t dev, const struct rl_local_action *a)
{
	static const enum rl_port_order order[] = {
		[RL_LOCAL_PORT_NONE] = RL_ORDER_NONE,
		[RL_LOCAL_PORT_UP] = RL_ORDER_UP,
		[RL_LOCAL_PORT_DOWN] = RL_ORDER_DOWN,
		[RL_LOCAL_PORT_DRAIN] = RL_ORDER_DRAIN,
	};

	sim_apart_disturb(s);
	switch (a->type) {
	case RL_LOCAL_INSTALL:
		install(s, dev, a->epoch);
		return;
	case RL_LOCAL_HOLD:
		hold(s, dev, a->hold, a->epoch);
		return;
	case RL_LOCAL_RELEASE:
		hold(s, dev, RL_RESIL_HOLD_NONE, a->epoch);
		return;
	case RL_LOCAL_STAGE:
		stage(s, dev, a->epoch);
		return;
	case RL_LOCAL_PASS:
		pass(s, dev, a->epoch);
		return;
	case RL_LOCAL_START:
		start_ports(s, dev);
		return;
	case RL_LOCAL_PORT:
		rl_role_port_order(&s->fabric.dev[dev].port[a->port],
				   order[a->order]);
		sim_ready(s, s->dev_role[dev] + 1 + a->port);
		return;
	case RL_LOCAL_NO_TABLES:
		rl_core_await_routes(s->fabric.dev[dev].core.core, s->now_ns);
		sim_ready(s, s->dev_role[dev]);
		return;
	}
}

static bool
flows_quiet(const struct rl_sim *s, uint32_t dev, uint32_t epoch)
{
	const struct rl_ep *ep = s->fabric.dev[dev].core.ep;

	for (uint32_t dst = 0; ep != NULL && dst < s->fabric.topo->nep; dst++)
		if (holds(s, dev, epoch, dst) &&
		    !rl_ep_quiescent(ep, (uint16_t)dst))
			return false;
	return true;
}

/*
 * Nothing is in transit here. What has no way waits until all go on
 * (rl_core_still()): it keeps nobody from anything.
 */
static bool
all_quiet(const struct rl_sim *s, uint32_t dev)
{
	const struct rl_device *d = &s->fabric.dev[dev];
	const uint32_t core = s->dev_role[dev];

	for (uint16_t p = 0; p < d->nports; p++) {
		const struct sim_pipe *rx = d->port[p].rx.ring;

		if (!rl_port_idle(d->port[p].port) ||
		    rx[0].head != rx[0].tail || rx[1].head != rx[1].tail ||
		    rx[2].head != rx[2].tail)
			return false;
	}
	return !s->is_ready[core] && rl_core_transit(d->core.core) == 0;
}

void
sim_ctl_view(struct rl_sim *s, uint32_t dev, struct rl_local_view *v)
{
	const uint64_t *c = rl_core_counters(s->fabric.dev[dev].core.core);
	struct rl_local_info info;

	rl_local_info(s->ctl->local[dev], &info);
	*v = (struct rl_local_view){
		.activity = c[RL_CC_rx_packets] + c[RL_CC_looped_packets] +
			    c[RL_CC_injected_packets] + c[RL_CC_tx_packets],
	};
	switch (info.hold) {
	case RL_RESIL_HOLD_NONE:
		v->quiet = !info.passes ||
			   !rl_core_passing(s->fabric.dev[dev].core.core);
		return;
	case RL_RESIL_HOLD_FLOWS:
		v->quiet = flows_quiet(s, dev, info.hold_epoch);
		return;
	case RL_RESIL_HOLD_ALL:
		v->quiet = all_quiet(s, dev);
		return;
	}
}
