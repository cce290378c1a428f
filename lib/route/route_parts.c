/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_route.h"

/* Whether a device forms a part: a switch that works and has links, or may have
 * endpoints. */
static bool
parts_lone(const struct rl_topo *t, uint32_t dev)
{
	const struct rl_topo_dev *d = &t->dev[dev];

	for (unsigned int p = 0; p < d->nports; p++)
		if (rl_topo_link_up(t, d->port[p].link))
			return false;
	return true;
}

/* Everything connected to a switch. */
static void
parts_flood(const struct rl_topo *t, uint32_t from, uint32_t number,
	    uint32_t *part, uint32_t *stack)
{
	uint32_t depth = 0;

	part[from] = number;
	stack[depth++] = from;
	while (depth > 0) {
		const struct rl_topo_dev *d = &t->dev[stack[--depth]];

		for (unsigned int p = 0; p < d->nports; p++) {
			const uint32_t w = d->port[p].peer_dev;

			if (t->dev[w].kind != RL_DEV_SWITCH ||
			    part[w] != RL_PART_NONE ||
			    !rl_topo_link_up(t, d->port[p].link))
				continue;
			part[w] = number;
			stack[depth++] = w;
		}
	}
}

int
rl_route_parts(const struct rl_topo *t, uint32_t *part)
{
	uint32_t *stack = malloc((t->ndev + 1u) * sizeof(*stack));
	int n = 0;

	if (stack == NULL)
		return -ENOMEM;
	memset(part, 0xff, t->ndev * sizeof(*part));
	for (uint32_t u = 0; u < t->ndev; u++)
		if (t->dev[u].kind == RL_DEV_SWITCH &&
		    part[u] == RL_PART_NONE && !t->dev[u].failed &&
		    !parts_lone(t, u))
			parts_flood(t, u, (uint32_t)n++, part, stack);
	for (uint32_t e = 0; e < t->nep; e++) {
		const struct rl_topo_dev *d = &t->dev[t->ep_dev[e]];

		for (unsigned int p = 0; p < d->nports; p++)
			if (part[t->ep_dev[e]] == RL_PART_NONE &&
			    t->dev[d->port[p].peer_dev].kind == RL_DEV_SWITCH &&
			    rl_topo_link_up(t, d->port[p].link))
				part[t->ep_dev[e]] = part[d->port[p].peer_dev];
	}
	free(stack);
	return n;
}
