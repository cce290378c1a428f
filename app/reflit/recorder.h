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

#define RECORDER_FAULTS 2048 /* power of two */
#define RECORDER_TEXT 384 /* all noise of a direction takes some 300 */

struct app;
struct rl_inject_order;

struct recorder_fault {
	uint64_t t_ns;
	bool played; /**< a line of a fault file; else a note for people */
	char text[RECORDER_TEXT];
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

/** A fault of a whole link: "cut", "heal", "down", "drain", "up". */
void recorder_link(struct app *app, const char *what, uint32_t link);

/**
 * An order to the fault layer, for frames that leave @p end. Call it after the
 * state of the link (`injected`) is updated.
 */
void recorder_order(struct app *app, uint32_t link, unsigned int end,
		    const struct rl_inject_order *order);

/** All faults of a link end; those of its devices go on. */
void recorder_healed(struct app *app, uint32_t link);

/** Soft errors and poison of a device, of all directions that its packets leave by. */
void recorder_soft(struct app *app, uint32_t dev);

/**
 * A command that has succeeded. Commands about whole devices, planned changes
 * and the controller are recorded as text, see recorder.c.
 */
void recorder_command(struct app *app, const char *line);

/** A receiver stops or goes on: fault files cannot express that. */
void recorder_block(struct app *app, const char *endpoint, const char *vc,
		    bool on);

/** Clients start to send, or all have stopped. */
void recorder_traffic(struct app *app, bool on);

/** Often. Notices that pending cuts have happened. */
void recorder_step(struct app *app);

/** Writes a recording; prints errors. @return 0 or -errno */
int recorder_write(struct app *app, const char *path);

#endif /* RECORDER_H */
