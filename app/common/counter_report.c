/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "counter_report.h"
#include "json_set.h"

#define KIND(names)                                                            \
	{                                                                      \
		.name = names, .n = RL_ARRAY_SIZE(names)                       \
	}

static const char *const port_names[] = { RL_PORT_COUNTERS(RL_OWN_NAME) };
static const char *const core_names[] = { RL_CORE_COUNTERS(RL_OWN_NAME) };
static const char *const ep_names[] = { RL_EP_COUNTERS(RL_OWN_NAME) };

const struct counter_kind counter_port = KIND(port_names);
const struct counter_kind counter_core = KIND(core_names);
const struct counter_kind counter_ep = KIND(ep_names);

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

/* All of an object, or those that are not 0. */
static json_t *
counters_json(const struct counter_kind *kind, const uint64_t *c, bool all)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < kind->n; i++)
		if (all || c[i] != 0)
			set(o, kind->name[i], c[i]);
	return o;
}

void
counter_sums_json(json_t *report, const struct counter_sums *sums)
{
	json_object_set_new(report, "port_counters",
			    counters_json(&counter_port, sums->port, true));
	json_object_set_new(report, "core_counters",
			    counters_json(&counter_core, sums->core, true));
	json_object_set_new(report, "endpoint_counters",
			    counters_json(&counter_ep, sums->ep, true));
}

static json_t *
core_json(const struct rl_device *d)
{
	return counters_json(&counter_core, rl_core_counters(d->core.core),
			     false);
}

static json_t *
link_json(const struct rl_fabric *f, uint32_t link)
{
	const struct rl_topo *t = f->topo;
	json_t *ends = json_array();
	char name[2 * RL_NAME_MAX + 8];

	for (int e = 0; e < 2; e++) {
		const uint32_t dev = t->link[link].dev[e];
		const uint16_t p = t->link[link].port[e];
		const struct rl_device *d = &f->dev[dev];

		json_array_append_new(
			ends,
			json_pack("{s:s, s:i, s:s, s:o}", "device",
				  t->dev[dev].name, "port", (int)p, "state",
				  d->foreign ? "remote"
					     : rl_link_state_name(rl_port_state(
						       d->port[p].port)),
				  "counters",
				  counters_json(&counter_port,
						rl_port_counters(d->port[p].port),
						false)));
	}
	return json_pack("{s:s, s:o}", "link",
			 rl_topo_link_name(t, link, name, sizeof(name)),
			 "ends", ends);
}

void
counter_parts_json(json_t *report, const struct rl_fabric *f)
{
	json_t *links = json_array(), *switches = json_array();
	json_t *eps = json_array();

	for (uint32_t i = 0; i < f->topo->nlink; i++)
		json_array_append_new(links, link_json(f, i));
	for (uint32_t i = 0; i < f->ndev; i++) {
		const struct rl_device *d = &f->dev[i];
		const char *name = f->topo->dev[i].name;

		if (d->core.ep == NULL)
			json_array_append_new(
				switches, json_pack("{s:s, s:o}", "switch",
						    name, "counters",
						    core_json(d)));
		else
			json_array_append_new(
				eps, json_pack("{s:s, s:o, s:o}", "endpoint",
					       name, "counters",
					       counters_json(
						       &counter_ep,
						       rl_ep_counters(d->core.ep),
						       false),
					       "core_counters", core_json(d)));
	}
	json_object_set_new(report, "links", links);
	json_object_set_new(report, "switches", switches);
	json_object_set_new(report, "endpoints", eps);
}
