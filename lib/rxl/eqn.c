/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "rl_rxl_eqn.h"

#define SECONDS_PER_HOUR 3600.0
#define FIT_HOURS 1e9

void
rl_rxl_inputs_paper(struct rl_rxl_inputs *in)
{
	*in = (struct rl_rxl_inputs){
		.ber = 1e-6,
		.flit_bits = 2048,
		.fer_uc = 3.0e-5,
		.crc_bits = 64,
		.ack_share = 0.1,
		.flits_per_s = 500e6,
		.slot_ns = 2,
		.retry_ns = 100,
	};
}

double
rl_rxl_fer(double ber, double flit_bits)
{
	/* 1 - (1 - ber)^bits, without losing the digits of a small ber */
	return -expm1(flit_bits * log1p(-ber));
}

double
rl_rxl_fit(const struct rl_rxl_inputs *in, double failures_per_flit)
{
	return failures_per_flit * in->flits_per_s * SECONDS_PER_HOUR *
	       FIT_HOURS;
}

double
rl_rxl_retry_loss(const struct rl_rxl_inputs *in, double retries_per_flit)
{
	const double plain = (1 - retries_per_flit) * in->slot_ns;
	const double retried =
		retries_per_flit * (in->slot_ns + in->retry_ns);

	return 1 - in->slot_ns / (plain + retried);
}

/** What a CRC misses of flits that are wrong. */
static double
missed(const struct rl_rxl_inputs *in, double wrong_per_flit)
{
	return ldexp(wrong_per_flit, -(int)in->crc_bits);
}

double
rl_rxl_fit_cxl(const struct rl_rxl_inputs *in, unsigned int levels)
{
	if (levels == 0)
		return rl_rxl_fit(in, missed(in, in->fer_uc));
	return rl_rxl_fit(in, levels * in->fer_uc * in->ack_share);
}

double
rl_rxl_fit_rxl(const struct rl_rxl_inputs *in, unsigned int levels)
{
	/* every flit dropped comes once more, and may be missed then */
	const double transmissions = 1 + levels * in->fer_uc;

	return rl_rxl_fit(in, transmissions * missed(in, in->fer_uc));
}

static const struct rl_rxl_eqn paper[RL_RXL_EQNS] = {
	{ 1, "flit error rate", "FER = 1 - (1 - BER)^flit_bits", 2.0e-3,
	  0.05e-3, 0, NULL },
	{ 2, "uncorrectable by FEC", "FER_UC, the bound of PCIe 6.0", 3.0e-5,
	  0.05e-5, 0, NULL },
	{ 3, "share that FEC corrects", "1 - FER_UC / FER", 0.985, 0.0005, 0,
	  NULL },
	{ 4, "undetected, CXL direct", "FER_UC x 2^-64", 1.6e-24, 0.05e-24, 0,
	  NULL },
	{ 5, "FIT, CXL direct", "FER_UD x flits/h x 10^9", 2.9e-3, 0.05e-3, 0,
	  NULL },
	{ 6, "dropped by one switch", "FER_drop = FER_UC", 3.0e-5, 0.05e-5, 0,
	  NULL },
	{ 7, "order failure, CXL, one switch", "FER_drop x p_coalescing",
	  3.0e-6, 0.05e-6, 0, NULL },
	{ 8, "FIT, CXL, one switch", "FER_order x flits/h x 10^9", 5.4e15,
	  0.05e15, 0, NULL },
	{ 9, "undetected, RXL, one switch", "(1 + FER_UC) x 2^-64", 1.6e-24,
	  0.05e-24, 0,
	  "as printed the formula lacks a factor: only flits that FEC did not "
	  "correct reach the CRC wrong. (1 + FER_UC) x FER_UC x 2^-64 is "
	  "1.6e-24, which equation 10 goes on with" },
	{ 10, "FIT, RXL, one switch", "FER_UD x flits/h x 10^9", 2.9e-3,
	  0.05e-3, 0, NULL },
	{ 11, "bandwidth loss, CXL direct",
	  "1 - 2 / ((1 - FER_UC) 2 + FER_UC 102)", 0.0015, 0.00005, 0, NULL },
	{ 12, "bandwidth loss, CXL, one switch",
	  "the same with 2 x FER_UC", 0.0030, 0.00005, 0, NULL },
	{ 13, "bandwidth loss, separate ACKs, p = 1", "p_coalescing", 1.0,
	  0.005, 0, NULL },
	{ 14, "bandwidth loss, RXL, one switch", "as equation 12", 0.0030,
	  0.00005, 0, NULL },
};

void
rl_rxl_eqns(const struct rl_rxl_inputs *in, struct rl_rxl_eqn out[RL_RXL_EQNS])
{
	const double fer = rl_rxl_fer(in->ber, in->flit_bits);
	const double ours[RL_RXL_EQNS] = {
		fer,
		in->fer_uc,
		1 - in->fer_uc / fer,
		missed(in, in->fer_uc),
		rl_rxl_fit_cxl(in, 0),
		in->fer_uc,
		in->fer_uc * in->ack_share,
		rl_rxl_fit_cxl(in, 1),
		missed(in, 1 + in->fer_uc),
		rl_rxl_fit_rxl(in, 1),
		rl_rxl_retry_loss(in, in->fer_uc),
		rl_rxl_retry_loss(in, 2 * in->fer_uc),
		1,
		rl_rxl_retry_loss(in, 2 * in->fer_uc),
	};

	for (int i = 0; i < RL_RXL_EQNS; i++) {
		out[i] = paper[i];
		out[i].ours = ours[i];
	}
}

bool
rl_rxl_eqn_agrees(const struct rl_rxl_eqn *e)
{
	/* a little more than half a unit: neither number is exact in binary */
	return fabs(e->ours - e->paper) <= e->half_unit * (1 + 1e-9);
}

/* The chance of exactly @p n wrong bits. */
static double
exactly(double ber, double bits, unsigned int n)
{
	double log_term = (bits - n) * log1p(-ber);

	for (unsigned int i = 0; i < n; i++)
		log_term += log((bits - i) / (i + 1.0) * ber);
	return exp(log_term);
}

double
rl_rxl_at_least(double ber, double bits, unsigned int least)
{
	double term, sum = 0;

	if (ber <= 0 || ber >= 1)
		return least == 0 || (ber >= 1 && bits >= least);
	if (least <= bits * ber) { /* the fewer ones are less to add up */
		for (unsigned int n = 0; n < least; n++)
			sum += exactly(ber, bits, n);
		return sum < 1 ? 1 - sum : 0;
	}
	/* beyond the mean each term is smaller than the one before */
	term = exactly(ber, bits, least);
	for (double n = least; n <= bits && term > sum * 1e-17; n++) {
		sum += term;
		term *= (bits - n) / (n + 1) * ber / (1 - ber);
	}
	return sum;
}

double
rl_rxl_missed_by_bch(const struct rl_rxl_inputs *in, unsigned int levels)
{
	return ldexp(rl_rxl_at_least(in->ber, in->flit_bits * (levels + 1),
				     RL_RXL_BCH_BITS),
		     -64);
}
