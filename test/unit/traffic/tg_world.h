/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_WORLD_H
#define TG_WORLD_H

/**
 * @file
 * Five endpoints with a generator each. The network between them is a queue,
 * from which a test may drop, duplicate, reorder or forge packets.
 */

#include "rl_ledger.h"
#include "rl_tg.h"

#define EPS 5
#define FLITS 20000

struct world {
	struct rl_ep_cfg cfg;
	struct rl_codec *codec;
	struct rl_flit_cache cache;
	struct rl_flit *arena;
	struct rl_pattern pattern;
	uint64_t pattern_mem[64];
	struct rl_ep *ep[EPS];
	struct rl_tg *tg[EPS];
	struct rl_prng prng;
	uint64_t now;
	uint32_t drop; /**< of 1024 packets */
	uint32_t cut_off; /**< endpoint whose packets are all dropped, or
			       none */
	uint32_t cut_cos; /**< the same for a class of service */
};

extern struct world w;

/** Memory with undefined contents. */
void *aligned(size_t bytes);

void tg_cfg(struct rl_tg_cfg *c);
void open_world(enum rl_pattern_kind kind, bool retry,
		const struct rl_tg_cfg *tcfg);
/** Asserts that every flit was returned. */
void close_world(void);

/** Delivers the packets of a queue, or drops them. */
void carry(struct rl_pktq *q);

/** Runs until all clients are idle, or until @p end_ns. */
void run_until(uint64_t end_ns);

struct rl_ledger books(void);

/* Whether the sums balance, whatever was lost. */
static inline bool
ledger_balanced(const struct rl_ledger *l)
{
	return l->unknown_packets == 0 && l->inexact == 0 &&
	       l->sent_packets == l->delivered_packets + l->reported_packets +
					  l->lost_packets;
}

/* Whether every packet sent is delivered or reported, once, in order, unaltered,
   and the sums balance. */
static inline bool
ledger_clean(const struct rl_ledger *l)
{
	return ledger_balanced(l) && l->lost_packets == 0 &&
	       l->duplicated_packets == 0 && l->reordered_packets == 0 &&
	       l->corrupted_packets == 0;
}

#endif /* TG_WORLD_H */
