/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the bandwidth that retries, ACKs and headers take. */
#include <math.h>

#include "report.h"

/** Bytes of a flit that carry the transaction layer's payload. */
#define PAYLOAD_BITS (8.0 * RL_FLIT_PAYLOAD_BYTES)
#define FLIT_BITS (8.0 * RL_FLIT_BYTES)
/** FSN and ReplayCmd: what rxl-compact gives to the payload. */
#define FREED_BITS 12.0

static void
loss_row(struct rxl_eval *e, struct rxl_table *t, const struct rxl_case *c,
	 const struct rxl_outcome *o)
{
	const struct rl_rxl_rate r = rxl_loss(o);
	struct rl_rxl_expect x;

	rxl_expect_of(e, c, o, &x);
	rxl_cell_text(t, rl_profile_name(c->profile));
	rxl_cell_text(t, rxl_retry_name(c->retry));
	rxl_cell_number(t, c->levels);
	rxl_cell_number(t, c->ber);
	rxl_cell_number(t, c->coalesce);
	rxl_cell_text(t, c->reports ? "yes" : "no");
	rxl_cell_number(t, rxl_ack_alone(o));
	rxl_cell_number(t, (double)o->path.again / (double)o->path.fresh);
	rxl_cell_number(t, x.loss_paper);
	rxl_cell_number(t, x.loss);
	if (c->reports) {
		/* nothing is computed of what is sent again twice */
		rxl_cell_number(t, r.rate);
		rxl_cell_number(t, r.lo);
		rxl_cell_number(t, r.hi);
		rxl_cell_none(t);
	} else {
		rxl_cells_rate(e, t, &r, x.loss);
	}
	if (rxl_promises(c->profile))
		e->broken += o->path.order_failures + o->path.duplicates +
			     o->missing;
	e->broken += o->path.altered + o->leaked;
}

void
rxl_report_loss(struct rxl_eval *e, struct rxl_table *t)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	rxl_table_init(t, "loss",
		       "Bandwidth loss (eq. 11 to 14), endpoints in virtual "
		       "time, both directions full");
	rxl_table_col(t, "profile", "");
	rxl_table_col(t, "retry", "");
	rxl_table_col(t, "level", "%.0f");
	rxl_table_col(t, "ber", "%.1e");
	rxl_table_col(t, "coalesce", "%.0f");
	rxl_table_col(t, "reports", "");
	rxl_table_col(t, "ack_alone", "%.4f");
	rxl_table_col(t, "again", "%.3g");
	rxl_table_col(t, "equation", "%.4g");
	rxl_table_col(t, "computed", "%.4g");
	rxl_table_col(t, "measured", "%.4g");
	rxl_table_col(t, "low", "%.4g");
	rxl_table_col(t, "high", "%.4g");
	rxl_table_col(t, "in", "");
	for (size_t i = 0; rxl_each(e, RXL_G_LOSS, &i, &c, &o);)
		loss_row(e, t, c, &o);
	rxl_table_note(t, "equation: 1 - 1/(1 + 50 r) + p, with r = (levels + "
			  "1) x FER_UC of the exact model at this BER, and p = "
			  "ack_alone (eq. 13); selective: 1 in place of 50");
	rxl_table_note(t, "computed: with retries of retries, the NAKs, and "
			  "p/(1 + p) for p: where both directions are full, an "
			  "ACK takes a data flit's place, not all of it");
	rxl_table_note(t, "selective, computed: a flit for a flit; at 1e-4 "
			  "several gaps are open at once, a lost answer shows "
			  "when a later one overtakes it, and all of them are "
			  "asked for again");
	rxl_table_note(t, "reports: the switch tells the originator, which "
			  "sends at once; the NAK asks again all the same, so "
			  "that it costs more and gains time only");
	rxl_table_note(t, "ack_alone falls short of 1/coalesce by the slot "
			  "that an ACK waits for data to ride on");
}

static void
profile_row(struct rxl_table *t, const struct rxl_case *c,
	    const struct rxl_outcome *o)
{
	const double flits = (double)(o->path.fresh + o->path.again +
				      o->path.control);
	const double left = 1 - rxl_loss(o).rate;
	const double bits =
		PAYLOAD_BITS +
		(c->profile == RL_PROFILE_RXL_COMPACT ? FREED_BITS : 0);

	rxl_cell_text(t, rl_profile_name(c->profile));
	rxl_cell_text(t, rxl_retry_name(c->retry));
	rxl_cell_number(t, c->levels);
	rxl_cell_number(t, c->coalesce);
	rxl_cell_number(t, c->profile == RL_PROFILE_RXL_COMPACT
				   ? 0
				   : FREED_BITS);
	rxl_cell_number(t, rxl_ack_alone(o));
	rxl_cell_number(t, (double)o->path.again / flits);
	rxl_cell_number(t, 1 - left);
	rxl_cell_number(t, left * bits / FLIT_BITS);
	rxl_cell_number(t, (double)o->path.order_failures);
	rxl_cell_number(t, (double)o->path.duplicates);
}

void
rxl_report_profiles(struct rxl_eval *e, struct rxl_table *t)
{
	const struct rxl_case *c;
	struct rxl_outcome o;

	rxl_table_init(t, "profiles",
		       "What each profile costs, where 3e-5 of the flits on a "
		       "link are uncorrectable");
	rxl_table_col(t, "profile", "");
	rxl_table_col(t, "retry", "");
	rxl_table_col(t, "level", "%.0f");
	rxl_table_col(t, "coalesce", "%.0f");
	rxl_table_col(t, "header_bits", "%.0f");
	rxl_table_col(t, "ack_alone", "%.4f");
	rxl_table_col(t, "sent_again", "%.2g");
	rxl_table_col(t, "bandwidth_loss", "%.5f");
	rxl_table_col(t, "payload_share", "%.4f");
	rxl_table_col(t, "order_failures", "%.0f");
	rxl_table_col(t, "twice", "%.0f");
	for (size_t i = 0; rxl_each(e, RXL_G_LOSS, &i, &c, &o);)
		if (c->ber == RXL_BER_OF_PAPER_UC &&
		    (c->levels == 1 || c->coalesce == 10) && !c->reports)
			profile_row(t, c, &o);
	rxl_table_note(t, "payload_share: bits of the transaction layer that "
			  "arrive, of all bits on the wire; CRC and FEC take "
			  "5.5 %%, the header 0.8 %%");
	rxl_table_note(t, "selective retry asks for exactly what is missing, "
			  "by the slip that the syndrome tells; the paper "
			  "holds it to need a sequence field");
}
