/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROMPT_H
#define PROMPT_H

/**
 * @file
 * The prompt: runs standard input as commands, until it ends or `quit`. A
 * terminal has completion (tab), history (arrows) and `?`; other input runs
 * line by line, like a command file.
 */

#include "app.h"

/** Control thread. The fabric works meanwhile. */
void prompt_run(struct app *app);

#endif /* PROMPT_H */
