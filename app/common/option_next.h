/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTION_NEXT_H
#define OPTION_NEXT_H

#include <getopt.h>

/**
 * @file
 * getopt_long() for all programs. An error prints one line on standard error,
 * with the option that was probably meant. Control thread.
 *
 * @param program  its name, for the message
 * @return as getopt_long(): '?' after an error
 */
int option_next(const char *program, int argc, char *const argv[],
		const char *shorts, const struct option *longs);

#endif /* OPTION_NEXT_H */
