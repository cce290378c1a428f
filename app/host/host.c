/* SPDX-License-Identifier: BSD-3-Clause */

/* Opens and closes the lcore host. host_lcore.c runs the lcores. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <rte_errno.h>
#include <rte_mempool.h>
#include <rte_vect.h>

#include "host.h"
#include "rl_refuse.h"

#ifndef HOST_LOG_RECORDS /* tests use less */
#define HOST_LOG_RECORDS 16384
#endif
/* One for each packet: a switch may give up thousands of packets at once. */
#ifndef HOST_NOTICES
#define HOST_NOTICES 131072
#endif
#define DELAY_FRAMES 256
/* One poll of a port may need RL_PHY_BURST full frames of flits. */
#define CACHE_LOW (RL_PHY_BURST * RL_FRAME_FLITS_MAX + 512)
#define CACHE_HIGH (3 * CACHE_LOW)
/* For each port, beside the rings: pending, spare, just received. */
#define FRAMES_OWN 64u
#define FRAMES_FEW 16u /* with thousands of ports, which do not all send at
			  once */
/* In all rings and delay lines: not all links are full at once. */
#define FRAMES_UNDER_WAY 16384u
/* In the caches of the pool, which only their lcore uses. */
#define FRAMES_CACHED 512u

static unsigned int
vls_of(const struct rl_route *route)
{
	unsigned int n = 1;

	for (uint32_t i = 0; i < route->ndev; i++)
		n = RTE_MAX(n, route->fwd[i].nvls);
	return n;
}

void
host_plan(const struct host_params *p, uint32_t lcores, struct host_plan *plan)
{
	const struct rl_topo *t = &p->cfg->topo;
	const uint64_t ports = 2ull * t->nlink;
	size_t bytes;

	plan->frame_bytes = p->frame_bytes;
	plan->frames = (uint32_t)(ports * (ports <= 1024 ? FRAMES_OWN
							 : FRAMES_FEW) +
				  (lcores + 1) * FRAMES_CACHED +
				  RTE_MIN(ports * p->ring_frames,
					  FRAMES_UNDER_WAY));
	plan->flits = 0;
	for (uint32_t i = 0; i < t->nlink; i++)
		plan->flits += 2 * rl_fabric_port_flits(
					   rl_config_link(p->cfg, i),
					   vls_of(p->route));
	plan->flits +=
		(uint64_t)t->nep *
			rl_fabric_ep_flits(&p->cfg->endpoint,
					   t->nep * RTE_MAX(1u, p->classes)) +
		(uint64_t)lcores * (CACHE_HIGH + CACHE_LOW);
	bytes = rl_frame_pool_bytes(plan->frames, plan->frame_bytes, false) +
		ports * (p->ring_frames * sizeof(void *) + 4096) +
		host_wires_bytes(p);
	plan->eal_mb = (uint32_t)(bytes >> 20) + 64;
}

/* Whether two lcores share a CPU: then only one of them may poll. */
static bool
shares_cpu(const struct host *h, unsigned int id)
{
	rte_cpuset_t mine = rte_lcore_cpuset(id);

	for (uint32_t i = 0; i < h->nlcores; i++) {
		rte_cpuset_t other = rte_lcore_cpuset(h->lcore_id[i]);
		rte_cpuset_t both;

		CPU_AND(&both, &mine, &other);
		if (CPU_COUNT(&both) != 0)
			return true;
	}
	return false;
}

static int
open_lcores(struct host *h, char *err)
{
	unsigned int id;
	int ret;

	RTE_LCORE_FOREACH_WORKER(id) {
		if (!h->p.cfg->share_cpus && shares_cpu(h, id))
			h->nshared++;
		else
			h->lcore_id[h->nlcores++] = (uint16_t)id;
	}
	if (h->nlcores == 0) {
		h->sliced = true;
		h->lcore_id[h->nlcores++] = (uint16_t)rte_get_main_lcore();
	}
	ret = host_place(h->p.cfg, h->p.route->fwd, h->p.process, h->lcore_id,
			 h->nlcores, &h->place, err, HOST_ERR_MAX);
	if (ret == -EINVAL && h->nshared != 0) {
		const size_t at = strlen(err);

		snprintf(err + at, HOST_ERR_MAX - at,
			 "; %u lcores share a CPU with another one and stay "
			 "idle, unless lcores.share is true", h->nshared);
	}
	return ret;
}

/* A ring in the arena, without a name or EAL memory. */
static struct rte_ring *
make_ring(struct host *h, uint32_t size, uint32_t elem, unsigned int flags)
{
	const uint32_t count = rte_align32pow2(size + 1);
	const ssize_t bytes = rte_ring_get_memsize_elem(elem, count);
	struct rte_ring *r =
		bytes < 0 ? NULL : host_mem_alloc(&h->mem, (size_t)bytes);

	if (r == NULL || rte_ring_init(r, "reflit", count, flags) != 0)
		return NULL;
	return r;
}

static int
make_lcore(struct host *h, unsigned int id)
{
	struct host_lcore *lc = host_mem_alloc(&h->mem, sizeof(*lc));

	if (lc == NULL)
		return -ENOMEM;
	lc->host = h;
	lc->id = id;
	lc->cache.cap = (uint32_t)h->plan.flits;
	lc->cache.slot = host_mem_alloc(
		&h->mem, h->plan.flits * sizeof(lc->cache.slot[0]));
	lc->port = host_mem_alloc(&h->mem,
				  h->place.nroles * sizeof(lc->port[0]));
	lc->turn = host_mem_alloc(&h->mem, h->p.cfg->topo.ndev *
						   sizeof(lc->turn[0]));
	lc->log.ring = make_ring(h, HOST_LOG_RECORDS, sizeof(struct host_rec),
				 RING_F_SP_ENQ | RING_F_SC_DEQ);
	lc->notices = make_ring(h, HOST_NOTICES, sizeof(struct host_notice),
				RING_F_MP_RTS_ENQ | RING_F_SC_DEQ);
	lc->orders.ring = make_ring(h, HOST_ORDERS, sizeof(struct host_order),
				    RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (lc->cache.slot == NULL || lc->port == NULL || lc->turn == NULL ||
	    lc->log.ring == NULL || lc->notices == NULL ||
	    lc->orders.ring == NULL)
		return -ENOMEM;
	h->lcore[id] = lc;
	return 0;
}

/* One lcore keeps all free flits; several keep some each and share the rest. */
static int
make_flits(struct host *h)
{
	const uint64_t n = h->plan.flits;
	struct rl_flit *f =
		host_mem_alloc_huge(&h->mem, n * sizeof(struct rl_flit));
	uint64_t at = 0;

	/* RTS: an lcore preempted in the middle does not block the others */
	h->free_flits = make_ring(h, (uint32_t)n, sizeof(void *),
				  RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ);
	if (f == NULL || h->free_flits == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->nlcores; i++) {
		struct host_lcore *lc = h->lcore[h->lcore_id[i]];
		const uint64_t share = h->nlcores == 1 ? n : CACHE_HIGH;

		lc->cache_low = h->nlcores == 1 ? 0 : CACHE_LOW;
		lc->cache_high = h->nlcores == 1 ? UINT32_MAX : CACHE_HIGH;
		for (uint64_t j = 0; j < share; j++)
			rl_flit_put(&lc->cache, &f[at++]);
	}
	for (; at < n; at++)
		RL_ASSERT(rte_ring_enqueue(h->free_flits, &f[at]) == 0);
	return 0;
}

static int
open_wires(struct host *h, char *err)
{
	const uint32_t nlink = h->p.cfg->topo.nlink;
	struct rl_inject_held *line;
	int ret;

	h->pool = rl_frame_pool("frames", h->plan.frames,
				h->plan.frame_bytes, false);
	if (h->pool == NULL)
		return rl_refuse(err, HOST_ERR_MAX, -ENOMEM,
				 "cannot make a pool of %u frames: %s; start "
				 "with -m %u or more, or install DPDK's driver "
				 "mempool_ring", h->plan.frames,
				 rte_strerror(rte_errno), h->plan.eal_mb);
	h->fault = host_mem_alloc(&h->mem, nlink * sizeof(*h->fault));
	h->phy = host_mem_alloc(&h->mem, 2 * nlink * sizeof(*h->phy));
	line = host_mem_alloc(&h->mem,
			      2ull * nlink * DELAY_FRAMES * sizeof(*line));
	if (h->fault == NULL || h->phy == NULL || line == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < nlink; i++)
		rl_inject_init(&h->fault[i], h->p.seed ^ (uint64_t)i << 40,
			      line + 2ull * i * DELAY_FRAMES, DELAY_FRAMES);
	ret = host_wires_open(h, err);
	if (ret == 0)
		ret = host_steer_open(h);
	return ret == 0 ? host_keys_open(h) : ret;
}

/*
 * How late a round over many devices makes an answer. It leaves out what others
 * take of the CPU: windows shrink then, and grow back in a few round trips. With
 * milliseconds an incast queues more flits than caches hold (docs/notes/load.md).
 */
#define JITTER_NS (200 * RL_NS_PER_US)

static void *
on_alloc(void *ctx, size_t bytes)
{
	return host_mem_alloc(&((struct host *)ctx)->mem, bytes);
}

static struct rl_flit_cache *
on_cache(void *ctx, uint32_t dev, int port)
{
	struct host *h = ctx;

	return &h->lcore[h->place.lcore[host_role(&h->place, dev, port)]]
			->cache;
}

static unsigned int
pipe_put(void *ring, void *const obj[], unsigned int n)
{
	return rte_ring_sp_enqueue_burst(ring, obj, n, NULL);
}

static unsigned int
pipe_get(void *ring, void *obj[], unsigned int n)
{
	return rte_ring_sc_dequeue_burst(ring, obj, n, NULL);
}

static bool
pipe_empty(const void *ring)
{
	return host_ring_empty(ring);
}

static int
on_pipe(void *ctx, uint32_t size, struct rl_pipe *pipe)
{
	pipe->ring = make_ring(ctx, size, sizeof(void *),
			       RING_F_SP_ENQ | RING_F_SC_DEQ);
	pipe->put = pipe_put;
	pipe->get = pipe_get;
	pipe->empty = pipe_empty;
	return pipe->ring == NULL ? -ENOMEM : 0;
}

static int
on_phy(void *ctx, uint32_t dev, uint16_t port, struct rl_phy *phy,
       uint32_t *frame_bytes)
{
	struct host *h = ctx;
	const struct rl_topo_port *tp = &h->p.cfg->topo.dev[dev].port[port];
	const uint32_t end = 2 * tp->link + tp->end;
	const struct rl_wire_end *we = &h->wires.end[end];
	const struct rl_phy_eth_params pp = {
		.port_id = we->port_id,
		.queue = we->queue,
		.rx_queues = we->rx_queues,
		.rx_ring = we->rx_ring,
		.tx_ring = we->tx_ring,
		.frame_bytes = we->frame_bytes != 0 ? we->frame_bytes
						    : h->plan.frame_bytes,
		.pool = we->pool,
		.rx_fault = &h->fault[tp->link].dir[!tp->end],
	};

	phy->ctx = &h->phy[end];
	phy->ops = &rl_phy_eth_ops;
	phy->syscalls = we->syscalls;
	*frame_bytes = pp.frame_bytes;
	if (we->pool == NULL) /* end in another process: never polled */
		return 0;
	return rl_phy_eth_open(&h->phy[end], &pp);
}

static const struct rl_link_auth *
on_auth(void *ctx, uint32_t link, unsigned int end)
{
	return host_keys_of(ctx, link, end);
}

static bool
on_runs(void *ctx, uint32_t dev)
{
	const struct host *h = ctx;

	return rl_config_runs(h->p.cfg, h->p.process, dev);
}

/*
 * DPDK limits itself to 256 bits on x86, because wide code once lowered clock
 * rates. The codec gains more from 512 bits than that ever cost. A limit set by
 * the user (--force-max-simd-bitwidth) is kept [FLIT-8].
 */
static enum rl_isa
choose_isa(void)
{
	(void)rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	return rl_codec_best_isa(rte_vect_get_max_simd_bitwidth());
}

static int
build(struct host *h, char *err)
{
	const enum rl_isa isa = choose_isa();
	const struct rl_topo *t = &h->p.cfg->topo;
	const struct rl_fwd **fwd =
		host_mem_alloc(&h->mem, t->ndev * sizeof(*fwd));
	int ret;

	h->callbacks = (struct rl_fabric_host){
		.ctx = h,
		.alloc = on_alloc,
		.cache = on_cache,
		.pipe = on_pipe,
		.phy = on_phy,
		.auth = on_auth,
		.runs = on_runs,
		.drop = host_on_drop,
		.report = host_on_report,
		.seed = h->p.seed,
		.jitter_ns = JITTER_NS,
		.incarnation = h->p.incarnation,
		.lives = true,
		.digest = rl_config_digest(h->p.cfg),
		.sink = {
			.ctx = h,
			.port_event = host_on_port_event,
			.core_event = host_on_core_event,
			.ep_event = host_on_ep_event,
		},
	};
	h->gen = host_mem_alloc(&h->mem, t->nep * sizeof(*h->gen));
	h->dead = host_mem_alloc(&h->mem, t->ndev * sizeof(*h->dead));
	if (fwd == NULL || h->gen == NULL || h->dead == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->ndev; i++)
		fwd[i] = &h->p.route->fwd[i];
	ret = rl_fabric_build(&h->fabric, h->p.cfg, fwd, isa, &h->callbacks,
			      err);
	if (ret == 0)
		host_lcores_deal(h);
	return ret;
}

int
host_open(struct host *h, const struct host_params *p, char *err)
{
	int ret;

	memset(h, 0, sizeof(*h));
	snprintf(err, HOST_ERR_MAX, "out of memory");
	h->p = *p;
	if (h->p.incarnation == 0 &&
	    getrandom(&h->p.incarnation, sizeof(h->p.incarnation), 0) !=
		    sizeof(h->p.incarnation))
		return rl_refuse(err, HOST_ERR_MAX, -EIO, "getrandom: %s",
				 strerror(errno));
	host_clock_init(&h->clock);
	/* devices only get tables that the checker has accepted */
	if (!p->route->accepted)
		return rl_refuse(err, HOST_ERR_MAX, -EINVAL,
				 "the tables have not passed the checker");
	ret = open_lcores(h, err);
	if (ret != 0)
		return ret;
	host_plan(p, h->nlcores, &h->plan);
	h->long_nap_ns = host_long_nap_ns(p->cfg, h->nlcores,
					  p->idle_sleep_ns);
	for (uint32_t i = 0; i < h->nlcores; i++) {
		ret = make_lcore(h, h->lcore_id[i]);
		if (ret != 0)
			return ret;
	}
	ret = make_flits(h);
	if (ret == 0)
		ret = open_wires(h, err);
	if (ret == 0)
		ret = build(h, err);
	if (ret == 0)
		ret = host_resil_open(h);
	return ret;
}

int
host_start(struct host *h)
{
	const uint64_t now_ns = host_role_now(h);
	int ret;

	host_time_init(&h->time, h->nlcores);
	for (uint32_t i = 0; i < h->nlcores; i++) {
		struct host_lcore *lc = h->lcore[h->lcore_id[i]];

		lc->nth = i;
		h->pace[i] = &lc->pace;
		host_pace_init(&lc->pace, now_ns);
	}
	host_unplug_begin(h);
	if (!h->resil.waits)
		rl_fabric_start(&h->fabric, now_ns);
	h->running = true;
	if (h->sliced)
		return 0;
	for (uint32_t i = 0; i < h->nlcores; i++) {
		ret = rte_eal_remote_launch(host_lcore_main,
					    h->lcore[h->lcore_id[i]],
					    h->lcore_id[i]);
		if (ret != 0)
			return ret;
	}
	return 0;
}

const char *
host_busy_role(const struct host *h, char *buf)
{
	const struct rl_topo *t = h->fabric.topo;

	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_device *dev = &h->fabric.dev[d];

		if (dev->foreign)
			continue;
		if (atomic_load_explicit(&dev->core.idle,
					 memory_order_acquire) == 0)
			return host_role_name(t, d, -1, buf);
		for (uint16_t i = 0; i < dev->nports; i++) {
			const struct rl_role_port *rp = &dev->port[i];

			if (atomic_load_explicit(&rp->idle,
						 memory_order_acquire) == 0 ||
			    !host_ring_empty(rp->rx.ring) ||
			    !host_ring_empty(rp->tx.ring) ||
			    !host_ring_empty(rp->loop.ring))
				return host_role_name(t, d, i, buf);
		}
	}
	/* drops that a source has not been told of may still become reports */
	for (uint32_t i = 0; i < h->nlcores; i++)
		if (rte_ring_count(h->lcore[h->lcore_id[i]]->notices) != 0)
			return "a report of drops";
	return NULL;
}

bool
host_drained(const struct host *h)
{
	char name[HOST_ROLE_NAME];

	return host_busy_role(h, name) == NULL;
}

bool
host_next_record(struct host *h, struct host_rec *rec)
{
	for (uint32_t i = 0; i < h->nlcores; i++) {
		struct host_lcore *lc = h->lcore[h->lcore_id[i]];

		if (rte_ring_sc_dequeue_elem(lc->log.ring, rec,
					     sizeof(*rec)) == 0)
			return true;
	}
	return false;
}

/* Returns flits that are still in pipes to any cache; marks are no flits. */
void
host_flush_pipe(struct rl_pipe *pipe, struct rl_flit_cache *cache)
{
	void *obj;

	while (pipe->ring != NULL && pipe->get(pipe->ring, &obj, 1) == 1)
		if (rl_pipe_is_mark(obj) == RL_MARK_NONE)
			rl_packet_put(cache, obj);
}

void
host_stop(struct host *h)
{
	if (!h->running)
		return;
	atomic_store(&h->stop, 1);
	if (!h->sliced)
		rte_eal_mp_wait_lcore();
	for (uint32_t i = 0; i < h->nlcores; i++)
		/* acquire: pairs with the release in host_lcore_main() */
		(void)atomic_load_explicit(&h->lcore[h->lcore_id[i]]->ended,
					   memory_order_acquire);
	h->running = false;
	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		for (uint16_t i = 0; i < h->fabric.dev[d].nports; i++) {
			struct rl_role_port *rp = &h->fabric.dev[d].port[i];
			struct rl_flit_cache *c = on_cache(h, d, -1);

			host_flush_pipe(&rp->rx, c);
			host_flush_pipe(&rp->loop, c);
			host_flush_pipe(&rp->tx, c);
		}
	rl_fabric_flush(&h->fabric);
}

void
host_lost(const struct host *h, struct host_lost *lost)
{
	*lost = (struct host_lost){ 0 };
	for (uint32_t i = 0; i < h->nlcores; i++) {
		const struct host_lcore *lc = h->lcore[h->lcore_id[i]];

		lost->events += atomic_load(&lc->log.lost);
		lost->drops += atomic_load(&lc->log.lost_packets);
		lost->notices += atomic_load(&lc->notices_lost);
	}
	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		for (uint16_t p = 0; p < h->fabric.dev[d].nports; p++) {
			struct rl_port_info info;

			rl_port_info(h->fabric.dev[d].port[p].port, &info);
			lost->events += info.events_lost;
		}
}

uint64_t
host_leaked_flits(const struct host *h)
{
	uint64_t n = rte_ring_count(h->free_flits);

	for (uint32_t i = 0; i < h->nlcores; i++)
		n += h->lcore[h->lcore_id[i]]->cache.count;
	return h->plan.flits - n;
}

void
host_close(struct host *h)
{
	host_stop(h);
	host_resil_close(h);
	for (uint32_t i = 0; h->phy != NULL && h->p.cfg != NULL &&
			     i < 2 * h->p.cfg->topo.nlink; i++)
		if (h->phy[i].p.pool != NULL)
			rl_phy_eth_close(&h->phy[i]);
	if (h->p.cfg != NULL)
		host_wires_close(h);
	if (h->p.cfg != NULL)
		host_keys_close(h);
	rte_mempool_free(h->pool);
	host_place_free(&h->place);
	host_mem_free(&h->mem);
	memset(h, 0, sizeof(*h));
}
