/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assembles an InfiniBand fabric from the lines of a file: each node once, its
 * ports by number, and each cable once, however often it was named. If two
 * lines contradict each other, the second one is an error.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ibnet_impl.h"

static int
id_compare(struct ibnet_id a, struct ibnet_id b)
{
	if (a.kind != b.kind)
		return a.kind < b.kind ? -1 : 1;
	return a.guid < b.guid ? -1 : a.guid > b.guid;
}

static struct ibnet_id
node_id(const struct rl_ibnet *net, uint32_t node)
{
	return (struct ibnet_id){net->node[node].kind, net->node[node].guid};
}

static int
node_compare(const void *va, const void *vb, void *arg)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const int c = id_compare(node_id(arg, a), node_id(arg, b));

	return c != 0 ? c : a < b ? -1 : a > b;
}

/* Position in by_id; the first of several nodes of one id. */
static uint32_t
find_id(const struct ibnet_read *r, uint32_t n, struct ibnet_id id)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (id_compare(node_id(r->net, r->by_id[mid]), id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && id_compare(node_id(r->net, r->by_id[lo]), id) == 0 ?
		       r->by_id[lo] : RL_IBNET_NONE;
}

/* Keeps each node once, at its first line. */
static int
merge_nodes(struct ibnet_read *r)
{
	struct rl_ibnet *net = r->net;
	uint32_t n = 0;

	r->by_id = malloc((net->nnode + 1) * sizeof(*r->by_id));
	if (r->by_id == NULL)
		return ibnet_no_memory(r);
	for (uint32_t i = 0; i < net->nnode; i++)
		r->by_id[i] = i;
	qsort_r(r->by_id, net->nnode, sizeof(*r->by_id), node_compare, net);
	for (uint32_t i = 1; i < net->nnode; i++)
		if (id_compare(node_id(net, r->by_id[i - 1]),
			       node_id(net, r->by_id[i])) == 0)
			net->node[r->by_id[i]].line = 0; /* a repetition */
	for (uint32_t i = 0; i < net->nnode; i++)
		if (net->node[i].line != 0)
			net->node[n++] = net->node[i];
	net->nnode = n;
	for (uint32_t i = 0; i < n; i++)
		r->by_id[i] = i;
	qsort_r(r->by_id, n, sizeof(*r->by_id), node_compare, net);
	return 0;
}

/* Ports of a node by number; the peer is a node and a number for now. */
struct ibnet_side {
	struct rl_ibnet_port port;
	uint32_t peer_number;
};

static int
side_compare(const void *va, const void *vb)
{
	const struct rl_ibnet_port *a = va, *b = vb; /* a side's first member */

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int
make_sides(struct ibnet_read *r, struct ibnet_side *side)
{
	for (uint32_t i = 0; i < 2 * r->ncable; i++) {
		const struct ibnet_cable *c = &r->cable[i / 2];
		const struct ibnet_end *own = &c->end[i % 2];
		const struct ibnet_end *peer = &c->end[!(i % 2)];
		const uint32_t node = find_id(r, r->net->nnode, own->id);

		if (node == RL_IBNET_NONE)
			return ibnet_error(r, c->line, "a cable to the node "
					   "%c-%016llx, which is not in the "
					   "file; take the file whole",
					   "SHR"[own->id.kind],
					   (unsigned long long)own->id.guid);
		side[i].port = (struct rl_ibnet_port){
			.node = node, .number = own->port, .line = c->line,
			.peer = find_id(r, r->net->nnode, peer->id),
			.lid = own->lid, .lmc = own->lmc, .guid = own->guid,
			.mbps = c->mbps,
		};
		side[i].peer_number = peer->port;
	}
	return 0;
}

/* Several lines may name one port. */
static int
merge_side(struct ibnet_read *r, struct ibnet_side *into,
	   const struct ibnet_side *more)
{
	const struct rl_ibnet_node *node = &r->net->node[into->port.node];

	if (into->port.peer != more->port.peer ||
	    into->peer_number != more->peer_number)
		return ibnet_error(r, more->port.line, "port %u of %c-%016llx "
				   "has a cable already, in line %u; one of "
				   "the two is wrong", into->port.number,
				   "SHR"[node->kind],
				   (unsigned long long)node->guid,
				   into->port.line);
	if (into->port.lid == 0)
		into->port.lid = more->port.lid;
	if (into->port.lmc == 0)
		into->port.lmc = more->port.lmc;
	if (into->port.guid == 0)
		into->port.guid = more->port.guid;
	if (into->port.mbps == 0 || (more->port.mbps != 0 &&
				     more->port.mbps < into->port.mbps))
		into->port.mbps = more->port.mbps;
	return 0;
}

/* Sorts and merges the sides; *n is how many are left. */
static int
merge_sides(struct ibnet_read *r, struct ibnet_side *side, uint32_t *n)
{
	const uint32_t all = 2 * r->ncable;

	*n = 0;
	qsort(side, all, sizeof(*side), side_compare);
	for (uint32_t i = 0; i < all; i++) {
		struct ibnet_side *last = *n > 0 ? &side[*n - 1] : NULL;
		int ret;

		if (last == NULL || last->port.node != side[i].port.node ||
		    last->port.number != side[i].port.number) {
			side[(*n)++] = side[i];
			continue;
		}
		ret = merge_side(r, last, &side[i]);
		if (ret != 0)
			return ret;
	}
	return 0;
}

uint32_t
rl_ibnet_find_port(const struct rl_ibnet *net, uint32_t node, uint32_t number)
{
	const struct rl_ibnet_node *n = &net->node[node];

	for (uint32_t i = 0; i < n->nports; i++)
		if (net->port[n->first_port + i].number == number)
			return n->first_port + i;
	return RL_IBNET_NONE;
}

uint32_t
rl_ibnet_find_switch(const struct rl_ibnet *net, uint64_t guid)
{
	for (uint32_t i = 0; i < net->nnode; i++)
		if (net->node[i].kind == RL_IBNET_SWITCH &&
		    net->node[i].guid == guid)
			return i;
	return RL_IBNET_NONE;
}

/* Sets the peers of ports, and makes each cable one link. */
static void
make_links(struct rl_ibnet *net, const struct ibnet_side *side)
{
	for (uint32_t i = 0; i < net->nport; i++) {
		struct rl_ibnet_node *node = &net->node[side[i].port.node];

		net->port[i] = side[i].port;
		if (node->nports++ == 0)
			node->first_port = i;
	}
	for (uint32_t i = 0; i < net->nport; i++) {
		struct rl_ibnet_port *p = &net->port[i];

		/* both sides were added, so the peer's port is there */
		p->peer = rl_ibnet_find_port(net, side[i].port.peer,
					     side[i].peer_number);
		RL_ASSERT(p->peer != RL_IBNET_NONE);
		p->link = RL_IBNET_NONE;
		if (net->port[p->peer].node == p->node) {
			net->nloops += p->peer >= i;
		} else if (p->peer > i) {
			p->link = net->nlink;
			net->link[net->nlink][0] = i;
			net->link[net->nlink++][1] = p->peer;
		} else {
			p->link = net->port[p->peer].link;
		}
	}
}

static int
join_ports(struct ibnet_read *r)
{
	struct rl_ibnet *net = r->net;
	struct ibnet_side *side = calloc(2 * (size_t)r->ncable + 1,
					 sizeof(*side));
	uint32_t n = 0;
	int ret;

	if (side == NULL)
		return ibnet_no_memory(r);
	ret = make_sides(r, side);
	if (ret == 0)
		ret = merge_sides(r, side, &n);
	if (ret == 0) {
		net->port = calloc(n + 1u, sizeof(*net->port));
		net->link = calloc(n / 2 + 1u, sizeof(*net->link));
		net->nport = n;
		if (net->port == NULL || net->link == NULL)
			ret = ibnet_no_memory(r);
		else
			make_links(net, side);
	}
	free(side);
	return ret;
}

static void
name_of_desc(const struct rl_ibnet_node *node, char name[RL_NAME_MAX])
{
	size_t n = 0;

	if (node->desc[0] != '\0' && !isalpha((unsigned char)node->desc[0]))
		name[n++] = node->kind == RL_IBNET_SWITCH ? 's' : 'e';
	for (const char *p = node->desc; *p != '\0' && n < RL_NAME_MAX - 1;
	     p++)
		name[n++] = isalnum((unsigned char)*p) || *p == '.' ? *p : '_';
	name[n] = '\0';
}

static void
name_of_id(struct rl_ibnet_node *node)
{
	snprintf(node->name, sizeof(node->name), "%c.%016llx",
		 "SHR"[node->kind], (unsigned long long)node->guid);
}

static int
name_compare(const void *va, const void *vb, void *arg)
{
	const struct rl_ibnet *net = arg;

	return strcmp(net->node[*(const uint32_t *)va].name,
		      net->node[*(const uint32_t *)vb].name);
}

static void
make_names(struct ibnet_read *r)
{
	struct rl_ibnet *net = r->net;
	uint32_t *order = r->by_id, from = 0;

	for (uint32_t i = 0; i < net->nnode; i++) {
		name_of_desc(&net->node[i], net->node[i].name);
		order[i] = i;
	}
	qsort_r(order, net->nnode, sizeof(*order), name_compare, net);
	for (uint32_t i = 1; i <= net->nnode; i++) {
		const char *name = net->node[order[from]].name;
		bool alone;

		if (i < net->nnode &&
		    strcmp(name, net->node[order[i]].name) == 0)
			continue;
		alone = i - from == 1 && name[0] != '\0';
		for (; from < i; from++)
			if (!alone)
				name_of_id(&net->node[order[from]]);
	}
}

/* Reads every line, in the format of the first line with content. */
static int
read_lines(struct ibnet_read *r)
{
	int (*form)(struct ibnet_read *) = NULL;
	int ret = 0, got;

	while ((got = rl_lines_next(&r->in, r->text, sizeof(r->text))) > 0) {
		const char first = *rl_skip_blanks(r->text);

		if (first == '\0' || first == '#')
			continue;
		if (form == NULL)
			form = first == '{' ? ibnet_line_subnet :
					      ibnet_line_discover;
		ret = form(r);
		if (ret != 0)
			return ret;
	}
	if (got < 0)
		return ibnet_error(r, r->in.line, "a line that is not text, or "
				   "longer than %d bytes; what ibnetdiscover "
				   "prints is needed", RL_IBNET_LINE_MAX - 1);
	if (r->net->nnode == 0)
		return ibnet_error(r, r->in.line, "there is no node in this "
				   "file; what ibnetdiscover prints is needed");
	return 0;
}

int
rl_ibnet_read(const char *text, size_t len, struct rl_ibnet *net, char *err,
	      int *line)
{
	struct ibnet_read r = {.in = {text, text + len, 0}, .net = net,
			       .err = err};
	int ret;

	memset(net, 0, sizeof(*net));
	ret = read_lines(&r);
	if (ret == 0)
		ret = merge_nodes(&r);
	if (ret == 0)
		ret = join_ports(&r);
	if (ret == 0)
		make_names(&r);
	else
		rl_ibnet_free(net);
	free(r.by_id);
	free(r.cable);
	*line = (int)r.line;
	return ret;
}

void
rl_ibnet_free(struct rl_ibnet *net)
{
	free(net->link);
	free(net->port);
	free(net->node);
	memset(net, 0, sizeof(*net));
}

int
rl_ibnet_spec(const struct rl_ibnet *net, struct rl_topo_spec *spec)
{
	spec->switches = calloc(net->nnode + 1u, sizeof(*spec->switches));
	spec->endpoints = calloc(net->nnode + 1u, sizeof(*spec->endpoints));
	spec->links = calloc(net->nlink + 1u, sizeof(*spec->links));
	spec->nswitches = spec->nendpoints = 0;
	spec->nlinks = net->nlink;
	if (spec->switches == NULL || spec->endpoints == NULL ||
	    spec->links == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < net->nnode; i++) {
		const struct rl_ibnet_node *node = &net->node[i];
		const bool sw = node->kind == RL_IBNET_SWITCH;
		bool linked = false;

		for (uint32_t k = 0; k < node->nports; k++)
			linked |= net->port[node->first_port + k].link !=
				  RL_IBNET_NONE;
		if (linked)
			memcpy(sw ? spec->switches[spec->nswitches++].a :
				    spec->endpoints[spec->nendpoints++].a,
			       node->name, sizeof(node->name));
	}
	for (uint32_t i = 0; i < net->nlink; i++) {
		const struct rl_ibnet_port *p0 = &net->port[net->link[i][0]];
		const struct rl_ibnet_port *p1 = &net->port[net->link[i][1]];

		memcpy(spec->links[i].a, net->node[p0->node].name, RL_NAME_MAX);
		memcpy(spec->links[i].b, net->node[p1->node].name, RL_NAME_MAX);
		spec->links[i].count = 1;
		spec->links[i].mbps = p0->mbps;
		spec->links[i].k = -1;
	}
	return 0;
}
