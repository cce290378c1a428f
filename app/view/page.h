/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PAGE_H
#define PAGE_H

/**
 * @file
 * The files of the page, embedded by embed.py at build time.
 */

#include <stddef.h>

struct page_file {
	const char *url;  /**< NULL ends the list */
	const char *type; /**< Content-Type */
	const unsigned char *data;
	size_t len;
};

extern const struct page_file page_files[];

#endif /* PAGE_H */
