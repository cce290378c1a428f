/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef METRICS_H
#define METRICS_H

/**
 * @file
 * All sources as metrics in the OpenMetrics text form [APP-8], as Prometheus
 * scrapes them: counters by the names of telemetry, states, alarms, latencies.
 *
 * Any thread.
 */

#include <stddef.h>

#include "tel_client.h"

#define METRICS_TYPE                                                           \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"

/**
 * Asks all sources. A source that does not answer has reflit_source_up 0, and no
 * other metric.
 * @return the text, *len bytes, freed by the caller; NULL: no memory
 */
char *metrics_text(struct tel *tel, size_t *len);

#endif /* METRICS_H */
