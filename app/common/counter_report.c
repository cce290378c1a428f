/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "counter_report.h"

static void
add(uint64_t *to, const uint64_t *from, int n)
{
	for (int i = 0; i < n; i++)
		to[i] += from[i];
}

void
counter_sums_of(const struct rl_fabric *f, struct counter_sums *sums)
{
	memset(sums, 0, sizeof(*sums));
	for (uint32_t i = 0; i < f->ndev; i++) {
		const struct rl_device *d = &f->dev[i];

		for (uint16_t p = 0; p < d->nports; p++)
			add(sums->port, rl_port_counters(d->port[p].port),
			    RL_PORT_COUNTER_COUNT);
		add(sums->core, rl_core_counters(d->core.core),
		    RL_CORE_COUNTER_COUNT);
		if (d->core.ep != NULL)
			add(sums->ep, rl_ep_counters(d->core.ep),
			    RL_EP_COUNTER_COUNT);
	}
}

static void
set(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

void
counter_sums_json(json_t *report, const struct counter_sums *sums)
{
	json_t *port = json_object(), *core = json_object();
	json_t *ep = json_object();

	for (int i = 0; i < RL_PORT_COUNTER_COUNT; i++)
		set(port, rl_port_counter_name((enum rl_port_counter)i),
		    sums->port[i]);
	for (int i = 0; i < RL_CORE_COUNTER_COUNT; i++)
		set(core, rl_core_counter_name((enum rl_core_counter)i),
		    sums->core[i]);
	for (int i = 0; i < RL_EP_COUNTER_COUNT; i++)
		set(ep, rl_ep_counter_name((enum rl_ep_counter)i),
		    sums->ep[i]);
	json_object_set_new(report, "port_counters", port);
	json_object_set_new(report, "core_counters", core);
	json_object_set_new(report, "endpoint_counters", ep);
}
