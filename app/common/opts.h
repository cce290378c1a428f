/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTS_H
#define OPTS_H

/**
 * @file
 * A program's options as a table: it parses the command line, and is what --help
 * prints, and so the manual page. Control thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opt {
	const char *name; /**< without dashes */
	const char *arg;  /**< as --help calls it; NULL: there is none;
			       "[...]": it may be left out */
	/**
	 * Reads @p arg into @p to, the program's options; NULL: sets a bool.
	 * @return 0; -EINVAL not understood; -ERANGE; -EBADMSG: it has said on
	 *   standard error what is wrong
	 */
	int (*read)(const struct opt *o, const char *arg, void *to);
	size_t at;	   /**< of the field that it sets */
	uint64_t min, max; /**< what a number or a time may be; max 0: any time */
	const char *want;  /**< after an error; NULL: a number of min to max */
	const char *help;  /**< lines; NULL: another line tells of it */
	char letter; /**< its short form, if it takes no argument; 0: none */
	const char *above; /**< heading of it and of those that follow; or NULL */
};

struct opts {
	const char *program;
	const char *usage; /**< all that --help prints above the options */
	const char *more;  /**< and below */
	const struct opt *table; /**< ends with a name NULL */
	int column;	   /**< where the text of an option begins */
	bool give;	   /**< errors end with "give ...", not "...; use ..." */
};

/**
 * Reads all options of @p argv into @p to; says on standard error what is wrong.
 * @return index of the first word that is none, which is behind all options;
 *   -EINVAL
 */
int opts_read(const struct opts *p, int argc, char **argv, void *to);

/** Prints the help to standard output. */
void opts_help(const struct opts *p);

/* Functions for struct opt.read, by the type of the field that they set. */
int opt_text(const struct opt *o, const char *arg, void *to); /* const char * */
int opt_u32(const struct opt *o, const char *arg, void *to);
int opt_u64(const struct opt *o, const char *arg, void *to);
int opt_rate(const struct opt *o, const char *arg, void *to); /* double */
int opt_time(const struct opt *o, const char *arg, void *to); /* uint64_t ns */
/** The same, and a plain number is nanoseconds. */
int opt_time_or_ns(const struct opt *o, const char *arg, void *to);

#endif /* OPTS_H */
