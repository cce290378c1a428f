/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROGRESS_H
#define PROGRESS_H

/**
 * @file
 * Progress of long work, and when it will end, on standard error: on a
 * terminal one line that is rewritten each second; elsewhere, if asked for, a
 * line every ten seconds. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /**< what is counted, in the plural */
	uint64_t all;
	uint64_t start_ns;
	uint64_t told_ns;
	bool on;
	bool terminal;
	bool told; /**< a line is on the terminal */
};

/** @p asked: also if standard error is no terminal. */
void progress_begin(struct progress *p, const char *what, uint64_t all,
		    bool asked);

/** @p done of all are done. Appends @p more, if it is not NULL. */
void progress_tell(struct progress *p, uint64_t done, const char *more);

/** Ends the line on a terminal. Call it before anything else is printed. */
void progress_end(struct progress *p);

/**
 * Writes the line's text into @p buf: "3 of 20 seeds, 1 min 5 s left".
 * @return buf
 */
char *progress_text(const struct progress *p, uint64_t done, uint64_t spent_ns,
		    char *buf, unsigned int len);

#endif /* PROGRESS_H */
