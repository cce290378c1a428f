/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts the tables for the checker: one plane, one next hop for each LID,
 * and VLs by input port, output port and SL. Then each path is walked, to find
 * the VLs in use: the checker supports RL_VCS of them, a dump 15. If one is in
 * use that the checker does not support, they are renumbered from 0.
 */
#include <stdlib.h>

#include "opensm_impl.h"

/* Hops after which a path counts as a loop. */
#define OSM_HOPS_MAX 255

/* The number of a switch's port on the device itself. */
static uint32_t
ib_port(const struct osm_read *r, uint32_t sw, unsigned int port,
	const uint32_t *net_link)
{
	const struct rl_topo_port *p = &r->osm->topo.dev[sw].port[port];
	const uint32_t *ends;

	if (p->link < r->nend)
		return r->net.port[r->net.port[r->end[p->link].port].peer]
			.number;
	ends = r->net.link[net_link[p->link - r->nend]];
	/* the link's first end is the topology's, too */
	return r->net.port[ends[p->end]].number;
}

static int
switch_sl2vl(struct osm_read *r, uint32_t sw, const uint8_t *ib,
	     struct rl_fwd *f)
{
	const struct osm_switch *s = &r->sw[sw];
	const unsigned int n = f->nports;
	uint8_t *out = calloc((n + 1u) * n, RL_SLS);

	((struct osm_priv *)r->osm->priv)->sl2vl[sw] = out;
	f->sl2vl = out;
	if (out == NULL)
		return osm_no_memory(r);
	for (unsigned int i = 0; i <= n; i++)
		for (unsigned int o = 0; o < n; o++)
			memcpy(&out[(i * n + o) * RL_SLS],
			       &s->sl2vl[((i < n ? ib[i] : 0) * s->nports +
					  ib[o]) * RL_SLS], RL_SLS);
	return 0;
}

static void
switch_entries(const struct osm_read *r, uint32_t sw, const uint8_t *ib,
	       const struct rl_fwd *f, struct rl_fwd_entry *entry)
{
	const struct rl_topo *t = &r->osm->topo;
	uint16_t by_ib[256];

	for (unsigned int i = 0; i < 256; i++)
		by_ib[i] = RL_FWD_PORT_NONE;
	for (unsigned int p = f->nports; p-- > 0;)
		by_ib[ib[p]] = (uint16_t)p;
	for (uint32_t e = 0; e < r->nend && r->sw[sw].lft != NULL; e++) {
		const struct rl_topo_link *own = &t->link[e];
		const uint8_t to = r->sw[sw].lft[r->end[e].lid];
		uint16_t port = by_ib[to];

		/* of the LIDs of one cable, the intended one */
		if (own->dev[1] == sw && ib[own->port[1]] == to)
			port = own->port[1];
		entry[e].hop[0].port = port & RL_FWD_PORT_NONE;
	}
}

static int
make_switch(struct osm_read *r, uint32_t sw, const uint32_t *net_link)
{
	const struct osm_priv *priv = r->osm->priv;
	struct rl_fwd *f = &r->osm->fwd[sw];
	uint8_t ib[RL_FWD_PORTS_MAX];
	int ret;

	if (f->nports >= RL_FWD_PORTS_MAX)
		return osm_error(r, RL_OPENSM_NET, 0, "%s has %u links; %u are "
				 "possible", r->osm->topo.dev[sw].name,
				 f->nports, RL_FWD_PORTS_MAX - 1);
	for (unsigned int p = 0; p < f->nports; p++)
		ib[p] = (uint8_t)ib_port(r, sw, p, net_link);
	ret = switch_sl2vl(r, sw, ib, f);
	if (ret == 0)
		switch_entries(r, sw, ib, f,
			       &priv->entry[(size_t)sw * r->nend]);
	return ret;
}

static void
make_device(struct osm_read *r, uint32_t d)
{
	const struct osm_priv *priv = r->osm->priv;
	const struct rl_topo_dev *dev = &r->osm->topo.dev[d];
	struct rl_fwd *f = &r->osm->fwd[d];
	struct rl_fwd_entry *entry = &priv->entry[(size_t)d * r->nend];

	f->ndst = (uint16_t)r->nend;
	f->nports = dev->nports;
	f->nplanes = 1;
	f->nvls = RL_VCS;
	rl_fwd_entries(f, entry);
	for (uint32_t e = 0; e < r->nend; e++)
		for (unsigned int i = 0; i < RL_FWD_ALTS; i++)
			entry[e].hop[i].port = RL_FWD_PORT_NONE;
	if (dev->kind == RL_DEV_SWITCH)
		return;
	f->sl2vl = priv->zeros;
	f->path_sl = &priv->path_sl[(size_t)dev->ep_id * r->nend];
	for (uint32_t e = 0; e < r->nend; e++)
		if (e != dev->ep_id)
			entry[e].hop[0].port = 0;
}

/* Links between switches, in the order of the topology. */
static uint32_t *
make_net_links(const struct osm_read *r)
{
	uint32_t *net_link = calloc(r->net.nlink + 1u, sizeof(*net_link));
	uint32_t n = 0;

	for (uint32_t i = 0; net_link != NULL && i < r->net.nlink; i++) {
		const uint32_t *p = r->net.link[i];

		if (r->sw_of_node[r->net.port[p[0]].node] != RL_IBNET_NONE &&
		    r->sw_of_node[r->net.port[p[1]].node] != RL_IBNET_NONE)
			net_link[n++] = i;
	}
	return net_link;
}

int
osm_make_fwd(struct osm_read *r)
{
	struct rl_opensm *osm = r->osm;
	struct osm_priv *priv = calloc(1, sizeof(*priv));
	uint32_t *net_link = make_net_links(r);
	int ret = 0;

	osm->priv = priv;
	osm->fwd = calloc(osm->topo.ndev, sizeof(*osm->fwd));
	if (priv != NULL) {
		priv->path_sl = r->path_sl;
		r->path_sl = NULL;
		priv->ndev = osm->topo.ndev;
		priv->zeros = calloc(2, RL_SLS);
		priv->sl2vl = calloc(priv->ndev, sizeof(*priv->sl2vl));
		priv->entry = calloc((size_t)priv->ndev * r->nend,
				     sizeof(*priv->entry));
	}
	if (priv == NULL || osm->fwd == NULL || net_link == NULL ||
	    priv->zeros == NULL || priv->sl2vl == NULL || priv->entry == NULL)
		ret = osm_no_memory(r);
	for (uint32_t d = 0; d < osm->topo.ndev && ret == 0; d++) {
		make_device(r, d);
		if (d < r->nsw)
			ret = make_switch(r, d, net_link);
	}
	free(net_link);
	return ret;
}

/* Marks the VLs of a path, and counts dropped ones. */
static void
walk_pair(struct rl_opensm *osm, uint32_t src, uint32_t dst, uint32_t *used)
{
	const struct rl_topo *t = &osm->topo;
	const uint8_t sl = osm->fwd[t->ep_dev[src]].path_sl[dst];
	const struct rl_topo_port *at = &t->dev[t->ep_dev[src]].port[0];

	for (int hops = 0; hops < OSM_HOPS_MAX; hops++) {
		const uint32_t dev = at->peer_dev;
		const struct rl_fwd *f = &osm->fwd[dev];
		const uint16_t in = at->peer_port;
		uint16_t out;
		uint8_t vl;

		if (t->dev[dev].kind == RL_DEV_ENDPOINT)
			return;
		out = rl_fwd_lookup(f, 0, (uint16_t)dst).hop[0].port;
		if (out >= f->nports)
			return;
		vl = rl_fwd_vl(f, 0, in, out, sl);
		if (vl == OSM_VL_DROP) {
			if (osm->dropped++ == 0) {
				osm->drop_src = src;
				osm->drop_dst = dst;
				osm->drop_dev = dev;
			}
			return;
		}
		at = &t->dev[dev].port[out];
		if (t->link[at->link].kind == RL_LINK_ISL)
			*used |= 1u << vl;
	}
}

int
osm_walk(struct osm_read *r)
{
	struct rl_opensm *osm = r->osm;
	const struct osm_priv *priv = osm->priv;
	uint8_t place[RL_SLS] = {0};
	uint32_t used = 0;

	for (uint32_t src = 0; src < r->nend; src++)
		for (uint32_t dst = 0; dst < r->nend; dst++)
			if (src != dst)
				walk_pair(osm, src, dst, &used);
	if (__builtin_popcount(used) > RL_VCS)
		return osm_error(r, RL_OPENSM_SL2VL, 0, "the paths use %d VLs; "
				 "%d can be judged", __builtin_popcount(used),
				 RL_VCS);
	for (uint8_t vl = 0; vl < OSM_VL_DROP; vl++) {
		if (used >> RL_VCS == 0 ? used >> vl == 0 :
					  (used >> vl & 1) == 0)
			continue;
		place[vl] = osm->nvls;
		osm->vl[osm->nvls++] = vl;
	}
	osm->used_vls = (uint16_t)used;
	for (uint32_t d = 0; d < r->nsw; d++) {
		const size_t n = osm->fwd[d].nports;

		for (size_t i = 0; i < (n + 1) * n * RL_SLS; i++)
			priv->sl2vl[d][i] = place[priv->sl2vl[d][i]];
	}
	return 0;
}
