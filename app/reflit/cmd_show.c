/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Commands that show ports and links. Counters are read while the lcores run:
 * each is correct, but they are of slightly different moments.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "counter_report.h"
#include "refusal.h"

typedef void (*port_fn)(struct app *app, uint32_t dev, uint16_t port);

/* "all" that are here, "s0" or "s0/1". */
static int
for_ports(struct app *app, const char *name, port_fn fn)
{
	const struct rl_topo *t = &app->cfg.topo;
	char role[HOST_ROLE_NAME];
	bool any = false;

	facts_list(&app->facts, "ports");
	for (uint32_t d = 0; d < t->ndev; d++)
		for (uint16_t p = 0; p < t->dev[d].nports; p++) {
			if (strcmp(name, "all") != 0 &&
			    strcmp(name, t->dev[d].name) != 0 &&
			    strcmp(name, host_role_name(t, d, p, role)) != 0)
				continue;
			any = true;
			if (!rl_config_runs(&app->cfg, app->process, d)) {
				if (strcmp(name, "all") == 0)
					continue;
				return command_here(app, d);
			}
			if (!app->checking)
				fn(app, d, p);
		}
	if (!any)
		return app_error(app, "there is no port %s; use DEVICE, "
				      "DEVICE/NUMBER or all",
				 name);
	return 0;
}

static const char *
error_rate_text(const struct rl_link_cfg *cfg, const struct rl_port_info *i,
		char *buf, size_t len)
{
	if (cfg->error_window_ns == 0)
		return "not watched";
	snprintf(buf, len, "%s; corrected %u %%, uncorrectable %u %%, replays "
			   "%u %% of what ends the link",
		 i->degraded ? "degraded" : "good", i->corrected_percent,
		 i->uncorrectable_percent, i->replay_percent);
	return buf;
}

/* What a port holds, and may send. */
static void
show_buffers(struct app *app, const struct rl_port_info *i)
{
	json_t *credits = json_array();

	for (uint32_t vc = 0; vc < app->cfg.link.vcs; vc++)
		json_array_append_new(credits, json_integer(i->credits[vc]));
	facts_more(&app->facts,
		   "  window {window_flits}  held {held_flits}  not acknowledged "
		   "{outstanding_flits}  queued {queued_flits}  credits "
		   "{credit_flits}\n",
		   FACTS(FACT_N("window_flits", i->window),
			 FACT_N("held_flits", i->held_flits),
			 FACT_N("outstanding_flits", i->outstanding_flits),
			 FACT_N("queued_flits", i->queued_flits),
			 FACT_L("credit_flits", credits)));
}

static void
show_frames(struct app *app, uint32_t d, uint16_t p,
	    const struct rl_port_info *i)
{
	const struct rl_topo_port *tp = &app->cfg.topo.dev[d].port[p];
	const struct rl_phy_eth *phy =
		&app->host.phy[2 * tp->link + tp->end];
	uint64_t c[RL_PORT_COUNTER_COUNT];
	char rate[128];

	tally_port(&app->cleared, &app->host, d, p, c);
	facts_more(&app->facts,
		   "  flits corrected {rx_corrected}, uncorrectable {rx_bad}, "
		   "marked {rx_poisoned}; error rate: {error_rate}\n"
		   "  ethdev {ethdev} queue {queue}  tx {tx_frames} frames, "
		   "{tx_backpressure} waits  rx {rx_frames} frames, "
		   "{rx_bounced} bounced\n",
		   FACTS(FACT_N("rx_corrected", c[RL_PC_rx_corrected]),
			 FACT_N("rx_bad", c[RL_PC_rx_bad]),
			 FACT_N("rx_poisoned", c[RL_PC_rx_poisoned]),
			 FACT_T("error_rate",
				error_rate_text(rl_config_link(&app->cfg,
							       tp->link),
						i, rate, sizeof(rate))),
			 FACT_N("ethdev", phy->p.port_id),
			 FACT_N("queue", phy->p.queue),
			 FACT_N("tx_frames", phy->c.tx_frames),
			 FACT_N("tx_backpressure", phy->c.tx_backpressure),
			 FACT_N("rx_frames", phy->c.rx_frames),
			 FACT_N("rx_bounced", phy->c.rx_bounced)));
}

static void
show_port(struct app *app, uint32_t d, uint16_t p)
{
	const struct rl_topo *t = &app->cfg.topo;
	struct facts *f = &app->facts;
	char role[HOST_ROLE_NAME];
	char why[REFUSAL_TEXT_MAX];
	struct rl_port_info i;

	rl_port_info(app->host.fabric.dev[d].port[p].port, &i);
	facts_row(f,
		  "{port}  link {link}  state {state}  egress {egress}  last "
		  "death {last_death}\n",
		  FACTS(FACT_T("port", host_role_name(t, d, p, role)),
			FACT_T("link", APP_LINK(app, t->dev[d].port[p].link)),
			FACT_T("state", rl_link_state_name(i.state)),
			FACT_T("egress",
			       rl_egress_state_name(rl_core_egress_state(
				       app->host.fabric.dev[d].core.core, p))),
			FACT_T("last_death",
			       rl_detector_name(i.last_detector))));
	refusal_now(&app->host, d, p, why);
	facts_more(f, why[0] == '\0' ? NULL : "  does not train: {reason}\n",
		   FACTS(FACT_T("reason", why)));
	facts_more(f,
		   "  epochs tx {tx_epoch} rx {rx_epoch}  flaps {flaps}  "
		   "{frame_flits} flits a frame  round trip {round_trip_ns:us} "
		   "us  replay timer {replay_timer_ns:us} us\n",
		   FACTS(FACT_N("tx_epoch", i.tx_epoch),
			 FACT_N("rx_epoch", i.rx_epoch),
			 FACT_N("flaps", i.flaps),
			 FACT_N("frame_flits", i.flits_per_frame),
			 FACT_N("round_trip_ns", i.srtt_ns),
			 FACT_N("replay_timer_ns", i.replay_timer_ns)));
	show_buffers(app, &i);
	show_frames(app, d, p, &i);
}

int
cmd_show_port(struct app *app, const char *const arg[])
{
	return for_ports(app, arg[0], show_port);
}

static void
show_replay(struct app *app, uint32_t d, uint16_t p)
{
	struct rl_port_info i;
	char role[HOST_ROLE_NAME];

	rl_port_info(app->host.fabric.dev[d].port[p].port, &i);
	facts_row(&app->facts,
		  "{port:-12} {state:-9} {base:10} {acked:10} {next:10} "
		  "{tail:10} {held_flits:6} {window_flits:6}\n",
		  FACTS(FACT_T("port", host_role_name(&app->cfg.topo, d, p,
						      role)),
			FACT_T("state", rl_link_state_name(i.state)),
			FACT_N("base", i.replay_base),
			FACT_N("acked", i.replay_acked),
			FACT_N("next", i.replay_next),
			FACT_N("tail", i.replay_tail),
			FACT_N("held_flits", i.held_flits),
			FACT_N("window_flits", i.window)));
}

int
cmd_show_replay(struct app *app, RL_UNUSED const char *const arg[])
{
	if (facts_text(&app->facts))
		printf("%-12s %-9s %10s %10s %10s %10s %6s %6s\n", "port",
		       "state", "base", "acked", "next", "tail", "held",
		       "window");
	return for_ports(app, "all", show_replay);
}

/* Counters that are not zero, of one thing. */
static void
show_counts(struct app *app, const char *name, const char *what,
	    const uint64_t *c, const struct counter_kind *kind)
{
	facts_row(&app->facts, "{name}{what}\n",
		  FACTS(FACT_T("name", name), FACT_S("what", what)));
	for (unsigned int i = 0; i < kind->n; i++)
		if (c[i] != 0)
			facts_more(&app->facts, "  {counter:-22} {*:14}\n",
				   FACTS(FACT_S("counter", kind->name[i]),
					 FACT_N(kind->name[i], c[i])));
}

static void
show_counters(struct app *app, uint32_t d, uint16_t p)
{
	uint64_t c[RL_PORT_COUNTER_COUNT];
	char role[HOST_ROLE_NAME];

	tally_port(&app->cleared, &app->host, d, p, c);
	show_counts(app, host_role_name(&app->cfg.topo, d, p, role), "", c,
		    &counter_port);
}

static void
show_core_counters(struct app *app, uint32_t d)
{
	const char *name = app->cfg.topo.dev[d].name;
	uint64_t c[RL_CORE_COUNTER_COUNT], e[RL_EP_COUNTER_COUNT];

	tally_core(&app->cleared, &app->host, d, c);
	facts_list(&app->facts, "cores");
	show_counts(app, name, " core", c, &counter_core);
	if (app->host.fabric.dev[d].core.ep == NULL)
		return;
	tally_ep(&app->cleared, &app->host, d, e);
	facts_list(&app->facts, "endpoints");
	show_counts(app, name, " endpoint", e, &counter_ep);
}

int
cmd_show_counters(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	const int ret = for_ports(app, arg[0], show_counters);

	for (uint32_t d = 0; ret == 0 && d < t->ndev && !app->checking; d++)
		if ((strcmp(arg[0], "all") == 0 ||
		     strcmp(arg[0], t->dev[d].name) == 0) &&
		    rl_config_runs(&app->cfg, app->process, d))
			show_core_counters(app, d);
	return ret;
}

static const char *
fault_word(const struct app *app, uint32_t link)
{
	const struct rl_inject_link *f = &app->host.fault[link];

	if (!rl_topo_link_up(&app->cfg.topo, link))
		return "failed";
	if (app->link[link].flaps != 0)
		return "flaps";
	if (!rl_inject_light(f))
		return "dark";
	if (rl_inject_severed(f))
		return "cut one way";
	if (app->link[link].disabled)
		return "disabled";
	return app->link[link].hurt ? "hurt" : "";
}

/* One end of a link: a fact of its row, and a peer in the wrong socket. */
static void
show_end(struct app *app, uint32_t link, int end)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_topo_link *l = &t->link[link];
	const struct rl_device *d = &app->host.fabric.dev[l->dev[end]];
	const uint16_t p = l->port[end];
	char role[HOST_ROLE_NAME];
	struct rl_port_info info;
	json_t *o;

	rl_port_info(d->port[p].port, &info);
	host_role_name(t, l->dev[end], p, role);
	o = json_pack("{s:s, s:s, s:b, s:s}", "port", role, "state",
		      app_port_state(app, l->dev[end], p), "degraded",
		      (int)info.degraded, "egress",
		      d->foreign ? "remote"
				 : rl_egress_state_name(rl_core_egress_state(
					   d->core.core, p)));
	if (facts_text(&app->facts))
		printf("  %s %s%s, %s", role,
		       json_string_value(json_object_get(o, "state")),
		       info.degraded ? " degraded" : "",
		       json_string_value(json_object_get(o, "egress")));
	facts_more(&app->facts, NULL, FACTS(FACT_L(end == 0 ? "a" : "b", o)));
}

static void
show_fabric_link(struct app *app, uint32_t link)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_topo_link *l = &t->link[link];
	char role[HOST_ROLE_NAME];
	char why[2][REFUSAL_TEXT_MAX];

	facts_row(&app->facts, "  {link:-20}",
		  FACTS(FACT_T("link", APP_LINK(app, link))));
	for (int e = 0; e < 2; e++)
		show_end(app, link, e);
	facts_more(&app->facts, "  {fault}\n",
		   FACTS(FACT_T("fault", fault_word(app, link))));
	for (int e = 0; e < 2; e++) {
		refusal_now(&app->host, l->dev[e], l->port[e], why[e]);
		if (facts_text(&app->facts) && why[e][0] != '\0')
			printf("    %s: %s\n",
			       host_role_name(t, l->dev[e], l->port[e], role),
			       why[e]);
	}
	facts_more(&app->facts, NULL, FACTS(FACT_T("a_refuses", why[0]),
					    FACT_T("b_refuses", why[1])));
}

int
cmd_show_fabric(struct app *app, RL_UNUSED const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;

	facts_set(&app->facts,
		  "{devices} devices, {endpoints} endpoints, {link_count} links; "
		  "engine {engine}, {vls} VLs and {detour_vls} for detours",
		  FACTS(FACT_N("devices", t->ndev), FACT_N("endpoints", t->nep),
			FACT_N("link_count", t->nlink),
			FACT_T("engine", app->route->engine),
			FACT_N("vls", app->route->vls),
			FACT_N("detour_vls", app->route->detour_vls)));
	facts_set(&app->facts, app->route->adapts ? ", adaptive plane\n" : "\n",
		  FACTS(FACT_B("adaptive", app->route->adapts)));
	if (facts_text(&app->facts))
		draw_fabric(app);
	facts_list(&app->facts, "links");
	for (uint32_t i = 0; i < t->nlink; i++)
		show_fabric_link(app, i);
	return 0;
}

/* Receivers that were stopped, see inject block. */
static void
show_blocked(struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;

	facts_list(&app->facts, "blocked");
	for (uint32_t d = 0; d < t->ndev; d++) {
		const uint32_t mask =
			atomic_load(&app->host.fabric.dev[d].core.hold_vcs);

		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			if (mask >> vc & 1)
				facts_row(&app->facts,
					  "{endpoint} takes nothing of VC "
					  "{vc}\n",
					  FACTS(FACT_T("endpoint",
						       t->dev[d].name),
						FACT_N("vc", vc)));
	}
}

/* Devices that alter flits or mark packets, see inject soft, inject poison. */
static void
show_soft(struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	char soft[32], poison[32];

	facts_list(&app->facts, "altering");
	for (uint32_t d = 0; d < t->ndev; d++) {
		struct rl_role_core *c = &app->host.fabric.dev[d].core;
		const double alters = atomic_load(&c->soft_ppb) / 1e9;
		const double marks = atomic_load(&c->poison_ppb) / 1e9;

		if (alters == 0.0 && marks == 0.0)
			continue;
		snprintf(soft, sizeof(soft), "%g", alters);
		snprintf(poison, sizeof(poison), "%g", marks);
		facts_row(&app->facts,
			  "{device} alters a flit of {share} of its packets, "
			  "and marks {poison} as bad\n",
			  FACTS(FACT_T("device", t->dev[d].name),
				FACT_S("share", soft),
				FACT_S("poison", poison),
				FACT_R("altered_packets_rate", alters),
				FACT_R("poisoned_packets_rate", marks)));
	}
}

/* Faults of the frames of one end: "dark", "ber=1e-05 delay=2000ns". */
static const char *
fault_text(const struct app *app, uint32_t link, int end, char *buf,
	   size_t len)
{
	const struct rl_inject_link *f = &app->host.fault[link];
	const struct link_state *s = &app->link[link];
	char noise[320];
	int at = 0;

	if (!rl_topo_link_up(&app->cfg.topo, link) ||
	    app->link[link].flaps != 0 || !rl_inject_light(f))
		return fault_word(app, link);
	buf[0] = '\0';
	if (atomic_load(&f->dir[end].cut) != 0)
		at += snprintf(buf + at, len - (size_t)at, ", cut");
	else if (s->cut_waits[end] && !rl_inject_severed(f))
		at += snprintf(buf + at, len - (size_t)at, ", cut waits");
	if (rl_noise_text(&s->noise[end], noise, sizeof(noise))[0] != '\0')
		at += snprintf(buf + at, len - (size_t)at, ",%s", noise);
	if (app->link[link].disabled)
		snprintf(buf + at, len - (size_t)at, ", disabled");
	return buf[0] == '\0' ? "" : buf + 2;
}

static void
show_fault(struct app *app, uint32_t link, int end)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_inject_counters *c = &app->host.fault[link].dir[end].c;
	char text[360];

	facts_row(&app->facts,
		  "{link:-20} {fault:-24} {from:-10} {lost_frames:10} "
		  "{lost_flits:10} {corrupted_frames:10} {flipped_bits:10}\n",
		  FACTS(FACT_T("link", APP_LINK(app, link)),
			FACT_T("fault", fault_text(app, link, end, text,
						   sizeof(text))),
			FACT_T("from", t->dev[t->link[link].dev[end]].name),
			FACT_N("lost_frames", c->dropped_frames),
			FACT_N("lost_flits", c->dropped_flits),
			FACT_N("corrupted_frames", c->corrupted_frames),
			FACT_N("flipped_bits", c->flipped_bits),
			FACT_N("duplicated_frames", c->duplicated_frames),
			FACT_N("delayed_frames", c->delayed_frames)));
}

int
cmd_show_faults(struct app *app, RL_UNUSED const char *const arg[])
{
	if (facts_text(&app->facts))
		printf("%-20s %-24s %-10s %10s %10s %10s %10s\n", "link",
		       "fault", "frames of", "lost", "flits lost", "corrupted",
		       "bits");
	facts_list(&app->facts, "faults");
	for (uint32_t i = 0; i < app->cfg.topo.nlink; i++)
		for (int e = 0; e < 2; e++)
			show_fault(app, i, e);
	show_blocked(app);
	show_soft(app);
	return 0;
}
