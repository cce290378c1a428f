/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "timeline.h"

static uint64_t
since_start(const struct app *app, uint64_t now_ns)
{
	return now_ns > app->start_ns ? now_ns - app->start_ns : 0;
}

int
timeline_open(struct app *app)
{
	struct timeline *t = &app->timeline;

	t->mark = calloc(TIMELINE_MARKS, sizeof(*t->mark));
	if (t->mark == NULL)
		return -ENOMEM;
	if (app->opt.timeline_ns == 0)
		return 0;
	t->last = calloc(1, sizeof(*t->last));
	t->now = calloc(1, sizeof(*t->now));
	t->row = calloc(TIMELINE_ROWS, sizeof(*t->row));
	if (t->last == NULL || t->now == NULL || t->row == NULL)
		return -ENOMEM;
	rl_hist_reset(t->last);
	return 0;
}

/*
 * Sets `since` to the growth since the last call, and `last` to the present
 * values. Lcores run meanwhile, so only buckets are used, which never fall.
 */
static void
take_difference(struct timeline *t)
{
	struct rl_hist *now = t->now, *last = t->last;

	now->count = 0;
	now->max = 0;
	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++) {
		const uint64_t n = now->bucket[i];

		now->bucket[i] -= last->bucket[i];
		last->bucket[i] = n;
		now->count += now->bucket[i];
		if (now->bucket[i] != 0)
			now->max = rl_hist_upper(i);
	}
}

void
timeline_step(struct app *app, uint64_t now_ns)
{
	struct timeline *t = &app->timeline;

	if (t->row == NULL || now_ns < t->due_ns || t->nrows == TIMELINE_ROWS)
		return;
	t->due_ns = now_ns + app->opt.timeline_ns;
	app_latency(app, t->now);
	take_difference(t);
	t->row[t->nrows++] = (struct timeline_row){
		.at_ns = since_start(app, now_ns),
		.packets = t->now->count,
		.p50_ns = rl_hist_quantile(t->now, 50000),
		.p99_ns = rl_hist_quantile(t->now, 99000),
		.max_ns = t->now->max,
	};
}

void
timeline_say(struct app *app, const char *text)
{
	const uint64_t at_ns = since_start(app, host_now(&app->host));
	struct timeline *t = &app->timeline;
	char *copy = t->nmarks < TIMELINE_MARKS ? strdup(text) : NULL;

	printf("%7.3f s  %s\n", (double)at_ns / 1e9, text);
	fflush(stdout);
	if (copy != NULL)
		t->mark[t->nmarks++] = (struct timeline_mark){ at_ns, copy };
}

void
timeline_json(const struct app *app, json_t *report)
{
	const struct timeline *t = &app->timeline;
	json_t *rows = json_array(), *steps = json_array();

	for (uint32_t i = 0; i < t->nrows; i++) {
		const struct timeline_row *r = &t->row[i];

		json_array_append_new(
			rows, json_pack("{s:I, s:I, s:{s:I, s:I, s:I}}",
					"at_ns", (json_int_t)r->at_ns,
					"packets", (json_int_t)r->packets,
					"latency_ns", "p50",
					(json_int_t)r->p50_ns, "p99",
					(json_int_t)r->p99_ns, "max",
					(json_int_t)r->max_ns));
	}
	for (uint32_t i = 0; i < t->nmarks; i++)
		json_array_append_new(steps,
				      json_pack("{s:I, s:s}", "at_ns",
						(json_int_t)t->mark[i].at_ns,
						"text", t->mark[i].text));
	if (t->row != NULL)
		json_object_set(report, "timeline", rows);
	if (t->nmarks != 0)
		json_object_set(report, "steps", steps);
	json_decref(rows);
	json_decref(steps);
}

void
timeline_close(struct app *app)
{
	struct timeline *t = &app->timeline;

	for (uint32_t i = 0; i < t->nmarks; i++)
		free(t->mark[i].text);
	free(t->mark);
	free(t->row);
	free(t->last);
	free(t->now);
	memset(t, 0, sizeof(*t));
}
