/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_HUSH_H
#define RL_HUSH_H

/**
 * @file
 * What DPDK, its drivers and their libraries say on standard error while they
 * start and end: many lines where a user wants one. It is kept between two
 * calls, and the first line that says something can go into that one.
 */

#include <stdbool.h>
#include <stddef.h>

/** Room for the line that is kept. */
#define RL_HUSH_LINE 160

struct rl_hush {
	int save; /**< standard error, meanwhile */
	int keep; /**< what is said */
};

/** Control thread. Off: nothing is kept from now on (--log-level). */
void rl_hush_off(void);

/** Control thread. From here on nobody's words reach standard error. */
void rl_hush_begin(struct rl_hush *h);

/**
 * Control thread. They do again. @p line (RL_HUSH_LINE bytes) gets " (words)"
 * with the first that were said, without who said them, or "".
 *
 * @return line
 */
const char *rl_hush_end(struct rl_hush *h, char *line);

/**
 * Control thread. Why EAL could not start @p port: what was said of it between
 * the first pair of calls, into @p line as above, or "". Returns line.
 */
char *rl_hush_why(const char *port, char *line);

#endif /* RL_HUSH_H */
