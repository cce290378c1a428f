/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a grid of an existing fabric: lists in the order of the places, as
 * rl_topo_build() takes them, and then the attributes of a grid - dimension,
 * direction, coordinates.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl_refuse.h"
#include "rl_torus_conf.h"

/* A port of an endpoint, by its position in the grid. */
struct grid_host {
	uint32_t place;
	uint32_t order; /* of the switch's port: port_order, then by number */
	uint32_t node;
};

struct grid {
	const struct rl_ibnet *net;
	const struct rl_torus_conf *conf;
	uint32_t *place;	/* [nnode] */
	struct grid_host *host; /* one for each endpoint */
	uint32_t nhost;
	uint32_t nplaces;
	char *err;
};

static int
host_compare(const void *va, const void *vb)
{
	const struct grid_host *a = va, *b = vb;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void
grid_hosts(struct grid *g)
{
	const struct rl_ibnet *net = g->net;

	for (uint32_t i = 0; i < net->nnode; i++) {
		const struct rl_ibnet_node *node = &net->node[i];
		const struct rl_ibnet_port *peer;
		const uint8_t *at;

		if (node->kind == RL_IBNET_SWITCH || node->nports == 0 ||
		    net->port[node->first_port].link == RL_IBNET_NONE)
			continue;
		peer = &net->port[net->port[node->first_port].peer];
		at = memchr(g->conf->order, (int)peer->number,
			    g->conf->norder);
		g->host[g->nhost++] = (struct grid_host){
			.place = g->place[peer->node], .node = i,
			.order = at != NULL ? (uint32_t)(at - g->conf->order) :
					      RL_TORUS_ORDER_MAX + peer->number,
		};
	}
	qsort(g->host, g->nhost, sizeof(*g->host), host_compare);
}

static void
place_coord(const struct rl_torus_conf *conf, uint32_t place, uint16_t *coord)
{
	for (unsigned int d = RL_DIMS_MAX; d-- > 0;) {
		coord[d] = (uint16_t)(place % conf->dims[d]);
		place /= conf->dims[d];
	}
}

static void
grid_spec(const struct grid *g, struct rl_topo_spec *spec)
{
	for (uint32_t p = 0; p < g->nplaces; p++) {
		uint16_t c[RL_DIMS_MAX];

		place_coord(g->conf, p, c);
		snprintf(spec->switches[p].a, RL_NAME_MAX, "hole.%u.%u.%u",
			 c[0], c[1], c[2]);
	}
	for (uint32_t i = 0; i < g->net->nnode; i++)
		if (g->place[i] != RL_IBNET_NONE)
			memcpy(spec->switches[g->place[i]].a,
			       g->net->node[i].name, RL_NAME_MAX);
	for (uint32_t h = 0; h < g->nhost; h++)
		memcpy(spec->endpoints[h].a, g->net->node[g->host[h].node].name,
		       RL_NAME_MAX);
	spec->nswitches = g->nplaces;
	spec->nendpoints = g->nhost;
}

/* Sets the direction of link l, and which end is first. */
static void
mark_link(struct rl_topo *t, uint32_t l)
{
	struct rl_topo_link *link = &t->link[l];
	const uint16_t *a = t->dev[link->dev[0]].coord;
	const uint16_t *b = t->dev[link->dev[1]].coord;
	int d = 0;
	bool up;

	while (a[d] == b[d])
		d++;
	up = (a[d] + 1u) % t->spec.dims[d] == b[d];
	if (t->spec.dims[d] == 2)
		up = b[d] == 1;
	if (!up) {
		const uint32_t dev = link->dev[0];
		const uint16_t port = link->port[0];

		link->dev[0] = link->dev[1];
		link->port[0] = link->port[1];
		link->dev[1] = dev;
		link->port[1] = port;
	}
	link->dim = (int8_t)d;
	for (unsigned int e = 0; e < 2; e++) {
		struct rl_topo_port *p =
			&t->dev[link->dev[e]].port[link->port[e]];

		p->end = (uint8_t)e;
		p->dim = (int8_t)d;
		p->dir = e == 0 ? 1 : -1;
	}
}

static void
mark_grid(struct rl_topo *t, const struct rl_torus_conf *conf)
{
	uint32_t hosts = 0;

	t->spec.kind = RL_TOPO_TORUS;
	t->spec.ndims = RL_DIMS_MAX;
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
		t->spec.dims[d] = conf->dims[d];
		t->spec.wrap[d] = conf->wrap[d];
	}
	for (uint32_t u = 0; u < t->ndev - t->nep; u++)
		place_coord(conf, u, t->dev[u].coord);
	for (uint32_t l = 0; l < t->nlink; l++)
		if (t->link[l].kind == RL_LINK_ISL)
			mark_link(t, l);
	for (uint32_t e = 0; e < t->nep; e++) {
		struct rl_topo_dev *dev = &t->dev[t->ep_dev[e]];

		if (dev->nports != 0)
			memcpy(dev->coord, t->dev[dev->port[0].peer_dev].coord,
			       sizeof(dev->coord));
	}
	for (uint32_t u = 0; u < t->ndev - t->nep; u++) {
		uint32_t n = 0;

		for (unsigned int p = 0; p < t->dev[u].nports; p++)
			n += t->link[t->dev[u].port[p].link].kind ==
			     RL_LINK_ENDPOINT;
		hosts = n > hosts ? n : hosts;
		t->dev[u].failed |= t->dev[u].nports == 0;
	}
	t->spec.hosts_per_switch = (uint16_t)hosts;
}

/* OpenSM would refuse more; its switch port 0 counts among the hosts. */
static int
check_groups(const struct grid *g, const struct rl_topo *t)
{
	const uint32_t most = g->conf->portgroup_max_ports;

	if (t->spec.hosts_per_switch + 1u > most)
		return rl_refuse(g->err, RL_ERR_MAX, -EINVAL,
				 "a switch has %u endpoints and its own port, "
				 "portgroup_max_ports is %u; raise it",
				 t->spec.hosts_per_switch, most);
	for (uint32_t l = 0; l < t->nlink; l++) {
		if (t->link[l].kind == RL_LINK_ISL &&
		    rl_topo_parallel(t, l) > most)
			return rl_refuse(g->err, RL_ERR_MAX, -EINVAL,
					 "%u cables join two switches, "
					 "portgroup_max_ports is %u; raise it",
					 rl_topo_parallel(t, l), most);
	}
	return 0;
}

static int
grid_build(struct grid *g, struct rl_topo_spec *spec, struct rl_topo *topo,
	   int *line, bool *in_fail)
{
	int ret = rl_ibnet_spec(g->net, spec);

	free(spec->switches);
	free(spec->endpoints);
	spec->switches = calloc(g->nplaces + 1u, sizeof(*spec->switches));
	spec->endpoints = calloc(g->net->nnode + 1u, sizeof(*spec->endpoints));
	if (ret != 0 || spec->switches == NULL || spec->endpoints == NULL)
		return rl_refuse(g->err, RL_ERR_MAX, -ENOMEM,
				 "no memory for %u switches; take a smaller "
				 "fabric", g->nplaces);
	grid_hosts(g);
	grid_spec(g, spec);
	ret = rl_topo_build(spec, topo, g->err, line);
	*in_fail = *line != 0;
	if (ret != 0)
		return ret;
	mark_grid(topo, g->conf);
	ret = check_groups(g, topo);
	if (ret != 0)
		rl_topo_free(topo);
	return ret;
}

int
rl_torus_build(const struct rl_ibnet *net, const struct rl_torus_conf *conf,
	       struct rl_topo_ref *fail, uint32_t nfail, struct rl_topo *topo,
	       char *err, int *line, bool *in_fail)
{
	struct grid g = {.net = net, .conf = conf, .nplaces = 1, .err = err};
	struct rl_topo_spec spec;
	int ret = -ENOMEM;

	*line = 0;
	*in_fail = false;
	rl_topo_spec_defaults(&spec, RL_TOPO_IBNET);
	spec.fail = fail;
	spec.nfail = nfail;
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++)
		g.nplaces *= conf->dims[d];
	g.place = malloc(net->nnode * sizeof(*g.place));
	g.host = calloc(net->nnode, sizeof(*g.host));
	if (g.place == NULL || g.host == NULL)
		snprintf(err, RL_ERR_MAX, "no memory for %u nodes; take a "
			 "smaller fabric", net->nnode);
	else
		ret = rl_torus_find(net, conf, g.place, err, line);
	if (ret == 0)
		ret = grid_build(&g, &spec, topo, line, in_fail);
	free(spec.switches);
	free(spec.endpoints);
	free(spec.links);
	free(g.host);
	free(g.place);
	return ret;
}
