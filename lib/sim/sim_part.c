/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Parts of a fabric: one for each thread, of neighbouring devices. A switch and
 * its endpoints are in one part, so that only frames between switches cross.
 */

#include <errno.h>

#include "rl_grow.h"
#include "sim_priv.h"

/* Weight of a switch with its endpoints: all their ports. */
static uint32_t
part_weight(const struct rl_topo *topo, uint32_t dev)
{
	const struct rl_topo_dev *const d = &topo->dev[dev];
	uint32_t w = d->nports;

	for (uint16_t p = 0; d->kind == RL_DEV_SWITCH && p < d->nports; p++)
		w += topo->dev[d->port[p].peer_dev].kind == RL_DEV_ENDPOINT;
	return w;
}

/* An endpoint belongs to the part of its first switch, so that only links
   between switches cross. */
static uint32_t
part_owner(const struct rl_topo *topo, uint32_t dev)
{
	const struct rl_topo_dev *const d = &topo->dev[dev];

	return d->kind == RL_DEV_ENDPOINT && d->nports != 0 &&
			       topo->dev[d->port[0].peer_dev].kind ==
				       RL_DEV_SWITCH
		       ? d->port[0].peer_dev
		       : dev;
}

static void
part_deal(struct rl_sim *s)
{
	const struct rl_topo *topo = &s->p.cfg->topo;
	uint64_t all = 0, before = 0;

	for (uint32_t d = 0; d < topo->ndev; d++)
		if (part_owner(topo, d) == d)
			all += part_weight(topo, d);
	for (uint32_t d = 0; d < topo->ndev; d++) {
		if (part_owner(topo, d) != d)
			continue;
		s->role[s->dev_role[d]].part =
			(uint8_t)(before * s->nparts / rl_max_u64(all, 1));
		before += part_weight(topo, d);
	}
	for (uint32_t d = 0; d < topo->ndev; d++) {
		const uint8_t part =
			s->role[s->dev_role[part_owner(topo, d)]].part;

		for (uint32_t p = 0; p <= topo->dev[d].nports; p++)
			s->role[s->dev_role[d] + p].part = part;
	}
}

int
sim_part_open(struct rl_sim *s)
{
	const bool apart = s->p.turns && s->p.apart && !s->p.soft && !s->p.doze;
	/*
	 * three unused slots, so that the four children of a node share a cache
	 * line
	 */
	const size_t slots =
		(s->p.turns ? s->p.cfg->topo.ndev : s->nrole) + 3;

	s->nparts = apart ? rl_min_u32(rl_max_u32(s->p.threads, 1),
				       rl_min_u32(RL_SIM_THREADS_MAX,
						  s->p.cfg->topo.ndev))
			  : 1;
	s->part = sim_alloc(s->mem, (s->nparts + 1u) * sizeof(*s->part));
	if (s->part == NULL)
		return -ENOMEM;
	/* two cache lines each: sim_alloc() aligns to one */
	if ((uintptr_t)s->part % (2 * RL_CACHE_LINE) != 0)
		s->part = (struct sim_part *)(void *)((uint8_t *)s->part +
						      RL_CACHE_LINE);
	for (uint32_t i = 0; i < s->nparts; i++) {
		struct sim_part *const pt = &s->part[i];

		*pt = (struct sim_part){
			.sim = s,
			.mem = sim_mem_part(s->mem, i),
			.index = i,
			.running = SIM_NO_DEV,
		};
		if (pt->mem == NULL ||
		    sim_frame_size(pt->mem, s->p.wire.frame_bytes) != 0)
			return -ENOMEM;
		pt->heap = sim_alloc(pt->mem, slots * sizeof(*pt->heap));
		pt->due = sim_alloc(pt->mem, slots * sizeof(*pt->due));
		if (pt->heap == NULL || pt->due == NULL)
			return -ENOMEM;
		pt->heap += 3;
	}
	part_deal(s);
	return 0;
}

struct sim_told *
sim_told_add(struct sim_part *pt, enum sim_told_kind kind, uint32_t dev,
	     uint64_t t_ns)
{
	struct sim_told *t;

	if (!rl_grow(&pt->told, pt->ntold, &pt->cap_told, sizeof(*t)))
		return NULL;
	t = &pt->told[pt->ntold];
	*t = (struct sim_told){
		.t_ns = t_ns,
		.dev = dev,
		.nr = pt->ntold++,
		.kind = kind,
	};
	return t;
}
