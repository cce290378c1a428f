/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "report_file.h"

#define PERIOD_NS (60 * RL_NS_PER_S)

static const char *const lists[] = {
	[TALLY_PORT] = "ports", [TALLY_CORE] = "cores", [TALLY_EP] = "endpoints"
};

_Static_assert(COUNTS_UTC_MAX == APP_UTC_MAX, "one clock");

static void
each_part(struct app *app, tally_fn fn, void *ctx)
{
	for (uint32_t d = 0; d < app->cfg.topo.ndev; d++)
		if (!app->host.fabric.dev[d].foreign)
			tally_device(&app->cleared, &app->host, d, fn, ctx);
}

static void
go_on(void *ctx, const struct tally_part *p)
{
	json_t *list = json_object_get(ctx, lists[p->kind]);
	json_t *o = json_object_get(list, p->name);

	for (int i = 0; i < p->n; i++)
		p->then[i] -= (uint64_t)json_integer_value(
			json_object_get(o, tally_counter(p, i)));
}

static void
put(void *ctx, const struct tally_part *p)
{
	json_t *list = json_object_get(ctx, lists[p->kind]);
	json_t *o = json_object();

	for (int i = 0; i < p->n; i++)
		if (p->now[i] != p->then[i])
			(void)json_object_set_new(
				o, tally_counter(p, i),
				json_integer((json_int_t)(p->now[i] -
							  p->then[i])));
	(void)json_object_set_new(list, p->name, o);
}

static bool
is_list(const json_t *list)
{
	const char *key, *counter;
	json_t *part, *n;

	json_object_foreach((json_t *)(uintptr_t)list, key, part) {
		if (!json_is_object(part))
			return false;
		json_object_foreach(part, counter, n)
			if (!json_is_integer(n) || json_integer_value(n) < 0)
				return false;
	}
	return json_is_object(list);
}

/* Takes what is counts, and nothing else, out of a file. */
static int
take_over(struct counts *c, json_t *file)
{
	json_t *since = json_object_get(file, "since_utc");

	if (json_string_length(since) == 0 ||
	    json_string_length(since) >= sizeof(c->since_utc))
		return -EINVAL;
	for (unsigned int i = 0; i < RTE_DIM(lists); i++) {
		json_t *list = json_object_get(file, lists[i]);

		if (!is_list(list))
			return -EINVAL;
		(void)json_object_set(c->kept, lists[i], list);
	}
	snprintf(c->since_utc, sizeof(c->since_utc), "%s",
		 json_string_value(since));
	return 0;
}

/* Nothing was counted. */
static void
begin(struct app *app, uint64_t now_ns)
{
	struct counts *c = &app->counts;

	json_decref(c->kept);
	c->kept = json_object();
	for (unsigned int i = 0; i < RTE_DIM(lists); i++)
		(void)json_object_set_new(c->kept, lists[i], json_object());
	app_utc(app, now_ns, c->since_utc);
	c->due_ns = now_ns + PERIOD_NS;
}

int
counts_open(struct app *app)
{
	const char *path = app->opt.counts;
	int ret = -EINVAL;
	json_error_t why;
	json_t *file;

	begin(app, app->start_ns);
	if (path == NULL)
		return 0;
	if (tally_take(&app->cleared, &app->host) != 0) {
		fprintf(stderr, "reflit: no memory for --counts\n");
		return -ENOMEM;
	}
	if (access(path, F_OK) != 0)
		return counts_write(app);
	file = json_load_file(path, 0, &why);
	if (file == NULL)
		fprintf(stderr, "reflit: --counts %s:%d: %s\n", path, why.line,
			why.text);
	else if ((ret = take_over(&app->counts, file)) != 0)
		fprintf(stderr, "reflit: --counts %s: this is no file of "
				"counts\n", path);
	else
		each_part(app, go_on, app->counts.kept);
	json_decref(file);
	return ret;
}

int
counts_write(struct app *app)
{
	char new[PATH_MAX];
	json_t *all;
	int ret;

	if (app->opt.counts == NULL)
		return 0;
	each_part(app, put, app->counts.kept);
	all = json_copy(app->counts.kept);
	(void)json_object_set_new(all, "since_utc",
				  json_string(app->counts.since_utc));
	snprintf(new, sizeof(new), "%s.new", app->opt.counts);
	ret = report_save("reflit", all, new);
	json_decref(all);
	if (ret == 0 && rename(new, app->opt.counts) != 0) {
		fprintf(stderr, "reflit: cannot write %s: %s\n",
			app->opt.counts, strerror(errno));
		ret = -EIO;
	}
	return ret;
}

void
counts_step(struct app *app, uint64_t now_ns)
{
	if (now_ns < app->counts.due_ns)
		return;
	app->counts.due_ns = now_ns + PERIOD_NS;
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
