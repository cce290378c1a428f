/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

static const char *
end_port(const struct rl_wire *w, int end)
{
	return end == 0 ? w->a : w->b;
}

static bool
is_mine(const struct host_params *p, uint32_t link, int end)
{
	return rl_config_runs(p->cfg, p->process,
			      p->cfg->topo.link[link].dev[end]);
}

size_t
host_wires_bytes(const struct host_params *p)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < p->cfg->nwire; i++)
		for (int e = 0; e < 2; e++)
			if (is_mine(p, p->cfg->wire[i].index, e))
				bytes += rl_wire_dev_bytes(
					end_port(&p->cfg->wire[i], e),
					p->cfg->wire[i].rx_queues[e]);
	return bytes;
}

struct rl_wire_dev *
host_wire_dev(const struct host *h, uint32_t wire, int end)
{
	struct rl_wire_dev *d = h->wire_dev == NULL
					? NULL
					: &h->wire_dev[2 * wire +
						       (uint32_t)end];

	return d != NULL && d->started ? d : NULL;
}

static int
open_end(struct host *h, uint32_t i, int end, char *err)
{
	const struct rl_wire *w = &h->p.cfg->wire[i];
	struct rl_wire_dev *d = &h->wire_dev[2 * i + (uint32_t)end];
	char why[HOST_ERR_MAX - 320];
	int ret = -EINVAL;

	if (end_port(w, end)[0] == '\0')
		snprintf(why, sizeof(why),
			 "this process runs end %c of %s; give it an ethdev",
			 "ab"[end], w->link);
	else
		ret = rl_wire_dev_open(d, end_port(w, end), w->mtu,
				       w->rx_queues[end], why, sizeof(why));
	if (ret == 0)
		h->wires.end[2 * w->index + (uint32_t)end] =
			(struct rl_wire_end){
				.pool = d->pool,
				.frame_bytes = d->frame_bytes,
				.port_id = d->dev.port_id,
				.rx_queues = d->dev.queues,
				.syscalls = d->dev.live,
			};
	else
		snprintf(err, HOST_ERR_MAX, "%s:%u: wires: %s", w->file,
			 w->line, why);
	return ret;
}

int
host_wires_open(struct host *h, char *err)
{
	const struct rl_config *cfg = h->p.cfg;
	const uint32_t nlink = cfg->topo.nlink;
	bool *other = calloc(nlink, sizeof(*other));
	int ret = -ENOMEM;

	h->wire_dev = calloc(2 * cfg->nwire + 1u, sizeof(*h->wire_dev));
	h->unplug = calloc(2 * cfg->nwire + 1u, sizeof(*h->unplug));
	if (other == NULL || h->wire_dev == NULL || h->unplug == NULL)
		goto out;
	for (uint32_t l = 0; l < nlink; l++)
		other[l] = !is_mine(&h->p, l, 0) || !is_mine(&h->p, l, 1);
	for (uint32_t i = 0; i < cfg->nwire; i++)
		other[cfg->wire[i].index] = true;
	ret = rl_wires_open(&h->wires, nlink, other, h->p.ring_frames,
			    h->pool, err, HOST_ERR_MAX);
	for (uint32_t i = 0; i < cfg->nwire; i++)
		for (int e = 0; e < 2 && ret == 0; e++)
			if (is_mine(&h->p, cfg->wire[i].index, e))
				ret = open_end(h, i, e, err);
out:
	free(other);
	return ret;
}

struct rl_phy_eth *
host_wires_phy(struct host *h, uint32_t i)
{
	return &h->phy[2 * h->p.cfg->wire[i / 2].index + i % 2];
}

/* From now on somebody asks for the carriers of all wires over ethdevs. */
static void
watch_carriers(struct host *h)
{
	const uint32_t ends = 2 * h->p.cfg->nwire;
	struct rl_carrier_wire *w = calloc(ends, sizeof(*w));
	unsigned int n = 0;

	h->carrier_on = true;
	for (uint32_t i = 0; w != NULL && i < ends; i++)
		if (h->wire_dev[i].present)
			w[n++] = (struct rl_carrier_wire){
				.ifindex = h->wire_dev[i].ifindex,
				.port_id = h->wire_dev[i].dev.port_id,
				.unplug = &h->wire_dev[i].unplug,
				.phy = host_wires_phy(h, i),
			};
	if (n != 0 && rl_carrier_start(&h->carrier, w, n) != 0)
		fprintf(stderr, "reflit: no thread asks for carriers: a pulled "
				"cable is found by silence\n");
	free(w);
}

void
host_wires_carriers(struct host *h)
{
	if (h->p.cfg->nwire == 0)
		return;
	host_steer_renew(h);
	if (!h->carrier_on)
		watch_carriers(h);
}

void
host_wires_carriers_stop(struct host *h)
{
	rl_carrier_stop(&h->carrier);
	h->carrier_on = false;
}

void
host_wires_note_stats(struct host *h)
{
	/* one thread at a time in a driver; host_wires_carriers() goes on */
	host_wires_carriers_stop(h);
	for (uint32_t i = 0; h->wire_dev != NULL && i < 2 * h->p.cfg->nwire;
	     i++)
		rl_wire_dev_note_stats(&h->wire_dev[i]);
	host_steer_note(h);
}

void
host_wires_close(struct host *h)
{
	host_wires_carriers_stop(h);
	for (uint32_t i = 0; h->wire_dev != NULL && i < 2 * h->p.cfg->nwire;
	     i++)
		rl_wire_dev_close(&h->wire_dev[i]);
	host_steer_close(h);
	free(h->wire_dev);
	free(h->unplug);
	h->wire_dev = NULL;
	h->unplug = NULL;
	rl_wires_close(&h->wires);
}
