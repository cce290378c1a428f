/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include "failover_report.h"

void
failover_numbers(const struct rl_failover *f, uint64_t start_ns,
		 uint64_t v[FAILOVER_NUMBERS])
{
	*v++ = rl_failover_span(start_ns, f->dead_ns);
	*v++ = rl_failover_span(f->fault_ns, f->dead_ns);
	*v++ = rl_failover_span(f->dead_ns, f->rerouted_ns);
	*v++ = rl_failover_span(f->dead_ns, f->drained_ns);
	*v++ = f->looped_packets;
	*v++ = f->looped_flits;
	*v = f->looped_acked_flits;
}

char *
failover_way(const struct rl_failover *f, const struct rl_topo *topo, char *buf)
{
	if (f->dead_ns == RL_NEVER || f->rerouted_ns == RL_NEVER)
		snprintf(buf, FAILOVER_WAY_MAX, "-");
	else
		rl_topo_link_name(topo, topo->dev[f->dev].port[f->way].link,
				  buf, FAILOVER_WAY_MAX);
	return buf;
}

static json_t *
failover_json(const struct rl_failover *f, const struct rl_topo *topo,
	      uint64_t start_ns)
{
	static const char *const keys[FAILOVER_NUMBERS] = { FAILOVER_KEYS };
	char link[2 * RL_NAME_MAX + 16], way[FAILOVER_WAY_MAX];
	uint64_t v[FAILOVER_NUMBERS];
	json_t *o;

	rl_topo_link_name(topo, rl_failover_link(f, topo), link, sizeof(link));
	o = json_pack("{s:s, s:s, s:s, s:s}", "link", link, "device",
		      topo->dev[f->dev].name, "detector",
		      rl_detector_name(f->detector), "left_by",
		      failover_way(f, topo, way));
	failover_numbers(f, start_ns, v);
	for (unsigned int i = 0; i < FAILOVER_NUMBERS; i++)
		json_object_set_new(o, keys[i],
				    json_integer((json_int_t)v[i]));
	return o;
}

json_t *
failovers_json(const struct rl_failover *f, uint32_t n,
	       const struct rl_topo *topo, uint64_t start_ns)
{
	json_t *a = json_array();

	for (; n > 0; n--, f++)
		if (f->dead_ns != RL_NEVER)
			json_array_append_new(a, failover_json(f, topo,
							       start_ns));
	return a;
}
