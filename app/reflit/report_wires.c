/* SPDX-License-Identifier: BSD-3-Clause */

/* What the ethdevs at the ends of links counted: rows, and a few lines. */

#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "refusal.h"
#include "report.h"

/* The end of a wire of the file that this process has, or NULL. */
static const struct rl_wire_dev *
end_of(const struct app *app, uint32_t i)
{
	return host_wire_dev(&app->host, i / 2, (int)(i % 2));
}

static const struct rl_phy_eth *
phy_of(const struct app *app, uint32_t i)
{
	return &app->host.phy[2 * app->cfg.wire[i / 2].index + i % 2];
}

/* Frames that its driver did not hand out. */
static uint64_t
dropped(const struct rl_wire_dev *d)
{
	return d->stats.missed + d->stats.rx_errors + d->stats.no_mbuf;
}

/* What XDP did with frames, by verdict; NULL: it does not steer them. */
static const uint64_t *
verdicts(const struct app *app, uint32_t i)
{
	return host_steer_counts(&app->host, i / 2, (int)(i % 2));
}

/* The same for a report, and for a line of text. */
static json_t *
verdicts_json(const uint64_t *n)
{
	return n == NULL ? NULL
			 : json_pack("{s:I, s:I, s:I}", "flit",
				     (json_int_t)n[RL_STEER_FLIT], "kernel",
				     (json_int_t)n[RL_STEER_KERNEL], "nobody",
				     (json_int_t)n[RL_STEER_NOBODY]);
}

static const char *
verdicts_text(const uint64_t *n, char *buf, size_t len)
{
	if (n == NULL)
		snprintf(buf, len, "%10s %10s %10s", "-", "-", "-");
	else
		snprintf(buf, len, "%10" PRIu64 " %10" PRIu64 " %10" PRIu64,
			 n[RL_STEER_FLIT], n[RL_STEER_KERNEL],
			 n[RL_STEER_NOBODY]);
	return buf;
}

/* Frames that were made or changed without the key. */
static uint64_t
auth_errors(const struct app *app, uint32_t i)
{
	const struct rl_topo_link *l =
		&app->cfg.topo.link[app->cfg.wire[i / 2].index];
	const struct rl_device *d = &app->host.fabric.dev[l->dev[i % 2]];

	return rl_port_counters(d->port[l->port[i % 2]].port)
		[RL_PC_rx_auth_error];
}

/* Why the port of a wire's end does not train: empty if it does. */
static const char *
refused(const struct app *app, uint32_t i, char buf[REFUSAL_TEXT_MAX])
{
	const struct rl_topo_link *l =
		&app->cfg.topo.link[app->cfg.wire[i / 2].index];

	return refusal_now(&app->host, l->dev[i % 2], l->port[i % 2], buf);
}

static void
say_end(const struct app *app, uint32_t i, struct facts *f)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_wire_dev *d = end_of(app, i);
	const struct rl_phy_eth_counters *c = &phy_of(app, i)->c;
	const uint32_t link = app->cfg.wire[i / 2].index;
	const uint64_t *n = verdicts(app, i);
	const char *iface = d->dev.iface;
	char why[REFUSAL_TEXT_MAX], text[80];

	facts_row(f,
		  "{link:-16} {device:-8} {port:-16} {iface:-10} "
		  "{frame_bytes:5} {rx_queues:6} {tx_frames:10} {rx_frames:10} "
		  "{rx_dropped:8} {verdicts}\n",
		  FACTS(FACT_T("link", APP_LINK(app, link)),
			FACT_T("device",
			       t->dev[t->link[link].dev[i % 2]].name),
			FACT_T("port", d->dev.name),
			FACT_T("interface", iface),
			FACT_S("iface", iface[0] == '\0' ? "-" : iface),
			FACT_T("driver", d->dev.driver),
			FACT_N("frame_bytes", d->frame_bytes),
			FACT_N("tx_frames", c->tx_frames),
			FACT_N("tx_errors", d->stats.tx_errors),
			FACT_N("tx_backpressure", c->tx_backpressure),
			FACT_N("tx_no_mbuf", c->tx_no_mbuf),
			FACT_N("rx_queues", d->dev.queues),
			FACT_N("rx_frames", c->rx_frames),
			FACT_N("rx_bounced", c->rx_bounced),
			FACT_N("rx_oversize", c->rx_oversize),
			FACT_N("rx_discarded", d->stats.discarded),
			FACT_N("rx_missed", d->stats.missed),
			FACT_N("rx_errors", d->stats.rx_errors),
			FACT_N("rx_no_mbuf", d->stats.no_mbuf),
			FACT_N("rx_dropped", dropped(d)),
			FACT_L("steered", verdicts_json(n)),
			FACT_S("verdicts", verdicts_text(n, text, sizeof(text))),
			FACT_B("keyed", app->keyed),
			FACT_N("rx_auth_errors", auth_errors(app, i)),
			/* a fact without a text is left out */
			FACT_T("refused", refused(app, i, why)[0] == '\0' ? NULL
									 : why)));
}

void
wires_say(const struct app *app, struct facts *f)
{
	facts_list(f, "wires");
	if (facts_text(f))
		printf("%-16s %-8s %-16s %-10s %5s %6s %10s %10s %8s %10s %10s "
		       "%10s\n", "link", "device", "port", "interface",
		       "bytes", "queues", "tx frames",
		       "rx frames", "dropped", "flits", "to kernel", "nobody's");
	for (uint32_t i = 0; i < 2 * app->cfg.nwire; i++)
		if (end_of(app, i) != NULL)
			say_end(app, i, f);
}

int
cmd_show_wires(struct app *app, RL_UNUSED const char *const arg[])
{
	if (app->cfg.nwire != 0)
		host_wires_note_stats(&app->host);
	if (app->cfg.nwire == 0 && facts_text(&app->facts))
		printf("all links are software wires\n");
	else
		wires_say(app, &app->facts);
	return 0;
}

static void
print_steer(const struct app *app, uint32_t i)
{
	const uint64_t *n = verdicts(app, i);

	if (n != NULL)
		printf("%s: %" PRIu64 " frames of flits; the kernel kept %"
		       PRIu64 " others\n", end_of(app, i)->dev.name,
		       n[RL_STEER_FLIT], n[RL_STEER_KERNEL]);
	if (n != NULL && n[RL_STEER_NOBODY] != 0)
		printf("%s: %" PRIu64 " frames of flits came by a queue that "
		       "reflit does not read; ethtool -L %s combined 1\n",
		       end_of(app, i)->dev.name, n[RL_STEER_NOBODY],
		       end_of(app, i)->dev.iface);
}

void
report_print_wires(const struct app *app)
{
	for (uint32_t i = 0; i < 2 * app->cfg.nwire; i++) {
		const struct rl_wire_dev *d = end_of(app, i);
		char why[REFUSAL_TEXT_MAX];
		uint64_t gone;

		if (d == NULL)
			continue;
		gone = dropped(d);
		if (gone != 0)
			printf("%s: its driver dropped %" PRIu64
			       " frames; the link sent any flits in them "
			       "again\n", d->dev.name, gone);
		print_steer(app, i);
		if (refused(app, i, why)[0] != '\0')
			printf("%s: did not train: %s\n", d->dev.name, why);
		if (auth_errors(app, i) != 0)
			printf("%s: %" PRIu64 " frames were not made with the "
			       "key, or were changed on the way; none was "
			       "taken\n", d->dev.name, auth_errors(app, i));
		if (d->stats.tx_errors != 0)
			printf("%s: %" PRIu64 " frames could not be written; "
			       "the link sent any flits in them again\n",
			       d->dev.name, d->stats.tx_errors);
	}
}
