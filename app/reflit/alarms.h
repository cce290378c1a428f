/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALARMS_H
#define ALARMS_H

/**
 * @file
 * What is wrong now: one list for `show alarms`, telemetry and the report. It is
 * worked out from the state of the fabric; only the time at which an alarm was
 * raised is kept. What was ordered is no alarm. An alarm that is raised or over
 * is an event, too.
 *
 * Control thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "alarm_kind.h"
#include "facts.h"

#define ALARM_WHERE_MAX 96
#define ALARM_WHY_MAX 512
/** A link that never trained has this long before it is an alarm. */
#define ALARM_GRACE_NS (1000000000ull)

struct app;

struct alarm {
	enum alarm_kind kind;
	uint32_t part; /**< which link, device, endpoint, process it is about */
	uint64_t since_ns; /**< host_now()'s time */
	char where[ALARM_WHERE_MAX];
	char why[ALARM_WHY_MAX];
};

/** Begins as zeros. */
struct alarms {
	struct alarm *now; /**< the worst first */
	uint32_t n;
	uint32_t cap;
	uint64_t due_ns;
	bool closed; /**< the fabric has ended: the list stays as it was */
};

/** Looks at the fabric now, and tells what has changed as events. */
void alarms_look(struct app *app);

/** Often: the same a few times a second. */
void alarms_step(struct app *app);

/** A row for each, in the list `alarms`. */
void alarms_say(const struct app *app, struct facts *f);

static inline const char *
alarm_why(const struct alarm *a)
{
	return a->why[0] != '\0' ? a->why : alarm_condition(a->kind);
}

void alarms_free(struct alarms *a);

#endif /* ALARMS_H */
