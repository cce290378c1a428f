/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "command.h"
#include "telemetry.h"

/* Drained means at rest for this long, and for a round of each lcore. */
#define REST_NS (2 * RL_NS_PER_MS)
/* An lcore may have to wait for its CPU on a busy machine. */
#define SETTLE_LIMIT_NS (10 * RL_NS_PER_S)

bool
app_takes_frames(const struct app *app, uint32_t link, unsigned int end)
{
	return rl_config_runs(&app->cfg, app->process,
			      app->cfg.topo.link[link].dev[1 - end]);
}

int
app_heal(struct app *app, uint32_t link)
{
	static const struct rl_fault clear = { .kind = RL_FAULT_HEAL };
	const struct rl_topo_link *l = &app->cfg.topo.link[link];
	struct rl_inject_link *f = &app->host.fault[link];
	const uint64_t limit_ns = host_now(&app->host) + SETTLE_LIMIT_NS;

	/* a crashed end takes no orders until it restarts */
	if (app->host.dead[l->dev[0]] || app->host.dead[l->dev[1]]) {
		app->link[link].crashed = true;
		app->link[link].hurt = false;
		return 0;
	}
	watch_pump(&app->watch);
	recorder_step(app);
	for (unsigned int e = 0; e < 2; e++)
		while (app_takes_frames(app, link, e) &&
		       rl_inject_order(f, e, &clear) != 0 &&
		       host_now(&app->host) < limit_ns)
			host_run(&app->host, 10 * RL_NS_PER_US);
	while (!rl_inject_settled(f)) {
		if (host_now(&app->host) >= limit_ns)
			return -ETIME;
		host_run(&app->host, 10 * RL_NS_PER_US);
	}
	/* deaths of this fault are known before its time is forgotten */
	watch_pump(&app->watch);
	rl_inject_light_up(f);
	memset(app->link[link].noise, 0, sizeof(app->link[link].noise));
	memset(app->link[link].cut_waits, 0, sizeof(app->link[link].cut_waits));
	recorder_link(app, RL_FAULT_HEAL, link);
	app->watch.order_ns[link] = 0;
	app->link[link].hurt = false;
	return 0;
}

static void
flap_step(struct app *app, uint32_t link, uint64_t now_ns)
{
	struct link_state *l = &app->link[link];

	if (l->flaps == 0 || now_ns < l->flap_due_ns)
		return;
	l->flap_due_ns = now_ns + l->flap_half_ns;
	l->flaps--;
	l->flap_down = !l->flap_down;
	if (l->flap_down) {
		rl_inject_down(&app->host.fault[link],
			      host_role_now(&app->host));
		recorder_link(app, RL_FAULT_CUT, link);
	} else if (app_heal(app, link) != 0) {
		/* its ports do not answer yet: order again, from down */
		l->flaps++;
		l->flap_down = true;
	}
}

static void
progress(struct app *app, uint64_t now_ns)
{
	struct totals t;
	uint32_t down = 0;

	if (!app->opt.progress || now_ns < app->progress_due_ns)
		return;
	app->progress_due_ns = now_ns + RL_NS_PER_S;
	app_totals(app, &t);
	for (uint32_t i = 0; i < app->cfg.topo.nlink; i++)
		down += rl_inject_severed(&app->host.fault[i]);
	fprintf(stderr,
		"%6.1f s  sent %" PRIu64 "  delivered %" PRIu64
		"  under way %" PRIu64 "  reported %" PRIu64
		"  links cut %u  failovers %u\n",
		(double)(now_ns - app->start_ns) / 1e9, t.sent, t.delivered,
		t.under_way, t.reported, down, app->watch.failovers.n);
}

void
app_step(struct app *app, uint64_t ns)
{
	uint64_t now_ns;

	host_run(&app->host, ns);
	host_unplug_step(&app->host);
	host_wires_carriers(&app->host);
	watch_pump(&app->watch);
	host_resil_step(&app->host);
	outcome_step(app);
	channel_step(app);
	alarms_step(app);
	now_ns = host_now(&app->host);
	for (uint32_t i = 0; i < app->cfg.topo.nlink; i++)
		flap_step(app, i, now_ns);
	recorder_step(app);
	attach_peers(&app->attach, &app->host);
	attach_note(&app->attach);
	attach_note_takers(&app->attach, app->start_ns);
	rates_step(app, now_ns);
	captures_step(&app->captures);
	timeline_step(app, now_ns);
	counts_step(app, now_ns);
	telemetry_step(app);
	progress(app, now_ns);
}

void
app_traffic(struct app *app, bool on)
{
	for (uint32_t i = 0; i < app->attach.ndev; i++)
		client_dev_run(&app->attach.dev[i].client, on);
	if (gens_order_all(&app->gens, on) != 0)
		fprintf(stderr, "reflit: an lcore does not answer\n");
	recorder_traffic(app, on);
}

bool
app_finished(const struct app *app)
{
	return attach_finished(&app->attach) && gens_finished(&app->gens);
}

int
app_wait_drained(struct app *app, uint64_t limit_ns)
{
	const uint64_t end_ns = host_now(&app->host) + limit_ns;
	uint64_t rounds[RTE_MAX_LCORE];
	uint64_t rest_ns = 0;

	for (;;) {
		const uint64_t now_ns = host_now(&app->host);
		bool flaps = false;

		if (stop_asked() != 0)
			return -EINTR;
		for (uint32_t i = 0; i < app->cfg.topo.nlink; i++)
			flaps |= app->link[i].flaps != 0;
		/* senders have ACKs for what waits behind a slow port */
		if (flaps || attach_waits(&app->attach) ||
		    !host_drained(&app->host)) {
			rest_ns = 0;
		} else if (rest_ns == 0) {
			rest_ns = now_ns;
			host_rounds(&app->host, rounds);
		} else if (now_ns - rest_ns >= REST_NS &&
			   host_rounds_passed(&app->host, rounds, 1)) {
			return 0;
		}
		if (now_ns >= end_ns)
			return -ETIME;
		app_step(app, 200 * RL_NS_PER_US);
	}
}
