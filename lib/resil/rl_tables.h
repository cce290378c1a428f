/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_TABLES_H
#define RL_TABLES_H

/**
 * @file
 * The tables of a running fabric: all that devices have or are to have, by
 * epoch. Does what the controller's jobs ask for: computes new tables, has
 * them proven, each for itself and mixed with those that devices have, and
 * says what has to stop meanwhile.
 *
 * Tables live as long as a device may read them; those that nobody has any
 * more are brought up to date for the next job rather than made anew.
 *
 * Control path only; it allocates. One thread at a time, which need not be the
 * controller's: a job may run beside it (rl_tables_compute() alone).
 */

#include "rl_check_mix.h"
#include "rl_controller.h"
#include "rl_fwd_pass.h"
#include "rl_route.h"

struct rl_tables_params {
	const struct rl_topo *topo; /**< outlives this; its marks are not read
				         after rl_tables_new() */
	const char *engine;	    /**< as for rl_route_setup() */
	uint8_t vls;
	uint8_t levels;
	/** endpoints retry: they know what of theirs is under way, so that some
	    flows can be held and the rest not */
	bool retry;
	/** links retry: no token is lost. With this and @p retry, tables may
	    change by tokens where the mode leaves the choice: what loops out
	    of a link that dies meanwhile may be overtaken, and only endpoints
	    that retry put it in order */
	bool link_retry;
	/** tables come from their marks alone, never from older tables: another
	    process makes the same of the same recipe, see rl_tables_make() */
	bool anew;
	/** nanoseconds of any clock, to measure with; NULL: spans are 0 */
	uint64_t (*clock)(void *ctx);
	void *clock_ctx;
};

struct rl_tables;

/**
 * Control thread. @p route: the accepted tables that all devices begin with,
 * epoch 0; the caller's, they outlive this object and never change.
 * @return NULL: no memory
 */
struct rl_tables *rl_tables_new(const struct rl_tables_params *p,
				const struct rl_route *route);

/** Control thread. No device reads any of them any more; NULL is fine. */
void rl_tables_free(struct rl_tables *t);

/**
 * Gets ready what any job will need, so that it takes no time of the job's:
 * memory for tables, already touched, and a copy of what is proven of the newest
 * ones. Takes as long as computing two tables the first time, little later. To
 * be called while the fabric is well; a job does without where it was not.
 */
void rl_tables_prepare(struct rl_tables *t);

/**
 * Does a job.
 *
 * @param res  filled; why it was refused: rl_tables_why()
 */
void rl_tables_compute(struct rl_tables *t, const struct rl_controller_job *job,
		       struct rl_controller_result *res);

/** The newest epoch that a job was done for. */
uint32_t rl_tables_newest(const struct rl_tables *t);

/** Why the last job was refused, or not live. One line; "" */
const char *rl_tables_why(const struct rl_tables *t);

/**
 * The table of a device. @return NULL: there are no tables of this epoch (any
 * more)
 */
const struct rl_fwd *rl_tables_fwd(const struct rl_tables *t, uint32_t epoch,
				   uint32_t dev);

/** The tables of an epoch, or NULL. */
const struct rl_route *rl_tables_route(const struct rl_tables *t,
				       uint32_t epoch);

/** Flows to hold for an epoch; NULL: none, or forgotten. */
const struct rl_flows *rl_tables_flows(const struct rl_tables *t,
				       uint32_t epoch);

/**
 * All that another process of the fabric needs to make the tables of an epoch
 * itself. Tables do not travel: they follow from what is out of use, and the
 * digest tells whether both have made the same. Arrays are the lender's.
 */
struct rl_tables_recipe {
	uint32_t epoch;
	const uint8_t *link_out; /**< [nlink] the tables do without it */
	const uint8_t *dev_out;	 /**< [ndev] */
	const struct rl_flows *flows; /**< to be held for it; NULL: none */
	uint64_t digest;	 /**< of the tables of all devices */
	bool tokens;		 /**< by tokens: */
	uint32_t from;		 /**< from the tables of this epoch, and */
	uint64_t ranks;		 /**< a digest of the ranks of these */
};

/**
 * The recipe of tables that are here; valid until the next job or
 * rl_tables_make(). Asks for `anew`. @return 0; -ENOENT: no such epoch, or 0
 */
int rl_tables_recipe(const struct rl_tables *t, uint32_t epoch,
		     struct rl_tables_recipe *out);

/**
 * Makes the tables of a recipe that another process has computed, and has the
 * checker judge them here, too: no device takes tables on somebody's word.
 * Asks for `anew`. On failure nothing has changed; why: rl_tables_why().
 *
 * @return 0; -EALREADY: they are here; -EINVAL: other tables, or other ranks,
 *   than there (the digests differ: not the same fabric, or not the same
 *   program);
 *   -EHOSTUNREACH: refused; -ENOMEM: also where all tables are in use
 */
int rl_tables_make(struct rl_tables *t, const struct rl_tables_recipe *r);

/**
 * Device @p dev has the tables of @p epoch, and reads no others any more. What
 * nobody reads may go.
 */
void rl_tables_installed(struct rl_tables *t, uint32_t dev, uint32_t epoch);

/**
 * What device @p dev needs to change to the tables of @p epoch by tokens, for
 * rl_core_stage(); it lives as long as the tables. @return NULL: there are no
 * such tables (any more), or they are not for tokens
 */
const struct rl_fwd_pass *rl_tables_pass(const struct rl_tables *t,
					 uint32_t epoch, uint32_t dev);

/** Device @p dev may read the tables of @p epoch beside those that it has,
    until rl_tables_installed() says which it reads. */
void rl_tables_staged(struct rl_tables *t, uint32_t dev, uint32_t epoch);

#endif /* RL_TABLES_H */
