/* SPDX-License-Identifier: BSD-3-Clause */

/* Telemetry of traffic: flows, endpoints, cores, latency, lcores. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delay_report.h"
#include "report.h"
#include "telemetry_mirror.h"

#define COS_MAX 16 /* four bits of a transaction header */

static uint32_t
flows_of(const struct app *app, uint32_t e)
{
	return rl_ep_flow_count(
		app->host.fabric.dev[app->cfg.topo.ep_dev[e]].core.ep);
}

static uint32_t
count_flows(const struct app *app)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < app->cfg.topo.nep; e++)
		n += flows_of(app, e);
	return n;
}

static void
add_flow(const struct app *app, uint32_t e, uint32_t i,
	 struct mirror_table *table)
{
	const struct rl_topo *t = &app->cfg.topo;
	struct rl_ep_flow_info f;

	rl_ep_flow_info(app->host.fabric.dev[t->ep_dev[e]].core.ep, i, &f);
	mirror_row(table,
		   (const char *[]){ t->dev[t->ep_dev[e]].name,
				     f.peer < t->nep
					     ? t->dev[t->ep_dev[f.peer]].name
					     : "",
				     rl_ep_flow_state_name(f.state) },
		   (uint64_t[]){ f.cos, f.tx_sent, f.tx_acked, f.tx_window,
				 f.tx_resend_flits, f.retries, f.srtt_ns,
				 f.rx_held_flits });
}

static void
add_flows(const struct app *app, uint32_t from, uint32_t to,
	  struct mirror_table *t)
{
	uint32_t at = 0; /* of the flows of all endpoints */

	for (uint32_t e = 0; e < app->cfg.topo.nep; e++)
		for (uint32_t i = 0; i < flows_of(app, e); i++, at++)
			if (at >= from && at < to)
				add_flow(app, e, i, t);
}

const struct telemetry_list telemetry_flows = {
	.name = (const char *const[]){ "src", "dst", "state", "cos", "tx_sent",
				       "tx_acked", "tx_window",
				       "tx_resend_flits", "retries", "rtt_ns",
				       "rx_held_flits" },
	.texts = 3, .numbers = 8, .most = 80,
	.total = count_flows, .rows = add_flows,
};

/* What the flows of a class of service have together. */
struct class_sum {
	uint64_t flows, outstanding, resend, held;
};

/* @return how many classes have flows */
static uint32_t
sum_classes(const struct app *app, struct class_sum of[COS_MAX])
{
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t n = 0;

	memset(of, 0, COS_MAX * sizeof(*of));
	for (uint32_t e = 0; e < t->nep; e++)
		for (uint32_t i = 0; i < flows_of(app, e); i++) {
			struct rl_ep_flow_info f;
			struct class_sum *c;

			rl_ep_flow_info(app->host.fabric.dev[t->ep_dev[e]]
						.core.ep, i, &f);
			c = &of[f.cos % COS_MAX];
			n += c->flows++ == 0;
			c->outstanding += f.tx_sent - f.tx_acked;
			c->resend += f.tx_resend_flits;
			c->held += f.rx_held_flits;
		}
	return n;
}

static uint32_t
count_classes(const struct app *app)
{
	struct class_sum of[COS_MAX];

	return sum_classes(app, of);
}

static void
add_classes(const struct app *app, uint32_t from, uint32_t to,
	    struct mirror_table *t)
{
	struct class_sum of[COS_MAX];
	uint32_t at = 0;

	sum_classes(app, of);
	for (uint64_t cos = 0; cos < COS_MAX; cos++) {
		const struct class_sum *c = &of[cos];

		if (c->flows != 0 && at >= from && at < to)
			mirror_row(t, NULL,
				   (uint64_t[]){ cos, c->flows, c->outstanding,
						 c->resend, c->held });
		at += c->flows != 0;
	}
}

const struct telemetry_list telemetry_classes = {
	.name = (const char *const[]){ "cos", "flows", "outstanding_flits",
				       "resend_flits", "held_flits" },
	.numbers = 5, .most = COS_MAX, .total = count_classes,
	.rows = add_classes,
};

static int
no_such(struct rte_tel_data *d, const char *what, const char *params)
{
	return mirror_error(d, "there is no %s '%.60s'; see /reflit/devices",
			    what, params == NULL ? "" : params);
}

static int
device_counters(const struct app *app, const char *params,
		struct rte_tel_data *d, bool ep)
{
	const int32_t dev = params == NULL
				    ? -1
				    : rl_topo_find_dev(&app->cfg.topo, params);
	const struct rl_role_core *r = dev < 0 ? NULL
					       : &app->host.fabric.dev[dev].core;

	if (r == NULL || (ep && r->ep == NULL))
		return no_such(d, ep ? "endpoint" : "device", params);
	if (mirror_elsewhere(app, (uint32_t)dev, d))
		return 0;
	rte_tel_data_start_dict(d);
	if (ep)
		mirror_counters(d, &counter_ep, rl_ep_counters(r->ep));
	else
		mirror_counters(d, &counter_core, rl_core_counters(r->core));
	return 0;
}

int
telemetry_endpoint(const struct app *app, const char *params,
		   struct rte_tel_data *d)
{
	return device_counters(app, params, d, true);
}

int
telemetry_switch(const struct app *app, const char *params,
		 struct rte_tel_data *d)
{
	return device_counters(app, params, d, false);
}

int
telemetry_traffic(const struct app *app, RL_UNUSED const char *params,
		  struct rte_tel_data *d)
{
	struct totals t;

	app_totals(app, &t);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "sent_packets", t.sent);
	rte_tel_data_add_dict_uint(d, "sent_bytes", t.sent_bytes);
	rte_tel_data_add_dict_uint(d, "delivered_packets", t.delivered);
	rte_tel_data_add_dict_uint(d, "under_way_packets", t.under_way);
	rte_tel_data_add_dict_uint(d, "duplicated_packets", t.duplicated);
	rte_tel_data_add_dict_uint(d, "reordered_packets", t.reordered);
	rte_tel_data_add_dict_uint(d, "corrupted_packets", t.altered);
	rte_tel_data_add_dict_uint(d, "reported_packets", t.reported);
	rte_tel_data_add_dict_uint(d, "refused_packets", t.refused);
	rte_tel_data_add_dict_uint(d, "redirected_packets", t.redirected);
	rte_tel_data_add_dict_uint(d, "edge_refused_frames", t.edge.refused);
	rte_tel_data_add_dict_uint(d, "edge_missed_frames", t.edge.missed);
	rte_tel_data_add_dict_uint(d, "edge_cut_frames", t.edge.cut);
	rte_tel_data_add_dict_uint(d, "edge_oversize_frames", t.edge.oversize);
	rte_tel_data_add_dict_uint(d, "edge_filtered_frames",
				  report_filtered(app));
	rte_tel_data_add_dict_uint(d, "flit_hops", app_flit_hops(app));
	return 0;
}

static void
add_quantiles(struct rte_tel_data *d, const char *what,
	      const struct rl_hist *h)
{
	static const struct {
		const char *name;
		unsigned int q; /* of 100,000 */
	} q[] = { { "p50", 50000 }, { "p99", 99000 }, { "p999", 99900 } };
	char key[32];

	for (unsigned int i = 0; i < RTE_DIM(q); i++) {
		snprintf(key, sizeof(key), "%s%s", what, q[i].name);
		rte_tel_data_add_dict_uint(d, key, rl_hist_quantile(h, q[i].q));
	}
	snprintf(key, sizeof(key), "%smax", what);
	rte_tel_data_add_dict_uint(d, key, h->max);
}

int
telemetry_latency(const struct app *app, const char *params,
		  struct rte_tel_data *d)
{
	const bool all = params == NULL || params[0] == '\0';
	const unsigned int want = all ? 0 : (unsigned int)(params[0] - '0');
	struct rl_delay *by_vc, *sum;
	int ret = -ENOMEM;

	if (!all && (want >= RL_VCS || params[1] != '\0'))
		return -EINVAL;
	by_vc = app_delays(app);
	sum = by_vc == NULL ? NULL : delay_sum(by_vc);
	if (sum != NULL) {
		const struct rl_delay *of = all ? sum : &by_vc[want];

		rte_tel_data_start_dict(d);
		rte_tel_data_add_dict_uint(d, "packets", of->latency.count);
		add_quantiles(d, "", &of->latency);
		add_quantiles(d, "jitter_", &of->jitter);
		ret = 0;
	}
	free(by_vc);
	free(sum);
	return ret;
}

int
telemetry_recoveries(const struct app *app, RL_UNUSED const char *params,
		     struct rte_tel_data *d)
{
	static const char *const names[] = {
		"cause", "mode", "outcome", "epoch", "at_ns", "detect_ns",
		"compute_ns", "prove_ns", "quiesce_ns", "install_ns",
		"unquiesce_ns", "paused_ns", "held_flows"
	};
	const struct mirror *m = &telemetry_mirror;
	const uint32_t n = m->nrecoveries;
	struct mirror_table t;

	mirror_table(&t, names, 3, RTE_DIM(names) - 3);
	for (uint32_t i = n > MIRROR_RECOVERIES ? n - MIRROR_RECOVERIES : 0;
	     i < n; i++) {
		const struct rl_recovery *r =
			&m->recovery[i % MIRROR_RECOVERIES];
		char cause[2 * RL_NAME_MAX + 64];

		mirror_row(&t,
			   (const char *[]){
				   rl_recovery_text(r, &app->cfg.topo, cause,
						    sizeof(cause)),
				   rl_resil_mode_name(r->mode),
				   rl_outcome_name(r->outcome) },
			   (uint64_t[]){
				   r->epoch,
				   watch_since(app->start_ns, r->at_ns),
				   r->detect_ns, r->compute_ns, r->prove_ns,
				   r->quiesce_ns, r->install_ns,
				   r->unquiesce_ns, r->paused_ns,
				   r->held_flows });
	}
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "total", n);
	mirror_table_end(&t, d);
	return 0;
}

static uint32_t
count_buckets(const struct app *app)
{
	struct rl_hist h;
	uint32_t n = 0;

	app_latency(app, &h);
	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++)
		n += h.bucket[i] != 0;
	return n;
}

static void
add_buckets(const struct app *app, uint32_t from, uint32_t to,
	    struct mirror_table *t)
{
	struct rl_delay *by_vc = app_delays(app);
	uint32_t at = 0;

	for (uint32_t i = 0; by_vc != NULL && i < RL_HIST_BUCKETS; i++) {
		uint64_t row[2 + RL_VCS] = { rl_hist_upper(i) };

		for (unsigned int vc = 0; vc < RL_VCS; vc++) {
			row[2 + vc] = by_vc[vc].latency.bucket[i];
			row[1] += row[2 + vc];
		}
		if (row[1] != 0 && at >= from && at < to)
			mirror_row(t, NULL, row);
		at += row[1] != 0;
	}
	free(by_vc);
}

const struct telemetry_list telemetry_histogram = {
	.name = (const char *const[]){ "upper_ns", "count_n", "vc0_n", "vc1_n",
				       "vc2_n", "vc3_n", "vc4_n", "vc5_n",
				       "vc6_n", "vc7_n" },
	.numbers = 2 + RL_VCS, .most = 80, .total = count_buckets,
	.rows = add_buckets,
};

int
telemetry_lcores(const struct app *app, RL_UNUSED const char *params,
		 struct rte_tel_data *d)
{
	static const char *const names[] = { "lcore", "ports", "cores",
					     "rounds", "busy_rounds" };
	struct mirror_table t;

	mirror_table(&t, names, 0, RTE_DIM(names));
	for (uint32_t i = 0; i < app->host.nlcores; i++) {
		struct host_lcore *lc = app->host.lcore[app->host.lcore_id[i]];

		mirror_row(&t, NULL, (uint64_t[]){
			lc->id, lc->nports, lc->ncores,
			atomic_load_explicit(&lc->loops, memory_order_relaxed),
			atomic_load_explicit(&lc->loops_busy,
					     memory_order_relaxed) });
	}
	rte_tel_data_start_dict(d);
	mirror_table_end(&t, d);
	return 0;
}
