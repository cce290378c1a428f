/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAY_ERROR_H
#define SAY_ERROR_H

/** @file How a program that refuses something says why. */

#include <stdarg.h>
#include <stdio.h>

/** Any thread. Prints the reason on standard error. @return @p ret */
__attribute__((format(printf, 2, 3))) static inline int
say_error(int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	return ret;
}

#endif /* SAY_ERROR_H */
