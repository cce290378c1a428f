/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HALF_JSON_H
#define HALF_JSON_H

/**
 * @file
 * Halves of flows as JSON, which reflit-report joins.
 */

#include <jansson.h>

#include "half.h"

/** Control thread. JSON's numbers are signed: sums of digests are texts. */
json_t *half_hex(uint64_t v);

/** Control thread. An entry of a report's `flows`. */
json_t *half_json(const struct half *h, const char *src, const char *dst);

#endif /* HALF_JSON_H */
