/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_STORE_H
#define RXL_STORE_H

/**
 * @file
 * Outcomes by key, kept in a file of one JSON line each, so that a run that
 * was stopped goes on where it was. A line that can't be read, and any that
 * another build has written, is left aside: its case is run again.
 */

#include <stdio.h>

#include "case.h"

struct rxl_stored {
	char key[RXL_KEY_MAX];
	struct rxl_outcome outcome;
};

struct rxl_store {
	FILE *file; /**< NULL: nothing is kept */
	size_t n;
	size_t cap;
	size_t foreign; /**< lines of other builds, left aside */
	char build[20];
	struct rxl_stored *item;
};

/**
 * Any thread. What tells this build from any other: a hash of the program's
 * file, in hexadecimal; "unknown" where it can't be read.
 *
 * @param build  20 bytes
 */
void rxl_store_build(char *build);

/**
 * Main thread. Reads @p path if it is there, and opens it for more; NULL: an
 * empty store without a file. @p fresh: begins the file anew. Only lines of the
 * build @p build are taken.
 *
 * @return 0; -errno where the file can't be written
 */
int rxl_store_open(struct rxl_store *s, const char *path, const char *build,
		   bool fresh);

/** Main thread. */
void rxl_store_close(struct rxl_store *s);

/** One thread at a time. NULL where there is none. */
const struct rxl_outcome *rxl_store_find(const struct rxl_store *s,
					 const char *key);

/** One thread at a time. @return 0; -ENOMEM; -EIO where it can't be kept */
int rxl_store_add(struct rxl_store *s, const char *key,
		  const struct rxl_outcome *outcome);

#endif /* RXL_STORE_H */
