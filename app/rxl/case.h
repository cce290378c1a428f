/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_CASE_H
#define RXL_CASE_H

/**
 * @file
 * One simulation of the evaluation: its parameters, and what it counted. A
 * case is run by one thread, is as long as a few seconds, and is known by a
 * key that says all that decides its outcome, so that it need not be run
 * twice.
 */

#include "rl_rxl_path.h"

enum rxl_kind {
	RXL_TRIAL, /**< the codec over links and switches */
	RXL_PATH,  /**< endpoints in virtual time */
};

/** Which table a case is for; bits, so that a selection is a mask. */
enum rxl_group {
	RXL_G_FEC = 1,
	RXL_G_BURST = 2,
	RXL_G_ORDER = 4,
	RXL_G_LOSS = 8,
	RXL_G_LONG = 16,
	RXL_G_POINT = 32, /**< what the command line asks for */
};

/** The paper's: a slot of 2 ns, and 100 ns from a flit to its retry. */
#define RXL_SLOT_NS 2
#define RXL_RETRY_NS 100

struct rxl_case {
	enum rxl_kind kind;
	uint32_t group;
	enum rl_profile profile;
	enum rl_e2e_retry retry;
	enum rl_crc_kind crc;
	enum rl_isn_kind isn;
	uint32_t levels;
	uint32_t coalesce;
	uint32_t burst_slots;
	double ber;	  /**< first bit errors, per bit */
	double propagate; /**< of DFE bursts */
	uint32_t lanes;
	double byte_bursts;    /**< per flit and link, 1 to 8 bytes */
	double lost;	       /**< flits lost by a wire */
	double inside;	       /**< byte bursts inside a switch, per flit */
	bool reports;	       /**< drop reports to the originator */
	uint64_t flits;	       /**< of a trial; of a path, both directions */
	uint64_t seed;
};

/** Counters only: a case's outcome is stored as a list of numbers. */
struct rxl_outcome {
	uint64_t wall_ns;
	struct rl_rxl_trial_tally trial;
	struct rl_rxl_dir_tally path; /**< both directions together */
	uint64_t naks;	    /**< received */
	uint64_t timeouts;
	uint64_t header_bits;
	uint64_t missing;   /**< sent, and not delivered in the end */
	uint64_t unsettled; /**< 1 where it did not come to rest */
	uint64_t leaked;    /**< 1 where flit buffers were lost */
};

#define RXL_OUTCOME_NUMBERS (sizeof(struct rxl_outcome) / sizeof(uint64_t))

/** Any thread. A case with everything as the paper has it, and no errors. */
void rxl_case_defaults(struct rxl_case *c);

/** Any thread. Bytes that a key may have, with its zero. */
#define RXL_KEY_MAX 192

/** Any thread. Writes the key of @p c. */
void rxl_case_key(const struct rxl_case *c, char key[RXL_KEY_MAX]);

/**
 * Any thread. Runs @p c.
 * @return 0; -ENOMEM; or what rl_codec_init() says of crc and isn
 */
int rxl_case_run(const struct rxl_case *c, struct rxl_outcome *out);

/** Any thread. Adds @p from to @p to. */
void rxl_outcome_add(struct rxl_outcome *to, const struct rxl_outcome *from);

/** Any thread. The configuration of both endpoints of a path. */
void rxl_case_endpoint(const struct rxl_case *c, struct rl_ep_cfg *ep);

/** One way, so that a retry begins RXL_RETRY_NS after its flit. */
uint32_t rxl_case_latency_slots(const struct rxl_case *c);

const char *rxl_retry_name(enum rl_e2e_retry r);
const char *rxl_crc_name(enum rl_crc_kind c);
const char *rxl_isn_name(enum rl_isn_kind i);

#endif /* RXL_CASE_H */
