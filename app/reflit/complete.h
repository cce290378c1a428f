/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMPLETE_H
#define COMPLETE_H

/**
 * @file
 * The next word of a prompt line: tab completes it as far as it is
 * unambiguous, then lists the choices; `?` lists them.
 *
 * Large fabrics have thousands of links, so a link is completed in two steps:
 * first a device and "-", then the links of that device. If a device stands
 * for one end of a link, only the two ends are offered.
 */

#include <stddef.h>

#include "app.h"

/** The choices that are being listed. Zeroed: none. */
struct complete {
	char **choice;
	unsigned int n;
	unsigned int cap;
};

/**
 * Control thread. As DPDK's line editor wants it.
 *
 * @param line   what stands before the cursor
 * @param to     @p size bytes for the answer
 * @param state  0: complete; -1: list; else as the last call left it
 * @return 0: nothing (more); 1: @p to is a row of choices, call again; 2: @p to
 *   is what to append to the line
 */
int complete_next(struct complete *c, const struct app *app, const char *line,
		  char *to, unsigned int size, int *state);

void complete_free(struct complete *c);

#endif /* COMPLETE_H */
