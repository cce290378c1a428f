/* SPDX-License-Identifier: BSD-3-Clause */

/* What the ethdevs at the ends of links counted: JSON and a few lines. */

#include <inttypes.h>
#include <stdio.h>

#include "json_set.h"
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

/* What XDP did with frames, by verdict. */
static void
set_steer(json_t *wire, const uint64_t *count)
{
	json_t *o;

	if (count == NULL)
		return;
	o = json_object();
	set(o, "flit", count[RL_STEER_FLIT]);
	set(o, "kernel", count[RL_STEER_KERNEL]);
	set(o, "nobody", count[RL_STEER_NOBODY]);
	json_object_set_new(wire, "steered", o);
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

void
report_wires(json_t *report, const struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	json_t *a = json_array();

	for (uint32_t i = 0; i < 2 * app->cfg.nwire; i++) {
		const struct rl_wire_dev *d = end_of(app, i);
		const uint32_t link = app->cfg.wire[i / 2].index;
		const struct rl_phy_eth_counters *c;
		char name[2 * RL_NAME_MAX + 8], why[REFUSAL_TEXT_MAX];
		json_t *o;

		if (d == NULL)
			continue;
		c = &phy_of(app, i)->c;
		o = json_object();
		rl_topo_link_name(t, link, name, sizeof(name));
		json_object_set_new(o, "link", json_string(name));
		json_object_set_new(
			o, "device",
			json_string(t->dev[t->link[link].dev[i % 2]].name));
		json_object_set_new(o, "port", json_string(d->dev.name));
		json_object_set_new(o, "interface", json_string(d->dev.iface));
		json_object_set_new(o, "driver", json_string(d->dev.driver));
		set(o, "frame_bytes", d->frame_bytes);
		set(o, "tx_frames", c->tx_frames);
		set(o, "tx_errors", d->stats.tx_errors);
		set(o, "tx_backpressure", c->tx_backpressure);
		set(o, "tx_no_mbuf", c->tx_no_mbuf);
		set(o, "rx_frames", c->rx_frames);
		set(o, "rx_bounced", c->rx_bounced);
		set(o, "rx_oversize", c->rx_oversize);
		set(o, "rx_discarded", d->stats.discarded);
		set(o, "rx_missed", d->stats.missed);
		set(o, "rx_errors", d->stats.rx_errors);
		set(o, "rx_no_mbuf", d->stats.no_mbuf);
		set_steer(o, host_steer_counts(&app->host, i / 2,
					       (int)(i % 2)));
		json_object_set_new(o, "keyed", json_boolean(app->keyed));
		set(o, "rx_auth_errors", auth_errors(app, i));
		if (refused(app, i, why)[0] != '\0')
			json_object_set_new(o, "refused", json_string(why));
		json_array_append_new(a, o);
	}
	json_object_set_new(report, "wires", a);
}

static void
print_steer(const struct app *app, uint32_t i)
{
	const uint64_t *n = host_steer_counts(&app->host, i / 2, (int)(i % 2));

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
		gone = d->stats.missed + d->stats.rx_errors + d->stats.no_mbuf;
		if (gone != 0)
			printf("%s: its driver dropped %" PRIu64
			       " frames; the link sent their flits again\n",
			       d->dev.name, gone);
		print_steer(app, i);
		if (refused(app, i, why)[0] != '\0')
			printf("%s: did not train: %s\n", d->dev.name, why);
		if (auth_errors(app, i) != 0)
			printf("%s: %" PRIu64 " frames were not made with the "
			       "key, or were changed on the way; none was "
			       "taken\n", d->dev.name, auth_errors(app, i));
		if (d->stats.tx_errors != 0)
			printf("%s: %" PRIu64 " frames could not be written; "
			       "the link sent their flits again\n",
			       d->dev.name, d->stats.tx_errors);
	}
}
