/* SPDX-License-Identifier: BSD-3-Clause */

/* Command that shows the ethdevs at the ends of links. */

#include <inttypes.h>
#include <stdio.h>

#include "command.h"

/* XDP's verdicts on received frames, if reflit steers them. */
static void
show_steered(const uint64_t *n)
{
	if (n == NULL)
		printf(" %10s %10s %10s\n", "-", "-", "-");
	else
		printf(" %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
		       n[RL_STEER_FLIT], n[RL_STEER_KERNEL],
		       n[RL_STEER_NOBODY]);
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
	printf("%-16s %-8s %-16s %-10s %5u %10" PRIu64 " %10" PRIu64
	       " %8" PRIu64,
	       rl_topo_link_name(t, link, name, sizeof(name)),
	       t->dev[t->link[link].dev[end]].name, d->dev.name,
	       d->dev.iface[0] == '\0' ? "-" : d->dev.iface, d->frame_bytes,
	       phy->c.tx_frames, phy->c.rx_frames,
	       d->stats.missed + d->stats.rx_errors + d->stats.no_mbuf);
	show_steered(host_steer_counts(&app->host, wire, end));
}

int
cmd_show_wires(struct app *app, const char *const arg[])
{
	(void)arg;
	if (app->cfg.nwire == 0) {
		printf("all links are software wires\n");
		return 0;
	}
	host_wires_note_stats(&app->host);
	printf("%-16s %-8s %-16s %-10s %5s %10s %10s %8s %10s %10s %10s\n",
	       "link", "device", "port", "interface", "bytes", "tx frames",
	       "rx frames", "dropped", "flits", "to kernel", "nobody's");
	for (uint32_t i = 0; i < app->cfg.nwire; i++)
		for (int e = 0; e < 2; e++)
			show_end(app, i, e);
	return 0;
}
