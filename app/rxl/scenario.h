/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_SCENARIO_H
#define RXL_SCENARIO_H

/**
 * @file
 * Figures 4, 5a and 5b of the RXL paper, played by the product's own endpoints
 * [EP-5]. In each, four flits #0 to #3 go one way, a switch drops #1, and an
 * ACK is due just when #2 leaves.
 */

#include "ladder.h"

enum rxl_figure {
	RXL_FIG4,  /**< the link layer: #2 is delivered before #1 */
	RXL_FIG5A, /**< the flits are requests: C is executed twice */
	RXL_FIG5B, /**< the flits are data of one queue: C before B */
};

struct rxl_scenario_result {
	/** What the receiver's upper layer got, in order: "ACBCD". */
	char received[32];
	/** Fig. 5a: data that the requester got, in order. */
	char data[32];
	unsigned int again;	   /**< received more than once */
	unsigned int out_of_order; /**< received before an older one */
	unsigned int unexpected;   /**< replies without an open request */
	unsigned int missing;	   /**< never received */
	bool drop_hit;		   /**< the script found its flit */
	bool hidden;		   /**< #2 carried no number */
	bool leak;		   /**< a flit buffer leaked */
};

/** Main thread. Plays @p fig. @return 0 or -ENOMEM */
int rxl_scenario_run(enum rxl_figure fig, enum rl_profile profile,
		     struct rxl_ladder *ladder,
		     struct rxl_scenario_result *result);

/**
 * @return whether nothing was duplicated, out of order, unexpected or missing
 */
bool rxl_scenario_sound(const struct rxl_scenario_result *r);

#endif /* RXL_SCENARIO_H */
