/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds a fabric in four steps: count, take the memory, add devices and links
 * in their order, then number ports and make the two indexes. Descriptions that
 * are too large are refused before any memory is allocated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo_impl.h"

void
rl_topo_spec_defaults(struct rl_topo_spec *spec, enum rl_topo_kind kind)
{
	memset(spec, 0, sizeof(*spec));
	spec->kind = kind;
	spec->hosts_per_switch = 1;
	for (int d = 0; d < RL_DIMS_MAX; d++) {
		spec->dims[d] = 1;
		spec->wrap[d] = kind == RL_TOPO_TORUS;
		spec->links_per_edge[d] = 1;
	}
	spec->boards = kind == RL_TOPO_BOARD ? 1 : 3;
	spec->switches_per_board = kind == RL_TOPO_BOARD ? 12 : 2;
	spec->endpoints_per_board = kind == RL_TOPO_BOARD ? 32 : 4;
	spec->intra_board_links = kind == RL_TOPO_BOARDS;
	for (int i = 0; i < RL_TREE_LEVELS_MAX; i++)
		spec->tree_links[i] = 1;
	spec->seed = 1;
}

static int
topo_count(struct topo_build *b, struct topo_size *size)
{
	int ret = -EINVAL;

	switch (b->spec->kind) {
	case RL_TOPO_TORUS:
	case RL_TOPO_MESH:
		ret = topo_size_grid(b, size);
		break;
	case RL_TOPO_BOARDS:
	case RL_TOPO_BOARD:
		ret = topo_size_boards(b, size);
		break;
	case RL_TOPO_FAT_TREE:
		ret = topo_size_tree(b, size);
		break;
	case RL_TOPO_DRAGONFLY:
		ret = topo_size_dragonfly(b, size);
		break;
	case RL_TOPO_SLIM_FLY:
		ret = topo_size_slim_fly(b, size);
		break;
	case RL_TOPO_RANDOM:
		ret = topo_size_random(b, size);
		break;
	case RL_TOPO_CUSTOM:
	case RL_TOPO_IBNET:
		ret = topo_size_custom(b, size);
		break;
	}
	if (ret != 0)
		return ret;
	if (size->switches + size->endpoints > RL_DEVICES_MAX)
		return topo_error(b, 0,
				  "the fabric has %llu switches and %llu "
				  "endpoints; at most %u devices are "
				  "possible: make it smaller",
				  (unsigned long long)size->switches,
				  (unsigned long long)size->endpoints,
				  RL_DEVICES_MAX);
	if (size->links > RL_LINKS_MAX)
		return topo_error(b, 0,
				  "the fabric has %llu links; at most %u are "
				  "possible: make it smaller",
				  (unsigned long long)size->links,
				  RL_LINKS_MAX);
	if (size->endpoints == 0)
		return topo_error(b, 0, "the fabric has no endpoint; give it "
					"at least one");
	return 0;
}

static int
topo_alloc(struct topo_build *b, const struct topo_size *size)
{
	struct rl_topo *t = b->t;

	b->cap_dev = (uint32_t)(size->switches + size->endpoints);
	b->cap_link = (uint32_t)size->links;
	t->dev = calloc(b->cap_dev, sizeof(*t->dev));
	t->link = calloc(b->cap_link + 1u, sizeof(*t->link));
	t->ep_dev = calloc((size_t)size->endpoints, sizeof(*t->ep_dev));
	t->ports = calloc(2u * b->cap_link + 1u, sizeof(*t->ports));
	t->by_name = calloc(b->cap_dev, sizeof(*t->by_name));
	t->by_pair = calloc(b->cap_link + 1u, sizeof(*t->by_pair));
	if (t->dev == NULL || t->link == NULL || t->ep_dev == NULL ||
	    t->ports == NULL || t->by_name == NULL || t->by_pair == NULL) {
		topo_error(b, 0,
			   "no memory for %u devices and %u links; make the "
			   "fabric smaller",
			   b->cap_dev, b->cap_link);
		return -ENOMEM;
	}
	return 0;
}

static int
topo_fill(struct topo_build *b)
{
	int ret = 0;

	switch (b->spec->kind) {
	case RL_TOPO_TORUS:
	case RL_TOPO_MESH:
		topo_fill_grid(b);
		break;
	case RL_TOPO_BOARDS:
	case RL_TOPO_BOARD:
		topo_fill_boards(b);
		break;
	case RL_TOPO_FAT_TREE:
		topo_fill_tree(b);
		break;
	case RL_TOPO_DRAGONFLY:
		topo_fill_dragonfly(b);
		break;
	case RL_TOPO_SLIM_FLY:
		topo_fill_slim_fly(b);
		break;
	case RL_TOPO_RANDOM:
		ret = topo_fill_random(b);
		break;
	case RL_TOPO_CUSTOM:
	case RL_TOPO_IBNET:
		ret = topo_fill_custom_devs(b);
		if (ret == 0)
			ret = topo_index_names(b); /* links need names */
		return ret != 0 ? ret : topo_fill_custom_links(b);
	}
	return ret != 0 ? ret : topo_index_names(b);
}

static int
topo_count_ports(struct topo_build *b)
{
	struct rl_topo *t = b->t;
	uint32_t *n = calloc(t->ndev, sizeof(*n));
	struct rl_topo_port *next = t->ports;
	int ret = 0;

	if (n == NULL) {
		topo_error(b, 0, "no memory for %u devices; make the fabric "
				 "smaller", t->ndev);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->nlink; i++) {
		n[t->link[i].dev[0]]++;
		n[t->link[i].dev[1]]++;
	}
	for (uint32_t i = 0; i < t->ndev && ret == 0; i++) {
		if (n[i] > RL_PORTS_MAX)
			ret = topo_error(b, 0,
					 "%s has %u links; give a device at "
					 "most %u",
					 t->dev[i].name, n[i], RL_PORTS_MAX);
		t->dev[i].port = next;
		next += n[i];
	}
	free(n);
	return ret;
}

static void
topo_add_port(struct rl_topo *t, uint32_t link, unsigned int end)
{
	struct rl_topo_link *l = &t->link[link];
	struct rl_topo_dev *dev = &t->dev[l->dev[end]];
	struct rl_topo_port *p = &dev->port[dev->nports];

	p->link = link;
	p->peer_dev = l->dev[!end];
	p->end = (uint8_t)end;
	p->dim = l->dim;
	p->dir = l->dim < 0 ? 0 : end == 0 ? 1 : -1;
	l->port[end] = dev->nports++;
}

/*
 * Ports are numbered in passes over the links: those to endpoints, then ISLs
 * dimension by dimension, + before -. A pass is short; a sort for each device
 * would be longer.
 */
static int
topo_number_ports(struct topo_build *b)
{
	struct rl_topo *t = b->t;
	int ret = topo_count_ports(b);

	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i < t->nlink; i++) {
		if (t->link[i].kind == RL_LINK_ENDPOINT) {
			topo_add_port(t, i, 0);
			topo_add_port(t, i, 1);
		}
	}
	for (int dim = -1; dim < RL_DIMS_MAX; dim++) {
		for (unsigned int end = 0; end < 2; end++) {
			for (uint32_t i = 0; i < t->nlink; i++) {
				if (t->link[i].kind != RL_LINK_ISL ||
				    t->link[i].dim != dim)
					continue;
				topo_add_port(t, i, end);
			}
		}
	}
	for (uint32_t i = 0; i < t->nlink; i++) {
		const struct rl_topo_link *l = &t->link[i];

		t->dev[l->dev[0]].port[l->port[0]].peer_port = l->port[1];
		t->dev[l->dev[1]].port[l->port[1]].peer_port = l->port[0];
	}
	return 0;
}

static int
pair_compare(const void *va, const void *vb, void *arg)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct rl_topo_link *la = &((const struct rl_topo *)arg)->link[a];
	const struct rl_topo_link *lb = &((const struct rl_topo *)arg)->link[b];
	const uint32_t alo = rl_min_u32(la->dev[0], la->dev[1]);
	const uint32_t blo = rl_min_u32(lb->dev[0], lb->dev[1]);
	const uint32_t ahi = la->dev[0] ^ la->dev[1] ^ alo;
	const uint32_t bhi = lb->dev[0] ^ lb->dev[1] ^ blo;

	if (alo != blo)
		return alo < blo ? -1 : 1;
	if (ahi != bhi)
		return ahi < bhi ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Makes links of one pair neighbours; their order gives their k. */
static void
topo_index_pairs(struct rl_topo *t)
{
	for (uint32_t i = 0; i < t->nlink; i++)
		t->by_pair[i] = i;
	qsort_r(t->by_pair, t->nlink, sizeof(*t->by_pair), pair_compare, t);
	for (uint32_t i = 1; i < t->nlink; i++) {
		const struct rl_topo_link *a = &t->link[t->by_pair[i - 1]];
		struct rl_topo_link *l = &t->link[t->by_pair[i]];

		if ((a->dev[0] == l->dev[0] && a->dev[1] == l->dev[1]) ||
		    (a->dev[0] == l->dev[1] && a->dev[1] == l->dev[0]))
			l->k = (uint16_t)(a->k + 1);
	}
}

static int
topo_mark_failed(struct topo_build *b)
{
	for (uint32_t i = 0; i < b->spec->nfail; i++) {
		const struct rl_topo_ref *f = &b->spec->fail[i];
		char name[2 * RL_NAME_MAX + 16];
		char why[RL_ERR_MAX];

		if (f->b[0] == '\0')
			snprintf(name, sizeof(name), "%s", f->a);
		else if (f->k < 0)
			snprintf(name, sizeof(name), "%s-%s", f->a, f->b);
		else
			snprintf(name, sizeof(name), "%s-%s#%d", f->a, f->b,
				 f->k);
		if (rl_topo_fail(b->t, name, why) != 0)
			return topo_error(b, f->line, "%s", why);
	}
	return 0;
}

int
rl_topo_build(const struct rl_topo_spec *spec, struct rl_topo *topo, char *err,
	      int *line)
{
	struct topo_build b = {.spec = spec, .t = topo, .err = err};
	struct topo_size size = {0};
	int ret;

	memset(topo, 0, sizeof(*topo));
	topo->spec = *spec;
	topo->spec.switches = topo->spec.endpoints = NULL;
	topo->spec.links = topo->spec.fail = NULL;
	topo->spec.nswitches = topo->spec.nendpoints = 0;
	topo->spec.nlinks = topo->spec.nfail = 0;

	ret = topo_count(&b, &size);
	if (ret == 0)
		ret = topo_alloc(&b, &size);
	if (ret == 0)
		ret = topo_fill(&b);
	if (ret == 0) {
		RL_ASSERT(topo->ndev == b.cap_dev);
		RL_ASSERT(topo->nlink == b.cap_link);
		RL_ASSERT(topo->nep == size.endpoints);
		ret = topo_number_ports(&b);
	}
	if (ret == 0) {
		topo_index_pairs(topo);
		ret = topo_mark_failed(&b);
	}
	if (ret != 0)
		rl_topo_free(topo);
	if (line != NULL)
		*line = (int)b.line;
	return ret;
}

void
rl_topo_free(struct rl_topo *topo)
{
	free(topo->by_pair);
	free(topo->by_name);
	free(topo->ports);
	free(topo->ep_dev);
	free(topo->link);
	free(topo->dev);
	memset(topo, 0, sizeof(*topo));
}
