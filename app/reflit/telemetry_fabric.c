/* SPDX-License-Identifier: BSD-3-Clause */

/* Telemetry of the fabric: devices, links, ports. On clients' threads. */

#include <string.h>
#include <unistd.h>

#include "link_health.h"
#include "refusal.h"
#include "telemetry_mirror.h"

int
telemetry_fabric(const struct app *app, RL_UNUSED const char *params,
		 struct rte_tel_data *d)
{
	static const char *const names[] = { "dims" };
	const struct rl_config *cfg = &app->cfg;
	const struct rl_topo *t = &cfg->topo;
	struct mirror_table dims;

	mirror_table(&dims, names, 0, 1);
	for (unsigned int i = 0; i < t->spec.ndims; i++)
		mirror_number(&dims, t->spec.dims[i]);
	rte_tel_data_start_dict(d);
	mirror_string(d, "program", "reflit");
	mirror_string(d, "version", RL_VERSION);
	rte_tel_data_add_dict_int(d, "pid", (int)getpid());
	mirror_string(d, "config", app->opt.config);
	mirror_string(d, "process", cfg->nprocess == 0
					    ? ""
					    : cfg->process[app->process].name);
	mirror_string(d, "topology", rl_config_topology_name(t->spec.kind));
	mirror_table_end(&dims, d);
	mirror_string(d, "engine", app->route->engine);
	rte_tel_data_add_dict_int(d, "adaptive", app->route->adapts);
	rte_tel_data_add_dict_uint(d, "devices", t->ndev);
	rte_tel_data_add_dict_uint(d, "switches", t->ndev - t->nep);
	rte_tel_data_add_dict_uint(d, "endpoints", t->nep);
	rte_tel_data_add_dict_uint(d, "links", t->nlink);
	mirror_string(d, "start_utc", app->start_utc);
	rte_tel_data_add_dict_uint(d, "now_ns",
				  watch_since(app->start_ns,
					     host_now(&app->host)));
	rte_tel_data_add_dict_uint(d, "events", telemetry_mirror.nevents);
	rte_tel_data_add_dict_uint(d, "failovers",
				  telemetry_mirror.nfailovers);
	rte_tel_data_add_dict_int(d, "orders", app->opt.allow_orders);
	return 0;
}

static uint32_t
count_devices(const struct app *app)
{
	return app->cfg.topo.ndev;
}

static void
add_devices(const struct app *app, uint32_t from, uint32_t to,
	    struct mirror_table *t)
{
	for (uint32_t i = from; i < to; i++) {
		const struct rl_topo_dev *dev = &app->cfg.topo.dev[i];

		mirror_text(t, dev->name);
		mirror_text(t, dev->kind == RL_DEV_SWITCH ? "switch"
							  : "endpoint");
		for (unsigned int k = 0; k < RL_DIMS_MAX; k++)
			mirror_number(t, dev->coord[k]);
	}
}

const struct telemetry_list telemetry_devices = {
	.name = (const char *const[]){ "name", "kind", "x", "y", "z" },
	.texts = 2, .numbers = RL_DIMS_MAX, .most = 200,
	.total = count_devices, .rows = add_devices,
};

/* A link that was taken down on purpose has not failed. */
static const char *
planned_state(const struct app *app, uint32_t l, const char *state)
{
	const struct rl_controller *c = app->host.resil.controller;

	if (app->link[l].disabled)
		return "disabled";
	return c != NULL && rl_controller_link_removed(c, l) ? "removed"
							     : state;
}

/*
 * The state of a link for an operator: the worse of its ends in this process.
 * The state of other processes is not known here.
 */
static const char *
link_state(const struct app *app, uint32_t l)
{
	const struct rl_topo_link *link = &app->cfg.topo.link[l];
	const char *worst = "remote";
	bool up = true;

	if (rl_inject_severed(&app->host.fault[l]))
		return "cut";
	for (int end = 0; end < 2; end++) {
		const struct rl_device *d =
			&app->host.fabric.dev[link->dev[end]];
		struct rl_port_info i;

		if (d->foreign)
			continue;
		rl_port_info(d->port[link->port[end]].port, &i);
		if (up)
			worst = rl_link_state_name(i.state);
		up &= i.state == RL_LINK_UP;
	}
	return up ? worst : planned_state(app, l, worst);
}

/* Columns from LINK_ENDS on have a number of each end: of a, of b. */
static const char *const link_columns[] = {
	"name", "state", "admin", "oper", "a", "b", "tx_flits", "tx_frames",
	"tx_replay_flits", "rx_corrected", "rx_bad", "deaths", "looped_flits"
};
static const enum rl_port_counter link_counters[] = {
	RL_PC_tx_flits, RL_PC_tx_frames, RL_PC_tx_replay_flits,
	RL_PC_rx_corrected, RL_PC_rx_bad, RL_PC_deaths, RL_PC_looped_flits
};
#define LINK_TEXTS 4
#define LINK_ENDS 6

static void
add_link(const struct app *app, uint32_t l, struct mirror_table *t)
{
	const struct rl_topo_link *link = &app->cfg.topo.link[l];
	struct link_health h;

	link_health(app, l, &h);
	mirror_text(t, APP_LINK(app, l));
	mirror_text(t, link_state(app, l));
	mirror_text(t, link_admin_name(h.admin));
	mirror_text(t, link_oper_name(h.oper));
	for (int e = 0; e < 2; e++)
		mirror_number(t, link->dev[e]);
	for (int e = 0; e < 2; e++) {
		const uint64_t *v = rl_port_counters(
			app->host.fabric.dev[link->dev[e]]
				.port[link->port[e]].port);

		t->at = LINK_ENDS;
		for (unsigned int c = 0; c < RTE_DIM(link_counters); c++)
			mirror_number(t, v[link_counters[c]]);
	}
}

static uint32_t
count_links(const struct app *app)
{
	return app->cfg.topo.nlink;
}

static void
add_links(const struct app *app, uint32_t from, uint32_t to,
	  struct mirror_table *t)
{
	for (uint32_t l = from; l < to; l++)
		add_link(app, l, t);
}

const struct telemetry_list telemetry_links = {
	.name = link_columns,
	.texts = LINK_TEXTS, .numbers = RTE_DIM(link_columns) - LINK_TEXTS,
	.most = 50, .total = count_links, .rows = add_links,
};

/* Of devices of this process. */
static uint32_t
ports_here(const struct app *app, uint32_t dev)
{
	return rl_config_runs(&app->cfg, app->process, dev)
		       ? app->cfg.topo.dev[dev].nports
		       : 0;
}

static uint32_t
count_ports(const struct app *app)
{
	uint32_t n = 0;

	for (uint32_t dev = 0; dev < app->cfg.topo.ndev; dev++)
		n += ports_here(app, dev);
	return n;
}

static void
add_ports(const struct app *app, uint32_t from, uint32_t to,
	  struct mirror_table *t)
{
	const struct rl_topo *topo = &app->cfg.topo;
	char role[HOST_ROLE_NAME];
	uint32_t i = 0;

	for (uint32_t dev = 0; dev < topo->ndev; dev++)
		for (int32_t p = 0; p < (int32_t)ports_here(app, dev); p++, i++)
			if (i >= from && i < to)
				mirror_text(t, host_role_name(topo, dev, p,
							      role));
}

const struct telemetry_list telemetry_ports = {
	.name = (const char *const[]){ "name" },
	.texts = 1, .most = 300, .total = count_ports, .rows = add_ports,
};

static void
add_port(const struct app *app, uint32_t dev, uint16_t p,
	 struct rte_tel_data *d)
{
	const struct rl_port *port = app->host.fabric.dev[dev].port[p].port;
	char why[REFUSAL_TEXT_MAX];
	struct rl_port_info i;

	rl_port_info(port, &i);
	rte_tel_data_start_dict(d);
	mirror_string(d, "link",
		      APP_LINK(app, app->cfg.topo.dev[dev].port[p].link));
	mirror_string(d, "state", rl_link_state_name(i.state));
	mirror_string(d, "reason", refusal_now(&app->host, dev, p, why));
	mirror_string(d, "egress",
		      rl_egress_state_name(rl_core_egress_state(
			      app->host.fabric.dev[dev].core.core, p)));
	mirror_string(d, "last_death", rl_detector_name(i.last_detector));
	rte_tel_data_add_dict_uint(d, "window_flits", i.window);
	rte_tel_data_add_dict_uint(d, "held_flits", i.held_flits);
	rte_tel_data_add_dict_uint(d, "outstanding_flits", i.outstanding_flits);
	rte_tel_data_add_dict_uint(d, "queued_flits", i.queued_flits);
	rte_tel_data_add_dict_uint(d, "round_trip_ns", i.srtt_ns);
	rte_tel_data_add_dict_uint(d, "replay_timer_ns", i.replay_timer_ns);
	rte_tel_data_add_dict_uint(d, "flaps", i.flaps);
	rte_tel_data_add_dict_uint(d, "tx_epoch", i.tx_epoch);
	rte_tel_data_add_dict_uint(d, "rx_epoch", i.rx_epoch);
	mirror_counters(d, &counter_port, rl_port_counters(port));
}

int
telemetry_port(const struct app *app, const char *params,
	       struct rte_tel_data *d)
{
	const struct rl_topo *t = &app->cfg.topo;
	const char *name = params == NULL ? "" : params;
	char role[HOST_ROLE_NAME];

	for (uint32_t dev = 0; dev < t->ndev; dev++)
		for (uint16_t p = 0; p < t->dev[dev].nports; p++)
			if (strcmp(name, host_role_name(t, dev, p, role)) == 0) {
				if (mirror_elsewhere(app, dev, d))
					return 0;
				add_port(app, dev, p, d);
				return 0;
			}
	return mirror_error(d, "there is no port '%.60s'; see /reflit/ports",
			    name);
}
