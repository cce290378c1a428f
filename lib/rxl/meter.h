/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_METER_H
#define RXL_METER_H

/**
 * @file
 * The client that measures: sends packets of one flit as fast as the endpoint
 * takes them, and holds what arrives against what must have been sent. It
 * trusts nothing of the protocol: number and content are all in the data.
 */

#include "rl_rxl_path.h"

/** Numbers back that "delivered before?" is remembered for. */
#define RXL_METER_PAST 4096
/** Content is cut out of this many random bytes, at a place of its own. */
#define RXL_METER_NOISE 4096

struct rxl_meter {
	const uint8_t *noise; /**< RXL_METER_NOISE + RL_FLIT_DATA_BYTES */
	struct rl_flit_cache *cache;
	struct rl_rxl_dir_tally *in; /**< what arrives is counted here */
	uint64_t sent;		     /**< next number to send */
	uint64_t next;		     /**< 1 + highest number received */
	uint64_t missing;	     /**< below next, and not received */
	uint16_t peer;
	bool sends;
	uint64_t seen[RXL_METER_PAST / 64];
};

/** Owner. A client's poll; ctx is the meter. */
void rxl_meter_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns);

#endif /* RXL_METER_H */
