/* SPDX-License-Identifier: BSD-3-Clause */

/* `wait recovered`: what the controller was told, or has to see, has ended. */

#include <errno.h>
#include <string.h>

#include "command.h"

#define STEP_NS (200 * RL_NS_PER_US)
#define CALM_STEPS 10

/* Whether the port at end @p e of a link, in this process, is up. */
static bool
end_up(const struct app *app, uint32_t link, int e)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];
	const struct host *h = &app->host;
	struct rl_port_info i;

	if (h->dead[l->dev[e]] || h->fabric.dev[l->dev[e]].foreign)
		return false;
	rl_port_info(h->fabric.dev[l->dev[e]].port[l->port[e]].port, &i);
	return i.state == RL_LINK_UP;
}

/* A port that has not yet noticed that its link is dark. The controller
 * cannot know, either. */
static bool
unnoticed(const struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;

	for (uint32_t l = 0; l < t->nlink; l++)
		if (!rl_inject_light(&app->host.fault[l]) &&
		    (end_up(app, l, 0) || end_up(app, l, 1)))
			return true;
	return false;
}

/* Whether a link that was removed still empties. A removal that was refused
   stays, and leaves it up. */
static bool
leaving(const struct app *app)
{
	const struct host_resil *r = &app->host.resil;

	if (r->controller == NULL || r->log.n == 0 ||
	    r->log.rec[r->log.n - 1].outcome != RL_OUTCOME_DONE)
		return false;
	for (uint32_t l = 0; l < app->cfg.topo.nlink; l++)
		if (rl_controller_link_out(r->controller, l) &&
		    (end_up(app, l, 0) || end_up(app, l, 1)))
			return true;
	return false;
}

/* Whether a link has yet to come up for an order that is open: until then, the
   controller has nothing to do. */
static bool
coming(const struct app *app)
{
	const struct rl_controller *c = app->host.resil.controller;
	const struct host *h = &app->host;

	for (uint32_t l = 0; l < app->cfg.topo.nlink; l++) {
		const uint32_t *dev = app->cfg.topo.link[l].dev;

		if (rl_inject_light(&h->fault[l]) && !app->link[l].disabled &&
		    !h->dead[dev[0]] && !h->dead[dev[1]] &&
		    !rl_controller_link_ok(c, l) &&
		    !rl_controller_link_out(c, l))
			return true;
	}
	return false;
}

/* Nothing left to do. In a fabric quiesced by hand that is so unless an order
   waits for the end of that. */
static bool
at_rest(const struct app *app)
{
	const struct rl_controller *c = app->host.resil.controller;
	const bool open = c != NULL && app->outcomes.n != 0;

	if (leaving(app))
		return false;
	if (host_resil_idle(&app->host))
		return !open || !coming(app);
	return c != NULL && rl_controller_phase(c) == RL_CONTROLLER_QUIET &&
	       !open;
}

static const char *
unrest(const struct app *app)
{
	const struct rl_controller *c = app->host.resil.controller;

	if (unnoticed(app))
		return "idle, but a port has not noticed that its link is dark";
	if (host_resil_idle(&app->host))
		return leaving(app) ? "idle, but a removed link is not empty"
				    : "idle, but an added link is not up";
	if (c == NULL)
		return app->oob != NULL ? "not here" : "dead";
	return rl_controller_phase(c) != RL_CONTROLLER_QUIET
		       ? rl_controller_phase_name(rl_controller_phase(c))
		       : "quiet, and what was ordered since waits for "
			 "unquiesce";
}

static int
wait_idle(struct app *app, uint64_t limit_ns)
{
	const uint64_t end_ns = host_now(&app->host) + limit_ns;
	unsigned int calm = 0;

	if (!app->host.resil.on)
		return 0;
	/* idle counts only after the newest fault has been noticed by
	   ports, taken from the log, reported and answered */
	while (calm < CALM_STEPS && stop_asked() == 0) {
		if (host_now(&app->host) >= end_ns)
			return app_error(app, "not recovered after %.3f s: the "
					      "controller is %s",
					 (double)limit_ns / 1e9, unrest(app));
		app_step(app, STEP_NS);
		calm = unnoticed(app) || !at_rest(app)
			       ? 0
			       : calm + 1;
	}
	return 0;
}

/* Orders that were given before must have been carried out, too. */
int
cmd_wait_recovered(struct app *app, const char *const arg[])
{
	struct outcomes *o = &app->outcomes;
	char failed[OUTCOME_TEXT];
	uint64_t limit_ns;
	int ret;

	if (command_wait_limit(app, arg[0], &limit_ns) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	o->waiting = true;
	ret = wait_idle(app, limit_ns);
	o->waiting = false;
	if (o->failed[0] == '\0')
		return ret;
	memcpy(failed, o->failed, sizeof(failed));
	o->failed[0] = '\0';
	return app_error(app, "%s", failed);
}
