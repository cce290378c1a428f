/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CABLING_H
#define CABLING_H

/**
 * @file
 * `--check-cabling` [PHY-6]: whether each wire of this process leads where the
 * fabric file says.
 */

struct app;

/**
 * Control thread, while the lcores run. Waits until all links train with their
 * peers or refuse them, or for --duration (10 s). Prints a line for each wire
 * that is wrong, or that all are right.
 *
 * @return EXIT_KEPT or EXIT_BROKEN
 */
int cabling_check(struct app *app);

#endif /* CABLING_H */
