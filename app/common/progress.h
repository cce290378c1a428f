/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROGRESS_H
#define PROGRESS_H

/**
 * @file
 * How far long work is, and when it will end, on standard error: one line that
 * is written anew each second on a terminal; elsewhere, where it is asked for,
 * a line every ten seconds. One thread.
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
	bool told; /**< a line stands there */
};

/** @p asked: also where standard error is no terminal. */
void progress_begin(struct progress *p, const char *what, uint64_t all,
		    bool asked);

/** @p done of all are done; @p more is appended, NULL: nothing. */
void progress_tell(struct progress *p, uint64_t done, const char *more);

/** Ends the line on a terminal, before anything else is printed. */
void progress_end(struct progress *p);

/**
 * Writes the line's text into @p buf: "3 of 20 seeds, 1 min 5 s left".
 * @return buf
 */
char *progress_text(const struct progress *p, uint64_t done, uint64_t spent_ns,
		    char *buf, unsigned int len);

#endif /* PROGRESS_H */
