/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STOP_SIGNAL_H
#define STOP_SIGNAL_H

/**
 * @file
 * How people and machines end a program early: Ctrl-C (SIGINT), SIGTERM, a
 * terminal that closes (SIGHUP), a reader that goes away (SIGPIPE). None of
 * them kills the program. It polls stop_asked() wherever it could end, and
 * ends with what it has.
 *
 * A SIGHUP that was ignored when the program began (nohup) stays ignored.
 * SIGPIPE counts once: what a program says at its end may meet the same closed
 * pipe.
 */

#include <stdbool.h>

enum stop_again {
	STOP_AGAIN_KILLS, /**< a second signal ends the program at once */
	STOP_AGAIN_ASKS,  /**< each signal asks again, see stop_forget() */
};

/** Control thread, before anything that has to be undone. */
void stop_catch(enum stop_again again);

/**
 * Control thread. Whether a signal ends a blocking system call: for foreign
 * code that would wait on.
 */
void stop_interrupts(bool on);

/** Any thread. The number of the signal that asked; 0: none did. */
int stop_asked(void);

/**
 * Control thread. From now on a signal ends the program at once, by its
 * default action, after one line: "stopped while " and @p doing, a static
 * string. NULL: signals ask again, as does one that came in between.
 */
void stop_at_once(const char *doing);

/** Control thread. Forgets that a signal asked: the next one asks again. */
void stop_forget(void);

#endif /* STOP_SIGNAL_H */
