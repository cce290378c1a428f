/* SPDX-License-Identifier: BSD-3-Clause */

/* A text that grows. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "case_priv.h"

#define ROOM 1024 /* that a piece of text never needs */

void
case_put(struct case_text *to, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (to->cap - to->len < ROOM) {
		const size_t cap = 2 * to->cap + 4 * ROOM;
		char *more = realloc(to->text, cap);

		to->bad |= more == NULL;
		if (more == NULL)
			return;
		to->text = more;
		to->cap = cap;
	}
	va_start(ap, fmt);
	n = vsnprintf(to->text + to->len, to->cap - to->len, fmt, ap);
	va_end(ap);
	RL_ASSERT(n >= 0 && (size_t)n < to->cap - to->len);
	to->len += (size_t)n;
}
