/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_LINES_H
#define RL_LINES_H

/**
 * @file Reads a text line by line, and parses the front of a line. Any thread;
 * allocates nothing, and does not change the text.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** A text that is being read. */
struct rl_lines {
	const char *p;
	const char *end;
	uint32_t line; /**< number of the line last read, from 1 */
};

/**
 * Copies the next line into @p buf, without its end, as a string.
 * @return 1; 0 at the end of the text; -1 if the line does not fit into @p len
 *   bytes or contains a zero byte
 */
static inline int
rl_lines_next(struct rl_lines *l, char *buf, size_t len)
{
	const size_t left = (size_t)(l->end - l->p);
	const char *nl;
	size_t n;

	if (left == 0)
		return 0;
	nl = (const char *)memchr(l->p, '\n', left);
	n = nl != NULL ? (size_t)(nl - l->p) : left;
	l->line++;
	if (n >= len || memchr(l->p, '\0', n) != NULL)
		return -1;
	memcpy(buf, l->p, n);
	if (n > 0 && buf[n - 1] == '\r')
		n--;
	buf[n] = '\0';
	l->p = nl != NULL ? nl + 1 : l->end;
	return 1;
}

/** The first non-blank character. */
static inline const char *
rl_skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/** Takes @p word off the front. @return whether it was there */
static inline bool
rl_take_word(const char **p, const char *word)
{
	const size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0)
		return false;
	*p += n;
	return true;
}

/**
 * Takes a number off the front, base 10 or 16 (with or without 0x).
 * @return whether one of at most @p max was there
 */
static inline bool
rl_take_number(const char **p, unsigned int base, uint64_t max, uint64_t *v)
{
	const char *at = *p;
	bool any = false;

	if (base == 16 && at[0] == '0' && (at[1] | 32) == 'x')
		at += 2;
	*v = 0;
	for (;; at++) {
		const unsigned int c = (unsigned char)*at;
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (base == 16 && (c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (c | 32) - 'a' + 10;
		else
			break;
		if (*v > (max - digit) / base)
			return false;
		*v = *v * base + digit;
		any = true;
	}
	*p = at;
	return any;
}

#endif /* RL_LINES_H */
