/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_KEPT_H
#define CHECK_KEPT_H

/**
 * @file
 * What a proof by ranks keeps of the ways of packets: for each destination, to
 * which states (slot, switch) packets come by first hops. check_mix_near.c finds
 * by it which flows a change of tables touches.
 */

#include "check_proof.h"

/** Of RANKS_TILE destinations. */
struct kept_tile {
	uint64_t slots; /**< bit per slot that packets come to */
	uint8_t *comes; /**< [those slots][switch] bit per destination */
	uint8_t known;	/**< bit per destination of which all is known */
};

struct check_kept {
	struct ranks_map map; /**< what hops did when it was proven */
	struct kept_tile *tile; /**< [proof's ntile] */
};

/** What to keep of tables that are about to be proven: nothing yet. NULL: no
    memory. */
struct check_kept *check_kept_new(const struct rl_proof *p);
void check_kept_free(struct check_kept *k, uint32_t ntile);

/** Keeps what check_ranks_fast() has found of the destinations from @p from
    on, those with a bit in @p lanes. Once for each tile. Returns 0 or
    -ENOMEM. */
int check_kept_store(const struct ranks_run *r, uint32_t from,
		     unsigned int lanes);

/** What is kept of a slot of a tile, [switch]; NULL: packets do not come to
    it. */
static inline const uint8_t *
kept_comes(const struct kept_tile *t, unsigned int slot, uint32_t nsw)
{
	const uint64_t below = t->slots & ((1ull << slot) - 1);

	if (!(t->slots >> slot & 1))
		return NULL;
	return t->comes + (size_t)__builtin_popcountll(below) * nsw;
}

#endif /* CHECK_KEPT_H */
