/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROMPT_H
#define PROMPT_H

/**
 * @file
 * The prompt: standard input as commands, until it ends or `quit`. On a
 * terminal with completion (tab), history (arrows) and `?`; else line by line,
 * as a command file.
 */

#include "app.h"

/** Control thread. The fabric works meanwhile. */
void prompt_run(struct app *app);

#endif /* PROMPT_H */
