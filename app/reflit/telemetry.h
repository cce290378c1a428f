/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TELEMETRY_H
#define TELEMETRY_H

/**
 * @file
 * `/reflit/...` on DPDK's telemetry socket [APP-2]: structure and state of a
 * fabric, under the names of the fabric file. Other programs read it; it costs
 * lcores nothing.
 *
 * DPDK has a thread for each client. It reads counters as `show` does, while
 * the lcores run. telemetry_step() copies lists that the control thread
 * changes (events, failovers) into a mirror behind a lock; no lcore ever takes
 * that lock.
 *
 * An answer of DPDK's has at most 16 KiB and 512 elements, so long lists come
 * in pages: `/reflit/links,128` begins with number 128, and `total` says how
 * many there are. Lists are columns: element i of each array belongs to the
 * same thing.
 */

#include "app.h"

/**
 * Control thread, after everything is open. Registers the commands.
 * @return 0, also if EAL has no telemetry; -ENOMEM
 */
int telemetry_open(struct app *app);

/**
 * Control thread, often. Brings the mirror up to date, and runs an order that
 * a client gave (only with --allow-orders).
 */
void telemetry_step(struct app *app);

/**
 * Control thread. No client's thread reads devices from here to
 * telemetry_resume(), while a device's state is discarded or rebuilt. Waits
 * for an answer that is being made; that takes no other lock.
 */
void telemetry_pause(void);
void telemetry_resume(void);

/**
 * Control thread, before the objects that it reads are closed. Later answers
 * are empty.
 */
void telemetry_close(void);

#endif /* TELEMETRY_H */
