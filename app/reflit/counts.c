/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "json_set.h"
#include "report_file.h"
#include "say_error.h"

#define WHY_MAX 320

static const struct {
	const char *name;
	const struct counter_kind *kind;
} lists[] = { { "ports", &counter_port },
	      { "cores", &counter_core },
	      { "endpoints", &counter_ep } };

_Static_assert(COUNTS_UTC_MAX == APP_UTC_MAX, "one clock");

static void
each_part(struct app *app, tally_fn fn, void *ctx)
{
	for (uint32_t d = 0; d < app->cfg.topo.ndev; d++)
		if (!app->host.fabric.dev[d].foreign)
			tally_device(&app->cleared, &app->host, d, fn, ctx);
}

static json_t *
list_of(const struct app *app, const struct tally_part *p)
{
	unsigned int i = 0;

	while (lists[i].kind != p->kind)
		i++;
	return json_object_get(app->counts.kept, lists[i].name);
}

static void
go_on(void *ctx, const struct tally_part *p)
{
	json_t *o = json_object_get(list_of(ctx, p), p->name);

	for (unsigned int i = 0; i < p->kind->n; i++)
		p->then[i] -= (uint64_t)json_integer_value(
			json_object_get(o, p->kind->name[i]));
}

static void
put(void *ctx, const struct tally_part *p)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < p->kind->n; i++)
		if (p->now[i] != p->then[i])
			set(o, p->kind->name[i], p->now[i] - p->then[i]);
	(void)json_object_set_new(list_of(ctx, p), p->name, o);
}

/* Whether it is a list of counts; if not, why. */
static bool
is_list(const char *name, json_t *list, char why[WHY_MAX])
{
	const char *key, *counter;
	json_t *part, *n;

	snprintf(why, WHY_MAX, "no object '%s'", name);
	if (!json_is_object(list))
		return false;
	json_object_foreach(list, key, part) {
		snprintf(why, WHY_MAX, "%s: '%s' is no object", name, key);
		if (!json_is_object(part))
			return false;
		json_object_foreach(part, counter, n) {
			snprintf(why, WHY_MAX, "%s: '%s': '%s' is no count",
				 name, key, counter);
			if (!json_is_integer(n) || json_integer_value(n) < 0)
				return false;
		}
	}
	return true;
}

/* Takes what is counts, and nothing else, out of a file; or says why not. */
static bool
take_over(struct counts *c, const json_t *file, char why[WHY_MAX])
{
	json_t *since = json_object_get(file, "since_utc");

	snprintf(why, WHY_MAX, "no date 'since_utc'");
	if (json_string_length(since) == 0 ||
	    json_string_length(since) >= sizeof(c->since_utc))
		return false;
	for (unsigned int i = 0; i < RTE_DIM(lists); i++) {
		json_t *list = json_object_get(file, lists[i].name);

		if (!is_list(lists[i].name, list, why))
			return false;
		(void)json_object_set(c->kept, lists[i].name, list);
	}
	snprintf(c->since_utc, sizeof(c->since_utc), "%s",
		 json_string_value(since));
	return true;
}

/* @return 0; -EINVAL after saying why */
static int
read_file(struct counts *c, const char *path)
{
	char why[WHY_MAX];
	json_error_t error;
	json_t *file = json_load_file(path, 0, &error);
	bool good = false;

	if (file != NULL)
		good = take_over(c, file, why);
	else if (error.line > 0)
		snprintf(why, sizeof(why), "line %d: %s", error.line,
			 error.text);
	else
		snprintf(why, sizeof(why), "%s", error.text);
	if (!good)
		fprintf(stderr,
			"reflit: --counts %s: not a file of counts: %s\n", path,
			why);
	json_decref(file);
	return good ? 0 : -EINVAL;
}

static void
begin(struct app *app, uint64_t now_ns)
{
	struct counts *c = &app->counts;

	json_decref(c->kept);
	c->kept = json_object();
	for (unsigned int i = 0; i < RTE_DIM(lists); i++)
		(void)json_object_set_new(c->kept, lists[i].name,
					  json_object());
	app_utc(app, now_ns, c->since_utc);
	c->due_ns = now_ns + app->opt.counts_period_ns;
}

int
counts_open(struct app *app)
{
	const char *path = app->opt.counts;

	begin(app, app->start_ns);
	if (path == NULL)
		return 0;
	if (tally_take(&app->cleared, &app->host) != 0)
		return say_error(-ENOMEM, "reflit: no memory for --counts\n");
	if (access(path, F_OK) == 0) {
		if (read_file(&app->counts, path) != 0)
			return -EINVAL;
		each_part(app, go_on, app);
	}
	return counts_write(app);
}

int
counts_write(struct app *app)
{
	json_t *all;
	int ret;

	if (app->opt.counts == NULL)
		return 0;
	each_part(app, put, app);
	all = json_copy(app->counts.kept);
	(void)json_object_set_new(all, "since_utc",
				  json_string(app->counts.since_utc));
	ret = report_replace("reflit", all, app->opt.counts);
	json_decref(all);
	return ret;
}

void
counts_step(struct app *app, uint64_t now_ns)
{
	if (now_ns < app->counts.due_ns)
		return;
	app->counts.due_ns = now_ns + app->opt.counts_period_ns;
	(void)counts_write(app);
}

int
counts_clear(struct app *app)
{
	begin(app, host_now(&app->host));
	return counts_write(app);
}

void
counts_close(struct app *app)
{
	json_decref(app->counts.kept);
	app->counts.kept = NULL;
}
