/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_IMPL_H
#define ROUTE_IMPL_H

/**
 * @file
 * What the engines share: the tables being built, and the table of engines.
 */

#include "rl_route.h"
#include "route_graph.h"

/** Port classes of all engines: endpoints and injection, then links. */
#define ROUTE_CLASS_HOST 0
#define ROUTE_CLASS_ISL 1 /**< plus the dimension on grids */
#define ROUTE_CLASSES (ROUTE_CLASS_ISL + RL_DIMS_MAX)

#define ROUTE_HOP_NONE ((struct rl_fwd_hop){.port = RL_FWD_PORT_NONE})

/** Tables being computed. */
struct route_build {
	const struct rl_topo *topo;
	struct route_graph g;
	struct rl_route *route;
	unsigned int max_vls;
	unsigned int qos_levels;
	unsigned int nplanes;	/**< with entries */
	unsigned int vl_planes; /**< after them, without: they only choose VLs */
	bool one_sl; /**< every path has SL 0 */
	struct rl_fwd_entry *entry; /**< [node][plane][endpoint] */
	uint8_t *vl; /**< sl2vl of all devices, by class */
	char *err;
};

/** An engine: what it can do, and the call that does it. */
struct route_engine {
	struct rl_route_info info;
	/** 0, or a negative errno with the reason in b->err */
	int (*compute)(struct route_build *b);
};

extern const struct route_engine route_minhop, route_reflit, route_torus_2qos,
	route_updown;

/** What a route owns. */
struct route_mem {
	struct rl_fwd_entry *entry;
	struct rl_fwd_entry *ep_entry;
	uint8_t *port_class;
	uint8_t *vl;
	uint8_t *path_sl; /**< [endpoint][endpoint], or [endpoint]: one_sl */
};

/**
 * Allocates the tables of all devices with @p nplanes planes and no next hop,
 * every VL 0 and every SL on plane 0. Returns 0 or -ENOMEM.
 */
int route_tables_init(struct route_build *b, unsigned int nplanes);

/** Next hops under construction; at most RL_FWD_ALTS are kept. */
struct route_hops {
	struct rl_fwd_entry e;
	unsigned int n;
};

static inline void
route_hops_init(struct route_hops *h)
{
	const struct rl_fwd_entry none = {
		{ROUTE_HOP_NONE, ROUTE_HOP_NONE, ROUTE_HOP_NONE,
		 ROUTE_HOP_NONE}};

	h->e = none;
	h->n = 0;
}

static inline void
route_hops_add(struct route_hops *h, uint16_t port, unsigned int plane)
{
	if (h->n == RL_FWD_ALTS)
		return;
	h->e.hop[h->n].port = port;
	h->e.hop[h->n++].plane = (uint16_t)plane & 7;
}

/**
 * Adds the ports of an arc, the k-th first, at most @p max of them: parallel
 * links stand in for each other before anything else does.
 */
void route_hops_add_arc(struct route_hops *h, const struct route_graph *g,
			uint32_t arc, unsigned int plane, uint32_t k,
			unsigned int max);

/**
 * Adds the links from node @p u to endpoint @p e, at most @p max. Returns how
 * many there are.
 */
unsigned int route_hops_add_ep(struct route_hops *h,
			       const struct route_graph *g, uint32_t u,
			       uint32_t e, unsigned int plane,
			       unsigned int max);

/** Gives plane @p p one VL on all links between switches. */
void route_plane_vl(struct route_build *b, unsigned int p, uint8_t vl);

/** Gives what has @p sl the VL @p vl on links from endpoints. */
void route_host_vl(struct route_build *b, uint8_t sl, uint8_t vl);

/** A packet that arrives on @p vl with @p sl is on plane @p p, everywhere. */
void route_plane_of(struct route_build *b, uint8_t vl, uint8_t sl, uint8_t p);

/** Tables of endpoints: the switches that reach each destination. */
void route_endpoints(struct route_build *b);

static inline struct rl_fwd_entry *
route_entry(struct route_build *b, uint32_t node, unsigned int plane,
	    uint32_t dst)
{
	return &b->entry[((size_t)node * b->nplanes + plane) *
				 b->topo->nep + dst];
}

/** Formats the reason of a refusal; returns -EHOSTUNREACH. */
int route_refuse(struct route_build *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* ROUTE_IMPL_H */
