/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Updates of the engine reflit after failures, on a grid.
 *
 * A dead link breaks one ring (or line). On plane dor only the nodes of that
 * ring have entries that change, and only those whose leg of the ring (from
 * the node's coordinate to the destination's) led over the link. The pairs
 * behind these legs, some 2,500 of a million on 10x10x10 whatever the
 * dimension, choose their class anew: the class up is worked out on demand,
 * from the source up to where DOR works, which is one or two hops away as a
 * rule. A destination that has sources of the classes late and both, or
 * detours that get long, is done as a whole.
 *
 * The order of up*-down* stays as it is while every node keeps a link that
 * goes up: the detours of old tables and the escape of new ones then agree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reflit_replan.h"

void
reflit_state_free(struct reflit_state *st)
{
	if (st == NULL)
		return;
	free(st->rank);
	free(st->run);
	free(st->link_up);
	reflit_plan_free(st->plan);
	free(st);
}

int
reflit_remember(const struct reflit *rf)
{
	struct route_mem *m = rf->b->route->priv;
	const struct rl_topo *t = rf->b->topo;
	const uint32_t n = rf->b->g.nnode;
	struct reflit_state *st = calloc(1, sizeof(*st));

	if (st == NULL)
		return -ENOMEM;
	st->run = malloc(n * sizeof(*st->run));
	st->link_up = malloc(t->nlink + 1u);
	if (rf->broken)
		st->rank = malloc(n * sizeof(*st->rank));
	if (st->run == NULL || st->link_up == NULL ||
	    (rf->broken && st->rank == NULL)) {
		reflit_state_free(st);
		return -ENOMEM;
	}
	memcpy(st->run, rf->gr.run, n * sizeof(*st->run));
	for (uint32_t l = 0; l < t->nlink; l++)
		st->link_up[l] = rl_topo_link_up(t, l);
	if (rf->broken)
		memcpy(st->rank, rf->order->rank, n * sizeof(*st->rank));
	st->all_planes = rf->broken;
	/* In an update it is the old state's, brought up to date. */
	st->plan = rf->plan;
	if (m->reflit != NULL)
		m->reflit->plan = NULL;
	reflit_state_free(m->reflit);
	m->reflit = st;
	return 0;
}

/* Links that died since. Returns 1 where one came back. */
static int
update_dead(struct update *up)
{
	const struct rl_topo *t = up->b.topo;

	for (uint32_t l = 0; l < t->nlink; l++) {
		const bool is_up = rl_topo_link_up(t, l);

		if (is_up && !up->st->link_up[l])
			return 1;
		if (!is_up && up->st->link_up[l])
			up->dead[up->ndead++] = l;
	}
	return 0;
}

static void
update_add_ring(struct update *up, uint32_t node, unsigned int d)
{
	const uint32_t base = route_grid_at(&up->rf.gr, node, d, 0);

	for (uint32_t i = 0; i < up->nring; i++)
		if (up->ring[i].base == base && up->ring[i].d == d)
			return;
	up->ring[up->nring++] = (struct update_ring){base, d};
}

unsigned int
update_leg(const struct update *up, const uint16_t (*run)[GRID_WAYS],
	   uint32_t u, unsigned int d, uint32_t to)
{
	const struct route_grid *gr = &up->rf.gr;
	uint32_t hops;
	unsigned int way = route_grid_short(gr, d, gr->coord[u][d], to, &hops);

	if (run[u][2 * d + way] >= hops)
		return way;
	return run[u][2 * d + !way] >= gr->radix[d] - hops ? !way : GRID_WAYS;
}

/* Plane dor of the nodes of a ring. Destinations t that differ from u in
 * dimension d first lie side by side, for each coordinate in d. */
static void
update_ring_dor(struct update *up, const struct update_ring *ring)
{
	const struct route_grid *gr = &up->rf.gr;
	const unsigned int d = ring->d;

	for (uint32_t c = 0; c < gr->radix[d]; c++) {
		const uint32_t u = route_grid_at(gr, ring->base, d, c);

		for (uint32_t to = 0; to < gr->radix[d]; to++) {
			const uint32_t w = route_grid_at(gr, u, d, to);
			const uint32_t first = w - w % gr->stride[d];

			if (to == c || route_grid_dead(gr, u) ||
			    !update_leg_changed(up, u, d, to))
				continue;
			for (uint32_t t = first; t < first + gr->stride[d];
			     t++) {
				up->rf.t = t;
				for (uint32_t e = t * up->hosts;
				     e < (t + 1) * up->hosts; e++)
					if (route_ep_live(&up->b.g, e))
						reflit_fill_dor(&up->rf, u, e);
			}
		}
	}
}

/* Takes the ports of dead links out of all entries of a node. */
static void
update_purge(struct update *up, uint32_t u)
{
	const struct rl_topo *t = up->b.topo;
	const unsigned int planes = up->st->all_planes ? up->rf.wrap :
							 up->rf.late;

	for (unsigned int p = 0; p < planes; p++) {
		for (uint32_t e = 0; e < t->nep; e++) {
			const struct rl_fwd_entry *f = route_at(&up->b, u, p, e);
			struct route_hops h;

			route_hops_init(&h);
			for (unsigned int k = 0; k < RL_FWD_ALTS; k++) {
				const struct rl_fwd_hop hop = f->hop[k];

				if (hop.port >= t->dev[u].nports)
					break;
				if (!t->dev[u].failed &&
				    rl_topo_link_up(t, t->dev[u].port[hop.port]
							       .link))
					route_hops_add(&h, hop.port, hop.plane);
			}
			route_patch(&up->b, u, p, e, &h);
		}
	}
}

/* Endpoints without a link are gone: nothing leads to them. */
static void
update_gone(struct update *up, uint32_t e)
{
	struct route_hops h;

	route_hops_init(&h);
	for (unsigned int p = 0; p < up->rf.late; p++)
		for (uint32_t u = 0; u < up->b.g.nnode; u++)
			route_patch(&up->b, u, p, e, &h);
}

static void
update_tables(struct update *up)
{
	const struct rl_topo *t = up->b.topo;

	for (uint32_t i = 0; i < up->ndead; i++) {
		const struct rl_topo_link *l = &t->link[up->dead[i]];

		for (unsigned int end = 0; end < 2; end++) {
			const struct rl_topo_dev *dev = &t->dev[l->dev[end]];

			if (dev->kind == RL_DEV_ENDPOINT)
				update_gone(up, dev->ep_id);
			else if (up->replan != NULL && !dev->failed)
				update_replan_node(up, l->dev[end]);
			else
				update_purge(up, l->dev[end]);
			if (l->dim >= 0)
				update_add_ring(up, l->dev[end],
						(unsigned int)l->dim);
		}
	}
	for (uint32_t i = 0; i < up->nring; i++)
		update_ring_dor(up, &up->ring[i]);
}

/* Nodes whose tables changed may have entries on the escape planes now. */
static void
update_planes(struct update *up)
{
	for (uint32_t u = 0; u < up->b.g.nnode; u++) {
		if (up->st->all_planes)
			up->b.changed[u] = true;
		if (up->b.changed[u])
			reflit_use_classes(&up->rf, u, up->st->all_planes);
	}
}

static int
update_alloc(struct update *up)
{
	const struct rl_topo *t = up->b.topo;
	const size_t n = up->b.g.nnode;

	up->dead = malloc(((size_t)t->nlink + 1) * sizeof(*up->dead));
	up->ring = malloc(((size_t)t->nlink + 1) * 2 * sizeof(*up->ring));
	up->stamp = calloc(3 * n + 1, sizeof(*up->stamp));
	up->is_source = calloc(2 * n + 1, 1);
	if (up->dead == NULL || up->ring == NULL || up->stamp == NULL ||
	    up->is_source == NULL)
		return -ENOMEM;
	up->written = up->stamp + n;
	up->source = up->stamp + 2 * n;
	up->others = (uint8_t *)up->is_source + n;
	return 0;
}

static void
update_free(struct update *up)
{
	update_replan_free(up);
	free(up->dead);
	free(up->ring);
	free(up->stamp);
	free(up->is_source);
	route_tree_free(&up->down);
	reflit_free(&up->rf);
	route_graph_free(&up->b.g);
}

/* The escape order: kept, or made when it is first needed. */
static int
update_order(struct update *up)
{
	struct reflit *rf = &up->rf;
	uint32_t root;
	int ret;

	if (up->replan != NULL) {
		rf->order = &rf->bk.order;
		return 0;
	}
	if (up->st->rank != NULL)
		return route_order_ranks(rf->order, &up->b.g, up->st->rank);
	ret = route_root(&up->b.g, &root);
	return ret != 0 ? ret : route_order_init(rf->order, &up->b.g, root);
}

static int
update_init(struct update *up)
{
	struct reflit *rf = &up->rf;
	int ret = route_graph_build(&up->b.g, up->b.topo, up->b.err);

	rf->b = &up->b;
	rf->patch = true;
	rf->order = &rf->own_order;
	rf->tree = &rf->own_tree;
	rf->broken = true;
	reflit_planes(rf, up->m->nplanes - 4);
	if (ret == 0)
		ret = reflit_alloc(rf);
	if (ret == 0)
		ret = route_grid_init(&rf->gr, &up->b.g);
	if (ret == 0)
		ret = route_tree_init(&up->down, up->b.g.nnode);
	if (ret == 0)
		ret = route_trees_init(&rf->own_trees, up->b.g.nnode);
	if (ret == 0)
		ret = update_alloc(up);
	if (ret == 0 && up->st->plan != NULL)
		ret = update_replan_init(up);
	if (ret == 0)
		ret = update_order(up);
	return ret;
}

int
reflit_update(struct rl_route *route, const struct rl_topo *topo, bool *changed,
	      char *err)
{
	struct route_mem *m = route->priv;
	struct update up = {.m = m, .st = m->reflit};
	bool all_planes;
	int ret;

	if (up.st == NULL)
		return 1;
	up.hosts = topo->spec.hosts_per_switch;
	up.b = (struct route_build){
		.topo = topo, .route = route, .max_vls = m->params.max_vls,
		.nplanes = m->nplanes, .row = m->row, .entry = m->entry,
		.vl = m->vl, .err = err, .changed = changed};
	if (changed == NULL)
		up.b.changed = calloc(topo->ndev, sizeof(*up.b.changed));
	ret = up.b.changed != NULL ? update_init(&up) : -ENOMEM;
	if (ret == 0)
		ret = update_dead(&up);
	if (ret == 0 && up.ndead != 0) {
		if (up.replan != NULL)
			update_replan(&up);
		update_tables(&up);
		if (up.replan != NULL && !update_replan_entries(&up))
			ret = 1;
	}
	if (ret == 0 && up.ndead != 0) {
		update_others(&up);
		update_classes(&up);
		all_planes = up.st->all_planes;
		update_planes(&up);
		ret = reflit_remember(&up.rf);
		if (ret == 0)
			m->reflit->all_planes = all_planes;
	}
	if (changed == NULL)
		free(up.b.changed);
	update_free(&up);
	return ret;
}
