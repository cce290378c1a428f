/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONSOLE_H
#define CONSOLE_H

/**
 * @file
 * Prints lines (events, rates) while the user may be typing: erases the line
 * that is being edited, and draws it again below them.
 *
 * Control thread.
 */

#include <stdbool.h>
#include <stdio.h>

struct console {
	bool editing; /**< the user is editing a line of the prompt */
	bool redraw;  /**< ... which was overwritten */
};

/** Call before printing unsolicited lines on standard output. */
static inline void
console_begin(struct console *c)
{
	if (!c->editing || c->redraw)
		return;
	fputs("\r\x1b[K", stdout);
	c->redraw = true;
}

/** After them. */
static inline void
console_end(void)
{
	fflush(stdout);
}

#endif /* CONSOLE_H */
