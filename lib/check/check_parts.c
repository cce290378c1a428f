/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_parts.h"

#include <stdlib.h>

static uint32_t
parts_root(uint32_t *part, uint32_t u)
{
	while (part[u] != u) {
		part[u] = part[part[u]];
		u = part[u];
	}
	return u;
}

uint32_t *
check_parts(const struct rl_topo *t)
{
	uint32_t *part = malloc((t->ndev + 1u) * sizeof(*part));

	if (part == NULL)
		return NULL;
	for (uint32_t u = 0; u < t->ndev; u++)
		part[u] = u;
	for (uint32_t l = 0; l < t->nlink; l++)
		if (t->link[l].kind == RL_LINK_ISL && rl_topo_link_up(t, l)) {
			const uint32_t a = parts_root(part, t->link[l].dev[0]);

			part[a] = parts_root(part, t->link[l].dev[1]);
		}
	for (uint32_t u = 0; u < t->ndev; u++)
		part[u] = parts_root(part, u);
	return part;
}

bool
check_together(const struct rl_topo *t, const uint32_t *part, uint32_t a,
	       uint32_t b)
{
	const struct rl_topo_dev *da = &t->dev[t->ep_dev[a]];
	const struct rl_topo_dev *db = &t->dev[t->ep_dev[b]];

	for (unsigned int i = 0; i < da->nports; i++) {
		const struct rl_topo_port *p = &da->port[i];

		if (!rl_topo_link_up(t, p->link))
			continue;
		if (p->peer_dev == t->ep_dev[b])
			return true;
		for (unsigned int j = 0; j < db->nports; j++)
			if (rl_topo_link_up(t, db->port[j].link) &&
			    part[db->port[j].peer_dev] == part[p->peer_dev])
				return true;
	}
	return false;
}

bool
check_cut(const struct rl_topo *t, const uint32_t *part)
{
	const uint32_t none = t->ndev;
	uint32_t all = none;

	for (uint32_t e = 0; e < t->nep; e++) {
		const struct rl_topo_dev *d = &t->dev[t->ep_dev[e]];

		for (unsigned int i = 0; i < d->nports; i++) {
			const uint32_t to = d->port[i].peer_dev;

			if (!rl_topo_link_up(t, d->port[i].link))
				continue;
			if (t->dev[to].kind != RL_DEV_SWITCH ||
			    (all != none && part[to] != all))
				return true;
			all = part[to];
		}
	}
	return false;
}
