/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_PROOF_H
#define CHECK_PROOF_H

/**
 * @file
 * What has been proven, in a form that later tables can be compared with: a
 * digest of all that leads to each destination (64 bits; two different tables
 * with the same digest would pass for one), the ranks, and what works.
 */

#include "check_ranks.h"

struct rl_proof {
	uint32_t ndev, nep, nlink;
	bool parts;
	unsigned int levels;
	uint64_t maps[RL_SLS]; /**< digest of what an SL means to the devices */
	uint8_t planes[RL_SLS]; /**< bit per plane that packets of it may be on */
	uint64_t *digest; /**< [plane][nep] entries */
	uint64_t *sl;	  /**< [nep] SLs of the paths to each destination */
	uint16_t *sls;	  /**< [nep] the same, bit per SL */
	uint32_t *rank;	  /**< [channel]; NULL: none were given */
	uint8_t *link_up; /**< [link] */
	uint8_t *live;	  /**< [nep] */
};

/** What tables and topology are now; NULL: no memory. */
struct rl_proof *check_proof_new(const struct ranks_map *m);

/** Whether what leads to destination @p e is the same in both. */
bool check_proof_same(const struct rl_proof *a, const struct rl_proof *b,
		      uint32_t e);

/**
 * Marks in @p todo [nep] the destinations that @p old says nothing of, @p now
 * being what is.
 */
void check_proof_compare(const struct ranks_map *m, const struct rl_proof *old,
			 const struct rl_proof *now, uint8_t *todo);

/** Marks the destinations to which devices may send by a link. */
void check_proof_uses(const struct ranks_map *m, uint32_t link, uint8_t *todo);

#endif /* CHECK_PROOF_H */
