/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_TOPO_H
#define RL_TOPO_H

/**
 * @file
 * A fabric as a graph: devices (switches and endpoints), their ports, and the
 * links that join them [ROUTE-1]. rl_topo_build() makes it from a
 * description; afterwards only the `failed` marks change. Control path only:
 * it allocates, and no function is called from a data path.
 */

#include <stdint.h>
#include <stdio.h>

#include "rl_base.h"

RL_PUBLIC_BEGIN

#define RL_DIMS_MAX 3
/** Levels of switches that a fat tree may have. */
#define RL_TREE_LEVELS_MAX 8
/** Largest q of a Slim Fly: it has 2 q^2 switches. */
#define RL_SLIM_Q_MAX 181
/** Devices a fabric may have: endpoint ids have 16 bits. */
#define RL_DEVICES_MAX 65535u
/** Links a fabric may have: so that a typing error cannot exhaust memory. */
#define RL_LINKS_MAX (1u << 20)
/** Ports of one device; 0xffff means "no port" elsewhere. */
#define RL_PORTS_MAX 65534u
#define RL_LINK_NONE UINT32_MAX
/** Compute elements in a row of a RL_TOPO_BOARD, as in Figure 3. */
#define RL_BOARD_ROW 8u
#define RL_ERR_MAX 256

enum rl_topo_kind {
	RL_TOPO_TORUS,
	RL_TOPO_MESH,
	RL_TOPO_BOARDS, /**< Figure 2 of the DRL patent */
	RL_TOPO_BOARD,	/**< Figure 3 of the DRL patent */
	RL_TOPO_CUSTOM,
	RL_TOPO_FAT_TREE,
	RL_TOPO_DRAGONFLY,
	RL_TOPO_SLIM_FLY,
	RL_TOPO_RANDOM,
	RL_TOPO_IBNET, /**< lists as for CUSTOM, from rl_ibnet.h */
};

/**
 * Which switch of a group has the global link to which other group, after
 * Hastings et al. (2015). The groups are numbered in a circle; i is the group's
 * own number, t the other's.
 */
enum rl_topo_global {
	RL_GLOBAL_RELATIVE,  /**< by (t - i) modulo the groups */
	RL_GLOBAL_ABSOLUTE,  /**< by t */
	RL_GLOBAL_CIRCULANT, /**< by the distance of i and t, + before - */
};

enum rl_dev_kind { RL_DEV_SWITCH, RL_DEV_ENDPOINT };
/** Link types that policies tell apart [DRL-6]. */
enum rl_link_kind { RL_LINK_ISL, RL_LINK_ENDPOINT };

/** One link or device named in a description, with the line that names it. */
struct rl_topo_ref {
	char a[RL_NAME_MAX];
	char b[RL_NAME_MAX]; /**< empty: a device */
	int32_t k;	     /**< which parallel link; -1: all */
	uint16_t count;	     /**< links of a custom list: how many */
	uint32_t mbps;	     /**< links of a custom list: speed; 0: not said */
	uint32_t line;	     /**< its line; handed back, not read */
};

/**
 * Description of a fabric, from a fabric file or a test. Arrays are the
 * caller's.
 *
 * Grids: `wrap` decides, TORUS and MESH only differ in their defaults. A
 * dimension of radix 1 is unused; one of radix 2 never wraps, because both
 * cables would join the same pair.
 *
 * BOARDS (Figure 2): switch k of each board is linked to switch k of every
 * other one by links_per_edge[0] links, and any two switches of a board by
 * intra_board_links. BOARD (Figure 3) is one such board. Compute element i of a
 * board is linked to the switches i, i+1, ... i+switches_per_endpoint-1 (modulo
 * their number) of its board.
 *
 * FAT_TREE: the extended generalized fat tree XGFT(h; m; w) with parallel
 * links. Level 0 has the endpoints, 1 to `levels` the switches. A node of level
 * i has m[i-1] children, one of level i-1 has w[i-1] parents, and
 * tree_links[i-1] links join the two. m = k, k, ...; w = 1, k, k, ... is the
 * k-ary n-tree. hosts_per_switch is ignored.
 *
 * DRAGONFLY: `groups` groups of `a` switches, all of a group linked to each
 * other, each switch with `h` global links and hosts_per_switch endpoints.
 *
 * SLIM_FLY: the graphs of McKay, Miller and Siran with parameter q, a prime
 * power that is not 2 modulo 4: 2 q^2 switches, any two at most 2 links apart.
 *
 * RANDOM: a random graph of `n` switches with `degree` links each, connected,
 * without parallel links; the same seed gives the same graph.
 */
struct rl_topo_spec {
	enum rl_topo_kind kind;
	unsigned int ndims;
	uint16_t dims[RL_DIMS_MAX];
	bool wrap[RL_DIMS_MAX];
	uint16_t links_per_edge[RL_DIMS_MAX];
	uint16_t hosts_per_switch;
	uint16_t boards;		 /**< BOARDS: N */
	uint16_t switches_per_board;	 /**< BOARDS, BOARD: S */
	uint16_t endpoints_per_board;	 /**< BOARDS, BOARD: C */
	uint16_t switches_per_endpoint;	 /**< BOARDS, BOARD: of each CE; 0: all */
	uint16_t intra_board_links;	 /**< BOARDS, BOARD: see above; 0: none */
	uint16_t levels;		 /**< FAT_TREE: of switches */
	uint16_t m[RL_TREE_LEVELS_MAX];	 /**< FAT_TREE: children, see above */
	uint16_t w[RL_TREE_LEVELS_MAX];	 /**< FAT_TREE: parents */
	uint16_t tree_links[RL_TREE_LEVELS_MAX]; /**< FAT_TREE: parallel links */
	uint16_t a;			 /**< DRAGONFLY: switches of a group */
	uint16_t h;			 /**< DRAGONFLY: global links of a switch */
	uint16_t groups;		 /**< DRAGONFLY; 0: a h + 1 */
	enum rl_topo_global global_links; /**< DRAGONFLY */
	uint16_t q;			 /**< SLIM_FLY */
	uint16_t n;			 /**< RANDOM: switches */
	uint16_t degree;		 /**< RANDOM: links of a switch */
	uint64_t seed;			 /**< RANDOM */
	struct rl_topo_ref *switches;	 /**< CUSTOM: name in .a */
	uint32_t nswitches;
	struct rl_topo_ref *endpoints;	 /**< CUSTOM: name in .a */
	uint32_t nendpoints;
	struct rl_topo_ref *links;	 /**< CUSTOM */
	uint32_t nlinks;
	struct rl_topo_ref *fail;	 /**< failed from the start */
	uint32_t nfail;
};

/** One end of a link, seen from a device. */
struct rl_topo_port {
	uint32_t link;	    /**< index into rl_topo.link */
	uint32_t peer_dev;  /**< index into rl_topo.dev */
	uint16_t peer_port; /**< port number at the peer */
	uint8_t end;	    /**< 0: this device is link.dev[0] */
	int8_t dim;	    /**< grid: dimension of the link; -1: none */
	int8_t dir;	    /**< grid: +1 or -1 along dim */
};

struct rl_topo_dev {
	char name[RL_NAME_MAX];
	enum rl_dev_kind kind;
	bool failed;
	uint16_t ep_id;	 /**< endpoint: its id, the `dst` of flits */
	uint16_t nports;
	/**
	 * Grids: of the switch, also for its endpoints. BOARDS: board, number
	 * in the board. BOARD: 0, number of a switch; row, column of a compute
	 * element. FAT_TREE: level (endpoints: 0), number in it. DRAGONFLY:
	 * group, number in it. SLIM_FLY: subgraph, x, y (or m, c). RANDOM:
	 * number. The last three of the switch for its endpoints, too.
	 */
	uint16_t coord[RL_DIMS_MAX];
	struct rl_topo_port *port;   /**< nports of them */
};

struct rl_topo_link {
	uint32_t dev[2];
	uint16_t port[2];
	uint16_t k; /**< number among the parallel links of its two devices */
	int8_t dim; /**< grid: its dimension, end 1 lies in +; -1: none */
	uint32_t mbps; /**< speed as a tool prints it; 0: not said */
	enum rl_link_kind kind;
	bool failed; /**< by itself; see rl_topo_link_up() */
};

struct rl_topo {
	struct rl_topo_spec spec; /**< dims and kind; the arrays are not kept */
	uint32_t ndev;
	uint32_t nlink;
	uint32_t nep;
	struct rl_topo_dev *dev;
	struct rl_topo_link *link;
	uint32_t *ep_dev; /**< endpoint id -> device index */
	struct rl_topo_port *ports; /**< of all devices, one allocation */
	uint32_t *by_name;	    /**< devices in the order of their names */
	uint32_t *by_pair; /**< links in the order of (lower device, higher
				device, k): parallel ones are neighbours */
};

/** Control thread. A description of @p kind with every default; no arrays. */
void rl_topo_spec_defaults(struct rl_topo_spec *spec, enum rl_topo_kind kind);

/**
 * Any thread. Whether @p name is a valid device name: 1 to RL_NAME_MAX - 1
 * letters, digits, '.' and '_', beginning with a letter ('-' and '#' separate
 * the parts of a link's name).
 */
bool rl_topo_name_ok(const char *name);

/**
 * Control thread. Builds the graph of @p spec. Switches come first in topo->dev
 * in coordinate order (x slowest; fat trees: level 1 first), then endpoints in
 * the order of their switches; custom devices in the order of their lists. A
 * switch's ports to its endpoints come before its ISLs; on a grid these are
 * ordered by dimension, then + before -, then k. topo->spec is normalised:
 * `wrap` is false if the radix is below 3.
 *
 * @param err   RL_ERR_MAX bytes; on failure one line without newline
 * @param line  `line` of the reference that is wrong, or 0; may be NULL
 * @return 0; -EINVAL, -ENOMEM, with nothing to free
 */
int rl_topo_build(const struct rl_topo_spec *spec, struct rl_topo *topo,
		  char *err, int *line);

/** Control thread. Frees what rl_topo_build() made; a zeroed topo is fine. */
void rl_topo_free(struct rl_topo *topo);

/** Any thread. Device with this name, or -1. */
int32_t rl_topo_find_dev(const struct rl_topo *topo, const char *name);

/**
 * Any thread. Parses "A", "A-B" or "A-B#k", whether or not there is such a
 * device or link. Leaves `count` and `line` alone.
 *
 * @return 0; -EINVAL if @p name has another form
 */
int rl_topo_ref_parse(const char *name, struct rl_topo_ref *ref);

/**
 * Any thread. Link with the name "A-B", "B-A" or "A-B#k". If there are parallel
 * links and no k is given: the first, with *nlinks set to how many there are
 * (they are links with the same two devices, k = 0..n-1, not necessarily
 * adjacent in topo->link); with a k *nlinks is 1. @p nlinks may be NULL.
 *
 * @return index, or -1 if there is none
 */
int64_t rl_topo_find_link(const struct rl_topo *topo, const char *name,
			  unsigned int *nlinks);

/** Any thread. Index of the k-th link between two devices, or -1: O(log n). */
int64_t rl_topo_link_between(const struct rl_topo *topo, uint32_t dev_a,
			     uint32_t dev_b, unsigned int k);

/** Any thread. The k-th of the @p n links that rl_topo_find_link() found. */
static inline uint32_t
rl_topo_link_of(const struct rl_topo *topo, int64_t first, unsigned int n,
		unsigned int k)
{
	const struct rl_topo_link *l = &topo->link[first];

	return n == 1 ? (uint32_t)first
		      : (uint32_t)rl_topo_link_between(topo, l->dev[0],
						       l->dev[1], k);
}

/** Any thread. Whether a link works: neither it nor one of its ends failed. */
static inline bool
rl_topo_link_up(const struct rl_topo *t, uint32_t link)
{
	const struct rl_topo_link *l = &t->link[link];

	return !l->failed && !t->dev[l->dev[0]].failed &&
	       !t->dev[l->dev[1]].failed;
}

/**
 * Any thread. Writes "A-B" (or "A-B#k" if there are parallel links) into @p
 * buf; truncated to @p len. Returns buf.
 */
char *rl_topo_link_name(const struct rl_topo *t, uint32_t link, char *buf,
			size_t len);

/** Any thread. Number of links that join the two devices of @p link. */
unsigned int rl_topo_parallel(const struct rl_topo *t, uint32_t link);

/**
 * Control thread. Marks a link ("A-B": all parallel ones; "A-B#k": one) or a
 * switch as failed, or as working again. Idempotent.
 *
 * @param err  RL_ERR_MAX bytes, or NULL
 * @return 0; -ENOENT (no such link or device), -EINVAL (an endpoint: its links
 *   can fail); nothing is changed on failure
 */
int rl_topo_fail(struct rl_topo *t, const char *name, char *err);
int rl_topo_heal(struct rl_topo *t, const char *name, char *err);

/**
 * Any thread. Whether endpoint @p ep is there: it works, and so does one of its
 * links. Tables have no routes to other endpoints, which does not affect the
 * rest.
 */
bool rl_topo_ep_there(const struct rl_topo *t, uint32_t ep);

/** The state that rl_topo_reach() checks. */
enum rl_reach {
	RL_REACH_PRISTINE, /**< the fabric as drawn: no failed marks */
	RL_REACH_WORKING,  /**< without failed parts */
};

/**
 * Any thread that owns @p t; allocates. Whether every endpoint reaches every
 * other through switches (an endpoint passes nothing on). With
 * RL_REACH_WORKING, endpoints that failed, or have lost every link by failures
 * of links or switches, are exempt: see rl_topo_ep_there().
 *
 * @param err  RL_ERR_MAX bytes; names two endpoints and the parts they are in
 * @return 0; -EHOSTUNREACH, -ENOMEM
 */
int rl_topo_reach(const struct rl_topo *t, enum rl_reach what, char *err);

#define RL_PART_NONE UINT32_MAX

/**
 * Any thread that owns @p t; allocates. The parts into which failures have cut
 * the fabric. Part 0 has the most endpoints (of equal parts, the lowest
 * device); parts without an endpoint come last. An endpoint that is linked to
 * several parts belongs to the first of them.
 *
 * @param part  [ndev], set to the part of each device; RL_PART_NONE if it has
 *   failed, or is an endpoint without a working link
 * @return the number of parts; -ENOMEM
 */
int64_t rl_topo_parts(const struct rl_topo *t, uint32_t *part);

RL_PUBLIC_END

#endif /* RL_TOPO_H */
