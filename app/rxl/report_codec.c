/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the equations, of the FEC, and of flits over links and switches. */
#include <math.h>

#include "report.h"

void
rxl_report_equations(struct rxl_eval *e, struct rxl_table *t)
{
	struct rl_rxl_eqn q[RL_RXL_EQNS];

	rxl_table_init(t, "equations",
		       "Equations 1 to 14 of the RXL paper, with its inputs");
	rxl_table_col(t, "eq", "%.0f");
	rxl_table_col(t, "quantity", "");
	rxl_table_col(t, "formula", "");
	rxl_table_col(t, "paper", "%.4g");
	rxl_table_col(t, "computed", "%.4g");
	rxl_table_col(t, "difference", "%+.2g");
	rxl_table_col(t, "agrees", "");
	rl_rxl_eqns(&e->paper, q);
	for (int i = 0; i < RL_RXL_EQNS; i++) {
		rxl_cell_number(t, q[i].number);
		rxl_cell_text(t, q[i].name);
		rxl_cell_text(t, q[i].formula);
		rxl_cell_number(t, q[i].paper);
		rxl_cell_number(t, q[i].ours);
		rxl_cell_number(t, q[i].ours - q[i].paper);
		rxl_cell_bool(t, rl_rxl_eqn_agrees(&q[i]));
		if (q[i].note != NULL)
			rxl_table_note(t, "equation %d: %s", q[i].number,
				       q[i].note);
	}
	rxl_table_note(t, "agrees: rounded to the paper's printed digits it is "
			  "the paper's number");
	rxl_table_note(t,
		       "equation 2 is a bound of PCIe 6.0, not a consequence "
		       "of equation 1: independent errors of %g make %.2g of "
		       "the flits uncorrectable (table fec), and table burst "
		       "shows what it takes to reach %g",
		       e->paper.ber,
		       rl_rxl_fec_uncorrectable(rxl_model(e, e->paper.ber)),
		       e->paper.fer_uc);
}

static void
rate_cols(struct rxl_table *t)
{
	rxl_table_col(t, "computed", "%.4g");
	rxl_table_col(t, "measured", "%.4g");
	rxl_table_col(t, "low", "%.4g");
	rxl_table_col(t, "high", "%.4g");
	rxl_table_col(t, "in", "");
}

/** All links of all levels: each is a link like any other. */
static void
pool(const struct rxl_eval *e, double ber, struct rl_rxl_link_tally *sum)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	*sum = (struct rl_rxl_link_tally){ 0 };
	for (size_t i = 0; rxl_each(e, RXL_G_FEC, &i, &c, &o);) {
		if (c->ber != ber)
			continue;
		for (unsigned int k = 0; k <= c->levels; k++) {
			const struct rl_rxl_link_tally *l = &o.trial.link[k];

			sum->flits += l->flits;
			sum->hit += l->hit;
			sum->corrected += l->corrected;
			sum->detected += l->detected;
			sum->missed += l->missed;
		}
	}
}

/** The outcomes of one flit on one link, in the order of the table. */
enum outcome { ERRONEOUS, CORRECTED, UNCORRECTABLE, DETECTED, MISSED, OUTCOMES };

static const char *const outcome_name[OUTCOMES] = {
	"erroneous (eq. 1)", "corrected", "uncorrectable",
	"  detected: dropped", "  miscorrected",
};

static double
computed_of(const struct rl_rxl_fec_model *m, enum outcome k)
{
	const double p[OUTCOMES] = { 1 - m->clean, m->corrected,
				     rl_rxl_fec_uncorrectable(m), m->detected,
				     m->missed };

	return p[k];
}

static uint64_t
counted_of(const struct rl_rxl_link_tally *l, enum outcome k)
{
	const uint64_t n[OUTCOMES] = { l->hit, l->corrected,
				       l->detected + l->missed, l->detected,
				       l->missed };

	return n[k];
}

static void
fec_row(struct rxl_eval *e, struct rxl_table *t, double ber, enum outcome k)
{
	const double computed = computed_of(rxl_model(e, ber), k);
	struct rl_rxl_link_tally l;
	struct rl_rxl_rate r;

	pool(e, ber, &l);
	r = rl_rxl_rate(counted_of(&l, k), l.flits);
	rxl_cell_text(t, outcome_name[k]);
	rxl_cell_number(t, ber);
	rxl_cell_number(t, computed);
	rxl_cells_rate(e, t, &r, computed);
	rxl_cell_number(t, (double)r.hits);
	rxl_cell_number(t, (double)r.of);
}

void
rxl_report_fec(struct rxl_eval *e, struct rxl_table *t)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	rxl_table_init(t, "fec",
		       "One link under independent bit errors: exact model "
		       "and the codec, 95 % intervals");
	rxl_table_col(t, "outcome", "");
	rxl_table_col(t, "ber", "%.1e");
	rate_cols(t);
	rxl_table_col(t, "hits", "%.0f");
	rxl_table_col(t, "flits", "%.3g");
	for (int k = 0; k < OUTCOMES; k++)
		for (size_t i = 0; rxl_each(e, RXL_G_FEC, &i, &c, &o);)
			if (c->levels == 0)
				fec_row(e, t, c->ber, (enum outcome)k);
	rxl_table_note(t, "the paper takes all uncorrectable flits to be "
			  "dropped; the FEC misses a third of the bursts and, "
			  "of two lone bits, 5 in 12: one time in 8 they are "
			  "in the same place of their bytes");
}

static void
way_row(struct rxl_eval *e, struct rxl_table *t, const struct rxl_case *c,
	const char *what, uint64_t hits, uint64_t of, double computed)
{
	const struct rl_rxl_rate r = rl_rxl_rate(hits, of);

	rxl_cell_number(t, c->ber);
	rxl_cell_number(t, c->levels);
	rxl_cell_text(t, what);
	rxl_cell_number(t, computed);
	rxl_cells_rate(e, t, &r, computed);
}

void
rxl_report_way(struct rxl_eval *e, struct rxl_table *t)
{
	uint64_t flits = 0, wrong = 0, undetected = 0;
	const struct rxl_case *c;
	struct rxl_outcome o;

	rxl_table_init(t, "way",
		       "Flits over links and switches: dropped on the way "
		       "(eq. 6), wrong on arrival, undetected (eq. 4, 9)");
	rxl_table_col(t, "ber", "%.1e");
	rxl_table_col(t, "level", "%.0f");
	rxl_table_col(t, "outcome", "");
	rate_cols(t);
	for (size_t i = 0; rxl_each(e, RXL_G_FEC, &i, &c, &o);) {
		const struct rl_rxl_trial_tally *y = &o.trial;
		const uint64_t bad = y->fec_bad + y->crc_bad + y->slipped +
				     y->undetected;
		struct rl_rxl_expect x;

		rxl_expect_of(e, c, &o, &x);
		way_row(e, t, c, "dropped", y->dropped, y->flits, x.dropped);
		way_row(e, t, c, "wrong on arrival", bad, y->flits, x.wrong);
		way_row(e, t, c, "undetected", y->undetected + y->slipped,
			y->flits,
			ldexp((double)y->crc_bad / (double)y->flits, -64));
		flits += y->flits;
		wrong += bad;
		undetected += y->undetected + y->slipped;
	}
	e->broken += undetected;
	rxl_table_note(t,
		       "%.3g flits in all, %.3g arrived wrong, %g were "
		       "accepted or taken for another number",
		       (double)flits, (double)wrong, (double)undetected);
	rxl_table_note(t, "undetected, computed: what the CRC alone had to "
			  "find, times 2^-64");
}

void
rxl_report_burst(struct rxl_eval *e, struct rxl_table *t)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	rxl_table_init(t, "burst",
		       "What makes 3e-5 of flits uncorrectable: first errors "
		       "at 1e-6 that run on (DFE)");
	rxl_table_col(t, "propagate", "%.2f");
	rxl_table_col(t, "lanes", "%.0f");
	rxl_table_col(t, "bits_per_burst", "%.1f");
	rxl_table_col(t, "uncorrectable", "%.3g");
	rxl_table_col(t, "low", "%.3g");
	rxl_table_col(t, "high", "%.3g");
	rxl_table_col(t, "detected_share", "%.3f");
	for (size_t i = 0; rxl_each(e, RXL_G_BURST, &i, &c, &o);) {
		const struct rl_rxl_link_tally *l = &o.trial.link[0];
		const uint64_t uc = l->detected + l->missed;
		const struct rl_rxl_rate r = rl_rxl_rate(uc, l->flits);

		rxl_cell_number(t, c->propagate);
		rxl_cell_number(t, c->lanes);
		rxl_cell_number(t, 1 / (1 - c->propagate));
		rxl_cell_number(t, r.rate);
		rxl_cell_number(t, r.lo);
		rxl_cell_number(t, r.hi);
		rxl_cell_number(t, uc == 0 ? NAN
					   : (double)l->detected / (double)uc);
	}
	rxl_table_note(t, "propagate: probability that the bit after a wrong "
			  "one on its lane is wrong, too; 16 lanes: a x16 "
			  "link, where a lane's next byte is 16 bytes on");
	rxl_table_note(t, "independent errors (propagate 0): %.3g by the exact "
			  "model",
		       rl_rxl_fec_uncorrectable(rxl_model(e, 1e-6)));
}
