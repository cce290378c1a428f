/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTER_REPORT_H
#define COUNTER_REPORT_H

/**
 * @file
 * Every counter of a fabric: summed by kind of object, and one by one for each
 * end of a link, each switch and each endpoint.
 */

#include <jansson.h>

#include "rl_fabric.h"

/** The counters of a port, a core or an endpoint, in the order of their enum. */
struct counter_kind {
	const char *const *name;
	unsigned int n;
};

extern const struct counter_kind counter_port, counter_core, counter_ep;

struct counter_sums {
	uint64_t port[RL_PORT_COUNTER_COUNT];
	uint64_t core[RL_CORE_COUNTER_COUNT];
	uint64_t ep[RL_EP_COUNTER_COUNT];
};

/**
 * Control thread. While the fabric runs, the values are of slightly different
 * moments.
 */
void counter_sums_of(const struct rl_fabric *f, struct counter_sums *sums);

/** Control thread. Sets port_counters, core_counters, endpoint_counters. */
void counter_sums_json(json_t *report, const struct counter_sums *sums);

/**
 * Control thread. Sets `links`, `switches` and `endpoints`: each under its
 * name in the fabric file, with its non-zero counters.
 *
 *   links: [ { link, ends: [ { device, port, state, counters: {} }, x 2 ] } ]
 *   switches: [ { switch, counters: {} } ]
 *   endpoints: [ { endpoint, counters: {}, core_counters: {} } ]
 */
void counter_parts_json(json_t *report, const struct rl_fabric *f);

#endif /* COUNTER_REPORT_H */
