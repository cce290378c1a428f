/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists `wires`, `processes` and `networks`: which process runs which devices,
 * and how they are connected.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "config_impl.h"

#define NOBODY UINT8_MAX

int
rl_config_process(const struct rl_config *cfg, const char *name)
{
	for (uint32_t i = 0; i < cfg->nprocess; i++)
		if (strcmp(cfg->process[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int
listed_dev(struct cfg_ctx *c, const config_setting_t *s,
	   const struct rl_topo *t, const char *key, uint32_t *dev)
{
	const char *name = config_setting_get_string(s);
	const int32_t i = rl_topo_find_dev(t, name);

	if (i < 0)
		return cfg_error_at(c, s,
				    "%s: no device is called %.64s; the first "
				    "one is %s", key, name, t->dev[0].name);
	*dev = (uint32_t)i;
	return 0;
}

static int
read_devices(struct cfg_ctx *c, const config_setting_t *list, uint32_t process,
	     struct rl_config *cfg)
{
	int ret = 0;

	for (int i = 0; i < config_setting_length(list) && ret == 0; i++) {
		const config_setting_t *s =
			config_setting_get_elem(list, (unsigned int)i);
		uint32_t dev = 0;

		ret = listed_dev(c, s, &cfg->topo, "processes.devices", &dev);
		if (ret == 0 && cfg->dev_process[dev] != NOBODY)
			ret = cfg_error_at(
				c, s,
				"processes.devices: %s belongs to process %s "
				"already, in line %u; one process runs it",
				cfg->topo.dev[dev].name,
				cfg->process[cfg->dev_process[dev]].name,
				cfg->process[cfg->dev_process[dev]].line);
		if (ret == 0)
			cfg->dev_process[dev] = (uint8_t)process;
	}
	return ret;
}

static int
read_process(struct cfg_ctx *c, const config_setting_t *e, uint32_t i,
	     struct rl_config *cfg)
{
	struct rl_process *p = &cfg->process[i];
	int ret = cfg_group(c, e, "processes", p);

	if (ret != 0)
		return ret;
	cfg_note(c, e, &p->line, &p->file);
	for (uint32_t k = 0; k < i; k++)
		if (strcmp(cfg->process[k].name, p->name) == 0)
			return cfg_error_at(c, e,
					    "processes: there is a process %s "
					    "already, in line %u; give another "
					    "name", p->name,
					    cfg->process[k].line);
	return read_devices(c, config_setting_get_member(e, "devices"), i, cfg);
}

int
cfg_processes(struct cfg_ctx *c, const config_setting_t *s,
	      struct rl_config *cfg)
{
	int ret;

	if (s == NULL || config_setting_length(s) == 0)
		return 0;
	cfg->dev_process = malloc(cfg->topo.ndev);
	if (cfg->dev_process == NULL)
		return cfg_error_mem(c);
	memset(cfg->dev_process, NOBODY, cfg->topo.ndev);
	ret = cfg_entries(c, s, "processes", RL_PROCESSES_MAX, read_process,
			  cfg, &cfg->nprocess);
	for (uint32_t d = 0; d < cfg->topo.ndev && ret == 0; d++)
		if (cfg->dev_process[d] == NOBODY)
			ret = cfg_error_at(c, s,
					   "processes: no process runs %s; add "
					   "it to the devices of one",
					   cfg->topo.dev[d].name);
	return ret;
}

/* Whether two processes run the ends of a link. */
static bool
crosses(const struct rl_config *cfg, uint32_t link)
{
	const uint32_t *dev = cfg->topo.link[link].dev;

	return cfg->dev_process != NULL &&
	       cfg->dev_process[dev[0]] != cfg->dev_process[dev[1]];
}

/* The process that opens an end of a wire; the only one is 0. */
static unsigned int
end_process(const struct rl_config *cfg, const struct rl_wire *w, int end)
{
	return cfg->dev_process == NULL
		       ? 0
		       : cfg->dev_process[cfg->topo.link[w->index].dev[end]];
}

static int
check_port(struct cfg_ctx *c, const config_setting_t *e,
	   const struct rl_config *cfg, const struct rl_wire *w, int end)
{
	const char *port = end == 0 ? w->a : w->b;
	const unsigned int mine = end_process(cfg, w, end);

	if (port[0] == '\0')
		return 0;
	for (uint32_t i = 0; i < cfg->nattach; i++) {
		const struct rl_attach *a = &cfg->attach[i];
		const int32_t dev = rl_topo_find_dev(&cfg->topo, a->endpoint);

		if (strcmp(a->port, port) == 0 && dev >= 0 &&
		    (cfg->dev_process == NULL ||
		     cfg->dev_process[dev] == mine))
			return cfg_error_at(c, e,
					    "wires: port %s is attached to %s, "
					    "in line %u; give the wire a port "
					    "of its own", port, a->endpoint,
					    a->line);
	}
	for (const struct rl_wire *o = cfg->wire; o <= w; o++)
		for (int k = 0; k < 2; k++)
			if ((o < w || k < end) &&
			    end_process(cfg, o, k) == mine &&
			    strcmp(k == 0 ? o->a : o->b, port) == 0)
				return cfg_error_at(
					c, e,
					"wires: port %s is an end of %s "
					"already, in line %u; each end has an "
					"ethdev of its own", port, o->link,
					o->line);
	return 0;
}

static int
read_rx_queues(struct cfg_ctx *c, const config_setting_t *e, struct rl_wire *w)
{
	const config_setting_t *s = config_setting_get_member(e, "rx_queues");
	const int n = s == NULL ? 0 : cfg_length(s);

	if (s != NULL && n != 1 && n != 2)
		return cfg_error_at(c, s, "wires.rx_queues has %d numbers; give "
					  "one, or one for each end", n);
	for (unsigned int end = 0; s != NULL && end < 2; end++)
		w->rx_queues[end] =
			(uint16_t)cfg_element(s, n == 1 ? 0 : end);
	return 0;
}

static int
read_wire(struct cfg_ctx *c, const config_setting_t *e, uint32_t i,
	  struct rl_config *cfg)
{
	const config_setting_t *at = config_setting_get_member(e, "link");
	struct rl_wire *w = &cfg->wire[i];
	int ret = cfg_group(c, e, "wires", w);
	unsigned int n = 0;
	int64_t link;

	cfg_note(c, e, &w->line, &w->file);
	if (ret == 0)
		ret = read_rx_queues(c, e, w);
	if (ret != 0)
		return ret;
	link = rl_topo_find_link(&cfg->topo, w->link, &n);
	if (link < 0)
		return cfg_error_at(c, at,
				    "wires.link: there is no link %s; name two "
				    "devices that are joined, as A-B or A-B#k",
				    w->link);
	if (n > 1)
		return cfg_error_at(c, at,
				    "wires.link: there are %u links %s; name "
				    "one, as %s#0", n, w->link, w->link);
	w->index = (uint32_t)link;
	for (const struct rl_wire *o = cfg->wire; o < w; o++)
		if (o->index == w->index)
			return cfg_error_at(c, e,
					    "wires: link %s has its wire "
					    "already, in line %u; give it one",
					    w->link, o->line);
	if (w->a[0] == '\0' && w->b[0] == '\0')
		return cfg_error_at(c, e, "wires: %s names no ethdev; give its "
					  "ends a and b", w->link);
	if ((w->a[0] == '\0' || w->b[0] == '\0') && !crosses(cfg, w->index))
		return cfg_error_at(c, e,
				    "wires: one process runs both ends of %s; "
				    "give %s too", w->link,
				    w->a[0] == '\0' ? "a" : "b");
	ret = check_port(c, e, cfg, w, 0);
	return ret == 0 ? check_port(c, e, cfg, w, 1) : ret;
}

/* Two processes can't be joined by memory of one of them. */
static int
check_crossings(struct cfg_ctx *c, const config_setting_t *s,
		const struct rl_config *cfg)
{
	char name[2 * RL_NAME_MAX + 8];

	for (uint32_t l = 0; cfg->nprocess != 0 && l < cfg->topo.nlink; l++) {
		bool wired = !crosses(cfg, l);

		for (uint32_t i = 0; i < cfg->nwire && !wired; i++)
			wired = cfg->wire[i].index == l;
		if (!wired)
			return cfg_error_at(
				c, s,
				"processes: link %s joins two of them and has "
				"no wire; add it to wires",
				rl_topo_link_name(&cfg->topo, l, name,
						  sizeof(name)));
	}
	return 0;
}

static int
read_members(struct cfg_ctx *c, const config_setting_t *list, uint32_t network,
	     struct rl_config *cfg)
{
	int ret = 0;

	for (int i = 0; i < config_setting_length(list) && ret == 0; i++) {
		const config_setting_t *s =
			config_setting_get_elem(list, (unsigned int)i);
		uint32_t dev = 0;
		uint8_t *of;

		ret = listed_dev(c, s, &cfg->topo, "networks.members", &dev);
		if (ret != 0)
			return ret;
		if (cfg->topo.dev[dev].kind != RL_DEV_ENDPOINT)
			return cfg_error_at(c, s,
					    "networks.members: %s is a switch; "
					    "name an endpoint",
					    cfg->topo.dev[dev].name);
		of = &cfg->ep_network[cfg->topo.dev[dev].ep_id];
		if (*of != RL_NO_NETWORK)
			return cfg_error_at(c, s,
					    "networks.members: %s is on %s "
					    "already; an attached port is on "
					    "one network",
					    cfg->topo.dev[dev].name,
					    cfg->network[*of].name);
		*of = (uint8_t)network;
	}
	return ret;
}

/* "02:00:00:00:00:07/5 e1" */
static bool
parse_station(const char *text, struct rl_station *st, const char **endpoint)
{
	unsigned int m[6], vlan = 0;
	int n = 0;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &m[0], &m[1], &m[2],
		   &m[3], &m[4], &m[5], &n) != 6 || n != 17)
		return false;
	text += n;
	n = 0;
	if (*text == '/' && (sscanf(text, "/%4u%n", &vlan, &n) != 1 ||
			     vlan == 0 || vlan > 4094))
		return false;
	text += n;
	for (unsigned int i = 0; i < 6; i++)
		st->mac[i] = (uint8_t)m[i];
	st->vlan = (uint16_t)vlan;
	*endpoint = text + 1;
	return *text == ' ' && (m[0] & 1) == 0; /* no group address */
}

static int
read_stations(struct cfg_ctx *c, const config_setting_t *list, uint8_t network,
	      struct rl_config *cfg)
{
	const int n = list != NULL ? config_setting_length(list) : 0;

	for (int i = 0; i < n; i++) {
		const config_setting_t *s =
			config_setting_get_elem(list, (unsigned int)i);
		const char *text = config_setting_get_string(s), *name = "";
		struct rl_station *st = &cfg->station[cfg->nstation];
		int32_t dev;

		if (cfg->nstation == RL_STATIONS_MAX)
			return cfg_error_at(c, s, "networks.stations: at most "
						  "%d are possible",
					    RL_STATIONS_MAX);
		if (!parse_station(text, st, &name))
			return cfg_error_at(c, s, "networks.stations: \"%.60s\" "
						  "is not a station; write "
						  "\"02:00:"
						  "00:00:00:07 e1\", or with "
						  "its VLAN \"02:00:00:00:00:"
						  "07/5 e1\"", text);
		dev = rl_topo_find_dev(&cfg->topo, name);
		if (dev < 0 || cfg->topo.dev[dev].kind != RL_DEV_ENDPOINT ||
		    cfg->ep_network[cfg->topo.dev[dev].ep_id] != network)
			return cfg_error_at(c, s, "networks.stations: %.40s is "
						  "not a member of %s; add it "
						  "to members, or name one",
						  name,
					    cfg->network[network].name);
		st->ep = cfg->topo.dev[dev].ep_id;
		st->network = network;
		cfg_note(c, s, &st->line, &st->file);
		cfg->nstation++;
	}
	return 0;
}

/* A port on a network finds the destination of its frames by itself. */
static int
check_attached(struct cfg_ctx *c, const config_setting_t *root,
	       struct rl_config *cfg)
{
	const config_setting_t *list =
		config_setting_get_member(root, "attach");

	for (uint32_t i = 0; i < cfg->nattach; i++) {
		const config_setting_t *e = config_setting_get_elem(list, i);
		struct rl_attach *a = &cfg->attach[i];
		const int32_t dev = rl_topo_find_dev(&cfg->topo, a->endpoint);
		const uint8_t net = cfg->ep_network[cfg->topo.dev[dev].ep_id];

		if (net == RL_NO_NETWORK)
			continue;
		if (config_setting_get_member(e, "dst") != NULL)
			return cfg_error_at(c, e,
					    "attach: %s is on network %s, which "
					    "finds where its frames go; leave "
					    "dst out", a->endpoint,
					    cfg->network[net].name);
		a->dst[0] = '\0';
	}
	return 0;
}

static int
read_network(struct cfg_ctx *c, const config_setting_t *e, uint32_t i,
	     struct rl_config *cfg)
{
	struct rl_network *w = &cfg->network[i];
	int ret;

	w->ageing_ns = 300 * RL_NS_PER_S;
	ret = cfg_group(c, e, "networks", w);
	cfg_note(c, e, &w->line, &w->file);
	if (ret == 0)
		ret = read_members(c, config_setting_get_member(e, "members"),
				   i, cfg);
	if (ret == 0)
		ret = read_stations(c, config_setting_get_member(e, "stations"),
				    (uint8_t)i, cfg);
	return ret;
}

static int
read_networks(struct cfg_ctx *c, const config_setting_t *root,
	      struct rl_config *cfg)
{
	const config_setting_t *s = config_setting_get_member(root, "networks");
	int ret;

	if (s == NULL || config_setting_length(s) == 0)
		return 0;
	cfg->ep_network = malloc(cfg->topo.nep);
	if (cfg->ep_network == NULL)
		return cfg_error_mem(c);
	memset(cfg->ep_network, RL_NO_NETWORK, cfg->topo.nep);
	ret = cfg_entries(c, s, "networks", RL_NETWORKS_MAX, read_network, cfg,
			  &cfg->nnetwork);
	return ret == 0 ? check_attached(c, root, cfg) : ret;
}

int
cfg_parts(struct cfg_ctx *c, const config_setting_t *root,
	  struct rl_config *cfg)
{
	int ret = cfg_entries(c, config_setting_get_member(root, "wires"),
			      "wires", RL_WIRES_MAX, read_wire, cfg,
			      &cfg->nwire);

	if (ret == 0)
		ret = check_crossings(
			c, config_setting_get_member(root, "processes"), cfg);
	if (ret == 0)
		ret = read_networks(c, root, cfg);
	return ret;
}
