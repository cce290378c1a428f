/* SPDX-License-Identifier: BSD-3-Clause */

#include "half_json.h"
#include "report.h"

static const char *
name(const struct rl_topo *t, uint16_t ep)
{
	return t->dev[t->ep_dev[ep]].name;
}

void
report_flows(json_t *report, const struct app *app)
{
	const struct rl_config *cfg = &app->cfg;
	json_t *flows = json_array(), *names = json_array();

	for (uint32_t i = 0; i < cfg->nprocess; i++)
		json_array_append_new(names, json_string(cfg->process[i].name));
	for (uint32_t i = 0; i < app->attach.nflows; i++) {
		const struct proof *l = app->attach.flow[i];

		if (l->half != NULL &&
		    l->sent_packets + l->delivered_packets != 0)
			json_array_append_new(flows, half_json(l->half,
							  name(&cfg->topo, l->src),
							  name(&cfg->topo, l->dst)));
	}
	json_object_set_new(report, "process",
			    json_string(cfg->nprocess == 0
						? ""
						: cfg->process[app->process]
							  .name));
	json_object_set_new(report, "processes", names);
	json_object_set_new(report, "digest", half_hex(rl_config_digest(cfg)));
	json_object_set_new(report, "flows", flows);
}
