/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

/**
 * @file
 * The documents that programs write: reports, dumps, tables. The check that
 * they can be written comes before anything starts, so that a campaign of
 * hours does not end without its report.
 *
 * The name "-" means standard output. A document there is alone: all lines for
 * people go to standard error instead.
 */

#include <jansson.h>
#include <stdio.h>

/**
 * Control thread, before any other call. Sets the head of every report:
 * `program`, `version`, `arguments` as they were given, `date` (UTC).
 */
void report_begin(const char *program, int argc, char *const argv[]);

/**
 * Control thread. Whether @p path can be written, as far as that is known
 * without touching it; NULL and "-" can. If not, one line on standard error
 * says why, in the name of @p program.
 * @return 0, or the -errno of it
 */
int report_check(const char *program, const char *path);

/**
 * Control thread, after report_check(). Whether the @p n documents go into
 * files of their own, none of which is one of the @p nin files that are read:
 * a typing error must not overwrite a fabric file. NULL paths are skipped;
 * several documents may go to one device.
 * @return 0; -EINVAL, after printing why
 */
int report_apart(const char *program, const char *const path[], unsigned int n,
		 const char *const in[], unsigned int nin);

/**
 * Control thread. The same for one document beside @p n others: one that begins
 * while a program runs.
 * @return why not; NULL: it has a file of its own
 */
const char *report_clash(const char *path, const char *const out[],
			 unsigned int n, const char *const in[],
			 unsigned int nin);

/**
 * Control thread, before anything is printed. If one of @p n paths is "-",
 * keeps standard output for that document and sends everything else to
 * standard error. NULL paths are skipped.
 * @return 0; -EINVAL if two ask for it, after printing why; -errno
 */
int report_claim_stdout(const char *program, const char *const path[],
			unsigned int n);

/**
 * Control thread. Opens @p path, or what "-" stands for, to write a document.
 * @return NULL with errno set
 */
FILE *report_open(const char *path);

/** Control thread. Ends it. @return 0 or -EIO: not all of it was written */
int report_close(FILE *f);

/**
 * Control thread. Writes @p report to @p path, an object with the head of
 * report_begin() before it; says on standard error if that fails. The report
 * stays the caller's.
 * @return 0 or -EIO
 */
int report_save(const char *program, const json_t *report, const char *path);

/**
 * Control thread. As report_save(), but the file is whole at any moment, the
 * old one or the new one, also after a crash or on a full disk. A link to it
 * stays a link, and its permissions stay. Not for "-".
 * @return 0 or -EIO
 */
int report_replace(const char *program, const json_t *report, const char *path);

/**
 * Control thread, at the end. Whether everything printed on standard output
 * was written; says so if not. @return 0 or -EIO
 */
int report_flush(const char *program);

#endif /* REPORT_FILE_H */
