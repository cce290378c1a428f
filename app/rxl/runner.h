/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_RUNNER_H
#define RXL_RUNNER_H

/**
 * @file
 * Runs the cases that the store does not know yet, several at a time, and
 * shows how far it is.
 */

#include "store.h"

struct rxl_plan {
	struct rxl_case *c;
	size_t n;
	size_t cap;
};

/** Main thread. Appends a copy of @p c; memory is taken for granted. */
void rxl_plan_add(struct rxl_plan *plan, const struct rxl_case *c);

/** Main thread. */
void rxl_plan_free(struct rxl_plan *plan);

/**
 * Main thread. Runs what @p store lacks of @p plan on @p jobs threads; with
 * @p progress tells standard error of it.
 *
 * @return 0, or the first error of a case or of the store
 */
int rxl_run(const struct rxl_plan *plan, struct rxl_store *store,
	    unsigned int jobs, bool progress);

#endif /* RXL_RUNNER_H */
