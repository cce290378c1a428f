/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LEDGER_JSON_H
#define LEDGER_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/**
 * @file
 * The ledger of a killed process, as the report that it did not write:
 * `process`, `digest`, `flows`, packets sent and received; `killed` is true.
 */

/**
 * Reads a ledger from the beginning of @p f, which may be a pipe. One whose
 * process runs is refused: what is under way is no loss.
 *
 * @param path    its name, for errors
 * @param is_one  whether the file is a ledger at all
 * @param err     @p len bytes, one line on failure
 * @return NULL if it is none, or is corrupt
 */
json_t *ledger_json(FILE *f, const char *path, int *is_one, char *err,
		    size_t len);

#endif /* LEDGER_JSON_H */
