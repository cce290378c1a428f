/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Attached ports as clients, and the proofs of the flows between them. A flow
 * to another process has half a proof here (half.h). Any endpoint there may
 * send, so each has a half.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "attach.h"
#include "rl_grow.h"

static struct rl_flit_cache *
cache_of(struct host *h, uint32_t dev)
{
	return &h->lcore[h->place.lcore[host_role(&h->place, dev, -1)]]->cache;
}

static bool
is_foreign(const struct host *h, uint16_t ep)
{
	return h->fabric.dev[h->fabric.topo->ep_dev[ep]].foreign;
}

static const char *
dev_name(const struct host *h, uint16_t ep)
{
	const struct rl_topo *t = h->fabric.topo;

	return t->dev[t->ep_dev[ep]].name;
}

static bool
list_flow(struct attach *a, struct proof *l)
{
	if (!rl_grow(&a->flow, a->nflows, &a->cap, sizeof(*a->flow)))
		return false;
	a->flow[a->nflows++] = l;
	return true;
}

static int
make_flow(struct attach *a, struct host *h, uint16_t src, uint16_t dst)
{
	struct proof **at =
		&a->by_flow[(size_t)dst * h->fabric.topo->nep + src];
	struct proof *l;

	if (src == dst || *at != NULL)
		return 0;
	l = host_mem_alloc(&h->mem, sizeof(*l));
	if (l == NULL || !list_flow(a, l))
		return -ENOMEM;
	proof_init(l, src, dst);
	*at = l;
	if (!is_foreign(h, src) && !is_foreign(h, dst))
		return 0;
	l->half = ledger_half(&a->ledger, dev_name(h, src), dev_name(h, dst));
	if (l->half == NULL)
		l->half = host_mem_alloc(&h->mem, sizeof(*l->half));
	if (l->half == NULL)
		return -ENOMEM;
	half_init(l->half, is_foreign(h, src));
	return 0;
}

static int
make_foreign_flows(struct attach *a, struct host *h, uint32_t dev)
{
	const struct rl_topo *t = h->fabric.topo;
	int ret = 0;

	for (uint16_t e = 0; e < t->nep && ret == 0; e++)
		if (is_foreign(h, e))
			ret = make_flow(a, h, e, t->dev[dev].ep_id);
	return ret;
}

static void
set_client(struct host *h, uint32_t dev, struct client_dev *c,
	   const struct client_dev_params *p)
{
	client_dev_init(c, p);
	h->fabric.dev[dev].core.client = (struct rl_client){
		.ctx = c,
		.poll = client_dev_poll,
		.deadline = client_dev_deadline,
		.event = client_dev_event,
	};
}

/* An endpoint without a port checks packets and throws them away. */
static int
make_sink(struct attach *a, struct host *h, uint32_t dev)
{
	const struct rl_topo *t = h->fabric.topo;
	struct attach_sink *s = &a->sink[a->nsinks++];
	struct client_dev_params p = {
		.port_id = CLIENT_NO_PORT,
		.cache = cache_of(h, dev),
		.ep_id = t->dev[dev].ep_id,
		.dst = -1,
		.flow = a->by_flow,
		.npeers = t->nep,
		.max_bytes = rl_ep_max_bytes(&h->p.cfg->endpoint),
	};

	p.scratch = host_mem_alloc(&h->mem, p.max_bytes);
	if (p.scratch == NULL)
		return -ENOMEM;
	s->dev = dev;
	set_client(h, dev, &s->client, &p);
	return make_foreign_flows(a, h, dev);
}

static int
make_flow_to(struct attach *a, struct attach_dev *d, struct host *h,
	     int32_t dst)
{
	const struct rl_topo *t = h->fabric.topo;
	const uint32_t dst_dev = t->ep_dev[dst];
	const int ret = make_flow(a, h, t->dev[d->dev].ep_id, (uint16_t)dst);

	if (ret != 0 || attach_has(a, dst_dev) || is_foreign(h, (uint16_t)dst))
		return ret;
	return make_sink(a, h, dst_dev);
}

/* The other members of a port's network, and flows to all of them. */
static int
join_network(struct attach *a, struct attach_dev *d, struct host *h,
	     struct client_dev_params *p)
{
	const struct rl_config *cfg = h->p.cfg;
	const uint8_t net = cfg->ep_network == NULL
				    ? RL_NO_NETWORK
				    : cfg->ep_network[p->ep_id];
	uint16_t *member;
	int ret = 0;

	if (net == RL_NO_NETWORK)
		return 0;
	d->l2 = host_mem_alloc(&h->mem, sizeof(*d->l2));
	member = host_mem_alloc(&h->mem, cfg->topo.nep * sizeof(*member));
	if (d->l2 == NULL || member == NULL)
		return -ENOMEM;
	rl_l2_init(d->l2, p->ep_id, cfg->network[net].ageing_ns);
	for (uint32_t i = 0; i < cfg->nstation; i++) {
		const struct rl_station *s = &cfg->station[i];

		if (s->network == net && !rl_l2_fix(d->l2, s->mac, s->vlan,
						    s->ep))
			fprintf(stderr, "%s:%u: networks: too many stations of "
					"a kind; this one is learned\n",
				s->file, s->line);
	}
	p->l2 = d->l2;
	p->member = member;
	for (uint16_t e = 0; e < cfg->topo.nep && ret == 0; e++)
		if (e != p->ep_id && cfg->ep_network[e] == net) {
			member[p->nmembers++] = e;
			ret = make_flow_to(a, d, h, e);
		}
	return ret;
}

static int
connect_one(struct attach *a, struct attach_dev *d, struct host *h)
{
	const struct rl_topo *t = h->fabric.topo;
	const int32_t dst_dev = d->cfg->dst[0] == '\0'
					? -1
					: rl_topo_find_dev(t, d->cfg->dst);
	struct client_dev_params p = {
		.port_id = d->port.port_id,
		.rx_queues = d->port.queues,
		.pool = a->pool,
		.check = d->port.live,
		.rx_slot = d->port.rx_bytes,
		.tx_max = attach_longest(&d->port, d->port.mtu),
		.cache = cache_of(h, d->dev),
		.ep_id = t->dev[d->dev].ep_id,
		.dst = dst_dev < 0 ? -1 : t->dev[dst_dev].ep_id,
		.flow = a->by_flow,
		.npeers = t->nep,
		.total_frames = d->file_frames,
		.max_bytes = rl_ep_max_bytes(&h->p.cfg->endpoint),
	};

	if (p.dst >= 0 && make_flow_to(a, d, h, p.dst) != 0)
		return -ENOMEM;
	if (join_network(a, d, h, &p) != 0)
		return -ENOMEM;
	p.scratch = host_mem_alloc(&h->mem, p.max_bytes);
	if (p.scratch == NULL)
		return -ENOMEM;
	set_client(h, d->dev, &d->client, &p);
	return make_foreign_flows(a, h, d->dev);
}

/* Another process may send to any endpoint of this one. */
static int
make_other_sinks(struct attach *a, struct host *h)
{
	const struct rl_topo *t = h->fabric.topo;
	int ret = 0;

	for (uint16_t e = 0; e < t->nep && ret == 0; e++)
		if (!is_foreign(h, e) && !attach_has(a, t->ep_dev[e]))
			ret = make_sink(a, h, t->ep_dev[e]);
	return ret;
}

int
attach_connect(struct attach *a, struct host *h, char *err)
{
	const bool apart = h->p.cfg->nprocess != 0;
	const size_t nep = h->fabric.topo->nep;
	int ret = 0;

	if (a->ndev == 0 && !apart)
		return 0;
	a->by_flow = calloc(nep * nep, sizeof(struct proof *));
	a->sink = calloc(nep, sizeof(*a->sink));
	if (a->by_flow == NULL || a->sink == NULL)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < a->ndev && ret == 0; i++)
		ret = connect_one(a, &a->dev[i], h);
	if (ret == 0 && apart)
		ret = make_other_sinks(a, h);
	h->proof = a->by_flow;
	if (ret != 0)
		snprintf(err, HOST_ERR_MAX, "no memory for attached ports");
	return ret;
}
