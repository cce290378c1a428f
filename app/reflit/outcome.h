/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OUTCOME_H
#define OUTCOME_H

/**
 * @file
 * Orders to the controller whose outcome comes later: the order is accepted, and
 * the recovery that carries it out may be refused, take too long, or never come
 * because the controller crashed. That is told where orders are given: as a line
 * at the prompt, as an event, and as an error of the next `wait recovered`.
 *
 * Control thread.
 */

#include <stdbool.h>
#include <stdint.h>

#define OUTCOME_ORDERS 64
#define OUTCOME_TEXT 448

struct app;

struct outcome_order {
	char text[96];	/**< as it was given: "device e1.1 remove" */
	uint32_t epoch; /**< tables newer than these take it into account */
	bool late;	/**< a timeout was told */
};

struct outcomes {
	struct outcome_order open[OUTCOME_ORDERS];
	uint32_t n;
	uint32_t seen; /**< recoveries of the log */
	bool waiting;  /**< `wait recovered` will tell what fails */
	char failed[OUTCOME_TEXT]; /**< and was not told by it; "": nothing */
};

/**
 * The controller has accepted "@p what @p verb", for the tables after those of
 * @p epoch. @p what may be "".
 */
void outcome_await(struct app *app, const char *what, const char *verb,
		   uint32_t epoch);

/** Often: tells what has failed since the last call. */
void outcome_step(struct app *app);

#endif /* OUTCOME_H */
