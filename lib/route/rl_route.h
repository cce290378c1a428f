/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_ROUTE_H
#define RL_ROUTE_H

/**
 * @file Routing engines: turn a topology with its failures into forwarding
 * tables of every device [ROUTE-2, ROUTE-3, ROUTE-6]. Control path only: it
 * allocates, and no function is called from a data path. rl_check.h, which
 * shares no code with them, proves what the engines promise.
 *
 * | engine     | fabrics         | paths                         | VLs       |
 * |------------|-----------------|-------------------------------|-----------|
 * | reflit     | any             | dimension order, escape class | 3         |
 * | torus-2qos | tori and meshes | the rules of the manual page  | 2 or 4    |
 * | updown     | any             | up, then down, from a root    | 1         |
 * | minhop     | any             | shortest; loops are possible  | 1         |
 *
 * The remaining VLs carry detours [ROUTE-6].
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_check_mix.h"
#include "rl_fwd.h"
#include "rl_topo.h"

RL_PUBLIC_BEGIN

/** The engine for an empty name. */
#define RL_ROUTE_DEFAULT "reflit"

/** Tables of a fabric. Read-only to all but this library. */
struct rl_route {
	const char *engine; /**< name; a static string */
	uint32_t ndev;
	uint32_t nep;
	uint32_t epoch;
	/**
	 * [ndev], index = device of the topology. Tables of failed devices hold
	 * no next hop. Shallow: this object owns what they point to.
	 */
	struct rl_fwd *fwd;
	uint8_t vls;	    /**< VLs of the paths while nothing more fails */
	uint8_t detour_vls; /**< additional VLs that detours use */
	/** the checker has passed the present tables: rl_route_accept().
	    Installers of tables require it. */
	bool accepted;
	bool parts; /**< as in rl_route_params */
	bool adaptive; /**< as in rl_route_params */
	bool adapts;   /**< there is an adaptive plane; plain_why if not */
	bool ascends;  /**< if so: packets that leave it ascend in the ranks */
	char plain_why[RL_ERR_MAX];
	/** rank of each channel, by rl_channel(): every hop of the tables
	    ascends in it; NULL: the engine provides none */
	uint32_t *rank;
	/** the proof of the tables by these ranks; see rl_check_ranks() */
	struct rl_proof *proof;
	void *priv;
};

/** Requirements and abilities of an engine, for help texts and reports. */
struct rl_route_info {
	const char *name;
	const char *what;	 /**< one line */
	uint8_t min_vls;
	bool grid_only;
	bool deadlock_free;	 /**< by construction; else by the checker */
};

/** Any thread. The i-th engine, i from 0; NULL past the last. */
const struct rl_route_info *rl_route_info(unsigned int i);

/**
 * Control thread. Computes the tables of @p topo in its present state, without
 * failed parts. Endpoints that failed, or have no working link, get no routes.
 * Same input, same tables.
 *
 * @param engine   name of an engine; NULL or "": RL_ROUTE_DEFAULT
 * @param max_vls  VLs of links, 1..RL_VCS: those that paths don't need serve
 *   detours
 * @param out      set to the tables; the caller frees them by rl_route_free()
 * @param err      RL_ERR_MAX bytes; on failure one line without newline
 * @return 0; -EINVAL (no such engine, max_vls out of range), -EHOSTUNREACH
 *   (refused: @p err has the reason), -ENOMEM; on failure *out is NULL
 */
int rl_route_compute(const struct rl_topo *topo, const char *engine,
		     unsigned int max_vls, struct rl_route **out, char *err);

/**
 * Control thread. Gives each of @p levels service levels VLs of its own: level
 * q uses VLs and SLs like level 0, q times higher up. Call it again after each
 * rl_route_update().
 *
 * @return 0; -EINVAL: not a power of two, or too few VLs or SLs (@p err,
 *   RL_ERR_MAX bytes, has the reason); the tables are unchanged
 */
int rl_route_levels(struct rl_route *r, unsigned int levels, char *err);

/**
 * Control thread. rl_route_compute() with this many VLs for each of @p levels
 * service levels, and rl_route_levels(). Returns as both.
 */
int rl_route_compute_levels(const struct rl_topo *topo, const char *engine,
			    unsigned int max_vls, unsigned int levels,
			    struct rl_route **out, char *err);

/**
 * Control thread. Has the checker judge the tables for @p topo, the topology
 * they were computed for: every pair arrives, and neither paths nor detours
 * have a credit loop. Installers of tables must call it first, and again after
 * each rl_route_update() and rl_route_levels(); the checker does not repeat
 * what it has passed. On success route->accepted is set.
 *
 * @param old  tables that devices may still hold while these are installed: the
 *   mix is then judged, too; NULL: none, or none that packets use
 * @return 0; -EHOSTUNREACH (refused: @p err, RL_ERR_MAX bytes, has the reason),
 *   -ENOMEM
 */
int rl_route_accept(struct rl_route *route, const struct rl_topo *topo,
		    const struct rl_route *old, char *err);

/**
 * Control thread. How programs set up their fabrics: rl_route_compute_levels(),
 * and rl_route_accept(). Returns as both; on failure *out is NULL.
 */
int rl_route_setup(const struct rl_topo *topo, const char *engine,
		   unsigned int max_vls, unsigned int levels,
		   struct rl_route **out, char *err);

/** In place of the service levels of rl_route_setup(): one, and an adaptive
    plane on the last VL, refused with the reason if it cannot be proven. */
#define RL_ROUTE_ADAPTIVE 0u
/** The same, but if it cannot be proven, the tables alone serve. */
#define RL_ROUTE_MAY_ADAPT 16u

/** Parameters of a route, with defaults in rl_route_compute(). */
struct rl_route_params {
	const char *engine;	 /**< NULL or "": RL_ROUTE_DEFAULT */
	unsigned int max_vls;	 /**< 1..RL_VCS */
	/**
	 * QoS levels of torus-2qos, 1 or 2. With two (SL 8-15, VL 4-7) no VLs
	 * are left for detours.
	 */
	unsigned int qos_levels;
	/** if failures partition the fabric, route each part by itself;
	    otherwise refuse it. rl_topo_parts() names the parts. */
	bool parts;
	/** an adaptive plane on the last of the VLs (rl_fwd.h), if it can be
	    proven: rl_route_accept() takes it away if not, and rl_route.adapts
	    says whether it is there */
	bool adaptive;
};

/** Control thread. rl_route_compute() with all parameters. */
int rl_route_compute_with(const struct rl_topo *topo,
			  const struct rl_route_params *params,
			  struct rl_route **out, char *err);

/**
 * Control thread. Brings @p route up to date with @p topo, the topology it was
 * computed for, in which more has failed or works again: computes all of it
 * again, such that entries the change does not affect come out unchanged. So few
 * devices have new tables.
 *
 * The old tables are freed. A caller with devices in operation keeps two
 * routes, and updates them alternately. Service levels must be set again, see
 * rl_route_levels().
 *
 * @param changed  [ndev], set to true for devices whose tables or path SLs
 *   changed, others left alone; or NULL
 * @return 0; -EHOSTUNREACH (refused), -ENOMEM: the route is unchanged
 */
int rl_route_update(struct rl_route *route, const struct rl_topo *topo,
		    bool *changed, char *err);

/**
 * Control thread. Which flows have to be held while devices change from the
 * tables @p old to those of @p route, both accepted: rl_check_hold() with the
 * ranks of both. For controllers; see rl_check_mix.h.
 *
 * @param topo  as it is during the mix
 * @param alts  RL_CHECK_ALL: even if links fail, or do not work yet
 * @param dead  links that died since @p old was made, @p ndead of them
 * @param held  an empty set; filled
 * @return as rl_check_hold()
 */
int rl_route_hold(const struct rl_route *old, const struct rl_route *route,
		  const struct rl_topo *topo, enum rl_check_alts alts,
		  const uint32_t *dead, uint32_t ndead, struct rl_flows *held,
		  struct rl_check_mix_report *rep);

/**
 * Control thread. Frees tables that are no longer read; @p route may be NULL.
 */
void rl_route_free(struct rl_route *route);

RL_PUBLIC_END

#endif /* RL_ROUTE_H */
