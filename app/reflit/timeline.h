/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TIMELINE_H
#define TIMELINE_H

/**
 * @file
 * A run over time, for reports and pictures: the latencies of the packets that
 * arrived in each period (--timeline), and the steps that a command file
 * announces (`say`). All of it belongs to the control thread, which reads the
 * clients' histograms as `show` does; it costs lcores nothing.
 */

#include <jansson.h>
#include <stdint.h>

struct app;

/** One period, from the end of the one before it on. */
struct timeline_row {
	uint64_t at_ns; /**< its end, after the start of the run */
	uint64_t packets;
	uint64_t p50_ns;
	uint64_t p99_ns;
	uint64_t max_ns;
};

struct timeline_mark {
	uint64_t at_ns;
	char *text;
};

struct rl_hist;

struct timeline {
	uint64_t due_ns;
	struct rl_hist *last;	 /**< values at the last call */
	struct rl_hist *now;
	struct timeline_row *row;
	uint32_t nrows;
	struct timeline_mark *mark;
	uint32_t nmarks;
};

/** Most rows of a run: the last one counts the rest. */
#define TIMELINE_ROWS 20000u
#define TIMELINE_MARKS 1000u

/** Before the start. @return 0 or -ENOMEM; timeline_close() is due anyway */
int timeline_open(struct app *app);

/** Often. Ends a period when it is over. */
void timeline_step(struct app *app, uint64_t now_ns);

/** Prints @p text with its time, and keeps it as a step of the run. */
void timeline_say(struct app *app, const char *text);

/** Adds `timeline`, if it was asked for, and `steps`, if there are any. */
void timeline_json(const struct app *app, json_t *report);

void timeline_close(struct app *app);

#endif /* TIMELINE_H */
