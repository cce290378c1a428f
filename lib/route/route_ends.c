/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of endpoints: which of its links an endpoint uses for each
 * destination.
 */
#include "route_bfs.h"
#include "route_impl.h"

/* A path that a third endpoint has to reflect: after all others. */
#define ENDS_REFLECTED 0x10000u

/* Hops from node u to endpoint e by first choices, or ROUTE_NONE. */
static uint32_t
ends_walk(struct route_build *b, uint32_t u, uint32_t e, uint8_t sl)
{
	const struct rl_topo *t = b->topo;
	unsigned int plane = b->route->fwd[u].inject_plane[sl];

	for (uint32_t hops = 1; hops <= b->g.nnode + 1u; hops++) {
		const struct rl_fwd_hop h =
			rl_fwd_lookup(&b->route->fwd[u], plane, (uint16_t)e)
				.hop[0];
		uint32_t next;

		if (h.port == RL_FWD_PORT_NONE)
			return ROUTE_NONE;
		next = t->dev[u].port[h.port].peer_dev;
		if (next == t->ep_dev[e])
			return hops;
		if (next >= b->g.nnode)
			return ENDS_REFLECTED + hops;
		u = next;
		plane = h.plane;
	}
	return ROUTE_NONE;
}

/* Links of endpoint e, by the length of the path to dst, shortest first; but
   link `up` before all others. */
static void
ends_fill(struct route_build *b, uint32_t e, uint32_t dst, uint16_t up,
	  struct rl_fwd_entry *entry)
{
	const struct route_graph *g = &b->g;
	const uint8_t sl = b->route->fwd[b->topo->ep_dev[e]].path_sl[dst];
	const uint32_t n = g->att0[e + 1] - g->att0[e];
	uint32_t len[RL_FWD_ALTS], have = 0;

	for (uint32_t i = 0; i < n; i++) {
		/* equal paths take turns */
		const uint32_t k = (i + dst) % n;
		const struct route_att *a = &g->att[g->att0[e] + k];
		uint32_t l = a->peer == b->topo->ep_dev[dst] ? 0 : ROUTE_NONE;
		uint32_t at;

		if (a->node != ROUTE_NONE)
			l = ends_walk(b, a->node, dst, sl);
		if (l == ROUTE_NONE)
			continue;
		if (k == up)
			l = 0;
		for (at = have; at > 0 && len[at - 1] > l; at--) {
			if (at == RL_FWD_ALTS)
				continue;
			len[at] = len[at - 1];
			entry->hop[at] = entry->hop[at - 1];
		}
		if (at == RL_FWD_ALTS)
			continue;
		len[at] = l;
		entry->hop[at].port = a->ep_port;
		entry->hop[at].plane = 0;
		if (have < RL_FWD_ALTS)
			have++;
	}
}

void
route_endpoints(struct route_build *b, const uint16_t *up)
{
	const struct rl_topo *t = b->topo;
	struct route_mem *m = b->route->priv;
	struct rl_fwd_entry *row = m->ep_entry;
	const struct rl_fwd_hop first = {.port = 0, .plane = 0};

	for (uint32_t d = 0; d < t->nep; d++)
		row[d].hop[0] = first;
	row += (size_t)b->nplanes * t->nep;
	for (uint32_t e = 0; e < t->nep; e++) {
		if (t->dev[t->ep_dev[e]].nports < 2)
			continue;
		for (uint32_t d = 0; d < t->nep; d++)
			if (d != e && route_ep_live(&b->g, d))
				ends_fill(b, e, d,
					  up == NULL
						  ? ROUTE_WAY_NONE
						  : up[e * (size_t)t->nep + d],
					  &row[d]);
		row += (size_t)b->nplanes * t->nep;
	}
}
