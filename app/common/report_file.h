/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

/**
 * @file
 * The files that programs write at their end. Whether one can be written is
 * asked before anything starts: a campaign of hours is not to end with the
 * news that its report has no place.
 */

#include <jansson.h>

/**
 * Control thread. Whether @p path can be written, as far as that is known
 * without touching it; NULL can. If not, one line on standard error says why,
 * in the name of @p program.
 * @return 0, or the -errno of it
 */
int report_check(const char *program, const char *path);

/**
 * Control thread. Writes @p report to @p path; says on standard error if that
 * fails. The report stays the caller's.
 * @return 0 or -EIO
 */
int report_save(const char *program, const json_t *report, const char *path);

#endif /* REPORT_FILE_H */
