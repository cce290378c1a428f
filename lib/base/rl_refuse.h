/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_REFUSE_H
#define RL_REFUSE_H

/** @file How a function that refuses something says why. */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/** Any thread. Writes the reason to @p err, of @p len bytes. @return @p ret */
__attribute__((format(printf, 4, 5))) static inline int
rl_refuse(char *err, size_t len, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, len, fmt, ap);
	va_end(ap);
	return ret;
}

#endif /* RL_REFUSE_H */
