/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates, second half: the classes (SLs) of the pairs concerned. */
#include <string.h>

#include "reflit_replan.h"

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
void
update_others(struct update *up)
{
	const uint32_t nep = up->b.topo->nep;
	const uint8_t *sl = up->m->path_sl;

	for (uint32_t s = 0; s < nep; s++) {
		for (uint32_t e = 0; e < nep; e++, sl++) {
			uint8_t *o = &up->others[e / up->hosts];
			uint64_t eight;

			/* Most are direct: eight at a time. */
			if (e + 8 <= nep) {
				memcpy(&eight, sl, sizeof(eight));
				if (eight == 0) {
					e += 7;
					sl += 7;
					continue;
				}
			}
			if (*sl == REFLIT_SL_DIRECT ||
			    !route_ep_live(&up->b.g, s) ||
			    !route_ep_live(&up->b.g, e))
				continue;
			*o |= *sl == REFLIT_SL_UP ? 1 : 3;
			if (!(*o & 4) &&
			    !update_path_ok(up, s / up->hosts, e, *sl))
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
		if (up->m->path_sl[(size_t)s * nep + update_host(up, t)] != 0)
			update_add_source(up, s / up->hosts);
}

/* Whether node u goes down to rf.t; sets hops and arc. */
static bool
update_down(struct update *up, uint32_t u)
{
	struct reflit *rf = &up->rf;

	if (up->replan != NULL)
		return reflit_replan_down(rf, u, update_host(up, rf->t),
					  &rf->up_next[u], &rf->up_cost[u]);
	rf->up_next[u] = up->down.next[u];
	rf->up_cost[u] = up->down.dist[u];
	return up->down.down[u];
}

/* Hops of the class up from node u to rf.t, and the arc it begins with. */
static uint32_t
update_cost(struct update *up, uint32_t u)
{
	struct reflit *rf = &up->rf;
	const struct route_order *o = rf->order;
	uint32_t best = REFLIT_COST_NONE - 1;

	if (up->stamp[u] == rf->t + 1)
		return rf->up_cost[u];
	up->stamp[u] = rf->t + 1;
	if (update_down(up, u))
		return rf->up_cost[u];
	rf->up_next[u] = ROUTE_NONE;
	rf->up_cost[u] = reflit_dor_cost(&rf->gr, u, rf->t);
	if (rf->up_cost[u] == reflit_least(&rf->gr, u, rf->t))
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

/*
 * The escape planes along the way from s, by the class of @p sl. Other nodes
 * have nothing there: no packet of these classes comes by.
 */
static void
update_write_class(struct update *up, uint32_t s, uint32_t e, uint8_t sl)
{
	struct reflit *rf = &up->rf;
	const struct route_graph *g = &rf->b->g;
	bool both = sl == REFLIT_SL_BOTH, proxy = sl == REFLIT_SL_UP;

	for (uint32_t hops = 0; s != rf->t && hops < g->nnode; hops++) {
		uint32_t next;

		if (proxy) {
			next = rf->up_next[s];
			reflit_fill_up(rf, s, e, rf->up, next, rf->t, rf->dor);
			if (next == ROUTE_NONE)
				return;
		} else if (both) {
			next = rf->both_next[s];
			both = next != ROUTE_NONE;
			reflit_fill_up(rf, s, e, rf->both, next, rf->proxy,
				       rf->late);
			if (!both)
				next = rf->dor_p.first[s];
		} else {
			reflit_fill_late(rf, s, e);
			proxy = s == rf->proxy;
			next = proxy ? rf->tree->next[s] : rf->dor_p.first[s];
		}
		if (next == ROUTE_NONE)
			return;
		s = g->arc[next].to;
	}
}

/* The whole of destination rf.t, as when all is computed. */
static void
update_whole(struct update *up)
{
	struct reflit *rf = &up->rf;
	const uint32_t n = rf->b->g.nnode, from = rf->t * up->hosts;
	struct route_hops end;

	up->st->all_planes = true;
	reflit_dor_all(&rf->gr, rf->t, &rf->dor_t, rf->least);
	reflit_classes(rf, update_host(up, rf->t));
	for (uint32_t e = from; e < from + up->hosts; e++) {
		route_hops_init(&end);
		route_hops_add_ep(&end, &rf->b->g, rf->t, e, rf->dor,
				  RL_FWD_ALTS);
		route_put(rf->b, rf->t, rf->up, e, &end);
		route_put(rf->b, rf->t, rf->late, e, &end);
		route_put(rf->b, rf->t, rf->both, e, &end);
	}
	for (uint32_t s = 0; s < n; s++) {
		uint32_t cost;
		uint8_t sl;

		if (s == rf->t || route_grid_dead(&rf->gr, s))
			continue;
		sl = reflit_choose(rf, s, &cost);
		update_sl(up, s, sl);
		for (uint32_t e = from; e < from + up->hosts && sl != 0; e++)
			if (route_ep_live(&rf->b->g, e))
				update_write_class(up, s, e, sl);
	}
}

/* Chooses anew for the sources at hand; false: a detour gets long. */
static bool
update_choose(struct update *up)
{
	struct reflit *rf = &up->rf;

	if (up->replan == NULL)
		route_order_down(rf->order, update_host(up, rf->t), rf->t,
				 &up->down);
	for (uint32_t i = 0; i < up->nsource; i++)
		if (up->source[i] != rf->t &&
		    update_cost(up, up->source[i]) >
			    reflit_least(&rf->gr, up->source[i], rf->t) +
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
			if (route_ep_live(&rf->b->g, rf->t * up->hosts + k))
				update_write(up, s, rf->t * up->hosts + k);
	}
	return true;
}

/* All pairs whose class may have changed, by destination. */
void
update_classes(struct update *up)
{
	for (uint32_t t = 0; t < up->b.g.nnode; t++) {
		if (route_grid_dead(&up->rf.gr, t) ||
		    update_host(up, t) == ROUTE_NONE)
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
