/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adaptive plane [ROUTE-9] of finished tables, whatever engine made them:
 * for each device and destination the ports that lead strictly nearer, parallel
 * links included. A hop is left out if its far end has no way by the tables for
 * all packets that may get there, since any of them may leave the plane there.
 * Where the source's switch has a longer way to choose (adapt_is_longer()), a
 * packet may begin with one hop that is not minimal.
 *
 * Engine torus-2qos chooses the VL of a ring by the SL of the whole path. At the
 * far side of a ring it goes straight; so packets must not wrap there either,
 * or they would cross the dateline on the VL of those that do not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_refuse.h"
#include "route_impl.h"

struct adapt {
	const struct rl_topo *topo;
	struct rl_route *route;
	uint16_t sls;	 /* of packets that use the plane */
	bool straight;	 /* no wrapping at the far side of a ring */
	uint32_t dst;	 /* of the current destination: its number, */
	uint32_t to;	 /* its device, */
	uint16_t dst_sls; /* SLs of packets for it */
	uint32_t *dist;	 /* [ndev] links to it; UINT32_MAX: no way */
	uint32_t *order; /* [ndev] devices, nearest first */
	uint32_t n;
	bool *fit;	 /* [ndev] the tables lead from there to it */
};

static void
adapt_distances(struct adapt *a)
{
	const struct rl_topo *t = a->topo;

	memset(a->dist, 0xff, t->ndev * sizeof(*a->dist));
	a->dist[a->to] = 0;
	a->order[0] = a->to;
	a->n = 1;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct rl_topo_dev *dev = &t->dev[a->order[i]];

		if (dev->kind == RL_DEV_ENDPOINT && i != 0)
			continue;
		for (unsigned int p = 0; p < dev->nports; p++) {
			const uint32_t w = dev->port[p].peer_dev;

			if (a->dist[w] != UINT32_MAX ||
			    !rl_topo_link_up(t, dev->port[p].link))
				continue;
			a->dist[w] = a->dist[a->order[i]] + 1;
			a->order[a->n++] = w;
		}
	}
}

/* Whether a packet that the tables get at switch u arrives by first next
 * hops. */
static bool
adapt_arrives(const struct adapt *a, uint32_t u, unsigned int sl)
{
	const struct rl_topo *t = a->topo;
	const struct rl_fwd *f = &a->route->fwd[u];
	unsigned int in = f->nports, plane = f->inject_plane[sl];

	for (uint32_t hops = 0; u != a->to; hops++) {
		const struct rl_topo_port *port = NULL;
		struct rl_fwd_entry e;
		uint8_t vl = 0;

		if (hops > t->ndev || (t->dev[u].kind == RL_DEV_ENDPOINT))
			return false;
		f = &a->route->fwd[u];
		e = rl_fwd_lookup(f, plane, (uint16_t)a->dst);
		for (unsigned int i = 0; i < RL_FWD_ALTS && port == NULL; i++) {
			const struct rl_fwd_hop h = e.hop[i];

			if (h.port >= f->nports ||
			    (h.port == in && h.plane == plane) ||
			    !rl_topo_link_up(t, t->dev[u].port[h.port].link))
				continue;
			port = &t->dev[u].port[h.port];
			vl = rl_fwd_vl(f, h.plane, (uint16_t)in, h.port,
				       (uint8_t)sl);
		}
		if (port == NULL)
			return false;
		u = port->peer_dev;
		in = port->peer_port;
		plane = a->route->fwd[u].plane_of[vl][sl];
	}
	return true;
}

static void
adapt_fit(struct adapt *a)
{
	const struct rl_topo *t = a->topo;

	a->dst_sls = 0;
	for (uint32_t s = 0; s < t->nep; s++)
		if (s != a->dst && a->dist[t->ep_dev[s]] != UINT32_MAX)
			a->dst_sls |= (uint16_t)(
				1u << (a->route->fwd[t->ep_dev[s]]
					       .path_sl[a->dst] &
				       (RL_SLS - 1)));
	a->dst_sls &= a->sls;
	for (uint32_t u = 0; u < t->ndev; u++) {
		a->fit[u] = t->dev[u].kind == RL_DEV_SWITCH &&
			    a->dist[u] != UINT32_MAX;
		for (unsigned int sl = 0; sl < RL_SLS && a->fit[u]; sl++)
			if (a->dst_sls >> sl & 1)
				a->fit[u] = adapt_arrives(a, u, sl);
	}
	a->fit[a->to] = true;
}

/* Whether a port of switch u wraps at the far side of a ring. */
static bool
adapt_wraps_at_far_side(const struct adapt *a, uint32_t u,
			const struct rl_topo_port *port)
{
	const struct rl_topo *t = a->topo;
	const uint32_t end = t->dev[a->to].port[0].peer_dev;
	uint16_t from, to, n;

	if (!a->straight || port->dim < 0 ||
	    t->dev[u].kind != RL_DEV_SWITCH)
		return false;
	from = t->dev[u].coord[port->dim];
	to = t->dev[end].coord[port->dim];
	n = t->spec.dims[port->dim];
	return 2 * (from < to ? to - from : from - to) == n &&
	       (port->dir > 0) != (from < to);
}

static uint64_t
adapt_ports(const struct adapt *a, uint32_t u)
{
	const struct rl_topo *t = a->topo;
	const struct rl_topo_dev *dev = &t->dev[u];
	uint64_t ports = 0;

	if (a->dist[u] == UINT32_MAX || u == a->to)
		return 0;
	for (unsigned int p = 0; p < dev->nports; p++) {
		const struct rl_topo_port *port = &dev->port[p];

		if (rl_topo_link_up(t, port->link) &&
		    a->dist[port->peer_dev] < a->dist[u] &&
		    a->fit[port->peer_dev] &&
		    !adapt_wraps_at_far_side(a, u, port))
			ports |= UINT64_C(1) << p;
	}
	return ports;
}

/*
 * Links from switch u to the current destination, 0 if no packet may begin with a
 * non-minimal hop: one that does may be anywhere, and leave the plane there.
 */
static uint8_t
adapt_links(const struct adapt *a, uint32_t u)
{
	const struct rl_topo *t = a->topo;

	if (a->straight || t->dev[u].kind != RL_DEV_SWITCH ||
	    a->dist[u] > UINT8_MAX)
		return 0;
	for (uint32_t d = 0; d < t->ndev; d++)
		if (t->dev[d].kind == RL_DEV_SWITCH && !a->fit[d])
			return 0;
	return (uint8_t)a->dist[u];
}

/* Whether a shortest way from the far end of a port does not lead back. */
static bool
adapt_goes_on(const struct adapt *a, uint32_t u, const struct rl_topo_port *port)
{
	const struct rl_topo *t = a->topo;
	const struct rl_topo_dev *peer = &t->dev[port->peer_dev];

	for (unsigned int p = 0; p < peer->nports; p++) {
		const struct rl_topo_port *on = &peer->port[p];

		if (on->peer_dev != u && rl_topo_link_up(t, on->link) &&
		    a->dist[on->peer_dev] < a->dist[port->peer_dev])
			return true;
	}
	return false;
}

/*
 * Whether a non-minimal hop by a port may relieve a crowded link: not in trees
 * and meshes, whose shortest ways from the far end mostly cross what is crowded.
 * On a ring it goes the other way round, or leaves it. In a dragonfly all of a
 * group share its link to another, so it leaves the group.
 */
static bool
adapt_is_longer(const struct adapt *a, uint32_t u,
		const struct rl_topo_port *port)
{
	const struct rl_topo *t = a->topo;
	const struct rl_topo_dev *peer = &t->dev[port->peer_dev];

	if (peer->kind != RL_DEV_SWITCH || !rl_topo_link_up(t, port->link))
		return false;
	if (port->dim >= 0)
		return t->spec.wrap[port->dim] && adapt_goes_on(a, u, port);
	return t->spec.kind == RL_TOPO_SLIM_FLY ||
	       t->spec.kind == RL_TOPO_RANDOM ||
	       (t->spec.kind == RL_TOPO_DRAGONFLY &&
		peer->coord[0] != t->dev[u].coord[0]);
}

/* Ports other than @p shortest that a packet for the current destination may
   begin with at switch u. */
static uint64_t
adapt_longer(const struct adapt *a, uint32_t u, uint64_t shortest)
{
	const struct rl_topo_dev *dev = &a->topo->dev[u];
	uint64_t ports = 0;

	if (dev->kind != RL_DEV_SWITCH)
		return 0;
	for (unsigned int p = 0; p < dev->nports; p++)
		if (!(shortest >> p & 1) &&
		    adapt_is_longer(a, u, &dev->port[p]))
			ports |= UINT64_C(1) << p;
	return ports;
}

/* Sets for each device, what does not depend on the destination. */
static void
adapt_roles(struct rl_route *route, const struct rl_topo *t)
{
	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_topo_dev *dev = &t->dev[d];
		struct rl_fwd *f = &route->fwd[d];

		f->adapt_ends = 0;
		if (dev->kind != RL_DEV_SWITCH)
			continue;
		for (unsigned int p = 0; p < dev->nports; p++) {
			const struct rl_topo_port *port = &dev->port[p];

			if (t->dev[port->peer_dev].kind == RL_DEV_ENDPOINT)
				f->adapt_ends |= UINT64_C(1) << p;
		}
	}
}

/* A packet that leaves the plane is on the plane of one that a local endpoint
   has injected. */
static void
adapt_planes(struct rl_route *route, const struct rl_topo *t, unsigned int vl)
{
	const struct rl_fwd *ep = &route->fwd[t->ep_dev[0]];

	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		const uint8_t host = rl_fwd_vl(ep, ep->inject_plane[sl],
					       ep->nports, 0, (uint8_t)sl);

		for (uint32_t d = 0; d < t->ndev; d++) {
			struct rl_fwd *f = &route->fwd[d];

			f->plane_of[vl][sl] = f->plane_of[host][sl];
			if (t->dev[d].kind == RL_DEV_SWITCH)
				f->inject_plane[sl] = f->plane_of[host][sl];
		}
	}
}

static int
adapt_possible(const struct rl_route *route, const struct rl_topo *t,
	       unsigned int vl, char *err)
{
	for (uint32_t d = 0; d < t->ndev; d++) {
		if (t->dev[d].nports > RL_FWD_ADAPT_PORTS)
			return rl_refuse(err, RL_ERR_MAX, -EHOSTUNREACH,
					 "adaptive plane: %s has %u ports; it "
					 "works with up to %u", t->dev[d].name,
					 t->dev[d].nports, RL_FWD_ADAPT_PORTS);
		RL_ASSERT(vl < RL_VCS && route->vls + route->detour_vls <= vl);
	}
	return 0;
}

static void
adapt_fill(struct adapt *a, struct route_mem *m)
{
	const struct rl_topo *t = a->topo;

	for (a->dst = 0; a->dst < t->nep; a->dst++) {
		a->to = t->ep_dev[a->dst];
		adapt_distances(a);
		adapt_fit(a);
		for (uint32_t u = 0; u < t->ndev; u++) {
			const size_t i = (size_t)u * t->nep + a->dst;

			m->adapt[i] = adapt_ports(a, u);
			m->adapt_links[i] = adapt_links(a, u);
			if (m->adapt_links[i] != 0)
				m->adapt_longer[i] =
					adapt_longer(a, u, m->adapt[i]);
		}
	}
}

int
route_adapt(struct rl_route *route, const struct rl_topo *topo,
	    unsigned int vl, uint16_t sls, char *err)
{
	struct route_mem *m = route->priv;
	struct adapt a = {.topo = topo, .route = route, .sls = sls,
			  .straight = strcmp(route->engine, "torus-2qos") == 0};
	int ret = adapt_possible(route, topo, vl, err);

	if (ret != 0 || topo->nep == 0)
		return ret;
	m->adapt = calloc((size_t)topo->ndev * topo->nep, sizeof(*m->adapt));
	m->adapt_links = calloc((size_t)topo->ndev * topo->nep,
				sizeof(*m->adapt_links));
	m->adapt_longer = calloc((size_t)topo->ndev * topo->nep,
				 sizeof(*m->adapt_longer));
	a.dist = calloc(topo->ndev, sizeof(*a.dist));
	a.order = calloc(topo->ndev, sizeof(*a.order));
	a.fit = calloc(topo->ndev, sizeof(*a.fit));
	if (m->adapt == NULL || m->adapt_links == NULL ||
	    m->adapt_longer == NULL || a.dist == NULL || a.order == NULL ||
	    a.fit == NULL)
		ret = -ENOMEM;
	if (ret == 0) {
		adapt_planes(route, topo, vl);
		adapt_roles(route, topo);
		adapt_fill(&a, m);
		for (uint32_t d = 0; d < topo->ndev; d++) {
			struct rl_fwd *f = &route->fwd[d];

			f->adapt = m->adapt + (size_t)d * topo->nep;
			f->adapt_longer =
				m->adapt_longer + (size_t)d * topo->nep;
			f->adapt_links =
				m->adapt_links + (size_t)d * topo->nep;
			f->adapt_sls = sls;
			f->adapt_vl = (uint8_t)vl;
			f->nvls = (uint8_t)(vl + 1);
		}
		route->adapts = true;
	}
	free(a.dist);
	free(a.order);
	free(a.fit);
	return ret;
}

void
route_adapt_drop(struct rl_route *route)
{
	struct route_mem *m = route->priv;

	for (uint32_t d = 0; d < route->ndev; d++) {
		route->fwd[d].adapt = NULL;
		route->fwd[d].adapt_links = NULL;
		route->fwd[d].adapt_longer = NULL;
		route->fwd[d].adapt_sls = 0;
	}
	free(m->adapt);
	free(m->adapt_links);
	free(m->adapt_longer);
	m->adapt_longer = NULL;
	m->adapt = NULL;
	m->adapt_links = NULL;
	route->adapts = false;
}
