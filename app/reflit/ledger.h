/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LEDGER_H
#define LEDGER_H

/**
 * @file
 * The ledger of one of several processes [PHY-3]: what it knows of flows to
 * and from others, in memory that survives a kill (-9). It lies in /dev/shm,
 * so that no lcore ever waits for a disk; a link beside the report,
 * NAME.json.ledger, leads there. A process that ends by itself writes a report
 * and removes its ledger. A process that starts keeps older ledgers:
 * NAME.json.ledger.1 is the first.
 */

#include <limits.h>

#include "ledger_file.h"

struct ledger {
	int fd; /**< -1: there is none */
	struct ledger_head *head;
	char path[64];
	char link[PATH_MAX];
};

/**
 * Control thread. Creates a ledger beside the report @p json, and locks it while
 * this process lives; prints on standard error if it can't.
 *
 * @return 0; -EBUSY if a process that lives has a ledger there
 */
int ledger_open(struct ledger *l, const char *json, const char *process,
		uint64_t digest, char *err, size_t err_bytes);

/** Control thread. @return room for a half of a flow, zeroed; NULL: none */
struct half *ledger_half(struct ledger *l, const char *src, const char *dst);

/** Control thread, after the lcores have stopped: removes the ledger. */
void ledger_close(struct ledger *l);

#endif /* LEDGER_H */
