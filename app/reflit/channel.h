/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_H
#define CHANNEL_H

/**
 * @file
 * The channel to other processes, as the program opens it and speaks of it.
 * Control thread.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "rl_base.h"

struct app;

/** What was said of it last. */
struct channel_seen {
	bool away;
	char office[RL_NAME_MAX];
	char holds[RL_NAME_MAX]; /**< who has it now; "": nobody */
	uint64_t members; /**< a bit for each process that was there */
	uint64_t due_ns; /**< when to look next */
	char why[RL_ERR_MAX]; /**< tables that could not be made */
};

/**
 * Before EAL: joins, where the fabric file names an etcd and a controller is
 * wanted. Says what is wrong. @return 0 or -EINVAL
 */
int channel_open(struct app *app);

/**
 * Now and then: says on standard error when the store goes away or returns,
 * and who has the controller. All of it, and which processes come and go, is an
 * event, too.
 */
void channel_step(struct app *app);

/** For `show controller`; prints nothing where there is no channel. */
void channel_show(struct app *app);

/** Adds `channel`: how it stands, and how often it did not. */
void channel_json(struct app *app, json_t *report);

#endif /* CHANNEL_H */
