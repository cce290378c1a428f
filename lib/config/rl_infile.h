/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_INFILE_H
#define RL_INFILE_H

/**
 * @file Reads a whole text file, once, without waiting for a writer that may
 * never come. A pipe, a FIFO or a shell's <(...) with a writer is read to its
 * end; a FIFO without a writer is an immediate error.
 */

#include <stddef.h>
#include <stdint.h>

enum rl_infile_kind {
	RL_INFILE_ANY,	 /**< also pipes and devices */
	RL_INFILE_PLAIN, /**< plain files only */
};

/**
 * Control thread.
 *
 * @param max   most bytes
 * @param text  set on success: the caller's to free(); a zero byte follows it
 * @return 0 or -errno of the file; -ENOENT also for an empty name; -EISDIR: a
 *   folder, or not plain; -EPIPE: a FIFO without a writer; -EFBIG: more than @p
 *   max; -ENOMEM
 */
int rl_infile_read(const char *path, enum rl_infile_kind kind, size_t max,
		   char **text, size_t *len);

/**
 * Any thread. The meaning of such an error, in words that follow a file's name.
 */
const char *rl_infile_error(int err);

#endif /* RL_INFILE_H */
