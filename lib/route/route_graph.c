/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_refuse.h"
#include "route_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
graph_alloc(struct route_graph *g)
{
	const struct rl_topo *t = g->topo;
	const size_t arcs = 2u * (size_t)t->nlink + 1;

	g->first = calloc(g->nnode + 1u, sizeof(*g->first));
	g->arc = calloc(arcs, sizeof(*g->arc));
	g->tail = calloc(arcs, sizeof(*g->tail));
	g->port = calloc(arcs, sizeof(*g->port));
	g->only = calloc(arcs, sizeof(*g->only));
	g->att0 = calloc(t->nep + 1u, sizeof(*g->att0));
	g->att = calloc(arcs, sizeof(*g->att));
	if (g->first == NULL || g->arc == NULL || g->tail == NULL ||
	    g->port == NULL || g->only == NULL || g->att0 == NULL || g->att == NULL) {
		route_graph_free(g);
		return -ENOMEM;
	}
	return 0;
}

/*
 * Adds the arcs of one node: its ports in order, ports to one neighbour
 * together.
 */
static void
graph_add_arcs(struct route_graph *g, uint32_t u, uint32_t *slot,
	       uint32_t *arc_of, uint32_t *np)
{
	const struct rl_topo *t = g->topo;
	const struct rl_topo_dev *dev = &t->dev[u];
	const uint32_t base = g->narc;

	for (unsigned int p = 0; p < dev->nports; p++) {
		const struct rl_topo_port *port = &dev->port[p];
		struct route_arc *a;

		if (port->peer_dev >= g->nnode ||
		    !rl_topo_link_up(t, port->link))
			continue;
		if (slot[port->peer_dev] == ROUTE_NONE) {
			slot[port->peer_dev] = g->narc++;
			a = &g->arc[slot[port->peer_dev]];
			a->to = port->peer_dev;
			a->dim = port->dim;
			a->dir = port->dir;
			g->tail[slot[port->peer_dev]] = u;
		}
		g->arc[slot[port->peer_dev]].nport++;
	}
	for (uint32_t i = base; i < g->narc; i++) {
		g->arc[i].port0 = *np;
		*np += g->arc[i].nport;
		g->arc[i].nport = 0;
	}
	for (unsigned int p = 0; p < dev->nports; p++) {
		const struct rl_topo_port *port = &dev->port[p];
		struct route_arc *a;

		if (port->peer_dev >= g->nnode ||
		    !rl_topo_link_up(t, port->link))
			continue;
		a = &g->arc[slot[port->peer_dev]];
		arc_of[port - t->ports] = slot[port->peer_dev];
		g->port[a->port0 + a->nport++] = (uint16_t)p;
	}
	for (uint32_t i = base; i < g->narc; i++)
		slot[g->arc[i].to] = ROUTE_NONE;
}

static void
graph_join(struct route_graph *g, const uint32_t *arc_of)
{
	const struct rl_topo *t = g->topo;

	for (uint32_t a = 0; a < g->narc; a++) {
		const struct rl_topo_dev *dev = &t->dev[g->tail[a]];
		const struct rl_topo_port *out =
			&dev->port[g->port[g->arc[a].port0]];

		g->only[a] = g->arc[a].nport == 1 ? g->port[g->arc[a].port0] :
						    ROUTE_PORTS;
		g->arc[a].back = arc_of[t->dev[out->peer_dev].port - t->ports +
					out->peer_port];
	}
}

static void
graph_add_endpoints(struct route_graph *g)
{
	const struct rl_topo *t = g->topo;
	uint32_t n = 0;

	for (uint32_t e = 0; e < t->nep; e++) {
		const struct rl_topo_dev *dev = &t->dev[t->ep_dev[e]];

		g->att0[e] = n;
		for (unsigned int p = 0; p < dev->nports; p++) {
			const struct rl_topo_port *port = &dev->port[p];

			if (!rl_topo_link_up(t, port->link))
				continue;
			g->att[n].node = port->peer_dev < g->nnode ?
						 port->peer_dev : ROUTE_NONE;
			g->att[n].peer = port->peer_dev;
			g->att[n].sw_port = port->peer_port;
			g->att[n++].ep_port = (uint16_t)p;
		}
	}
	g->att0[t->nep] = n;
}

int
route_graph_build(struct route_graph *g, const struct rl_topo *topo, char *err)
{
	const size_t nports = 2u * (size_t)topo->nlink + 1;
	uint32_t *slot, *arc_of, np = 0;

	memset(g, 0, sizeof(*g));
	g->topo = topo;
	g->nnode = topo->ndev - topo->nep;
	for (uint32_t d = 0; d < topo->ndev; d++) {
		RL_ASSERT((topo->dev[d].kind == RL_DEV_SWITCH) ==
			  (d < g->nnode));
		if (topo->dev[d].nports < RL_FWD_PORTS_MAX)
			continue;
		return rl_refuse(err, RL_ERR_MAX, -EHOSTUNREACH,
				 "%s has %u ports; tables hold %u",
				 topo->dev[d].name, topo->dev[d].nports,
				 RL_FWD_PORTS_MAX);
	}
	slot = malloc((g->nnode + 1u + nports) * sizeof(*slot));
	arc_of = slot + g->nnode + 1u;
	if (slot == NULL || graph_alloc(g) != 0) {
		free(slot);
		return rl_refuse(err, RL_ERR_MAX, -ENOMEM, "no memory for %u "
				 "devices", topo->ndev);
	}
	memset(slot, 0xff, (g->nnode + 1u) * sizeof(*slot));
	for (uint32_t u = 0; u < g->nnode; u++) {
		g->first[u] = g->narc;
		graph_add_arcs(g, u, slot, arc_of, &np);
	}
	g->first[g->nnode] = g->narc;
	graph_join(g, arc_of);
	graph_add_endpoints(g);
	free(slot);
	return 0;
}

void
route_graph_free(struct route_graph *g)
{
	free(g->first);
	free(g->arc);
	free(g->tail);
	free(g->port);
	free(g->only);
	free(g->att0);
	free(g->att);
	memset(g, 0, sizeof(*g));
}
