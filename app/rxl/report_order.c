/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of order failures, of Figure 8, and of the long run. */
#include <math.h>

#include "report.h"

void
rxl_report_order(struct rxl_eval *e, struct rxl_table *t)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	rxl_table_init(t, "order",
		       "Order failures per flit (eq. 7), endpoints in virtual "
		       "time, 95 % intervals");
	rxl_table_col(t, "profile", "");
	rxl_table_col(t, "level", "%.0f");
	rxl_table_col(t, "ber", "%.1e");
	rxl_table_col(t, "coalesce", "%.0f");
	rxl_table_col(t, "ack_share", "%.4f");
	rxl_table_col(t, "flits", "%.3g");
	rxl_table_col(t, "failures", "%.0f");
	rxl_table_col(t, "eq7", "%.3g");
	rxl_table_col(t, "computed", "%.3g");
	rxl_table_col(t, "measured", "%.3g");
	rxl_table_col(t, "low", "%.3g");
	rxl_table_col(t, "high", "%.3g");
	rxl_table_col(t, "in", "");
	rxl_table_col(t, "twice", "%.0f");
	rxl_table_col(t, "lost", "%.0f");
	for (size_t i = 0; rxl_each(e, RXL_G_ORDER, &i, &c, &o);) {
		const struct rl_rxl_dir_tally *p = &o.path;
		const struct rl_rxl_rate r =
			rl_rxl_rate(p->order_failures, p->chances);
		struct rl_rxl_expect x;

		rxl_expect_of(e, c, &o, &x);
		rxl_cell_text(t, rl_profile_name(c->profile));
		rxl_cell_number(t, c->levels);
		rxl_cell_number(t, c->ber);
		rxl_cell_number(t, c->coalesce);
		rxl_cell_number(t, rxl_ack_share(&o));
		rxl_cell_number(t, (double)p->chances);
		rxl_cell_number(t, (double)p->order_failures);
		/* rxl acknowledges on every flit, and hides no number */
		rxl_cell_number(t, rxl_promises(c->profile) ? 0
							     : x.order_paper);
		rxl_cell_number(t, rxl_promises(c->profile) ? 0 : x.order);
		rxl_cells_rate(e, t, &r,
			       rxl_promises(c->profile) ? 0 : x.order);
		rxl_cell_number(t, (double)p->duplicates);
		rxl_cell_number(t, (double)o.missing);
		if (rxl_promises(c->profile))
			e->broken += p->order_failures + p->duplicates +
				     p->altered + o.missing;
		e->broken += p->altered + o.leaked;
	}
	rxl_table_note(t, "flits: first transmissions while all before had "
			  "arrived; what comes while a retry is awaited is no "
			  "chance of a failure");
	rxl_table_note(t, "eq7: levels x FER_UC x ack_share, as the paper; "
			  "computed: with the share that the FEC really "
			  "detects, repeated drops, and the next flit's own "
			  "fate");
	rxl_table_note(t, "twice, lost: packets that the client got again, or "
			  "never");
}

/** Failures of cxl at one level and share 0.1, at all error rates. */
struct harvest {
	double failures;
	double expected; /**< by the model, for the same chances */
	struct rl_rxl_rate at_paper_uc;
	double share_at_paper_uc;
};

static void
reap(struct rxl_eval *e, unsigned int level, struct harvest *h)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	*h = (struct harvest){ 0 };
	h->at_paper_uc = rl_rxl_rate(0, 0);
	for (size_t i = 0; rxl_each(e, RXL_G_ORDER, &i, &c, &o);) {
		struct rl_rxl_expect x;

		if (c->profile != RL_PROFILE_CXL || c->levels != level ||
		    c->coalesce != 10)
			continue;
		rxl_expect_of(e, c, &o, &x);
		h->failures += (double)o.path.order_failures;
		h->expected += x.order * (double)o.path.chances;
		if (c->ber == RXL_BER_OF_PAPER_UC) {
			h->at_paper_uc = rl_rxl_rate(o.path.order_failures,
						     o.path.chances);
			h->share_at_paper_uc = rxl_ack_share(&o);
		}
	}
}

/** Eq. 7 at the paper's BER, exactly, with an ACK share of 0.1. */
static double
order_at(struct rxl_eval *e, double ber, unsigned int level)
{
	const struct rl_rxl_expect_in in = {
		.link = *rxl_model(e, ber),
		.levels = level,
		.ack_share = e->paper.ack_share,
	};
	struct rl_rxl_expect x;

	rl_rxl_expect(&in, &x);
	return x.order;
}

/** Flits that only the CRC can find, per flit sent, by trial. */
static double
crc_alone(const struct rxl_eval *e, double ber, unsigned int level)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	for (size_t i = 0; rxl_each(e, RXL_G_FEC, &i, &c, &o);)
		if (c->ber == ber && c->levels == level)
			return (double)o.trial.crc_bad /
			       (double)o.trial.flits;
	return NAN;
}

/** Order failures of all profiles but cxl, and the flits they are out of. */
static void
sound_profiles(const struct rxl_eval *e, unsigned int level, double *failures,
	       double *flits)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	*failures = *flits = 0;
	for (size_t i = 0; rxl_each(e, RXL_G_ORDER, &i, &c, &o);) {
		if (!rxl_promises(c->profile) || c->levels != level)
			continue;
		*failures += (double)o.path.order_failures;
		*flits += (double)o.path.fresh;
	}
}

static void
fit_row(struct rxl_eval *e, struct rxl_table *t, unsigned int level)
{
	const double uc_ber = RXL_BER_OF_PAPER_UC;
	const double fit = rl_rxl_fit(&e->paper, 1);
	struct rl_rxl_inputs raised = e->paper;
	double sound, of, ratio, near, far;
	struct rl_rxl_rate r;
	struct harvest h;

	reap(e, level, &h);
	sound_profiles(e, level, &sound, &of);
	r = h.at_paper_uc;
	rxl_cell_number(t, level);
	rxl_cell_number(t, rl_rxl_fit_cxl(&e->paper, level));
	rxl_cell_number(t, rl_rxl_fit_rxl(&e->paper, level));
	near = fit * ldexp(crc_alone(e, uc_ber, level), -64);
	far = fit * ldexp(crc_alone(e, e->paper.ber, level), -64);
	ratio = h.expected > 0 ? h.failures / h.expected : NAN;
	/* without a switch no order is lost: the CRC decides, as for others */
	rxl_cell_number(t, level == 0 ? near : fit * r.rate);
	rxl_cell_number(t, level == 0 ? NAN : fit * r.lo);
	rxl_cell_number(t, level == 0 ? NAN : fit * r.hi);
	rxl_cell_number(t, level == 0 ? near
				      : fit * order_at(e, uc_ber, level));
	rxl_cell_number(t, level == 0 ? far
				      : ratio * fit * order_at(e, e->paper.ber,
							       level));
	rxl_cell_number(t, level == 0 ? far
				      : fit * order_at(e, e->paper.ber,
						       level));
	rxl_cell_number(t, sound);
	rxl_cell_number(t, of);
	rxl_cell_number(t, near);
	rxl_cell_number(t, far);
	raised.ber = uc_ber;
	rxl_cell_number(t, fit * rl_rxl_missed_by_bch(&raised, level));
	rxl_cell_number(t, fit * rl_rxl_missed_by_bch(&e->paper, level));
}

void
rxl_report_fit(struct rxl_eval *e, struct rxl_table *t)
{
	rxl_table_init(t, "fit", "Figure 8: FIT of a device, by levels of "
				 "switching");
	rxl_table_col(t, "level", "%.0f");
	rxl_table_col(t, "cxl_paper", "%.3g");
	rxl_table_col(t, "rxl_paper", "%.3g");
	rxl_table_col(t, "cxl", "%.3g");
	rxl_table_col(t, "cxl_low", "%.3g");
	rxl_table_col(t, "cxl_high", "%.3g");
	rxl_table_col(t, "cxl_computed", "%.3g");
	rxl_table_col(t, "cxl_1e-6", "%.3g");
	rxl_table_col(t, "cxl_1e-6_computed", "%.3g");
	rxl_table_col(t, "others_failures", "%.0f");
	rxl_table_col(t, "others_flits", "%.3g");
	rxl_table_col(t, "rxl", "%.3g");
	rxl_table_col(t, "rxl_1e-6", "%.3g");
	rxl_table_col(t, "bch", "%.3g");
	rxl_table_col(t, "bch_1e-6", "%.3g");
	for (unsigned int k = 0; k <= 4; k++)
		fit_row(e, t, k);
	rxl_table_note(t, "cxl, rxl: at BER %g, where independent errors make "
			  "the paper's 3e-5 uncorrectable; _1e-6: at the "
			  "paper's BER itself", RXL_BER_OF_PAPER_UC);
	rxl_table_note(t, "cxl: measured order failures; below the paper's, "
			  "since the FEC notices, and a switch drops, 7 in 12 "
			  "of what it can't correct");
	rxl_table_note(t, "cxl_1e-6: failures at all raised rates over what "
			  "the model expects there, times the model at 1e-6");
	rxl_table_note(t, "rxl: flits that were measured to reach the CRC "
			  "altered, times 2^-64; the same for rxl-compact and "
			  "cxl-sep-ack, none of which lost order (others_)");
	rxl_table_note(t, "bch: computed; crc64-bch sees every flit with fewer "
			  "than six wrong bits, whatever FEC made of them, so "
			  "that only flits with six or more count, times 2^-64");
}

/** One row of the long run: a kind of error at one level. */
struct stretch {
	uint64_t flits, dropped, wrong, inside, retries;
	uint64_t failures, altered, lost;
};

static void
add_stretch(struct stretch *s, const struct rxl_outcome *o)
{
	const struct rl_rxl_dir_tally *p = &o->path;

	s->flits += p->fresh + p->again + p->control;
	s->dropped += p->dropped + p->lost;
	s->wrong += p->wrong;
	s->inside += p->hurt_inside;
	s->retries += p->again;
	s->failures += p->order_failures + p->late + p->duplicates;
	s->altered += p->altered;
	s->lost += o->missing + o->unsettled + o->leaked;
}

static void
stretch_cells(struct rxl_table *t, const char *weather, const char *level,
	      const struct stretch *s)
{
	rxl_cell_text(t, weather);
	rxl_cell_text(t, level);
	rxl_cell_number(t, (double)s->flits);
	rxl_cell_number(t, (double)s->dropped);
	rxl_cell_number(t, (double)s->wrong);
	rxl_cell_number(t, (double)s->inside);
	rxl_cell_number(t, (double)s->retries);
	rxl_cell_number(t, (double)s->failures);
	rxl_cell_number(t, (double)s->altered);
	rxl_cell_number(t, (double)s->lost);
}

static bool
is_weather(const struct rxl_case *c, const struct rxl_weather *w)
{
	return c->ber == w->ber && c->propagate == w->propagate &&
	       c->byte_bursts == w->byte_bursts && c->lost == w->lost &&
	       c->inside == w->inside;
}

void
rxl_report_long(struct rxl_eval *e, struct rxl_table *t)
{
	struct stretch all = { 0 };
	const struct rxl_case *c;
	struct rxl_outcome o;
	char level[8];

	rxl_table_init(t, "long",
		       "The long run: rxl, flit by flit, at raised error rates");
	rxl_table_col(t, "errors", "");
	rxl_table_col(t, "level", "");
	rxl_table_col(t, "flits", "%.0f");
	rxl_table_col(t, "dropped", "%.0f");
	rxl_table_col(t, "wrong", "%.0f");
	rxl_table_col(t, "hurt_inside", "%.0f");
	rxl_table_col(t, "sent_again", "%.0f");
	rxl_table_col(t, "order_failures", "%.0f");
	rxl_table_col(t, "undetected", "%.0f");
	rxl_table_col(t, "lost", "%.0f");
	for (int w = 0; w < RXL_WEATHERS; w++)
		for (unsigned int k = 0; k <= 4; k++) {
			struct stretch s = { 0 };

			for (size_t i = 0;
			     rxl_each(e, RXL_G_LONG, &i, &c, &o);)
				if (c->levels == k &&
				    is_weather(c, &rxl_weathers[w]))
					add_stretch(&s, &o);
			if (s.flits == 0)
				continue;
			snprintf(level, sizeof(level), "%u", k);
			stretch_cells(t, rxl_weathers[w].name, level, &s);
		}
	for (size_t i = 0; rxl_each(e, RXL_G_LONG, &i, &c, &o);)
		add_stretch(&all, &o);
	stretch_cells(t, "all", "", &all);
	e->broken += all.failures + all.altered + all.lost;
	rxl_table_note(t, "flits: crossings of the whole path, both ways, "
			  "retries and stand-alone flits included; each was "
			  "numbered, encoded, carried, and verified by the "
			  "endpoints that ship");
	rxl_table_note(t, "not run: the FEC check of a flit at a switch that "
			  "no error has touched; order_failures counts "
			  "duplicates, too");
}
