/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_SOUND_H
#define REPORT_SOUND_H

/**
 * @file
 * Whether a report holds what it says under the keys that the merge reads: a
 * text or a negative number must not count as 0.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** @param err  @p len bytes: one line with @p name and the key, if it does not */
bool sound_report(const json_t *report, const char *name, char *err,
		  size_t len);

#endif /* REPORT_SOUND_H */
