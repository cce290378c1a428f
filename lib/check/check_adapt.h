/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_ADAPT_H
#define CHECK_ADAPT_H

/**
 * @file What packets of the adaptive plane may do [ROUTE-9]: where they get, and
 * with which SLs they may leave it there.
 */

#include "check_walk.h"

/** Packets of the adaptive plane to one destination. */
struct check_adapt {
	uint32_t *dist;	 /**< [ndev] links to the destination, or UINT32_MAX */
	uint32_t *order; /**< [ndev] devices, the nearest first */
	uint32_t n;	 /**< devices in order */
	uint32_t *src;	 /**< [ndev] a source whose packets get there */
	uint16_t *sls;	 /**< [ndev] a bit for each SL that they have there */
	uint16_t *begin; /**< [ndev] the same, of those from its own endpoints */
};

/** @return 0 or -ENOMEM */
int check_adapt_init(struct check_adapt *a, const struct rl_topo *t);
void check_adapt_free(struct check_adapt *a);

/**
 * Follows all packets of the plane to endpoint @p dst.
 * @return NULL, or why the plane is wrong: a static string; the source and
 *   destination are in the report
 */
const char *check_adapt_follow(struct check_run *r, struct check_adapt *a,
			       uint32_t dst);

#endif /* CHECK_ADAPT_H */
