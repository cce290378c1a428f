/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RXL_EQN_H
#define RL_RXL_EQN_H

/**
 * @file
 * Equations 1 to 14 and Figure 8 of the RXL paper (section 7) [EVAL-1], with
 * its inputs or others. Each has the number that the paper prints, in the
 * paper's precision, and the number that its formula gives.
 */

#include "rl_base.h"

/** What the equations start from. */
struct rl_rxl_inputs {
	double ber;	    /**< bit error rate */
	double flit_bits;
	double fer_uc;	    /**< flits that FEC can't correct, per link */
	double crc_bits;    /**< undetected: one in 2^crc_bits */
	double ack_share;   /**< p_coalescing: share of flits with an AckNum */
	double flits_per_s; /**< of a device */
	double slot_ns;	    /**< one flit on the wire */
	double retry_ns;    /**< what a retry occupies beside the flit */
};

/** Any thread. The paper's inputs. */
void rl_rxl_inputs_paper(struct rl_rxl_inputs *in);

#define RL_RXL_EQNS 14

struct rl_rxl_eqn {
	int number;
	const char *name;    /**< what it computes */
	const char *formula; /**< with the paper's symbols */
	double paper;	     /**< as printed */
	double half_unit;    /**< half of a unit of its last printed digit */
	double ours;	     /**< what the formula gives */
	const char *note;    /**< why they differ; NULL where they don't */
};

/** Any thread. Fills all 14, the first at index 0. */
void rl_rxl_eqns(const struct rl_rxl_inputs *in,
		 struct rl_rxl_eqn out[RL_RXL_EQNS]);

/** Any thread. Whether ours, rounded as the paper's, is the paper's. */
bool rl_rxl_eqn_agrees(const struct rl_rxl_eqn *e);

/** Any thread. Equation 1: a flit with at least one wrong bit. */
double rl_rxl_fer(double ber, double flit_bits);

/** Any thread. Equations 5, 8, 10: failures in 10^9 hours of a device. */
double rl_rxl_fit(const struct rl_rxl_inputs *in, double failures_per_flit);

/**
 * Any thread. Equations 11, 12, 14: share of the bandwidth that retries take
 * where @p retries_per_flit flits of all start one.
 */
double rl_rxl_retry_loss(const struct rl_rxl_inputs *in,
			 double retries_per_flit);

/**
 * Any thread. Figure 8: FIT of a device behind @p levels of switches, by the
 * paper's reasoning. CXL fails by order once there is a switch; before that,
 * and RXL always, by what the CRC misses.
 */
double rl_rxl_fit_cxl(const struct rl_rxl_inputs *in, unsigned int levels);
double rl_rxl_fit_rxl(const struct rl_rxl_inputs *in, unsigned int levels);

/**
 * Any thread. Share of flits with @p least or more wrong ones among @p bits
 * independent bits.
 */
double rl_rxl_at_least(double ber, double bits, unsigned int least);

/** Wrong bits that a flit needs before crc64-bch can miss them. */
#define RL_RXL_BCH_BITS 6

/**
 * Any thread. What crc64-bch misses of independent bit errors, for each flit,
 * behind @p levels switches: sharper than the paper's 2^-64 of all that reach
 * the CRC altered.
 *
 * Where FEC miscorrects, the byte that it adds to a group's data is the sum of
 * the group's wrong bytes. So n wrong bits leave at most 2 n where the CRC
 * looks, on every link anew,
 * since what FEC lets pass has no syndrome for the next link to see. The CRC
 * sees all errors of up to 11 bits: fewer than six wrong bits, of all links
 * together, are never missed. Of six and more, 2^-64 are taken to pass.
 */
double rl_rxl_missed_by_bch(const struct rl_rxl_inputs *in,
			    unsigned int levels);

#endif /* RL_RXL_EQN_H */
