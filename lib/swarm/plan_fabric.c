/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Small fabrics: large enough for every kind of detour, small enough to be
 * fast.
 */

#include <string.h>

#include "plan_priv.h"

#define SHAPE_REFS 24
#define SHAPES_PARALLEL 4

/* A free-form fabric as a list of links: "a-b", "a-b*count". */
static const struct shape {
	const char *name;
	const char *links;
} shapes[] = {
	{ "figure-1", "e0-s0 s0-s1*2 s1-e1" },
	{ "figure-1", "e0-s0 s0-s1*2 s1-e1" },
	{ "three-wide", "e0-s0 e1-s0 s0-s1*3 s1-e2 s1-e3" },
	{ "chain", "e0-s0 s0-s1*2 s1-s2*2 s2-e1 s1-e2" },
	{ "triangle", "e0-s0 e1-s1 e2-s2 s0-s1 s1-s2 s2-s0" },
	{ "ring", "e0-s0 e1-s1 e2-s2 e3-s3 s0-s1 s1-s2 s2-s3 s3-s0" },
	{ "ladder", "e0-s0 e1-s3 s0-s1 s0-s2 s1-s3 s2-s3 s1-s2" },
	{ "dual-homed", "e0-s0 e0-s1 e1-s0 e1-s1 s0-s1" },
	{ "dual-rail", "e0-s0 e0-s1 e1-s2 e1-s3 s0-s2 s1-s3 s0-s3 s1-s2" },
	{ "bare", "e0-e1*2" },
};

static void
ref_name(char *to, const char *from, size_t n)
{
	n = n < RL_NAME_MAX - 1 ? n : RL_NAME_MAX - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

/* Adds a device to its list unless it is there. */
static void
shape_dev(struct rl_topo_spec *spec, const char *name)
{
	struct rl_topo_ref *list =
		name[0] == 'e' ? spec->endpoints : spec->switches;
	uint32_t *n = name[0] == 'e' ? &spec->nendpoints : &spec->nswitches;

	for (uint32_t i = 0; i < *n; i++)
		if (strcmp(list[i].a, name) == 0)
			return;
	ref_name(list[(*n)++].a, name, strlen(name));
}

static int
shape_build(const struct shape *shape, struct rl_topo *topo, char *err)
{
	struct rl_topo_ref dev[2 * SHAPE_REFS] = { 0 }, link[SHAPE_REFS] = { 0 };
	struct rl_topo_spec spec;

	rl_topo_spec_defaults(&spec, RL_TOPO_CUSTOM);
	spec.switches = dev;
	spec.endpoints = dev + SHAPE_REFS;
	spec.links = link;
	for (const char *p = shape->links; *p != '\0';) {
		const size_t len = strcspn(p, " ");
		const size_t dash = strcspn(p, "-");
		const size_t end = strcspn(p, " *");
		struct rl_topo_ref *r = &link[spec.nlinks++];

		ref_name(r->a, p, dash);
		ref_name(r->b, p + dash + 1, end - dash - 1);
		r->k = -1;
		r->count = p[end] == '*' ? (uint16_t)(p[end + 1] - '0') : 1;
		shape_dev(&spec, r->a);
		shape_dev(&spec, r->b);
		p += len + (p[len] == ' ');
	}
	return rl_topo_build(&spec, topo, err, NULL);
}

static int
grid_build(struct rl_swarm_plan *plan, struct rl_prng *prng, char *err)
{
	static const struct {
		const char *name;
		enum rl_topo_kind kind;
		uint16_t x, y, links, hosts;
	} grids[] = {
		{ "mesh-2x2", RL_TOPO_MESH, 2, 2, 1, 1 },
		{ "mesh-2x2-double", RL_TOPO_MESH, 2, 2, 2, 1 },
		{ "mesh-2x3", RL_TOPO_MESH, 2, 3, 1, 1 },
		{ "torus-3x3", RL_TOPO_TORUS, 3, 3, 1, 1 },
		{ "torus-4", RL_TOPO_TORUS, 4, 1, 2, 1 },
	};
	const unsigned int i = rl_prng_below(prng, RL_ARRAY_SIZE(grids));
	struct rl_topo_spec spec;

	rl_topo_spec_defaults(&spec, grids[i].kind);
	spec.ndims = grids[i].y == 1 ? 1 : 2;
	spec.dims[0] = grids[i].x;
	spec.dims[1] = grids[i].y;
	for (unsigned int d = 0; d < spec.ndims; d++) {
		spec.wrap[d] = grids[i].kind == RL_TOPO_TORUS;
		spec.links_per_edge[d] = grids[i].links;
	}
	spec.hosts_per_switch = grids[i].hosts;
	plan->shape = grids[i].name;
	return rl_topo_build(&spec, &plan->cfg.topo, err, NULL);
}

int
plan_fabric(struct rl_swarm_plan *plan, struct rl_prng *prng, char *err)
{
	int ret;

	if (!plan->strict_order && plan_one_in(prng, 4)) {
		ret = grid_build(plan, prng, err);
	} else {
		/* the first shapes have parallel links only */
		const uint32_t n = plan->strict_order
					   ? SHAPES_PARALLEL
					   : RL_ARRAY_SIZE(shapes);
		const struct shape *shape = &shapes[rl_prng_below(prng, n)];

		plan->shape = shape->name;
		ret = shape_build(shape, &plan->cfg.topo, err);
	}
	if (ret != 0)
		return ret;
	/* separate VLs for classes of service, if there are enough */
	plan->cfg.levels = 1;
	if (plan_one_in(prng, 2))
		plan->cfg.levels = (uint16_t)(2u << rl_prng_below(prng, 3));
	ret = rl_route_setup(&plan->cfg.topo, NULL, plan->cfg.vls,
			     plan->cfg.levels, &plan->route, err);
	if (ret != 0) {
		plan->cfg.levels = 1;
		ret = rl_route_setup(&plan->cfg.topo, NULL, plan->cfg.vls, 1,
				     &plan->route, err);
	}
	return ret;
}
