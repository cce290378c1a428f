/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SUSPECT_REPORT_H
#define SUSPECT_REPORT_H

/** @file Parts that altered flits, for reports. */

#include <jansson.h>

#include "rl_suspect.h"

/**
 * Control thread. The suspects of a fabric, the worst first.
 * @return an array, the caller's:
 *   [ { part, kind: "device" or "link", count, looked_flits,
 *       confidence_percent } ]
 */
json_t *suspects_json(const struct rl_fabric *f);

#endif /* SUSPECT_REPORT_H */
