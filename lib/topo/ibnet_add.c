/* SPDX-License-Identifier: BSD-3-Clause */

/* Adds what a line of a file names to an InfiniBand fabric. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ibnet_impl.h"
#include "rl_grow.h"

/* Cables, and nodes, that a file may have: bounds the memory. */
#define IBNET_MAX (2 * RL_LINKS_MAX)

int
ibnet_no_memory(struct ibnet_read *r)
{
	ibnet_error(r, 0, "no memory for the fabric; take a smaller one");
	return -ENOMEM;
}

int
ibnet_add_node(struct ibnet_read *r, struct ibnet_id id, uint32_t lid,
	       const char *desc, size_t desc_len)
{
	struct rl_ibnet *net = r->net;
	struct rl_ibnet_node *node;

	if (net->nnode >= IBNET_MAX ||
	    !rl_grow(&net->node, net->nnode, &r->cap_node, sizeof(*node)))
		return ibnet_no_memory(r);
	node = &net->node[net->nnode++];
	memset(node, 0, sizeof(*node));
	node->guid = id.guid;
	node->kind = id.kind;
	node->lid = id.kind == RL_IBNET_SWITCH ? lid : 0;
	node->line = r->in.line;
	snprintf(node->desc, sizeof(node->desc), "%.*s", (int)desc_len, desc);
	return 0;
}

int
ibnet_add_cable(struct ibnet_read *r, const struct ibnet_cable *c)
{
	if (r->ncable >= IBNET_MAX ||
	    !rl_grow(&r->cable, r->ncable, &r->cap_cable, sizeof(*c)))
		return ibnet_no_memory(r);
	r->cable[r->ncable++] = *c;
	return 0;
}

uint32_t
ibnet_mbps(uint64_t lanes, const char *speed)
{
	static const struct {
		const char *name, *gbps;
		uint32_t mbps;
	} lane[] = {
		{"SDR", "2.5", 2500}, {"DDR", "5", 5000}, {"QDR", "10", 10000},
		{"FDR10", "FDR10", 10312}, {"FDR", "14", 14062},
		{"EDR", "25", 25781}, {"HDR", "50", 53125},
		{"NDR", "100", 106250}, {"XDR", "200", 212500},
	};
	const size_t n = strcspn(speed, " \t");

	for (size_t i = 0; i < RL_ARRAY_SIZE(lane); i++)
		if ((strlen(lane[i].name) == n &&
		     strncmp(lane[i].name, speed, n) == 0) ||
		    (strlen(lane[i].gbps) == n &&
		     strncmp(lane[i].gbps, speed, n) == 0))
			return lane[i].mbps * (uint32_t)lanes;
	return 0;
}
