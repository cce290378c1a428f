/* SPDX-License-Identifier: BSD-3-Clause */

/* Command that shows the ethdevs at the ends of links. */

#include <inttypes.h>
#include <stdio.h>

#include "command.h"

/* XDP's verdicts on received frames, if reflit steers them. */
static void
show_steered(struct app *app, const uint64_t *n)
{
	if (n == NULL && facts_text(&app->facts))
		printf(" %10s %10s %10s\n", "-", "-", "-");
	else if (n != NULL)
		facts_more(&app->facts,
			   " {steered_flits:10} {steered_kernel:10} "
			   "{steered_nobody:10}\n",
			   FACTS(FACT_N("steered_flits", n[RL_STEER_FLIT]),
				 FACT_N("steered_kernel", n[RL_STEER_KERNEL]),
				 FACT_N("steered_nobody",
					n[RL_STEER_NOBODY])));
}

static void
show_end(struct app *app, uint32_t wire, int end)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_wire_dev *d = host_wire_dev(&app->host, wire, end);
	const uint32_t link = app->cfg.wire[wire].index;
	const struct rl_phy_eth *phy = &app->host.phy[2 * link + (uint32_t)end];
	char name[2 * RL_NAME_MAX + 8];

	if (d == NULL)
		return; /* another process runs it */
	facts_row(&app->facts,
		  "{link:-16} {device:-8} {port:-16} {interface:-10} "
		  "{frame_bytes:5} {tx_frames:10} {rx_frames:10} "
		  "{rx_dropped:8}",
		  FACTS(FACT_T("link", rl_topo_link_name(t, link, name,
							 sizeof(name))),
			FACT_T("device",
			       t->dev[t->link[link].dev[end]].name),
			FACT_T("port", d->dev.name),
			FACT_T("interface", d->dev.iface[0] == '\0'
						    ? "-"
						    : d->dev.iface),
			FACT_N("frame_bytes", d->frame_bytes),
			FACT_N("tx_frames", phy->c.tx_frames),
			FACT_N("rx_frames", phy->c.rx_frames),
			FACT_N("rx_dropped", d->stats.missed +
						     d->stats.rx_errors +
						     d->stats.no_mbuf)));
	show_steered(app, host_steer_counts(&app->host, wire, end));
}

int
cmd_show_wires(struct app *app, const char *const arg[])
{
	(void)arg;
	facts_list(&app->facts, "wires");
	if (app->cfg.nwire == 0 && facts_text(&app->facts))
		printf("all links are software wires\n");
	if (app->cfg.nwire == 0)
		return 0;
	host_wires_note_stats(&app->host);
	if (facts_text(&app->facts))
		printf("%-16s %-8s %-16s %-10s %5s %10s %10s %8s %10s %10s %10s\n",
	       "link", "device", "port", "interface", "bytes", "tx frames",
	       "rx frames", "dropped", "flits", "to kernel", "nobody's");
	for (uint32_t i = 0; i < app->cfg.nwire; i++)
		for (int e = 0; e < 2; e++)
			show_end(app, i, e);
	return 0;
}
