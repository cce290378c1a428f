/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --parts: a fabric that failures have cut is routed part by part [ROUTE-3].
 * The tables of a part are computed with all that lies outside it marked
 * failed. Each device takes the tables of its part, and each part is judged by
 * itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route_app.h"
#include "say_error.h"

/* Endpoints of a part that are printed; the report has them all. */
#define PART_SHOWN 4

int
route_parts_find(struct route_app *app)
{
	struct rl_topo *t = &app->cfg.topo;
	int64_t n;

	app->part = calloc(t->ndev, sizeof(*app->part));
	app->failed = calloc(t->ndev, sizeof(*app->failed));
	n = app->part != NULL && app->failed != NULL ?
		    rl_topo_parts(t, app->part) : -ENOMEM;
	if (n < 0)
		return say_error(EXIT_UNUSABLE, "reflit-route: no memory for "
				 "the parts\n");
	for (uint32_t d = 0; d < t->ndev; d++)
		app->failed[d] = t->dev[d].failed;
	app->nparts = (uint32_t)n;
	return 0;
}

void
route_part_enter(struct route_app *app, uint32_t part)
{
	struct rl_topo *t = &app->cfg.topo;

	for (uint32_t d = 0; d < t->ndev && app->nparts > 1; d++)
		t->dev[d].failed |= app->part[d] != part;
}

void
route_part_leave(struct route_app *app)
{
	struct rl_topo *t = &app->cfg.topo;

	for (uint32_t d = 0; d < t->ndev && app->nparts > 1; d++)
		t->dev[d].failed = app->failed[d];
}

/* One part: its size, and its devices. */
static json_t *
part_report(const struct route_app *app, uint32_t part)
{
	const struct rl_topo *t = &app->cfg.topo;
	json_t *names = json_array();
	uint32_t switches = 0;
	size_t n;

	for (uint32_t d = 0; d < t->ndev; d++) {
		if (app->part[d] != part)
			continue;
		if (t->dev[d].kind == RL_DEV_SWITCH)
			switches++;
		else
			json_array_append_new(names,
					      json_string(t->dev[d].name));
	}
	n = json_array_size(names);
	printf("part %u: %u switches, %zu endpoints", part + 1, switches, n);
	for (size_t i = 0; i < n && i < PART_SHOWN; i++)
		printf("%s%s", i == 0 ? ": " : ", ",
		       json_string_value(json_array_get(names, i)));
	printf("%s%s\n", n > PART_SHOWN ? ", ..." : "",
	       n == 1 ? ": alone, nothing is routed to it" : "");
	return json_pack("{s:i,s:o}", "switches", (int)switches, "endpoints",
			 names);
}

void
route_parts_summary(struct route_app *app)
{
	json_t *parts = json_array();

	for (uint32_t p = 0; p < app->nparts; p++)
		json_array_append_new(parts, part_report(app, p));
	json_object_set_new(app->report, "parts", parts);
}

/* The devices of a part take its tables; all take those of the first. */
static void
part_take(struct route_app *app, uint32_t part, struct rl_route *r)
{
	struct rl_fwd *fwd = app->whole.fwd;

	if (part == 0) {
		app->whole = *r;
		app->whole.fwd = fwd;
		app->whole.priv = NULL;
	}
	for (uint32_t d = 0; d < r->ndev; d++)
		if (part == 0 || app->part[d] == part)
			fwd[d] = r->fwd[d];
	app->whole.vls = (uint8_t)rl_max_u64(app->whole.vls, r->vls);
	app->whole.detour_vls = (uint8_t)rl_max_u64(app->whole.detour_vls,
						    r->detour_vls);
}

static uint32_t
part_endpoints(const struct route_app *app, uint32_t part)
{
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t n = 0;

	for (uint32_t e = 0; e < t->nep; e++)
		n += app->part[t->ep_dev[e]] == part;
	return n;
}

int
route_parts_compute(struct route_app *app,
		    int (*route_one)(struct route_app *app))
{
	int ret = 0;

	app->part_route = calloc(app->nparts + 1u, sizeof(*app->part_route));
	app->whole.fwd = calloc(app->cfg.topo.ndev, sizeof(*app->whole.fwd));
	if (app->part_route == NULL || app->whole.fwd == NULL)
		return say_error(EXIT_UNUSABLE, "reflit-route: no memory for "
				 "the parts\n");
	/* Parts of fewer than two endpoints come last, and need no tables. */
	for (uint32_t p = 0; p < app->nparts && ret == 0 &&
			     (p == 0 || part_endpoints(app, p) > 1); p++) {
		app->route = NULL;
		route_part_enter(app, p);
		ret = route_one(app);
		route_part_leave(app);
		app->part_route[p] = app->route;
		if (ret == 0)
			part_take(app, p, app->route);
	}
	app->route = &app->whole;
	return ret;
}

void
route_parts_each(struct route_app *app, void (*look)(struct route_app *app))
{
	json_t *report = app->report;

	for (uint32_t p = 0; p < app->nparts; p++) {
		if (part_endpoints(app, p) < 2)
			break;
		printf("part %u:\n", p + 1);
		/* the report describes the largest part */
		app->report = p == 0 ? report : json_object();
		route_part_enter(app, p);
		look(app);
		route_part_leave(app);
		if (p != 0)
			json_decref(app->report);
	}
	app->report = report;
}

void
route_parts_free(struct route_app *app)
{
	for (uint32_t p = 0; app->part_route != NULL && p < app->nparts; p++)
		rl_route_free(app->part_route[p]);
	if (app->route == &app->whole)
		app->route = NULL;
	free(app->part_route);
	free(app->whole.fwd);
	free(app->part);
	free(app->failed);
}
