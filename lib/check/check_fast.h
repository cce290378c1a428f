/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_FAST_H
#define CHECK_FAST_H

/**
 * @file Inside of the fast path of the proof by ranks: check_ranks_fast.c
 * checks that hops ascend, check_ranks_arrive.c that packets arrive. Both
 * handle the destinations of a tile together: most entries of a switch send all
 * of them the same way, and all sources inject alike.
 */

#include <string.h>

#include "check_ranks.h"

_Static_assert(RANKS_TILE == RL_FWD_LANES, "they are gathered by lanes");

struct fast {
	struct ranks_run *r;
	uint32_t from;
	unsigned int want;    /**< destinations not yet proven */
	unsigned int fetched; /**< bit per plane: in the tile */
	unsigned int bears;   /**< bit per plane: some hop has it */
	bool again;	      /**< an assumption does not hold */
	uint32_t k;	      /**< current destination */
	uint32_t dst_dev;
	uint32_t nqueue;
	uint32_t depth; /**< of the queue, states being followed together */
	uint32_t alike;	/**< sources that share `shared`; RANKS_NONE: none */
	bool shared_same;
	uint64_t shared; /**< the word they inject by */
	unsigned int shared_slc;
};

/** How a source injects for the destinations of a tile, if it is the same for
    all of them. */
struct fast_source {
	const struct ranks_rec *recs; /**< of its ports */
	uint64_t word;
	uint32_t nports;
	unsigned int slc;
	bool same; /**< otherwise the fields above are not filled */
};

/** The next hops of a switch on a plane: [next hop][destination]. */
static inline uint16_t (*fast_lanes(const struct ranks_run *r,
				    unsigned int plane, uint32_t u))[RANKS_TILE]
{
	return &r->tile[((size_t)plane * r->map.nsw + u) * RL_FWD_ALTS];
}

/** Gathers the entries of a plane for the destinations of the tile. */
void check_fast_gather(struct fast *f, unsigned int plane);

static inline void
check_fast_plane(struct fast *f, unsigned int plane)
{
	if (!(f->fetched >> plane & 1))
		check_fast_gather(f, plane);
}

/** The same for all destinations at once, if it is the same. */
void check_fast_source(struct fast *f, uint32_t s, struct fast_source *x);

/** Follows first next hops from all sources; clears destinations that are not
    reached in f->want. */
void check_fast_arrives(struct fast *f);

#endif /* CHECK_FAST_H */
