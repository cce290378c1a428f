/* SPDX-License-Identifier: BSD-3-Clause */

/* Orders of a local controller: look-up, execution, completion. */

#include "rl_device.h"

bool
rl_device_order_names(const struct rl_device_order *o)
{
	switch (o->act.type) {
	case RL_LOCAL_INSTALL:
	case RL_LOCAL_STAGE:
	case RL_LOCAL_PASS:
	case RL_LOCAL_HOLD:
		return true;
	case RL_LOCAL_RELEASE:
	case RL_LOCAL_START:
	case RL_LOCAL_PORT:
	case RL_LOCAL_NO_TABLES:
		break;
	}
	return false;
}

bool
rl_device_order_find(struct rl_device_order *o, uint32_t dev,
		     struct rl_tables *t)
{
	const uint32_t epoch = o->act.epoch;

	switch (o->act.type) {
	case RL_LOCAL_INSTALL:
		o->fwd = rl_tables_fwd(t, epoch, dev);
		return o->fwd != NULL;
	case RL_LOCAL_STAGE:
	case RL_LOCAL_PASS:
		o->pass = rl_tables_pass(t, epoch, dev);
		if (o->pass != NULL)
			rl_tables_staged(t, dev, epoch);
		return o->pass != NULL;
	case RL_LOCAL_HOLD:
		o->flows = rl_tables_flows(t, epoch);
		return o->act.hold != RL_RESIL_HOLD_FLOWS || o->flows != NULL;
	case RL_LOCAL_RELEASE:
	case RL_LOCAL_START:
	case RL_LOCAL_PORT:
	case RL_LOCAL_NO_TABLES:
		break;
	}
	return true;
}

/* Gives the endpoint the paths of new tables, which may lead to more peers. */
static void
take_tables(struct rl_device *d, const struct rl_fwd *fwd, uint64_t now_ns)
{
	if (d->core.ep == NULL)
		return;
	rl_ep_set_path_sl(d->core.ep, fwd->path_sl);
	rl_ep_probe_again(d->core.ep, now_ns);
}

static void
hold(struct rl_device *d, enum rl_resil_hold what, const struct rl_flows *flows,
     uint64_t now_ns)
{
	const struct rl_ep_params *ep = &d->ep_params;
	const bool some = what == RL_RESIL_HOLD_FLOWS && flows != NULL;

	rl_core_still(d->core.core, what != RL_RESIL_HOLD_NONE);
	if (d->core.ep == NULL)
		return;
	rl_ep_quiesce(d->core.ep, now_ns, what == RL_RESIL_HOLD_ALL);
	for (uint16_t dst = 0; dst < ep->npeers; dst++)
		rl_ep_hold(d->core.ep, now_ns, dst,
			   some && rl_flows_has(flows, ep->ep_id, dst));
}

static void
order_port(struct rl_device *d, const struct rl_local_action *a)
{
	static const enum rl_port_order order[] = {
		[RL_LOCAL_PORT_NONE] = RL_ORDER_NONE,
		[RL_LOCAL_PORT_UP] = RL_ORDER_UP,
		[RL_LOCAL_PORT_DOWN] = RL_ORDER_DOWN,
		[RL_LOCAL_PORT_DRAIN] = RL_ORDER_DRAIN,
	};

	rl_role_port_order(&d->port[a->port], order[a->order]);
}

void
rl_device_order(struct rl_device *d, const struct rl_device_order *o,
		uint64_t now_ns)
{
	switch (o->act.type) {
	case RL_LOCAL_INSTALL:
		if (o->fwd == NULL)
			return;
		rl_core_set_fwd(d->core.core, o->fwd);
		take_tables(d, o->fwd, now_ns);
		return;
	case RL_LOCAL_HOLD:
		hold(d, o->act.hold, o->flows, now_ns);
		return;
	case RL_LOCAL_RELEASE:
		hold(d, RL_RESIL_HOLD_NONE, NULL, now_ns);
		return;
	case RL_LOCAL_STAGE:
		if (o->pass != NULL)
			rl_core_stage(d->core.core, o->pass);
		return;
	case RL_LOCAL_PASS:
		if (o->pass == NULL)
			return;
		rl_core_pass(d->core.core);
		take_tables(d, o->pass->fwd, now_ns);
		return;
	case RL_LOCAL_START:
		for (uint16_t p = 0; p < d->nports; p++)
			rl_role_port_order(&d->port[p], RL_ORDER_START);
		return;
	case RL_LOCAL_PORT:
		order_port(d, &o->act);
		return;
	case RL_LOCAL_NO_TABLES:
		rl_core_await_routes(d->core.core, now_ns);
		return;
	}
}

void
rl_device_order_done(const struct rl_device_order *o, uint32_t dev,
		     struct rl_tables *t, struct rl_local *l)
{
	if (o->act.type == RL_LOCAL_STAGE)
		rl_local_staged(l, o->act.epoch);
	if (o->act.type != RL_LOCAL_INSTALL)
		return;
	if (o->fwd != NULL)
		rl_tables_installed(t, dev, o->act.epoch);
	rl_local_installed(l, o->act.epoch);
}
