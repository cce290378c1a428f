/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_CASE_H
#define RXL_CASE_H

/**
 * @file
 * One simulation of the evaluation: its parameters and counters. One thread
 * runs a case, which takes up to a few seconds.
 */

#include "rl_rxl_path.h"

enum rxl_kind {
	RXL_TRIAL, /**< the codec over links and switches */
	RXL_PATH,  /**< endpoints in virtual time */
};

/** As in the paper: slots of 2 ns, and 100 ns from a flit to its retry. */
#define RXL_SLOT_NS 2
#define RXL_RETRY_NS 100

struct rxl_case {
	enum rxl_kind kind;
	enum rl_profile profile;
	enum rl_e2e_retry retry;
	enum rl_crc_kind crc;
	enum rl_isn_kind isn;
	uint32_t levels;
	uint32_t coalesce;
	uint32_t burst_slots;
	double ber;	  /**< first errors, per bit */
	double propagate; /**< chance to continue a DFE burst */
	uint32_t lanes;
	double byte_bursts;    /**< per flit and link, 1 to 8 bytes */
	double lost;	       /**< flits lost by a wire */
	double inside;	       /**< byte bursts inside a switch, per flit */
	bool reports;	       /**< drop reports to the originator */
	uint64_t flits;	       /**< of a trial; of a path, both directions */
	uint64_t seed;
};

struct rxl_outcome {
	uint64_t wall_ns;
	struct rl_rxl_trial_tally trial;
	struct rl_rxl_dir_tally path; /**< sum of both directions */
	uint64_t naks;	    /**< received */
	uint64_t timeouts;
	uint64_t header_bits;
	uint64_t missing;   /**< sent, but never delivered */
	uint64_t unsettled; /**< 1 if it did not come to rest */
	uint64_t leaked;    /**< 1 if flit buffers leaked */
};

/**
 * Any thread. Runs @p c.
 * @return 0; -ENOMEM; or the error of rl_codec_init() for crc and isn
 */
int rxl_case_run(const struct rxl_case *c, struct rxl_outcome *out);

/**
 * Any thread. @return one-way latency for which a retry starts RXL_RETRY_NS
 * after its flit
 */
uint32_t rxl_case_latency_slots(const struct rxl_case *c);

/** Any thread. Look up by name. @return 0, or -ENOENT */
int rxl_profile_find(const char *name, enum rl_profile *p);
int rxl_retry_find(const char *name, enum rl_e2e_retry *r);
int rxl_codec_find(const char *crc, const char *isn, enum rl_crc_kind *c,
		   enum rl_isn_kind *i);

#endif /* RXL_CASE_H */
