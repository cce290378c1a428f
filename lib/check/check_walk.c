/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One packet for every pair. A million pairs of ten hops each: a hop costs a
 * table lookup, a check of the link, and a lookup in the set of dependencies
 * (some hundred thousand, so that it stays in the second-level cache).
 */
#include "check_walk.h"

#include "check_parts.h"

#include <stdlib.h>
#include <string.h>

int
check_dead_init(struct check_dead *d, const struct rl_topo *topo)
{
	d->nlink = topo->nlink;
	d->bit = calloc(topo->nlink / 64 + 1, sizeof(*d->bit));
	if (d->bit == NULL)
		return -1;
	for (uint32_t l = 0; l < topo->nlink; l++)
		if (!rl_topo_link_up(topo, l))
			check_kill(d, l);
	return 0;
}

void
check_dead_free(struct check_dead *d)
{
	free(d->bit);
	d->bit = NULL;
}

bool
check_ep_live(const struct check_run *r, uint32_t e)
{
	const struct rl_topo_dev *dev = &r->topo->dev[r->topo->ep_dev[e]];

	for (unsigned int p = 0; p < dev->nports; p++)
		if (!check_is_dead(&r->dead, dev->port[p].link))
			return true;
	return false;
}

bool
check_counts(const struct check_run *r, uint32_t src, uint32_t dst)
{
	return src != dst && check_ep_live(r, src) && check_ep_live(r, dst) &&
	       (r->part == NULL || check_together(r->topo, r->part, src, dst));
}

void
check_lost(struct check_run *r, uint32_t src, uint32_t dst, const char *why)
{
	struct rl_check_report *rep = r->rep;

	if (rep->lost_why != NULL || !r->count)
		return;
	rep->lost_src = src;
	rep->lost_dst = dst;
	rep->lost_why = why;
}

static void
walk_count(struct check_run *r, uint32_t chan)
{
	if (r->topo->link[chan / RL_VCS / 2].kind != RL_LINK_ISL)
		return;
	r->load[chan / RL_VCS]++;
	r->rep->vl_hops[chan % RL_VCS]++;
}

uint32_t
check_distances(const struct check_run *r, uint32_t from, uint32_t *dist,
		uint32_t *order)
{
	const struct rl_topo *t = r->topo;
	uint32_t n = 0;

	memset(dist, 0xff, t->ndev * sizeof(*dist));
	dist[from] = 0;
	order[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t u = order[i];
		const struct rl_topo_dev *dev = &t->dev[u];

		if (dev->kind == RL_DEV_ENDPOINT && u != from)
			continue;
		for (unsigned int p = 0; p < dev->nports; p++) {
			const struct rl_topo_port *port = &dev->port[p];

			if (dist[port->peer_dev] != UINT32_MAX ||
			    check_is_dead(&r->dead, port->link))
				continue;
			dist[port->peer_dev] = dist[u] + 1;
			order[n++] = port->peer_dev;
		}
	}
	return n;
}

uint32_t
check_step(const struct check_run *r, struct check_at *at, uint32_t dst)
{
	const struct rl_fwd *f = &r->in->fwd[at->dev];
	uint32_t chan = UINT32_MAX;
	unsigned int plane;
	const struct rl_fwd_entry e = check_entry(f, at, dst, &plane);

	for (unsigned int i = 0; i < RL_FWD_ALTS && chan == UINT32_MAX &&
	     !check_ends(e.hop[i]); i++)
		chan = check_move(r, f, plane, e.hop[i], at);
	return chan;
}

static void
walk_stretch(struct check_run *r, uint32_t src, uint32_t dst, uint32_t hops)
{
	const uint32_t least = r->dist[r->topo->ep_dev[dst]];

	if (least > 2)
		r->stretch += (double)(hops - 2) / (double)(least - 2);
	else
		r->stretch += hops > least ? hops - 1 : 1;
	if (least >= hops || hops - least <= r->rep->extra_max)
		return;
	r->rep->extra_max = hops - least;
	r->rep->extra_src = src;
	r->rep->extra_dst = dst;
}

static bool
walk_pair(struct check_run *r, uint32_t src, uint32_t dst)
{
	const struct rl_fwd *fwd = r->in->fwd;
	struct check_at at = {.dev = r->topo->ep_dev[src]};
	const uint32_t end = r->topo->ep_dev[dst];
	uint32_t last = UINT32_MAX, hops = 0, foreign = 0;

	at.in_port = fwd[at.dev].nports;
	at.sl = fwd[at.dev].path_sl[dst] & (RL_SLS - 1);
	while (at.dev != end) {
		const uint32_t chan = check_step(r, &at, dst);

		if (chan == UINT32_MAX || ++hops > RL_CHECK_HOPS_MAX) {
			check_lost(r, src, dst, chan == UINT32_MAX ?
				   "no next hop" : "does not arrive within 255 links");
			return false;
		}
		r->used[chan] = 1;
		if (last != UINT32_MAX)
			check_deps_add(&r->deps, last, chan, src, dst);
		last = chan;
		/* an endpoint forwards a packet for another, but only once */
		if (at.dev != end &&
		    r->topo->dev[at.dev].kind == RL_DEV_ENDPOINT &&
		    ++foreign > 1) {
			check_lost(r, src, dst, "is misrouted twice");
			return false;
		}
		if (r->count)
			walk_count(r, chan);
	}
	if (r->count) {
		r->rep->hops += hops;
		if (r->dist != NULL)
			walk_stretch(r, src, dst, hops);
		if (hops > r->rep->max_hops)
			r->rep->max_hops = hops;
	}
	return true;
}

void
check_pairs(struct check_run *r)
{
	const uint32_t nep = r->topo->nep;

	for (uint32_t src = 0; src < nep; src++) {
		if (!check_ep_live(r, src))
			continue;
		if (r->dist != NULL && r->count)
			check_distances(r, r->topo->ep_dev[src], r->dist,
					r->queue);
		for (uint32_t dst = 0; dst < nep; dst++) {
			if (!check_counts(r, src, dst))
				continue;
			r->rep->pairs += r->count;
			if (walk_pair(r, src, dst))
				r->rep->reachable += r->count;
		}
	}
}
