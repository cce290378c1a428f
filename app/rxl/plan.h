/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_PLAN_H
#define RXL_PLAN_H

/**
 * @file
 * Which simulations the tables and figures need.
 */

#include "runner.h"

/** Where independent errors make 3e-5 uncorrectable: the paper's FER_UC. */
#define RXL_BER_OF_PAPER_UC 6.6e-6

struct rxl_plan_opts {
	uint32_t groups; /**< of enum rxl_group */
	bool quick;	 /**< a twentieth of it */
	uint64_t seed;
	enum rl_crc_kind crc;
	enum rl_isn_kind isn;
	uint64_t long_flits; /**< simulated with rxl in group LONG */
};

/** Main thread. Appends what @p o asks for. */
void rxl_plan_make(struct rxl_plan *plan, const struct rxl_plan_opts *o);

/** The kinds of error that the long run mixes. */
struct rxl_weather {
	const char *name;
	double ber;
	double propagate;
	uint32_t lanes;
	double byte_bursts;
	double lost;
	double inside;
};

#define RXL_WEATHERS 5
extern const struct rxl_weather rxl_weathers[RXL_WEATHERS];

#endif /* RXL_PLAN_H */
