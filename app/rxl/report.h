/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_REPORT_H
#define RXL_REPORT_H

/**
 * @file
 * The tables of the evaluation, made of what the store holds. Main thread.
 */

#include "plan.h"
#include "rl_rxl_eqn.h"
#include "rl_rxl_expect.h"
#include "rl_rxl_stat.h"
#include "table.h"

#define RXL_MODELS_MAX 32

/** All that a report reads, and what it finds on its way. */
struct rxl_eval {
	const struct rxl_plan *plan;
	const struct rxl_store *store;
	struct rl_rxl_inputs paper;
	/* rl_rxl_fec_model() of the rates met so far */
	unsigned int nmodels;
	double model_ber[RXL_MODELS_MAX];
	struct rl_rxl_fec_model model[RXL_MODELS_MAX];
	double *scratch;
	/* found */
	uint64_t compared; /**< computed values held against measured ones */
	uint64_t held;	   /**< of them within the 95 % interval */
	uint64_t sure;	   /**< of these: 0 computed, nothing counted */
	uint64_t broken;   /**< promises of profiles that make them */
};

/** Main thread. A report by its name: one table. */
struct rxl_report {
	const char *name;
	uint32_t groups; /**< simulations it needs */
	void (*make)(struct rxl_eval *e, struct rxl_table *t);
};

#define RXL_REPORTS 9
extern const struct rxl_report rxl_reports[RXL_REPORTS];

/* report_util.c */
const struct rl_rxl_fec_model *rxl_model(struct rxl_eval *e, double ber);
/** Whether two cases differ in seed and length alone. */
bool rxl_same(const struct rxl_case *a, const struct rxl_case *b);
/**
 * All cases of @p group, one call for each @p *i from 0 on: sets *c to the
 * first of its kind, *sum to the outcome of all of them.
 * @return false where there are no more
 */
bool rxl_each(const struct rxl_eval *e, enum rxl_group group, size_t *i,
	      const struct rxl_case **c, struct rxl_outcome *sum);
/** Whether a profile promises order. */
bool rxl_promises(enum rl_profile p);
/** Cells "measured", "low", "high", "in" of a rate and its computed value. */
void rxl_cells_rate(struct rxl_eval *e, struct rxl_table *t,
		    const struct rl_rxl_rate *r, double computed);
/** What rl_rxl_expect() says of a path case and its outcome. */
void rxl_expect_of(struct rxl_eval *e, const struct rxl_case *c,
		   const struct rxl_outcome *o, struct rl_rxl_expect *x);
/**
 * Bandwidth lost, with its 95 % interval: what is random is how often a retry
 * starts; what ACKs take is not. The one interval of all tables.
 */
struct rl_rxl_rate rxl_loss(const struct rxl_outcome *o);
/** Stand-alone ACKs for each packet delivered, without NAKs. */
double rxl_ack_alone(const struct rxl_outcome *o);
/** Whether a profile never lets ACKs ride on data. */
bool rxl_acks_alone(enum rl_profile p);
/** Share of first transmissions whose number an ACK has taken. */
double rxl_ack_share(const struct rxl_outcome *o);

/* report_*.c */
void rxl_report_equations(struct rxl_eval *e, struct rxl_table *t);
void rxl_report_fec(struct rxl_eval *e, struct rxl_table *t);
void rxl_report_way(struct rxl_eval *e, struct rxl_table *t);
void rxl_report_order(struct rxl_eval *e, struct rxl_table *t);
void rxl_report_fit(struct rxl_eval *e, struct rxl_table *t);
void rxl_report_loss(struct rxl_eval *e, struct rxl_table *t);
void rxl_report_burst(struct rxl_eval *e, struct rxl_table *t);
void rxl_report_profiles(struct rxl_eval *e, struct rxl_table *t);
void rxl_report_long(struct rxl_eval *e, struct rxl_table *t);

#endif /* RXL_REPORT_H */
