/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_PRIV_H
#define TG_PRIV_H

#include "rl_plant.h"
#include "rl_tg.h"

struct rl_tg {
	struct rl_source source; /**< first: tg_offer() knows it by this */
	struct rl_source_cfg drawn;
	struct rl_tg_cfg cfg;
	struct rl_flit_cache *cache;
	bool running;
	uint64_t retry_ns; /**< when to retry packets that wait */

	struct rl_tg_counts count;
	struct rl_range_pool pool;
	uint32_t nflows;
	uint32_t hash_mask;
	uint32_t *hash; /**< 1 + index into flow; 0: free */
	struct rl_tg_flow *flow;
	struct rl_delay *delay; /**< 1 or RL_VCS */
};

/** Finds or makes it; NULL if max_flows are in use. */
struct rl_tg_flow *tg_flow_get(struct rl_tg *tg, uint16_t peer, uint8_t cos);

/* tg_send.c */
/** Readies the source for a start, or for responses alone. */
void tg_source(struct rl_tg *tg);
unsigned int tg_send(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns);

/* tg_check.c */
unsigned int tg_check(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns);

#endif /* TG_PRIV_H */
