/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine reflit on fabrics that are not grids: boards and free-form ones.
 *
 * If links have enough VLs, paths are shortest: the p-th link of a path is
 * crossed on VL p modulo the longest distance; the VL counts the links, so no
 * channel can wait for itself. The last link may use VL 0 again, the VL of
 * injection: a packet on it only waits for its endpoint. Up*-down* needs only
 * one VL, and on fabrics with a top (trees) it is as short; it is used if it is
 * as short and its busiest link carries less, or if there are too few VLs.
 * Endpoints with several links may begin at a switch that is one link farther
 * away, if crowded links then carry clearly less (route_settle.c).
 *
 * If endpoints have several switches, and switches few links among themselves,
 * the path past a dead link may lead through a third endpoint (Figure 3 of the
 * DRL patent): a switch with no other path sends a packet to an endpoint that
 * is linked to another switch from which the destination is at most one link
 * away. That endpoint sees that the packet is not its own and reflects it,
 * once, to that switch. VL 6 leads to such an endpoint, VL 7 on from it; all
 * other VLs may lead to these, and these to no other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reflit_quality.h"
#include "route_detour.h"
#include "route_bfs.h"
#include "route_rank.h"
#include "reflit_grid.h"

/* VLs of detours without reflection. */
#define ANY_DETOURS 3
/* Enough to cover every single link. */
#define ANY_DETOURS_MIN 2
/* Up to this path length, shortest paths may leave detours short of VLs. */
#define ANY_LINKS_DEAR 3

struct any_lane {
	uint32_t *dist; /* [node] */
	uint32_t *next; /* [node] arc */
	uint32_t *near; /* [node] those with a path, by distance */
	uint32_t n;
};

struct any {
	struct route_build *b;
	struct route_bfs search;
	struct any_lane lane[ROUTE_TILE];
	struct any_lane near; /* of the current destination */
	struct route_detour dt;
	uint32_t longest; /* most links between any two relevant switches */
	uint32_t limit;	  /* most links that VLs suffice for */
	struct any_quality quality; /* of shortest paths */
	bool settled;	  /* the paths are kept */
	bool reflect;
	unsigned int peer;    /* plane of reflected packets */
	unsigned int to_peer; /* plane that chooses the VL towards it */
};

/* Measures the longest path, and the quality of all; stops beyond the limit. */
static void
any_measure(struct any *an)
{
	const struct route_graph *g = &an->b->g;
	struct route_bfs *near = &an->search;

	an->longest = 1;
	for (uint32_t e = 0; e < an->b->topo->nep; e++) {
		route_bfs_dst(near, g, e);
		if (near->nqueue == 0)
			continue;
		an->longest = rl_max_u32(an->longest,
			near->dist[near->queue[near->nqueue - 1]]);
		if (an->longest > an->limit)
			return;
		for (uint32_t i = 0; i < near->nqueue; i++)
			an->quality.links +=
				(uint64_t)near->dist[near->queue[i]] *
				near->hosts[near->queue[i]];
	}
	an->quality.busiest = any_busiest(g, near->load);
	if (near->way != NULL)
		an->settled = route_bfs_settle(near, g, &an->quality.busiest);
	/* otherwise they stay as the load that later destinations add to: this
	 * lets the first ones know where crowds will form */
}

/* Whether endpoint x can reflect to e a packet from node u. */
static bool
any_reflects(const struct any *an, uint32_t x, uint32_t u)
{
	const struct route_graph *g = &an->b->g;

	for (uint32_t i = g->att0[x]; i < g->att0[x + 1]; i++)
		if (g->att[i].node != ROUTE_NONE && g->att[i].node != u &&
		    an->near.dist[g->att[i].node] <= 1)
			return true;
	return false;
}

/*
 * What endpoints do with packets for e: send them on to a switch within reach
 * of e, but not back to where they came from (see rl_fwd_lookup()).
 */
static void
any_reflect(struct any *an, uint32_t e)
{
	const struct route_graph *g = &an->b->g;

	for (uint32_t x = 0; x < an->b->topo->nep; x++) {
		const uint32_t n = g->att0[x + 1] - g->att0[x];
		struct route_hops h;

		route_hops_init(&h);
		for (uint32_t far = 0; far < 2 && x != e && n > 1; far++) {
			for (uint32_t k = 0; k < n; k++) {
				const struct route_att *a =
					&g->att[g->att0[x] + (k + x + e) % n];

				if (a->node != ROUTE_NONE &&
				    an->near.dist[a->node] == far)
					route_hops_add(&h, a->ep_port,
						       an->peer);
			}
		}
		if (h.n != 0)
			route_ep_put(an->b, x, 1, e, &h);
	}
}

static void
any_add_peer(const struct any *an, struct route_hops *h, uint32_t u, uint32_t e)
{
	const struct rl_topo *t = an->b->topo;
	const struct rl_topo_dev *dev = &t->dev[u];

	for (unsigned int i = 0; i < dev->nports; i++) {
		const unsigned int p = (i + e) % dev->nports;
		const struct rl_topo_dev *x = &t->dev[dev->port[p].peer_dev];

		if (x->kind != RL_DEV_ENDPOINT || x->ep_id == e ||
		    !rl_topo_link_up(t, dev->port[p].link) ||
		    !any_reflects(an, x->ep_id, u))
			continue;
		route_hops_add(h, (uint16_t)p, an->to_peer);
		return;
	}
}

/* Next hops of node u; plane p is for packets p links from the source. */
static void
any_fill(struct any *an, uint32_t u, uint32_t e, unsigned int p)
{
	const struct route_graph *g = &an->b->g;
	const uint32_t next = an->near.next[u];
	const unsigned int most = RL_FWD_ALTS - 1u - an->reflect;
	struct route_hops h;

	route_hops_init(&h);
	if (next != ROUTE_NONE)
		route_hops_add_arc(&h, g, next, p, e, most);
	else
		route_hops_add_ep(&h, g, u, e, p, most);
	for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
		if (a != next && h.n < most &&
		    an->near.dist[g->arc[a].to] < an->near.dist[u])
			route_hops_add_arc(&h, g, a, p, e, 1);
	route_detour_add(&an->dt, &h, u, e,
			 next != ROUTE_NONE ? next : ROUTE_EJECT);
	if (an->reflect)
		any_add_peer(an, &h, u, e);
	route_put(an->b, u, p, e, &h);
}

/* The last resort, also on the detour planes. */
static void
any_more(struct any *an, uint32_t u, uint32_t e)
{
	/* on its own planes, a node without a path has only this one */
	const bool lost = an->near.dist[u] == ROUTE_NONE;

	for (unsigned int p = lost ? 0 : an->longest; p < an->peer; p++) {
		struct route_hops h = route_got(an->b, u, p, e);

		any_add_peer(an, &h, u, e);
		route_put(an->b, u, p, e, &h);
	}
}

/* Packets after a reflection are at most one link from their destination. */
static void
any_fill_peer(struct any *an, uint32_t u, uint32_t e)
{
	const struct route_graph *g = &an->b->g;
	struct route_hops h;

	route_hops_init(&h);
	if (an->near.dist[u] == 0)
		route_hops_add_ep(&h, g, u, e, 0, RL_FWD_ALTS);
	else if (an->near.dist[u] == 1)
		route_hops_add_arc(&h, g, an->near.next[u], an->peer, e,
				   RL_FWD_ALTS);
	route_put(an->b, u, an->peer, e, &h);
}

static void
any_plan(struct any *an, uint32_t e)
{
	const uint32_t n = rl_min_u32(ROUTE_TILE, an->b->topo->nep - e);
	const size_t bytes = an->b->g.nnode * sizeof(uint32_t);
	const uint32_t *first[ROUTE_TILE] = {NULL};
	uint32_t dst[ROUTE_TILE];

	for (uint32_t k = 0; k < n; k++) {
		struct any_lane *lane = &an->lane[k];

		dst[k] = e + k;
		lane->n = 0;
		if (!route_ep_live(&an->b->g, e + k))
			continue;
		memset(an->search.next, 0xff, bytes);
		if (an->settled)
			route_bfs_kept(&an->search, &an->b->g, e + k);
		else
			route_bfs_dst(&an->search, &an->b->g, e + k);
		memcpy(lane->dist, an->search.dist, bytes);
		memcpy(lane->next, an->search.next, bytes);
		lane->n = an->search.nqueue;
		memcpy(lane->near, an->search.queue,
		       lane->n * sizeof(*lane->near));
		first[k] = lane->next;
	}
	route_detour_plan(&an->dt, dst, n, first);
}

static void
any_endpoint(struct any *an, uint32_t e)
{
	an->near = an->lane[e % ROUTE_TILE];
	route_detour_dst(&an->dt, e % ROUTE_TILE);
	route_detour_fill(&an->dt, e);
	if (an->reflect)
		any_reflect(an, e);
	for (uint32_t i = 0; i < an->near.n; i++) {
		const uint32_t u = an->near.near[i];

		/* only as many links behind it as possible */
		for (unsigned int p = 0;
		     p + rl_max_u32(an->near.dist[u], 1) <= an->longest; p++)
			any_fill(an, u, e, p);
	}
	for (uint32_t u = 0; u < an->b->g.nnode && an->reflect; u++) {
		any_more(an, u, e);
		any_fill_peer(an, u, e);
	}
}

static void
any_tables(struct any *an)
{
	for (uint32_t e = 0; e < an->b->topo->nep; e++) {
		route_tile_begin(an->b, e);
		if (e % ROUTE_TILE == 0)
			any_plan(an, e);
		if (route_ep_live(&an->b->g, e))
			any_endpoint(an, e);
		route_tile_end(an->b, e);
	}
	route_endpoints(an->b, an->settled ? an->search.up : NULL);
}

static void
any_vls(struct any *an)
{
	struct route_build *b = an->b;
	const unsigned int n = an->longest;

	for (unsigned int p = 0; p < n; p++) {
		const uint8_t vl = (uint8_t)((p + 1) % n);

		route_plane_vl(b, p, vl);
		for (uint8_t sl = 0; sl < RL_SLS; sl++)
			route_plane_of(b, vl, sl, (uint8_t)((p + 1) % n));
	}
	route_detour_vls(&an->dt, (uint8_t)n);
	if (!an->reflect)
		return;
	route_plane_host_vl(b, an->to_peer, (uint8_t)(n + ANY_DETOURS));
	route_plane_host_vl(b, an->peer, (uint8_t)(n + ANY_DETOURS + 1));
	route_plane_vl(b, an->peer, (uint8_t)(n + ANY_DETOURS + 1));
	for (uint8_t sl = 0; sl < RL_SLS; sl++) {
		/* packets that endpoints reflect stay on plane 1 */
		route_plane_of(b, (uint8_t)(n + ANY_DETOURS), sl, 1);
		route_plane_of(b, (uint8_t)(n + ANY_DETOURS + 1), sl,
			       (uint8_t)an->peer);
	}
	b->route->detour_vls = (uint8_t)(b->route->detour_vls + 2);
}

/* Packets cross links on VL 1, 2, ..., the last on VL 0. */
static int
any_ranks(struct any *an)
{
	struct route_build *b = an->b;
	const uint32_t n = an->longest;
	uint32_t next = 1;

	if (route_rank_begin(b) != 0)
		return -ENOMEM;
	for (uint32_t p = 0; p < n; p++)
		next = route_rank_flat(b, next, (uint8_t)((p + 1) % n));
	next = route_detour_ranks(&an->dt, next, (uint8_t)n);
	if (an->reflect)
		route_rank_reflect(b, next, (uint8_t)(n + ANY_DETOURS),
				   (uint8_t)(n + ANY_DETOURS + 1));
	return 0;
}

/* Whether any endpoint has several links, so that others may reflect to it. */
static bool
any_several(const struct rl_topo *t)
{
	for (uint32_t e = 0; e < t->nep; e++)
		if (t->dev[t->ep_dev[e]].nports > 1)
			return true;
	return false;
}

static int
any_compute(struct any *an)
{
	struct route_build *b = an->b;
	const unsigned int spare = b->max_vls - an->longest;
	int ret;

	an->reflect = spare >= ANY_DETOURS + 2 && any_several(b->topo);
	ret = route_detour_init(&an->dt, b, an->longest,
				rl_min_u32(spare, ANY_DETOURS));
	if (ret != 0)
		return ret;
	an->peer = an->longest + an->dt.nplanes;
	an->to_peer = an->peer + 1;
	b->one_sl = true;
	b->vl_planes = an->reflect;
	/* with reflection each list has one more */
	if (!an->reflect)
		route_detour_most(&an->dt);
	ret = route_tables_init(b, an->peer + an->reflect);
	if (ret != 0)
		return ret;
	b->route->vls = (uint8_t)an->longest;
	any_vls(an);
	any_tables(an);
	return any_ranks(an);
}

static int
any_init(struct any *an)
{
	const size_t n = an->b->g.nnode;
	uint32_t *m = malloc((3 * n * ROUTE_TILE + 1) * sizeof(*m));

	an->lane[0].dist = m;
	if (m == NULL)
		return -ENOMEM;
	for (unsigned int k = 0; k < ROUTE_TILE; k++) {
		an->lane[k].dist = m + 3 * n * k;
		an->lane[k].next = an->lane[k].dist + n;
		an->lane[k].near = an->lane[k].next + n;
	}
	if (route_bfs_init(&an->search, &an->b->g) != 0)
		return -ENOMEM;
	/* without memory for it, loads are less even */
	if ((uint64_t)an->b->g.narc * an->b->topo->nep <=
	    ROUTE_SETTLE_ARCS / 2)
		(void)route_bfs_keep(&an->search, &an->b->g);
	return 0;
}

/* Whether up*-down* is as short, and balances the flows better. */
static int
any_has_top(const struct any *an, bool *top)
{
	struct any_quality ud;
	const int ret = any_updown_quality(&an->b->g, &ud);

	*top = ret == 0 && ud.links == an->quality.links &&
	       ud.busiest < an->quality.busiest;
	return ret;
}

int
reflit_any(struct route_build *b)
{
	struct any an = {.b = b};
	bool top = false;
	int ret = any_init(&an);

	an.limit = b->max_vls > ANY_LINKS_DEAR + ANY_DETOURS_MIN ?
			   b->max_vls - ANY_DETOURS_MIN :
			   rl_min_u32(ANY_LINKS_DEAR, b->max_vls);
	if (ret == 0) {
		any_measure(&an);
		/* with reflection, two switches may be connected only through
		 * endpoints; and small fabrics use only shortest paths */
		if (an.longest > an.limit)
			top = true;
		else if (an.longest > ANY_LINKS_DEAR)
			ret = any_has_top(&an, &top);
	}
	if (ret == 0)
		ret = top ? route_updown.compute(b) : any_compute(&an);
	if (ret == -ENOMEM)
		snprintf(b->err, RL_ERR_MAX, "no memory for %u switches",
			 b->g.nnode);
	route_detour_free(&an.dt);
	route_bfs_free(&an.search);
	free(an.lane[0].dist);
	return ret;
}
