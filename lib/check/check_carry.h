/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_CARRY_H
#define CHECK_CARRY_H

/**
 * @file
 * A proof that is carried along: after a change only entries that changed, and
 * those beside them, are looked at.
 *
 * The proof by ranks is made of small facts, one for each state (slot, switch,
 * destination): each hop of its entry is lower than all hops of the entry that
 * it leads to; its first hop that works leads to a state from where the way is
 * shorter, and not straight back. A fact holds on where neither the entry, nor
 * the one that a hop leads to, nor what hops do (ranks, VLs, dead links) has
 * changed. So there is kept, for each destination, in which states packets may
 * be and how long their way is from there at most. What kept says may be too
 * much (states that no packet comes to any more), never too little; where too
 * much is what fails, the destination is looked at as if nothing were known.
 * So it is where more states would have to be looked at one by one than takes
 * the time of a look at all.
 *
 * check_carry.c has what is kept, check_carry_map.c what a change means for it,
 * check_carry_tile.c what has to be looked at, check_carry_walk.c the facts.
 */

#include "check_proof.h"

/** What is kept of a state. */
#define CARRY_SEEN 0x80u /**< packets may come here; read where it is a slot
			      whose entries are not all taken for that */
#define CARRY_HOPS 0x7fu /**< links to the destination by first hops, at most;
			      0: no packet comes here by first hops */

/** Of RANKS_TILE destinations. */
struct carry_tile {
	uint64_t slots;	 /**< bit per slot of which anything is kept */
	uint64_t scanned[RANKS_TILE]; /**< bit per slot all entries of which are
					   taken for what packets come to */
	uint8_t *state;	 /**< [those slots][switch][destination] CARRY_* */
	uint8_t carried; /**< bit per destination of which all is known */
};

struct check_carry {
	struct ranks_map map; /**< what hops did when it was proven */
	uint8_t bears[RANKS_SLOTS]; /**< [slot] bit per plane that a hop has, if
					 all entries of the slot count */
	struct carry_tile *tile; /**< [proof's ntile] */
};

/** What to keep of tables that are about to be proven: nothing yet. */
struct check_carry *check_carry_new(const struct rl_proof *p);
void check_carry_free(struct check_carry *c, uint32_t ntile);

/** Planes whose slots a proof has searched: those to come have to, too. */
uint8_t check_carry_searched(const struct rl_proof *p);

/** Keeps what check_ranks_fast() has found of the destinations @p lanes of the
    tile from @p from on. Returns 0 or -ENOMEM. */
int check_carry_store(const struct ranks_run *r, uint32_t from,
		      unsigned int lanes);

/** What is new of a hop: what it does, for some SL; or whether it does the same
    for all, which counts in slots of all SLs. */
#define CARRY_DOES 1u
#define CARRY_BY_SL 2u

/** States of a tile that are looked at one by one at most, and one more for each
    switch. */
#define CARRY_LOOKS 256u

/** A change: from what was kept to what is to be. */
struct carry_change {
	struct ranks_run *r;
	const struct rl_proof *old;
	struct rl_proof *now;
	const struct proof_diff *diff;
	int xl[RANKS_SLOTS];  /**< [slot] what it was, -1: nothing */
	uint8_t *rec;	      /**< [port * planes + plane] CARRY_* */
	uint8_t *dev;	      /**< [device] of all its ports */
	uint8_t *source;      /**< [nep] injects in another way */
	uint8_t inject;	      /**< bit per plane that packets are injected on */
	/** what is kept of the slots of the tile at hand, or NULL */
	uint8_t *state[RANKS_SLOTS];
	uint32_t left;	      /**< states that may be looked at for the tile */
	uint32_t *queue;      /**< [lane][state] */
	uint8_t *queued;      /**< [state][lane] */
};

/**
 * Takes over what @p old keeps; what hops mean is compared. Returns 0; -ENOMEM;
 * -EINVAL: old says nothing of these tables. To be freed in all cases.
 */
int check_carry_begin(struct carry_change *c, struct ranks_run *r,
		      struct rl_proof *old, struct rl_proof *now,
		      const struct proof_diff *diff);
void check_carry_end(struct carry_change *c);

/**
 * Looks at what changed for the destinations @p want of a tile. Returns those
 * that are proven; of the others, which fail or would take too long, nothing is
 * kept.
 *
 * @param looked  set to those at which anything had to be looked at
 */
unsigned int check_carry_tile(struct carry_change *c, uint32_t tile,
			      unsigned int want, unsigned int *looked);

/** What is kept of a slot of a tile, [switch][destination]; NULL: nothing. */
static inline uint8_t *
carry_states(const struct carry_tile *t, unsigned int slot, uint32_t nsw)
{
	const uint64_t below = t->slots & ((1ull << slot) - 1);

	if (!(t->slots >> slot & 1))
		return NULL;
	return t->state + (size_t)__builtin_popcountll(below) * nsw *
				  RANKS_TILE;
}

/** Makes room for a slot; returns as carry_states(), NULL: no memory. */
uint8_t *carry_room(struct carry_tile *t, unsigned int slot, uint32_t nsw);

#endif /* CHECK_CARRY_H */
