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
	uint64_t maps;	  /**< digest of what is the same for all destinations */
	uint64_t *digest; /**< [nep] */
	uint32_t *rank;	  /**< [channel] */
	uint8_t *link_up; /**< [link] */
	uint8_t *live;	  /**< [nep] */
};

/** What tables and topology are now; NULL: no memory. */
struct rl_proof *check_proof_new(const struct ranks_map *m);

/**
 * Marks in @p todo [nep] the destinations that @p old says nothing of, @p now
 * being what is.
 */
void check_proof_compare(const struct ranks_map *m, const struct rl_proof *old,
			 const struct rl_proof *now, uint8_t *todo);

/** Marks the destinations to which devices may send by a link. */
void check_proof_uses(const struct ranks_map *m, uint32_t link, uint8_t *todo);

/** Whether planes, VLs or SLs mean something else in tables @p fwd. */
bool check_maps_differ(const struct ranks_map *m, const struct rl_fwd *fwd);

/** Digests of what leads to each destination: [nep]. */
void check_digest(const struct ranks_map *m, uint64_t *digest);

#endif /* CHECK_PROOF_H */
