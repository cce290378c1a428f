/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_HUSH_H
#define RL_HUSH_H

/**
 * @file Captures the output of DPDK, its drivers and their libraries on
 * standard error while they start and end: many lines where a user wants one.
 * The first useful line can go into that one.
 */

#include <stdbool.h>
#include <stddef.h>

/** Room for that line. */
#define RL_HUSH_LINE 160

struct rl_hush {
	int save; /**< standard error, meanwhile */
	int keep; /**< the captured output */
};

/** Control thread. Off: captures nothing from now on (--log-level). */
void rl_hush_off(void);

/** Control thread. From here on no output reaches standard error. */
void rl_hush_begin(struct rl_hush *h);

/**
 * Control thread. Ends the capture. @p line (RL_HUSH_LINE bytes) gets "
 * (words)" with the first useful line, without its origin, or "".
 *
 * @return line
 */
const char *rl_hush_end(struct rl_hush *h, char *line);

/**
 * Control thread. Why EAL could not start @p port: the message about it from
 * the first capture, into @p line as above, or "". Returns line.
 */
char *rl_hush_why(const char *port, char *line);

#endif /* RL_HUSH_H */
