/* SPDX-License-Identifier: BSD-3-Clause */

/* Telemetry of the fabric: devices, links, ports. On clients' threads. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "link_health.h"
#include "refusal.h"
#include "telemetry_mirror.h"

#define PAGE_DEVICES 200
#define PAGE_LINKS 50
#define PAGE_PORTS 300

static const char *
topology_name(const struct rl_topo *t)
{
	switch (t->spec.kind) {
	case RL_TOPO_TORUS:
		return "torus";
	case RL_TOPO_MESH:
		return "mesh";
	case RL_TOPO_BOARDS:
		return "boards";
	case RL_TOPO_BOARD:
		return "board";
	case RL_TOPO_CUSTOM:
		return "custom";
	case RL_TOPO_FAT_TREE:
		return "fat-tree";
	case RL_TOPO_DRAGONFLY:
		return "dragonfly";
	case RL_TOPO_SLIM_FLY:
		return "slim-fly";
	case RL_TOPO_RANDOM:
		return "random";
	default:
		return "other";
	}
}

int
telemetry_fabric(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct rte_tel_data *dims = mirror_column(RTE_TEL_UINT_VAL);
	struct app *app = mirror_enter();
	const struct rl_topo *t;

	(void)cmd;
	(void)params;
	rte_tel_data_start_dict(d);
	if (app == NULL || dims == NULL) {
		mirror_leave();
		rte_tel_data_free(dims);
		return 0;
	}
	t = &app->cfg.topo;
	for (unsigned int i = 0; i < t->spec.ndims; i++)
		rte_tel_data_add_array_uint(dims, t->spec.dims[i]);
	rte_tel_data_add_dict_string(d, "program", "reflit");
	rte_tel_data_add_dict_string(d, "version", RL_VERSION);
	rte_tel_data_add_dict_int(d, "pid", (int)getpid());
	rte_tel_data_add_dict_string(d, "config", app->opt.config);
	rte_tel_data_add_dict_string(d, "process",
		app->cfg.nprocess == 0
			? ""
			: app->cfg.process[app->process].name);
	rte_tel_data_add_dict_string(d, "topology", topology_name(t));
	rte_tel_data_add_dict_container(d, "dims", dims, 0);
	rte_tel_data_add_dict_string(d, "engine", app->route->engine);
	rte_tel_data_add_dict_uint(d, "devices", t->ndev);
	rte_tel_data_add_dict_uint(d, "switches", t->ndev - t->nep);
	rte_tel_data_add_dict_uint(d, "endpoints", t->nep);
	rte_tel_data_add_dict_uint(d, "links", t->nlink);
	rte_tel_data_add_dict_string(d, "start_utc", app->start_utc);
	rte_tel_data_add_dict_uint(d, "now_ns",
				  watch_since(app->start_ns,
					     host_now(&app->host)));
	rte_tel_data_add_dict_uint(d, "events", telemetry_mirror.nevents);
	rte_tel_data_add_dict_uint(d, "failovers",
				  telemetry_mirror.nfailovers);
	rte_tel_data_add_dict_int(d, "orders", app->opt.allow_orders);
	mirror_leave();
	return 0;
}

int
telemetry_devices(const char *cmd, const char *params, struct rte_tel_data *d)
{
	static const char *const axis[RL_DIMS_MAX] = { "x", "y", "z" };
	struct rte_tel_data *name, *kind, *coord[RL_DIMS_MAX];
	struct app *app = mirror_enter();
	uint32_t start = 0, count = 0;
	int ret = mirror_page(d, params, app != NULL ? app->cfg.topo.ndev : 0,
			      PAGE_DEVICES, &start, &count);

	(void)cmd;
	if (ret != 0) {
		mirror_leave();
		return ret;
	}
	name = mirror_column(RTE_TEL_STRING_VAL);
	kind = mirror_column(RTE_TEL_STRING_VAL);
	for (unsigned int k = 0; k < RL_DIMS_MAX; k++)
		coord[k] = mirror_column(RTE_TEL_UINT_VAL);
	for (uint32_t i = start; i < start + count; i++) {
		const struct rl_topo_dev *dev = &app->cfg.topo.dev[i];

		rte_tel_data_add_array_string(name, dev->name);
		rte_tel_data_add_array_string(kind,
			dev->kind == RL_DEV_SWITCH ? "switch" : "endpoint");
		for (unsigned int k = 0; k < RL_DIMS_MAX; k++)
			rte_tel_data_add_array_uint(coord[k], dev->coord[k]);
	}
	mirror_leave();
	rte_tel_data_add_dict_container(d, "name", name, 0);
	rte_tel_data_add_dict_container(d, "kind", kind, 0);
	for (unsigned int k = 0; k < RL_DIMS_MAX; k++)
		rte_tel_data_add_dict_container(d, axis[k], coord[k], 0);
	return 0;
}

/* Columns of links with one number for each direction: from a, from b. */
static const struct {
	const char *name;
	enum rl_port_counter counter;
} link_columns[] = {
	{ "tx_flits", RL_PC_tx_flits },
	{ "tx_frames", RL_PC_tx_frames },
	{ "tx_replay_flits", RL_PC_tx_replay_flits },
	{ "rx_corrected", RL_PC_rx_corrected },
	{ "rx_bad", RL_PC_rx_bad },
	{ "deaths", RL_PC_deaths },
	{ "looped_flits", RL_PC_looped_flits },
};

#define LINK_COLUMNS RTE_DIM(link_columns)

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

	if (rl_fault_severed(&app->host.fault[l]))
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

/* The words of `show link`. */
static void
add_health(const struct app *app, uint32_t l, struct rte_tel_data *admin,
	   struct rte_tel_data *oper)
{
	struct link_health h;

	link_health(app, l, &h);
	rte_tel_data_add_array_string(admin, link_admin_name(h.admin));
	rte_tel_data_add_array_string(oper, link_oper_name(h.oper));
}

int
telemetry_links(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct rte_tel_data *name, *state, *admin, *oper;
	struct rte_tel_data *end[2], *num[LINK_COLUMNS];
	struct app *app = mirror_enter();
	uint32_t start = 0, count = 0;
	char text[2 * RL_NAME_MAX + 8];
	int ret = mirror_page(d, params, app != NULL ? app->cfg.topo.nlink : 0,
			      PAGE_LINKS, &start, &count);

	(void)cmd;
	if (ret != 0) {
		mirror_leave();
		return ret;
	}
	name = mirror_column(RTE_TEL_STRING_VAL);
	state = mirror_column(RTE_TEL_STRING_VAL);
	admin = mirror_column(RTE_TEL_STRING_VAL);
	oper = mirror_column(RTE_TEL_STRING_VAL);
	end[0] = mirror_column(RTE_TEL_UINT_VAL);
	end[1] = mirror_column(RTE_TEL_UINT_VAL);
	for (unsigned int c = 0; c < LINK_COLUMNS; c++)
		num[c] = mirror_column(RTE_TEL_UINT_VAL);
	for (uint32_t l = start; l < start + count; l++) {
		const struct rl_topo_link *link = &app->cfg.topo.link[l];

		rte_tel_data_add_array_string(name,
			rl_topo_link_name(&app->cfg.topo, l, text,
					  sizeof(text)));
		rte_tel_data_add_array_string(state, link_state(app, l));
		add_health(app, l, admin, oper);
		for (int e = 0; e < 2; e++) {
			const uint64_t *v = rl_port_counters(
				app->host.fabric.dev[link->dev[e]]
					.port[link->port[e]].port);

			rte_tel_data_add_array_uint(end[e], link->dev[e]);
			for (unsigned int c = 0; c < LINK_COLUMNS; c++)
				rte_tel_data_add_array_uint(num[c],
					v[link_columns[c].counter]);
		}
	}
	mirror_leave();
	rte_tel_data_add_dict_container(d, "name", name, 0);
	rte_tel_data_add_dict_container(d, "state", state, 0);
	rte_tel_data_add_dict_container(d, "admin", admin, 0);
	rte_tel_data_add_dict_container(d, "oper", oper, 0);
	rte_tel_data_add_dict_container(d, "a", end[0], 0);
	rte_tel_data_add_dict_container(d, "b", end[1], 0);
	for (unsigned int c = 0; c < LINK_COLUMNS; c++)
		rte_tel_data_add_dict_container(d, link_columns[c].name,
						num[c], 0);
	return 0;
}

int
telemetry_ports(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct app *app = mirror_enter();
	uint32_t total = 0, start = 0, count = 0, i = 0;
	struct rte_tel_data *name;
	char role[HOST_ROLE_NAME];
	int ret;

	(void)cmd;
	if (app != NULL)
		total = 2 * app->cfg.topo.nlink;
	ret = mirror_page(d, params, total, PAGE_PORTS, &start, &count);
	if (ret != 0) {
		mirror_leave();
		return ret;
	}
	name = mirror_column(RTE_TEL_STRING_VAL);
	for (uint32_t dev = 0; app != NULL && dev < app->cfg.topo.ndev; dev++)
		for (uint16_t p = 0; p < app->cfg.topo.dev[dev].nports;
		     p++, i++) {
			if (i >= start && i < start + count)
				rte_tel_data_add_array_string(name,
					host_role_name(&app->cfg.topo, dev, p,
						       role));
		}
	mirror_leave();
	rte_tel_data_add_dict_container(d, "name", name, 0);
	return 0;
}

static void
add_port(const struct app *app, uint32_t dev, uint16_t p,
	 struct rte_tel_data *d)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_port *port = app->host.fabric.dev[dev].port[p].port;
	const uint64_t *c = rl_port_counters(port);
	char link[2 * RL_NAME_MAX + 8], why[REFUSAL_TEXT_MAX];
	struct rl_port_info i;

	rl_port_info(port, &i);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "link",
		rl_topo_link_name(t, t->dev[dev].port[p].link, link,
				  sizeof(link)));
	rte_tel_data_add_dict_string(d, "state", rl_link_state_name(i.state));
	rte_tel_data_add_dict_string(d, "reason",
		refusal_now(&app->host, dev, p, why));
	rte_tel_data_add_dict_string(d, "egress",
		rl_egress_state_name(rl_core_egress_state(
			app->host.fabric.dev[dev].core.core, p)));
	rte_tel_data_add_dict_string(d, "last_death",
				     rl_detector_name(i.last_detector));
	rte_tel_data_add_dict_uint(d, "window_flits", i.window);
	rte_tel_data_add_dict_uint(d, "held_flits", i.held_flits);
	rte_tel_data_add_dict_uint(d, "outstanding_flits", i.outstanding_flits);
	rte_tel_data_add_dict_uint(d, "queued_flits", i.queued_flits);
	rte_tel_data_add_dict_uint(d, "round_trip_ns", i.srtt_ns);
	rte_tel_data_add_dict_uint(d, "replay_timer_ns", i.replay_timer_ns);
	rte_tel_data_add_dict_uint(d, "flaps", i.flaps);
	rte_tel_data_add_dict_uint(d, "tx_epoch", i.tx_epoch);
	rte_tel_data_add_dict_uint(d, "rx_epoch", i.rx_epoch);
	for (int k = 0; k < RL_PORT_COUNTER_COUNT; k++)
		rte_tel_data_add_dict_uint(d,
			rl_port_counter_name((enum rl_port_counter)k), c[k]);
}

int
telemetry_port(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct app *app = mirror_enter();
	char role[HOST_ROLE_NAME];
	bool found = false;

	(void)cmd;
	for (uint32_t dev = 0; app != NULL && params != NULL &&
			       dev < app->cfg.topo.ndev; dev++)
		for (uint16_t p = 0; p < app->cfg.topo.dev[dev].nports; p++) {
			if (strcmp(params, host_role_name(&app->cfg.topo, dev,
							  p, role)) != 0)
				continue;
			add_port(app, dev, p, d);
			found = true;
		}
	mirror_leave();
	return found ? 0
		     : mirror_error(d, "there is no port '%.60s'; see "
				       "/reflit/ports",
				    params == NULL ? "" : params);
}
