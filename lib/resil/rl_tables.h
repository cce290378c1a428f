/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_TABLES_H
#define RL_TABLES_H

/**
 * @file
 * The tables of a running fabric: all that devices have or will have, by epoch.
 * Does the jobs of the controller: computes new tables, has them proven, alone
 * and mixed with the tables that devices have, and says which traffic must stop
 * during the change.
 *
 * Tables live as long as a device may read them. The next job updates tables
 * that no device has any more, instead of computing new ones from scratch.
 *
 * Control path only; it allocates. One thread at a time, not necessarily that
 * of the controller: rl_tables_compute() alone may run beside it as a job.
 */

#include "rl_check_mix.h"
#include "rl_controller.h"
#include "rl_fwd_pass.h"
#include "rl_route.h"

struct rl_tables_params {
	const struct rl_topo *topo; /**< must outlive this; its marks are not
					 read after rl_tables_new() */
	const char *engine;	    /**< as for rl_route_setup() */
	uint8_t vls;
	uint8_t levels;
	/** endpoints retry, so they know which of their packets are
	    outstanding, and some flows can be held without the rest */
	bool retry;
	/** links retry, so no token is lost. With this and @p retry, tables may
	    change by tokens if the mode leaves the choice: packets that loop
	    out of a link that dies then may be overtaken, and only endpoints
	    that retry restore the order */
	bool link_retry;
	/** always compute tables from the marks alone, never from older tables:
	    another process makes the same tables from the same recipe, see
	    rl_tables_make() */
	bool anew;
	/** a clock in nanoseconds, to measure spans; NULL: spans are 0 */
	uint64_t (*clock)(void *ctx);
	void *clock_ctx;
};

struct rl_tables;

/**
 * Control thread. @p route: the accepted tables that all devices start with,
 * epoch 0. They stay the caller's, must outlive this object and must not
 * change.
 * @return NULL if there is no memory
 */
struct rl_tables *rl_tables_new(const struct rl_tables_params *p,
				const struct rl_route *route);

/** Control thread. No device may read the tables any more. NULL is ignored. */
void rl_tables_free(struct rl_tables *t);

/**
 * Prepares what any job needs, so that the job itself is faster: allocates and
 * touches memory for tables. The first call takes as long as computing two
 * tables, later ones little. Call it while the fabric is healthy; jobs also work
 * without it.
 */
void rl_tables_prepare(struct rl_tables *t);

/**
 * Does a job.
 *
 * @param res filled; rl_tables_why() says why a job was refused
 */
void rl_tables_compute(struct rl_tables *t, const struct rl_controller_job *job,
		       struct rl_controller_result *res);

/** @return the newest epoch that a job was done for */
uint32_t rl_tables_newest(const struct rl_tables *t);

/** @return why the last job was refused or not live: one line, or "" */
const char *rl_tables_why(const struct rl_tables *t);

/**
 * @return the table of a device, or NULL if tables of this epoch do not exist
 *   (any more)
 */
const struct rl_fwd *rl_tables_fwd(const struct rl_tables *t, uint32_t epoch,
				   uint32_t dev);

/** @return the tables of an epoch, or NULL */
const struct rl_route *rl_tables_route(const struct rl_tables *t,
				       uint32_t epoch);

/** @return flows to hold for an epoch; NULL: none, or forgotten */
const struct rl_flows *rl_tables_flows(const struct rl_tables *t,
				       uint32_t epoch);

/**
 * All that another process of the fabric needs to make the tables of an epoch
 * itself. Tables are not sent: they follow from what is out of use, and the
 * digest shows whether both processes made the same ones. The arrays belong to
 * the process that fills it in.
 */
struct rl_tables_recipe {
	uint32_t epoch;
	const uint8_t *link_out; /**< [nlink] not used by the tables */
	const uint8_t *dev_out;	 /**< [ndev] */
	const struct rl_flows *flows; /**< to be held for this epoch; NULL:
					   none */
	uint64_t digest;	 /**< of the tables of all devices */
	bool tokens;		 /**< change by tokens: */
	uint32_t from;		 /**< from the tables of this epoch, and */
	uint64_t ranks;		 /**< digest of the ranks of those tables */
};

/**
 * Fills in the recipe of tables that are here; valid until the next job or
 * rl_tables_make(). Needs `anew`. @return 0; -ENOENT: no such epoch, or epoch 0
 */
int rl_tables_recipe(const struct rl_tables *t, uint32_t epoch,
		     struct rl_tables_recipe *out);

/**
 * Makes tables from a recipe of another process, and has the local checker
 * prove them again, so that no device depends on the proof of another process.
 * Needs `anew`. On failure nothing changes, and rl_tables_why() says why.
 *
 * @return 0; -EALREADY: they are here; -EINVAL: the digests of the tables or of
 *   the ranks differ: not the same fabric, or not the same program;
 *   -EHOSTUNREACH: refused; -ENOMEM: also if all tables are in use
 */
int rl_tables_make(struct rl_tables *t, const struct rl_tables_recipe *r);

/**
 * Device @p dev has the tables of @p epoch and reads no others. Tables that no
 * device reads may be reused.
 */
void rl_tables_installed(struct rl_tables *t, uint32_t dev, uint32_t epoch);

/**
 * @return what device @p dev needs to change to the tables of @p epoch by
 *   tokens, for rl_core_stage(); it lives as long as the tables. NULL: no such
 *   tables (any more), or they do not come by tokens
 */
const struct rl_fwd_pass *rl_tables_pass(const struct rl_tables *t,
					 uint32_t epoch, uint32_t dev);

/** Device @p dev may read the tables of @p epoch as well as those that it has,
    until rl_tables_installed() says which one it reads. */
void rl_tables_staged(struct rl_tables *t, uint32_t dev, uint32_t epoch);

#endif /* RL_TABLES_H */
