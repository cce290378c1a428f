/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DELAY_REPORT_H
#define DELAY_REPORT_H

/**
 * @file
 * Latency and jitter by VC, as reports say them: for people and as JSON. Keys
 * that the contract names keep their form.
 */

#include <jansson.h>

#include "rl_delay.h"

/** Control thread. { "p50", "p99", "p999", "max" } in ns; the caller's. */
json_t *delay_quantiles(const struct rl_hist *h);

/**
 * Control thread. Sets latency_ns, jitter_ns and latency_by_vc of a report,
 * from one rl_delay for each of the RL_VCS VCs. Nothing where memory is out.
 */
void delay_json(json_t *report, const struct rl_delay *by_vc);

/** Control thread. Everything added up; calloc'd, NULL: no memory. */
struct rl_delay *delay_sum(const struct rl_delay *by_vc);

/** Control thread. A line for each VC that packets came by. */
void delay_print(const struct rl_delay *by_vc);

#endif /* DELAY_REPORT_H */
