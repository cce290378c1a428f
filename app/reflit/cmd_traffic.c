/* SPDX-License-Identifier: BSD-3-Clause */

/* Commands about traffic, and about waiting for it. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "parse.h"

#define WAIT_LIMIT_NS (30 * RL_NS_PER_S)
#define STEP_NS (200 * RL_NS_PER_US)

int
cmd_switch(struct app *app, const char *const arg[])
{
	const char *name = arg[0];
	const bool on = app->with;
	struct attach_dev *d;
	struct client_gen *g;
	uint32_t dev = 0;
	int ret = 0;

	if (name == NULL) {
		app_traffic(app, on);
		return 0;
	}
	if (command_find_endpoint(app, name, &dev) != 0 ||
	    command_here(app, dev) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	d = attach_find(&app->attach, dev);
	g = gens_find(&app->gens, dev);
	if (d != NULL)
		client_dev_run(&d->client, on);
	else if (g != NULL)
		ret = gens_order(&app->gens, g, on);
	else
		return app_error(app, "%s only receives", name);
	if (ret != 0)
		return app_error(app, "%s: its lcore does not answer", name);
	if (on)
		recorder_traffic(app, true);
	return 0;
}

int
cmd_rate(struct app *app, const char *const arg[])
{
	uint32_t dev = 0;
	uint64_t pps;

	if (command_find_endpoint(app, arg[0], &dev) != 0 ||
	    command_here(app, dev) != 0)
		return -EINVAL;
	if (!command_attached(app, arg[0]))
		return app_error(app, "no port is attached to %s; for "
				      "generators there is `traffic load`",
				 arg[0]);
	if (parse_number(arg[1], 0, 1000000000, &pps) != 0)
		return app_error(app, "rate %s is out of range; use 0 to "
				      "1000000000 packets a second",
				 arg[1]);
	if (!app->checking)
		client_dev_rate(&attach_find(&app->attach, dev)->client, pps);
	return 0;
}

/* @return 0 if this process has generators, else -EINVAL and has said so */
static int
have_generators(struct app *app)
{
	if (app->cfg.nprocess == 0)
		return 0;
	return app_error(app, "generators stay within one process; here attached "
			      "ports are the clients");
}

int
cmd_traffic_pattern(struct app *app, const char *const arg[])
{
	const int kind = rl_pattern_parse(arg[0]);
	char words[256];
	int ret;

	if (have_generators(app) != 0)
		return -EINVAL;
	if (kind < 0)
		return app_error(app, "there is no pattern %s; use %s", arg[0],
				 rl_pattern_words(words, sizeof(words)));
	ret = gens_pattern_fits(&app->cfg, (enum rl_pattern_kind)kind,
				app->opt.seed);
	if (ret == 0 && !app->checking)
		ret = gens_pattern(&app->gens, (enum rl_pattern_kind)kind);
	if (ret == -ENOTSUP)
		return app_error(app, "only uniform goes where ports are "
				      "attached");
	if (ret != 0)
		return app_error(app, "%s does not suit this fabric: it needs "
				      "%s", arg[0],
				 rl_pattern_needs((enum rl_pattern_kind)kind));
	return 0;
}

int
cmd_traffic_load(struct app *app, const char *const arg[])
{
	double v;

	if (have_generators(app) != 0)
		return -EINVAL;
	if (parse_rate(arg[0], 0, 1000, &v) != 0)
		return app_error(app, "load %s is out of range; use 0 to 1000 "
				      "flits per us",
				 arg[0]);
	if (!app->checking)
		app->gens.plan.load = v;
	return 0;
}

int
cmd_traffic_packets(struct app *app, const char *const arg[])
{
	uint64_t v;

	if (have_generators(app) != 0)
		return -EINVAL;
	if (parse_number(arg[0], 0, UINT64_MAX, &v) != 0)
		return app_error(app, "%s is not a number of packets", arg[0]);
	if (!app->checking)
		app->gens.plan.packets = v;
	return 0;
}

int
command_wait_limit(struct app *app, const char *text, uint64_t *ns)
{
	*ns = WAIT_LIMIT_NS;
	if (text != NULL && parse_time(text, ns) != 0)
		return app_error(app, "%s is not a time; use 10us, 50ms or 2s, at "
				      "most 3600s",
				 text);
	return 0;
}

int
cmd_wait_time(struct app *app, const char *const arg[])
{
	uint64_t ns, end_ns, now_ns;

	if (command_wait_limit(app, arg[0], &ns) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	end_ns = host_now(&app->host) + ns;
	while ((now_ns = host_now(&app->host)) < end_ns && stop_asked() == 0)
		app_step(app, rl_min_u64(STEP_NS, end_ns - now_ns));
	return 0;
}

int
cmd_wait_drained(struct app *app, const char *const arg[])
{
	char role[HOST_ROLE_NAME];
	const char *busy;
	uint64_t ns;

	if (command_wait_limit(app, arg[0], &ns) != 0)
		return -EINVAL;
	if (app->checking || app_wait_drained(app, ns) != -ETIME)
		return 0;
	busy = host_busy_role(&app->host, role);
	return app_error(app, "not drained after %.3f s: %s is busy",
			 (double)ns / 1e9, busy == NULL ? "?" : busy);
}

int
cmd_wait_sent(struct app *app, const char *const arg[])
{
	uint64_t ns, end_ns;

	if (command_wait_limit(app, arg[0], &ns) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	end_ns = host_now(&app->host) + ns;
	while (!app_finished(app) && stop_asked() == 0) {
		if (host_now(&app->host) >= end_ns)
			return app_error(app, "not all sent after %.3f s",
					 (double)ns / 1e9);
		app_step(app, STEP_NS);
	}
	return 0;
}

static bool
is_cut(const struct app *app, uint32_t link)
{
	return rl_inject_severed(&app->host.fault[link]);
}

static bool
is_dead(const struct app *app, uint32_t link)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];

	for (int e = 0; e < 2; e++) {
		const struct rl_device *d = &app->host.fabric.dev[l->dev[e]];
		const enum rl_link_state s =
			rl_port_state(d->port[l->port[e]].port);

		if (d->foreign)
			continue;
		if (s == RL_LINK_UP || s == RL_LINK_RETRAIN)
			return false;
	}
	return true;
}

/* Waits until a link, or each of several parallel ones, is cut, or dead at both
   ends. */
int
cmd_wait_link(struct app *app, const char *const arg[])
{
	const bool dead = app->with;
	const struct rl_topo *t = &app->cfg.topo;
	unsigned int n = 0, k = 0;
	uint64_t ns, end_ns;
	uint32_t first = 0;

	if (command_find_link(app, arg[0], &first, &n) != 0 ||
	    command_wait_limit(app, arg[1], &ns) != 0 ||
	    command_link_here(app, first) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	end_ns = host_now(&app->host) + ns;
	while (k < n && stop_asked() == 0) {
		const uint32_t link = rl_topo_link_of(t, first, n, k);

		if ((dead ? is_dead : is_cut)(app, link)) {
			k++;
			continue;
		}
		if (host_now(&app->host) >= end_ns)
			return app_error(app, "%s is not %s after %.3f s",
					 APP_LINK(app, link),
					 dead ? "dead" : "cut",
					 (double)ns / 1e9);
		app_step(app, STEP_NS);
	}
	return 0;
}

/* A link without faults or orders that does not carry traffic yet. */
static bool
still_down(const struct app *app, uint32_t link)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_topo_link *l = &t->link[link];

	if (app->link[link].flaps != 0)
		return true; /* it ends by itself */
	if (!rl_topo_link_up(t, link) || app->link[link].disabled ||
	    (app->host.resil.controller != NULL &&
	     rl_controller_link_out(app->host.resil.controller, link)) ||
	    rl_inject_severed(&app->host.fault[link]))
		return false;
	for (int e = 0; e < 2; e++) {
		const struct rl_device *d = &app->host.fabric.dev[l->dev[e]];

		if (d->foreign)
			continue;
		if (rl_port_state(d->port[l->port[e]].port) != RL_LINK_UP ||
		    rl_core_egress_state(d->core.core, l->port[e]) !=
			    RL_EGRESS_ALIVE)
			return true;
	}
	return false;
}

int
cmd_wait_up(struct app *app, const char *const arg[])
{
	uint64_t ns, end_ns;

	if (command_wait_limit(app, arg[0], &ns) != 0)
		return -EINVAL;
	end_ns = host_now(&app->host) + ns;
	for (uint32_t i = 0; i < app->cfg.topo.nlink && !app->checking; i++)
		while (still_down(app, i) && stop_asked() == 0) {
			if (host_now(&app->host) >= end_ns)
				return app_error(app,
						 "%s is not up after %.3f s",
						 APP_LINK(app, i),
						 (double)ns / 1e9);
			app_step(app, STEP_NS);
		}
	return 0;
}
