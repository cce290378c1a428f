/* SPDX-License-Identifier: BSD-3-Clause */

/* Sums over all ports, endpoints and generators. */

#include "app.h"

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
		t->refused += c->unreachable_packets;
		t->redirected += c->redirected_packets;
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
