/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "counter_report.h"
#include "delay_report.h"
#include "failover_report.h"
#include "half_json.h"
#include "json_set.h"
#include "report_file.h"
#include "recovery_report.h"
#include "report.h"
#include "suspect_report.h"

static void
set_delays(json_t *o, const struct app *app)
{
	struct rl_delay *d = app_delays(app);

	if (d != NULL)
		delay_json(o, d);
	free(d);
}

static json_t *
failovers(const struct app *app)
{
	const struct rl_failover_log *l = &app->watch.failovers;

	return failovers_json(l->rec, l->n, &app->cfg.topo, app->start_ns);
}

static json_t *
drops_json(const struct app *app)
{
	json_t *o = json_object();

	for (int r = 0; r < RL_DROP_REASON_COUNT; r++) {
		uint64_t n = 0;

		for (uint32_t i = 0; i < app->host.nlcores; i++)
			n += app->host.lcore[app->host.lcore_id[i]]->drops[r];
		set(o, rl_drop_reason_name((enum rl_drop_reason)r), n);
	}
	return o;
}

static json_t *
network_json(const struct rl_l2 *l2)
{
	json_t *o = json_object();

	set(o, "stations_learned", l2->c.learned);
	set(o, "stations_moved", l2->c.moved);
	set(o, "stations_pushed_out", l2->c.pushed);
	set(o, "frames_elsewhere", l2->c.elsewhere);
	set(o, "frames_to_all", l2->c.flooded);
	set(o, "frames_filtered", l2->c.filtered);
	set(o, "frames_of_one_cable", l2->c.local);
	return o;
}

static json_t *
ports_json(const struct app *app)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < app->attach.ndev; i++) {
		const struct attach_dev *d = &app->attach.dev[i];
		const struct client_dev_counters *c = &d->client.c;
		json_t *o = json_object();

		json_object_set_new(o, "port", json_string(d->cfg->port));
		json_object_set_new(o, "endpoint",
				    json_string(d->cfg->endpoint));
		json_object_set_new(o, "driver", json_string(d->port.driver));
		set(o, "rx_queues", d->port.queues);
		set(o, "rx_frames", c->rx_frames);
		set(o, "rx_oversize", c->rx_oversize);
		set(o, "rx_refused", c->rx_refused);
		set(o, "rx_stalled", c->rx_stalled);
		set(o, "rx_cut", c->rx_cut);
		set(o, "rx_nested", c->rx_nested);
		set(o, "rx_checksums_completed", c->rx_completed);
		set(o, "rx_discarded", d->stats.discarded);
		set(o, "rx_missed", d->stats.missed);
		set(o, "rx_errors", d->stats.rx_errors);
		set(o, "rx_no_mbuf", d->stats.no_mbuf);
		set(o, "tx_frames", c->tx_frames);
		set(o, "tx_too_long", c->tx_too_long);
		set(o, "tx_not_taken", client_dev_not_taken(&d->client));
		set(o, "tx_errors", d->stats.tx_errors);
		set(o, "tx_no_mbuf", c->tx_no_mbuf);
		if (d->l2 != NULL)
			json_object_set_new(o, "network", network_json(d->l2));
		json_object_set_new(o, "truncated",
				    json_boolean(d->file_truncated));
		json_array_append_new(a, o);
	}
	return a;
}

/* The longest silence of a flow, without absences of its receiver. */
static uint64_t
silence_of(const struct app *app, uint16_t src, uint16_t dst,
	   const struct rl_silence *s)
{
	return s->end_ns - absences_over(&app->watch.absences, src, dst,
					 s->end_ns - s->ns, s->end_ns);
}

uint64_t
report_silent(const struct app *app, uint16_t ep,
	      const struct rl_ep_flow_info *f)
{
	const uint32_t dev = app->cfg.topo.ep_dev[ep];
	const struct host *h = &app->host;
	struct rl_silence s = { 0 };
	uint64_t now_ns;

	if (f->waits_ns == 0 || h->dead[dev] || h->fabric.dev[dev].foreign)
		return 0;
	now_ns = host_role_time(h, dev, -1);
	if (now_ns <= f->waits_ns)
		return 0;
	s.ns = now_ns - f->waits_ns;
	s.end_ns = now_ns + host_time_left_out(&h->time);
	return silence_of(app, ep, f->peer, &s);
}

uint64_t
report_outage_now(const struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	uint64_t most = 0;

	for (uint16_t e = 0; e < t->nep; e++) {
		const struct rl_ep *ep =
			app->host.fabric.dev[t->ep_dev[e]].core.ep;
		struct rl_ep_flow_info f;

		for (uint32_t i = 0; i < rl_ep_flow_count(ep); i++) {
			rl_ep_flow_info(ep, i, &f);
			most = rl_max_u64(most, report_silent(app, e, &f));
		}
	}
	return most;
}

/* Longest silence of a flow whose ends were connected, in nanoseconds. */
static uint64_t
outage(const struct app *app)
{
	uint64_t most = app->outage_ns;

	for (uint32_t i = 0; i < app->cfg.topo.nep; i++) {
		const struct rl_tg *tg = app->gens.tg[i];
		const uint32_t n = tg == NULL ? 0 : rl_tg_flow_count(tg);

		for (uint32_t k = 0; k < n; k++) {
			const struct rl_tg_flow *f = rl_tg_flow(tg, k);

			most = rl_max_u64(most, silence_of(app, f->peer,
							   (uint16_t)i,
							   &f->silence));
		}
	}
	for (uint32_t i = 0; i < app->attach.nflows; i++) {
		const struct proof *l = app->attach.flow[i];

		most = rl_max_u64(most, silence_of(app, l->src, l->dst,
						   &l->silence));
	}
	return most;
}

uint64_t
report_filtered(const struct app *app)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < app->attach.ndev; i++) {
		const struct rl_l2 *l2 = app->attach.dev[i].l2;

		n += l2 == NULL ? 0 : l2->c.filtered + l2->c.local;
	}
	return n;
}

static json_t *
edge_json(const struct app *app, const struct totals *t)
{
	json_t *o = json_object();

	set(o, "refused", t->edge.refused);
	set(o, "missed", t->edge.missed);
	set(o, "cut", t->edge.cut);
	set(o, "oversize", t->edge.oversize);
	set(o, "filtered", report_filtered(app));
	return o;
}

static void
set_totals(json_t *o, const struct totals *t)
{
	set(o, "sent_packets", t->sent);
	set(o, "delivered_packets", t->delivered);
	set(o, "lost_packets", t->lost);
	set(o, "duplicated_packets", t->duplicated);
	set(o, "reordered_packets", t->reordered);
	set(o, "corrupted_packets", t->altered);
	set(o, "reported_packets", t->reported);
	set(o, "inexact_packets", t->inexact);
	set(o, "unwritten_frames", t->unwritten);
	set(o, "sent_bytes", t->sent_bytes);
}

static const char *
endpoint_name(const struct rl_topo *t, uint16_t ep)
{
	return t->dev[t->ep_dev[ep]].name;
}

/*
 * `process`, `processes`, `digest`, and `flows`: what this process knows of flows
 * to other processes, for reflit-report.
 */
static void
set_flows(json_t *report, const struct app *app)
{
	const struct rl_config *cfg = &app->cfg;
	json_t *flows = json_array(), *names = json_array();

	for (uint32_t i = 0; i < cfg->nprocess; i++)
		json_array_append_new(names, json_string(cfg->process[i].name));
	for (uint32_t i = 0; i < app->attach.nflows; i++) {
		const struct proof *l = app->attach.flow[i];

		if (l->half != NULL &&
		    l->sent_packets + l->delivered_packets != 0)
			json_array_append_new(
				flows,
				half_json(l->half,
					  endpoint_name(&cfg->topo, l->src),
					  endpoint_name(&cfg->topo, l->dst)));
	}
	json_object_set_new(report, "process",
			    json_string(cfg->nprocess == 0
						? ""
						: cfg->process[app->process]
							  .name));
	json_object_set_new(report, "processes", names);
	json_object_set_new(report, "digest", half_hex(rl_config_digest(cfg)));
	json_object_set_new(report, "flows", flows);
}

int
report_json(struct app *app, const char *path)
{
	json_t *o = json_object();
	struct facts facts = { .root = o };
	struct counter_sums sums;
	struct totals t;
	int ret;

	app_totals(app, &t);
	set_totals(o, &t);
	set(o, "flit_hops", app_flit_hops(app));
	json_object_set_new(o, "start_utc", json_string(app->start_utc));
	set(o, "elapsed_ns", app->end_ns - app->start_ns);
	set_delays(o, app);
	set(o, "outage_ns", outage(app));
	json_object_set_new(o, "failovers", failovers(app));
	json_object_set_new(o, "recoveries",
			    recoveries_json(app->host.resil.log.rec,
					    app->host.resil.log.n,
					    &app->cfg.topo, app->start_ns));
	json_object_set_new(o, "unreachable",
			    absences_json(&app->watch.absences, &app->cfg.topo,
					  app->start_ns));
	set(o, "refused_packets", t.refused);
	set(o, "redirected_packets", t.redirected);
	alarms_say(app, &facts);
	json_object_set_new(o, "edge", edge_json(app, &t));
	set(o, "sent_requests", t.sent_requests);
	set(o, "delivered_requests", t.delivered_requests);
	set(o, "sent_responses", t.sent_responses);
	set(o, "delivered_responses", t.delivered_responses);
	json_object_set_new(o, "drops", drops_json(app));
	json_object_set_new(o, "attached", ports_json(app));
	wires_say(app, &facts);
	set_flows(o, app);
	counter_sums_of(&app->host.fabric, &sums);
	counter_sums_json(o, &sums);
	counter_parts_json(o, &app->host.fabric);
	json_object_set_new(o, "suspects",
			    suspects_json(&app->host.fabric));
	channel_json(app, o);
	events_say(app, &facts);
	timeline_json(app, o);
	set(o, "leaked_flits", app->leaked_flits);
	set(o, "unrecorded_events", app->unsaid.events);
	set(o, "unrecorded_packets", app->unsaid.drops);
	set(o, "lost_drop_notices", app->unsaid.notices);
	set(o, "failed_commands", app->failed_commands);
	json_object_set_new(o, "adaptive", json_boolean(app->route->adapts));
	json_object_set_new(o, "codec",
			    json_string(rl_isa_name(rl_codec_isa(
				    app->host.fabric.codec))));
	json_object_set_new(o, "drained", json_boolean(!app->stuck));
	set(o, "seed", app->opt.seed);
	ret = report_save("reflit", o, path);
	json_decref(o);
	return ret;
}

static void
print_span(uint64_t ns)
{
	if (ns == 0)
		printf(" %11s", "-");
	else if (ns == 1) /* see rl_failover_span() */
		printf(" %11s", "same poll");
	else
		printf(" %8.1f us", (double)ns / 1e3);
}

#define ROWS 24 /* of the table; the report has the rest */

static void
print_failovers(const struct app *app)
{
	uint64_t packets = 0, flits = 0, acked = 0;
	uint32_t rows = 0;

	printf("%-12s %-6s %-10s %11s %11s %11s  looped: packets flits acked\n",
	       "link", "at", "detector", "detected", "rerouted", "drained");
	for (uint32_t i = 0; i < app->watch.failovers.n; i++) {
		const struct rl_failover *f = &app->watch.failovers.rec[i];

		if (f->dead_ns == RL_NEVER)
			continue;
		packets += f->looped_packets;
		flits += f->looped_flits;
		acked += f->looped_acked_flits;
		if (rows++ >= ROWS)
			continue;
		printf("%-12s %-6s %-10s",
		       APP_LINK(app, rl_failover_link(f, &app->cfg.topo)),
		       app->cfg.topo.dev[f->dev].name,
		       rl_detector_name(f->detector));
		print_span(rl_failover_span(f->fault_ns, f->dead_ns));
		print_span(rl_failover_span(f->dead_ns, f->rerouted_ns));
		print_span(rl_failover_span(f->dead_ns, f->drained_ns));
		printf("  %15u %5u %5u\n", f->looped_packets, f->looped_flits,
		       f->looped_acked_flits);
	}
	if (rows > ROWS)
		printf("... and %u more\n", rows - ROWS);
	printf("looped back in all: %" PRIu64 " packets, %" PRIu64
	       " flits, %" PRIu64 " of them acknowledged before\n\n",
	       packets, flits, acked);
}

/* Frames that a port did not take from its wire, or did not give to it. */
static void
print_port(const struct attach_dev *d)
{
	const struct client_dev_counters *c = &d->client.c;
	const struct {
		uint64_t n;
		const char *what;
	} line[] = {
		{ d->stats.missed, "were missed before they were read: its "
				   "queue was full" },
		{ d->stats.rx_errors, "were refused by its driver" },
		{ d->stats.no_mbuf, "were lost for want of buffers" },
		{ c->rx_cut, "came cut short and were not sent: turn off what "
			     "makes them longer than the MTU (ethtool -K ... "
			     "tso off gso off gro off)" },
		{ c->rx_nested, "were tunnels within tunnels, too deep to "
				"complete their checksums, and not sent" },
		{ c->rx_oversize, "were longer than a packet and not sent" },
		{ c->rx_refused, "were refused by the endpoint" },
		{ c->rx_stalled, "or copies were not sent: their destination "
				 "took nothing" },
		{ c->rx_completed, "came with a partial checksum, which was "
				   "completed" },
		{ c->tx_too_long, "arrived that are too long for it to write" },
		{ d->l2 == NULL ? 0 : d->l2->c.filtered,
		  "were for a station at the same port, and stayed there" },
		{ d->l2 == NULL ? 0 : d->l2->c.local,
		  "were for the neighbour on its cable, and stayed there" },
		{ client_dev_not_taken(&d->client),
		  atomic_load(&d->client.down)
			  ? "were not taken by it: it had no link"
			  : "were not taken by it: it had no reader" },
		{ d->stats.tx_errors, "could not be written" },
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(line); i++)
		if (line[i].n != 0)
			printf("%s: %" PRIu64 " frames %s\n", d->cfg->port,
			       line[i].n, line[i].what);
}

void
report_print(const struct app *app)
{
	struct totals t;

	app_totals(app, &t);
	if (app->watch.failovers.n != 0)
		print_failovers(app);
	if (app->host.resil.log.n != 0) {
		recoveries_print(app->host.resil.log.rec,
				 app->host.resil.log.n, &app->cfg.topo,
				 app->start_ns, ROWS);
		putchar('\n');
	}
	printf("sent %" PRIu64 " packets, %" PRIu64 " bytes; delivered %" PRIu64
	       " in %.3f s\n",
	       t.sent, t.sent_bytes, t.delivered,
	       (double)(app->end_ns - app->start_ns) / 1e9);
	if (t.refused != 0)
		printf("refused %" PRIu64 ": there was no way to their "
		       "destination\n", t.refused);
	if (t.redirected != 0)
		printf("redirected %" PRIu64 ": generators sent them elsewhere, "
		       "as their destinations did not answer for a while\n",
		       t.redirected);
	printf("lost %" PRIu64 ", duplicated %" PRIu64 ", reordered %" PRIu64
	       ", altered %" PRIu64 ", reported %" PRIu64 "\n",
	       t.lost, t.duplicated, t.reordered, t.altered, t.reported);
	if (app->cfg.nprocess > 1)
		printf("reflit-report tells what became of packets between "
		       "processes\n");
	if (app->attach.ndev != 0)
		printf("not taken at the edge %" PRIu64 ": refused %" PRIu64
		       ", missed %" PRIu64 ", cut %" PRIu64 ", oversize %"
		       PRIu64 "\n", app_not_taken(&t), t.edge.refused,
		       t.edge.missed, t.edge.cut, t.edge.oversize);
	for (uint32_t i = 0; i < app->attach.ndev; i++)
		print_port(&app->attach.dev[i]);
	report_print_wires(app);
	if (app->stuck)
		printf("the fabric did not come to rest\n");
	if (t.inexact != 0)
		printf("%" PRIu64 " packets contradict the counts\n",
		       t.inexact);
	if (app->unsaid.events != 0)
		printf("%" PRIu64 " events were not recorded: failovers may be "
		       "missing above\n",
		       app->unsaid.events);
	if (app->unsaid.notices != 0)
		printf("%" PRIu64 " dropped flits were not reported to their "
		       "senders\n",
		       app->unsaid.notices);
	if (app->leaked_flits != 0)
		printf("%" PRIu64 " flit buffers were not given back\n",
		       app->leaked_flits);
	if (app_failure(app, &t) != NULL)
		printf("this run is no success: %s\n", app_failure(app, &t));
	fflush(stdout);
}
