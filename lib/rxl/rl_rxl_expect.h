/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RXL_EXPECT_H
#define RL_RXL_EXPECT_H

/**
 * @file
 * What a path should do, worked out from what one link does: the paper's
 * equations 6, 7 and 11 to 14 for any number of switches, and beside them
 * what they leave out. To be held against what a path measured.
 */

#include "rl_endpoint.h"
#include "rl_rxl_fec.h"

struct rl_rxl_expect_in {
	struct rl_rxl_fec_model link; /**< each of levels + 1 links */
	unsigned int levels;
	enum rl_e2e_retry retry;
	double ack_share; /**< of first transmissions, those with an AckNum */
	double ack_alone; /**< stand-alone ACKs for each packet delivered */
	bool steady_acks; /**< they flow all the time, not just in retries */
	double latency_slots; /**< one way */
	double retry_slots;   /**< eq. 11: what a retry occupies beside itself */
	double timer_slots;   /**< a lost NAK costs so much more */
};

struct rl_rxl_expect {
	double dropped; /**< on its way, by a switch: eq. 6 for each level */
	double wrong;	/**< arrives, and must be sent again */
	double retry;	/**< dropped or wrong */
	/** Eq. 7: dropped, and the next one that arrives hides its number. */
	double order_paper; /**< levels x FER_UC x share */
	double order; /**< with what the FEC really notices, and what follows */
	/** Eq. 11 to 14: share of the bandwidth that data does not get. */
	double loss_paper; /**< of retries and, added, of ACKs alone */
	double loss; /**< with repeated retries, NAKs and lost NAKs */
};

/** Any thread. */
void rl_rxl_expect(const struct rl_rxl_expect_in *in,
		   struct rl_rxl_expect *out);

#endif /* RL_RXL_EXPECT_H */
