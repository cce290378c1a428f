/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "point.h"

void
rxl_point_plan(struct rxl_plan *plan, const struct rxl_case *c)
{
	struct rxl_case x = *c;

	x.group = RXL_G_POINT;
	x.kind = RXL_TRIAL;
	rxl_plan_add(plan, &x);
	x.kind = RXL_PATH;
	rxl_plan_add(plan, &x);
}

static const struct rxl_outcome *
outcome(const struct rxl_eval *e, size_t i)
{
	char key[RXL_KEY_MAX];

	rxl_case_key(&e->plan->c[i], key);
	return rxl_store_find(e->store, key);
}

/** Nothing but independent errors: then there is an exact model. */
static bool
plain(const struct rxl_case *c)
{
	return c->propagate == 0 && c->byte_bursts == 0 && c->lost == 0 &&
	       c->inside == 0;
}

/** All links of the trial together. */
static struct rl_rxl_link_tally
links(const struct rxl_case *c, const struct rl_rxl_trial_tally *y)
{
	struct rl_rxl_link_tally sum = { 0 };

	for (unsigned int k = 0; k <= c->levels; k++) {
		sum.flits += y->link[k].flits;
		sum.lost += y->link[k].lost;
		sum.hit += y->link[k].hit;
		sum.corrected += y->link[k].corrected;
		sum.detected += y->link[k].detected;
		sum.missed += y->link[k].missed;
	}
	return sum;
}

static void
row(struct rxl_eval *e, struct rxl_table *t, const char *what, double computed,
    const struct rl_rxl_rate *r)
{
	rxl_cell_text(t, what);
	rxl_cell_number(t, computed);
	if (isfinite(computed)) {
		rxl_cells_rate(e, t, r, computed);
		return;
	}
	rxl_cell_number(t, r->rate);
	rxl_cell_number(t, r->lo);
	rxl_cell_number(t, r->hi);
	rxl_cell_none(t);
}

static void
counted(struct rxl_eval *e, struct rxl_table *t, const char *what,
	double computed, uint64_t hits, uint64_t of)
{
	const struct rl_rxl_rate r = rl_rxl_rate(hits, of);

	row(e, t, what, computed, &r);
}

static void
link_rows(struct rxl_eval *e, struct rxl_table *t, const struct rxl_case *c,
	  const struct rl_rxl_link_tally *l)
{
	const bool exact = plain(c);
	struct rl_rxl_fec_model m = { NAN, NAN, NAN, NAN };

	if (exact)
		m = *rxl_model(e, c->ber);
	counted(e, t, "link: erroneous (eq. 1)", 1 - m.clean, l->hit,
		l->flits);
	counted(e, t, "link: corrected", m.corrected, l->corrected, l->flits);
	counted(e, t, "link: uncorrectable (eq. 2)", m.detected + m.missed,
		l->detected + l->missed, l->flits);
	counted(e, t, "link: detected, dropped by a switch", m.detected,
		l->detected, l->flits);
	counted(e, t, "link: miscorrected", m.missed, l->missed, l->flits);
}

/** What the path should do, from the link as measured where not exact. */
static void
expectation(struct rxl_eval *e, const struct rxl_case *c,
	    const struct rl_rxl_link_tally *l, const struct rxl_outcome *o,
	    struct rl_rxl_expect *x)
{
	const double n = (double)l->flits;
	struct rl_rxl_expect_in in = {
		.levels = c->levels,
		.retry = c->retry,
		.ack_share = rxl_ack_share(o),
		.ack_alone = rxl_ack_alone(o),
		.steady_acks = rxl_acks_alone(c->profile),
		.latency_slots = rxl_case_latency_slots(c),
		.retry_slots = RXL_RETRY_NS / RXL_SLOT_NS,
		.timer_slots = RXL_RETRY_NS / RXL_SLOT_NS,
	};

	if (plain(c))
		in.link = *rxl_model(e, c->ber);
	else
		in.link = (struct rl_rxl_fec_model){
			.detected = (double)(l->detected + l->lost) / n,
			.missed = (double)l->missed / n,
		};
	rl_rxl_expect(&in, x);
}

static void
path_rows(struct rxl_eval *e, struct rxl_table *t, const struct rxl_case *c,
	  const struct rxl_outcome *trial, const struct rxl_outcome *path)
{
	const struct rl_rxl_trial_tally *y = &trial->trial;
	const struct rl_rxl_dir_tally *p = &path->path;
	const struct rl_rxl_link_tally l = links(c, y);
	const bool known = c->inside == 0 && c->lost == 0;
	const bool sound = rxl_promises(c->profile);
	struct rl_rxl_rate loss;
	struct rl_rxl_expect x;

	expectation(e, c, &l, path, &x);
	counted(e, t, "way: dropped (eq. 6)", known ? x.dropped : NAN,
		y->dropped, y->flits);
	counted(e, t, "way: wrong on arrival", known ? x.wrong : NAN,
		y->fec_bad + y->crc_bad + y->slipped + y->undetected,
		y->flits);
	counted(e, t, "way: undetected (eq. 4, 9)",
		ldexp((double)y->crc_bad / (double)y->flits, -64),
		y->undetected + y->slipped, y->flits);
	if (c->retry == RL_RETRY_GBN)
		counted(e, t, "order failures (eq. 7)", sound ? 0 : x.order,
			p->order_failures, p->chances);
	else
		counted(e, t, "order failures", sound ? 0 : NAN,
			p->order_failures, p->fresh);
	counted(e, t, "delivered twice", sound ? 0 : NAN,
		p->duplicates < p->fresh ? p->duplicates : p->fresh, p->fresh);
	loss = rxl_loss(path);
	row(e, t, "bandwidth loss (eq. 11 to 14)", known ? x.loss : NAN,
	    &loss);
	if (sound)
		e->broken += p->order_failures + p->duplicates + path->missing;
	e->broken += p->altered + y->undetected + path->leaked;
	rxl_table_note(t, "the paper's equations, with this link's rate: "
			  "order failures %.3g, bandwidth loss %.4g",
		       sound ? 0.0 : x.order_paper, x.loss_paper);
	rxl_table_note(t, "FIT by order failures %.3g, by what the CRC misses "
			  "%.3g",
		       rl_rxl_fit(&e->paper, (double)p->order_failures /
						     (double)p->fresh),
		       rl_rxl_fit(&e->paper,
				  ldexp((double)y->crc_bad /
						(double)y->flits, -64)));
	rxl_table_note(t, "ACK share %.4f, stand-alone ACKs a flit %.4f, "
			  "delivered altered %.0f, never delivered %.0f, drop "
			  "reports %.0f",
		       rxl_ack_share(path), rxl_ack_alone(path),
		       (double)p->altered, (double)path->missing,
		       (double)p->reports);
}

void
rxl_report_point(struct rxl_eval *e, struct rxl_table *t)
{
	const struct rxl_case *c = &e->plan->c[0];
	const struct rxl_outcome *trial = outcome(e, 0);
	const struct rxl_outcome *path = outcome(e, 1);
	struct rl_rxl_link_tally l;
	char key[RXL_KEY_MAX];

	RL_ASSERT(trial != NULL && path != NULL);
	rxl_table_init(t, "point", "One point");
	rxl_table_col(t, "quantity", "");
	rxl_table_col(t, "computed", "%.4g");
	rxl_table_col(t, "measured", "%.4g");
	rxl_table_col(t, "low", "%.4g");
	rxl_table_col(t, "high", "%.4g");
	rxl_table_col(t, "in", "");
	l = links(c, &trial->trial);
	link_rows(e, t, c, &l);
	path_rows(e, t, c, trial, path);
	rxl_case_key(&e->plan->c[1], key);
	rxl_table_note(t, "%s", key);
	if (!plain(c))
		rxl_table_note(t, "not only independent errors: what follows "
				  "from a link is computed from the link as "
				  "measured, or not at all");
}
