/* SPDX-License-Identifier: BSD-3-Clause */

/* Telemetry of traffic: flows, endpoints, cores, latency, lcores. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delay_report.h"
#include "telemetry_mirror.h"

#define PAGE_FLOWS 80
#define PAGE_BUCKETS 250

enum flow_column {
	FLOW_COS,
	FLOW_SENT,
	FLOW_ACKED,
	FLOW_RESEND,
	FLOW_RETRIES,
	FLOW_RTT,
	FLOW_HELD,
	FLOW_COLUMNS,
};

static const char *const flow_columns[FLOW_COLUMNS] = {
	"cos", "tx_sent", "tx_acked", "tx_resend_flits", "retries", "rtt_ns",
	"rx_held_flits"
};

struct flow_page {
	uint32_t at;	/* number of the next flow */
	uint32_t start;
	uint32_t count;
	struct rte_tel_data *src;
	struct rte_tel_data *dst;
	struct rte_tel_data *state;
	struct rte_tel_data *num[FLOW_COLUMNS];
};

static void
flows_of(const struct app *app, uint32_t e, struct flow_page *page)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_ep *ep =
		app->host.fabric.dev[t->ep_dev[e]].core.ep;

	for (uint32_t i = 0; i < rl_ep_flow_count(ep); i++, page->at++) {
		struct rl_ep_flow_info f;

		if (page->at < page->start ||
		    page->at >= page->start + page->count)
			continue;
		rl_ep_flow_info(ep, i, &f);
		rte_tel_data_add_array_string(page->src,
					      t->dev[t->ep_dev[e]].name);
		rte_tel_data_add_array_string(page->dst,
			f.peer < t->nep ? t->dev[t->ep_dev[f.peer]].name : "");
		rte_tel_data_add_array_string(page->state,
					      rl_ep_flow_state_name(f.state));
		for (unsigned int c = 0; c < FLOW_COLUMNS; c++) {
			const uint64_t v[FLOW_COLUMNS] = {
				f.cos, f.tx_sent, f.tx_acked,
				f.tx_resend_flits, f.retries, f.srtt_ns,
				f.rx_held_flits
			};

			rte_tel_data_add_array_uint(page->num[c], v[c]);
		}
	}
}

int
telemetry_flows(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct app *app = mirror_enter();
	struct flow_page page = { 0 };
	uint32_t total = 0;
	int ret;

	(void)cmd;
	for (uint32_t e = 0; app != NULL && e < app->cfg.topo.nep; e++)
		total += rl_ep_flow_count(
			app->host.fabric.dev[app->cfg.topo.ep_dev[e]].core.ep);
	ret = mirror_page(d, params, total, PAGE_FLOWS, &page.start,
			  &page.count);
	if (ret != 0) {
		mirror_leave();
		return ret;
	}
	page.src = mirror_column(RTE_TEL_STRING_VAL);
	page.dst = mirror_column(RTE_TEL_STRING_VAL);
	page.state = mirror_column(RTE_TEL_STRING_VAL);
	for (unsigned int c = 0; c < FLOW_COLUMNS; c++)
		page.num[c] = mirror_column(RTE_TEL_UINT_VAL);
	for (uint32_t e = 0; app != NULL && e < app->cfg.topo.nep; e++)
		flows_of(app, e, &page);
	mirror_leave();
	rte_tel_data_add_dict_container(d, "src", page.src, 0);
	rte_tel_data_add_dict_container(d, "dst", page.dst, 0);
	rte_tel_data_add_dict_container(d, "state", page.state, 0);
	for (unsigned int c = 0; c < FLOW_COLUMNS; c++)
		rte_tel_data_add_dict_container(d, flow_columns[c],
						page.num[c], 0);
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

int
telemetry_endpoint(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct app *app = mirror_enter();
	const int32_t dev = find(app, params);
	bool found = false;

	(void)cmd;
	if (dev >= 0 && app->host.fabric.dev[dev].core.ep != NULL) {
		const uint64_t *c = rl_ep_counters(
			app->host.fabric.dev[dev].core.ep);

		rte_tel_data_start_dict(d);
		for (int k = 0; k < RL_EP_COUNTER_COUNT; k++)
			rte_tel_data_add_dict_uint(d,
				rl_ep_counter_name((enum rl_ep_counter)k),
				c[k]);
		found = true;
	}
	mirror_leave();
	return found ? 0 : no_such(d, "endpoint", params);
}

int
telemetry_switch(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct app *app = mirror_enter();
	const int32_t dev = find(app, params);
	bool found = false;

	(void)cmd;
	if (dev >= 0) {
		const uint64_t *c = rl_core_counters(
			app->host.fabric.dev[dev].core.core);

		rte_tel_data_start_dict(d);
		for (int k = 0; k < RL_CORE_COUNTER_COUNT; k++)
			rte_tel_data_add_dict_uint(d,
				rl_core_counter_name((enum rl_core_counter)k),
				c[k]);
		found = true;
	}
	mirror_leave();
	return found ? 0 : no_such(d, "device", params);
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

int
telemetry_latency(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct rl_delay *by_vc = calloc(RL_VCS, sizeof(*by_vc));
	const bool all = params == NULL || params[0] == '\0';
	const unsigned int want = all ? 0 : (unsigned int)(params[0] - '0');
	struct app *app = mirror_enter();
	struct rl_delay *sum = NULL;

	(void)cmd;
	for (unsigned int vc = 0; by_vc != NULL && app != NULL && vc < RL_VCS;
	     vc++)
		app_delay(app, vc, &by_vc[vc]);
	mirror_leave();
	if (by_vc != NULL)
		sum = delay_sum(by_vc);
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

static const char *const recovery_columns[] = {
	"epoch", "at_ns", "detect_ns", "compute_ns", "prove_ns", "quiesce_ns",
	"install_ns", "unquiesce_ns", "paused_ns", "held_flows"
};

#define RECOVERY_COLUMNS RTE_DIM(recovery_columns)
#define RECOVERY_TEXTS 3 /* cause, mode, outcome */

static void
add_recovery(const struct app *app, const struct rl_recovery *r,
	     struct rte_tel_data *const text[RECOVERY_TEXTS],
	     struct rte_tel_data *const num[RECOVERY_COLUMNS])
{
	const uint64_t v[RECOVERY_COLUMNS] = {
		r->epoch, watch_since(app->start_ns, r->at_ns), r->detect_ns,
		r->compute_ns, r->prove_ns, r->quiesce_ns, r->install_ns,
		r->unquiesce_ns, r->paused_ns, r->held_flows
	};
	char cause[2 * RL_NAME_MAX + 64];

	rte_tel_data_add_array_string(text[0],
		rl_recovery_text(r, &app->cfg.topo, cause, sizeof(cause)));
	rte_tel_data_add_array_string(text[1], rl_resil_mode_name(r->mode));
	rte_tel_data_add_array_string(text[2], rl_outcome_name(r->outcome));
	for (unsigned int i = 0; i < RECOVERY_COLUMNS; i++)
		rte_tel_data_add_array_uint(num[i], v[i]);
}

int
telemetry_recoveries(const char *cmd, const char *params,
		     struct rte_tel_data *d)
{
	static const char *const names[RECOVERY_TEXTS] = { "cause", "mode",
							   "outcome" };
	struct rte_tel_data *text[RECOVERY_TEXTS], *num[RECOVERY_COLUMNS];
	const struct mirror *m = &telemetry_mirror;
	struct app *app = mirror_enter();
	const uint32_t n = m->nrecoveries;
	const uint32_t first = n > MIRROR_RECOVERIES ? n - MIRROR_RECOVERIES
						     : 0;

	(void)cmd;
	(void)params;
	for (unsigned int i = 0; i < RECOVERY_TEXTS; i++)
		text[i] = mirror_column(RTE_TEL_STRING_VAL);
	for (unsigned int i = 0; i < RECOVERY_COLUMNS; i++)
		num[i] = mirror_column(RTE_TEL_UINT_VAL);
	for (uint32_t i = first; app != NULL && i < n; i++)
		add_recovery(app, &m->recovery[i % MIRROR_RECOVERIES], text,
			     num);
	mirror_leave();
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_uint(d, "total", n);
	for (unsigned int i = 0; i < RECOVERY_TEXTS; i++)
		rte_tel_data_add_dict_container(d, names[i], text[i], 0);
	for (unsigned int i = 0; i < RECOVERY_COLUMNS; i++)
		rte_tel_data_add_dict_container(d, recovery_columns[i],
						num[i], 0);
	return 0;
}

/* The histogram of latencies: buckets that hold anything. */
int
telemetry_histogram(const char *cmd, const char *params,
		    struct rte_tel_data *d)
{
	struct rl_delay *by_vc = calloc(RL_VCS, sizeof(*by_vc));
	struct rte_tel_data *upper, *n;
	struct app *app = mirror_enter();
	uint32_t start, count, total = 0, at = 0;
	struct rl_delay *sum = NULL;
	int ret = -ENOMEM;

	(void)cmd;
	for (unsigned int vc = 0; by_vc != NULL && app != NULL && vc < RL_VCS;
	     vc++)
		app_delay(app, vc, &by_vc[vc]);
	mirror_leave();
	if (by_vc != NULL)
		sum = delay_sum(by_vc);
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
	upper = mirror_column(RTE_TEL_UINT_VAL);
	n = mirror_column(RTE_TEL_UINT_VAL);
	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++) {
		if (sum->latency.bucket[i] == 0)
			continue;
		if (at >= start && at < start + count) {
			rte_tel_data_add_array_uint(upper, rl_hist_upper(i));
			rte_tel_data_add_array_uint(n, sum->latency.bucket[i]);
		}
		at++;
	}
	free(sum);
	rte_tel_data_add_dict_container(d, "upper_ns", upper, 0);
	rte_tel_data_add_dict_container(d, "count_n", n, 0);
	return 0;
}

int
telemetry_lcores(const char *cmd, const char *params, struct rte_tel_data *d)
{
	static const char *const names[] = { "lcore", "ports", "cores",
					     "rounds", "busy_rounds" };
	struct rte_tel_data *col[RTE_DIM(names)];
	struct app *app = mirror_enter();

	(void)cmd;
	(void)params;
	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		col[i] = mirror_column(RTE_TEL_UINT_VAL);
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
			rte_tel_data_add_array_uint(col[k], v[k]);
	}
	mirror_leave();
	rte_tel_data_start_dict(d);
	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		rte_tel_data_add_dict_container(d, names[i], col[i], 0);
	return 0;
}
