/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECOVERY_REPORT_H
#define RECOVERY_REPORT_H

/**
 * @file
 * What the controller did, for reports: the array `recoveries`.
 */

#include <jansson.h>

#include "rl_controller.h"

/** Any thread. Whether it ended without new tables. */
static inline bool
recovery_failed(const struct rl_recovery *r)
{
	return r->outcome == RL_OUTCOME_REFUSED ||
	       r->outcome == RL_OUTCOME_TIMEOUT;
}

/**
 * Control thread. @p n recoveries, at_ns counted from @p start_ns.
 * @return an array, the caller's
 */
json_t *recoveries_json(const struct rl_recovery *r, uint32_t n,
			const struct rl_topo *topo, uint64_t start_ns);

/** Control thread. A line for each, under a heading; at most @p most. */
void recoveries_print(const struct rl_recovery *r, uint32_t n,
		      const struct rl_topo *topo, uint64_t start_ns,
		      uint32_t most);

#endif /* RECOVERY_REPORT_H */
