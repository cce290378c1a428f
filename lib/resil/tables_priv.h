/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TABLES_PRIV_H
#define TABLES_PRIV_H

/**
 * @file
 * The inside of rl_tables: tables.c has the generations, tables_mix.c the
 * judgement whether old and new may be mixed, tables_pass.c what tokens need,
 * tables_recipe.c what joins several processes.
 */

#include "rl_fwd_pass.h"
#include "rl_tables.h"

/* The first; what all have, what they get, what silent ones still have. */
#define TABLES_GENS 7

struct tables_gen {
	struct rl_route *route; /* NULL: empty; of the first: t->first */
	uint32_t epoch;
	uint8_t *failed; /* [nlink]: marks it was made with */
	uint8_t *gone;	 /* [ndev]: the same of devices */
	bool warm;	 /* route has memory to be computed anew in */
	bool proven;	 /* route knows the proof of the newest tables */
	struct rl_flows flows;
	struct rl_fwd_pass *pass; /* [ndev] for tokens; NULL: not by tokens */
	uint32_t pass_from; /* from the tables of this epoch */
	struct rl_fwd_ranks *rank;
	bool *end;
};

struct rl_tables {
	struct rl_tables_params p;
	char engine[32];
	struct rl_topo topo; /* dev and link are ours, the rest is shared */
	struct tables_gen gen[TABLES_GENS]; /* 0: those of the beginning */
	const struct rl_route *first;
	uint32_t newest;
	uint32_t *epoch; /* [ndev]: what a device reads */
	uint32_t *staged; /* [ndev]: and what it may read soon; 0 */
	struct rl_fwd *old; /* [ndev]: present tables, put together */
	uint32_t *dead;
	char why[RL_ERR_MAX];
};

/** One to write into: empty, or one that nobody reads; NULL: all are read. */
struct tables_gen *tables_spare(struct rl_tables *t);

/** Empties it. */
void tables_gen_free(struct tables_gen *g);

/** Tables for the topology as it is marked, into @p g; why not: t->why. */
int tables_gen_compute(struct rl_tables *t, struct tables_gen *g);

/** Keeps the marks that @p g was made with. @return 0 or -ENOMEM */
int tables_gen_mark(struct rl_tables *t, struct tables_gen *g);

struct tables_gen *tables_gen(const struct rl_tables *t, uint32_t epoch);

const struct rl_route *tables_of(const struct rl_tables *t,
				 const struct tables_gen *g);

/** Whether a device has no link that works: what tables it has does not matter
    until one does. */
bool tables_alone(const struct rl_tables *t,
		  const struct rl_controller_job *job, uint32_t dev);

/**
 * How the tables of @p g may be put in place of those that devices have:
 * res->mode, held_flows, and g->flows.
 * @param same  all have those of @p epoch
 * @return 0; -EHOSTUNREACH: not as the mode asks; -ENOMEM
 */
int tables_mix(struct rl_tables *t, const struct rl_controller_job *job,
	       struct tables_gen *g, bool same, uint32_t epoch,
	       struct rl_controller_result *res);

/**
 * What devices need to change from the tables @p old, which all have, to those
 * of @p g, to be of @p epoch, by tokens: g->pass. @return 0; -EAGAIN: not by
 * tokens; -ENOMEM
 */
int tables_pass(struct rl_tables *t, const struct tables_gen *old,
		struct tables_gen *g, uint32_t epoch);
void tables_pass_free(struct tables_gen *g);

#endif /* TABLES_PRIV_H */
