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

int
app_error(struct app *app, const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	if (app->script != NULL)
		fprintf(stderr, "%s:%u: ", app->script, app->script_line);
	va_start(ap, format);
	vsnprintf(app->last_error, sizeof(app->last_error), format, ap);
	va_end(ap);
	/* words of a file may hold control characters of a terminal */
	for (char *p = app->last_error; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "%s\n", app->last_error);
	app->failed_commands++;
	return -EINVAL;
}

const char *
app_utc(const struct app *app, uint64_t t_ns, char buf[APP_UTC_MAX])
{
	const uint64_t ns = app->start_real_ns + t_ns - app->start_ns;
	const time_t s = (time_t)(ns / RL_NS_PER_S);
	struct tm tm;
	char date[24];

	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", gmtime_r(&s, &tm));
	snprintf(buf, APP_UTC_MAX, "%s.%06uZ", date,
		 (unsigned int)(ns % RL_NS_PER_S / 1000));
	return buf;
}

int
app_heal(struct app *app, uint32_t link)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];
	struct rl_fault_link *f = &app->host.fault[link];
	const uint64_t limit_ns = host_now(&app->host) + SETTLE_LIMIT_NS;

	/* a crashed end takes no orders until it restarts */
	if (app->host.dead[l->dev[0]] || app->host.dead[l->dev[1]]) {
		app->link[link].crashed = true;
		app->link[link].hurt = false;
		return 0;
	}
	watch_pump(&app->watch);
	recorder_step(app);
	while (rl_fault_clear(f) != 0 && host_now(&app->host) < limit_ns)
		host_run(&app->host, 10 * RL_NS_PER_US);
	while (!rl_fault_settled(f)) {
		if (host_now(&app->host) >= limit_ns)
			return -ETIME;
		host_run(&app->host, 10 * RL_NS_PER_US);
	}
	/* deaths of this fault are known before its time is forgotten */
	watch_pump(&app->watch);
	rl_fault_light_up(f);
	memset(app->link[link].injected, 0, sizeof(app->link[link].injected));
	recorder_healed(app, link);
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
		rl_fault_down(&app->host.fault[link],
			      host_role_now(&app->host));
		recorder_link(app, "cut", link);
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
		down += rl_fault_severed(&app->host.fault[i]);
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
		if (flaps || !host_drained(&app->host)) {
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

static void
add_port(const struct attach_dev *d, struct totals *t)
{
	const struct client_dev_counters *c = &d->client.c;

	t->unwritten += d->stats.tx_errors + client_dev_not_taken(&d->client);
	t->edge.refused += c->rx_refused + c->rx_nested + c->rx_stalled;
	t->edge.missed += d->stats.missed + d->stats.rx_errors +
			  d->stats.no_mbuf;
	t->edge.cut += c->rx_cut;
	t->edge.oversize += c->rx_oversize;
}

static void
add_ports(const struct app *app, struct totals *t)
{
	for (uint32_t i = 0; i < app->attach.ndev; i++)
		add_port(&app->attach.dev[i], t);
	for (uint32_t i = 0; i < app->attach.nflows; i++) {
		const struct proof *l = app->attach.flow[i];
		struct proof_look look;

		proof_look(l, &look);
		t->delivered += look.delivered;
		t->reported += look.reported;
		t->duplicated += l->duplicated_packets;
		t->reordered += l->reordered_packets;
		t->altered += l->altered_packets;
		t->sent += look.sent;
		t->sent_bytes += l->sent_bytes;
		if (app->host.running)
			t->under_way += look.open;
		else
			t->lost += look.open;
	}
}

/* While they run: counts only. At the end: the books, packet by packet. */
static void
add_gens(const struct app *app, struct totals *t)
{
	const uint32_t n = app->cfg.topo.nep;
	const bool running = app->host.running;
	struct rl_ledger_look look = { 0 };
	struct rl_ledger l = { 0 };

	if (running)
		rl_ledger_look(&look, app->gens.tg, n);
	else
		rl_ledger_close(&l, app->gens.tg, n);
	t->sent += look.sent_packets + l.sent_packets;
	t->delivered += look.delivered_packets + l.delivered_packets;
	t->reported += look.reported_packets + l.reported_packets;
	t->under_way += look.under_way_packets;
	t->lost += l.lost_packets + l.unknown_packets;
	t->duplicated += l.duplicated_packets;
	t->reordered += l.reordered_packets;
	t->altered += l.corrupted_packets;
	t->inexact += l.inexact;
	for (uint32_t i = 0; i < n; i++) {
		const struct rl_tg_counts *c;

		if (app->gens.tg[i] == NULL)
			continue;
		c = rl_tg_counts(app->gens.tg[i]);
		t->sent_bytes += c->sent_bytes;
		t->refused += c->unreachable_packets + c->stalled_packets;
		t->sent_requests += c->sent_requests;
		t->delivered_requests += c->delivered_requests;
		t->sent_responses += c->sent_responses;
		t->delivered_responses += c->delivered_responses;
		t->duplicated += running ? c->duplicated_packets : 0;
		t->reordered += running ? c->reordered_packets : 0;
		t->altered += running ? c->corrupted_packets : 0;
		t->delivered_flits += c->delivered_flits;
		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			t->vc_flits[vc] += c->delivered_vc_flits[vc];
	}
}

void
app_totals(const struct app *app, struct totals *t)
{
	*t = (struct totals){ 0 };
	add_ports(app, t);
	if (app->gens.tg != NULL)
		add_gens(app, t);
}

uint64_t
app_not_taken(const struct totals *t)
{
	return t->edge.refused + t->edge.missed + t->edge.cut +
	       t->edge.oversize;
}

/* Whether a client that was told to send had a destination. */
static bool
was_asked(const struct app *app)
{
	bool asked = app->gens.patterns != NULL;

	for (uint32_t i = 0; i < app->attach.ndev; i++)
		asked |= app->attach.dev[i].file_frames != 0 &&
			 app->attach.dev[i].cfg->dst[0] != '\0';
	return asked && app->recorder.traffic_start_ns != 0;
}

const char *
app_failure(const struct app *app, const struct totals *t)
{
	if (t->sent == 0 && was_asked(app))
		return "nothing was sent";
	if (2 * t->reported > t->sent)
		return "most of what was sent was given up";
	return NULL;
}

/* Of packets by a VC, added up. */
static void
sum_delay(const struct app *app, unsigned int vc, struct rl_delay *sum)
{
	rl_delay_reset(sum);
	for (uint32_t i = 0; i < app->attach.nflows; i++)
		rl_delay_merge(sum, &app->attach.flow[i]->delay[vc]);
	for (uint32_t i = 0; i < app->cfg.topo.nep; i++)
		if (app->gens.tg[i] != NULL)
			rl_delay_merge(sum, rl_tg_delay(app->gens.tg[i], vc));
}

struct rl_delay *
app_delays(const struct app *app)
{
	struct rl_delay *d = calloc(RL_VCS, sizeof(*d));

	for (unsigned int vc = 0; d != NULL && vc < RL_VCS; vc++)
		sum_delay(app, vc, &d[vc]);
	return d;
}

static void
merge_latency(struct rl_hist *sum, const struct rl_delay *d)
{
	if (d->latency.count != 0) /* most VCs carry nothing */
		rl_hist_merge(sum, &d->latency);
}

void
app_latency(const struct app *app, struct rl_hist *sum)
{
	rl_hist_reset(sum);
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		for (uint32_t i = 0; i < app->attach.nflows; i++)
			merge_latency(sum, &app->attach.flow[i]->delay[vc]);
		for (uint32_t i = 0; i < app->cfg.topo.nep; i++)
			if (app->gens.tg[i] != NULL)
				merge_latency(sum,
					      rl_tg_delay(app->gens.tg[i], vc));
	}
}

uint64_t
app_flit_hops(const struct app *app)
{
	uint64_t n = app->host.gone_flit_hops;

	for (uint32_t d = 0; d < app->host.fabric.ndev; d++)
		for (int p = 0; p < app->host.fabric.dev[d].nports; p++)
			n += rl_port_counters(app->host.fabric.dev[d]
						      .port[p]
						      .port)[RL_PC_tx_flits];
	return n;
}
