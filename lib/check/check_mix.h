/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_MIX_H
#define CHECK_MIX_H

/**
 * @file Inside of the proof of mixes: what may happen to a packet, and what is
 * wrong with that. See check_mix_walk.c.
 */

#include "check_deps.h"
#include "check_proof.h"
#include "rl_check_mix.h"

/* What may happen to a packet from some place on. */
#define MIX_BAD_NEW 1u /**< a hop that does not ascend in the new ranks */
#define MIX_BAD_OLD 2u /**< ... in the old ones */
#define MIX_LOST 4u    /**< it may not arrive */
#define MIX_TOUCHED 8u /**< old and new tables send it on different paths */
#define MIX_ALL (MIX_BAD_NEW | MIX_BAD_OLD | MIX_LOST | MIX_TOUCHED)

struct mix_state {
	uint8_t mark;
	uint8_t flags;
	uint8_t foreign; /**< endpoints on the path that are not its own */
	uint8_t unused;
	uint16_t len;	 /**< longest path to the destination */
};

struct mix_frame;
struct mix_near;

struct mix_run {
	const struct rl_check_mix *mix;
	const struct rl_topo *topo;
	struct rl_check_mix_report *rep;
	struct ranks_map map; /**< ports only */
	uint8_t *dead;	      /**< [link] died since the old tables */
	uint32_t *part;	      /**< [device]; NULL: the fabric counts as one */
	unsigned int plane;   /**< VL of the adaptive plane; RL_VCS: none */
	uint8_t nsl;	      /**< SLs in use */
	uint8_t sl_idx[RL_SLS];
	struct mix_state *state; /**< [channel * nsl + SL's index] */
	uint32_t *touched;    /**< states that are not new */
	uint32_t ntouched;
	struct mix_frame *stack;
	struct check_deps *deps; /**< NULL: not collected */
	uint32_t src, dst;	 /**< current */
};

/** Whether packets of a flow count, if it is not held. */
bool check_mix_counts(const struct mix_run *r, uint32_t src, uint32_t dst);

int check_mix_init(struct mix_run *r, const struct rl_check_mix *mix,
		   struct rl_check_mix_report *rep);
void check_mix_free(struct mix_run *r);

/** What may happen to packets of a flow: flags. */
unsigned int check_mix_flow(struct mix_run *r, uint32_t src, uint32_t dst,
			    uint32_t *len);

/**
 * Removes flows from @p held that close no cycle with the rest, each alone and
 * together. Without held flows all ascends in one of the ranks. Returns 0;
 * -ENOMEM: fewer were removed.
 */
int check_mix_spare(struct mix_run *r, struct rl_flows *held);

/**
 * Prepares to find flows that a change may touch; *near is NULL if the proofs
 * of the tables have too little information. Returns 0 or -ENOMEM.
 */
int check_mix_near_new(struct mix_run *r, struct mix_near **near);
void check_mix_near_free(struct mix_near *near);

/** Sources [nep] whose packets to @p dst the change may touch; *any: whether
    there are some. */
const uint8_t *check_mix_near(struct mix_near *near, uint32_t dst, bool *any);

/** Forgets the current destination. */
void check_mix_forget(struct mix_run *r);

#endif /* CHECK_MIX_H */
