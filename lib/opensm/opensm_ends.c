/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which port has which LID, and the fabric that switches and LIDs make. A port
 * states its base LID; further LIDs follow from its LMC (ibnetdiscover) or from
 * the port GUIDs beside the LIDs in the forwarding tables (OpenSM).
 */
#include <stdio.h>
#include <stdlib.h>

#include "opensm_impl.h"

static bool
is_end_port(const struct osm_read *r, uint32_t port)
{
	const struct rl_ibnet_port *p = &r->net.port[port];

	return r->net.node[p->node].kind != RL_IBNET_SWITCH &&
	       p->link != RL_IBNET_NONE;
}

/* Enters a LID of a port in end_of_lid, by the port's index for now. */
static int
claim_lid(struct osm_read *r, uint32_t port, uint32_t lid)
{
	uint32_t *of = &r->end_of_lid[lid];

	if (*of != RL_IBNET_NONE && *of != port)
		return osm_error(r, RL_OPENSM_NET, r->net.port[port].line,
				 "LID %u is that of line %u already; a LID "
				 "belongs to one port", lid,
				 r->net.port[*of].line);
	*of = port;
	return 0;
}

struct guid_port {
	uint64_t guid;
	uint32_t port;
};

static int
guid_compare(const void *va, const void *vb)
{
	const struct guid_port *a = va, *b = vb;

	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

/* LIDs that the forwarding tables assign to ports by their GUIDs. */
static int
claim_by_guid(struct osm_read *r)
{
	struct guid_port *g = calloc(r->net.nport + 1u, sizeof(*g));
	uint32_t n = 0;

	if (g == NULL)
		return osm_no_memory(r);
	for (uint32_t p = 0; p < r->net.nport; p++)
		if (is_end_port(r, p) && r->net.port[p].guid != 0)
			g[n++] = (struct guid_port){r->net.port[p].guid, p};
	qsort(g, n, sizeof(*g), guid_compare);
	for (uint32_t lid = 1; lid < OSM_LIDS; lid++) {
		const struct guid_port key = {.guid = r->guid_of_lid[lid]};
		const struct guid_port *hit =
			key.guid != 0 && r->end_of_lid[lid] == RL_IBNET_NONE ?
				bsearch(&key, g, n, sizeof(*g), guid_compare) :
				NULL;

		if (hit != NULL)
			r->end_of_lid[lid] = hit->port;
	}
	free(g);
	return 0;
}

static int
end_compare(const void *va, const void *vb)
{
	const struct osm_end *a = va, *b = vb;

	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return a->lid < b->lid ? -1 : a->lid > b->lid;
}

int
osm_make_ends(struct osm_read *r)
{
	uint32_t ports = 0, seen = RL_IBNET_NONE;
	int ret = 0;

	for (uint32_t p = 0; p < r->net.nport && ret == 0; p++) {
		const struct rl_ibnet_port *port = &r->net.port[p];

		if (!is_end_port(r, p))
			continue;
		ports++;
		for (uint32_t i = 0; i < 1u << port->lmc && ret == 0 &&
				     port->lid != 0; i++)
			if (port->lid + i < OSM_LIDS)
				ret = claim_lid(r, p, port->lid + i);
	}
	if (ret == 0)
		ret = claim_by_guid(r);
	if (ret != 0)
		return ret;
	r->end = calloc(OSM_LIDS, sizeof(*r->end));
	if (r->end == NULL)
		return osm_no_memory(r);
	for (uint32_t lid = 1; lid < OSM_LIDS; lid++)
		if (r->end_of_lid[lid] != RL_IBNET_NONE)
			r->end[r->nend++] = (struct osm_end){
				r->end_of_lid[lid], lid};
	qsort(r->end, r->nend, sizeof(*r->end), end_compare);
	for (uint32_t e = 0; e < r->nend; e++) {
		r->end_of_lid[r->end[e].lid] = e;
		ports -= r->end[e].port != seen;
		seen = r->end[e].port;
	}
	r->osm->nodes_without_lid = ports;
	if (r->nend < 2)
		return osm_error(r, RL_OPENSM_NET, 0, "%u channel adapters "
				 "have a LID; it takes two to send anything",
				 r->nend);
	return 0;
}

/* A unique name for each endpoint. */
static void
end_name(const struct osm_read *r, uint32_t e, char name[RL_NAME_MAX])
{
	const struct osm_end *end = &r->end[e];
	const struct rl_ibnet_port *port = &r->net.port[end->port];
	const struct rl_ibnet_node *node = &r->net.node[port->node];
	const bool lids =
		(e > 0 && r->end[e - 1].port == end->port) ||
		(e + 1 < r->nend && r->end[e + 1].port == end->port);
	char tail[24] = "";
	size_t n = 0;

	if (node->nports > 1)
		n = (size_t)snprintf(tail, sizeof(tail), ".p%u", port->number);
	if (lids)
		n += (size_t)snprintf(tail + n, sizeof(tail) - n, ".l%u",
				      end->lid);
	snprintf(name, RL_NAME_MAX, "%.*s%s", (int)(RL_NAME_MAX - 1 - n),
		 node->name, tail);
}

/*
 * Makes the description: a link for each cable between switches, and for each
 * LID.
 */
static int
make_spec(struct osm_read *r, struct rl_topo_spec *spec)
{
	const struct rl_ibnet *net = &r->net;

	spec->switches = calloc(r->nsw + 1u, sizeof(*spec->switches));
	spec->endpoints = calloc(r->nend + 1u, sizeof(*spec->endpoints));
	spec->links = calloc(net->nlink + r->nend + 1u, sizeof(*spec->links));
	if (spec->switches == NULL || spec->endpoints == NULL ||
	    spec->links == NULL)
		return osm_no_memory(r);
	spec->nswitches = r->nsw;
	spec->nendpoints = r->nend;
	for (uint32_t i = 0; i < r->nsw; i++)
		memcpy(spec->switches[i].a, net->node[r->sw[i].node].name,
		       RL_NAME_MAX);
	for (uint32_t e = 0; e < r->nend; e++) {
		const struct rl_ibnet_port *port = &net->port[r->end[e].port];
		struct rl_topo_ref *l = &spec->links[spec->nlinks++];
		const struct rl_ibnet_node *peer =
			&net->node[net->port[port->peer].node];

		end_name(r, e, spec->endpoints[e].a);
		memcpy(l->a, spec->endpoints[e].a, RL_NAME_MAX);
		memcpy(l->b, peer->name, RL_NAME_MAX);
		l->count = 1;
		if (peer->kind != RL_IBNET_SWITCH)
			return osm_error(r, RL_OPENSM_NET, port->line,
					 "a cable between two channel "
					 "adapters; only fabrics of switches "
					 "are judged");
	}
	for (uint32_t i = 0; i < net->nlink; i++) {
		const struct rl_ibnet_node *n0 =
			&net->node[net->port[net->link[i][0]].node];
		const struct rl_ibnet_node *n1 =
			&net->node[net->port[net->link[i][1]].node];
		struct rl_topo_ref *l = &spec->links[spec->nlinks];

		if (n0->kind != RL_IBNET_SWITCH || n1->kind != RL_IBNET_SWITCH)
			continue;
		memcpy(l->a, n0->name, RL_NAME_MAX);
		memcpy(l->b, n1->name, RL_NAME_MAX);
		l->count = 1;
		spec->nlinks++;
	}
	return 0;
}

int
osm_make_topo(struct osm_read *r)
{
	struct rl_topo_spec spec;
	char why[RL_ERR_MAX];
	int ret;

	rl_topo_spec_defaults(&spec, RL_TOPO_IBNET);
	ret = make_spec(r, &spec);
	if (ret == 0 && rl_topo_build(&spec, &r->osm->topo, why, NULL) != 0)
		ret = osm_error(r, RL_OPENSM_NET, 0, "%.200s", why);
	free(spec.switches);
	free(spec.endpoints);
	free(spec.links);
	return ret;
}
