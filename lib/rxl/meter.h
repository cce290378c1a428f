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
#include "rl_seen.h"

/** Ranges of missing numbers; an endpoint waits for one, or for a few. */
#define RXL_METER_NODES 1024

struct rxl_meter {
	struct rl_flit_cache *cache;
	struct rl_rxl_dir_tally *in; /**< what arrives is counted here */
	uint64_t seed;		     /**< of contents */
	uint64_t sent;		     /**< next number to send */
	uint64_t base;		     /**< number 0 of `seen` */
	uint16_t peer;
	bool sends;
	struct rl_seen seen;
	struct rl_range_pool pool;   /**< what it has lost never came */
	struct rl_range node[RXL_METER_NODES];
};

/** Owner. A client's poll; ctx is the meter. */
void rxl_meter_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns);

#endif /* RXL_METER_H */
