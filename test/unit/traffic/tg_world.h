/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_WORLD_H
#define TG_WORLD_H

/**
 * @file
 * Five endpoints with a generator each. The network between them is a queue
 * that a test may rob, double, shuffle or forge.
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
	uint32_t cut_off; /**< endpoint whose packets all vanish, or none */
	uint32_t cut_cos; /**< the same of a class of service */
};

extern struct world w;

/** Memory that begins as garbage. */
void *aligned(size_t bytes);

void tg_cfg(struct rl_tg_cfg *c);
void open_world(enum rl_pattern_kind kind, bool retry,
		const struct rl_tg_cfg *tcfg);
/** Asserts that every flit came back. */
void close_world(void);

/** Delivers what is in a queue, or not. */
void carry(struct rl_pktq *q);

/** Runs until all clients are idle, or until @p end_ns. */
void run_until(uint64_t end_ns);

struct rl_ledger books(void);

#endif /* TG_WORLD_H */
