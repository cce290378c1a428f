/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LEDGER_H
#define LEDGER_H

/**
 * @file
 * The ledger of a process of several [PHY-3]: what it knows of flows to and from
 * others, written down where a kill (-9) leaves it. It lies in /dev/shm, so that
 * no lcore ever waits for a disk; a link beside the report, NAME.json.ledger,
 * leads there. A process that ends by itself has a report, and takes its ledger
 * away. One that starts keeps what an earlier life left: NAME.json.ledger.1 is
 * the first such.
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
 * Control thread. Begins a ledger beside the report @p json; says on standard
 * error why there is none.
 */
void ledger_open(struct ledger *l, const char *json, const char *process,
		 uint64_t digest);

/** Control thread. @return room for a half of a flow, zeroed; NULL: none */
struct half *ledger_half(struct ledger *l, const char *src, const char *dst);

/** Control thread, after the lcores: takes the ledger away. */
void ledger_close(struct ledger *l);

#endif /* LEDGER_H */
