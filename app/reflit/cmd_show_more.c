/* SPDX-License-Identifier: BSD-3-Clause */

/* Commands that show flows, routes, events, latency and load. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock_ns.h"
#include "command.h"
#include "delay_report.h"
#include "parse.h"
#include "report.h"

#define BAR 40
#define EVENTS_WAIT_NS (100 * RL_NS_PER_MS)

int
cmd_set_verbose(struct app *app, RL_UNUSED const char *const arg[])
{
	app->watch.verbose = (enum watch_verbose)app->with;
	return 0;
}

static void
show_flow(struct app *app, uint16_t ep, const struct rl_ep_flow_info *f)
{
	const struct rl_topo *t = &app->cfg.topo;
	const char *const from = t->dev[t->ep_dev[ep]].name;

	facts_row(&app->facts,
		  "{endpoint:-10} {peer:-10} {cos:3} {state:-6} {sent_flits:10} "
		  "{acked_flits:10} {window_flits:6} {resent_flits:8} {retries:8} "
		  "{rtt_ns:9us} {rto_ns:9us} {silent_ns:9us} {expected:10} "
		  "{held_flits:6}\n",
		  FACTS(FACT_T("endpoint", from),
			FACT_T("peer", f->peer < t->nep
					       ? t->dev[t->ep_dev[f->peer]].name
					       : "?"),
			FACT_N("cos", f->cos),
			FACT_T("state", rl_ep_flow_state_name(f->state)),
			FACT_N("sent_flits", f->tx_sent),
			FACT_N("acked_flits", f->tx_acked),
			FACT_N("window_flits", f->tx_window),
			FACT_N("resent_flits", f->tx_resend_flits),
			FACT_N("retries", f->retries),
			FACT_N("rtt_ns", f->srtt_ns),
			FACT_N("rto_ns", f->rto_ns),
			FACT_N("silent_ns", report_silent(app, ep, f)),
			FACT_N("expected", f->rx_expected),
			FACT_N("held_flits", f->rx_held_flits)));
}

/* Flows of endpoint @p from to endpoint @p to; UINT32_MAX: any. */
static unsigned int
print_flows(struct app *app, uint32_t from, uint32_t to)
{
	const struct rl_topo *t = &app->cfg.topo;
	unsigned int n = 0;

	facts_list(&app->facts, "flows");
	if (facts_text(&app->facts))
		printf("%-10s %-10s %3s %-6s %10s %10s %6s %8s %8s %9s %9s %9s "
		       "%10s %6s\n", "endpoint", "peer", "cos", "state", "sent",
		       "acked", "window", "resend", "retries", "rtt us", "rto us",
		       "silent us", "expected", "held");
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
			show_flow(app, (uint16_t)e, &f);
		}
	}
	return n;
}

/* All, those of one endpoint, or to one peer of it. */
int
cmd_show_flow(struct app *app, const char *const arg[])
{
	uint32_t ep[2] = { UINT32_MAX, UINT32_MAX }, dev = 0;

	for (int i = 0; i < 2 && arg[i] != NULL; i++) {
		if (command_find_endpoint(app, arg[i], &dev) != 0 ||
		    (i == 0 && command_here(app, dev) != 0))
			return -EINVAL;
		ep[i] = app->cfg.topo.dev[dev].ep_id;
	}
	if (!app->checking && print_flows(app, ep[0], ep[1]) == 0 &&
	    arg[0] != NULL && facts_text(&app->facts))
		printf("there is no flow\n");
	return 0;
}

/* The next hops of one entry of a table, the best first. */
static void
show_route(struct app *app, uint32_t dev, uint16_t plane, uint16_t dst)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_fwd_entry e = rl_fwd_lookup(app_fwd(app, dev), plane,
						    dst);
	json_t *hops = json_array();
	char hop[RL_NAME_MAX + 32];

	for (int i = 0; i < RL_FWD_ALTS; i++) {
		const uint16_t port = e.hop[i].port;

		if (port == RL_FWD_PORT_NONE)
			break;
		snprintf(hop, sizeof(hop),
			 e.hop[i].plane != plane ? "%s/%u (plane %u)" : "%s/%u",
			 t->dev[dev].name, port, e.hop[i].plane);
		json_array_append_new(hops, json_string(hop));
	}
	facts_row(&app->facts, "plane {plane} to {to}: {hops}\n",
		  FACTS(FACT_N("plane", plane),
			FACT_T("to", t->dev[t->ep_dev[dst]].name),
			FACT_L("hops", hops)));
}

int
cmd_show_routes(struct app *app, const char *const arg[])
{
	const struct rl_fwd *f;
	uint32_t d = 0;

	if (command_find_device(app, arg[0], &d) != 0 ||
	    command_here(app, d) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	f = app_fwd(app, d);
	facts_list(&app->facts, "routes");
	for (uint16_t plane = 0; plane < f->nplanes; plane++)
		for (uint16_t dst = 0; dst < f->ndst; dst++)
			show_route(app, d, plane, dst);
	return 0;
}

/* What ports have shown so far is among the events. These count their time from
   the start. */
static void
events_begin(struct app *app)
{
	(void)host_wait_round(&app->host, EVENTS_WAIT_NS);
	watch_pump(&app->watch);
	facts_set(&app->facts, "since {start_utc}:\n",
		  FACTS(FACT_T("start_utc", app->start_utc)));
	facts_list(&app->facts, "events");
}

int
cmd_show_events(struct app *app, const char *const arg[])
{
	const struct watch *w = &app->watch;
	struct host_lost lost;
	uint64_t n = 20;

	if (arg[0] != NULL && parse_number(arg[0], 1, WATCH_EVENTS, &n) != 0)
		return app_error(app, "%s is out of range; use 1 to %u", arg[0],
				 WATCH_EVENTS);
	if (app->checking)
		return 0;
	events_begin(app);
	n = rl_min_u64(n, rl_min_u64(w->nevents, WATCH_EVENTS));
	for (uint64_t i = w->nevents - n; i < w->nevents; i++)
		event_say(app, &w->event[i % WATCH_EVENTS], &app->facts);
	host_lost(&app->host, &lost);
	facts_set(&app->facts,
		  lost.events + lost.drops == 0
			  ? NULL
			  : "not recorded: {unrecorded_events} events, "
			    "{unrecorded_packets} packets\n",
		  FACTS(FACT_N("unrecorded_events", lost.events),
			FACT_N("unrecorded_packets", lost.drops)));
	return 0;
}

/* Events of a link, at both ends, of those that are kept; "A-B": of all that
   are parallel. */
int
cmd_show_events_of(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct watch *w = &app->watch;
	uint32_t first = 0;

	if (command_find_link(app, arg[0], &first, NULL) != 0 ||
	    command_link_here(app, first) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	events_begin(app);
	for (uint64_t i = w->nevents - rl_min_u64(w->nevents, WATCH_EVENTS);
	     i < w->nevents; i++) {
		const struct host_rec *r = &w->event[i % WATCH_EVENTS];

		if ((r->kind == HOST_REC_PORT || r->kind == HOST_REC_CORE) &&
		    r->port < t->dev[r->dev].nports &&
		    command_link_meant(app, arg[0], first,
				       t->dev[r->dev].port[r->port].link))
			event_say(app, r, &app->facts);
	}
	return 0;
}

static void
print_rows(struct app *app, const struct rl_hist *h)
{
	uint64_t row[64] = { 0 }, most = 1;
	char bar[BAR + 1];

	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++) {
		const uint64_t top = rl_hist_upper(i);
		const int r = top == 0 ? 0 : 63 - __builtin_clzll(top);

		row[r] += h->bucket[i];
		most = row[r] > most ? row[r] : most;
	}
	facts_list(&app->facts, "rows");
	for (int r = 0; r < 64; r++) {
		if (row[r] == 0)
			continue;
		memset(bar, '#', BAR);
		bar[row[r] * BAR / most] = '\0';
		facts_row(&app->facts, "  to {to_ns:12.3us} us {packets:12} "
			  "{bar}\n",
			  FACTS(FACT_N("to_ns", (2ull << r) - 1),
				FACT_N("packets", row[r]),
				FACT_S("bar", bar)));
	}
}

static void
print_histogram(struct app *app, const struct rl_delay *d)
{
	const struct rl_hist *h = &d->latency, *j = &d->jitter;

	facts_set(&app->facts,
		  "{packets} packets; p50 {p50_ns:us} us, p99 {p99_ns:us} us, "
		  "p99.9 {p999_ns:us} us, max {max_ns:us} us; jitter p50 "
		  "{jitter_p50_ns:us} us, p99 {jitter_p99_ns:us} us, max "
		  "{jitter_max_ns:us} us\n",
		  FACTS(FACT_N("packets", h->count),
			FACT_N("p50_ns", rl_hist_quantile(h, 50000)),
			FACT_N("p99_ns", rl_hist_quantile(h, 99000)),
			FACT_N("p999_ns", rl_hist_quantile(h, 99900)),
			FACT_N("max_ns", h->max),
			FACT_N("jitter_p50_ns", rl_hist_quantile(j, 50000)),
			FACT_N("jitter_p99_ns", rl_hist_quantile(j, 99000)),
			FACT_N("jitter_max_ns", j->max)));
	print_rows(app, h);
}

/* Of a VC, or of all and each. */
int
cmd_show_histogram(struct app *app, const char *const arg[])
{
	struct rl_delay *d, *sum;
	uint64_t vc = 0;

	if (arg[0] != NULL && parse_number(arg[0], 0, RL_VCS - 1, &vc) != 0)
		return app_error(app, "there is no VC %s; use 0 to %u", arg[0],
				 RL_VCS - 1);
	if (app->checking)
		return 0;
	d = app_delays(app);
	sum = d == NULL ? NULL : delay_sum(d);
	if (sum != NULL)
		print_histogram(app, arg[0] == NULL ? sum : &d[vc]);
	if (sum != NULL && arg[0] == NULL && facts_text(&app->facts))
		delay_print(d);
	else if (sum != NULL && arg[0] == NULL)
		delay_json(app->facts.root, d);
	free(d);
	free(sum);
	return sum != NULL ? 0 : app_error(app, "out of memory");
}

static void
show_lcore(struct app *app, const struct host_lcore *lc)
{
	const uint64_t loops = atomic_load(&lc->loops);

	facts_row(&app->facts,
		  "lcore {lcore}{of_prompt}: {ports} ports, {cores} cores; "
		  "{rounds} rounds, {busy_percent} % of them with work; "
		  "{free_flits} free flits\n",
		  FACTS(FACT_N("lcore", lc->id),
			FACT_S("of_prompt", app->host.sliced
						    ? " (also the prompt's)"
						    : ""),
			FACT_N("ports", lc->nports), FACT_N("cores", lc->ncores),
			FACT_N("rounds", loops),
			FACT_R("busy_percent",
			       loops == 0 ? 0.0
					  : 100.0 * (double)atomic_load(
							    &lc->loops_busy) /
						    (double)loops),
			FACT_N("free_flits", lc->cache.count)));
}

int
cmd_show_lcores(struct app *app, RL_UNUSED const char *const arg[])
{
	facts_list(&app->facts, "lcores");
	for (uint32_t i = 0; i < app->host.nlcores; i++)
		show_lcore(app, app->host.lcore[app->host.lcore_id[i]]);
	facts_set(&app->facts,
		  "left out of the time of roles: {left_out_ns:.3s} s, in "
		  "{absences} absences of lcores\n",
		  FACTS(FACT_N("left_out_ns",
			       host_time_left_out(&app->host.time)),
			FACT_N("absences",
			       atomic_load(&app->host.time.pauses))));
	return 0;
}

/* Flits that generators received since the last time, in all and by VC. */
static void
show_rates(struct app *app, const struct totals *t)
{
	const uint64_t now_ns = host_now(&app->host);
	const uint64_t since_ns = app->shown_ns != 0 ? app->shown_ns
						     : app->start_ns;
	const double us = (double)(now_ns - since_ns) / RL_NS_PER_US;
	/* of the program, nearly all of it the lcores' */
	const uint64_t now_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	const uint64_t flits = t->delivered_flits - app->shown.delivered_flits;

	facts_set(&app->facts,
		  "last {last_ns:.6s} s, {processor_ns:.6s} s of processor "
		  "time: delivered {last_flits} flits, {flits_per_us:.3} "
		  "flits/us\n",
		  FACTS(FACT_N("last_ns", now_ns - since_ns),
			FACT_N("processor_ns", now_cpu_ns - app->shown_cpu_ns),
			FACT_N("last_flits", flits),
			FACT_R("flits_per_us", (double)flits / us)));
	facts_list(&app->facts, "vcs");
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		const uint64_t of_vc = t->vc_flits[vc] - app->shown.vc_flits[vc];

		if (t->vc_flits[vc] == 0)
			continue;
		facts_row(&app->facts,
			  "  VC {vc}: {last_flits} flits, {flits_per_us:.3} "
			  "flits/us\n",
			  FACTS(FACT_N("vc", vc), FACT_N("last_flits", of_vc),
				FACT_R("flits_per_us", (double)of_vc / us)));
	}
	app->shown_ns = now_ns;
	app->shown_cpu_ns = now_cpu_ns;
	app->shown = *t;
}

static void
show_attached(struct app *app, const struct attach_dev *d)
{
	const struct client_dev_counters *c = &d->client.c;
	char text[32] = "";

	if (d->port.queues > 1)
		snprintf(text, sizeof(text), " by %u queues", d->port.queues);
	facts_row(&app->facts,
		  "  {port} at {endpoint}: read {rx_frames}{by_queues}, not "
		  "taken: too long "
		  "{rx_oversize}, cut short {rx_cut}, refused {rx_refused}, "
		  "missed {rx_missed}; written {tx_frames}, not written "
		  "{tx_failed}{all_sent}\n",
		  FACTS(FACT_T("port", d->cfg->port),
			FACT_T("endpoint", d->cfg->endpoint),
			FACT_N("rx_queues", d->port.queues),
			FACT_N("rx_frames", c->rx_frames),
			FACT_S("by_queues", text),
			FACT_N("rx_oversize", c->rx_oversize),
			FACT_N("rx_cut", c->rx_cut),
			FACT_N("rx_refused", c->rx_refused),
			FACT_N("rx_missed", d->stats.missed +
						    d->stats.rx_errors +
						    d->stats.no_mbuf),
			FACT_N("tx_frames", c->tx_frames),
			FACT_N("tx_failed", d->stats.tx_errors +
						    c->tx_too_long +
						    client_dev_not_taken(
							    &d->client)),
			FACT_S("all_sent", atomic_load(&d->client.finished)
						   ? ", all sent"
						   : "")));
}

int
cmd_show_traffic(struct app *app, RL_UNUSED const char *const arg[])
{
	struct totals t;

	attach_note_stats(&app->attach);
	app_totals(app, &t);
	show_rates(app, &t);
	facts_set(&app->facts,
		  "sent {sent_packets}  delivered {delivered_packets}  reported "
		  "{reported_packets}  under way or lost {under_way_packets}\n"
		  "duplicated {duplicated_packets}  reordered "
		  "{reordered_packets}  altered {corrupted_packets}; not sent: "
		  "refused {refused_packets}\n",
		  FACTS(FACT_N("sent_packets", t.sent),
			FACT_N("delivered_packets", t.delivered),
			FACT_N("reported_packets", t.reported),
			FACT_N("under_way_packets", t.under_way),
			FACT_N("duplicated_packets", t.duplicated),
			FACT_N("reordered_packets", t.reordered),
			FACT_N("corrupted_packets", t.altered),
			FACT_N("refused_packets", t.refused)));
	facts_list(&app->facts, "attached");
	for (uint32_t i = 0; i < app->attach.ndev; i++)
		show_attached(app, &app->attach.dev[i]);
	return 0;
}
