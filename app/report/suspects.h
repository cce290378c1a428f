/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SUSPECTS_H
#define SUSPECTS_H

/** @file The suspects of all processes of a fabric, put together. */

#include <jansson.h>

/**
 * Adds up the counts of each part that a report names: the two ends of a link may
 * have been looked at by two processes. The worst comes first.
 * @return an array as each report has it, the caller's
 */
json_t *suspects_merge(json_t *const report[], unsigned int n);

#endif /* SUSPECTS_H */
