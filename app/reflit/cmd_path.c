/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The path that a packet would take now: the lookup of each switch core, by
 * its tables and the states of its egresses, without a packet.
 */

#include <errno.h>
#include <string.h>

#include "command.h"

struct at {
	uint32_t dev;
	uint16_t in_port; /* the device's number of ports: injected */
	uint8_t vl;
	uint8_t sl;
	uint8_t plane;
};

static enum rl_egress_state
egress(const struct app *app, uint32_t dev, uint16_t port)
{
	return rl_core_egress_state(app->host.fabric.dev[dev].core.core, port);
}

/* The first next hop that is not dead. @return its rank; -1: none */
static int
next_hop(const struct app *app, const struct at *at, uint16_t dst,
	 struct rl_fwd_hop *hop)
{
	const struct rl_fwd *f = app_fwd(app, at->dev);
	const struct rl_fwd_entry e = rl_fwd_lookup(f, at->plane, dst);
	const bool endpoint =
		app->cfg.topo.dev[at->dev].kind == RL_DEV_ENDPOINT;

	for (int i = 0; i < RL_FWD_ALTS; i++) {
		*hop = e.hop[i];
		if (hop->port == RL_FWD_PORT_NONE)
			break;
		if (hop->port == at->in_port &&
		    (endpoint || hop->plane == at->plane))
			continue;
		if (egress(app, at->dev, hop->port) != RL_EGRESS_DEAD)
			return i;
	}
	return -1;
}

static void
print_hop(struct app *app, const struct at *at, struct rl_fwd_hop hop,
	  int rank)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_topo_port *p = &t->dev[at->dev].port[hop.port];
	const enum rl_egress_state s = egress(app, at->dev, hop.port);

	facts_row(&app->facts, "  {device:-10} by {link:-20} VL {vl}",
		  FACTS(FACT_T("device", t->dev[at->dev].name),
			FACT_T("link", APP_LINK(app, p->link)),
			FACT_N("vl", at->vl)));
	facts_more(&app->facts, rank > 0 ? "  {better_dead} better dead" : NULL,
		   FACTS(FACT_N("better_dead", (uint64_t)rank)));
	facts_more(&app->facts,
		   s != RL_EGRESS_ALIVE ? "  waits: {egress}\n" : "\n",
		   FACTS(FACT_T("egress", rl_egress_state_name(s))));
}

/* Crosses one link. @return whether there was a next hop */
static bool
step(struct app *app, struct at *at, uint16_t dst)
{
	const struct rl_fwd *f = app_fwd(app, at->dev);
	const struct rl_topo_port *port;
	struct rl_fwd_hop hop;
	int rank;

	at->plane = at->in_port == f->nports ? f->inject_plane[at->sl]
					     : f->plane_of[at->vl][at->sl];
	rank = next_hop(app, at, dst, &hop);
	if (rank < 0)
		return false;
	at->vl = rl_fwd_vl(f, hop.plane, at->in_port, hop.port, at->sl);
	print_hop(app, at, hop, rank);
	port = &app->cfg.topo.dev[at->dev].port[hop.port];
	at->in_port = port->peer_port;
	at->dev = port->peer_dev;
	return true;
}

int
cmd_show_path(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	uint32_t src = 0, dst = 0;
	struct at at;
	unsigned int hops = 0;
	bool adaptive;
	uint16_t id;

	if (command_find_endpoint(app, arg[0], &src) != 0 ||
	    command_find_endpoint(app, arg[1], &dst) != 0)
		return -EINVAL;
	if (command_here(app, src) != 0)
		return -EINVAL;
	if (src == dst)
		return app_error(app, "%s is one endpoint; give two", arg[0]);
	if (app->checking)
		return 0;
	id = t->dev[dst].ep_id;
	at = (struct at){ .dev = src, .in_port = t->dev[src].nports };
	if (app_fwd(app, src)->path_sl != NULL)
		at.sl = app_fwd(app, src)->path_sl[id] & (RL_SLS - 1);
	facts_set(&app->facts, "{from} to {to}, SL {sl}\n",
		  FACTS(FACT_T("from", arg[0]), FACT_T("to", arg[1]),
			FACT_N("sl", at.sl)));
	adaptive = rl_fwd_adapt_vl(app_fwd(app, src)) < RL_VCS;
	facts_set(&app->facts,
		  adaptive ? "  where the adaptive plane has no room:\n" : "",
		  FACTS(FACT_B("adaptive", adaptive)));
	facts_list(&app->facts, "hops");
	while (at.dev != dst && hops < RL_HOPS_MAX &&
	       rl_config_runs(&app->cfg, app->process, at.dev)) {
		if (!step(app, &at, id))
			break;
		hops++;
	}
	facts_set(&app->facts,
		  at.dev == dst ? "  {last:-10} after {links} links\n"
		  : !rl_config_runs(&app->cfg, app->process, at.dev)
			  ? "  {last:-10} is in another process, which knows "
			    "how it goes on\n"
		  : hops < RL_HOPS_MAX
			  ? "  {last:-10} has no way on\n"
			  : "  ... more than {links} links\n",
		  FACTS(FACT_T("last", t->dev[at.dev].name),
			FACT_N("links", hops),
			FACT_B("arrives", at.dev == dst)));
	return 0;
}
