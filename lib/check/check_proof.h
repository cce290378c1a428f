/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_PROOF_H
#define CHECK_PROOF_H

/**
 * @file
 * What has been proven, in a form that later tables can be compared with:
 * digests of all entries, RANKS_TILE of them together (64 bits; two different
 * tables with the same digests would pass for one), the ranks, what works, and
 * where packets come to by these tables (check_kept.h).
 */

#include "check_ranks.h"

struct check_kept;

struct rl_proof {
	uint32_t ndev, nep, nlink;
	uint32_t ntile; /**< of destinations, RANKS_TILE each */
	uint32_t nrow;	/**< rows of entries: devices may share one */
	bool parts;
	uint64_t maps[RL_SLS]; /**< digest of what an SL means to the devices */
	uint8_t planes[RL_SLS]; /**< bit per plane that packets of it may be on */
	uint8_t used;	  /**< bit per plane: some packet may be on it */
	uint32_t *row;	  /**< [ndev] row of a device */
	uint64_t *line[RL_FWD_PLANES]; /**< [row][tile] entries; NULL: not used */
	uint32_t *path;	  /**< [nep][tile] SLs of the paths from an endpoint, 4
			       bits each */
	uint64_t *inject; /**< [nep] how it injects */
	uint16_t *sls;	  /**< [nep] SLs of the paths to it, bit per SL */
	uint8_t *link_up; /**< [link] */
	struct check_kept *kept; /**< NULL: nothing */
};

/** Where the entries of two tables differ. */
struct proof_diff {
	uint8_t *at;  /**< [tile][row] bit per plane */
	uint8_t *any; /**< [tile] of all rows */
	uint8_t *path; /**< [tile] some endpoint has other SLs to it */
};

/** The proof of the present tables and topology; NULL: no memory. */
struct rl_proof *check_proof_new(const struct ranks_map *m);

/** Compares all entries of two proofs of one topology. Returns 0; -ENOMEM, or
    -EINVAL: their rows differ. Free it in all cases. */
int check_proof_differ(const struct rl_proof *a, const struct rl_proof *b,
		       struct proof_diff *d);
void check_proof_differ_free(struct proof_diff *d);

/** Whether everything that leads to destination @p e is the same in both. */
bool check_proof_same(const struct rl_proof *a, const struct rl_proof *b,
		      const struct proof_diff *d, uint32_t e);

/** Marks the destinations to which devices may send by a link. */
void check_proof_uses(const struct ranks_map *m, uint32_t link, uint8_t *todo);

/** Adds @p v to a digest. */
static inline uint64_t
check_digest_add(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

#endif /* CHECK_PROOF_H */
