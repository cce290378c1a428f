/* SPDX-License-Identifier: BSD-3-Clause */

/* Telemetry of traffic: flows, endpoints, cores, latency, lcores. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delay_report.h"
#include "report.h"
#include "telemetry_mirror.h"

#define PAGE_FLOWS 80
#define PAGE_BUCKETS 250

#define FLOW_TEXTS 3

static const char *const flow_columns[] = {
	"src", "dst", "state", "cos", "tx_sent", "tx_acked", "tx_window",
	"tx_resend_flits", "retries", "rtt_ns", "rx_held_flits"
};

/* Flows of an endpoint; *at: number of the next one, of all endpoints. */
static void
flows_of(const struct app *app, uint32_t e, uint32_t *at, uint32_t start,
	 uint32_t count, struct mirror_table *table)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_ep *ep =
		app->host.fabric.dev[t->ep_dev[e]].core.ep;

	for (uint32_t i = 0; i < rl_ep_flow_count(ep); i++, ++*at) {
		struct rl_ep_flow_info f;

		if (*at < start || *at >= start + count)
			continue;
		rl_ep_flow_info(ep, i, &f);
		mirror_text(table, t->dev[t->ep_dev[e]].name);
		mirror_text(table, f.peer < t->nep
					   ? t->dev[t->ep_dev[f.peer]].name
					   : "");
		mirror_text(table, rl_ep_flow_state_name(f.state));
		mirror_number(table, f.cos);
		mirror_number(table, f.tx_sent);
		mirror_number(table, f.tx_acked);
		mirror_number(table, f.tx_window);
		mirror_number(table, f.tx_resend_flits);
		mirror_number(table, f.retries);
		mirror_number(table, f.srtt_ns);
		mirror_number(table, f.rx_held_flits);
	}
}

int
telemetry_flows(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct app *app = mirror_enter();
	uint32_t total = 0, start, count, at = 0;
	struct mirror_table t;
	int ret;

	(void)cmd;
	for (uint32_t e = 0; app != NULL && e < app->cfg.topo.nep; e++)
		total += rl_ep_flow_count(
			app->host.fabric.dev[app->cfg.topo.ep_dev[e]].core.ep);
	ret = mirror_page(d, params, total, PAGE_FLOWS, &start, &count);
	if (ret != 0) {
		mirror_leave();
		return ret;
	}
	mirror_table(&t, flow_columns, FLOW_TEXTS,
		     RTE_DIM(flow_columns) - FLOW_TEXTS);
	for (uint32_t e = 0; app != NULL && e < app->cfg.topo.nep; e++)
		flows_of(app, e, &at, start, count, &t);
	mirror_leave();
	mirror_table_end(&t, d);
	return 0;
}

/* The device that a parameter names, or -1. */
static int32_t
find(const struct app *app, const char *params)
{
	return app != NULL && params != NULL
		       ? rl_topo_find_dev(&app->cfg.topo, params)
		       : -1;
}

static int
no_such(struct rte_tel_data *d, const char *what, const char *params)
{
	return mirror_error(d, "there is no %s '%.60s'; see /reflit/devices",
			    what, params == NULL ? "" : params);
}

/* All counters of the core of a device, or of its endpoint. */
static int
device_counters(const char *params, struct rte_tel_data *d, bool ep)
{
	struct app *app = mirror_enter();
	const int32_t dev = find(app, params);
	const struct rl_role_core *r = dev < 0 ? NULL
					       : &app->host.fabric.dev[dev].core;
	const bool found = r != NULL && (!ep || r->ep != NULL);

	if (found) {
		const uint64_t *c = ep ? rl_ep_counters(r->ep)
				       : rl_core_counters(r->core);
		const int n = ep ? (int)RL_EP_COUNTER_COUNT
				 : (int)RL_CORE_COUNTER_COUNT;

		rte_tel_data_start_dict(d);
		for (int k = 0; k < n; k++)
			rte_tel_data_add_dict_uint(
				d,
				ep ? rl_ep_counter_name((enum rl_ep_counter)k)
				   : rl_core_counter_name(
					     (enum rl_core_counter)k),
				c[k]);
	}
	mirror_leave();
	return found ? 0 : no_such(d, ep ? "endpoint" : "device", params);
}

int
telemetry_endpoint(const char *cmd, const char *params, struct rte_tel_data *d)
{
	(void)cmd;
	return device_counters(params, d, true);
}

int
telemetry_switch(const char *cmd, const char *params, struct rte_tel_data *d)
{
	(void)cmd;
	return device_counters(params, d, false);
}

int
telemetry_traffic(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct app *app = mirror_enter();
	struct totals t;

	(void)cmd;
	(void)params;
	rte_tel_data_start_dict(d);
	if (app != NULL) {
		app_totals(app, &t);
		rte_tel_data_add_dict_uint(d, "sent_packets", t.sent);
		rte_tel_data_add_dict_uint(d, "sent_bytes", t.sent_bytes);
		rte_tel_data_add_dict_uint(d, "delivered_packets", t.delivered);
		rte_tel_data_add_dict_uint(d, "under_way_packets", t.under_way);
		rte_tel_data_add_dict_uint(d, "duplicated_packets",
					  t.duplicated);
		rte_tel_data_add_dict_uint(d, "reordered_packets", t.reordered);
		rte_tel_data_add_dict_uint(d, "corrupted_packets", t.altered);
		rte_tel_data_add_dict_uint(d, "reported_packets", t.reported);
		rte_tel_data_add_dict_uint(d, "refused_packets", t.refused);
		rte_tel_data_add_dict_uint(d, "edge_refused_frames",
					  t.edge.refused);
		rte_tel_data_add_dict_uint(d, "edge_missed_frames",
					  t.edge.missed);
		rte_tel_data_add_dict_uint(d, "edge_cut_frames", t.edge.cut);
		rte_tel_data_add_dict_uint(d, "edge_oversize_frames",
					  t.edge.oversize);
		rte_tel_data_add_dict_uint(d, "edge_filtered_frames",
					  report_filtered(app));
		rte_tel_data_add_dict_uint(d, "flit_hops", app_flit_hops(app));
	}
	mirror_leave();
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

/* By VC; of no fabric, nothing. Freed by the caller; NULL: no memory. */
static struct rl_delay *
delays(void)
{
	struct app *app = mirror_enter();
	struct rl_delay *d = app != NULL ? app_delays(app)
					 : calloc(RL_VCS, sizeof(*d));

	mirror_leave();
	return d;
}

int
telemetry_latency(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct rl_delay *by_vc = delays();
	const bool all = params == NULL || params[0] == '\0';
	const unsigned int want = all ? 0 : (unsigned int)(params[0] - '0');
	struct rl_delay *sum = by_vc == NULL ? NULL : delay_sum(by_vc);

	(void)cmd;
	if (sum == NULL || (!all && (want >= RL_VCS || params[1] != '\0'))) {
		free(by_vc);
		free(sum);
		return -EINVAL;
	}
	rte_tel_data_start_dict(d);
	if (!all)
		*sum = by_vc[want];
	rte_tel_data_add_dict_uint(d, "packets", sum->latency.count);
	add_quantiles(d, "", &sum->latency);
	add_quantiles(d, "jitter_", &sum->jitter);
	free(by_vc);
	free(sum);
	return 0;
}

int
telemetry_recoveries(const char *cmd, const char *params,
		     struct rte_tel_data *d)
{
	static const char *const names[] = {
		"cause", "mode", "outcome", "epoch", "at_ns", "detect_ns",
		"compute_ns", "prove_ns", "quiesce_ns", "install_ns",
		"unquiesce_ns", "paused_ns", "held_flows"
	};
	const struct mirror *m = &telemetry_mirror;
	struct app *app = mirror_enter();
	const uint32_t n = m->nrecoveries;
	struct mirror_table t;

	(void)cmd;
	(void)params;
	mirror_table(&t, names, 3, RTE_DIM(names) - 3);
	for (uint32_t i = n > MIRROR_RECOVERIES ? n - MIRROR_RECOVERIES : 0;
	     app != NULL && i < n; i++) {
		const struct rl_recovery *r =
			&m->recovery[i % MIRROR_RECOVERIES];
		const uint64_t v[] = {
			r->epoch, watch_since(app->start_ns, r->at_ns),
			r->detect_ns, r->compute_ns, r->prove_ns,
			r->quiesce_ns, r->install_ns, r->unquiesce_ns,
			r->paused_ns, r->held_flows
		};
		char cause[2 * RL_NAME_MAX + 64];

		mirror_text(&t, rl_recovery_text(r, &app->cfg.topo, cause,
						 sizeof(cause)));
		mirror_text(&t, rl_resil_mode_name(r->mode));
		mirror_text(&t, rl_outcome_name(r->outcome));
		for (unsigned int k = 0; k < RTE_DIM(v); k++)
			mirror_number(&t, v[k]);
	}
	mirror_leave();
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "total", n);
	mirror_table_end(&t, d);
	return 0;
}

/* The histogram of latencies: buckets that hold anything. */
int
telemetry_histogram(const char *cmd, const char *params,
		    struct rte_tel_data *d)
{
	static const char *const names[] = { "upper_ns", "count_n" };
	struct rl_delay *by_vc = delays();
	struct rl_delay *sum = by_vc == NULL ? NULL : delay_sum(by_vc);
	struct mirror_table t;
	uint32_t start, count, total = 0, at = 0;
	int ret = -ENOMEM;

	(void)cmd;
	free(by_vc);
	for (uint32_t i = 0; sum != NULL && i < RL_HIST_BUCKETS; i++)
		total += sum->latency.bucket[i] != 0;
	if (sum != NULL)
		ret = mirror_page(d, params, total, PAGE_BUCKETS, &start,
				  &count);
	if (ret != 0) {
		free(sum);
		return ret;
	}
	mirror_table(&t, names, 0, 2);
	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++) {
		if (sum->latency.bucket[i] == 0)
			continue;
		if (at >= start && at < start + count) {
			mirror_number(&t, rl_hist_upper(i));
			mirror_number(&t, sum->latency.bucket[i]);
		}
		at++;
	}
	free(sum);
	mirror_table_end(&t, d);
	return 0;
}

int
telemetry_lcores(const char *cmd, const char *params, struct rte_tel_data *d)
{
	static const char *const names[] = { "lcore", "ports", "cores",
					     "rounds", "busy_rounds" };
	struct app *app = mirror_enter();
	struct mirror_table t;

	(void)cmd;
	(void)params;
	mirror_table(&t, names, 0, RTE_DIM(names));
	for (uint32_t i = 0; app != NULL && i < app->host.nlcores; i++) {
		struct host_lcore *lc =
			app->host.lcore[app->host.lcore_id[i]];
		const uint64_t v[RTE_DIM(names)] = {
			lc->id, lc->nports, lc->ncores,
			atomic_load_explicit(&lc->loops, memory_order_relaxed),
			atomic_load_explicit(&lc->loops_busy,
					     memory_order_relaxed)
		};

		for (unsigned int k = 0; k < RTE_DIM(names); k++)
			mirror_number(&t, v[k]);
	}
	mirror_leave();
	rte_tel_data_start_dict(d);
	mirror_table_end(&t, d);
	return 0;
}
