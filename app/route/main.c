/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-route: reads a fabric file, fails what it is told to, routes the
 * rest, and proves it. Wrong arguments are found before anything is computed;
 * a refusal has its own exit status.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"
#include "report_file.h"
#include "route_app.h"
#include "say_error.h"
#include "stop_signal.h"

/* Names of unreachable endpoints that are printed; the report has them all. */
#define UNREACHABLE_SHOWN 8

static int
read_fabric(struct route_app *app)
{
	const char *const path[] = { app->opt.dump, app->opt.dot,
				     app->opt.worst, app->opt.json };
	char err[RL_ERR_MAX + 512];
	const int ret =
		app->opt.parts ? rl_config_read_parts(app->opt.config, &app->cfg,
						      err, sizeof(err)) :
				 rl_config_read(app->opt.config, &app->cfg, err,
						sizeof(err));

	if (ret != 0)
		return say_error(EXIT_UNUSABLE, "%s\n", err);
	return report_apart("reflit-route", path, RL_ARRAY_SIZE(path),
			    (const char *const *)app->cfg.files,
			    app->cfg.nfiles) == 0 ? 0 : EXIT_UNUSABLE;
}

static int
mark_failures(struct route_app *app)
{
	char err[RL_ERR_MAX];

	for (unsigned int i = 0; i < app->opt.nfail; i++) {
		if (rl_topo_fail(&app->cfg.topo, app->opt.fail[i], err) == 0)
			continue;
		return say_error(EXIT_UNUSABLE, "reflit-route: --fail %s: %s\n",
				 app->opt.fail[i], err);
	}
	return 0;
}

/* Prefixes an error with the place that names the engine. */
static void
say_unusable(const struct route_app *app, const char *err)
{
	if (app->opt.engine != NULL || app->cfg.engine_line == 0)
		fprintf(stderr, "reflit-route: --engine: %s\n", err);
	else
		fprintf(stderr, "%s:%u: routing: %s\n",
			app->cfg.engine_file != NULL ? app->cfg.engine_file :
						       app->opt.config,
			app->cfg.engine_line, err);
}

static void
report_times(struct route_app *app, const char *key, const struct route_times *t)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_ns", key);
	route_set(app->report, name, t->wall_ns);
	snprintf(name, sizeof(name), "%s_cpu_ns", key);
	route_set(app->report, name, t->cpu_ns);
	if (app->opt.time)
		printf("time %s %.3f ms (cpu %.3f ms)\n", key,
		       (double)t->wall_ns / 1e6, (double)t->cpu_ns / 1e6);
}

static int
refused(struct route_app *app, const char *why)
{
	printf("refused: %s\n", why);
	json_object_set_new(app->report, "refused", json_string(why));
	return EXIT_REFUSED;
}

static int
compute(struct route_app *app)
{
	const struct rl_route_params params = route_params(app);
	char err[RL_ERR_MAX];
	struct route_times t;
	int ret;

	busy_begin("computing the tables", app->opt.progress);
	route_clock(&t);
	ret = rl_route_compute_with(&app->cfg.topo, &params, &app->route, err);
	route_elapsed(&t);
	busy_end();
	if (ret == 0 && !app->opt.update && app->cfg.levels > 1)
		ret = rl_route_levels(app->route, app->cfg.levels, err);
	if (ret == -EHOSTUNREACH)
		return refused(app, err);
	if (ret == -EINVAL)
		say_unusable(app, err);
	else if (ret != 0)
		fprintf(stderr, "reflit-route: %s\n", err);
	if (ret != 0)
		return EXIT_UNUSABLE;
	report_times(app, "compute", &t);
	return 0;
}

/*
 * The checker must pass every table that leaves this program. --verify prints
 * the proof; without it, tables that fail are refused like a fabric that the
 * engine can't route.
 */
static int
accept(struct route_app *app)
{
	char err[RL_ERR_MAX];
	struct route_times t;
	int ret;

	if (app->opt.verify)
		return 0;
	busy_begin("proving the tables", app->opt.progress);
	route_clock(&t);
	ret = rl_route_accept(app->route, &app->cfg.topo, NULL, err);
	route_elapsed(&t);
	busy_end();
	if (ret == -EHOSTUNREACH)
		return refused(app, err);
	if (ret == 0 && app->cfg.adaptive_given && app->route->adaptive &&
	    !app->route->adapts)
		return refused(app, app->route->plain_why);
	if (ret != 0)
		return say_error(EXIT_BROKEN, "reflit-route: %s\n", err);
	report_times(app, "accept", &t);
	return 0;
}

/* Endpoints without a working link; the others are routed. */
static void
unreachable(struct route_app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	json_t *names = json_array();
	uint32_t n = 0;

	for (uint32_t e = 0; e < t->nep; e++) {
		if (rl_topo_ep_there(t, e))
			continue;
		if (n++ < UNREACHABLE_SHOWN)
			printf("%s%s", n == 1 ? "unreachable " : ", ",
			       t->dev[t->ep_dev[e]].name);
		json_array_append_new(names, json_string(
						     t->dev[t->ep_dev[e]].name));
	}
	if (n > UNREACHABLE_SHOWN)
		printf(", ...");
	if (n != 0)
		printf(": %u of %u endpoints have no link that works\n", n,
		       t->nep);
	json_object_set_new(app->report, "unreachable", names);
}

/* Marks the failures of the command line now, and updates for them. */
static int
update(struct route_app *app)
{
	const uint32_t ndev = app->cfg.topo.ndev;
	bool *changed = calloc(ndev, sizeof(*changed));
	char err[RL_ERR_MAX] = "no memory";
	struct route_times t;
	uint32_t n = 0;
	const struct rl_route_params params = route_params(app);
	int ret = 0;

	if (app->opt.verify && rl_route_compute_with(&app->cfg.topo, &params,
						     &app->before, err) != 0)
		ret = EXIT_UNUSABLE;
	if (ret == 0)
		ret = mark_failures(app);

	if (ret != 0 || changed == NULL) {
		free(changed);
		return ret != 0 ? ret : EXIT_UNUSABLE;
	}
	busy_begin("updating the tables", app->opt.progress);
	route_clock(&t);
	ret = rl_route_update(app->route, &app->cfg.topo, changed, err);
	route_elapsed(&t);
	busy_end();
	for (uint32_t d = 0; d < ndev; d++)
		n += changed[d];
	free(changed);
	if (ret < 0)
		return refused(app, err);
	report_times(app, "update", &t);
	printf("%s, %u of %u devices changed\n",
	       ret == 0 ? "updated" : "recomputed", n, ndev);
	route_set(app->report, "changed_devices", n);
	return 0;
}

static void
summary(struct route_app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t up = 0, dead = 0;

	for (uint32_t l = 0; l < t->nlink; l++)
		up += rl_topo_link_up(t, l);
	for (uint32_t d = 0; d < t->ndev; d++)
		dead += t->dev[d].failed;
	printf("engine %s: %u switches (%u failed), %u endpoints, %u links "
	       "(%u not working); VLs: %u, and %u for detours\n",
	       app->route->engine, t->ndev - t->nep, dead, t->nep, t->nlink,
	       t->nlink - up, app->route->vls, app->route->detour_vls);
	json_object_set_new(app->report, "engine",
			    json_string(app->route->engine));
	route_set(app->report, "switches", t->ndev - t->nep);
	route_set(app->report, "failed_switches", dead);
	route_set(app->report, "endpoints", t->nep);
	route_set(app->report, "links", t->nlink);
	route_set(app->report, "working_links", up);
	route_set(app->report, "vls", app->route->vls);
	route_set(app->report, "detour_vls", app->route->detour_vls);
	unreachable(app);
	route_cables(app);
}

static void
look(struct route_app *app, void (*what)(struct route_app *app))
{
	if (app->nparts > 1)
		route_parts_each(app, what);
	else
		what(app);
}

/* Prints all that the options ask for, the proof last. */
static int
outputs(struct route_app *app)
{
	if (app->opt.dot != NULL && route_dot(app, app->opt.dot) != 0)
		return EXIT_UNUSABLE;
	if (app->opt.dump != NULL && route_dump(app, app->opt.dump) != 0)
		return EXIT_UNUSABLE;
	if (app->opt.worst != NULL && route_worst(app, app->opt.worst) != 0)
		return EXIT_UNUSABLE;
	if (app->opt.stats)
		look(app, route_stats);
	if (app->opt.detours)
		look(app, route_detours);
	if (app->before != NULL)
		route_mix(app);
	if (app->opt.verify)
		route_verify(app);
	return app->status;
}

/*
 * Computes tables of a fabric, or of a part of it, and has the checker pass
 * them.
 */
static int
route_whole(struct route_app *app)
{
	int ret = compute(app);

	if (ret == 0 && app->opt.update)
		ret = update(app);
	return ret != 0 ? ret : accept(app);
}

/* Reads the fabric, and routes it. */
static int
route_fabric(struct route_app *app)
{
	int ret = read_fabric(app);

	if (ret == 0 && !app->opt.update)
		ret = mark_failures(app);
	if (ret != 0)
		return ret;
	if (app->opt.sweep)
		return route_sweep(app);
	if (app->opt.parts)
		ret = route_parts_find(app);
	if (ret == 0)
		ret = app->nparts > 1 ? route_parts_compute(app, route_whole) :
					route_whole(app);
	if (ret != 0)
		return ret;
	summary(app);
	if (app->nparts > 1)
		route_parts_summary(app);
	return outputs(app);
}

static int
run(struct route_app *app)
{
	int ret = app->opt.opensm != NULL ? route_opensm(app, outputs) :
					    route_fabric(app);

	if (ret == EXIT_UNUSABLE || app->opt.json == NULL)
		return ret;
	route_set(app->report, "exit_status", (uint64_t)ret);
	return report_save("reflit-route", app->report, app->opt.json) == 0 ?
		       ret : EXIT_UNUSABLE;
}

int
main(int argc, char **argv)
{
	static struct route_app app;
	int ret;

	report_begin("reflit-route", argc, argv);
	if (route_opts_read(&app.opt, argc, argv) != 0)
		return EXIT_UNUSABLE;
	if (app.opt.help) {
		route_opts_help();
		return 0;
	}
	if (app.opt.version) {
		printf("reflit-route %s\n", RL_VERSION);
		return 0;
	}
	stop_catch(STOP_AGAIN_KILLS);
	app.report = json_object();
	ret = run(&app);
	json_decref(app.report);
	route_parts_free(&app);
	rl_route_free(app.route);
	rl_route_free(app.before);
	rl_config_free(&app.cfg);
	return report_flush("reflit-route") != 0 && ret == 0 ? EXIT_UNUSABLE :
							       ret;
}
