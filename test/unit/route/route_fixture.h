/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_FIXTURE_H
#define ROUTE_FIXTURE_H

/* Fabrics for the tests of routing. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rl_route.h"

/* A grid; wrap: torus. Dimensions end with 0. */
static inline void
fix_grid_hosts(struct rl_topo *t, bool wrap, unsigned int x, unsigned int y,
	       unsigned int z, unsigned int links, unsigned int hosts)
{
	const unsigned int dims[RL_DIMS_MAX] = {x, y, z};
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&spec, wrap ? RL_TOPO_TORUS : RL_TOPO_MESH);
	spec.hosts_per_switch = (uint16_t)hosts;
	spec.ndims = 0;
	for (unsigned int d = 0; d < RL_DIMS_MAX && dims[d] != 0; d++) {
		spec.dims[d] = (uint16_t)dims[d];
		spec.wrap[d] = wrap;
		spec.links_per_edge[d] = (uint16_t)links;
		spec.ndims++;
	}
	assert_int_equal(rl_topo_build(&spec, t, err, NULL), 0);
}

static inline void
fix_grid(struct rl_topo *t, bool wrap, unsigned int x, unsigned int y,
	 unsigned int z, unsigned int links)
{
	fix_grid_hosts(t, wrap, x, y, z, links, 1);
}

static inline void
fix_fail(struct rl_topo *t, const char *name)
{
	char err[RL_ERR_MAX] = "";

	if (rl_topo_fail(t, name, err) != 0)
		fail_msg("%s: %s", name, err);
}

static inline struct rl_route *
fix_route(const struct rl_topo *t, const char *engine, unsigned int vls)
{
	struct rl_route *r;
	char err[RL_ERR_MAX] = "";
	int ret = rl_route_compute(t, engine, vls, &r, err);

	if (ret != 0)
		fail_msg("%s: %d %s", engine == NULL ? "the usual" : engine,
			 ret, err);
	return r;
}

static inline uint32_t
fix_dev(const struct rl_topo *t, const char *name)
{
	const int32_t d = rl_topo_find_dev(t, name);

	if (d < 0)
		fail_msg("no device %s", name);
	return (uint32_t)d;
}

#endif /* ROUTE_FIXTURE_H */
