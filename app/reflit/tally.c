/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

static size_t
port_index(const struct host *h, uint32_t dev, uint16_t port)
{
	const struct rl_topo *t = h->fabric.topo;

	return (size_t)(&t->dev[dev].port[port] - t->ports);
}

static void
name_port(char *buf, size_t len, const struct rl_topo *t, uint32_t dev,
	  uint16_t port)
{
	size_t at;

	rl_topo_link_name(t, t->dev[dev].port[port].link, buf, len);
	at = strlen(buf);
	snprintf(buf + at, len - at, " %s", t->dev[dev].name);
}

void
tally_device(const struct tally *t, const struct host *h, uint32_t dev,
	     tally_fn fn, void *ctx)
{
	const struct rl_device *d = &h->fabric.dev[dev];
	struct tally_part part = { .kind = &counter_port };

	for (uint16_t p = 0; p < d->nports; p++) {
		name_port(part.name, sizeof(part.name), h->fabric.topo, dev, p);
		part.now = rl_port_counters(d->port[p].port);
		part.then = t->port + port_index(h, dev, p) * part.kind->n;
		fn(ctx, &part);
	}
	part.kind = &counter_core;
	part.now = rl_core_counters(d->core.core);
	part.then = t->core + (size_t)dev * part.kind->n;
	snprintf(part.name, sizeof(part.name), "%s",
		 h->fabric.topo->dev[dev].name);
	fn(ctx, &part);
	if (d->core.ep == NULL)
		return;
	part.kind = &counter_ep;
	part.now = rl_ep_counters(d->core.ep);
	part.then = t->ep + (size_t)dev * part.kind->n;
	fn(ctx, &part);
}

static void
take(RL_UNUSED void *ctx, const struct tally_part *p)
{
	memcpy(p->then, p->now, p->kind->n * sizeof(*p->then));
}

/* What it has now will be nothing, and the growth stays. */
static void
carry(RL_UNUSED void *ctx, const struct tally_part *p)
{
	for (unsigned int i = 0; i < p->kind->n; i++)
		p->then[i] -= p->now[i];
}

int
tally_take(struct tally *t, const struct host *h)
{
	const struct rl_topo *topo = h->fabric.topo;
	struct tally n = *t;

	if (n.port == NULL) {
		n.port = calloc(2 * (size_t)topo->nlink + 1,
				RL_PORT_COUNTER_COUNT * sizeof(*n.port));
		n.core = calloc(topo->ndev,
				RL_CORE_COUNTER_COUNT * sizeof(*n.core));
		n.ep = calloc(topo->ndev,
			      RL_EP_COUNTER_COUNT * sizeof(*n.ep));
	}
	if (n.port == NULL || n.core == NULL || n.ep == NULL) {
		tally_free(&n);
		return -ENOMEM;
	}
	*t = n;
	for (uint32_t d = 0; d < topo->ndev; d++)
		tally_device(t, h, d, take, NULL);
	return 0;
}

void
tally_free(struct tally *t)
{
	free(t->port);
	free(t->core);
	free(t->ep);
	*t = (struct tally){ 0 };
}

void
tally_restarts(struct tally *t, const struct host *h, uint32_t dev)
{
	if (t->port != NULL)
		tally_device(t, h, dev, carry, NULL);
}

static void
grown(uint64_t *c, const uint64_t *now, const uint64_t *then, size_t at,
      unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		c[i] = now[i] - (then == NULL ? 0 : then[at * n + i]);
}

void
tally_port(const struct tally *t, const struct host *h, uint32_t dev,
	   uint16_t port, uint64_t c[RL_PORT_COUNTER_COUNT])
{
	grown(c, rl_port_counters(h->fabric.dev[dev].port[port].port), t->port,
	      port_index(h, dev, port), RL_PORT_COUNTER_COUNT);
}

void
tally_core(const struct tally *t, const struct host *h, uint32_t dev,
	   uint64_t c[RL_CORE_COUNTER_COUNT])
{
	grown(c, rl_core_counters(h->fabric.dev[dev].core.core), t->core, dev,
	      RL_CORE_COUNTER_COUNT);
}

void
tally_ep(const struct tally *t, const struct host *h, uint32_t dev,
	 uint64_t c[RL_EP_COUNTER_COUNT])
{
	grown(c, rl_ep_counters(h->fabric.dev[dev].core.ep), t->ep, dev,
	      RL_EP_COUNTER_COUNT);
}

static struct rate_sample
look(const struct host *h, uint32_t link, int end)
{
	const struct rl_topo_link *l = &h->fabric.topo->link[link];
	const uint64_t *c = rl_port_counters(
		h->fabric.dev[l->dev[end]].port[l->port[end]].port);

	return (struct rate_sample){
		.frames = c[RL_PC_tx_frames],
		.flits = c[RL_PC_tx_flits],
		.bytes = h->phy[2 * link + (uint32_t)end].c.tx_bytes,
		.replayed_flits = c[RL_PC_tx_replay_flits],
	};
}

double
rates_take(struct rates *r, const struct host *h, uint64_t start_ns,
	   struct rate *rate)
{
	const uint32_t n = 2 * h->fabric.topo->nlink;
	const uint64_t now_ns = host_now(h);
	const uint64_t since_ns = r->t_ns != 0 ? r->t_ns : start_ns;
	double s = (double)(now_ns - since_ns) / 1e9;

	if (r->dir == NULL)
		r->dir = calloc(n + 1, sizeof(*r->dir));
	if (r->dir == NULL)
		return -ENOMEM;
	s = s > 1e-9 ? s : 1e-9;
	for (uint32_t i = 0; i < n; i++) {
		const struct rate_sample now = look(h, i / 2, i % 2);
		const struct rate_sample *then = &r->dir[i];

		rate[i] = (struct rate){
			.frames = (double)(now.frames - then->frames) / s,
			.flits = (double)(now.flits - then->flits) / s,
			.bytes = (double)(now.bytes - then->bytes) / s,
			.replayed_flits = (double)(now.replayed_flits -
						   then->replayed_flits) / s,
		};
		r->dir[i] = now;
	}
	r->t_ns = now_ns;
	return s;
}

void
rates_free(struct rates *r)
{
	free(r->dir);
	*r = (struct rates){ 0 };
}
