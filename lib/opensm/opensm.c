/* SPDX-License-Identifier: BSD-3-Clause */
/* A dump of OpenSM, from its texts to tables: see opensm_impl.h. */
#include <stdlib.h>

#include "opensm_impl.h"

static int
read_net(struct osm_read *r)
{
	const struct rl_opensm_text *t = &r->file[RL_OPENSM_NET];
	int ret;

	r->err->file = RL_OPENSM_NET;
	ret = rl_ibnet_read(t->text, t->len, &r->net, r->err->why,
			    &r->err->line);
	if (ret != 0)
		return ret;
	r->sw = calloc(r->net.nnode, sizeof(*r->sw));
	r->sw_of_node = malloc(r->net.nnode * sizeof(*r->sw_of_node));
	r->end_of_lid = malloc(OSM_LIDS * sizeof(*r->end_of_lid));
	r->guid_of_lid = calloc(OSM_LIDS, sizeof(*r->guid_of_lid));
	if (r->sw == NULL || r->sw_of_node == NULL || r->end_of_lid == NULL ||
	    r->guid_of_lid == NULL)
		return osm_no_memory(r);
	memset(r->end_of_lid, 0xff, OSM_LIDS * sizeof(*r->end_of_lid));
	return 0;
}

/* The switches that have a cable to another device, and their ports. */
static int
find_switches(struct osm_read *r)
{
	for (uint32_t i = 0; i < r->net.nnode; i++) {
		const struct rl_ibnet_node *node = &r->net.node[i];
		struct osm_switch *sw = &r->sw[r->nsw];
		uint32_t linked = 0;

		r->sw_of_node[i] = RL_IBNET_NONE;
		for (uint32_t k = 0; k < node->nports; k++) {
			const struct rl_ibnet_port *p =
				&r->net.port[node->first_port + k];

			linked += p->link != RL_IBNET_NONE;
			sw->nports = p->number + 1;
		}
		if (node->kind != RL_IBNET_SWITCH || linked == 0)
			continue;
		sw->node = i;
		r->sw_of_node[i] = r->nsw++;
		sw->sl2vl = calloc((size_t)sw->nports * sw->nports, RL_SLS);
		if (sw->sl2vl == NULL)
			return osm_no_memory(r);
	}
	return 0;
}

static void
read_free(struct osm_read *r)
{
	for (uint32_t i = 0; i < r->nsw; i++) {
		free(r->sw[i].lft);
		free(r->sw[i].sl2vl);
	}
	free(r->path_sl);
	free(r->guid_of_lid);
	free(r->end_of_lid);
	free(r->end);
	free(r->sw_of_node);
	free(r->sw);
	rl_ibnet_free(&r->net);
}

int
rl_opensm_read(const struct rl_opensm_text file[RL_OPENSM_FILES],
	       struct rl_opensm *osm, struct rl_opensm_error *err)
{
	static int (*const step[])(struct osm_read *) = {
		read_net,	find_switches,	osm_read_lfts, osm_make_ends,
		osm_make_topo,	osm_read_sl2vl, osm_read_paths, osm_make_fwd,
		osm_walk,
	};
	struct osm_read r = {.file = file, .osm = osm, .err = err};
	int ret = 0;

	RL_ASSERT(file[RL_OPENSM_NET].text != NULL &&
		  file[RL_OPENSM_LFTS].text != NULL);
	memset(osm, 0, sizeof(*osm));
	memset(err, 0, sizeof(*err));
	for (size_t i = 0; i < RL_ARRAY_SIZE(step) && ret == 0; i++)
		ret = step[i](&r);
	read_free(&r);
	if (ret != 0)
		rl_opensm_free(osm);
	return ret;
}

void
rl_opensm_free(struct rl_opensm *osm)
{
	struct osm_priv *priv = osm->priv;

	for (uint32_t d = 0; priv != NULL && priv->sl2vl != NULL &&
			     d < priv->ndev; d++)
		free(priv->sl2vl[d]);
	if (priv != NULL) {
		free(priv->entry);
		free(priv->sl2vl);
		free(priv->path_sl);
		free(priv->zeros);
	}
	free(priv);
	free(osm->fwd);
	rl_topo_free(&osm->topo);
	memset(osm, 0, sizeof(*osm));
}
