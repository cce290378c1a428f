/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fat trees [ROUTE-8]: XGFT(h; m; w) with parallel links.
 *
 *   level 2   s2.0   s2.1   s2.2        w[1] = 3 parents of each leaf switch
 *              | \   /|\   / |
 *   level 1   s1.0   s1.1   s1.2 ...    m[1] of them below each root
 *             / | \
 *   level 0  e0 e1 e2                   m[0] endpoints below each
 *
 * A node of level l has h digits. Digit j is the choice among w[j] parents if j
 * < l, and among m[j] children otherwise. Two nodes of neighbouring levels l
 * and l+1 are linked if all digits except number l agree. The number of a node
 * is its digits in mixed radix, digit h-1 first: the endpoints below a switch
 * have numbers that follow one another.
 */
#include "topo_impl.h"

/* Saturates at UINT32_MAX: far above any limit. */
static uint64_t
tree_mul(uint64_t a, uint64_t b)
{
	return rl_min_u64(a * b, UINT32_MAX);
}

/* Number of values of digit j of a node of level l. */
static uint32_t
tree_radix(const struct rl_topo_spec *spec, unsigned int l, unsigned int j)
{
	return j < l ? spec->w[j] : spec->m[j];
}

static uint64_t
tree_nodes(const struct rl_topo_spec *spec, unsigned int l)
{
	uint64_t n = 1;

	for (unsigned int j = 0; j < spec->levels; j++)
		n = tree_mul(n, tree_radix(spec, l, j));
	return n;
}

int
topo_size_tree(struct topo_build *b, struct topo_size *size)
{
	const struct rl_topo_spec *spec = &b->t->spec;

	if (spec->levels < 1 || spec->levels > RL_TREE_LEVELS_MAX)
		return topo_error(b, 0, "a fat tree of %u levels; it has 1 to "
					"%d", spec->levels, RL_TREE_LEVELS_MAX);
	for (unsigned int l = 0; l < spec->levels; l++) {
		if (spec->m[l] == 0 || spec->w[l] == 0 ||
		    spec->tree_links[l] == 0)
			return topo_error(b, 0, "level %u of the fat tree has "
						"no children, parents or "
						"links; the least is 1", l + 1);
	}
	size->endpoints = tree_nodes(spec, 0);
	for (unsigned int l = 0; l < spec->levels; l++) {
		const uint64_t below = tree_nodes(spec, l);

		size->switches += tree_nodes(spec, l + 1);
		size->links += below * spec->w[l] * spec->tree_links[l];
	}
	return 0;
}

static uint32_t
tree_parent(const struct rl_topo_spec *spec, unsigned int l, uint32_t i,
	    uint32_t x)
{
	uint32_t low = 1; /* values of the digits below number l */

	for (unsigned int j = 0; j < l; j++)
		low *= tree_radix(spec, l, j);
	return (i / low / spec->m[l] * spec->w[l] + x) * low + i % low;
}

static void
tree_add_level(struct topo_build *b, unsigned int l, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct rl_topo_dev *dev =
			l == 0 ? topo_add_dev(b, RL_DEV_ENDPOINT, "e%u", i) :
				 topo_add_dev(b, RL_DEV_SWITCH, "s%u.%u", l, i);

		dev->coord[0] = (uint16_t)l;
		dev->coord[1] = (uint16_t)i;
	}
}

void
topo_fill_tree(struct topo_build *b)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	uint32_t first[RL_TREE_LEVELS_MAX + 1];

	for (unsigned int l = 1; l <= spec->levels; l++) {
		first[l] = b->t->ndev;
		tree_add_level(b, l, (uint32_t)tree_nodes(spec, l));
	}
	first[0] = b->t->ndev;
	tree_add_level(b, 0, (uint32_t)tree_nodes(spec, 0));
	for (unsigned int l = 0; l < spec->levels; l++) {
		const uint32_t n = (uint32_t)tree_nodes(spec, l);

		for (uint32_t i = 0; i < n; i++)
			for (uint32_t x = 0; x < spec->w[l]; x++)
				topo_add_links(b, first[l] + i,
					       first[l + 1] +
						       tree_parent(spec, l, i,
								   x),
					       -1, spec->tree_links[l]);
	}
}
