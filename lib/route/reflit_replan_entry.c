/* SPDX-License-Identifier: BSD-3-Clause */
/* Detours after an update, second half: the plan read as entries of tables. */
#include <string.h>

#include "reflit_replan.h"

uint32_t
reflit_replan_walk(const struct reflit *rf, uint32_t w, uint32_t e, uint32_t u,
		   bool *through)
{
	const struct route_graph *g = &rf->b->g;
	const uint32_t t = replan_home(g, e);
	const uint8_t *next = replan_next(rf, e);
	uint32_t hops = 0;

	*through = false;
	for (; w != t; hops++) {
		const uint32_t a = reflit_plan_arc(next[w], g->first[w]);

		*through |= w == u;
		if (a == ROUTE_NONE || hops > g->nnode)
			return ROUTE_FAR;
		w = g->arc[a].to;
	}
	*through |= w == u;
	return hops;
}

static bool
replan_down(const struct reflit *rf, uint32_t w, uint32_t e)
{
	const struct route_graph *g = &rf->b->g;
	const uint32_t a = reflit_plan_arc(replan_next(rf, e)[w], g->first[w]);

	return w == replan_home(g, e) ||
	       (a != ROUTE_NONE && !route_is_up(&rf->bk.order, a));
}

bool
reflit_replan_down(const struct reflit *rf, uint32_t u, uint32_t e,
		   uint32_t *next, uint32_t *hops)
{
	bool through;

	if (!replan_down(rf, u, e))
		return false;
	*next = reflit_plan_arc(replan_next(rf, e)[u], rf->b->g.first[u]);
	*hops = reflit_replan_walk(rf, u, e, u, &through);
	return true;
}

/* As backup_other() of route_backup.c, by the plan. */
static uint32_t
replan_other(const struct reflit *rf, uint32_t u, uint32_t e, uint32_t dead)
{
	const struct route_graph *g = &rf->b->g;
	uint32_t best = ROUTE_NONE, least = ROUTE_FAR;

	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
		const uint32_t w = g->arc[a].to;
		uint32_t hops;
		bool through;

		if (a == dead || (!route_is_up(&rf->bk.order, a) &&
				  !replan_down(rf, w, e)))
			continue;
		hops = reflit_replan_walk(rf, w, e, u, &through);
		if (through || hops >= least)
			continue;
		least = hops;
		best = a;
	}
	return best;
}

static uint32_t
replan_arc_of(const struct reflit *rf, uint32_t u, uint16_t port)
{
	const struct rl_topo_dev *dev = &rf->b->topo->dev[u];

	if (port >= dev->nports || dev->port[port].dim < 0)
		return ROUTE_NONE;
	return rf->gr.arc[u][2 * dev->port[port].dim +
			     (dev->port[port].dir < 0)];
}

/* Adds node u's next hop on plane away. */
static void
replan_add_away(const struct reflit *rf, struct route_hops *h, uint32_t u,
		uint32_t e)
{
	const struct route_graph *g = &rf->b->g;
	const struct route_detour *d = &rf->bk.detour;
	const uint8_t code = rf->plan->via[(size_t)e * rf->plan->nnode + u];
	const uint32_t a = reflit_plan_arc(code, g->first[u]);

	if (code == PLAN_EJECT)
		route_hops_add_ep(h, g, u, e, d->tree, 1);
	else if (a != ROUTE_NONE)
		route_hops_add_arc(h, g, a,
				   d->parent[u] == a ||
				   d->parent[g->arc[a].to] == g->arc[a].back ?
					   d->away : d->tree, e, 1);
}

/* As route_detour_add(), by the plan and the tables of plane tree. */
static void
replan_add_detour(const struct reflit *rf, struct route_hops *h, uint32_t u,
		  uint32_t e, uint32_t dead)
{
	const struct route_detour *d = &rf->bk.detour;
	const uint16_t port = route_at(rf->b, u, d->tree, e)->hop[0].port;

	if (u == replan_home(&rf->b->g, e)) {
		if (dead != ROUTE_EJECT)
			route_hops_add_ep(h, &rf->b->g, u, e, d->tree, 1);
		return;
	}
	if (port != RL_FWD_PORT_NONE && replan_arc_of(rf, u, port) != dead)
		route_hops_add(h, port, d->tree);
	else
		replan_add_away(rf, h, u, e);
}

void
reflit_replan_add(const struct reflit *rf, struct route_hops *h, uint32_t u,
		  uint32_t e, uint32_t dead)
{
	const struct route_graph *g = &rf->b->g;
	uint32_t next = reflit_plan_arc(replan_next(rf, e)[u], g->first[u]);

	if (next == dead && next != ROUTE_NONE)
		next = replan_other(rf, u, e, dead);
	if (next != ROUTE_NONE)
		route_hops_add_arc(h, g, next, rf->bk.plane, e, 1);
	else
		replan_add_detour(rf, h, u, e, dead);
}

bool
update_replan_away(struct update *up, uint32_t u, uint32_t e)
{
	const unsigned int away = up->rf.bk.detour.away;
	struct route_hops h;

	if (route_grid_dead(&up->rf.gr, u))
		return false;
	route_hops_init(&h);
	replan_add_away(&up->rf, &h, u, e);
	if (memcmp(route_at(&up->b, u, away, e), &h.word, sizeof(h.word)) == 0)
		return false;
	route_patch(&up->b, u, away, e, &h);
	return true;
}

/* An entry of the engine's own planes: its first hops, and a detour anew. */
static void
replan_own(struct update *up, uint32_t u, unsigned int plane, uint32_t e)
{
	const struct reflit *rf = &up->rf;
	const struct rl_topo_dev *dev = &up->b.topo->dev[u];
	const struct rl_fwd_entry *f = route_at(&up->b, u, plane, e);
	uint32_t dead = ROUTE_NONE;
	struct route_hops h;

	route_hops_init(&h);
	for (unsigned int k = 0; k < RL_FWD_ALTS; k++) {
		const struct rl_fwd_hop hop = f->hop[k];

		if (hop.port >= dev->nports ||
		    (hop.plane > rf->dor && hop.plane < rf->up))
			break;
		if (!rl_topo_link_up(up->b.topo, dev->port[hop.port].link))
			continue;
		if (h.n == 0)
			dead = replan_arc_of(rf, u, hop.port);
		route_hops_add(&h, hop.port, hop.plane);
	}
	reflit_replan_add(rf, &h, u, e, dead);
	route_patch(&up->b, u, plane, e, &h);
}

/* All entries of node u to e but those of planes away and tree. */
static void
replan_entry(struct update *up, uint32_t u, uint32_t e)
{
	const struct reflit *rf = &up->rf;
	const struct route_graph *g = &up->b.g;
	const unsigned int end = update_planes_used(up);
	const uint32_t next = reflit_plan_arc(replan_next(rf, e)[u],
					      g->first[u]);
	const bool home = u == replan_home(g, e);
	struct route_hops h;
	uint64_t word;

	if (route_grid_dead(&rf->gr, u))
		return;
	route_hops_init(&h);
	if (home)
		route_hops_add_ep(&h, g, u, e, rf->bk.plane, 2);
	else if (next != ROUTE_NONE)
		route_hops_add_arc(&h, g, next, rf->bk.plane, e, 2);
	if (h.n != 0)
		replan_add_detour(rf, &h, u, e, home ? ROUTE_EJECT : next);
	route_patch(&up->b, u, rf->bk.plane, e, &h);
	for (unsigned int p = rf->dor; p < end && !home;
	     p = p == rf->dor ? rf->up : p + 1) {
		memcpy(&word, route_at(&up->b, u, p, e), sizeof(word));
		/* Escape planes that are not in use are all zeros. */
		if (word != 0)
			replan_own(up, u, p, e);
	}
}

/* Whether an entry has next hops over links that died. */
static bool
replan_dead(const struct update *up, uint32_t u, unsigned int plane, uint32_t e)
{
	const struct rl_topo *t = up->b.topo;
	const struct rl_fwd_entry *f = route_at(&up->b, u, plane, e);
	bool dead = false;

	for (unsigned int k = 0; k < RL_FWD_ALTS; k++)
		dead |= f->hop[k].port < t->dev[u].nports &&
			!rl_topo_link_up(t, t->dev[u].port[f->hop[k].port].link);
	return dead;
}

/* Of several links to the next node on the tree one died: the others stay. */
static void
replan_strip_tree(struct update *up, uint32_t u, uint32_t e)
{
	const struct rl_topo *t = up->b.topo;
	const unsigned int plane = up->rf.bk.detour.tree;
	const struct rl_fwd_entry *f = route_at(&up->b, u, plane, e);
	struct route_hops h;

	route_hops_init(&h);
	for (unsigned int k = 0; k < RL_FWD_ALTS; k++)
		if (f->hop[k].port < t->dev[u].nports &&
		    rl_topo_link_up(t, t->dev[u].port[f->hop[k].port].link))
			route_hops_add(&h, f->hop[k].port, f->hop[k].plane);
	route_patch(&up->b, u, plane, e, &h);
}

void
update_replan_node(struct update *up, uint32_t u)
{
	const unsigned int end = update_planes_used(up);
	const struct route_detour *d = &up->rf.bk.detour;

	for (uint32_t e = 0; e < up->b.topo->nep; e++) {
		bool dead = false;

		if (!route_ep_live(&up->b.g, e))
			continue;
		if (replan_dead(up, u, d->tree, e))
			replan_strip_tree(up, u, e);
		if (replan_dead(up, u, d->away, e))
			update_replan_away(up, u, e);
		for (unsigned int p = 0; p < end; p++)
			dead |= replan_dead(up, u, p, e);
		if (dead)
			replan_entry(up, u, e);
	}
}

bool
update_replan_entries(struct update *up)
{
	const struct replan *rp = up->replan;

	if (rp->nmark == REPLAN_MARKS)
		return false;
	for (uint32_t i = 0; i < rp->nmark; i++)
		replan_entry(up, (uint32_t)(rp->mark[i] >> 32),
			     (uint32_t)rp->mark[i]);
	return true;
}
