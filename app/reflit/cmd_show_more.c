/* SPDX-License-Identifier: BSD-3-Clause */

/* Commands that show flows, routes, events, latency and load. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "delay_report.h"
#include "parse.h"

#define BAR 40

int
cmd_set_verbose_off(struct app *app, const char *const arg[])
{
	(void)arg;
	app->watch.verbose = WATCH_QUIET;
	return 0;
}

int
cmd_set_verbose_links(struct app *app, const char *const arg[])
{
	(void)arg;
	app->watch.verbose = WATCH_LINKS;
	return 0;
}

int
cmd_set_verbose_all(struct app *app, const char *const arg[])
{
	(void)arg;
	app->watch.verbose = WATCH_ALL;
	return 0;
}

/* Flows of endpoint @p from to endpoint @p to; UINT32_MAX: any. */
static unsigned int
print_flows(const struct app *app, uint32_t from, uint32_t to)
{
	const struct rl_topo *t = &app->cfg.topo;
	unsigned int n = 0;

	printf("%-10s %-10s %3s %-6s %10s %10s %8s %8s %9s %9s %10s %6s\n",
	       "endpoint", "peer", "cos", "state", "sent", "acked", "resend",
	       "retries", "rtt us", "rto us", "expected", "held");
	for (uint32_t e = 0; e < t->nep; e++) {
		const uint32_t d = t->ep_dev[e];
		const struct rl_ep *ep = app->host.fabric.dev[d].core.ep;

		for (uint32_t i = 0; (from == e || from == UINT32_MAX) &&
				     i < rl_ep_flow_count(ep); i++) {
			struct rl_ep_flow_info f;

			rl_ep_flow_info(ep, i, &f);
			if (to != UINT32_MAX && f.peer != to)
				continue;
			n++;
			printf("%-10s %-10s %3u %-6s %10u %10u %8u %8u %9.1f "
			       "%9.1f %10u %6u\n",
			       t->dev[d].name,
			       f.peer < t->nep ? t->dev[t->ep_dev[f.peer]].name
					       : "?",
			       f.cos, rl_ep_flow_state_name(f.state),
			       f.tx_sent, f.tx_acked, f.tx_resend_flits,
			       f.retries, (double)f.srtt_ns / 1e3,
			       (double)f.rto_ns / 1e3, f.rx_expected,
			       f.rx_held_flits);
		}
	}
	return n;
}

int
cmd_show_flow(struct app *app, const char *const arg[])
{
	(void)arg;
	print_flows(app, UINT32_MAX, UINT32_MAX);
	return 0;
}

/* Of one endpoint, or to one peer of it. */
int
cmd_show_flow_of(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t ep[2] = { UINT32_MAX, UINT32_MAX };

	for (int i = 0; i < 2 && arg[i] != NULL; i++) {
		const int32_t d = rl_topo_find_dev(t, arg[i]);

		if (d < 0 || t->dev[d].kind != RL_DEV_ENDPOINT)
			return app_error(app, "there is no endpoint %s",
					 arg[i]);
		ep[i] = t->dev[d].ep_id;
	}
	if (!app->checking && print_flows(app, ep[0], ep[1]) == 0)
		printf("there is no flow\n");
	return 0;
}

int
cmd_show_routes(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	const int32_t d = rl_topo_find_dev(t, arg[0]);
	const struct rl_fwd *f;

	if (d < 0)
		return app_error(app, "there is no device %s", arg[0]);
	if (app->checking)
		return 0;
	f = app_fwd(app, (uint32_t)d);
	for (uint16_t plane = 0; plane < f->nplanes; plane++)
		for (uint16_t dst = 0; dst < f->ndst; dst++) {
			const struct rl_fwd_entry e =
				rl_fwd_lookup(f, plane, dst);

			printf("plane %u to %s:", plane,
			       t->dev[t->ep_dev[dst]].name);
			for (int i = 0; i < RL_FWD_ALTS; i++) {
				const uint16_t port = e.hop[i].port;

				if (port == RL_FWD_PORT_NONE)
					break;
				printf(" %s/%u", t->dev[d].name, port);
				if (e.hop[i].plane != plane)
					printf(" (plane %u)", e.hop[i].plane);
			}
			printf("\n");
		}
	return 0;
}

static int
show_events(struct app *app, uint64_t n)
{
	const struct watch *w = &app->watch;
	const uint64_t kept = rl_min_u64(w->nevents, WATCH_EVENTS);
	struct host_lost lost;
	char line[WATCH_LINE_MAX];

	n = rl_min_u64(n, kept);
	printf("since %s:\n", app->start_utc);
	for (uint64_t i = w->nevents - n; i < w->nevents; i++)
		printf("%s\n", watch_event_text(w, &w->event[i % WATCH_EVENTS],
						line, sizeof(line)));
	host_lost(&app->host, &lost);
	if (lost.events + lost.drops != 0)
		printf("not recorded: %" PRIu64 " events, %" PRIu64
		       " packets\n",
		       lost.events, lost.drops);
	return 0;
}

/* Events of a link, at both ends, of those that are kept. */
int
cmd_show_events_of(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct watch *w = &app->watch;
	const int64_t link = rl_topo_find_link(t, arg[0], NULL);
	const uint64_t kept = rl_min_u64(w->nevents, WATCH_EVENTS);
	char line[WATCH_LINE_MAX];

	if (link < 0)
		return app_error(app, "there is no link %s; see show fabric",
				 arg[0]);
	if (!app->checking)
		printf("since %s:\n", app->start_utc);
	for (uint64_t i = w->nevents - kept;
	     i < w->nevents && !app->checking; i++) {
		const struct host_rec *r = &w->event[i % WATCH_EVENTS];

		if ((r->kind == HOST_REC_PORT || r->kind == HOST_REC_CORE) &&
		    r->port < t->dev[r->dev].nports &&
		    t->dev[r->dev].port[r->port].link == (uint32_t)link)
			printf("%s\n",
			       watch_event_text(w, r, line, sizeof(line)));
	}
	return 0;
}

int
cmd_show_events(struct app *app, const char *const arg[])
{
	(void)arg;
	return show_events(app, 20);
}

int
cmd_show_events_n(struct app *app, const char *const arg[])
{
	uint64_t n;

	if (parse_number(arg[0], 1, WATCH_EVENTS, &n) != 0)
		return app_error(app, "%s is out of range; use 1 to %u", arg[0],
				 WATCH_EVENTS);
	return app->checking ? 0 : show_events(app, n);
}

/* One row for each doubling. */
static void
print_rows(const struct rl_hist *h)
{
	uint64_t row[64] = { 0 }, most = 1;

	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++) {
		const uint64_t top = rl_hist_upper(i);
		const int r = top == 0 ? 0 : 63 - __builtin_clzll(top);

		row[r] += h->bucket[i];
		most = row[r] > most ? row[r] : most;
	}
	for (int r = 0; r < 64; r++)
		if (row[r] != 0)
			printf("  to %12.3f us %12" PRIu64 " %.*s\n",
			       (double)((2ull << r) - 1) / 1e3, row[r],
			       (int)(row[r] * BAR / most),
			       "########################################");
}

static void
print_histogram(const struct rl_delay *d)
{
	const struct rl_hist *h = &d->latency;

	printf("%" PRIu64 " packets; p50 %.1f us, p99 %.1f us, p99.9 %.1f us, "
	       "max %.1f us; jitter p50 %.1f us, p99 %.1f us, max %.1f us\n",
	       h->count, (double)rl_hist_quantile(h, 50000) / 1e3,
	       (double)rl_hist_quantile(h, 99000) / 1e3,
	       (double)rl_hist_quantile(h, 99900) / 1e3,
	       (double)h->max / 1e3,
	       (double)rl_hist_quantile(&d->jitter, 50000) / 1e3,
	       (double)rl_hist_quantile(&d->jitter, 99000) / 1e3,
	       (double)d->jitter.max / 1e3);
	print_rows(h);
}

int
cmd_show_histogram(struct app *app, const char *const arg[])
{
	struct rl_delay *d = calloc(RL_VCS, sizeof(*d));
	struct rl_delay *sum = NULL;

	(void)arg;
	for (unsigned int vc = 0; d != NULL && vc < RL_VCS; vc++)
		app_delay(app, vc, &d[vc]);
	if (d != NULL)
		sum = delay_sum(d);
	if (sum != NULL) {
		print_histogram(sum);
		delay_print(d);
	}
	free(d);
	free(sum);
	return sum != NULL ? 0 : app_error(app, "out of memory");
}

int
cmd_show_histogram_vc(struct app *app, const char *const arg[])
{
	struct rl_delay *d;
	uint64_t vc;

	if (parse_number(arg[0], 0, RL_VCS - 1, &vc) != 0)
		return app_error(app, "there is no VC %s; use 0 to %u", arg[0],
				 RL_VCS - 1);
	if (app->checking)
		return 0;
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return app_error(app, "out of memory");
	app_delay(app, (unsigned int)vc, d);
	print_histogram(d);
	free(d);
	return 0;
}

int
cmd_show_lcores(struct app *app, const char *const arg[])
{
	(void)arg;
	for (uint32_t i = 0; i < app->host.nlcores; i++) {
		const struct host_lcore *lc =
			app->host.lcore[app->host.lcore_id[i]];
		const uint64_t loops = atomic_load(&lc->loops);

		printf("lcore %u%s: %u ports, %u cores; %" PRIu64
		       " rounds, %.1f %% of them with work; %u free flits\n",
		       lc->id, app->host.sliced ? " (also the prompt's)" : "",
		       lc->nports, lc->ncores, loops,
		       loops == 0 ? 0.0
				  : 100.0 * (double)atomic_load(
						    &lc->loops_busy) /
					    (double)loops,
		       lc->cache.count);
	}
	printf("left out of the time of roles: %.3f s, in %" PRIu64
	       " absences of lcores\n",
	       (double)host_time_left_out(&app->host.time) / 1e9,
	       atomic_load(&app->host.time.pauses));
	return 0;
}

/* Processor time of the program, nearly all of it the lcores'. */
static uint64_t
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Flits that generators received since the last time, in all and by VC. */
static void
show_rates(struct app *app, const struct totals *t)
{
	const uint64_t now_ns = host_now(&app->host);
	const uint64_t since_ns = app->shown_ns != 0 ? app->shown_ns
						     : app->start_ns;
	const double us = (double)(now_ns - since_ns) / RL_NS_PER_US;
	const uint64_t now_cpu_ns = cpu_ns();

	printf("last %.6f s, %.6f s of processor time: delivered %" PRIu64
	       " flits, %.3f flits/us\n",
	       us / 1e6, (double)(now_cpu_ns - app->shown_cpu_ns) / 1e9,
	       t->delivered_flits - app->shown.delivered_flits,
	       (double)(t->delivered_flits - app->shown.delivered_flits) / us);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		if (t->vc_flits[vc] != 0)
			printf("  VC %u: %" PRIu64 " flits, %.3f flits/us\n",
			       vc, t->vc_flits[vc] - app->shown.vc_flits[vc],
			       (double)(t->vc_flits[vc] -
					app->shown.vc_flits[vc]) /
				       us);
	app->shown_ns = now_ns;
	app->shown_cpu_ns = now_cpu_ns;
	app->shown = *t;
}

int
cmd_show_traffic(struct app *app, const char *const arg[])
{
	struct totals t;

	(void)arg;
	attach_note_stats(&app->attach);
	app_totals(app, &t);
	show_rates(app, &t);
	printf("sent %" PRIu64 "  delivered %" PRIu64 "  reported %" PRIu64
	       "  under way or lost %" PRIu64 "\n"
	       "duplicated %" PRIu64 "  reordered %" PRIu64 "  altered %" PRIu64
	       "; not sent: refused %" PRIu64 "\n",
	       t.sent, t.delivered, t.reported, t.under_way, t.duplicated,
	       t.reordered, t.altered, t.refused);
	for (uint32_t i = 0; i < app->attach.ndev; i++) {
		const struct attach_dev *d = &app->attach.dev[i];
		const struct client_dev_counters *c = &d->client.c;

		printf("  %s at %s: read %" PRIu64 ", not taken: too long %"
		       PRIu64 ", cut short %" PRIu64 ", refused %" PRIu64
		       ", missed %" PRIu64 "; written %" PRIu64 ", not written %" PRIu64 "%s\n",
		       d->cfg->port, d->cfg->endpoint, c->rx_frames,
		       c->rx_oversize, c->rx_cut, c->rx_refused,
		       d->stats.missed + d->stats.rx_errors + d->stats.no_mbuf,
		       c->tx_frames,
		       d->stats.tx_errors + c->tx_too_long +
			       client_dev_not_taken(&d->client),
		       atomic_load(&d->client.finished) ? ", all sent" : "");
	}
	return 0;
}
