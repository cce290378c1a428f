/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Commands that show ports and links. Counters are read while the lcores run:
 * each is correct, but they are of slightly different moments.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "refusal.h"

typedef void (*port_fn)(const struct app *app, uint32_t dev, uint16_t port);

/* "all", "s0" or "s0/1". */
static int
for_ports(struct app *app, const char *name, port_fn fn)
{
	const struct rl_topo *t = &app->cfg.topo;
	char role[HOST_ROLE_NAME];
	bool any = false;

	for (uint32_t d = 0; d < t->ndev; d++)
		for (uint16_t p = 0; p < t->dev[d].nports; p++) {
			if (strcmp(name, "all") != 0 &&
			    strcmp(name, t->dev[d].name) != 0 &&
			    strcmp(name, host_role_name(t, d, p, role)) != 0)
				continue;
			any = true;
			if (!app->checking)
				fn(app, d, p);
		}
	if (!any)
		return app_error(app, "there is no port %s; use DEVICE, "
				      "DEVICE/NUMBER or all",
				 name);
	return 0;
}

static void
port_head(const struct app *app, uint32_t d, uint16_t p,
	  struct rl_port_info *info)
{
	const struct rl_topo *t = &app->cfg.topo;
	char role[HOST_ROLE_NAME], link[2 * RL_NAME_MAX + 8];

	rl_port_info(app->host.fabric.dev[d].port[p].port, info);
	printf("%s  link %s  state %s", host_role_name(t, d, p, role),
	       rl_topo_link_name(t, t->dev[d].port[p].link, link, sizeof(link)),
	       rl_link_state_name(info->state));
}

/* The state of a port's error-rate detector. */
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

static void
show_port(const struct app *app, uint32_t d, uint16_t p)
{
	const struct rl_topo_port *tp = &app->cfg.topo.dev[d].port[p];
	const struct rl_phy_eth *phy =
		&app->host.phy[2 * tp->link + tp->end];
	uint64_t c[RL_PORT_COUNTER_COUNT];
	struct rl_port_info i;
	char rate[128], why[REFUSAL_TEXT_MAX];

	tally_port(&app->cleared, &app->host, d, p, c);
	port_head(app, d, p, &i);
	printf("  egress %s  last death %s\n",
	       rl_egress_state_name(rl_core_egress_state(
		       app->host.fabric.dev[d].core.core, p)),
	       rl_detector_name(i.last_detector));
	if (refusal_now(&app->host, d, p, why)[0] != '\0')
		printf("  does not train: %s\n", why);
	printf("  epochs tx %u rx %u  flaps %u  %u flits a frame  round trip "
	       "%.1f us  replay timer %.1f us\n",
	       i.tx_epoch, i.rx_epoch, i.flaps, i.flits_per_frame,
	       (double)i.srtt_ns / 1e3, (double)i.replay_timer_ns / 1e3);
	printf("  window %u  held %u  not acknowledged %u  queued %u  credits",
	       i.window, i.held_flits, i.outstanding_flits, i.queued_flits);
	for (uint32_t vc = 0; vc < app->cfg.link.vcs; vc++)
		printf(" %u", i.credits[vc]);
	printf("\n  flits corrected %" PRIu64 ", uncorrectable %" PRIu64
	       ", marked %" PRIu64 "; error rate: %s",
	       c[RL_PC_rx_corrected], c[RL_PC_rx_bad], c[RL_PC_rx_poisoned],
	       error_rate_text(rl_config_link(&app->cfg, tp->link), &i, rate, sizeof(rate)));
	printf("\n  ethdev %u queue %u  tx %" PRIu64 " frames, %" PRIu64
	       " waits  rx %" PRIu64 " frames, %" PRIu64 " bounced\n",
	       phy->p.port_id, phy->p.queue, phy->c.tx_frames,
	       phy->c.tx_backpressure, phy->c.rx_frames, phy->c.rx_bounced);
}

int
cmd_show_port(struct app *app, const char *const arg[])
{
	return for_ports(app, arg[0], show_port);
}

static void
show_replay(const struct app *app, uint32_t d, uint16_t p)
{
	struct rl_port_info i;
	char role[HOST_ROLE_NAME];

	rl_port_info(app->host.fabric.dev[d].port[p].port, &i);
	printf("%-12s %-9s %10u %10u %10u %10u %6u %6u\n",
	       host_role_name(&app->cfg.topo, d, p, role),
	       rl_link_state_name(i.state), i.replay_base, i.replay_acked,
	       i.replay_next, i.replay_tail, i.held_flits, i.window);
}

int
cmd_show_replay(struct app *app, const char *const arg[])
{
	(void)arg;
	printf("%-12s %-9s %10s %10s %10s %10s %6s %6s\n", "port", "state",
	       "base", "acked", "next", "tail", "held", "window");
	return for_ports(app, "all", show_replay);
}

static void
show_counters(const struct app *app, uint32_t d, uint16_t p)
{
	uint64_t c[RL_PORT_COUNTER_COUNT];
	char role[HOST_ROLE_NAME];

	tally_port(&app->cleared, &app->host, d, p, c);
	printf("%s\n", host_role_name(&app->cfg.topo, d, p, role));
	for (int i = 0; i < RL_PORT_COUNTER_COUNT; i++)
		if (c[i] != 0)
			printf("  %-22s %14" PRIu64 "\n",
			       rl_port_counter_name((enum rl_port_counter)i),
			       c[i]);
}

static void
show_core_counters(const struct app *app, uint32_t d)
{
	uint64_t c[RL_CORE_COUNTER_COUNT], e[RL_EP_COUNTER_COUNT];

	tally_core(&app->cleared, &app->host, d, c);
	printf("%s core\n", app->cfg.topo.dev[d].name);
	for (int i = 0; i < RL_CORE_COUNTER_COUNT; i++)
		if (c[i] != 0)
			printf("  %-22s %14" PRIu64 "\n",
			       rl_core_counter_name((enum rl_core_counter)i),
			       c[i]);
	if (app->host.fabric.dev[d].core.ep == NULL)
		return;
	tally_ep(&app->cleared, &app->host, d, e);
	printf("%s endpoint\n", app->cfg.topo.dev[d].name);
	for (int i = 0; i < RL_EP_COUNTER_COUNT; i++)
		if (e[i] != 0)
			printf("  %-22s %14" PRIu64 "\n",
			       rl_ep_counter_name((enum rl_ep_counter)i),
			       e[i]);
}

int
cmd_show_counters(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	const int ret = for_ports(app, arg[0], show_counters);

	for (uint32_t d = 0; ret == 0 && d < t->ndev && !app->checking; d++)
		if (strcmp(arg[0], "all") == 0 ||
		    strcmp(arg[0], t->dev[d].name) == 0)
			show_core_counters(app, d);
	return ret;
}

static const char *
fault_word(const struct app *app, uint32_t link)
{
	const struct rl_fault_link *f = &app->host.fault[link];

	if (!rl_topo_link_up(&app->cfg.topo, link))
		return "failed";
	if (app->link[link].flaps != 0)
		return "flaps";
	if (!rl_fault_light(f))
		return "dark";
	if (rl_fault_severed(f))
		return "cut one way";
	if (app->link[link].disabled)
		return "disabled";
	return app->link[link].hurt ? "hurt" : "";
}

/* Describes a peer in the wrong socket. */
static void
show_refused(const struct app *app, uint32_t link)
{
	const struct rl_topo_link *l = &app->cfg.topo.link[link];
	char role[HOST_ROLE_NAME], why[REFUSAL_TEXT_MAX];

	for (int e = 0; e < 2; e++)
		if (refusal_now(&app->host, l->dev[e], l->port[e], why)[0] !=
		    '\0')
			printf("    %s: %s\n",
			       host_role_name(&app->cfg.topo, l->dev[e],
					      l->port[e], role), why);
}

int
cmd_show_fabric(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	char name[2 * RL_NAME_MAX + 8];

	(void)arg;
	printf("%u devices, %u endpoints, %u links; engine %s, %u VLs and %u "
	       "for detours\n",
	       t->ndev, t->nep, t->nlink, app->route->engine, app->route->vls,
	       app->route->detour_vls);
	draw_fabric(app);
	for (uint32_t i = 0; i < t->nlink; i++) {
		printf("  %-20s", rl_topo_link_name(t, i, name, sizeof(name)));
		for (int e = 0; e < 2; e++) {
			const struct rl_device *d =
				&app->host.fabric.dev[t->link[i].dev[e]];
			const uint16_t p = t->link[i].port[e];
			struct rl_port_info info;

			rl_port_info(d->port[p].port, &info);
			printf("  %s/%u %s%s, %s",
			       t->dev[t->link[i].dev[e]].name, p,
			       rl_link_state_name(info.state),
			       info.degraded ? " degraded" : "",
			       rl_egress_state_name(rl_core_egress_state(
				       d->core.core, p)));
		}
		printf("  %s\n", fault_word(app, i));
		show_refused(app, i);
	}
	return 0;
}

/* Receivers that were stopped, see inject block. */
static void
show_blocked(const struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;

	for (uint32_t d = 0; d < t->ndev; d++) {
		const uint32_t mask =
			atomic_load(&app->host.fabric.dev[d].core.hold_vcs);

		for (unsigned int vc = 0; vc < RL_VCS; vc++)
			if (mask >> vc & 1)
				printf("%s takes nothing of VC %u\n",
				       t->dev[d].name, vc);
	}
}

/* Devices that alter flits, see inject soft. */
static void
show_soft(const struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;

	for (uint32_t d = 0; d < t->ndev; d++) {
		const uint32_t ppb =
			atomic_load(&app->host.fabric.dev[d].core.soft_ppb);

		if (ppb != 0)
			printf("%s alters a flit of %g of its packets\n",
			       t->dev[d].name, ppb / 1e9);
	}
}

/* Faults of the frames of one end: "dark", "ber 1e-05, delay 2 us". */
static const char *
fault_text(const struct app *app, uint32_t link, int end, char *buf,
	   size_t len)
{
	const struct rl_fault_link *f = &app->host.fault[link];
	const struct injected *in = &app->link[link].injected[end];
	int at = 0;

	if (!rl_topo_link_up(&app->cfg.topo, link) ||
	    app->link[link].flaps != 0 || !rl_fault_light(f))
		return fault_word(app, link);
	buf[0] = '\0';
	if (atomic_load(&f->dir[end].cut) != 0)
		at += snprintf(buf + at, len - (size_t)at, ", cut");
	else if (in->waits && !rl_fault_severed(f))
		at += snprintf(buf + at, len - (size_t)at, ", cut waits");
	if (in->ber > 0.0)
		at += snprintf(buf + at, len - (size_t)at, ", ber %g", in->ber);
	if (in->ber > 0.0 && in->propagate > 0.0)
		at += snprintf(buf + at, len - (size_t)at,
			       " propagate %g lanes %u", in->propagate,
			       in->lanes);
	if (in->loss > 0.0)
		at += snprintf(buf + at, len - (size_t)at, ", loss %g",
			       in->loss);
	if (in->delay_ns != 0)
		at += snprintf(buf + at, len - (size_t)at, ", delay %g us",
			       (double)in->delay_ns / 1e3);
	if (app->link[link].disabled)
		snprintf(buf + at, len - (size_t)at, ", disabled");
	return buf[0] == '\0' ? "" : buf + 2;
}

int
cmd_show_faults(struct app *app, const char *const arg[])
{
	const struct rl_topo *t = &app->cfg.topo;
	char name[2 * RL_NAME_MAX + 8], text[160];

	(void)arg;
	printf("%-20s %-24s %-10s %10s %10s %10s %10s\n", "link", "fault",
	       "frames of", "lost", "flits lost", "corrupted", "bits");
	for (uint32_t i = 0; i < t->nlink; i++)
		for (int e = 0; e < 2; e++) {
			const struct rl_fault_counters *c =
				&app->host.fault[i].dir[e].c;

			printf("%-20s %-24s %-10s %10" PRIu64 " %10" PRIu64
			       " %10" PRIu64 " %10" PRIu64 "\n",
			       rl_topo_link_name(t, i, name, sizeof(name)),
			       fault_text(app, i, e, text, sizeof(text)),
			       t->dev[t->link[i].dev[e]].name,
			       c->dropped_frames, c->dropped_flits,
			       c->corrupted_frames, c->flipped_bits);
		}
	show_blocked(app);
	show_soft(app);
	return 0;
}
