/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "report.h"

const struct rxl_report rxl_reports[RXL_REPORTS] = {
	{ "equations", 0, rxl_report_equations },
	{ "fec", RXL_G_FEC, rxl_report_fec },
	{ "way", RXL_G_FEC, rxl_report_way },
	{ "order", RXL_G_ORDER, rxl_report_order },
	{ "fit", RXL_G_ORDER | RXL_G_FEC, rxl_report_fit },
	{ "loss", RXL_G_LOSS, rxl_report_loss },
	{ "burst", RXL_G_BURST, rxl_report_burst },
	{ "profiles", RXL_G_LOSS, rxl_report_profiles },
	{ "long", RXL_G_LONG, rxl_report_long },
};

const struct rl_rxl_fec_model *
rxl_model(struct rxl_eval *e, double ber)
{
	unsigned int i;

	for (i = 0; i < e->nmodels; i++)
		if (e->model_ber[i] == ber)
			return &e->model[i];
	RL_ASSERT(i < RXL_MODELS_MAX);
	rl_rxl_fec_model(ber, e->scratch, &e->model[i]);
	e->model_ber[i] = ber;
	e->nmodels++;
	return &e->model[i];
}

bool
rxl_same(const struct rxl_case *a, const struct rxl_case *b)
{
	struct rxl_case x = *a, y = *b;
	char kx[RXL_KEY_MAX], ky[RXL_KEY_MAX];

	x.seed = y.seed = 0;
	x.flits = y.flits = 0;
	rxl_case_key(&x, kx);
	rxl_case_key(&y, ky);
	return a->group == b->group && strcmp(kx, ky) == 0;
}

static bool
seen_before(const struct rxl_plan *plan, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (rxl_same(&plan->c[k], &plan->c[i]))
			return true;
	return false;
}

bool
rxl_each(const struct rxl_eval *e, enum rxl_group group, size_t *i,
	 const struct rxl_case **c, struct rxl_outcome *sum)
{
	char key[RXL_KEY_MAX];

	for (; *i < e->plan->n; (*i)++) {
		const struct rxl_case *first = &e->plan->c[*i];

		if (first->group != (uint32_t)group ||
		    seen_before(e->plan, *i))
			continue;
		memset(sum, 0, sizeof(*sum));
		for (size_t k = *i; k < e->plan->n; k++) {
			const struct rxl_outcome *o;

			if (!rxl_same(first, &e->plan->c[k]))
				continue;
			rxl_case_key(&e->plan->c[k], key);
			o = rxl_store_find(e->store, key);
			RL_ASSERT(o != NULL);
			rxl_outcome_add(sum, o);
		}
		*c = first;
		(*i)++;
		return true;
	}
	return false;
}

bool
rxl_promises(enum rl_profile p)
{
	return p != RL_PROFILE_CXL;
}

bool
rxl_acks_alone(enum rl_profile p)
{
	return p == RL_PROFILE_RXL_COMPACT || p == RL_PROFILE_CXL_SEP_ACK;
}

void
rxl_cells_rate(struct rxl_eval *e, struct rxl_table *t,
	       const struct rl_rxl_rate *r, double computed)
{
	const bool in = rl_rxl_rate_holds(r, computed);

	rxl_cell_number(t, r->rate);
	rxl_cell_number(t, r->lo);
	rxl_cell_number(t, r->hi);
	rxl_cell_bool(t, in);
	e->compared++;
	e->held += in;
	e->sure += in && computed == 0 && r->rate == 0;
}

struct rl_rxl_rate
rxl_loss(const struct rxl_outcome *o)
{
	const struct rl_rxl_dir_tally *p = &o->path;
	const double loss = 1 - (double)(p->delivered - p->duplicates) /
					(double)p->slots;
	const double alone = rxl_ack_alone(o);
	const double retry = loss - alone / (1 + alone);
	const double starts = (double)(o->naks + o->timeouts);
	const double half = starts > 0 && retry > 0
				    ? 1.96 * retry / sqrt(starts)
				    : 0;

	return (struct rl_rxl_rate){ .rate = loss, .lo = loss - half,
				     .hi = loss + half };
}

double
rxl_ack_alone(const struct rxl_outcome *o)
{
	const struct rl_rxl_dir_tally *p = &o->path;
	const uint64_t acks = p->control > o->naks ? p->control - o->naks : 0;

	return p->delivered == 0 ? 0 : (double)acks / (double)p->delivered;
}

double
rxl_ack_share(const struct rxl_outcome *o)
{
	return o->path.fresh == 0 ? 0
				  : (double)o->path.with_ack /
					    (double)o->path.fresh;
}

void
rxl_expect_of(struct rxl_eval *e, const struct rxl_case *c,
	      const struct rxl_outcome *o, struct rl_rxl_expect *x)
{
	const struct rl_rxl_expect_in in = {
		.link = *rxl_model(e, c->ber),
		.levels = c->levels,
		.retry = c->retry,
		.ack_share = rxl_ack_share(o),
		.ack_alone = rxl_ack_alone(o),
		.steady_acks = rxl_acks_alone(c->profile),
		.latency_slots = rxl_case_latency_slots(c),
		.retry_slots = RXL_RETRY_NS / RXL_SLOT_NS,
		/* twice the retry time is the least of the timer */
		.timer_slots = RXL_RETRY_NS / RXL_SLOT_NS,
	};

	rl_rxl_expect(&in, x);
}
