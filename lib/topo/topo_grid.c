/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tori and meshes [ROUTE-1]. A switch's number is its coordinates in mixed
 * radix, x slowest. A dimension is an index, never a letter, so no code is
 * repeated per dimension.
 */
#include "topo_impl.h"

static bool
grid_wraps(const struct rl_topo_spec *spec, unsigned int d)
{
	return spec->wrap[d] && spec->dims[d] > 2;
}

int
topo_size_grid(struct topo_build *b, struct topo_size *size)
{
	struct rl_topo_spec *spec = &b->t->spec;

	if (spec->ndims < 1 || spec->ndims > RL_DIMS_MAX)
		return topo_error(b, 0, "a grid of %u dimensions; a grid has 1 to %d "
				  "dimensions", spec->ndims, RL_DIMS_MAX);
	if (spec->hosts_per_switch == 0)
		return topo_error(b, 0, "hosts_per_switch is 0; a grid needs "
					"at least one endpoint a switch");
	for (unsigned int d = spec->ndims; d < RL_DIMS_MAX; d++) {
		spec->dims[d] = 1;
		spec->wrap[d] = false;
	}
	size->switches = 1;
	for (unsigned int d = 0; d < spec->ndims; d++) {
		if (spec->dims[d] == 0)
			return topo_error(b, 0, "dimension %u is 0; the least "
						"is 1", d);
		if (spec->links_per_edge[d] == 0)
			return topo_error(b, 0, "links_per_edge of dimension "
						"%u is 0; the least is 1", d);
		spec->wrap[d] = grid_wraps(spec, d);
		size->switches *= spec->dims[d];
	}
	size->endpoints = size->switches * spec->hosts_per_switch;
	size->links = size->endpoints;
	for (unsigned int d = 0; d < spec->ndims; d++) {
		const uint64_t lines = size->switches / spec->dims[d];
		const uint64_t edges = spec->dims[d] - 1u + spec->wrap[d];

		size->links += lines * edges * spec->links_per_edge[d];
	}
	return 0;
}

/* "s1.2.3", "e1.2.3" or "e1.2.3.k". */
static void
grid_name(const struct rl_topo_spec *spec, char letter, const uint16_t *coord,
	  int k, char *buf, size_t len)
{
	int n = snprintf(buf, len, "%c%u", letter, coord[0]);

	for (unsigned int d = 1; d < spec->ndims; d++)
		n += snprintf(buf + n, len - (size_t)n, ".%u", coord[d]);
	if (k >= 0)
		snprintf(buf + n, len - (size_t)n, ".%d", k);
}

static void
grid_add_dev(struct topo_build *b, enum rl_dev_kind kind, uint32_t number, int k)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	uint16_t coord[RL_DIMS_MAX] = {0};
	char name[RL_NAME_MAX];
	struct rl_topo_dev *dev;

	for (unsigned int d = spec->ndims; d-- > 0;) {
		coord[d] = (uint16_t)(number % spec->dims[d]);
		number /= spec->dims[d];
	}
	grid_name(spec, kind == RL_DEV_SWITCH ? 's' : 'e', coord, k, name,
		  sizeof(name));
	dev = topo_add_dev(b, kind, "%s", name);
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++)
		dev->coord[d] = coord[d];
}

static void
grid_add_isls(struct topo_build *b, uint32_t u)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	uint32_t stride = b->cap_dev / (1u + spec->hosts_per_switch);

	for (unsigned int d = 0; d < spec->ndims; d++) {
		const uint32_t radix = spec->dims[d];
		const uint32_t at = b->t->dev[u].coord[d];

		stride /= radix;
		if (at + 1 < radix)
			topo_add_links(b, u, u + stride, (int)d,
				       spec->links_per_edge[d]);
		else if (spec->wrap[d])
			topo_add_links(b, u, u - at * stride, (int)d,
				       spec->links_per_edge[d]);
	}
}

void
topo_fill_grid(struct topo_build *b)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	const int hosts = spec->hosts_per_switch;
	const uint32_t nsw = b->cap_dev / (1u + spec->hosts_per_switch);

	for (uint32_t u = 0; u < nsw; u++)
		grid_add_dev(b, RL_DEV_SWITCH, u, -1);
	for (uint32_t u = 0; u < nsw; u++)
		for (int k = 0; k < hosts; k++)
			grid_add_dev(b, RL_DEV_ENDPOINT, u,
				     hosts > 1 ? k : -1);
	for (uint32_t e = 0; e < b->t->nep; e++)
		topo_add_links(b, b->t->ep_dev[e], e / (uint32_t)hosts, -1, 1);
	for (uint32_t u = 0; u < nsw; u++)
		grid_add_isls(b, u);
}
