/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUTE_IMPL_H
#define ROUTE_IMPL_H

/**
 * @file Shared by the engines: the tables being built, and the table of
 * engines.
 */

#include <errno.h>
#include <string.h>

#include "rl_refuse.h"
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
	unsigned int live_planes; /**< of them, those in use; 0: all */
	unsigned int tile_planes; /**< of those, held in the current tile */
	unsigned int vl_planes; /**< then those without: they only select VLs */
	bool one_sl; /**< every path has SL 0 */
	size_t row; /**< entries of a row */
	/** [plane] most next hops of an entry, without parallel links; 0:
	    RL_FWD_ALTS. Engines set it before route_tables_init(). */
	uint8_t most[RL_FWD_PLANES];
	uint8_t room[RL_FWD_PLANES]; /**< [plane] see rl_fwd.h */
	struct rl_fwd_hop *list[RL_FWD_PLANES]; /**< [plane][node][endpoint] */
	struct rl_fwd_hop *tile; /**< see route_put() */
	size_t tile_row; /**< next hops that it holds per destination */
	size_t tile_plane[RL_FWD_PLANES]; /**< start of a plane there */
	uint8_t *vl; /**< sl2vl of all devices, by class */
	uint8_t *held;	/**< [tile] planes of it that the tables hold */
	uint32_t *rank; /**< of channels: see route_rank.h */
	struct route_mem *before; /**< tables to be replaced; NULL: none */
	char *err;
};

/** An engine: its description and its function. */
struct route_engine {
	struct rl_route_info info;
	/** 0, or a negative errno with the reason in b->err */
	int (*compute)(struct route_build *b);
};

extern const struct route_engine route_minhop, route_reflit, route_torus_2qos,
	route_updown;

/** Memory that a route owns. */
struct route_mem {
	void *entry;
	struct rl_fwd_entry *ep_entry;
	uint8_t *port_class;
	uint8_t *vl;
	uint8_t *path_sl; /**< [endpoint][endpoint], or [endpoint]: one_sl */
	uint64_t *adapt; /**< [device][endpoint] see rl_fwd.h; or NULL */
	uint64_t *adapt_longer; /**< the same */
	uint8_t *adapt_links; /**< the same */
	struct rl_fwd_hop *tile;
	uint8_t *held;	  /**< [tile] planes of it that entry holds */
	size_t entry_bytes; /**< 0: from the heap */
	size_t ep_entry_bytes;
	size_t row;	  /**< entries of a row */
	uint32_t nchan;	  /**< channels: length of route->rank */
	unsigned int nplanes;
	/** entries of replaced tables, for the next ones: allocating that much
	    memory takes the system long */
	void *spare;
	uint8_t *spare_held;
	size_t spare_bytes;
	uint8_t room[RL_FWD_PLANES]; /**< of the planes, spare's too */
	struct rl_route_params params;
	char engine[16];  /**< params.engine points to it */
};

/**
 * Allocates the tables of all devices with @p nplanes planes and no next hop,
 * every VL 0 and every SL on plane 0. Returns 0 or -ENOMEM.
 */
int route_tables_init(struct route_build *b, unsigned int nplanes);

/** Frees the tables of route_tables_init(). */
void route_tables_free(struct route_mem *m);

/** Tables @p m have replaced @p old: keeps their memory for the next ones. */
void route_tables_keep(struct route_mem *m, struct route_mem *old);

/**
 * Next hops under construction: an entry as one word, its next hops in 16 bits
 * each, the first in the lowest. Words, because four planes of a thousand
 * switches are four million of them. At most RL_FWD_ALTS are kept.
 */
struct route_hops {
	uint64_t word;
	unsigned int n;
};

static inline void
route_hops_init(struct route_hops *h)
{
	h->word = RL_FWD_WORD_NONE;
	h->n = 0;
}

static inline void
route_hops_add(struct route_hops *h, uint16_t port, unsigned int plane)
{
	const uint64_t hop = port | plane << 13;

	if (h->n == RL_FWD_ALTS)
		return;
	h->word ^= (RL_FWD_PORT_NONE ^ hop) << (16 * h->n++);
}

/** route_hops_add_arc() with parallel links. */
void route_hops_add_ports(struct route_hops *h, const struct route_graph *g,
			  uint32_t arc, unsigned int plane, uint32_t k,
			  unsigned int max);

/**
 * Adds the ports of an arc, the k-th first, at most @p max of them: parallel
 * links replace each other first.
 */
static inline void
route_hops_add_arc(struct route_hops *h, const struct route_graph *g,
		   uint32_t arc, unsigned int plane, uint32_t k,
		   unsigned int max)
{
	if (rl_likely(g->only[arc] != ROUTE_PORTS))
		route_hops_add(h, g->only[arc], plane);
	else
		route_hops_add_ports(h, g, arc, plane, k, max);
}

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

/** Gives packets with @p sl the VL @p vl on links from endpoints. */
void route_host_vl(struct route_build *b, uint8_t sl, uint8_t vl);

/** Gives plane @p p one VL on all links of endpoints. */
void route_plane_host_vl(struct route_build *b, unsigned int p, uint8_t vl);

/** Sets the entry of an endpoint with several links, on a plane. */
void route_ep_put(struct route_build *b, uint32_t ep, unsigned int plane,
		  uint32_t dst, const struct route_hops *h);

/** A packet that arrives on @p vl with @p sl is on plane @p p, everywhere. */
void route_plane_of(struct route_build *b, uint8_t vl, uint8_t sl, uint8_t p);

/**
 * Fills tables of endpoints: the switches that reach each destination, nearest
 * first; before it the link that @p up (route_bfs.h) says, if not NULL.
 */
void route_endpoints(struct route_build *b, const uint16_t *up);

/** Destinations of a tile: their entries fill a cache line. */
#define ROUTE_TILE 8

/** Position of an entry in the tile. */
static inline struct rl_fwd_hop *
route_tile_at(const struct route_build *b, uint32_t node, unsigned int plane,
	      uint32_t dst)
{
	return b->tile + (dst % ROUTE_TILE) * b->tile_row +
	       b->tile_plane[plane] + ((size_t)node << b->room[plane]);
}

/**
 * Writes the entry of a node for a destination; engines set `most` before.
 * Destinations come in order: entries gather in a tile, [destination mod
 * ROUTE_TILE][plane][node], and go to the tables eight destinations at a time,
 * since rows of nodes are far apart.
 */
static inline void
route_put(struct route_build *b, uint32_t node, unsigned int plane, uint32_t dst,
	  const struct route_hops *h)
{
	const unsigned int room = b->room[plane];
	struct rl_fwd_hop *to = route_tile_at(b, node, plane, dst);

	RL_ASSERT(h->n <= 1u << room);
	if (room == 0)
		memcpy(to, &h->word, sizeof(*to));
	else if (room == 1)
		memcpy(to, &h->word, 2 * sizeof(*to));
	else
		memcpy(to, &h->word, sizeof(h->word));
}

/** The entry that route_put() has put into the current tile, to be extended. */
static inline struct route_hops
route_got(const struct route_build *b, uint32_t node, unsigned int plane,
	  uint32_t dst)
{
	struct route_hops h = {.n = 0};

	/* a word may be read at the last one, see route_tables_init() */
	memcpy(&h.word, route_tile_at(b, node, plane, dst), sizeof(h.word));
	h.word = rl_fwd_word_of(h.word, b->room[plane]);
	while (h.n < RL_FWD_ALTS &&
	       (h.word >> 16 * h.n & RL_FWD_PORT_NONE) != RL_FWD_PORT_NONE)
		h.n++;
	return h;
}

/**
 * Before the first entry and after the last one of every destination. An engine
 * may lower b->tile_planes if a whole tile leaves the last planes alone.
 */
void route_tile_begin(struct route_build *b, uint32_t dst);
void route_tile_end(struct route_build *b, uint32_t dst);

/** After the last tile: other threads may read the tables. */
void route_tables_done(void);

/**
 * Has the checker judge the paths of finished tables. Returns 0, -EHOSTUNREACH
 * with the reason in @p err, or -ENOMEM.
 */
int route_prove(struct rl_route *route, const struct rl_topo *topo, char *err);

/**
 * Gives finished tables an adaptive plane on @p vl, for packets with an SL of @p
 * sls. Returns 0, -EHOSTUNREACH with the reason in @p err, or -ENOMEM.
 */
int route_adapt(struct rl_route *route, const struct rl_topo *topo,
		unsigned int vl, uint16_t sls, char *err);

/** Takes it away again. */
void route_adapt_drop(struct rl_route *route);

/** Formats the reason of a refusal; returns -EHOSTUNREACH. */
#define route_refuse(b, ...)                                                   \
	rl_refuse((b)->err, RL_ERR_MAX, -EHOSTUNREACH, __VA_ARGS__)

#endif /* ROUTE_IMPL_H */
