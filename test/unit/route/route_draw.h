/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_DRAW_H
#define ROUTE_DRAW_H

/* Random faulty fabrics, drawn from a seed. */

#include "rl_prng.h"
#include "route_fixture.h"

/* A grid with random shape, wraps, parallel links, hosts and failures. */
static inline void
draw_grid(struct rl_topo *t, uint64_t seed)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	struct rl_prng p;
	uint32_t fail;

	rl_prng_seed(&p, seed);
	rl_topo_spec_defaults(&spec, RL_TOPO_TORUS);
	spec.ndims = 1 + rl_prng_below(&p, 3);
	for (unsigned int d = 0; d < spec.ndims; d++) {
		spec.dims[d] = (uint16_t)(2 + rl_prng_below(
						     &p, spec.ndims == 3 ? 4 :
									   6));
		spec.wrap[d] = rl_prng_below(&p, 4) != 0;
		spec.links_per_edge[d] = (uint16_t)(1 + (rl_prng_below(&p, 4) ==
							 0));
	}
	spec.hosts_per_switch = (uint16_t)(rl_prng_below(&p, 3) != 0 ?
				1 : rl_prng_range(&p, 2, 3));
	assert_int_equal(rl_topo_build(&spec, t, err, NULL), 0);
	fail = rl_prng_below(&p, (t->nlink - t->nep) / 8 + 2);
	for (uint32_t i = 0; i < fail; i++)
		t->link[t->nep + rl_prng_below(&p, t->nlink - t->nep)].failed =
			true;
	fail = rl_prng_below(&p, 3) == 0 ? rl_prng_below(&p, 4) : 0;
	for (uint32_t i = 0; i < fail; i++)
		t->dev[rl_prng_below(&p, t->ndev - t->nep)].failed = true;
}

/* Free-form fabrics: a random tree of switches with extra links. */
static inline void
draw_custom(struct rl_topo *t, uint64_t seed)
{
	static struct rl_topo_ref sw[40], ep[60], link[200];
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	struct rl_prng p;

	rl_prng_seed(&p, seed);
	rl_topo_spec_defaults(&spec, RL_TOPO_CUSTOM);
	memset(link, 0, sizeof(link));
	spec.switches = sw;
	spec.endpoints = ep;
	spec.links = link;
	spec.nswitches = 2 + rl_prng_below(&p, 38);
	spec.nendpoints = 2 + rl_prng_below(&p, 58);
	for (uint32_t i = 0; i < spec.nswitches; i++)
		snprintf(sw[i].a, RL_NAME_MAX, "s%u", i);
	for (uint32_t i = 0; i < spec.nendpoints; i++)
		snprintf(ep[i].a, RL_NAME_MAX, "e%u", i);
	for (uint32_t i = 1; i < spec.nswitches + spec.nswitches / 2; i++) {
		struct rl_topo_ref *l = &link[spec.nlinks];
		const uint32_t a = i < spec.nswitches ? i :
				   rl_prng_below(&p, spec.nswitches);
		const uint32_t b = rl_prng_below(&p, a != 0 ? a : 1);

		if (a == b)
			continue;
		snprintf(l->a, RL_NAME_MAX, "s%u", a);
		snprintf(l->b, RL_NAME_MAX, "s%u", b);
		l->count = (uint16_t)(1 + (rl_prng_below(&p, 5) == 0));
		l->k = -1;
		spec.nlinks++;
	}
	for (uint32_t i = 0; i < spec.nendpoints; i++) {
		const uint32_t n = 1 + (rl_prng_below(&p, 3) == 0);
		const uint32_t first = rl_prng_below(&p, spec.nswitches);

		for (uint32_t k = 0; k < n; k++) {
			struct rl_topo_ref *l = &link[spec.nlinks++];

			snprintf(l->a, RL_NAME_MAX, "e%u", i);
			snprintf(l->b, RL_NAME_MAX, "s%u",
				 (first + k) % spec.nswitches);
			l->count = 1;
			l->k = -1;
		}
	}
	if (rl_topo_build(&spec, t, err, NULL) != 0)
		fail_msg("seed %llu: %s", (unsigned long long)seed, err);
	for (uint32_t i = 0; i < rl_prng_below(&p, 4); i++)
		t->link[rl_prng_below(&p, t->nlink)].failed = true;
}

/* Little more than a tree of switches, and endpoints with links to several of
   them: often the only way around a link. */
static inline void
draw_bridges(struct rl_topo *t, uint64_t seed)
{
	static struct rl_topo_ref sw[11], ep[7], link[60];
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	struct rl_prng p;
	uint32_t more;

	rl_prng_seed(&p, seed);
	rl_topo_spec_defaults(&spec, RL_TOPO_CUSTOM);
	memset(link, 0, sizeof(link));
	spec.switches = sw;
	spec.endpoints = ep;
	spec.links = link;
	spec.nswitches = 3 + rl_prng_below(&p, 8);
	spec.nendpoints = 2 + rl_prng_below(&p, 5);
	more = rl_prng_below(&p, 2);
	for (uint32_t i = 0; i < spec.nswitches; i++)
		snprintf(sw[i].a, RL_NAME_MAX, "s%u", i);
	for (uint32_t i = 1; i < spec.nswitches + more; i++) {
		struct rl_topo_ref *l = &link[spec.nlinks];
		const uint32_t a = i < spec.nswitches ? i :
				   rl_prng_below(&p, spec.nswitches);
		const uint32_t b = rl_prng_below(&p, a != 0 ? a : 1);

		if (a == b)
			continue;
		snprintf(l->a, RL_NAME_MAX, "s%u", a);
		snprintf(l->b, RL_NAME_MAX, "s%u", b);
		spec.nlinks++;
	}
	for (uint32_t i = 0; i < spec.nendpoints; i++) {
		const uint32_t n = 1 + rl_prng_below(&p, 3);
		uint32_t seen = 0;

		snprintf(ep[i].a, RL_NAME_MAX, "e%u", i);
		for (uint32_t k = 0; k < n; k++) {
			const uint32_t x = rl_prng_below(&p, spec.nswitches);
			struct rl_topo_ref *l = &link[spec.nlinks];

			if (seen >> x & 1)
				continue;
			seen |= 1u << x;
			snprintf(l->a, RL_NAME_MAX, "e%u", i);
			snprintf(l->b, RL_NAME_MAX, "s%u", x);
			spec.nlinks++;
		}
	}
	for (uint32_t i = 0; i < spec.nlinks; i++) {
		link[i].count = 1;
		link[i].k = -1;
	}
	if (rl_topo_build(&spec, t, err, NULL) != 0)
		fail_msg("seed %llu: %s", (unsigned long long)seed, err);
}

#endif /* ROUTE_DRAW_H */
