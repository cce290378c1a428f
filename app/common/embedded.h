/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EMBEDDED_H
#define EMBEDDED_H

/**
 * @file
 * Files that embed.py puts into a program at build time. A list of them ends
 * with a name of NULL.
 */

#include <stddef.h>
#include <string.h>

struct embedded {
	const char *name; /**< without its folder */
	const char *text; /**< len bytes, and one more: a zero */
	size_t len;
};

/** Any thread. NULL if no file has that name. */
static inline const struct embedded *
embedded_find(const struct embedded *list, const char *name)
{
	for (; list->name != NULL; list++)
		if (strcmp(list->name, name) == 0)
			return list;
	return NULL;
}

#endif /* EMBEDDED_H */
