/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMAND_SET_H
#define COMMAND_SET_H

/**
 * @file
 * The parser of commands, for command.c.
 */

#include <cmdline_parse.h>

#include "app.h"

#define COMMAND_WORD 128 /* characters a word may have, with its end */

struct bound;
struct cmdline;

struct command_set {
	struct app *app;
	cmdline_parse_ctx_t *ctx; /**< ended by NULL */
	struct bound *bound;
	struct cmdline *parser;	  /**< without a terminal */
	bool ran;		  /**< a command was understood */
	int result;		  /**< what its handler returned */
};

#endif /* COMMAND_SET_H */
