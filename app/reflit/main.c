/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit: a fabric on lcores, from the command line to the exit status. Every
 * mistake in the user's input is found before a link trains.
 */

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_log.h>

#include "app.h"
#include "busy.h"
#include "cabling.h"
#include "clock_ns.h"
#include "command.h"
#include "host_vdev.h"
#include "refusal.h"
#include "report.h"
#include "report_file.h"
#include "rl_binding.h"
#include "rl_hush.h"
#include "rl_listen.h"
#include "run_files.h"
#include "say_error.h"
#include "telemetry.h"

/* At the end, packets in flight have this long to arrive. */
#define DRAIN_LIMIT_NS (10 * RL_NS_PER_S)

/* Processes that stop together end this long after they are at rest. */
#define LINGER_NS (500 * RL_NS_PER_MS)

static int
read_fabric(struct app *app)
{
	char err[HOST_ERR_MAX];
	int ret = rl_config_read(app->opt.config, &app->cfg, err, sizeof(err));

	if (ret != 0)
		return say_error(EXIT_UNUSABLE, "%s\n", err);
	/* cables are checked before there is an etcd, or a client */
	if (app->opt.check_cabling) {
		app->cfg.controller.mode = RL_RESIL_OFF;
		app->cfg.nattach = 0;
	}
	busy_begin("computing the tables", app->opt.progress);
	ret = rl_route_setup(&app->cfg.topo, app->cfg.engine,
			     app->cfg.vls < app->cfg.link.vcs
				     ? app->cfg.vls
				     : app->cfg.link.vcs,
			     rl_config_levels(&app->cfg), &app->route, err);
	busy_end();
	if (ret == -EINVAL)
		return say_error(EXIT_UNUSABLE, "%s:%u: routing: %s\n",
				 app->cfg.engine_file != NULL
					 ? app->cfg.engine_file
					 : app->opt.config,
				 app->cfg.engine_line, err);
	if (ret != 0) {
		printf("refused: %s\n", err);
		return EXIT_REFUSED;
	}
	if (host_key_read(&app->cfg, &app->key, &app->keyed, err) != 0)
		return say_error(EXIT_UNUSABLE, "%s\n", err);
	return run_files_check(app) == 0 && recorder_open(app) == 0
		       ? EXIT_KEPT
		       : EXIT_UNUSABLE;
}

static int
choose_process(struct app *app)
{
	const struct rl_config *cfg = &app->cfg;
	const struct gens_plan *g = &app->opt.gens;
	const char *name = app->opt.process;
	char list[256] = "";
	size_t at = 0;

	if (cfg->nprocess == 0 && name == NULL)
		return EXIT_KEPT;
	if (cfg->nprocess == 0)
		return say_error(EXIT_UNUSABLE, "reflit: --process %s: %s "
				 "names no processes; leave it out\n", name,
				 app->opt.config);
	if (name != NULL)
		app->process = rl_config_process(cfg, name);
	for (uint32_t i = 0; i < cfg->nprocess && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
				       i == 0 ? "" : ", ",
				       cfg->process[i].name);
	if (name == NULL || app->process < 0)
		return say_error(EXIT_UNUSABLE, "%s:%u: processes: %s%s; give "
				 "--process and one of %s\n",
				 cfg->process[0].file, cfg->process[0].line,
				 name == NULL ? "several run this fabric"
					      : "there is none called ",
				 name == NULL ? "" : name, list);
	if (g->packets != 0 || g->load != 0 || g->max_flits != 0 ||
	    g->pattern != RL_PATTERN_UNIFORM || g->classes != 1 ||
	    g->requests != 0)
		return say_error(EXIT_UNUSABLE, "reflit: --packets, --load, "
				 "--packet-flits, --traffic, --classes, "
				 "--requests: generators stay within one "
				 "process; attach ports instead\n");
	/* on its own it would take all devices of other processes for dead */
	if (app->cfg.channel.kind == RL_CHANNEL_LOCAL)
		app->cfg.controller.mode = RL_RESIL_OFF;
	return EXIT_KEPT;
}

static struct host_params
host_params(const struct app *app)
{
	return (struct host_params){
		.cfg = &app->cfg,
		.route = app->route,
		.seed = app->opt.seed,
		.process = app->process,
		.oob = app->oob,
		.classes = app->opt.gens.classes,
		.ring_frames = app->opt.ring_frames,
		.frame_bytes = rl_frame_bytes(app->opt.wire_flits),
		.idle_sleep_ns = (uint32_t)app->opt.idle_sleep_ns,
		.key = app->keyed ? &app->key : NULL,
	};
}

static bool
has_client(const void *ctx, uint32_t dev)
{
	const struct app *app = ctx;

	return app->cfg.nprocess != 0 || attach_has(&app->attach, dev);
}

static int
open_all(struct app *app)
{
	const struct host_params hp = host_params(app);
	char err[HOST_ERR_MAX];
	int ret = attach_open(&app->attach, &app->cfg, app->process, err);

	if (ret == 0)
		ret = host_open(&app->host, &hp, err);
	if (ret == 0 && app->host.nshared != 0)
		fprintf(stderr,
			"reflit: %u lcores share CPUs with others and stay "
			"idle: two that poll one CPU slow each other down "
			"(lcores.share = true makes them take turns)\n",
			app->host.nshared);
	if (ret == 0 && app->cfg.nprocess != 0)
		ret = ledger_open(&app->attach.ledger, app->opt.json,
				  app->cfg.process[app->process].name,
				  rl_config_digest(&app->cfg), err,
				  sizeof(err));
	if (ret == 0)
		ret = attach_connect(&app->attach, &app->host, err);
	if (ret == 0)
		ret = gens_open(&app->gens, &app->host, &app->opt.gens,
				has_client, app, err);
	if (ret == 0) {
		snprintf(err, sizeof(err), "out of memory");
		app->link = calloc(app->cfg.topo.nlink, sizeof(*app->link));
		ret = app->link == NULL ? -ENOMEM
					: watch_open(&app->watch, &app->host);
		app->watch.console = &app->console;
		journal_open(&app->journal);
		app->captures.host = &app->host;
	}
	if (ret != 0)
		fprintf(stderr, "%s\n", err);
	else if (app->cfg.nwire != 0 && !app->keyed)
		fprintf(stderr, "reflit: wires have no key (link.key_file): "
				"anyone who can send frames to them is "
				"trusted\n");
	return ret;
}

static void
use(struct app *app)
{
	const bool asked = app->opt.cmdline_file == NULL
				   ? !app->opt.interactive
				   : app->opt.duration_ns != 0;

	if (app->opt.cmdline_file != NULL)
		command_file_run(app);
	if (asked && app->recorder.traffic_start_ns == 0 && !app->quit)
		app_traffic(app, true);
	if (app->opt.interactive && !app->quit)
		prompt_run(app);
	while (!app->quit && stop_asked() == 0 && !app->opt.interactive) {
		app_step(app, RL_NS_PER_MS);
		if (app->opt.duration_ns != 0 &&
		    host_now(&app->host) - app->recorder.traffic_start_ns >=
			    app->opt.duration_ns)
			break;
	}
}

/* Other processes may still have packets under way through this one. */
static void
linger(struct app *app)
{
	while (host_now(&app->host) - app->end_ns < LINGER_NS &&
	       stop_asked() == 0)
		app_step(app, RL_NS_PER_MS);
}

/*
 * Waits until the fabric is empty. A busy machine may need long, so the limit
 * starts again as long as packets arrive or are given up.
 * @return false: it is not empty, and nothing moves any more
 */
static bool
drain(struct app *app)
{
	struct totals was, now;

	app_totals(app, &now);
	do {
		was = now;
		if (app_wait_drained(app, DRAIN_LIMIT_NS) == 0)
			return true;
		app_totals(app, &now);
	} while (stop_asked() == 0 && now.under_way != 0 &&
		 now.delivered + now.reported != was.delivered + was.reported);
	return false;
}

/* A fabric left quiesced by hand would never come to rest. */
static void
unquiesce(struct app *app)
{
	struct rl_controller *c = app->host.resil.controller;

	if (c != NULL &&
	    rl_controller_unquiesce(c, host_resil_now(&app->host)) == 0)
		app->host.resil.next_ns = 0;
}

static int
verdict(const struct app *app)
{
	struct totals t;

	app_totals(app, &t);
	if (t.lost + t.duplicated + t.reordered + t.altered != 0 ||
	    t.inexact + t.unwritten != 0 || app->stuck ||
	    app->leaked_flits != 0 ||
	    app->unsaid.events + app->unsaid.notices != 0)
		return EXIT_BROKEN;
	if (refusal_miscabled(&app->host))
		return EXIT_BROKEN; /* the reasons were printed */
	if (app_failure(app, &t) != NULL && t.sent == 0)
		return EXIT_BROKEN;
	return app->failed_commands != 0 ? EXIT_UNUSABLE : EXIT_KEPT;
}

/* Zero of all times that are shown: no event is earlier. */
static void
note_start(struct app *app)
{
	app->start_real_ns = clock_ns(CLOCK_REALTIME);
	app->start_ns = app->watch.start_ns = host_now(&app->host);
	app_utc(app, app->start_ns, app->start_utc);
}

static int
check_cabling(struct app *app)
{
	int status = EXIT_UNUSABLE;

	note_start(app);
	if (host_start(&app->host) != 0)
		return say_error(status, "reflit: cannot start the lcores\n");
	status = cabling_check(app);
	app->end_ns = host_now(&app->host);
	if (app->cfg.nprocess != 0)
		linger(app); /* others still look at the same wires */
	host_stop(&app->host);
	return status;
}

static int
run(struct app *app)
{
	char role[HOST_ROLE_NAME];
	const char *busy;
	int ret;

	note_start(app);
	if (counts_open(app) != 0)
		return EXIT_UNUSABLE;
	ret = host_start(&app->host);
	if (ret != 0)
		return say_error(EXIT_UNUSABLE, "cannot start the lcores: %s\n",
				 strerror(-ret));
	if (timeline_open(app) != 0)
		fprintf(stderr, "reflit: no memory for the timeline\n");
	if (telemetry_open(app) != 0)
		fprintf(stderr, "reflit: no memory for telemetry\n");
	use(app);
	app_traffic(app, false);
	stop_forget(); /* a second signal ends the waiting */
	unquiesce(app);
	if (!drain(app)) {
		busy = host_busy_role(&app->host, role);
		app->stuck = busy != NULL;
		if (app->stuck)
			fprintf(stderr, "reflit: %s is still busy\n", busy);
	}
	app->end_ns = host_now(&app->host);
	app->outage_ns = report_outage_now(app);
	alarms_look(app);
	app->alarms.closed = true; /* others may end before this process */
	if (app->cfg.nprocess != 0)
		linger(app);
	telemetry_close();
	host_stop(&app->host);
	watch_pump(&app->watch);
	ret = captures_close(&app->captures);
	if (ret != 0)
		app_error(app, "a capture could not be written: %s",
			  strerror(-ret));
	app->leaked_flits = host_leaked_flits(&app->host);
	attach_note_stats(&app->attach);
	host_wires_note_stats(&app->host);
	host_lost(&app->host, &app->unsaid);
	report_print(app);
	/* no document needs another one */
	(void)counts_write(app);
	ret = app->opt.json == NULL ? 0 : report_json(app, app->opt.json);
	if (app->opt.record != NULL)
		ret |= recorder_write(app, app->opt.record);
	return ret != 0 ? EXIT_UNUSABLE : verdict(app);
}

static void
close_all(struct app *app)
{
	host_stop(&app->host);
	attach_close(&app->attach);
	watch_close(&app->watch);
	alarms_free(&app->alarms);
	journal_close(&app->journal);
	rates_free(&app->rates);
	rates_free(&app->period_rates);
	tally_free(&app->cleared);
	counts_close(app);
	timeline_close(app);
	gens_close(&app->gens);
	free(app->link);
	host_close(&app->host);
}

/*
 * EAL answers a wrong option with its whole help on standard output, and with
 * several lines on standard error, the first of which is the error.
 */
static int
start_eal(struct eal_args *ea, char *said)
{
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const int out = null < 0 ? -1 : dup(STDOUT_FILENO);
	struct rl_hush hush;
	sigset_t pipe;
	int ret;

	if (ea->talks)
		rl_hush_off();
	fflush(stdout);
	if (out >= 0)
		dup2(null, STDOUT_FILENO);
	rl_hush_begin(&hush);
	stop_interrupts(true); /* a driver may wait for a connection */
	/* in EAL's threads: they write to peers of ports, which may be gone */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, NULL);
	ret = rte_eal_init(ea->argc, ea->argv);
	pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
	stop_interrupts(false);
	(void)rl_hush_end(&hush, said);
	fflush(stdout);
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		close(out);
	}
	if (null >= 0)
		close(null);
	return ret;
}

static bool
has_memif(const struct app *app)
{
	for (int i = 0; i < app->opt.eal_argc; i++)
		if (strstr(app->opt.eal_argv[i], "net_memif") != NULL)
			return true;
	return false;
}

/*
 * Drivers complain if something is gone at the end. net_memif leaves its
 * listener to EAL's interrupt thread, which would read memory that is unmapped
 * here, so EAL is not cleaned up; the process ends anyway.
 */
static void
end_eal(const struct app *app)
{
	char said[RL_HUSH_LINE];
	struct rl_hush hush;

	if (has_memif(app))
		return;
	rl_hush_begin(&hush);
	rte_eal_cleanup();
	(void)rl_hush_end(&hush, said);
}

/* Lcores to be made where they share CPUs: all that roles are placed on. */
static uint32_t
lcores_named(const struct rl_config *cfg)
{
	uint32_t n = 2;

	for (uint32_t i = 0; i < cfg->nplace; i++)
		n = RTE_MAX(n, cfg->place[i].lcore + 1u);
	return cfg->share_cpus ? n : 0;
}

/*
 * Until the peer listens to which a port will connect; not for one of this
 * process, which does not listen yet. @return 0 or -EINTR
 */
static int
wait_for_peer(const struct app *app, const char *vdev)
{
	const struct timespec nap = { .tv_nsec = 20 * RL_NS_PER_MS };
	bool said = false;

	if (!rl_listen_calls(vdev))
		return 0;
	for (int i = 1; i < app->opt.eal_argc; i++) {
		const char *other = app->opt.eal_argv[i];

		other += strncmp(other, "--vdev=", 7) == 0 ? 7 : 0;
		if (strcmp(other, vdev) != 0 && rl_listen_same(vdev, other))
			return 0;
	}
	for (; !rl_listen_answers(vdev); nanosleep(&nap, NULL)) {
		if (stop_asked() != 0)
			return -EINTR;
		if (!said)
			fprintf(stderr, "reflit: --vdev=%s: waits for its "
					"peer\n", vdev);
		said = true;
	}
	return 0;
}

/* Refuses ports that cannot be opened, before EAL opens anything. */
static int
on_vdev(void *ctx, const char *vdev, char *buf, size_t len)
{
	struct app *app = ctx;
	char err[HOST_ERR_MAX] = "too long a --vdev";
	const int ret = host_vdev(&app->cfg, app->process, vdev, buf, len, err);

	if (ret < 0 && ret != -E2BIG)
		fprintf(stderr, "%s\n", err);
	if (ret >= 0 && rl_listen_waits(vdev))
		fprintf(stderr, "reflit: --vdev=%s: waits for a connection\n",
			vdev);
	return ret >= 0 && wait_for_peer(app, vdev) != 0 ? -EINTR : ret;
}

static int
with_eal(struct app *app)
{
	const struct host_params hp = host_params(app);
	struct eal_args *ea = calloc(1, sizeof(*ea));
	struct host_plan plan;
	char said[RL_HUSH_LINE], why[300];
	int status = EXIT_UNUSABLE, ret;
	uint32_t mb;

	for (int i = 1; i < app->opt.eal_argc; i++) {
		const char *vdev = app->opt.eal_argv[i];

		host_vdev_plan(&app->cfg, app->process,
			       vdev + (strncmp(vdev, "--vdev=", 7) == 0 ? 7
									: 0));
	}
	if (attach_plan(&app->cfg, app->process, app->opt.eal_argc,
			app->opt.eal_argv, &mb) != 0) {
		free(ea);
		return EXIT_UNUSABLE;
	}
	host_plan(&hp, 1, &plan);
	stop_catch(STOP_AGAIN_ASKS); /* a folder will have to be removed */
	ret = ea == NULL ? -ENOMEM
			 : eal_args_make(ea, &app->opt, plan.eal_mb + mb,
					 lcores_named(&app->cfg), on_vdev, app);
	if (ret == -E2BIG || ret == -ENOMEM) {
		fprintf(stderr, "reflit: too many EAL options\n");
	} else if (ret != 0) {
		; /* it was printed */
	} else if (start_eal(ea, said) < 0) {
		rl_binding_of_args(ea->argc, ea->argv,
				   rte_eal_has_hugepages(), why, sizeof(why));
		fprintf(stderr, "reflit: EAL did not start%s%s\n", said, why);
	} else {
		if (open_all(app) == 0) {
			/* drivers print too much about a port that closes */
			if (!ea->talks)
				rte_log_set_global_level(RTE_LOG_CRIT);
			status = app->opt.check_cabling ? check_cabling(app)
							: run(app);
		}
		close_all(app);
		end_eal(app);
	}
	if (ea != NULL)
		eal_args_clean(ea);
	free(ea);
	return status;
}

int
main(int argc, char **argv)
{
	struct app *app = calloc(1, sizeof(*app));
	int status;

	if (app == NULL)
		return EXIT_UNUSABLE;
	/* a thread of telemetry's serves a client: no heap for each of them */
	(void)mallopt(M_ARENA_MAX, 2);
	report_begin("reflit", argc, argv);
	if (options_read(&app->opt, argc, argv) != 0) {
		free(app);
		return EXIT_UNUSABLE;
	}
	if (app->opt.help || app->opt.version) {
		if (app->opt.help)
			options_help();
		else
			printf("reflit %s\n", RL_VERSION);
		free(app);
		return EXIT_KEPT;
	}
	status = read_fabric(app);
	if (status == EXIT_KEPT)
		status = choose_process(app);
	if (status == EXIT_KEPT && command_file_check(app) != 0)
		status = EXIT_UNUSABLE;
	if (status == EXIT_KEPT)
		status = channel_open(app) == 0 ? with_eal(app)
						: EXIT_UNUSABLE;
	rl_oob_close(app->oob);
	recorder_close(app);
	free(app->script_text);
	rl_route_free(app->route);
	rl_config_free(&app->cfg);
	free(app);
	if (report_flush("reflit") != 0 && status == EXIT_KEPT)
		status = EXIT_UNUSABLE;
	return status;
}
