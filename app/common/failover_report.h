/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAILOVER_REPORT_H
#define FAILOVER_REPORT_H

/**
 * @file
 * Failovers for reports and telemetry: the numbers of each, and their names.
 */

#include <jansson.h>

#include "rl_failover.h"

/** The keys of these numbers, in their order. */
#define FAILOVER_KEYS                                                          \
	"at_ns", "detect_ns", "first_rerouted_ns", "drained_ns",               \
	"looped_packets", "looped_flits", "looped_acked_flits"
#define FAILOVER_NUMBERS 7

/**
 * Any thread. The numbers of a failover, its time counted from @p start_ns
 * (rl_failover_span()).
 */
void failover_numbers(const struct rl_failover *f, uint64_t start_ns,
		      uint64_t v[FAILOVER_NUMBERS]);

/** Room for a name that failover_way() writes, in bytes. */
#define FAILOVER_WAY_MAX (2 * RL_NAME_MAX + 16)

/**
 * Any thread. Writes the name of the link by which the first flit of @p f left,
 * @p buf being of FAILOVER_WAY_MAX bytes; "-" if none did. Returns buf.
 */
char *failover_way(const struct rl_failover *f, const struct rl_topo *topo,
		   char *buf);

/**
 * Control thread. All failovers whose death is known, as the array `failovers`.
 * @return an array, the caller's
 */
json_t *failovers_json(const struct rl_failover *f, uint32_t n,
		       const struct rl_topo *topo, uint64_t start_ns);

#endif /* FAILOVER_REPORT_H */
