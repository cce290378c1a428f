/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Expected load of each device under all-to-all traffic. Walks the paths of the
 * tables and adds the cost of each packet on an lcore, in units of a port
 * passed. Making or verifying a packet costs about twice that of a port.
 */

#include "host_place.h"
#include "rl_path.h"

#define COST_PORT 1
#define COST_ENDPOINT 2
/* Paths to walk; in a large fabric, only every n-th destination. */
#define PATHS_MAX 65536u
#define HOPS_MAX 64u

static void
walk(const struct rl_topo *t, const struct rl_fwd *fwd, uint16_t src,
     uint16_t dst, uint64_t load[])
{
	struct rl_path at = rl_path_begin(t, fwd, src, dst);

	load[at.dev] += COST_ENDPOINT;
	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		const uint32_t from = at.dev;

		if (rl_path_step(t, fwd, &at, dst) == NULL)
			return;
		load[from] += COST_PORT;
		load[at.dev] += COST_PORT;
		if (at.dev == t->ep_dev[dst]) {
			load[at.dev] += COST_ENDPOINT;
			return;
		}
	}
}

void
host_load(const struct rl_topo *t, const struct rl_fwd *fwd, uint64_t load[])
{
	const uint32_t apart = 1 + t->nep * t->nep / PATHS_MAX;

	/* no device is quite idle: ports send keepalives */
	for (uint32_t d = 0; d < t->ndev; d++)
		load[d] = t->dev[d].nports + 1u;
	for (uint32_t src = 0; fwd != NULL && src < t->nep; src++)
		for (uint32_t dst = src % apart; dst < t->nep; dst += apart)
			if (dst != src)
				walk(t, fwd, (uint16_t)src, (uint16_t)dst,
				     load);
}
