/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TABLES_PRIV_H
#define TABLES_PRIV_H

/**
 * @file
 * The inside of rl_tables: tables.c has the generations, tables_mix.c decides
 * whether old and new may be mixed, tables_pass.c has what tokens need, and
 * tables_recipe.c what joins several processes.
 */

#include "rl_fwd_pass.h"
#include "rl_tables.h"

/*
 * The first, the present, the next, and those that silent devices still have.
 */
#define TABLES_GENS 7

struct tables_gen {
	struct rl_route *route; /* NULL: empty; for the first: t->first */
	uint32_t epoch;
	uint8_t *failed; /* [nlink]: marks it was made with */
	uint8_t *gone;	 /* [ndev]: the same for devices */
	bool warm;	 /* route has memory to compute into */
	struct rl_flows flows;
	struct rl_fwd_pass *pass; /* [ndev] for tokens; NULL: not by tokens */
	uint32_t pass_from; /* epoch that the tokens change from */
	struct rl_fwd_ranks *rank;
	bool *end;
};

struct rl_tables {
	struct rl_tables_params p;
	char engine[32];
	struct rl_topo topo; /* dev and link are owned, the rest is shared */
	struct tables_gen gen[TABLES_GENS]; /* 0: those all devices start
					       with */
	const struct rl_route *first;
	bool adaptive; /* as that */
	uint32_t newest;
	uint32_t *epoch; /* [ndev]: tables that a device reads */
	uint32_t *staged; /* [ndev]: tables it may read soon; or 0 */
	struct rl_fwd *old; /* [ndev]: present tables of all devices */
	uint8_t *may; /* [ndev]: which a device may have, RL_MIX_* */
	uint32_t *dead;
	char why[RL_ERR_MAX];
};

/** @return a generation to write to: empty or unread; NULL: all are read */
struct tables_gen *tables_spare(struct rl_tables *t);

/** Frees the contents of a generation. */
void tables_gen_free(struct tables_gen *g);

/**
 * Computes tables for the topology as marked, into @p g; on error t->why is
 * set.
 */
int tables_gen_compute(struct rl_tables *t, struct tables_gen *g);

/** Stores the marks that @p g was made with. @return 0 or -ENOMEM */
int tables_gen_mark(struct rl_tables *t, struct tables_gen *g);

struct tables_gen *tables_gen(const struct rl_tables *t, uint32_t epoch);

const struct rl_route *tables_of(const struct rl_tables *t,
				 const struct tables_gen *g);

/** Whether a device has no working link: its tables do not matter until it
    has. */
bool tables_alone(const struct rl_tables *t,
		  const struct rl_controller_job *job, uint32_t dev);

/**
 * Decides how the tables of @p g may replace those that devices have: sets
 * res->mode, res->held_flows and g->flows.
 * @param same all devices have the tables of @p epoch
 * @return 0; -EHOSTUNREACH: not possible in this mode; -ETIME: not proven
 *   beside a silent device; -ENOMEM
 */
int tables_mix(struct rl_tables *t, const struct rl_controller_job *job,
	       struct tables_gen *g, bool same, uint32_t epoch,
	       struct rl_controller_result *res);

/**
 * Fills in g->pass: what devices need to change by tokens from the tables @p
 * old, which all have, to those of @p g, which get @p epoch. @return 0;
 * -EAGAIN: not possible by tokens; -ENOMEM
 */
int tables_pass(struct rl_tables *t, const struct tables_gen *old,
		struct tables_gen *g, uint32_t epoch);
void tables_pass_free(struct tables_gen *g);

#endif /* TABLES_PRIV_H */
