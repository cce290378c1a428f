/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which endpoints are connected, judged by wires and devices: explains
 * silences. A link counts while both directions carry light, both its devices
 * are alive, and it is not down by command. Each change of the partition is
 * recorded with its time.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_grow.h"
#include "sim_priv.h"

bool
sim_link_whole(const struct rl_sim *s, uint32_t link)
{
	const struct rl_topo_link *l = &s->fabric.topo->link[link];

	return rl_topo_link_up(s->fabric.topo, link) &&
	       s->dir[2 * link].dark == 0 && s->dir[2 * link + 1].dark == 0 &&
	       !s->down[link] && !s->dead[l->dev[0]] && !s->dead[l->dev[1]];
}

static uint32_t
root_of(uint32_t *root, uint32_t d)
{
	while (root[d] != d)
		d = root[d] = root[root[d]];
	return d;
}

/* Only switches forward packets; an endpoint belongs to one of its switches. */
static void
join(struct rl_sim *s, uint16_t part[])
{
	const struct rl_topo *t = s->fabric.topo;
	uint32_t *root = s->reach.root;

	for (uint32_t d = 0; d < t->ndev; d++)
		root[d] = d;
	for (uint32_t i = 0; i < t->nlink; i++)
		if (t->link[i].kind == RL_LINK_ISL && sim_link_whole(s, i)) {
			const uint32_t a = root_of(root, t->link[i].dev[0]);

			root[a] = root_of(root, t->link[i].dev[1]);
		}
	for (uint32_t e = 0; e < t->nep; e++) {
		const struct rl_topo_dev *d = &t->dev[t->ep_dev[e]];

		part[e] = SIM_NO_PART;
		for (uint16_t p = 0; p < d->nports; p++)
			if (sim_link_whole(s, d->port[p].link)) {
				part[e] = (uint16_t)root_of(
					root, d->port[p].peer_dev);
				break;
			}
	}
}

void
sim_reach_look(struct rl_sim *s)
{
	struct sim_reach *r = &s->reach;
	const size_t bytes = s->fabric.topo->nep * sizeof(uint16_t);
	uint16_t *part;

	r->stale = false;
	if (!rl_grow(&r->at, r->n, &r->cap, sizeof(*r->at)))
		return;
	part = malloc(bytes + 1);
	if (part == NULL)
		return;
	join(s, part);
	if (r->n != 0 && memcmp(part, r->at[r->n - 1].part, bytes) == 0) {
		free(part);
		return;
	}
	r->at[r->n++] = (struct sim_reach_at){ .t_ns = s->now_ns,
					       .part = part };
}

uint64_t
rl_sim_connected_since(struct rl_sim *sim, uint16_t a, uint16_t b)
{
	const struct sim_reach *r = &sim->reach;
	uint64_t since = RL_NEVER;

	if (r->stale)
		sim_reach_look(sim);
	for (uint32_t i = r->n; i > 0; i--) {
		const uint16_t *part = r->at[i - 1].part;

		if (part[a] != part[b] || part[a] == SIM_NO_PART)
			break;
		since = r->at[i - 1].t_ns;
	}
	return since;
}

int
sim_reach_open(struct rl_sim *s)
{
	s->reach.root = malloc(s->fabric.ndev * sizeof(*s->reach.root));
	if (s->reach.root == NULL)
		return -ENOMEM;
	s->reach.stale = true;
	return 0;
}

void
sim_reach_close(struct rl_sim *s)
{
	for (uint32_t i = 0; i < s->reach.n; i++)
		free(s->reach.at[i].part);
	free(s->reach.at);
	free(s->reach.root);
	s->reach = (struct sim_reach){ 0 };
}
