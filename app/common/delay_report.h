/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DELAY_REPORT_H
#define DELAY_REPORT_H

/**
 * @file
 * Latency and jitter by VC for reports, as text and as JSON. Keys that the
 * contract names keep their form.
 */

#include <jansson.h>

#include "rl_delay.h"

/**
 * Control thread. Sets latency_ns, jitter_ns and latency_by_vc of a report,
 * from one rl_delay for each of the RL_VCS VCs. Sets nothing if memory is
 * exhausted.
 */
void delay_json(json_t *report, const struct rl_delay *by_vc);

/** Control thread. The sum of all VCs; the caller frees it. NULL: no memory. */
struct rl_delay *delay_sum(const struct rl_delay *by_vc);

/** Control thread. A line for each VC that packets came by. */
void delay_print(const struct rl_delay *by_vc);

#endif /* DELAY_REPORT_H */
