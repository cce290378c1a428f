/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_FILES_H
#define RUN_FILES_H

/**
 * @file
 * The files that a run reads and writes, from its options, its fabric file, its
 * ports and its captures: none of them may be written over.
 */

struct app;

/**
 * Control thread, once the fabric file was read. Whether every document has a
 * file of its own; prints why not. @return 0, -EINVAL, -ENOMEM
 */
int run_files_check(const struct app *app);

/**
 * Control thread. Whether a command may write @p path now; if not, says so as
 * app_error() does. @return 0, -EINVAL, -ENOMEM
 */
int run_files_may_write(struct app *app, const char *path);

#endif /* RUN_FILES_H */
