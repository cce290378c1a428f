/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOURNAL_H
#define JOURNAL_H

/**
 * @file
 * Alarms in systemd's journal, each an entry with fields of its own [APP-9]: if
 * a unit started this program, so that its standard error is a stream there
 * (JOURNAL_STREAM of systemd.exec(5)). Else nothing is done.
 *
 * The protocol is the native one of the journal: a datagram of FIELD=value
 * lines. libsystemd would wait for a journal that does not read, and no alarm
 * may stop a fabric: such an entry is left out. `show alarms` has it anyway.
 *
 * Control thread.
 */

#include <stdbool.h>

#include "alarms.h"

/** MESSAGE_ID of all entries: `journalctl MESSAGE_ID=...` finds them. */
#define JOURNAL_ALARM "8b1f4a7c2d0e4f6f9a53c1e07d92b648"

/** Begins as zeros. */
struct journal {
	bool on;
	int fd;
};

void journal_open(struct journal *j);

/** @param what  "raised" or "over" */
void journal_alarm(const struct app *app, const struct alarm *a,
		   const char *what, const char *text);

void journal_close(struct journal *j);

#endif /* JOURNAL_H */
