/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

/* --- memory ------------------------------------------------------------- */

static void *
host_alloc(void *ctx, size_t bytes)
{
	struct host *h = ctx;
	void *p;

	if (++h->asked == h->fail_at)
		return NULL;
	assert_true(h->nmem < HOST_ALLOCS);
	bytes = (bytes + 63) & ~(size_t)63;
	p = aligned_alloc(64, bytes);
	assert_non_null(p);
	memset(p, 0, bytes);
	h->mem[h->nmem++] = p;
	return p;
}

static struct rl_flit_cache *
host_cache(void *ctx, uint32_t dev, int port)
{
	struct host *h = ctx;

	(void)dev;
	(void)port;
	return &h->cache;
}

/* --- pipes -------------------------------------------------------------- */

static unsigned int
pipe_put(void *ring, void *const obj[], unsigned int n)
{
	struct host_pipe *p = ring;

	n = rl_min_u32(n, p->size - (p->tail - p->head));
	for (unsigned int i = 0; i < n; i++)
		p->slot[p->tail++ % p->size] = obj[i];
	if (p->tail - p->head > p->peak)
		p->peak = p->tail - p->head;
	return n;
}

static unsigned int
pipe_get(void *ring, void *obj[], unsigned int n)
{
	struct host_pipe *p = ring;

	n = rl_min_u32(n, p->tail - p->head);
	for (unsigned int i = 0; i < n; i++)
		obj[i] = p->slot[p->head++ % p->size];
	return n;
}

static bool
pipe_empty(const void *ring)
{
	const struct host_pipe *p = ring;

	return p->head == p->tail;
}

static int
host_pipe(void *ctx, uint32_t size, struct rl_pipe *pipe)
{
	struct host *h = ctx;
	struct host_pipe *p = &h->pipe[h->npipes];

	if (h->npipes + 1 == h->pipe_fail_at)
		return -ENOSPC;
	assert_true(h->npipes < HOST_PIPES);
	h->npipes++;
	p->size = size;
	p->slot = calloc(size, sizeof(*p->slot));
	*pipe = (struct rl_pipe){ p, pipe_put, pipe_get, pipe_empty };
	return 0;
}

/* --- wires -------------------------------------------------------------- */

static unsigned int
phy_rx(void *phy, struct rl_phy_frame f[], unsigned int n, uint64_t now_ns)
{
	struct host_end *e = phy;
	struct host_wire *w = e->rx;
	unsigned int i;

	(void)now_ns;
	for (i = 0; i < n && w->head + i != w->tail; i++) {
		const uint32_t s = (w->head + i) % HOST_FRAMES;

		f[i] = (struct rl_phy_frame){ .data = w->frame[s],
					      .len = w->len[s] };
	}
	w->unread = i;
	return i;
}

static void
phy_rx_free(void *phy, struct rl_phy_frame f[], unsigned int n)
{
	struct host_wire *w = ((struct host_end *)phy)->rx;

	assert_int_equal(n, w->unread); /* all of them */
	assert_ptr_equal(f[0].data, w->frame[w->head % HOST_FRAMES]);
	w->head += n;
	w->unread = 0;
}

static unsigned int
phy_tx_alloc(void *phy, struct rl_phy_frame f[], unsigned int n,
	     uint64_t now_ns)
{
	struct host_end *e = phy;
	struct host_wire *w = e->tx;

	(void)now_ns;
	if (e->full)
		return 0;
	n = rl_min_u32(n, HOST_FRAMES - (w->tail - w->head));
	for (unsigned int i = 0; i < n; i++)
		f[i] = (struct rl_phy_frame){
			.data = w->frame[(w->tail + i) % HOST_FRAMES],
			.len = 2048, /* a stale value */
			.cookie = w,
		};
	w->lent = n;
	return n;
}

static void
phy_tx(void *phy, struct rl_phy_frame f[], unsigned int n, uint64_t now_ns)
{
	struct host_wire *w = ((struct host_end *)phy)->tx;
	uint32_t used = 0;

	(void)now_ns;
	assert_int_equal(n, w->lent); /* every lent frame is returned */
	w->lent = 0;
	while (used < n && f[used].len != 0)
		used++;
	w->longest = rl_max_u32(w->longest, used);
	for (unsigned int i = 0; i < n; i++) {
		assert_ptr_equal(f[i].cookie, w);
		if (f[i].len == 0) {
			w->empty++;
			continue;
		}
		/*
		 * empty frames come last, so that the others keep their places
		 */
		assert_ptr_equal(f[i].data, w->frame[w->tail % HOST_FRAMES]);
		if (w->cut)
			continue;
		w->len[w->tail % HOST_FRAMES] = f[i].len;
		w->tail++;
		if (i + 1 < n && f[i + 1].len != 0)
			assert_ptr_equal(f[i + 1].data,
					 w->frame[w->tail % HOST_FRAMES]);
	}
}

static enum rl_phy_status
phy_status(void *phy)
{
	return ((struct host_end *)phy)->link_up ? RL_PHY_UP : RL_PHY_DOWN;
}

static uint64_t
phy_deadline(void *phy)
{
	const struct host_end *e = phy;

	return e->rx->head != e->rx->tail ? 0 : RL_NEVER;
}

static const struct rl_phy_ops phy_ops = {
	.rx = phy_rx,
	.rx_free = phy_rx_free,
	.tx_alloc = phy_tx_alloc,
	.tx = phy_tx,
	.status = phy_status,
	.deadline = phy_deadline,
};

static int
host_phy(void *ctx, uint32_t dev, uint16_t port, struct rl_phy *phy,
	 uint32_t *frame_bytes)
{
	struct host *h = ctx;
	const struct rl_topo_port *tp = &h->cfg.topo.dev[dev].port[port];
	struct host_end *e = &h->end[2 * tp->link + tp->end];

	if (++h->phys == h->phy_fail_at)
		return -ENODEV;
	e->tx = &h->wire[2 * tp->link + tp->end];
	e->rx = &h->wire[2 * tp->link + !tp->end];
	e->link_up = true;
	for (unsigned int i = 0; i < HOST_FRAMES; i++)
		if (e->tx->frame[i] == NULL)
			e->tx->frame[i] = aligned_alloc(64, 2048);
	*phy = (struct rl_phy){ e, &phy_ops };
	*frame_bytes = h->frame_bytes;
	return 0;
}

/* --- clients ------------------------------------------------------------ */

/* Length of the i-th packet; both ends know it. */
static uint32_t
client_bytes(const struct host_client *c, uint32_t i)
{
	return 4 + i * 37 % (c->small ? 200 : 1500);
}

static unsigned int
client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct host_client *c = ctx;
	struct rl_flit *pkt;
	unsigned int work = 0;
	uint8_t buf[2048];

	while (c->sent < c->to_send) {
		const struct rl_ep_msg msg = {
			.dst = c->peer,
			.len_bytes = client_bytes(c, c->sent),
		};

		memset(buf, (int)c->sent, sizeof(buf));
		memcpy(buf, &c->sent, 4);
		if (rl_ep_send(ep, now_ns, &msg, buf, NULL) != 0)
			break;
		c->sent++;
		work++;
	}
	while ((pkt = rl_ep_recv(ep)) != NULL) {
		const uint32_t want = client_bytes(c, c->got);
		uint32_t n = 0;

		c->wrong += rl_ep_copy_out(pkt, buf, sizeof(buf)) != want;
		memcpy(&n, buf, 4);
		c->wrong += n != c->got;
		for (uint32_t i = 4; i < want; i++)
			c->wrong += buf[i] != (uint8_t)c->got;
		c->got++;
		work++;
		rl_packet_put(&c->host->cache, pkt);
	}
	return work;
}

/* --- the host ------------------------------------------------------------ */

static void
host_port_event(void *ctx, uint32_t dev, uint16_t port,
		const struct rl_port_event *ev)
{
	struct host *h = ctx;

	assert_true(dev < h->fabric.ndev);
	assert_true(port < h->fabric.dev[dev].nports);
	h->port_events++;
	h->dead += ev->type == RL_PEV_DEAD;
}

static void
host_core_event(void *ctx, uint32_t dev, const struct rl_core_event *ev)
{
	struct host *h = ctx;

	(void)ev;
	assert_true(dev < h->fabric.ndev);
	h->core_events++;
}

static void
host_drop(void *ctx, const struct rl_flit *pkt, enum rl_drop_reason why,
	  uint64_t now_ns)
{
	struct host *h = ctx;

	(void)now_ns;
	h->drops++;
	/* it arrives later: the endpoint may be in the middle of a poll */
	if (h->nnotices < RL_ARRAY_SIZE(h->notice))
		h->nnotices += rl_drop_notice(pkt, why, h->cfg.endpoint.retry,
					      h->cfg.topo.nep,
					      &h->notice[h->nnotices]);
}

static void
host_route(struct host *h)
{
	rl_route_free(h->route);
	if (rl_route_compute(&h->cfg.topo, h->cfg.engine, h->cfg.vls,
			     &h->route, h->err) != 0)
		fail_msg("%s", h->err);
}

void
host_fail(struct host *h, const char *link)
{
	if (rl_topo_fail(&h->cfg.topo, link, h->err) != 0)
		fail_msg("%s", h->err);
	host_route(h);
}

void
host_open(struct host *h, const char *text)
{
	char err[RL_ERR_MAX + 512];

	memset(h, 0, sizeof(*h));
	if (rl_config_read_text("test", text, strlen(text), &h->cfg, err,
				sizeof(err)) != 0)
		fail_msg("%s", err);
	host_route(h);
	h->frame_bytes = 1514;
	h->nflits = 16384;
	h->flits = aligned_alloc(64, h->nflits * sizeof(*h->flits));
	h->cache.slot = calloc(h->nflits, sizeof(*h->cache.slot));
	h->cache.cap = h->nflits;
	for (uint32_t i = 0; i < h->nflits; i++)
		rl_flit_put(&h->cache, &h->flits[i]);
	h->ops = (struct rl_fabric_host){
		.ctx = h, .alloc = host_alloc, .cache = host_cache,
		.pipe = host_pipe, .phy = host_phy, .drop = host_drop,
		.sink = { h, host_port_event, host_core_event }, .seed = 5,
	};
	h->now_ns = 1000;
}

int
host_build(struct host *h)
{
	const struct rl_fwd *fwd[64];
	int ret;

	assert_true(h->cfg.topo.ndev <= RL_ARRAY_SIZE(fwd));
	assert_true(2 * h->cfg.topo.nlink <= HOST_WIRES);
	for (uint32_t i = 0; i < h->cfg.topo.ndev; i++)
		fwd[i] = &h->route->fwd[i];
	ret = rl_fabric_build(&h->fabric, &h->cfg, fwd, rl_codec_best_isa(512),
			      &h->ops, h->err);
	if (ret != 0)
		return ret;
	for (uint16_t i = 0; i < h->cfg.topo.nep; i++) {
		h->client[i] = (struct host_client){
			.host = h, .ep = i,
			.peer = (uint16_t)(i + 1u == h->cfg.topo.nep ? 0
								    : i + 1),
		};
		h->fabric.dev[h->cfg.topo.ep_dev[i]].core.client =
			(struct rl_client){ &h->client[i], client_poll, NULL };
	}
	return 0;
}

static unsigned int
host_poll(struct host *h)
{
	unsigned int work = 0;

	for (; h->nnotices > 0; work++) {
		const struct rl_ep_notice *n = &h->notice[--h->nnotices];
		const uint32_t d = h->cfg.topo.ep_dev[n->whose];

		rl_ep_notice(h->fabric.dev[d].core.ep, h->now_ns, n);
	}
	for (uint32_t d = 0; d < h->fabric.ndev; d++) {
		struct rl_device *dev = &h->fabric.dev[d];

		for (uint16_t p = 0; p < dev->nports; p++)
			work += rl_role_port_poll(&dev->port[p], h->now_ns);
		work += rl_role_core_poll(&dev->core, h->now_ns);
	}
	return work;
}

void
host_run(struct host *h, uint64_t ns)
{
	const uint64_t end_ns = h->now_ns + ns;

	for (; h->now_ns < end_ns; h->now_ns += 1000)
		host_poll(h);
}

void
host_start(struct host *h)
{
	struct rl_port_info info;

	rl_fabric_start(&h->fabric, h->now_ns);
	host_run(h, 200 * RL_NS_PER_US);
	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		for (uint16_t p = 0; p < h->fabric.dev[d].nports; p++) {
			rl_port_info(h->fabric.dev[d].port[p].port, &info);
			assert_int_equal(info.state, RL_LINK_UP);
		}
}

static bool
host_idle(struct host *h)
{
	for (uint16_t i = 0; i < h->cfg.topo.nep; i++) {
		const struct host_client *c = &h->client[i];

		if (c->sent != c->to_send ||
		    h->client[c->peer].got != c->to_send)
			return false;
	}
	for (uint32_t d = 0; d < h->fabric.ndev; d++) {
		struct rl_device *dev = &h->fabric.dev[d];

		if (!atomic_load(&dev->core.idle))
			return false;
		for (uint16_t p = 0; p < dev->nports; p++)
			if (!atomic_load(&dev->port[p].idle))
				return false;
	}
	return true;
}

void
host_finish(struct host *h, uint64_t max_ns)
{
	const uint64_t end_ns = h->now_ns + max_ns;

	while (!host_idle(h)) {
		host_run(h, 10 * RL_NS_PER_US);
		if (h->now_ns > end_ns)
			fail_msg("not done: %u of %u packets came",
				 h->client[1].got, h->client[0].to_send);
	}
	for (uint16_t i = 0; i < h->cfg.topo.nep; i++)
		assert_int_equal(h->client[i].wrong, 0);
}

static const struct rl_topo_link *
find_link(struct host *h, const char *name, uint32_t *index)
{
	const int64_t l = rl_topo_find_link(&h->cfg.topo, name, NULL);

	if (l < 0)
		fail_msg("no link %s", name);
	*index = (uint32_t)l;
	return &h->cfg.topo.link[l];
}

void
host_cut(struct host *h, const char *link, bool cut)
{
	uint32_t l;

	find_link(h, link, &l);
	for (unsigned int i = 0; i < 2; i++) {
		struct host_wire *w = &h->wire[2 * l + i];

		w->cut = cut;
		if (cut)
			w->head = w->tail;
		h->end[2 * l + i].link_up = !cut;
	}
}

struct rl_role_port *
host_port(struct host *h, const char *link, unsigned int end)
{
	uint32_t l;
	const struct rl_topo_link *tl = find_link(h, link, &l);

	return &h->fabric.dev[tl->dev[end]].port[tl->port[end]];
}

void
host_close(struct host *h)
{
	void *obj[32];

	for (unsigned int i = 0; i < h->npipes; i++) {
		unsigned int n;

		while ((n = pipe_get(&h->pipe[i], obj, 32)) != 0)
			for (unsigned int k = 0; k < n; k++)
				if (rl_pipe_is_mark(obj[k]) == RL_MARK_NONE)
					rl_packet_put(&h->cache, obj[k]);
		free(h->pipe[i].slot);
	}
	if (h->fabric.dev != NULL && h->fail_at == 0 &&
	    h->pipe_fail_at == 0 && h->phy_fail_at == 0 && h->err[0] == '\0') {
		rl_fabric_flush(&h->fabric);
		assert_int_equal(rl_fabric_flits(&h->fabric), 0);
		assert_int_equal(h->cache.count, h->nflits);
	}
	for (unsigned int i = 0; i < HOST_WIRES; i++)
		for (unsigned int k = 0; k < HOST_FRAMES; k++)
			free(h->wire[i].frame[k]);
	for (unsigned int i = 0; i < h->nmem; i++)
		free(h->mem[i]);
	free(h->flits);
	free(h->cache.slot);
	rl_route_free(h->route);
	rl_config_free(&h->cfg);
}

int
host_set_up(void **state)
{
	host_open(*state, HOST_FIGURE_1);
	return 0;
}

int
host_set_up_started(void **state)
{
	host_set_up(state);
	assert_int_equal(host_build(*state), 0);
	host_start(*state);
	return 0;
}

int
host_tear_down(void **state)
{
	host_close(*state);
	return 0;
}
