/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RXL_FEC_H
#define RL_RXL_FEC_H

/**
 * @file
 * What the flit's FEC makes of independent bit errors, computed exactly. The
 * paper takes 3e-5 for "uncorrectable", a bound of PCIe 6.0; this is what the
 * code [FLIT-4] really does at a bit error rate, so that measured rates have
 * something exact to be held against.
 *
 * How it works. A sub-block fails when two or more of its bytes are wrong:
 * that is binomial. Whether the decoder notices depends on the syndrome, two
 * bytes (P, C): it notices all but those that one wrong byte could have made.
 * The syndrome is a sum over the bytes, so its distribution is a convolution,
 * which a Walsh-Hadamard transform turns into a product; and each factor is
 * (1 - 2 ber) to the power of a weight, because the bits are independent. One
 * transform of 65,536 numbers gives the probability of every syndrome.
 */

#include "rl_base.h"

/** Doubles of scratch memory that rl_rxl_fec_model() needs. */
#define RL_RXL_FEC_SCRATCH 65536

/** Probabilities of one flit on one link; they add up to 1. */
struct rl_rxl_fec_model {
	double clean;	  /**< no bit wrong */
	double corrected; /**< wrong bits, all put right */
	double detected;  /**< noticed and not correctable: dropped */
	double missed;	  /**< wrong, and the FEC is content with it */
};

/** Uncorrectable: detected or missed. */
static inline double
rl_rxl_fec_uncorrectable(const struct rl_rxl_fec_model *m)
{
	return m->detected + m->missed;
}

/**
 * Any thread. Fills @p m for bit error rate @p ber (0..0.5). @p scratch is
 * the caller's, RL_RXL_FEC_SCRATCH doubles. Takes about 30 ms.
 */
void rl_rxl_fec_model(double ber, double *scratch, struct rl_rxl_fec_model *m);

/**
 * Any thread. Probability that at least two of @p bytes bytes are wrong, each
 * bit with @p ber.
 */
double rl_rxl_two_bytes_wrong(double ber, unsigned int bytes);

#endif /* RL_RXL_FEC_H */
