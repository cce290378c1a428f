/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "rl_rxl_expect.h"

/** 1 - (1 - p)^n, without losing the digits of a small p. */
static double
at_least_once(double p, unsigned int n)
{
	return -expm1(n * log1p(-p));
}

/**
 * Slots that a packet takes in the mean. Each attempt fails with probability
 * u. Under go-back-N a failure costs all slots until the NAK is back: two
 * latencies, and one more where a switch dropped the flit, for only the next
 * one tells - but for steady ACKs among them, which are not in vain.
 * Selective retry sends just the flit again. Either way the NAK takes a slot
 * of the other direction, which is as full and has NAKs of its own; and NAKs
 * fail, too, which costs a timer.
 */
static double
slots_per_packet(const struct rl_rxl_expect_in *in,
		 const struct rl_rxl_expect *e)
{
	const double failures = e->retry / (1 - e->retry);
	double cost = 1;

	if (in->retry == RL_RETRY_GBN) {
		cost = 2 * in->latency_slots +
		       (e->retry > 0 ? e->dropped / e->retry : 0) +
		       e->retry * in->timer_slots;
		if (in->steady_acks)
			cost /= 1 + in->ack_alone;
	}
	return 1 + in->ack_alone + failures * (cost + 1);
}

void
rl_rxl_expect(const struct rl_rxl_expect_in *in, struct rl_rxl_expect *out)
{
	const double uc = rl_rxl_fec_uncorrectable(&in->link);
	const unsigned int links = in->levels + 1;
	double paper;

	out->dropped = at_least_once(in->link.detected, in->levels);
	out->retry = at_least_once(uc, links);
	out->wrong = out->retry - out->dropped;
	out->order_paper = in->levels * uc * in->ack_share;
	/* any number of drops, then a flit that arrives and hides its number */
	out->order = out->dropped / (1 - out->dropped) * in->ack_share *
		     (1 - out->retry);
	paper = links * uc *
		(in->retry == RL_RETRY_GBN ? in->retry_slots : 1);
	out->loss_paper = 1 - 1 / (1 + paper) + in->ack_alone;
	out->loss = 1 - 1 / slots_per_packet(in, out);
}
