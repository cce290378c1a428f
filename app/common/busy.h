/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BUSY_H
#define BUSY_H

/**
 * @file
 * Long computations in the libraries, which know neither signals nor a clock:
 * tables of a large fabric, their proof. While one runs, a stop signal ends
 * the program at once, with one line that names the computation. Standard
 * error tells how long it has run: each second on a terminal, elsewhere every
 * ten seconds if asked. Between the two calls nothing may be open that has to
 * be undone (devices, half-written files).
 */

#include <stdbool.h>

/**
 * Main thread. @p doing: "computing the tables", a static string.
 * @p asked: tell the time also if standard error is no terminal.
 */
void busy_begin(const char *doing, bool asked);

/** Main thread. Signals ask again, as stop_signal.h says. */
void busy_end(void);

#endif /* BUSY_H */
