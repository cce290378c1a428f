/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Commands of the resiliency controller: devices that crash and come back,
 * planned changes, the controller's steps by hand [RES-1..3].
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "recovery_report.h"
#include "telemetry.h"

#define STEP_NS (200 * RL_NS_PER_US)
#define RECOVERIES_SHOWN 24
#define LINKS_SHOWN 16

/*
 * Uses the fabric file alone, so it also works while commands are only
 * checked.
 */
static int
want_controller(struct app *app)
{
	if (app->cfg.controller.mode != RL_RESIL_OFF)
		return 0;
	return app_error(app, app->cfg.nprocess != 0 &&
				      app->cfg.channel.kind == RL_CHANNEL_LOCAL
			      ? "there is no controller: that of several "
				"processes needs an etcd (controller.etcd)"
			      : "there is no controller: the fabric file says "
				"mode = \"off\"");
}

static struct rl_controller *
controller(struct app *app)
{
	struct host_resil *r = &app->host.resil;

	struct rl_oob_info i;

	if (want_controller(app) != 0)
		return NULL;
	if (r->controller != NULL)
		return r->controller;
	if (app->oob == NULL || r->oob.crashed) {
		app_error(app, "the controller has crashed; bring it back by "
			       "controller restart");
		return NULL;
	}
	rl_oob_info(app->oob, &i);
	if (i.office[0] == '\0' || i.here)
		app_error(app, "no process has the controller yet");
	else
		app_error(app, "process %s has the controller; give the "
			       "command there", i.office);
	return NULL;
}

int
cmd_device_crash(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t dev = 0;

	if (command_find_device(app, arg[0], &dev) != 0 ||
	    command_here(app, dev) != 0)
		return -EINVAL;
	/* the client of an attached port knows nothing of crashes */
	if (command_attached(app, arg[0]))
		return app_error(app, "%s has a port attached: its frames "
				      "would be lost without a report", arg[0]);
	if (app->checking)
		return 0;
	if (app->host.dead[dev])
		return app_error(app, "%s has crashed already", arg[0]);
	for (uint16_t p = 0; p < t->dev[dev].nports; p++) {
		const uint32_t link = t->dev[dev].port[p].link;

		if (!rl_inject_severed(&app->host.fault[link])) {
			app->link[link].crashed = true;
			rl_inject_down(&app->host.fault[link],
				      host_role_now(&app->host));
		}
	}
	telemetry_pause();
	(void)host_dev_crash(&app->host, dev);
	telemetry_resume();
	watch_pump(&app->watch); /* what it said before */
	if (t->dev[dev].kind == RL_DEV_ENDPOINT)
		absences_crash(&app->watch.absences, t->dev[dev].ep_id,
			       host_now(&app->host));
	return 0;
}

int
cmd_device_restart(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t dev = 0;

	if (command_find_device(app, arg[0], &dev) != 0 ||
	    command_here(app, dev) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	if (!app->host.dead[dev])
		return app_error(app, "%s has not crashed", arg[0]);
	tally_restarts(&app->cleared, &app->host, dev);
	telemetry_pause();
	(void)host_dev_restart(&app->host, dev);
	telemetry_resume();
	for (uint16_t p = 0; p < t->dev[dev].nports; p++) {
		const struct rl_topo_port *tp = &t->dev[dev].port[p];

		/* the other end may still be dead */
		if (!app->link[tp->link].crashed ||
		    app->host.dead[tp->peer_dev])
			continue;
		app->link[tp->link].crashed = false;
		if (app_heal(app, tp->link) != 0)
			return app_error(app, "%s: the wires of its links do "
					      "not answer", arg[0]);
	}
	return 0;
}

/* The controller is to look at it now; the outcome will be told. */
static void
accepted(struct app *app, const char *kind, const char *name, const char *verb,
	 uint32_t epoch)
{
	char what[2 * RL_NAME_MAX + 16];

	snprintf(what, sizeof(what), "%s %s", kind, name);
	outcome_await(app, what, verb, epoch);
	app->host.resil.next_ns = 0;
}

/* Planned changes of devices and links; a row of the table says which. */
typedef int (*plan_fn)(struct rl_controller *c, uint32_t what, uint64_t now_ns);

static const struct plan {
	const char *verb;
	plan_fn device;
	plan_fn link;
	const char *refusal;
} plans[] = {
	[COMMAND_REMOVE] = { "remove", rl_controller_remove_dev,
			     rl_controller_remove_link, "removed already" },
	[COMMAND_ADD] = { "add", rl_controller_add_dev, rl_controller_add_link,
			  "not removed" },
};

int
cmd_device_plan(struct app *app, const char *const arg[])
{
	const struct plan *p = &plans[app->with];
	struct rl_controller *c;
	uint32_t dev = 0, epoch;

	if (command_find_device(app, arg[0], &dev) != 0 ||
	    want_controller(app) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	c = controller(app);
	if (c == NULL)
		return -EINVAL;
	epoch = rl_controller_newest(c);
	if (p->device(c, dev, host_resil_now(&app->host)) != 0)
		return app_error(app, "%s is %s", arg[0], p->refusal);
	accepted(app, "device", arg[0], p->verb, epoch);
	return 0;
}

int
cmd_link_plan(struct app *app, const char *const arg[])
{
	const struct plan *p = &plans[app->with];
	struct rl_controller *c;
	unsigned int n = 0, done = 0;
	uint32_t first = 0, epoch;

	if (command_find_link(app, arg[0], &first, &n) != 0 ||
	    want_controller(app) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	c = controller(app);
	if (c == NULL)
		return -EINVAL;
	epoch = rl_controller_newest(c);
	for (unsigned int k = 0; k < n; k++)
		done += p->link(c,
				rl_topo_link_of(&app->cfg.topo, first, n, k),
				host_resil_now(&app->host)) == 0;
	if (done == 0)
		return app_error(app, "%s is %s", arg[0], p->refusal);
	accepted(app, "link", arg[0], p->verb, epoch);
	return 0;
}

static int
step_by_hand(struct app *app, int (*fn)(struct rl_controller *, uint64_t))
{
	struct rl_controller *c = controller(app);
	int ret;

	if (c == NULL)
		return -EINVAL;
	ret = fn(c, host_resil_now(&app->host));
	app->host.resil.next_ns = 0;
	if (ret == -EBUSY)
		return app_error(app, "a recovery goes on (%s); wait recovered",
				 rl_controller_phase_name(
					 rl_controller_phase(c)));
	if (ret == -EALREADY)
		return app_error(app, "that is under way already");
	if (ret == -EINVAL)
		return app_error(app, "the fabric is not quiesced");
	return 0;
}

/* Waits until all is at rest: the next commands of a file rely on it. */
int
cmd_quiesce(struct app *app, RL_UNUSED const char *const arg[])
{
	const uint64_t from_ns = host_now(&app->host);
	enum rl_controller_phase p;
	int ret = step_by_hand(app, rl_controller_quiesce);

	while (ret == 0 && stop_asked() == 0) {
		if (app->host.resil.controller == NULL)
			return app_error(app, "the controller has crashed: the "
					      "fabric goes on");
		p = rl_controller_phase(app->host.resil.controller);
		if (p == RL_CONTROLLER_QUIET)
			return 0;
		if (p != RL_CONTROLLER_HOLD && p != RL_CONTROLLER_DRAIN)
			return app_error(app, "the fabric has not come to rest "
					      "in %.1f ms (controller."
					      "quiesce_ns): it goes on, nothing "
					      "is quiesced",
					 (double)(host_now(&app->host) -
						  from_ns) / 1e6);
		app_step(app, STEP_NS);
	}
	return ret;
}

int
cmd_reroute(struct app *app, RL_UNUSED const char *const arg[])
{
	const struct rl_controller *c = app->host.resil.controller;
	const uint32_t epoch = c == NULL ? 0 : rl_controller_newest(c);
	int ret = step_by_hand(app, rl_controller_reroute);

	if (ret == 0)
		outcome_await(app, "", "reroute", epoch);
	return ret;
}

int
cmd_unquiesce(struct app *app, RL_UNUSED const char *const arg[])
{
	return step_by_hand(app, rl_controller_unquiesce);
}

int
cmd_controller_crash(struct app *app, RL_UNUSED const char *const arg[])
{
	int ret;

	if (controller(app) == NULL)
		return -EINVAL;
	ret = host_resil_crash(&app->host);
	outcome_step(app); /* orders are lost, though a successor comes at once */
	return ret;
}

int
cmd_controller_restart(struct app *app, RL_UNUSED const char *const arg[])
{
	if (want_controller(app) != 0)
		return -EINVAL;
	if (host_resil_restart(&app->host) == -EALREADY)
		return app_error(app, "the controller has not crashed");
	return 0;
}

/* Links that new tables do without, and why. */
static void
show_links(struct app *app)
{
	const struct rl_controller *c = app->host.resil.controller;
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t down = 0;

	facts_list(&app->facts, "links");
	for (uint32_t l = 0; l < t->nlink; l++) {
		const bool out = rl_controller_link_out(c, l);

		if (!out && rl_controller_link_ok(c, l))
			continue;
		facts_row(&app->facts,
			  down++ < LINKS_SHOWN ? "{link}: {reason}\n" : NULL,
			  FACTS(FACT_T("link", APP_LINK(app, l)),
				FACT_T("reason",
				       out ? "kept out until it is added"
				       : app->link[l].disabled
					       ? "disabled or drained by command"
					       : "dead, or not back for long "
						 "enough")));
	}
	facts_set(&app->facts, "links not in use {unused_links} of {all_links}\n",
		  FACTS(FACT_N("unused_links", down),
			FACT_N("all_links", t->nlink)));
}

/* Local controllers of this process. */
static void
show_locals(struct app *app)
{
	const struct host_resil *r = &app->host.resil;
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t held = 0, here = 0, oldest = UINT32_MAX, newest = 0;

	facts_list(&app->facts, "locals");
	for (uint32_t d = 0; d < t->ndev; d++) {
		struct rl_local_info i;

		if (app->host.fabric.dev[d].foreign)
			continue;
		here++;
		if (r->local[d].local == NULL) {
			facts_row(&app->facts, "{device}: crashed\n",
				  FACTS(FACT_T("device", t->dev[d].name),
					FACT_B("crashed", true)));
			continue;
		}
		rl_local_info(r->local[d].local, &i);
		held += i.hold != RL_RESIL_HOLD_NONE;
		oldest = RTE_MIN(oldest, i.table_epoch);
		newest = RTE_MAX(newest, i.table_epoch);
		facts_row(&app->facts,
			  i.waits || i.reports != 0
				  ? "{device}: tables of epoch {epoch}{waiting}, "
				    "{reports} reports under way\n"
				  : NULL,
			  FACTS(FACT_T("device", t->dev[d].name),
				FACT_B("crashed", false),
				FACT_N("epoch", i.table_epoch),
				FACT_S("waiting",
				       i.waits ? ", waits for its first tables"
					       : ""),
				FACT_B("waits", i.waits),
				FACT_N("reports", i.reports)));
	}
	facts_set(&app->facts,
		  app->oob != NULL && oldest <= newest
			  ? "tables here are of epoch {oldest} to {newest}\n"
			  : NULL,
		  FACTS(FACT_N("oldest", oldest <= newest ? oldest : 0),
			FACT_N("newest", newest)));
	facts_set(&app->facts,
		  "local controllers {local_controllers}, holding {holding}, "
		  "messages lost {messages_lost}\n",
		  FACTS(FACT_N("local_controllers", here),
			FACT_N("holding", held),
			FACT_N("messages_lost", r->msg_lost)));
}

int
cmd_show_controller(struct app *app, RL_UNUSED const char *const arg[])
{
	const struct host_resil *r = &app->host.resil;
	struct facts *f = &app->facts;

	facts_set(f, "mode {mode}",
		  FACTS(FACT_T("mode",
			       rl_resil_mode_name(app->cfg.controller.mode))));
	if (!r->on && facts_text(f))
		printf(": local detours and waiting alone\n");
	if (!r->on)
		return 0;
	if (r->controller == NULL)
		facts_set(f, "  {phase}\n",
			  FACTS(FACT_T("phase",
				       app->oob == NULL || r->oob.crashed
					       ? "crashed"
					       : "in another process, or in "
						 "none")));
	else
		facts_set(f,
			  "  phase {phase}  epoch {epoch}  recoveries "
			  "{recoveries}\n",
			  FACTS(FACT_T("phase", rl_controller_phase_name(
						rl_controller_phase(
							r->controller))),
				FACT_N("epoch", rl_controller_epoch(
							r->controller)),
				FACT_N("recoveries", r->log.n)));
	facts_set(f, r->why[0] != '\0' ? "last tables: {last_tables}\n" : NULL,
		  FACTS(FACT_T("last_tables", r->why)));
	if (r->controller != NULL)
		show_links(app);
	if (facts_text(f))
		channel_show(app);
	else
		channel_json(app, f->root);
	show_locals(app);
	return 0;
}

int
cmd_show_recoveries(struct app *app, RL_UNUSED const char *const arg[])
{
	if (facts_text(&app->facts))
		recoveries_print(app->host.resil.log.rec,
				 app->host.resil.log.n, &app->cfg.topo,
				 app->start_ns, RECOVERIES_SHOWN);
	else
		facts_add(&app->facts, "recoveries",
			  recoveries_json(app->host.resil.log.rec,
					  app->host.resil.log.n,
					  &app->cfg.topo, app->start_ns));
	return 0;
}
