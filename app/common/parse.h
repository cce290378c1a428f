/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PARSE_H
#define PARSE_H

/**
 * @file
 * Numbers as people write them on command lines and at the prompt: decimal
 * digits, nothing before and nothing after. No signs, no hexadecimal, no
 * blanks, no "inf".
 */

#include <stdbool.h>
#include <stdint.h>

/** "50ms", "1.5s", "10us", "7ns"; at most an hour. @return 0, -EINVAL, -ERANGE */
int parse_time(const char *text, uint64_t *ns);

/** The same, and a plain number is nanoseconds. */
int parse_time_or_ns(const char *text, uint64_t *ns);

/** A whole number of min to max. @return 0, -EINVAL or -ERANGE */
int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *v);

/** "0.02", ".5", "1e-5": from min to max. @return 0, -EINVAL or -ERANGE */
int parse_rate(const char *text, double min, double max, double *v);

#endif /* PARSE_H */
