/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whether it is of any use to hold some flows alone. They must leave the fabric
 * by the tables that devices have. Those whose packets find no way by these
 * wait for the new ones, and never leave before; then all flows are held at
 * once, which asks only that nothing moves.
 *
 * A device that has lost all its links has crashed, as a rule, and answers
 * nobody: to hold all flows would wait for it. So it is left as it is then.
 *
 * No proof rests on this: who is wrong here waits until the time to drain is
 * over. So a flow's way is followed as a new packet would take it now.
 */

#include "tables_priv.h"

/* Where a packet stands. */
struct at {
	uint32_t dev;
	uint16_t in_port; /* nports: injected here */
	uint8_t plane;
	uint8_t sl;
};

/* By the first next hop whose link works. @return whether there is any */
static bool
step(const struct rl_tables *t, const struct rl_fwd *fwds, uint16_t dst,
     struct at *at)
{
	const struct rl_fwd *f = &fwds[at->dev];
	const struct rl_fwd_entry e = rl_fwd_lookup(f, at->plane, dst);

	for (unsigned int i = 0; i < RL_FWD_ALTS; i++) {
		const struct rl_fwd_hop hop = e.hop[i];
		const struct rl_topo_port *p;
		unsigned int vl;

		if (hop.port >= f->nports)
			return false;
		p = &t->topo.dev[at->dev].port[hop.port];
		if ((hop.port == at->in_port && hop.plane == at->plane) ||
		    t->topo.link[p->link].failed)
			continue;
		vl = rl_fwd_vl(f, hop.plane, at->in_port, hop.port, at->sl);
		at->dev = p->peer_dev;
		at->in_port = p->peer_port;
		at->plane = fwds[at->dev].plane_of[vl][at->sl];
		return true;
	}
	return false;
}

static bool
arrives(const struct rl_tables *t, const struct rl_fwd *fwds, uint16_t src,
	uint16_t dst)
{
	const uint32_t from = t->topo.ep_dev[src], to = t->topo.ep_dev[dst];
	const struct rl_fwd *f = &fwds[from];
	struct at at = { .dev = from, .in_port = f->nports };

	if (f->path_sl != NULL)
		at.sl = f->path_sl[dst] & (RL_SLS - 1);
	at.plane = f->inject_plane[at.sl];
	for (unsigned int hops = 0; hops < UINT8_MAX && at.dev != to; hops++)
		if (!step(t, fwds, dst, &at))
			return false;
	return at.dev == to;
}

/* Whether a device that had links by the old tables has none now. */
static bool
lone(const struct rl_tables *t, const struct tables_gen *old)
{
	for (uint32_t d = 0; d < t->topo.ndev; d++) {
		const struct rl_topo_dev *dev = &t->topo.dev[d];
		bool had = false, has = false;

		for (uint16_t p = 0; p < dev->nports; p++) {
			had = had || !old->failed[dev->port[p].link];
			has = has || !t->topo.link[dev->port[p].link].failed;
		}
		if (had && !has)
			return true;
	}
	return false;
}

bool
tables_stuck(const struct rl_tables *t, const struct tables_gen *old,
	     const struct rl_flows *held)
{
	const struct rl_fwd *fwds = tables_of(t, old)->fwd;

	if (lone(t, old))
		return false;
	for (uint32_t s = 0; s < held->nep; s++)
		for (uint32_t d = 0; d < held->nep; d++)
			if (s != d && rl_flows_has(held, s, d) &&
			    !arrives(t, fwds, (uint16_t)s, (uint16_t)d))
				return true;
	return false;
}
