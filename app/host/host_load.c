/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Expected load of each device under all-to-all traffic. Walks the paths of the
 * tables and adds the cost of each packet on an lcore, in units of a port
 * passed. Making or verifying a packet costs about twice that of a port.
 */

#include "host_place.h"

#define COST_PORT 1
#define COST_ENDPOINT 2
/* Paths to walk; in a large fabric, only every n-th destination. */
#define PATHS_MAX 65536u
#define HOPS_MAX 64u

/* Position of a packet. */
struct at {
	uint32_t dev;
	uint16_t in_port; /* nports of the table: it was made here */
	uint8_t vl;
	uint8_t sl;
};

/* Crosses one link. @return false: there is no path */
static bool
step(const struct rl_topo *t, const struct rl_fwd *fwd, struct at *at,
     uint16_t dst)
{
	const struct rl_fwd *f = &fwd[at->dev];
	const unsigned int plane = at->in_port == f->nports
					   ? f->inject_plane[at->sl]
					   : f->plane_of[at->vl][at->sl];
	const struct rl_fwd_hop hop = rl_fwd_lookup(f, plane, dst).hop[0];
	const struct rl_topo_port *port;

	if (hop.port == RL_FWD_PORT_NONE)
		return false;
	at->vl = rl_fwd_vl(f, hop.plane, at->in_port, hop.port, at->sl);
	port = &t->dev[at->dev].port[hop.port];
	at->in_port = port->peer_port;
	at->dev = port->peer_dev;
	return true;
}

static void
walk(const struct rl_topo *t, const struct rl_fwd *fwd, uint16_t src,
     uint16_t dst, uint64_t load[])
{
	const struct rl_fwd *f = &fwd[t->ep_dev[src]];
	struct at at = {
		.dev = t->ep_dev[src],
		.in_port = f->nports,
		.sl = f->path_sl != NULL ? f->path_sl[dst] & (RL_SLS - 1) : 0,
	};

	load[at.dev] += COST_ENDPOINT;
	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		const uint32_t from = at.dev;

		if (!step(t, fwd, &at, dst))
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
