/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_H
#define CHANNEL_H

/**
 * @file
 * Opens the channel to other processes, and reports its state. Control thread.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "rl_base.h"

struct app;

/** Its state when it was last reported. */
struct channel_seen {
	bool away;
	char office[RL_NAME_MAX];
	char holds[RL_NAME_MAX]; /**< who has it now; "": no process */
	uint64_t members; /**< a bit for each process that was there */
	uint64_t due_ns; /**< when to look next */
	char why[RL_ERR_MAX]; /**< tables that could not be made */
};

/**
 * Before EAL: joins, if the fabric file names an etcd and wants a controller.
 * Prints errors. @return 0 or -EINVAL
 */
int channel_open(struct app *app);

/**
 * Periodically: prints on standard error when the store goes away or returns,
 * and which process has the controller. These changes, and processes that come
 * and go, are also events.
 */
void channel_step(struct app *app);

/** For `show controller`; prints nothing if there is no channel. */
void channel_show(struct app *app);

/** Adds `channel`: its state, and how often it failed. */
void channel_json(struct app *app, json_t *report);

#endif /* CHANNEL_H */
