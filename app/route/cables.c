/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names cables that run slower than a cable of the same kind at one of their
 * ends. Tables, loads and stretch count every cable alike, so a slow one would
 * be an unseen bottleneck.
 */
#include <stdlib.h>

#include "route_app.h"

/* Most cables that are printed; the report has all. */
#define CABLES_SHOWN 4

static uint32_t
fastest_beside(const struct rl_topo *t, const struct rl_topo_link *l)
{
	uint32_t mbps = 0;

	for (unsigned int end = 0; end < 2; end++) {
		const struct rl_topo_dev *d = &t->dev[l->dev[end]];

		for (uint32_t p = 0; p < d->nports; p++) {
			const struct rl_topo_link *o =
				&t->link[d->port[p].link];

			if (o->kind == l->kind)
				mbps = rl_max_u32(mbps, o->mbps);
		}
	}
	return mbps;
}

void
route_cables(struct route_app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	json_t *slow = json_array();
	size_t n = 0;

	for (uint32_t i = 0; i < t->nlink; i++) {
		const struct rl_topo_link *l = &t->link[i];
		const uint32_t best = l->mbps != 0 ? fastest_beside(t, l) : 0;
		char name[2 * RL_NAME_MAX + 16];

		if (best <= l->mbps)
			continue;
		snprintf(name, sizeof(name), "%s-%s#%u", t->dev[l->dev[0]].name,
			 t->dev[l->dev[1]].name, l->k);
		if (n++ < CABLES_SHOWN)
			printf("slow cable: %s runs at %.4g Gbit/s beside "
			       "%.4g\n", name, l->mbps / 1e3, best / 1e3);
		json_array_append_new(slow, json_pack(
			"{s:s,s:i,s:i}", "link", name, "mbps", (int)l->mbps,
			"beside_mbps", (int)best));
	}
	if (n > CABLES_SHOWN)
		printf("slow cables: %zu in all\n", n);
	if (n > 0)
		printf("paths and loads count slow cables like all others\n");
	json_object_set_new(app->report, "slow_cables", slow);
}
