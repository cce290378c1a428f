/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTS_H
#define COUNTS_H

/**
 * @file
 * Counters that outlive the process (--counts FILE): a JSON file of what every
 * port, core and endpoint has counted since a date, the last `clear counters` or
 * the first run with that file. It is written at the start, at the end, after
 * `clear counters`, and once in each --counts-period, always as a whole: a
 * process that is killed loses what it counted since. A port is known by its link
 * and its device, because editing a fabric file numbers ports anew. What the file
 * says of parts that the fabric no longer has stays there.
 *
 *   { since_utc, ports: { "s0-s1#0 s0": { rx_bad: 3, ... } }, cores: {},
 *     endpoints: {} }
 *
 * Control thread.
 */

#include <jansson.h>
#include <stdint.h>

#define COUNTS_UTC_MAX 32

struct app;

struct counts {
	json_t *kept; /**< the file as it was read or written last; or NULL */
	uint64_t due_ns;
	char since_utc[COUNTS_UTC_MAX];
};

/**
 * Before lcores start: counters go on from what FILE says, if there is one, and
 * it is written, so that a place that cannot be written is known now. Does
 * nothing without --counts. @return 0; -EINVAL, -EIO, -ENOMEM after saying why
 */
int counts_open(struct app *app);

/** Counting begins again now. @return 0 or -EIO, as counts_write() */
int counts_clear(struct app *app);

/** Writes FILE if it is time. */
void counts_step(struct app *app, uint64_t now_ns);

/** Writes FILE; says so if that fails. @return 0 or -EIO */
int counts_write(struct app *app);

void counts_close(struct app *app);

#endif /* COUNTS_H */
