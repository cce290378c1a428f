/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LEDGER_FILE_H
#define LEDGER_FILE_H

/**
 * @file
 * A ledger: the halves of flows of a process, in memory that outlives it
 * [PHY-3]. The head has a page of its own, and each entry as many as it needs.
 * Only reflit-report of the same build reads it.
 */

#include "half.h"

#define LEDGER_MAGIC "reflit ledger 2"
#define LEDGER_PAGE 4096u

struct ledger_head {
	char magic[16];
	uint32_t entry_bytes; /**< including the padding of its last page */
	uint32_t entries;
	uint64_t digest; /**< of the fabric file */
	char process[RL_NAME_MAX];
};

struct ledger_entry {
	char src[RL_NAME_MAX];
	char dst[RL_NAME_MAX];
	struct half half;
};

/** Bytes from one entry to the next. */
#define LEDGER_ENTRY_BYTES                                                     \
	((sizeof(struct ledger_entry) + LEDGER_PAGE - 1) / LEDGER_PAGE *       \
	 LEDGER_PAGE)

#endif /* LEDGER_FILE_H */
