/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TELEMETRY_H
#define TELEMETRY_H

/**
 * @file
 * `/reflit/...` on DPDK's telemetry socket [APP-2]: what a fabric is and does,
 * under the names of the fabric file. Other programs read it; lcores do
 * nothing for it.
 *
 * DPDK calls a thread of its own for each client. It reads counters as `show`
 * does, while the lcores go on. What the control thread changes in size
 * (events, failovers) is copied by telemetry_step() into a mirror behind a
 * lock; no lcore ever takes that lock.
 *
 * An answer of DPDK's has at most 16 KiB and 512 elements, so long lists come
 * in pages: `/reflit/links,128` begins with number 128, and `total` says how
 * many there are. Lists are columns: element i of each array belongs to the
 * same thing.
 */

#include "app.h"

/**
 * Control thread, after everything is open. Registers the commands.
 * @return 0; -ENOMEM; where EAL has no telemetry, 0 too
 */
int telemetry_open(struct app *app);

/**
 * Control thread, often. Brings the mirror up to date, and runs an order that
 * a client gave (only with --allow-orders).
 */
void telemetry_step(struct app *app);

/**
 * Control thread. No client's thread looks at devices from here to
 * telemetry_resume(): a device's state is thrown away, or begins anew. An
 * answer that is being made is waited for; it takes no other lock.
 */
void telemetry_pause(void);
void telemetry_resume(void);

/** Control thread, before what is shown is closed. Answers are empty then. */
void telemetry_close(void);

#endif /* TELEMETRY_H */
