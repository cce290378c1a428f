/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONSOLE_H
#define CONSOLE_H

/**
 * @file
 * Lines that come by themselves (events, rates) while somebody may be typing:
 * the line that is being edited makes room, and is drawn again behind them.
 *
 * Control thread.
 */

#include <stdbool.h>
#include <stdio.h>

struct console {
	bool editing; /**< the cursor stands in a line of the prompt */
	bool redraw;  /**< ... which was overwritten */
};

/** Before lines that nobody asked for are printed on standard output. */
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
