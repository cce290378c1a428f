/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORDER_H
#define RECORDER_H

/**
 * @file
 * The flight recorder [APP-6]: all that was done to the fabric, as lines of a
 * fault file (docs/simulation.md), in a ring that keeps the last ones. A
 * recording holds them and the events of struct watch; `reflit-sim --replay`
 * replays it (docs/recording.md has the format).
 *
 * Control thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rl_fault.h"

#define RECORDER_FAULTS 2048 /* power of two */

struct app;

struct recorder_fault {
	uint64_t t_ns;
	struct rl_fault f;
	char note[16]; /**< for people, in its place; or empty */
};

struct recorder {
	struct recorder_fault fault[RECORDER_FAULTS];
	uint64_t nfaults;	   /**< ever */
	uint64_t traffic_start_ns; /**< 0: nothing was sent yet */
	uint64_t traffic_stop_ns;  /**< 0: it goes on */
};

/**
 * After the fabric file has been read: keeps its text. If it is not a plain
 * file there is none; with --record that is an error, which is printed.
 * @return 0 or -errno
 */
int recorder_open(struct app *app);
void recorder_close(struct app *app);

/** A fault that has been ordered. */
void recorder_fault(struct app *app, const struct rl_fault *f);

/** A fault of a whole link: CUT, HEAL, DOWN, DRAIN, UP. */
void recorder_link(struct app *app, enum rl_fault_kind kind, uint32_t link);

/** A command that has succeeded: devices, planned changes, the controller. */
void recorder_command(struct app *app, const char *line);

/** Clients start to send, or all have stopped. */
void recorder_traffic(struct app *app, bool on);

/** Often. Notices that pending cuts have happened. */
void recorder_step(struct app *app);

/** Writes a recording; prints errors. @return 0 or -errno */
int recorder_write(struct app *app, const char *path);

#endif /* RECORDER_H */
