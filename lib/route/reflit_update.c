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
 * goes up: old and new tables then have one order, and mix without a loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route_reflit.h"

/* A ring that lost a link: all nodes on it, and its dimension. */
struct update_ring {
	uint32_t base; /* its node with coordinate 0 */
	unsigned int d;
};

struct update {
	struct reflit rf;
	struct route_build b;
	struct reflit_state *st;
	struct route_mem *m;
	struct update_ring *ring;
	uint32_t nring;
	uint32_t *dead; /* links */
	uint32_t ndead;
	uint32_t *stamp;   /* [node] destination that up_cost holds for, + 1 */
	uint32_t *written; /* [node] endpoint that plane up is written for, + 1 */
	uint32_t *source;  /* nodes whose path to rf.t is chosen anew */
	uint32_t nsource;
	bool *is_source;   /* [node] */
	uint8_t *others;   /* [node] destination has sources of classes 1..3 */
	uint32_t hosts;	   /* endpoints of a switch */
};

void
reflit_state_free(struct reflit_state *st)
{
	if (st == NULL)
		return;
	free(st->rank);
	free(st->run);
	free(st->link_up);
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
		memcpy(st->rank, rf->order.rank, n * sizeof(*st->rank));
	st->all_planes = rf->broken;
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

/* Where a leg of a ring leads by the grid as it is, or as it was. */
static unsigned int
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

static inline bool
update_leg_changed(const struct update *up, uint32_t u, unsigned int d,
		   uint32_t to)
{
	return update_leg(up, (const uint16_t (*)[GRID_WAYS])up->st->run, u, d,
			  to) !=
	       update_leg(up, (const uint16_t (*)[GRID_WAYS])up->rf.gr.run, u,
			  d, to);
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
				for (uint32_t k = 0; k < up->hosts; k++)
					reflit_fill_dor(&up->rf, u,
							t * up->hosts + k);
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

/* Whether the path that the tables have is whole and on no backup plane. */
static bool
update_path_ok(const struct update *up, uint32_t s, uint32_t e, uint8_t sl)
{
	const struct rl_topo *t = up->b.topo;
	const struct rl_fwd *fwd = up->b.route->fwd;
	unsigned int plane = sl == REFLIT_SL_UP ? up->rf.up :
			     sl == REFLIT_SL_LATE ? up->rf.late : up->rf.both;

	for (uint32_t hops = 0; hops < RL_FWD_PORTS_MAX; hops++) {
		const struct rl_fwd_hop h = route_at(&up->b, s, plane, e)->hop[0];
		const struct rl_topo_port *p;
		uint8_t vl;

		if (h.port >= t->dev[s].nports ||
		    (h.plane > 0 && h.plane < up->rf.up))
			return false;
		p = &t->dev[s].port[h.port];
		if (!rl_topo_link_up(t, p->link))
			return false;
		if (p->peer_dev == t->ep_dev[e])
			return true;
		vl = rl_fwd_vl(&fwd[s], h.plane, 0, h.port, sl);
		s = p->peer_dev;
		plane = fwd[s].plane_of[vl][sl];
	}
	return false;
}

/*
 * Destinations with sources of the classes up, late and both: 1, with late or
 * both: 3; of which a path is broken: plus 4.
 */
static void
update_others(struct update *up)
{
	const uint32_t nep = up->b.topo->nep;
	const uint8_t *sl = up->m->path_sl;

	for (uint32_t s = 0; s < nep; s++) {
		for (uint32_t e = 0; e < nep; e++, sl++) {
			uint8_t *o = &up->others[e / up->hosts];

			if (*sl == REFLIT_SL_DIRECT ||
			    !route_ep_live(&up->b.g, s) ||
			    !route_ep_live(&up->b.g, e))
				continue;
			*o |= *sl == REFLIT_SL_UP ? 1 : 3;
			if (!update_path_ok(up, s / up->hosts, e, *sl))
				*o |= 4;
		}
	}
}

static void
update_add_source(struct update *up, uint32_t s)
{
	if (up->is_source[s] || route_grid_dead(&up->rf.gr, s))
		return;
	up->is_source[s] = true;
	up->source[up->nsource++] = s;
}

/* Sources whose DOR path to t led over a leg that changed. */
static void
update_sources(struct update *up, uint32_t t)
{
	const struct route_grid *gr = &up->rf.gr;

	for (uint32_t i = 0; i < up->nring; i++) {
		const struct update_ring *r = &up->ring[i];
		const uint32_t block = gr->stride[r->d] * gr->radix[r->d];

		/* The path turns into dimension d with all lower coordinates
		 * those of t, and the higher ones those of the source. */
		if (t / block != r->base / block)
			continue;
		for (uint32_t c = 0; c < gr->radix[r->d]; c++) {
			const uint32_t u = route_grid_at(gr, r->base, r->d, c);

			if (c == gr->coord[t][r->d] ||
			    !update_leg_changed(up, u, r->d,
						gr->coord[t][r->d]))
				continue;
			for (uint32_t s = u % block; s < gr->g->nnode;
			     s += block)
				update_add_source(up, s);
		}
	}
}

/* Sources of other classes, where one of their paths may have changed. */
static void
update_more_sources(struct update *up, uint32_t t)
{
	const uint32_t nep = up->b.topo->nep;

	for (uint32_t s = 0; s < nep; s++)
		if (up->m->path_sl[(size_t)s * nep + t * up->hosts] != 0)
			update_add_source(up, s / up->hosts);
}

/* Hops of the class up from node u to rf.t, and the arc it begins with. */
static uint32_t
update_cost(struct update *up, uint32_t u)
{
	struct reflit *rf = &up->rf;
	const struct route_order *o = &rf->order;
	uint32_t best = REFLIT_COST_NONE - 1;

	if (up->stamp[u] == rf->t + 1)
		return rf->up_cost[u];
	up->stamp[u] = rf->t + 1;
	if (rf->tree.down[u]) {
		rf->up_next[u] = rf->tree.next[u];
		return rf->up_cost[u] = rf->tree.dist[u];
	}
	rf->up_next[u] = ROUTE_NONE;
	rf->up_cost[u] = reflit_dor_cost(&rf->gr, u, rf->t);
	if (rf->up_cost[u] != REFLIT_COST_NONE &&
	    reflit_extra(&rf->gr, u, rf->t, rf->up_cost[u]) == 0)
		return rf->up_cost[u];
	for (uint32_t k = o->first[u]; k < o->first[u + 1]; k++) {
		const uint32_t c = update_cost(up, o->up[k].to);

		if (c < best && c + 1 < rf->up_cost[u]) {
			best = c;
			rf->up_next[u] = o->up[k].arc;
		}
	}
	if (rf->up_next[u] != ROUTE_NONE)
		rf->up_cost[u] = best + 1;
	return rf->up_cost[u];
}

/* Plane up along the way from s, as far as DOR, for one endpoint. */
static void
update_write(struct update *up, uint32_t s, uint32_t e)
{
	struct reflit *rf = &up->rf;
	struct route_hops end;

	route_hops_init(&end);
	route_hops_add_ep(&end, &rf->b->g, rf->t, e, rf->dor, RL_FWD_ALTS);
	route_put(rf->b, rf->t, rf->up, e, &end);
	while (s != rf->t && up->written[s] != e + 1) {
		const uint32_t next = rf->up_next[s];

		up->written[s] = e + 1;
		reflit_fill_up(rf, s, e, rf->up, next, rf->t, rf->dor);
		if (next == ROUTE_NONE)
			return;
		s = rf->b->g.arc[next].to;
		update_cost(up, s);
	}
}

static void
update_sl(struct update *up, uint32_t s, uint8_t sl)
{
	const uint32_t nep = up->b.topo->nep;

	for (uint32_t i = s * up->hosts; i < (s + 1) * up->hosts; i++) {
		for (uint32_t k = 0; k < up->hosts; k++) {
			uint8_t *was = &up->m->path_sl[(size_t)i * nep +
						       up->rf.t * up->hosts + k];

			if (*was == sl)
				continue;
			*was = sl;
			up->b.changed[up->b.topo->ep_dev[i]] = true;
		}
	}
}

/* The whole of destination rf.t, as when all is computed. */
static void
update_whole(struct update *up)
{
	struct reflit *rf = &up->rf;
	const uint32_t n = rf->b->g.nnode, e = rf->t * up->hosts;
	struct route_hops end;

	up->st->all_planes = true;
	for (uint32_t u = 0; u < n; u++)
		rf->cost[u] = reflit_dor_cost(&rf->gr, u, rf->t);
	reflit_classes(rf, e);
	for (uint32_t k = 0; k < up->hosts; k++) {
		for (uint32_t u = 0; u < n; u++)
			if (u != rf->t && !route_grid_dead(&rf->gr, u))
				reflit_fill_classes(rf, u, e + k);
		route_hops_init(&end);
		route_hops_add_ep(&end, &rf->b->g, rf->t, e + k, rf->dor,
				  RL_FWD_ALTS);
		route_put(rf->b, rf->t, rf->up, e + k, &end);
		route_put(rf->b, rf->t, rf->late, e + k, &end);
		route_put(rf->b, rf->t, rf->both, e + k, &end);
	}
	for (uint32_t s = 0; s < n; s++) {
		uint32_t cost;

		if (s != rf->t && !route_grid_dead(&rf->gr, s))
			update_sl(up, s, reflit_choose(rf, s, &cost));
	}
}

/* Chooses anew for the sources at hand; false: a detour gets long. */
static bool
update_choose(struct update *up)
{
	struct reflit *rf = &up->rf;

	route_order_down(&rf->order, rf->t * up->hosts, rf->t, &rf->tree);
	for (uint32_t i = 0; i < up->nsource; i++)
		if (up->source[i] != rf->t &&
		    reflit_extra(&rf->gr, up->source[i], rf->t,
				 update_cost(up, up->source[i])) >
			    REFLIT_BEARABLE)
			return false;
	for (uint32_t i = 0; i < up->nsource; i++) {
		const uint32_t s = up->source[i];
		uint8_t sl = REFLIT_SL_DIRECT;

		if (s == rf->t)
			continue;
		if (update_cost(up, s) < reflit_dor_cost(&rf->gr, s, rf->t))
			sl = REFLIT_SL_UP;
		update_sl(up, s, sl);
		for (uint32_t k = 0; k < up->hosts && sl != 0; k++)
			update_write(up, s, rf->t * up->hosts + k);
	}
	return true;
}

/* All pairs whose class may have changed, by destination. */
static void
update_classes(struct update *up)
{
	for (uint32_t t = 0; t < up->b.g.nnode; t++) {
		if (route_grid_dead(&up->rf.gr, t) ||
		    !route_ep_live(&up->b.g, t * up->hosts))
			continue;
		up->rf.t = t;
		update_sources(up, t);
		if (up->nsource == 0 && !(up->others[t] & 4))
			continue;
		if (up->others[t] & 1)
			update_more_sources(up, t);
		if ((up->others[t] & 2) || !update_choose(up))
			update_whole(up);
		while (up->nsource > 0)
			up->is_source[up->source[--up->nsource]] = false;
	}
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
	free(up->dead);
	free(up->ring);
	free(up->stamp);
	free(up->is_source);
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

	if (up->st->rank != NULL)
		return route_order_ranks(&rf->order, &up->b.g, up->st->rank);
	ret = route_root(&up->b.g, &root);
	return ret != 0 ? ret : route_order_init(&rf->order, &up->b.g, root);
}

static int
update_init(struct update *up)
{
	struct reflit *rf = &up->rf;
	int ret = route_graph_build(&up->b.g, up->b.topo, up->b.err);

	rf->b = &up->b;
	rf->patch = true;
	rf->broken = true;
	reflit_planes(rf, up->m->nplanes - 4);
	if (ret == 0)
		ret = reflit_alloc(rf);
	if (ret == 0)
		ret = route_grid_init(&rf->gr, &up->b.g);
	if (ret == 0)
		ret = route_tree_init(&rf->tree, up->b.g.nnode);
	if (ret == 0)
		ret = update_alloc(up);
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
		update_tables(&up);
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
