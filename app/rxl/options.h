/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_OPTIONS_H
#define RXL_OPTIONS_H

/**
 * @file
 * The command line of `reflit-sim rxl`.
 */

#include "figure.h"
#include "report.h"

struct rxl_options {
	bool table[RXL_REPORTS];
	bool figure[RXL_FIGURES];
	bool selected;	   /**< not everything is wanted */
	bool point;	   /**< one point of the user's own */
	struct rxl_case c; /**< of it; crc, isn and seed are for all */
	bool quick;
	bool fresh;
	bool plots;
	bool quiet;
	unsigned int jobs;
	uint64_t long_flits;
	const char *out;  /**< folder */
	const char *json; /**< report; NULL: none */
};

enum rxl_parsed { RXL_RUN, RXL_HELPED, RXL_UNUSABLE };

/** Main thread. Tells on standard error what is wrong. */
enum rxl_parsed rxl_options_parse(struct rxl_options *o, int argc,
				  char **argv);

#endif /* RXL_OPTIONS_H */
