/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_PRIV_H
#define TG_PRIV_H

#include "rl_plant.h"
#include "rl_tg.h"

#define PPM 1000000u
#define TG_COS_MAX 16
#define TG_SHARED 8 /* places aside, shared by the classes of service */
#define TG_WAITING TG_COS_MAX /* but each class has at least one */

/** A packet that is due. */
struct tg_packet {
	uint16_t dst;
	uint8_t cos;
	uint8_t class;
	uint32_t len_bytes;
	uint64_t t_ns;
};

struct rl_tg {
	struct rl_tg_cfg cfg;
	struct rl_flit_cache *cache;
	struct rl_prng prng;
	bool running;
	uint64_t left;	     /**< packets to make until the limit */
	uint64_t end_ns;     /**< no packets are made from then on */
	uint64_t next_ns;    /**< scheduled time of the next packet */
	uint32_t next_frac;  /**< plus 2^-16 ns of this */
	uint64_t flit_fp;    /**< mean time per flit, in 2^-16 ns */
	uint64_t retry_ns;   /**< when to retry packets that wait aside */
	uint64_t owed;	     /**< responses, of all flows */
	uint32_t owed_next;  /**< the flow whose turn it is */
	uint32_t nwaiting;
	uint8_t cos0;	     /**< classes of service drawn: from here on, */
	uint8_t ndraw;	     /**< this many; responses are owed, not drawn */
	uint32_t share;	     /**< places aside per class of service */
	uint8_t waits[TG_COS_MAX]; /**< how many of each class wait */
	struct tg_packet waiting[TG_WAITING];

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
void tg_draws(struct rl_tg *tg);
unsigned int tg_send(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns);

/* tg_check.c */
unsigned int tg_check(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns);

#endif /* TG_PRIV_H */
