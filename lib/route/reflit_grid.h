/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFLIT_GRID_H
#define REFLIT_GRID_H

/**
 * @file
 * Engine reflit on tori and meshes [ROUTE-3]: any failures that leave the
 * fabric in one part, three VLs.
 *
 * Dimension order (DOR) runs on VL 1 before the dateline of a ring and on VL 0
 * behind it or where none is crossed; where a ring is broken it takes the
 * piece that is left. Up*-down* (updown_order.h) runs on VL 2. Any path of the
 * form
 *
 *     up (VL 2)  ->  DOR (VL 0, 1)  ->  down (VL 2)
 *
 * each part possibly empty, is free of loops together with all others: the
 * channels up come before those of DOR, and these before the channels down.
 * So a source whose DOR path is broken has three more classes of path to
 * choose from, and says by the SL which one it takes:
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
 * It takes the shortest, the lowest SL where several are. Up*-down* alone is
 * always among them, which is why nothing connected is refused. A proxy is
 * chosen for each destination, the one that serves its sources best; on small
 * grids (REFLIT_EXACT) each node has one of its own, out of all from which the
 * destination can be reached by going down. Class aside is in use there alone.
 *
 * Nodes from which a destination can be reached by going down alone go down on
 * every plane of VL 2. Packets that have begun to go down therefore go on.
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
/** Switches of grids, at most, whose shortest ways are looked up. */
#define REFLIT_EXACT 256u
/** No proxy, in reflit.via. */
#define REFLIT_VIA_NONE 0xffff
/** Links that a detour may well have more than the shortest way. */
#define REFLIT_BEARABLE 6

#define REFLIT_COST_NONE 0x7fffffffu

/** Dimension order to one node, from all others. */
struct reflit_dor {
	uint32_t to;	 /**< ROUTE_NONE: nothing here */
	uint32_t *first; /**< [node] arc; ROUTE_NONE: broken, or there */
	uint32_t *cost;	 /**< [node] hops, or REFLIT_COST_NONE */
	bool *wraps;	 /**< [node] the dateline lies ahead in this dimension */
};

/* What is known of a destination before others of its tile are looked at. */
struct reflit_lane {
	struct reflit_dor dor;
	uint32_t *least; /**< [node] hops that the positions ask for */
};

/** Small grids: what is the same whatever root the classes have. Rows of nnode
    for each destination node. */
struct reflit_exact {
	struct reflit_dor *dor; /**< [to] dimension order */
	uint32_t *shortest; /**< [to][node] links of the shortest way */
	uint32_t *aside;    /**< [to][node] links of class aside */
	bool asides;	    /**< it is in use */
	uint16_t *by_cost;  /**< [to][] nodes with a DOR path, the nearest first */
	uint32_t *reach;    /**< [to] how many these are */
	uint32_t *host;	    /**< [node] endpoints there */
	uint32_t *ep;	    /**< [node] the first of them */
	uint32_t *needy;    /**< nodes to which DOR is not the shortest way */
	uint32_t nneedy;
	uint16_t *above;    /**< proxies of the destination at hand */
	uint32_t *rest;	    /**< [node] links from such a proxy on */
	uint32_t *at;	    /**< [proxy] how far by_cost has been read */
	uint32_t *mem;
	bool *wraps;
};

struct reflit {
	struct route_build *b;
	struct route_grid gr;
	struct route_detour dt;
	struct updown_order *order; /**< of the escape classes: dt's, or own */
	struct updown_tree *tree;
	struct updown_order own_order;
	struct updown_trees own_trees;
	struct updown_tree own_tree; /**< one of them */
	bool whole;  /**< all DOR paths to the destination at hand are there */
	bool broken; /**< not all DOR paths are there: classes are needed */
	/* planes */
	unsigned int dor, up, late, both, wrap;
	struct reflit_lane lane[ROUTE_TILE]; /**< of a tile's destinations */
	/* of the destination at hand */
	uint32_t t;	   /**< its node */
	uint32_t proxy;	   /**< the first one; ROUTE_NONE: none */
	uint16_t *via;	   /**< [node] its proxy, in dor_p */
	struct reflit_dor dor_t; /**< to t: one of the lanes */
	struct reflit_dor one;	 /**< dor_p where there is one proxy */
	struct reflit_dor *dor_p; /**< to the proxies; exact: to all nodes */
	const uint32_t *aside; /**< [node] hops of class aside; NULL: none */
	uint32_t *least;   /**< [node] hops to t that the positions ask for;
				exact: that the shortest way has */
	bool beyond;	   /**< paths of class aside are in use */
	bool exact;	   /**< small enough to know the shortest ways */
	struct reflit_exact ex;
	uint64_t extra;	   /**< exact: links more than these, of all pairs */
	uint32_t *up_cost; /**< [node] hops of class up */
	uint32_t *up_next; /**< [node] arc; up, or down */
	uint32_t *late_cost; /**< [node] hops of class late */
	uint32_t *both_cost; /**< [node] hops of class both */
	uint32_t *both_next; /**< [node] arc */
	uint32_t *stretched; /**< nodes with a long way to t */
	uint32_t (*turn)[GRID_WAYS];
	uint32_t worst;	     /**< most links more than the shortest way has */
	struct route_bfs near; /**< shortest ways, where in doubt */
	void *mem;
};

/** Whether a proxy goes on by class aside, because it does not go down on a
    shortest way. */
static inline bool
reflit_goes_aside(const struct reflit *rf, uint32_t w)
{
	return rf->aside != NULL && rf->aside[w] == rf->least[w] &&
	       !(rf->tree->down[w] && rf->tree->dist[w] == rf->least[w]);
}

/** Fills @p dor for node @p t, and @p least where not NULL. */
void reflit_dor_all(const struct route_grid *gr, uint32_t t,
		    struct reflit_dor *dor, uint32_t *least);

/** Sets up the escape classes for destination t; rf->tree leads there. */
void reflit_grid_classes(struct reflit *rf);

/** Links that the positions of s and t ask for. */
uint32_t reflit_least(const struct route_grid *gr, uint32_t s, uint32_t t);

/** The best class from node s; *cost is set to its hops. */
uint8_t reflit_choose(const struct reflit *rf, uint32_t s, uint32_t *cost);

/** What reflit_exact holds, where something is broken. Returns 0 or -ENOMEM. */
int reflit_exact_init(struct reflit *rf);
void reflit_exact_free(struct reflit *rf);

/** Looks at node @p t as the destination: dor_t, least and aside. */
void reflit_exact_to(struct reflit *rf, uint32_t t);

/** From now on class aside is in use. */
void reflit_exact_aside(struct reflit *rf);

/** Sets extra to what tables with the order that rf has would have; gives up as
    soon as it is no less than @p enough. */
void reflit_exact_measure(struct reflit *rf, uint64_t enough);

/** After reflit_tables(), where something is broken: less on the busiest link.
    Returns 0 or -ENOMEM. */
int reflit_even(struct reflit *rf);

/** All tables, with the order that rf has. */
void reflit_tables(struct reflit *rf);

/** Tables where something is broken, with the order that suits best. Returns 0
    or -ENOMEM. */
int reflit_roots(struct reflit *rf);

/** The engine where there is no grid. */
int reflit_any(struct route_build *b);

#endif /* REFLIT_GRID_H */
