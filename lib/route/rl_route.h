/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_ROUTE_H
#define RL_ROUTE_H

/**
 * @file
 * Routing engines: a topology with its failures in, forwarding tables of every
 * device out [ROUTE-2, ROUTE-3, ROUTE-6]. Control path only: it allocates, and
 * no function is called from a data path. What the engines promise is proven
 * by rl_check.h, which shares no code with them.
 *
 * | engine     | fabrics         | paths                         | VLs       |
 * |------------|-----------------|-------------------------------|-----------|
 * | reflit     | any             | dimension order, escape class | 3         |
 * | torus-2qos | tori and meshes | the rules of the manual page  | 2 or 4    |
 * | updown     | any             | up, then down, from a root    | 1         |
 * | minhop     | any             | shortest; loops are possible  | 1         |
 *
 * VLs that are left over carry detours [ROUTE-6].
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_check_mix.h"
#include "rl_fwd.h"
#include "rl_topo.h"

/** The engine that an empty name stands for. */
#define RL_ROUTE_DEFAULT "reflit"

/** Tables of a fabric. Read-only to all but this library. */
struct rl_route {
	const char *engine; /**< name; a static string */
	uint32_t ndev;
	uint32_t nep;
	uint32_t epoch;
	/**
	 * [ndev], index = device of the topology. Tables of failed devices
	 * hold no next hop. Shallow: what they point to is this object's.
	 */
	struct rl_fwd *fwd;
	uint8_t vls;	    /**< VLs of the paths while nothing more fails */
	uint8_t detour_vls; /**< VLs on top of them that detours use */
	/** the checker has passed the tables as they are: rl_route_accept().
	    What installs tables asks for it. */
	bool accepted;
	bool parts; /**< as in rl_route_params */
	/** rank of each channel, by rl_channel(): every hop of the tables ascends
	    in it; NULL: the engine gives none */
	uint32_t *rank;
	/** what has been proven of the tables by these ranks; see
	    rl_check_ranks() */
	struct rl_proof *proof;
	void *priv;
};

/** What an engine needs and can do; for help texts and reports. */
struct rl_route_info {
	const char *name;
	const char *what;	 /**< one line */
	uint8_t min_vls;
	bool grid_only;
	bool deadlock_free;	 /**< by construction; else the checker decides */
};

/** Any thread. The i-th engine, i from 0; NULL past the last. */
const struct rl_route_info *rl_route_info(unsigned int i);

/**
 * Control thread. Computes the tables of @p topo as it is now, without what is
 * marked failed. Endpoints that failed, or that no working link leads to, are gone:
 * nothing is routed to them. Same input, same tables.
 *
 * @param engine   name of an engine; NULL or "": RL_ROUTE_DEFAULT
 * @param max_vls  VLs that links have, 1..RL_VCS: what paths leave over is used
 *   for detours
 * @param out      set to tables of the caller's, for rl_route_free()
 * @param err      RL_ERR_MAX bytes; on failure one line without newline
 * @return 0; -EINVAL (no such engine, max_vls out of range), -EHOSTUNREACH
 *   (refused: the reason is in @p err), -ENOMEM; on failure *out is NULL
 */
int rl_route_compute(const struct rl_topo *topo, const char *engine,
		     unsigned int max_vls, struct rl_route **out, char *err);

/**
 * Control thread. Gives each of @p levels service levels VLs of its own: level
 * q uses VLs and SLs as level 0 does, q times higher up. Where rl_route_update()
 * has changed the tables, it is called again.
 *
 * @return 0; -EINVAL: not a power of two, or VLs or SLs do not suffice (the
 *   reason is in @p err, RL_ERR_MAX bytes); the tables are as they were
 */
int rl_route_levels(struct rl_route *r, unsigned int levels, char *err);

/**
 * Control thread. rl_route_compute() with so many VLs for each of @p levels
 * service levels, and rl_route_levels(). Returns as both.
 */
int rl_route_compute_levels(const struct rl_topo *topo, const char *engine,
			    unsigned int max_vls, unsigned int levels,
			    struct rl_route **out, char *err);

/**
 * Control thread. Has the checker judge the tables for @p topo, the topology
 * they were computed for: every pair arrives, and neither paths nor detours
 * have a credit loop. Whoever installs tables calls it first, after each
 * rl_route_update() and rl_route_levels() again; what the checker has passed
 * already is not checked twice. On success route->accepted is set.
 *
 * @param old  tables that devices may still hold while these are installed:
 *   the mix is then judged, too; NULL: none, or none that packets meet
 * @return 0; -EHOSTUNREACH (refused: the reason is in @p err, RL_ERR_MAX
 *   bytes), -ENOMEM
 */
int rl_route_accept(struct rl_route *route, const struct rl_topo *topo,
		    const struct rl_route *old, char *err);

/**
 * Control thread. Before rl_route_accept(): what has been proven of @p other,
 * tables of the same fabric, is known of @p route, too, as far as the checker
 * finds them to be the same. Does nothing where there is no memory, or nothing
 * known.
 */
void rl_route_proven(struct rl_route *route, const struct rl_route *other);

/**
 * Control thread. What programs set their fabrics up with:
 * rl_route_compute_levels(), and rl_route_accept(). Returns as both; on failure
 * *out is NULL.
 */
int rl_route_setup(const struct rl_topo *topo, const char *engine,
		   unsigned int max_vls, unsigned int levels,
		   struct rl_route **out, char *err);

/** What rl_route_compute() takes for granted. */
struct rl_route_params {
	const char *engine;	 /**< NULL or "": RL_ROUTE_DEFAULT */
	unsigned int max_vls;	 /**< 1..RL_VCS */
	/**
	 * QoS levels of torus-2qos, 1 or 2. With two (SL 8-15, VL 4-7) there
	 * are no VLs left for detours.
	 */
	unsigned int qos_levels;
	/** where failures cut the fabric, route each part for itself; else that
	    is refused. rl_route_parts() names the parts. */
	bool parts;
};

/** Part of what is not there. */
#define RL_PART_NONE UINT32_MAX

/**
 * Control thread. The parts into which failures have cut a fabric: switches
 * that reach each other by links that work, and their endpoints.
 *
 * @param part  [topo->ndev], filled: number of the part of each device, from 0
 *   on in the order of their first switches; RL_PART_NONE: failed, or an
 *   endpoint without a link that works. An endpoint with links to several parts
 *   gets that of its first one.
 * @return how many parts there are that have endpoints or links; -ENOMEM
 */
int rl_route_parts(const struct rl_topo *topo, uint32_t *part);

/** Control thread. rl_route_compute() with all that can be set. */
int rl_route_compute_with(const struct rl_topo *topo,
			  const struct rl_route_params *params,
			  struct rl_route **out, char *err);

/**
 * Control thread. Brings @p route up to date with @p topo, the topology it was
 * computed for, in which more has failed or works again: all is computed anew,
 * in such a way that what the change does not touch comes out as it was. So the
 * proof (rl_route_accept()) is quick, and few devices have new tables.
 *
 * The old tables are freed. Who serves devices keeps two routes, and updates
 * one, then the other. Service levels are given anew, see rl_route_levels().
 *
 * @param changed  [ndev], set to true for devices whose tables or path SLs
 *   changed and else left alone; or NULL
 * @return 0; -EHOSTUNREACH (refused), -ENOMEM: the route is as it was
 */
int rl_route_update(struct rl_route *route, const struct rl_topo *topo,
		    bool *changed, char *err);

/**
 * Control thread. Which flows have to be held while devices change from the
 * tables @p old to those of @p route, both accepted: rl_check_hold() with the
 * ranks of both. What a controller calls; see rl_check_mix.h.
 *
 * @param topo  as it is while they mix
 * @param alts  RL_CHECK_ALL: though links may fail, or not work yet
 * @param dead  links that died since @p old was made, @p ndead of them
 * @param held  an empty set; filled
 * @return as rl_check_hold()
 */
int rl_route_hold(const struct rl_route *old, const struct rl_route *route,
		  const struct rl_topo *topo, enum rl_check_alts alts,
		  const uint32_t *dead, uint32_t ndead, struct rl_flows *held,
		  struct rl_check_mix_report *rep);

/** Control thread. Frees tables that no one reads any more; NULL is fine. */
void rl_route_free(struct rl_route *route);

#endif /* RL_ROUTE_H */
