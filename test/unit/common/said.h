/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAID_H
#define SAID_H

/* What a program says on standard output and standard error. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct said {
	char out[4000], err[4000];
	FILE *to[2];
	int was[2];
};

static inline void
said_begin(struct said *s)
{
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		s->to[i] = tmpfile();
		assert_non_null(s->to[i]);
		s->was[i] = dup(1 + i);
		dup2(fileno(s->to[i]), 1 + i);
	}
}

static inline void
said_end(struct said *s)
{
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		char *const text = i == 0 ? s->out : s->err;
		size_t n;

		dup2(s->was[i], 1 + i);
		close(s->was[i]);
		rewind(s->to[i]);
		n = fread(text, 1, sizeof(s->out) - 1, s->to[i]);
		text[n] = '\0';
		fclose(s->to[i]);
	}
}

#endif /* SAID_H */
