/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DRIVER_H
#define DRIVER_H

/**
 * @file
 * Programs in Python that lie beside a program, where it is built and where it
 * is installed. Main thread; one at a time.
 */

#include <jansson.h>

/**
 * The words that start one: python3 -B FOLDER/FILE, and behind them the path of
 * this program. Standard files that are closed are opened, as empty ones that take
 * nothing.
 *
 * @param who        for an error, on standard error
 * @param built      its folder, from that of this program: in the build folder
 * @param installed  the same, when installed
 * @param room       how many words the caller is to add
 * @param n          set: how many words there are
 * @return for execvp(), ended by NULLs, freed by the caller; NULL: it has said
 *   why
 */
char **driver_args(const char *who, const char *built, const char *installed,
		   const char *file, int room, int *n);

/** After execvp() of them: says why that failed. */
void driver_failed(const char *who);

/**
 * Asks one: it reads @p question (JSON) from the file that its second argument
 * names, and writes its answer to that which its third names, behind which the
 * @p n_words @p words follow. Its standard files are those of this program. A
 * signal that stop_catch() has caught is sent on to it.
 *
 * @param answer  set: for the caller to json_decref(); NULL: there is none
 * @return its exit status; -1: there is none, or no answer to it. It has said
 *   why
 */
int driver_ask(const char *who, const char *built, const char *installed,
	       const char *file, char *const words[], int n_words,
	       const json_t *question, json_t **answer);

#endif /* DRIVER_H */
