/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_GRAPH_H
#define ROUTE_GRAPH_H

/**
 * @file The engines' view of a topology: the working switches as nodes, one arc
 * for every ordered pair of neighbours (parallel links are one arc with several
 * ports), and where the endpoints are attached. A node's number is its device's
 * index, because switches come first in a topology.
 */

#include <stdint.h>

#include "rl_fwd.h"
#include "rl_topo.h"

#define ROUTE_NONE UINT32_MAX
#define ROUTE_PORTS UINT16_MAX

/** To a neighbour. Arcs of a node are contiguous, in the order of ports. */
struct route_arc {
	uint32_t to;
	uint32_t back;	/**< the reverse arc */
	uint32_t port0; /**< its ports are graph->port[port0 ..] */
	uint16_t nport;
	int8_t dim; /**< grids: dimension and direction; otherwise -1 */
	int8_t dir;
};

/** A link between a switch and an endpoint that works. */
struct route_att {
	uint32_t node;	   /**< ROUTE_NONE: the peer is an endpoint too */
	uint32_t peer;	   /**< device at the other end */
	uint16_t sw_port;  /**< port at the peer */
	uint16_t ep_port;  /**< port at the endpoint */
};

struct route_graph {
	const struct rl_topo *topo;
	uint32_t nnode;	    /**< switches, dead ones included */
	uint32_t narc;
	uint32_t *first;    /**< [nnode + 1] arcs of a node */
	struct route_arc *arc;
	uint32_t *tail;	    /**< [narc] node an arc leaves */
	uint16_t *only;	    /**< [narc] its port; ROUTE_PORTS: several */
	uint16_t *port;	    /**< of all arcs */
	uint32_t *att0;	    /**< [nep + 1] attachments of an endpoint */
	struct route_att *att;
};

/**
 * Control thread. Builds the graph of the working parts of @p topo, which must
 * outlive it. Returns 0, -ENOMEM, or -EHOSTUNREACH with the reason in @p err (a
 * device has more ports than tables can hold).
 */
int route_graph_build(struct route_graph *g, const struct rl_topo *topo,
		      char *err);
void route_graph_free(struct route_graph *g);

/** Whether endpoint @p e is present: it has a working link. */
static inline bool
route_ep_live(const struct route_graph *g, uint32_t e)
{
	return g->att0[e] != g->att0[e + 1];
}

/** The @p k-th port of an arc, k taken modulo its ports. */
static inline uint16_t
route_arc_port(const struct route_graph *g, uint32_t arc, uint32_t k)
{
	const struct route_arc *a = &g->arc[arc];

	return g->port[a->port0 + (a->nport == 1 ? 0 : k % a->nport)];
}

#endif /* ROUTE_GRAPH_H */
