/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFLIT_GRID_H
#define REFLIT_GRID_H

/**
 * @file Engine reflit on tori and meshes [ROUTE-3]: any failures that leave the
 * fabric connected, three VLs.
 *
 * Dimension order (DOR) runs on VL 1 before the dateline of a ring and on VL 0
 * behind it or if none is crossed; in a broken ring it takes the remaining
 * piece. Up*-down* (updown_order.h) runs on VL 2. Any path of the form
 *
 *     up (VL 2)  ->  DOR (VL 0, 1)  ->  down (VL 2)
 *
 * each part possibly empty, is loop-free together with all others: the channels
 * up come before those of DOR, and these before the channels down. So a source
 * whose DOR path is broken has three more classes of path to choose from, and
 * selects one by the SL:
 *
 * | SL | class  | planes passed | path                                      |
 * |----|--------|---------------|-------------------------------------------|
 * | 0  | direct | dor           | DOR to the destination                    |
 * | 1  | up     | up, dor       | up to where DOR works; or up, then down   |
 * | 2  | late   | late          | DOR to a proxy next to the destination,   |
 * |    |        |               | then down                                 |
 * | 3  | both   | both, late    | up, DOR to the proxy, down                |
 * | 4  | aside  | of detours    | up*-down* on VL 3, with the detours' root |
 *
 * It takes the shortest, with the lowest SL of equal ones. Up*-down* alone is
 * always among them, so no connected grid is refused. Each destination has the
 * proxy that serves its sources best; on small grids (REFLIT_EXACT) each node
 * has a proxy of its own, out of all from which the destination can be reached
 * by going down. Class aside is used only there.
 *
 * Nodes from which a destination can be reached by only going down go down on
 * every plane of VL 2. So packets that have begun to go down continue down.
 */

#include "route_detour.h"
#include "route_grid.h"
#include "route_bfs.h"

#define REFLIT_SL_DIRECT 0
#define REFLIT_SL_UP 1
#define REFLIT_SL_LATE 2
#define REFLIT_SL_BOTH 3
#define REFLIT_SL_ASIDE 4

#define REFLIT_VL_DOR 0
#define REFLIT_VL_WRAP 1
#define REFLIT_VL_ESCAPE 2
#define REFLIT_VL_DETOUR 3
/** Most switches of a grid for which shortest paths are computed. */
#define REFLIT_EXACT 256u
/** No proxy, in reflit.via. */
#define REFLIT_VIA_NONE 0xffff
/** Links that a detour may have in excess of the shortest path. */
#define REFLIT_BEARABLE 6

#define REFLIT_COST_NONE 0x7fffffffu

/** Dimension order to one node, from all others. */
struct reflit_dor {
	uint32_t to;	 /**< ROUTE_NONE: nothing here */
	uint32_t *first; /**< [node] arc; ROUTE_NONE: broken, or there */
	uint32_t *cost;	 /**< [node] hops, or REFLIT_COST_NONE */
	bool *wraps;	 /**< [node] the dateline is ahead in this dimension */
};

/* State of a destination, prepared together with others of its tile. */
struct reflit_lane {
	struct reflit_dor dor;
	uint32_t *least; /**< [node] hops by the positions */
};

/** Small grids: data that does not depend on the root of the classes. Rows of
    nnode for each destination node. */
struct reflit_exact {
	struct reflit_dor *dor; /**< [to] dimension order */
	uint32_t *shortest; /**< [to][node] links of the shortest path */
	uint32_t *aside;    /**< [to][node] links of class aside */
	bool asides;	    /**< class aside is in use */
	uint16_t *by_cost;  /**< [to][] nodes with a DOR path, the nearest first */
	uint32_t *reach;    /**< [to] number of these */
	uint32_t *host;	    /**< [node] endpoints there */
	uint32_t *ep;	    /**< [node] the first of them */
	uint32_t *needy;    /**< nodes to which DOR is not the shortest path */
	uint32_t nneedy;
	uint16_t *above;    /**< proxies of the current destination */
	uint32_t *rest;	    /**< [node] links from such a proxy on */
	uint32_t *at;	    /**< [proxy] progress in by_cost */
	uint32_t *mem;
	bool *wraps;
};

struct reflit {
	struct route_build *b;
	struct route_grid gr;
	struct route_detour dt;
	struct updown_order *order; /**< of escape classes: dt's, or own */
	struct updown_tree *tree;
	struct updown_order own_order;
	struct updown_trees own_trees;
	struct updown_tree own_tree; /**< one of them */
	bool whole;  /**< all DOR paths to the current destination work */
	bool broken; /**< some DOR paths do not work: classes are needed */
	/* planes */
	unsigned int dor, up, late, both, wrap;
	struct reflit_lane lane[ROUTE_TILE]; /**< of a tile's destinations */
	/* of the current destination */
	uint32_t t;	   /**< its node */
	uint32_t proxy;	   /**< the first one; ROUTE_NONE: none */
	uint16_t *via;	   /**< [node] its proxy, in dor_p */
	struct reflit_dor dor_t; /**< to t: one of the lanes */
	struct reflit_dor one;	 /**< dor_p if there is one proxy */
	struct reflit_dor *dor_p; /**< to the proxies; exact: to all nodes */
	const uint32_t *aside; /**< [node] hops of class aside; NULL: none */
	uint32_t *least;   /**< [node] hops to t by the positions; exact: by the
				shortest path */
	bool beyond;	   /**< paths of class aside are in use */
	bool exact;	   /**< small enough to compute shortest paths */
	struct reflit_exact ex;
	uint64_t extra;	   /**< exact: links in excess of these, of all pairs */
	uint32_t *up_cost; /**< [node] hops of class up */
	uint32_t *up_next; /**< [node] arc; up, or down */
	uint32_t *late_cost; /**< [node] hops of class late */
	uint32_t *both_cost; /**< [node] hops of class both */
	uint32_t *both_next; /**< [node] arc */
	uint32_t *stretched; /**< nodes with a long path to t */
	uint32_t (*turn)[GRID_WAYS];
	uint32_t worst;	     /**< most links in excess of the shortest path */
	struct route_bfs near; /**< shortest paths, if in doubt */
	void *mem;
};

/** Whether a proxy continues by class aside, because it does not go down on a
    shortest path. */
static inline bool
reflit_goes_aside(const struct reflit *rf, uint32_t w)
{
	return rf->aside != NULL && rf->aside[w] == rf->least[w] &&
	       !(rf->tree->down[w] && rf->tree->dist[w] == rf->least[w]);
}

/** Fills @p dor for node @p t, and @p least if not NULL. */
void reflit_dor_all(const struct route_grid *gr, uint32_t t,
		    struct reflit_dor *dor, uint32_t *least);

/** Sets up the escape classes for destination t; rf->tree leads there. */
void reflit_grid_classes(struct reflit *rf);

/** The best class from node s; *cost is set to its hops. */
uint8_t reflit_choose(const struct reflit *rf, uint32_t s, uint32_t *cost);

/** Links of that path in excess of rf->least; 0 also if there is none. */
uint32_t reflit_extra(const struct reflit *rf, uint32_t s);

/** Computes reflit_exact, if something is broken. Returns 0 or -ENOMEM. */
int reflit_exact_init(struct reflit *rf);
void reflit_exact_free(struct reflit *rf);

/** Sets up node @p t as the destination: dor_t, least and aside. */
void reflit_exact_to(struct reflit *rf, uint32_t t);

/** From now on class aside is in use. */
void reflit_exact_aside(struct reflit *rf);

/** Sets extra to that of tables with the present order; gives up as soon as it
    is no less than @p enough. */
void reflit_exact_measure(struct reflit *rf, uint64_t enough);

/** After reflit_tables(), if something is broken: relieves the busiest link.
    Returns 0 or -ENOMEM. */
int reflit_even(struct reflit *rf);

/** All tables, with the present order. */
void reflit_tables(struct reflit *rf);

/** Tables if something is broken, with the best order. Returns 0 or -ENOMEM. */
int reflit_roots(struct reflit *rf);

/** The engine for fabrics that are not grids. */
int reflit_any(struct route_build *b);

#endif /* REFLIT_GRID_H */
