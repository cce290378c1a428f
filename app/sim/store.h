/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STORE_H
#define STORE_H

/**
 * @file
 * What a campaign has found so far [SIM-1]: a file of lines, each a JSON object.
 * The first says which campaign it is; each other one is the result of a block
 * of seeds, written at once. A file whose writer was killed ends in half a line
 * at worst, which the next writer takes away. Blocks stand in any order, and a
 * block is the same line whoever has run it. Control thread.
 */

#include <stdio.h>

#include "tally.h"

struct store {
	const char *path;
	int fd;			/**< -1: only read */
	FILE *copy;		/**< of fd, which holds the lock as well */
	struct tally_of of;	/**< the whole campaign */
	uint64_t block;		/**< seeds of a block */
	uint64_t blocks;
	char **line;		/**< [blocks] the result of each, or NULL */
	uint64_t done;		/**< blocks that have one */
};

/**
 * Opens a store for writing, alone; makes it where there is none. @p of: the
 * campaign; seeds 0 and @p block 0: as many as the store says, or 10000 and 100.
 * @return 0; -EINVAL with a line on standard error
 */
int store_open(struct store *s, const char *path, const struct tally_of *of,
	       uint64_t block);

/** Reads a store. @return 0; -EINVAL with a line on standard error */
int store_read(struct store *s, const char *path);

/** Adds a block to an open store. @return 0 or -errno */
int store_add(struct store *s, uint64_t block, const struct tally *t,
	      uint64_t hash);

/** Takes over the blocks of another store. @return as store_read() */
int store_merge(struct store *to, const struct store *from);

/** Adds up all blocks. @p t: see tally_read(). @return as store_read() */
int store_sum(const struct store *s, struct tally *t);

/** Writes all of it, blocks in their order. @return 0 or -EIO, which it says */
int store_write(const struct store *s, const char *path);

/** Frees it; a zeroed one with fd -1 is fine. */
void store_close(struct store *s);

/** First seed of a block, counted from the campaign's first, and how many. */
static inline uint64_t
store_seeds(const struct store *s, uint64_t block, uint64_t *n)
{
	const uint64_t first = block * s->block;

	*n = rl_min_u64(s->block, s->of.seeds - first);
	return first;
}

#endif /* STORE_H */
