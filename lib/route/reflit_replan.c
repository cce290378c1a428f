/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detours after an update.
 *
 * The plan is made anew, as when all is computed, but only for destinations
 * that it can differ for; it is compared with the old one byte by byte, and what
 * differs, some thousand of four million entries, is written:
 *
 * - plane up*-down*, in the order of nodes that it has: destinations for which
 *   an end of a dead link went down by it. Each node keeps its way where that
 *   is still one of the best. An end that went up by it takes another link up.
 * - away and tree, from the same root: destinations for which an end of a dead
 *   link sent by it on plane away; all, where the tree is another one, or a
 *   link of it has no way round it any more.
 *
 * An entry's own detour depends on the plan at its node, and, where plane
 * up*-down* would take the link that the entry takes first, on the ways of the
 * neighbours. So entries are looked at again where the plan changed, and, where
 * it changed for nodes that go down, at all nodes that go down and next to
 * those that changed.
 */
#include "reflit_replan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether entries of the escape planes lead from node u to node w. */
static bool
replan_escapes(const struct update *up, uint32_t u, uint32_t w)
{
	const struct reflit *rf = &up->rf;
	const struct rl_topo_dev *dev = &up->b.topo->dev[u];
	const unsigned int end = up->st->all_planes ? rf->wrap : rf->late;

	for (unsigned int p = rf->up; p < end; p++) {
		for (uint32_t e = 0; e < up->b.topo->nep; e++) {
			const struct rl_fwd_hop h =
				route_at(&up->b, u, p, e)->hop[0];

			if (h.plane >= rf->up && h.plane < rf->wrap &&
			    h.port < dev->nports &&
			    dev->port[h.port].peer_dev == w)
				return true;
		}
	}
	return false;
}

/* Whether node u has an arc up, that to `but` not counted. */
static bool
replan_has_up(const struct route_graph *g, const uint32_t *rank, uint32_t u,
	      uint32_t but)
{
	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
		if (g->arc[a].to != but && rank[g->arc[a].to] < rank[u])
			return true;
	return false;
}

/* Puts node u right behind its lowest neighbour that does not need it. */
static bool
replan_lower(const struct route_graph *g, uint32_t *rank, uint32_t u)
{
	const uint32_t from = rank[u];
	uint32_t to = UINT32_MAX;

	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++) {
		const uint32_t w = g->arc[a].to;

		if (rank[w] < to && replan_has_up(g, rank, w, u))
			to = rank[w];
	}
	if (to == UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < g->nnode; i++)
		rank[i] -= rank[i] > from && rank[i] <= to;
	rank[u] = to;
	return true;
}

/*
 * The order, where a node has lost its only link up: it goes to a place further
 * down, and so may others that had but it above them. The few links that turn
 * round by that are noted: what leads over them has to be planned anew, and
 * nothing else. Returns 0, or 1 where it won't do.
 */
static int
replan_order(struct update *up)
{
	const struct route_graph *g = &up->b.g;
	struct replan *rp = up->replan;
	uint32_t *old = up->st->plan->rank, *rank = rp->rank;
	unsigned int moves = 0;

	memcpy(rank, old, g->nnode * sizeof(*rank));
	for (uint32_t u = 0; u < g->nnode; u++) {
		if (u == up->st->plan->root ||
		    g->first[u] == g->first[u + 1] ||
		    replan_has_up(g, rank, u, ROUTE_NONE))
			continue;
		if (moves++ == REPLAN_MOVES || !replan_lower(g, rank, u))
			return 1;
		u = UINT32_MAX; /* from the first one on */
	}
	for (uint32_t a = 0; a < g->narc; a++) {
		const uint32_t u = g->tail[a], w = g->arc[a].to;

		if ((old[u] < old[w]) == (rank[u] < rank[w]))
			continue;
		if (rp->nturned == REPLAN_TURNED ||
		    (up->st->rank != NULL && replan_escapes(up, u, w)))
			return 1;
		rp->turned[rp->nturned++] = a;
	}
	return route_order_ranks(&up->rf.bk.order, g, rank);
}

int
update_replan_init(struct update *up)
{
	struct reflit *rf = &up->rf;
	const struct route_graph *g = &up->b.g;
	const struct reflit_plan *p = up->st->plan;
	struct replan *rp = calloc(1, sizeof(*rp));
	int ret;

	up->replan = rp;
	rf->plan = up->st->plan;
	rf->bk.b = &up->b;
	rf->bk.plane = 1;
	rf->bk.root = p->root;
	rf->bk.nplanes = 3;
	rf->bk.updown = true;
	rf->bk.detours = true;
	if (rp == NULL)
		return -ENOMEM;
	rp->hit_next = calloc(2u * (size_t)up->b.topo->nep + 1, 1);
	rp->moved = malloc((5u * (size_t)g->nnode + 1) * sizeof(*rp->moved));
	rp->mark = malloc(REPLAN_MARKS * sizeof(*rp->mark));
	if (rp->hit_next == NULL || rp->moved == NULL || rp->mark == NULL)
		return -ENOMEM;
	rp->hit_via = rp->hit_next + up->b.topo->nep;
	rp->rank = rp->moved + 3u * (size_t)g->nnode;
	rp->end = rp->rank + g->nnode;
	if (g->first[p->root] == g->first[p->root + 1])
		return 1;
	ret = replan_order(up);
	if (ret == 0)
		ret = route_trees_init(&rf->bk.trees, g->nnode);
	if (ret == 0)
		ret = route_detour_init(&rf->bk.detour, g, p->root, 2);
	return ret;
}

void
update_replan_free(struct update *up)
{
	if (up->replan == NULL)
		return;
	free(up->replan->hit_next);
	free(up->replan->moved);
	free(up->replan->mark);
	free(up->replan);
}

static void
replan_mark(struct update *up, uint32_t u, uint32_t e)
{
	struct replan *rp = up->replan;

	if (rp->nmark < REPLAN_MARKS)
		rp->mark[rp->nmark++] = (uint64_t)u << 32 | e;
}

/* What the arcs of node u, by their numbers before, are now. */
static bool
replan_map(const struct update *up, uint32_t u, uint8_t map[GRID_WAYS])
{
	const struct rl_topo *t = up->b.topo;
	const struct rl_topo_dev *dev = &t->dev[u];
	uint32_t peer[GRID_WAYS];
	bool alive[GRID_WAYS], lost = false;
	unsigned int n = 0, now = 0;

	for (unsigned int p = 0; p < dev->nports; p++) {
		const struct rl_topo_port *port = &dev->port[p];
		unsigned int k = 0;

		if (port->dim < 0 || !up->st->link_up[port->link])
			continue;
		while (k < n && peer[k] != port->peer_dev)
			k++;
		RL_ASSERT(k < GRID_WAYS);
		if (k == n) {
			peer[n] = port->peer_dev;
			alive[n++] = false;
		}
		alive[k] |= rl_topo_link_up(t, port->link);
	}
	memset(map, PLAN_DEAD, GRID_WAYS);
	for (unsigned int k = 0; k < n; k++) {
		lost |= !alive[k];
		if (alive[k])
			map[k] = (uint8_t)now++;
	}
	return lost;
}

/* Whether node u went down by what it took before. */
static bool
replan_was_down(const struct update *up, uint32_t u, uint8_t was)
{
	const struct rl_topo *t = up->b.topo;
	const struct route_order *o = &up->rf.bk.order;

	if (was < PLAN_DEAD)
		return !route_is_up(o, o->g->first[u] + was);
	for (unsigned int p = 0; p < t->dev[u].nports; p++) {
		const struct rl_topo_port *port = &t->dev[u].port[p];

		if (port->dim >= 0 && up->st->link_up[port->link] &&
		    !rl_topo_link_up(t, port->link) &&
		    o->rank[port->peer_dev] > o->rank[u])
			return true;
	}
	return false;
}

/* Translates a plan's column of node u, and notes who led over dead links. */
static void
replan_column(struct update *up, uint32_t u, uint8_t *plan, uint8_t *hit,
	      uint8_t how, const uint8_t map[GRID_WAYS])
{
	const uint32_t nep = up->b.topo->nep, n = up->b.g.nnode;

	for (uint32_t e = 0; e < nep; e++) {
		uint8_t *code = &plan[(size_t)e * n + u];

		if (*code >= PLAN_DEAD)
			continue;
		*code = map[*code];
		if (*code == PLAN_DEAD && !route_grid_dead(&up->rf.gr, u))
			hit[e] |= how;
	}
}

static void
replan_ends(struct update *up)
{
	const struct rl_topo *t = up->b.topo;
	struct reflit_plan *p = up->st->plan;
	uint8_t map[GRID_WAYS];

	for (uint32_t u = 0; u < up->b.g.nnode; u++) {
		bool dead = false;

		for (unsigned int k = 0; k < t->dev[u].nports; k++) {
			const uint32_t l = t->dev[u].port[k].link;

			dead |= up->st->link_up[l] && !rl_topo_link_up(t, l);
		}
		if (!dead || !replan_map(up, u, map))
			continue;
		replan_column(up, u, p->next, up->replan->hit_next,
			      replan_was_down(up, u, PLAN_DEAD) ? HIT_DOWN :
								  HIT_UP, map);
		replan_column(up, u, p->via, up->replan->hit_via, HIT_UP, map);
		up->replan->end[up->replan->nend++] = u;
	}
}

/*
 * A node that went up by a dead link goes up by another: no other node need
 * know, for all that it may do is on the way up, too.
 */
static void
replan_ups(struct update *up, uint32_t u)
{
	const struct reflit *rf = &up->rf;
	const struct route_order *o = &rf->bk.order;
	const struct route_graph *g = &up->b.g;

	for (uint32_t e = 0; e < up->b.topo->nep; e++) {
		uint8_t *code = &up->st->plan->next[(size_t)e * g->nnode + u];
		uint32_t least = UINT32_MAX, best = ROUTE_NONE;

		if (*code != PLAN_DEAD || !route_ep_live(g, e) ||
		    (up->replan->hit_next[e] & HIT_DOWN))
			continue;
		for (uint32_t i = o->first[u]; i < o->first[u + 1]; i++) {
			bool through;
			const uint32_t hops = reflit_replan_walk(rf, o->up[i].to, e,
							  u, &through);

			if (hops < least) {
				least = hops;
				best = o->up[i].arc;
			}
		}
		*code = reflit_plan_code(best, g->first[u]);
		replan_mark(up, u, e);
	}
}

static void
replan_tree(struct update *up)
{
	const struct route_detour *d = &up->rf.bk.detour;
	const struct route_graph *g = &up->b.g;
	const struct reflit_plan *p = up->st->plan;
	struct replan *rp = up->replan;

	for (uint32_t u = 0; u < g->nnode; u++) {
		const uint32_t a = d->parent[u];
		const uint32_t now = a == ROUTE_NONE ? ROUTE_NONE :
						       g->arc[a].to;

		rp->tree_changed |= p->around[u] != (d->top[u] < d->depth[u]);
		if (now == p->parent[u])
			continue;
		rp->tree_changed = true;
		rp->moved[rp->nmoved++] = u;
		if (now != ROUTE_NONE)
			rp->moved[rp->nmoved++] = now;
		if (p->parent[u] != ROUTE_NONE)
			rp->moved[rp->nmoved++] = p->parent[u];
	}
}

/* Whether the detour of node u to e may be another than the plan's own way. */
static bool
replan_minds(const struct update *up, uint32_t u, uint32_t e)
{
	const struct route_graph *g = &up->b.g;
	bool wraps;

	/* Beside dimension order there are escapes, once links have failed. */
	return up->st->rank != NULL ||
	       reflit_dor_next(&up->rf.gr, u, replan_home(g, e), &wraps) ==
		       reflit_plan_arc(replan_next(&up->rf, e)[u],
				       g->first[u]);
}

/* Marks where entries to e depend on what nodes below it do. */
static void
replan_mark_down(struct update *up, const bool *down, uint32_t e, uint32_t from)
{
	const struct route_graph *g = &up->b.g;
	struct replan *rp = up->replan;
	const uint32_t end = rp->nmark;

	for (uint32_t i = from; i < end; i++) {
		const uint32_t u = (uint32_t)(rp->mark[i] >> 32);

		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
			if (replan_minds(up, g->arc[a].to, e))
				replan_mark(up, g->arc[a].to, e);
	}
	for (uint32_t u = 0; u < g->nnode; u++)
		if (down[u] && replan_minds(up, u, e))
			replan_mark(up, u, e);
}

static void
replan_updown(struct update *up, uint32_t lane, uint32_t e)
{
	const struct route_graph *g = &up->b.g;
	const uint32_t from = up->replan->nmark;
	uint8_t *was = up->st->plan->next + (size_t)e * g->nnode;
	struct route_tree tree;
	bool goes_down = false;

	route_trees_view(&up->rf.bk.trees, lane, &tree);
	for (uint32_t u = 0; u < g->nnode; u++) {
		const uint8_t now = reflit_plan_code(tree.next[u], g->first[u]);

		if (now == was[u])
			continue;
		goes_down |= tree.down[u] || replan_was_down(up, u, was[u]);
		was[u] = now;
		replan_mark(up, u, e);
	}
	if (goes_down)
		replan_mark_down(up, tree.down, e, from);
}

/* The entry of node u on plane tree. */
static void
replan_put_tree(struct update *up, uint32_t u, uint32_t e)
{
	const struct route_detour *d = &up->rf.bk.detour;
	const struct route_graph *g = &up->b.g;
	struct route_hops h;

	if (route_grid_dead(&up->rf.gr, u))
		return;
	route_hops_init(&h);
	if (u == replan_home(g, e))
		route_hops_add_ep(&h, g, u, e, d->tree, RL_FWD_ALTS);
	else if (d->next[u] != ROUTE_NONE)
		route_hops_add_arc(&h, g, d->next[u], d->tree, e, RL_FWD_ALTS);
	if (memcmp(route_at(&up->b, u, d->tree, e), &h.word, sizeof(h.word)) == 0)
		return;
	route_patch(&up->b, u, d->tree, e, &h);
	replan_mark(up, u, e);
}

/* Whether the way up from node u to the root is as it was. */
static bool
replan_same_way(const struct update *up, uint32_t u)
{
	const struct route_detour *d = &up->rf.bk.detour;
	const struct reflit_plan *p = up->st->plan;

	for (; d->parent[u] != ROUTE_NONE; u = p->parent[u])
		if (d->g->arc[d->parent[u]].to != p->parent[u])
			return false;
	return p->parent[u] == ROUTE_NONE;
}

/* Planes away and tree of a destination that is planned for in a lane. */
static void
replan_detour(struct update *up, uint32_t lane, uint32_t e)
{
	const struct route_graph *g = &up->b.g;
	struct route_detour *d = &up->rf.bk.detour;
	const struct replan *rp = up->replan;
	const struct reflit_plan *p = up->st->plan;
	uint8_t *was = p->via + (size_t)e * g->nnode;

	route_detour_dst(d, lane);
	for (uint32_t u = 0; u < g->nnode; u++) {
		const uint8_t now = reflit_plan_code(d->via[u], g->first[u]);

		if (now == was[u])
			continue;
		was[u] = now;
		update_replan_away(up, u, e);
		replan_mark(up, u, e);
	}
	if (!rp->tree_changed)
		return;
	for (uint32_t i = 0; i < rp->nmoved; i++) {
		if (update_replan_away(up, rp->moved[i], e))
			replan_mark(up, rp->moved[i], e);
		replan_put_tree(up, rp->moved[i], e);
	}
	if (replan_same_way(up, replan_home(g, e)))
		return;
	for (uint32_t u = replan_home(g, e); u != ROUTE_NONE; u = p->parent[u])
		replan_put_tree(up, u, e);
	for (uint32_t u = replan_home(g, e);; u = g->arc[d->parent[u]].to) {
		replan_put_tree(up, u, e);
		if (d->parent[u] == ROUTE_NONE)
			break;
	}
}

static void
replan_group(struct update *up, const uint32_t *e, uint32_t n, bool detours)
{
	const uint8_t *keep[ROUTE_TILE] = {NULL};

	for (uint32_t k = 0; k < n; k++)
		keep[k] = replan_next(&up->rf, e[k]);
	if (detours)
		route_detour_plan(&up->rf.bk.detour, e, n);
	else
		route_trees_keep(&up->rf.bk.trees, &up->rf.bk.order, e, n, keep);
	for (uint32_t k = 0; k < n; k++) {
		if (detours)
			replan_detour(up, k, e[k]);
		else
			replan_updown(up, k, e[k]);
	}
}

/* Plans for those destinations that it takes, by as many as go together. */
static void
replan_all(struct update *up, const uint8_t *hit, bool all, bool detours)
{
	uint32_t e[ROUTE_TILE], n = 0;

	for (uint32_t i = 0; i < up->b.topo->nep; i++) {
		if ((!all && !(hit[i] & (detours ? HIT_UP : HIT_DOWN))) ||
		    !route_ep_live(&up->b.g, i))
			continue;
		e[n++] = i;
		if (n < ROUTE_TILE)
			continue;
		replan_group(up, e, n, detours);
		n = 0;
	}
	if (n != 0)
		replan_group(up, e, n, detours);
}

/* What has to do with an arc that turned round. */
static void
replan_turned(struct update *up, uint32_t a)
{
	const struct route_graph *g = &up->b.g;
	const uint32_t u = g->tail[a];

	for (uint32_t e = 0; e < up->b.topo->nep; e++) {
		if (!route_ep_live(g, e))
			continue;
		if (reflit_plan_arc(replan_next(&up->rf, e)[u],
				    g->first[u]) == a)
			up->replan->hit_next[e] |= HIT_DOWN;
		replan_mark(up, u, e);
	}
}

void
update_replan(struct update *up)
{
	struct replan *rp = up->replan;

	replan_ends(up);
	for (uint32_t i = 0; i < rp->nturned; i++)
		replan_turned(up, rp->turned[i]);
	for (uint32_t i = 0; i < rp->nend; i++)
		if (!route_grid_dead(&up->rf.gr, rp->end[i]))
			replan_ups(up, rp->end[i]);
	replan_tree(up);
	replan_all(up, rp->hit_next, false, false);
	replan_all(up, rp->hit_via, rp->tree_changed, true);
	reflit_plan_shape(up->st->plan, &up->rf.bk);
}
