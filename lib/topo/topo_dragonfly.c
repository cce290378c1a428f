/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dragonflies [ROUTE-8], after Kim, Dally, Scott and Abts (2008): groups of `a`
 * switches, each joined to all others of its group; a switch has h links to
 * other groups, which makes a h global ports of a group. With a h + 1 groups
 * each pair of groups is joined by one link. With fewer, all pairs have the
 * same number of links, and the leftover ports go to the nearest groups of the
 * circle, +1 and -1, +2 and -2, ..., in pairs.
 *
 * A *round* is one global link of a group to every other group. The leftover
 * ports are part of a round. Within a round the arrangement gives the order in
 * which the ports, and with them the switches, take the other groups.
 */
#include "topo_impl.h"

static uint32_t
fly_groups(const struct rl_topo_spec *spec)
{
	return spec->groups != 0 ? spec->groups : spec->a * (uint32_t)spec->h + 1;
}

/* Whole rounds of a group's global ports. */
static uint32_t
fly_rounds(const struct rl_topo_spec *spec)
{
	return spec->a * (uint32_t)spec->h / (fly_groups(spec) - 1);
}

/*
 * Ports of the last round, which does not reach every group. A link to the
 * group d places on is one to the group d places back for the other end, so
 * they come in pairs, except for the group opposite.
 */
static uint32_t
fly_rest(const struct rl_topo_spec *spec)
{
	const uint32_t g = fly_groups(spec);
	const uint32_t rest = spec->a * (uint32_t)spec->h % (g - 1);

	return rest / 2 * 2;
}

int
topo_size_dragonfly(struct topo_build *b, struct topo_size *size)
{
	struct rl_topo_spec *spec = &b->t->spec;
	const uint64_t a = spec->a, ports = a * spec->h;
	const uint64_t groups = fly_groups(spec);

	if (a == 0 || spec->h == 0 || spec->hosts_per_switch == 0)
		return topo_error(b, 0, "a dragonfly of nothing; a, h and p "
					"are at least 1");
	if (groups > ports + 1)
		return topo_error(b, 0, "%u groups, but a group has %llu global "
					"links, a times h; use %llu groups at "
					"most", spec->groups,
				  (unsigned long long)ports,
				  (unsigned long long)ports + 1);
	if (groups < 2)
		return topo_error(b, 0, "a dragonfly of one group; it has at "
					"least 2");
	if (groups > RL_DEVICES_MAX)
		return topo_error(b, 0, "%llu groups; at most %u devices are "
					"possible: give fewer groups",
				  (unsigned long long)groups, RL_DEVICES_MAX);
	spec->groups = (uint16_t)groups;
	size->switches = groups * a;
	size->endpoints = size->switches * spec->hosts_per_switch;
	size->links = size->endpoints + groups * (a * (a - 1) / 2) +
		      groups * (groups - 1) / 2 * fly_rounds(spec) +
		      groups * fly_rest(spec) / 2;
	return 0;
}

/* The place of group t in a round of group i, from 0. */
static uint32_t
fly_place(const struct rl_topo_spec *spec, uint32_t i, uint32_t t)
{
	const uint32_t g = spec->groups, d = (t + g - i) % g;

	switch (spec->global_links) {
	case RL_GLOBAL_RELATIVE:
		return d - 1;
	case RL_GLOBAL_ABSOLUTE:
		return t < i ? t : t - 1;
	case RL_GLOBAL_CIRCULANT:
		return d <= g / 2 ? 2 * (d - 1) : 2 * (g - d) - 1;
	}
	return 0;
}

/* The place of the group d places on within the partial round. */
static uint32_t
fly_rest_place(const struct rl_topo_spec *spec, uint32_t d)
{
	const uint32_t g = spec->groups;

	return d <= g / 2 ? 2 * (d - 1) : 2 * (g - d) - 1;
}

static void
fly_join(struct topo_build *b, uint32_t i, uint32_t port_i, uint32_t t,
	 uint32_t port_t)
{
	const struct rl_topo_spec *spec = &b->t->spec;

	topo_add_links(b, i * spec->a + port_i / spec->h,
		       t * spec->a + port_t / spec->h, -1, 1);
}

static void
fly_add_globals(struct topo_build *b)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	const uint32_t g = spec->groups, rounds = fly_rounds(spec);
	const uint32_t done = rounds * (g - 1), half = fly_rest(spec) / 2;

	for (uint32_t r = 0; r < rounds; r++)
		for (uint32_t i = 0; i < g; i++)
			for (uint32_t t = i + 1; t < g; t++)
				fly_join(b, i,
					 r * (g - 1) + fly_place(spec, i, t), t,
					 r * (g - 1) + fly_place(spec, t, i));
	for (uint32_t d = 1; d <= half; d++)
		for (uint32_t i = 0; i < g; i++)
			fly_join(b, i, done + fly_rest_place(spec, d),
				 (i + d) % g,
				 done + fly_rest_place(spec, g - d));
}

void
topo_fill_dragonfly(struct topo_build *b)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	const uint32_t a = spec->a;

	for (uint32_t i = 0; i < spec->groups; i++) {
		for (uint32_t k = 0; k < a; k++) {
			struct rl_topo_dev *dev = topo_add_dev(
				b, RL_DEV_SWITCH, "s%u.%u", i, k);

			dev->coord[0] = (uint16_t)i;
			dev->coord[1] = (uint16_t)k;
		}
	}
	topo_add_hosts(b);
	for (uint32_t i = 0; i < spec->groups; i++)
		for (uint32_t k = 0; k < a; k++)
			for (uint32_t l = k + 1; l < a; l++)
				topo_add_links(b, i * a + k, i * a + l, -1, 1);
	fly_add_globals(b);
}
