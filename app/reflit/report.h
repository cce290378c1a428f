/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

/**
 * @file
 * The result of a run: a few lines for people, and the JSON report whose keys
 * scripts rely on (docs/prompt.md lists them).
 */

#include <jansson.h>

#include "app.h"

/** Control thread, after the traffic. Writes the JSON report. @return 0 or
 * -errno */
int report_json(struct app *app, const char *path);

/**
 * Control thread. Sets `events`, the kept ones, oldest first, and
 * `events_before`, the number of earlier events.
 */
void report_events(json_t *report, const struct app *app);

/**
 * Any thread. Frames of attached ports that a network leaves on their side, as
 * every bridge does: no loss.
 */
uint64_t report_filtered(const struct app *app);

/** Control thread. A short report to standard output. */
void report_print(const struct app *app);

/**
 * Adds `process`, `processes`, `digest`, and `flows`: what this process knows
 * of flows to other processes, for reflit-report.
 */
void report_flows(json_t *report, const struct app *app);

/** Adds `wires`: the ethdevs at the ends of links, and what they counted. */
void report_wires(json_t *report, const struct app *app);

/** Prints what drivers of wires dropped. */
void report_print_wires(const struct app *app);

#endif /* REPORT_H */
