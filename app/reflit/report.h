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

/** Control thread. A row of an event. */
void event_say(const struct app *app, const struct host_rec *rec,
	       struct facts *f);

/**
 * Control thread. The list `events`, the kept ones, oldest first, and
 * `events_before`, the number of earlier events.
 */
void events_say(const struct app *app, struct facts *f);

/**
 * Any thread. Frames of attached ports that a network leaves on their side, as
 * every bridge does: no loss.
 */
uint64_t report_filtered(const struct app *app);

/**
 * Control thread. How long packets of a flow of endpoint @p ep have waited for
 * an answer, while their receiver was reachable, in nanoseconds.
 */
uint64_t report_silent(const struct app *app, uint16_t ep,
		       const struct rl_ep_flow_info *f);

/** Control thread. The longest of these. */
uint64_t report_outage_now(const struct app *app);

/** Control thread. A short report to standard output. */
void report_print(const struct app *app);

/** The list `wires`: the ethdevs at the ends of links, what they counted. */
void wires_say(const struct app *app, struct facts *f);

/** Prints what drivers of wires dropped. */
void report_print_wires(const struct app *app);

#endif /* REPORT_H */
