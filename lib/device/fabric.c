/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "rl_fabric.h"
#include "rl_prng.h"

uint32_t
rl_fabric_port_flits(const struct rl_link_cfg *cfg, unsigned int nvls)
{
	return cfg->window_flits + cfg->wait_flits +
	       nvls * (cfg->queue_flits + cfg->credits_flits);
}

uint32_t
rl_fabric_ep_flits(const struct rl_ep_cfg *cfg, uint32_t nflows)
{
	const uint32_t flows = rl_min_u32(nflows, cfg->max_flows);
	const uint32_t most = 2 * (cfg->tx_buffer_flits + cfg->rx_buffer_flits) +
			      flows * cfg->max_packet_flits;

	/* retry copies, first transmissions and the reorder window */
	return rl_min_u32(flows * 3 * cfg->window_flits, most) + 1024;
}

/* Room for every queue of a port when full, and for the marks between. */
static struct rl_pipe_sizes
pipe_sizes(const struct rl_link_cfg *cfg)
{
	const uint32_t marks = 16;
	const uint32_t queues = cfg->queue_flits * RL_VCS;

	return (struct rl_pipe_sizes){
		.rx = cfg->credits_flits * RL_VCS + marks,
		.loop = cfg->window_flits + 2 * queues + marks,
		.tx = queues + marks,
	};
}

static int
build_pipes(struct rl_device *d, uint16_t i, const struct rl_link_cfg *cfg,
	    const struct rl_fabric_host *host)
{
	const struct rl_pipe_sizes size = pipe_sizes(cfg);
	struct rl_role_port *rp = &d->port[i];
	int ret;

	ret = host->pipe(host->ctx, size.rx, &rp->rx);
	if (ret == 0)
		ret = host->pipe(host->ctx, size.loop, &rp->loop);
	if (ret == 0)
		ret = host->pipe(host->ctx, size.tx, &rp->tx);
	d->core.rx[i] = rp->rx;
	d->core.loop[i] = rp->loop;
	d->core.tx[i] = rp->tx;
	return ret;
}

/*
 * Locally administered addresses, one for each port, so that captures tell
 * ports apart.
 */
static void
port_mac(uint8_t mac[12], uint32_t peer_uid, uint32_t uid)
{
	const uint32_t id[2] = { peer_uid, uid };

	for (int i = 0; i < 2; i++) {
		uint8_t *m = mac + 6 * i;

		m[0] = 0x02;
		m[1] = 'r';
		m[2] = (uint8_t)(id[i] >> 24);
		m[3] = (uint8_t)(id[i] >> 16);
		m[4] = (uint8_t)(id[i] >> 8);
		m[5] = (uint8_t)id[i];
	}
}

/* Identity that a port sends to the other end of its cable [LINK-8]. */
static struct rl_frame_place
port_place(const struct rl_topo_dev *dev, uint16_t port)
{
	struct rl_frame_place p = {
		.link = dev->port[port].link + 1,
		.port = port,
		.end = dev->port[port].end,
	};

	memcpy(p.dev, dev->name, strnlen(dev->name, RL_FRAME_NAME_BYTES));
	return p;
}

/* Context for drop notices and reports of a device. */
static void *
drop_ctx(const struct rl_fabric_host *host, uint32_t dev)
{
	return host->drop_ctx == NULL ? host->ctx
				      : host->drop_ctx(host->ctx, dev);
}

static int
build_port(struct rl_fabric *f, uint32_t dev, uint16_t i, uint32_t uid,
	   struct rl_port_shared *shared, const struct rl_fabric_host *host,
	   char *err)
{
	const struct rl_topo_dev *td = &f->topo->dev[dev];
	struct rl_device *d = &f->dev[dev];
	struct rl_role_port *rp = &d->port[i];
	const uint32_t link = td->port[i].link;
	struct rl_port_params pp = {
		.cfg = rl_config_link(f->cfg, link),
		.codec = f->codec,
		.shared = shared,
		.drop = host->drop,
		.drop_ctx = drop_ctx(host, dev),
		.seed = host->seed ^ (uint64_t)uid << 32,
		.incarnation = host->incarnation,
		.digest = host->digest,
		.uid = uid,
		.index = i,
		.kind = f->topo->link[link].kind,
	};
	void *mem = host->alloc(host->ctx, rl_port_memsize(pp.cfg));
	int ret;

	pp.place = port_place(td, i);
	rp->sink = &host->sink;
	rp->dev = dev;
	rp->index = i;
	if (mem == NULL)
		return -ENOMEM;
	ret = build_pipes(d, i, pp.cfg, host);
	if (ret != 0)
		return ret;
	ret = host->phy(host->ctx, dev, i, &rp->phy, &pp.frame_bytes);
	if (ret != 0)
		return ret;
	if (host->auth != NULL)
		pp.auth = host->auth(host->ctx, link, td->port[i].end);
	pp.cache = host->cache(host->ctx, dev, i);
	port_mac(pp.mac, link << 1 | !td->port[i].end,
		 link << 1 | td->port[i].end);
	d->port_params[i] = pp;
	rp->port = rl_port_init(mem, &pp);
	if (rp->port == NULL) {
		snprintf(err, RL_ERR_MAX,
			 "port %u of %s: a frame of %u bytes cannot carry a "
			 "flit; raise the MTU to at least %u",
			 i, td->name, pp.frame_bytes,
			 rl_frame_bytes(1) +
				 (pp.auth != NULL ? RL_AUTH_TAG_BYTES : 0));
		return -EINVAL;
	}
	return 0;
}

/* A different value for each life of an endpoint; never 0 [EP-7]. */
static uint32_t
incarnation(uint64_t seed, uint32_t dev, uint32_t life)
{
	uint64_t x = seed ^ ((uint64_t)life << 32 | dev);

	return (uint32_t)rl_splitmix64(&x) | 1;
}

/* Distinguishes the lives of one run from those of another. */
static uint64_t
lives_of(const struct rl_fabric_host *host)
{
	return host->incarnation != 0 ? host->incarnation : host->seed;
}

static int
build_endpoint(struct rl_fabric *f, uint32_t dev, const struct rl_fwd *fwd,
	       const struct rl_fabric_host *host)
{
	struct rl_role_core *rc = &f->dev[dev].core;
	const struct rl_ep_params ep = {
		.incarnation = host->lives || host->incarnation != 0
				       ? incarnation(lives_of(host), dev, 0)
				       : 0,
		.cfg = &f->cfg->endpoint,
		.codec = f->codec,
		.cache = host->cache(host->ctx, dev, -1),
		.keep = host->keep == NULL ? NULL : host->keep(host->ctx, dev),
		.path_sl = fwd->path_sl,
		.levels = fwd->levels,
		.jitter_ns = host->jitter_ns,
		.ep_id = f->topo->dev[dev].ep_id,
		.npeers = (uint16_t)f->topo->nep,
		.witness = f->cfg->link.witness,
		.report = host->report,
		.report_ctx = drop_ctx(host, dev),
		.event = rl_role_core_ep_event,
		.event_ctx = rc,
	};
	void *mem = host->alloc(host->ctx, rl_ep_memsize(ep.cfg, ep.npeers));

	if (mem == NULL)
		return -ENOMEM;
	f->dev[dev].ep_params = ep;
	rc->ep = rl_ep_init(mem, &ep);
	rc->ep_paced = !f->cfg->endpoint.retry;
	/* one rl_ep_poll() may add a packet, and what a flow owes */
	rc->inject_flits = rl_min_u32(2 * f->cfg->link.queue_flits, 256);
	if (rc->inject_flits < f->cfg->link.max_packet_flits + 3)
		rc->inject_flits = f->cfg->link.max_packet_flits + 3;
	return 0;
}

/*
 * For each port: the next port to the same neighbour. @return NULL: no memory
 */
static uint16_t *
build_beside(const struct rl_topo *t, uint32_t dev,
	     const struct rl_fabric_host *host)
{
	const struct rl_topo_dev *td = &t->dev[dev];
	uint16_t *beside = host->alloc(host->ctx,
				       td->nports * sizeof(*beside));

	for (uint16_t i = 0; beside != NULL && i < td->nports; i++) {
		const struct rl_topo_port *p = &td->port[i];
		const unsigned int n = rl_topo_parallel(t, p->link);
		const int64_t next = rl_topo_link_between(
			t, dev, p->peer_dev, (t->link[p->link].k + 1u) % n);

		beside[i] = t->link[next].port[t->link[next].dev[1] == dev];
	}
	return beside;
}

static int
build_device(struct rl_fabric *f, uint32_t dev, uint32_t *uid,
	     const struct rl_fwd *fwd, const struct rl_fabric_host *host,
	     char *err)
{
	const struct rl_topo_dev *td = &f->topo->dev[dev];
	struct rl_device *d = &f->dev[dev];
	const size_t n = td->nports;
	struct rl_port_shared *shared, **shared_ptr;
	struct rl_pipe *pipes;
	struct rl_core_params cp = {
		.cfg = &f->cfg->link,
		.fwd = fwd,
		.cache = host->cache(host->ctx, dev, -1),
		.drop = host->drop,
		.drop_ctx = drop_ctx(host, dev),
		.nports = td->nports,
		.endpoint = td->kind == RL_DEV_ENDPOINT,
		.ep_id = td->ep_id,
	};
	void *mem;
	int ret;

	d->nports = d->core.nports = td->nports;
	d->foreign = host->runs != NULL && !host->runs(host->ctx, dev);
	d->whole = host->whole;
	rl_device_alone(d, true);
	d->core.dev = dev;
	rl_prng_seed(&d->core.soft_prng, host->seed ^ dev);
	d->core.sink = &host->sink;
	d->port = host->alloc(host->ctx, n * sizeof(*d->port));
	shared = host->alloc(host->ctx, n * sizeof(*shared));
	shared_ptr = host->alloc(host->ctx, n * sizeof(*shared_ptr));
	pipes = host->alloc(host->ctx, 3 * n * sizeof(*pipes));
	mem = host->alloc(host->ctx, rl_core_memsize(cp.cfg, cp.nports));
	d->port_params = host->alloc(host->ctx, n * sizeof(*d->port_params));
	d->core.near = host->alloc(host->ctx, n * sizeof(*d->core.near));
	cp.beside = build_beside(f->topo, dev, host);
	if (cp.beside == NULL || d->core.near == NULL || d->port == NULL ||
	    d->port_params == NULL ||
	    shared == NULL || shared_ptr == NULL || pipes == NULL || mem == NULL)
		return -ENOMEM;
	d->core.rx = pipes;
	d->core.loop = pipes + n;
	d->core.tx = pipes + 2 * n;
	for (uint16_t i = 0; i < td->nports; i++) {
		shared_ptr[i] = &shared[i];
		ret = build_port(f, dev, i, (*uid)++, &shared[i], host, err);
		if (ret != 0)
			return ret;
	}
	cp.shared = shared_ptr;
	d->core_params = cp;
	d->seed = lives_of(host);
	d->core.core = rl_core_init(mem, &cp);
	return cp.endpoint ? build_endpoint(f, dev, fwd, host) : 0;
}

static int
build_codec(struct rl_fabric *f, enum rl_isa isa,
	    const struct rl_fabric_host *host, char *err)
{
	int ret;

	f->codec = host->codec;
	if (f->codec != NULL)
		return 0;
	f->codec = host->alloc(host->ctx, rl_codec_memsize());
	if (f->codec == NULL)
		return -ENOMEM;
	ret = rl_codec_init(f->codec, f->cfg->endpoint.crc,
			    f->cfg->endpoint.isn, isa);
	if (ret != 0)
		snprintf(err, RL_ERR_MAX, "codec: %s", strerror(-ret));
	return ret;
}

int
rl_fabric_build(struct rl_fabric *f, const struct rl_config *cfg,
		const struct rl_fwd *const fwd[], enum rl_isa isa,
		const struct rl_fabric_host *host, char *err)
{
	uint32_t uid = 1;
	int ret;

	memset(f, 0, sizeof(*f));
	err[0] = '\0';
	f->cfg = cfg;
	f->topo = &cfg->topo;
	f->ndev = cfg->topo.ndev;
	f->dev = host->alloc(host->ctx, f->ndev * sizeof(*f->dev));
	if (f->dev == NULL)
		return -ENOMEM;
	ret = build_codec(f, isa, host, err);
	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i < f->ndev; i++) {
		ret = build_device(f, i, &uid, fwd[i], host, err);
		if (ret != 0) {
			if (err[0] == '\0')
				snprintf(err, RL_ERR_MAX, "device %s: %s",
					 f->topo->dev[i].name,
					 strerror(-ret));
			return ret;
		}
	}
	return 0;
}

void
rl_fabric_start(struct rl_fabric *f, uint64_t now_ns)
{
	for (uint32_t i = 0; i < f->ndev; i++)
		for (uint16_t p = 0; p < f->dev[i].nports; p++) {
			const uint32_t link = f->topo->dev[i].port[p].link;

			if (rl_topo_link_up(f->topo, link) &&
			    !f->dev[i].foreign)
				rl_port_start(f->dev[i].port[p].port, now_ns);
		}
}

void
rl_fabric_dev_flush(struct rl_fabric *f, uint32_t dev)
{
	struct rl_device *d = &f->dev[dev];

	for (uint16_t p = 0; p < d->nports; p++)
		rl_port_flush(d->port[p].port);
	rl_core_flush(d->core.core);
	if (d->core.ep != NULL)
		rl_ep_flush(d->core.ep);
}

void
rl_fabric_flush(struct rl_fabric *f)
{
	for (uint32_t i = 0; i < f->ndev; i++)
		rl_fabric_dev_flush(f, i);
}

void
rl_fabric_dev_restart(struct rl_fabric *f, uint32_t dev,
		      const struct rl_fwd *fwd)
{
	struct rl_device *d = &f->dev[dev];

	d->life++;
	for (uint16_t p = 0; p < d->nports; p++) {
		struct rl_port_params pp = d->port_params[p];

		/* peers must notice that it is a new life */
		pp.incarnation += d->life * 0x9e3779b97f4a7c15ull;
		memset(pp.shared, 0, sizeof(*pp.shared));
		d->port[p].port = rl_port_init(d->port[p].port, &pp);
		RL_ASSERT(d->port[p].port != NULL); /* the first build succeeded
						       with it */
		atomic_store_explicit(&d->port[p].order, RL_ORDER_NONE,
				      memory_order_relaxed);
	}
	d->core_params.fwd = fwd;
	d->core.core = rl_core_init(d->core.core, &d->core_params);
	rl_role_core_await(&d->core, 0);
	for (uint16_t p = 0; p < d->nports; p++)
		if (d->port[p].near)
			rl_role_join(&d->core, &d->port[p]);
	if (d->core.ep == NULL)
		return;
	d->ep_params.path_sl = fwd->path_sl;
	d->ep_params.levels = fwd->levels;
	d->ep_params.incarnation = incarnation(d->seed, dev, d->life);
	d->core.ep = rl_ep_init(d->core.ep, &d->ep_params);
}

struct rl_local *
rl_fabric_local(struct rl_fabric *f, uint32_t dev, void *mem,
		uint64_t incarnation, bool waits, uint64_t now_ns)
{
	const struct rl_topo_dev *td = &f->topo->dev[dev];
	const struct rl_local_params p = {
		.cfg = &f->cfg->controller,
		.dev = dev,
		.nports = td->nports,
		.incarnation = incarnation,
		.waits = waits,
		.endpoint = td->kind == RL_DEV_ENDPOINT,
		.at_rest = !f->cfg->endpoint.retry,
	};

	rl_device_alone(&f->dev[dev], false);
	return rl_local_init(mem, &p, now_ns);
}

uint64_t
rl_fabric_flits(const struct rl_fabric *f)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < f->ndev; i++) {
		for (uint16_t p = 0; p < f->dev[i].nports; p++)
			n += rl_port_flits(f->dev[i].port[p].port);
		n += rl_core_flits(f->dev[i].core.core);
		if (f->dev[i].core.ep != NULL)
			n += rl_ep_flits(f->dev[i].core.ep);
	}
	return n;
}
