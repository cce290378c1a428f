/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The loop of an lcore: polls its roles in turn, keeps its cache of free flits
 * between two marks, and naps when idle for a while.
 *
 * It reads the time once a round. host_time.h defines the time that roles get;
 * records carry the time of the host. An lcore only naps after 10 ms without a
 * packet, and if all its roles hold nothing; after 250 ms longer.
 */

#include <sched.h>
#include <string.h>
#include <time.h>

#include <rte_pause.h>

#include "host.h"
#include "rl_fence.h"

#define IDLE_NS (10 * RL_NS_PER_MS)
/*
 * An idle fabric mostly costs wake-ups. So an lcore that has been idle for
 * LONG_IDLE_NS naps LONG_NAP_NS at a time, but at most this part of a link's timers:
 * keepalives are sent, and frames of other lcores acknowledged, in time.
 */
#define LONG_IDLE_NS (250 * RL_NS_PER_MS)
#define LONG_NAP_NS (400 * RL_NS_PER_US)
#define LONG_NAP_PART 2
/* Rounds with work until it yields to another lcore on the same CPU. */
#define SHARE_ROUNDS 16
#define CACHE_MOVE 512u
#define NOTICE_BURST 128

static void
balance_cache(struct host_lcore *lc)
{
	struct rl_flit_cache *c = &lc->cache;
	struct rte_ring *r = lc->host->free_flits;

	if (rl_unlikely(c->count < lc->cache_low)) {
		void **at = (void **)(c->slot + c->count);

		c->count += rte_ring_dequeue_burst(r, at, CACHE_MOVE, NULL);
	} else if (rl_unlikely(c->count > lc->cache_high)) {
		void **at = (void **)(c->slot + c->count - CACHE_MOVE);

		c->count -= rte_ring_enqueue_burst(r, at, CACHE_MOVE, NULL);
	}
}

/* Delivers notices of drops to endpoints of this lcore [RXL-4]. */
static void
take_notices(struct host_lcore *lc, uint64_t now_ns)
{
	struct host_notice n[NOTICE_BURST];
	const unsigned int got = rte_ring_sc_dequeue_burst_elem(
		lc->notices, n, sizeof(n[0]), NOTICE_BURST, NULL);

	for (unsigned int i = 0; i < got; i++)
		rl_ep_notice(lc->host->fabric.dev[n[i].dev].core.ep, now_ns,
			     &n[i].say);
}

/* Gives an lcore a turn for its roles of a device, if it has any. */
static void
deal_turn(struct host *h, struct host_lcore *lc, uint32_t dev)
{
	struct rl_device *d = &h->fabric.dev[dev];
	const uint16_t *lcore = &h->place.lcore[host_role(&h->place, dev, -1)];
	struct host_turn t = { .port = lc->nports };

	if (lcore[0] == lc->id) {
		t.core = &d->core;
		lc->ncores++;
	}
	for (uint16_t i = 0; i < d->nports; i++)
		if (lcore[1 + i] == lc->id) {
			lc->port[lc->nports++] = &d->port[i];
			if (t.core != NULL)
				rl_role_join(t.core, &d->port[i]);
		}
	t.nports = lc->nports - t.port;
	if (t.core != NULL)
		d->whole = t.nports == d->nports;
	if (t.core != NULL || t.nports != 0)
		lc->turn[lc->nturns++] = t;
}

void
host_lcores_deal(struct host *h)
{
	for (uint32_t i = 0; i < h->nlcores; i++) {
		struct host_lcore *lc = h->lcore[h->lcore_id[i]];

		lc->nturns = lc->nports = lc->ncores = 0;
		for (uint32_t d = 0; d < h->fabric.ndev; d++)
			if (!h->fabric.dev[d].foreign && !h->dead[d])
				deal_turn(h, lc, d);
	}
}

static void
poll_turn(struct host_lcore *lc, const struct host_turn *t, uint64_t now_ns,
	  unsigned int *port_work, unsigned int *core_work)
{
	struct rl_role_port *const *const port = lc->port + t->port;

	for (uint32_t i = 0; i < t->nports; i++) {
		*port_work += rl_role_port_in(port[i], now_ns);
		balance_cache(lc);
	}
	if (rl_likely(t->core != NULL)) {
		*core_work += rl_role_core_poll(t->core, now_ns);
		balance_cache(lc);
	}
	for (uint32_t i = 0; i < t->nports; i++)
		*port_work += rl_role_port_out(port[i], now_ns);
	balance_cache(lc);
}

unsigned int
host_lcore_poll(struct host_lcore *lc, uint64_t now_ns)
{
	unsigned int port_work = 0, core_work = 0;

	if (rl_unlikely(!host_ring_empty(lc->orders.ring)))
		core_work += host_orders_take(lc, now_ns);
	if (rl_unlikely(!host_ring_empty(lc->notices)))
		take_notices(lc, now_ns);
	for (uint32_t i = 0; i < lc->nturns; i++)
		poll_turn(lc, &lc->turn[i], now_ns, &port_work, &core_work);
	if (core_work != 0)
		lc->busy_ns = now_ns;
	/* release: pairs with the acquire in host_rounds() */
	atomic_store_explicit(&lc->loops,
			      atomic_load_explicit(&lc->loops,
						   memory_order_relaxed) + 1,
			      memory_order_release);
	if (port_work + core_work != 0)
		atomic_store_explicit(
			&lc->loops_busy,
			atomic_load_explicit(&lc->loops_busy,
					     memory_order_relaxed) + 1,
			memory_order_relaxed);
	return port_work + core_work;
}

static bool
all_idle(const struct host_lcore *lc)
{
	for (uint32_t i = 0; i < lc->nports; i++)
		if (!rl_port_idle(lc->port[i]->port))
			return false;
	for (uint32_t i = 0; i < lc->nturns; i++) {
		const struct rl_role_core *c = lc->turn[i].core;

		if (c != NULL && (!rl_core_idle(c->core) ||
				  (c->ep != NULL && !rl_ep_idle(c->ep))))
			return false;
	}
	return true;
}

uint32_t
host_long_nap_ns(const struct rl_config *cfg, uint32_t nlcores,
		 uint32_t idle_sleep_ns)
{
	uint64_t ns = LONG_NAP_NS;

	for (uint32_t i = 0; i < cfg->topo.nlink; i++) {
		const struct rl_link_cfg *l = rl_config_link(cfg, i);

		if (l->keepalive_ns != 0)
			ns = rl_min_u64(ns, l->keepalive_ns / LONG_NAP_PART);
		if (nlcores > 1 || l->slow_wire)
			ns = rl_min_u64(ns, (l->replay_timer_ns != 0
						     ? l->replay_timer_ns
						     : l->replay_timer_min_ns) /
						    LONG_NAP_PART);
	}
	return idle_sleep_ns == 0
		       ? 0
		       : rl_max_u32(idle_sleep_ns, (uint32_t)ns);
}

/* Naps or yields after a round without work. */
static void
rest(struct host_lcore *lc, uint64_t now_ns)
{
	const struct host_params *p = &lc->host->p;
	const uint64_t idle_ns = now_ns - lc->busy_ns;
	const struct timespec nap = {
		.tv_nsec = idle_ns < LONG_IDLE_NS ? p->idle_sleep_ns
						  : lc->host->long_nap_ns,
	};

	if (nap.tv_nsec == 0 || idle_ns < IDLE_NS) {
		if (p->cfg->share_cpus)
			sched_yield();
		else
			rte_pause();
		return;
	}
	if (all_idle(lc))
		nanosleep(&nap, NULL);
	else
		lc->busy_ns = now_ns;
}

/* @return the time for the polls of this round */
static uint64_t
begin_round(struct host_lcore *lc)
{
	struct host *h = lc->host;
	const uint64_t host_ns = host_now(h);
	const uint64_t now_ns = host_time_round(&h->time, h->pace, h->nlcores,
						lc->nth, host_ns);
	const uint64_t out_ns = host_time_left_out(&h->time);

	lc->late_ns = host_ns - now_ns;
	if (rl_unlikely(out_ns != lc->left_out_ns)) {
		for (uint32_t i = 0; i < lc->nports; i++)
			rl_port_left_out(lc->port[i]->port,
					 out_ns - lc->left_out_ns);
		lc->left_out_ns = out_ns;
	}
	return now_ns;
}

/* While host_pause() has all lcores stand still. */
static void
park(struct host_lcore *lc)
{
	const struct timespec nap = { .tv_nsec = HOST_PARK_NAP_NS };
	struct host *h = lc->host;

	/* release: pairs with the acquire in host_pause() */
	atomic_store_explicit(&lc->parked, 1, memory_order_release);
	/* acquire: pairs with the release in host_pause() */
	while (atomic_load_explicit(&h->pause, memory_order_acquire) != 0 &&
	       atomic_load_explicit(&h->stop, memory_order_relaxed) == 0)
		nanosleep(&nap, NULL);
	atomic_store_explicit(&lc->parked, 0, memory_order_release);
}

int
host_lcore_main(void *arg)
{
	struct host_lcore *lc = arg;
	struct host *h = lc->host;
	unsigned int busy = 0;

	while (atomic_load_explicit(&h->stop, memory_order_relaxed) == 0) {
		uint64_t now_ns;

		if (rl_unlikely(atomic_load_explicit(&h->pause,
						     memory_order_relaxed)))
			park(lc);
		now_ns = begin_round(lc);
		if (host_lcore_poll(lc, now_ns) == 0)
			rest(lc, now_ns);
		else if (rl_unlikely(h->p.cfg->share_cpus) &&
			 ++busy % SHARE_ROUNDS == 0)
			sched_yield();
	}
	/* release: pairs with the acquire in host_stop() */
	atomic_store_explicit(&lc->ended, 1, memory_order_release);
	return 0;
}

void
host_rounds(const struct host *h, uint64_t rounds[])
{
	/* what the caller took away is gone before it counts: threads.md */
	RL_FENCE(memory_order_seq_cst);
	for (uint32_t i = 0; i < h->nlcores; i++)
		/* acquire: pairs with the release in host_lcore_poll() */
		rounds[i] = atomic_load_explicit(
			&h->lcore[h->lcore_id[i]]->loops,
			memory_order_acquire);
}

bool
host_rounds_passed(const struct host *h, const uint64_t since[],
		   uint64_t n)
{
	uint64_t now[RTE_MAX_LCORE];

	host_rounds(h, now);
	for (uint32_t i = 0; i < h->nlcores; i++)
		if (now[i] - since[i] <= n) /* one had begun before */
			return false;
	return true;
}

bool
host_wait_round(struct host *h, uint64_t ns)
{
	const uint64_t limit_ns = host_now(h) + ns;
	uint64_t rounds[RTE_MAX_LCORE];

	host_rounds(h, rounds);
	while (h->running && !host_rounds_passed(h, rounds, 1)) {
		if (host_now(h) >= limit_ns)
			return false;
		host_run(h, 100 * RL_NS_PER_US);
	}
	return true;
}

void
host_run(struct host *h, uint64_t ns)
{
	const uint64_t end_ns = host_now(h) + ns;

	if (!h->sliced || !h->running) {
		const struct timespec t = {
			.tv_sec = (time_t)(ns / RL_NS_PER_S),
			.tv_nsec = (long)(ns % RL_NS_PER_S),
		};

		nanosleep(&t, NULL);
		return;
	}
	for (;;) {
		struct host_lcore *lc = h->lcore[rte_lcore_id()];
		uint64_t now_ns;

		if (host_now(h) >= end_ns)
			return;
		now_ns = begin_round(lc);
		if (host_lcore_poll(lc, now_ns) == 0)
			rest(lc, now_ns);
	}
}

static struct host_lcore *
self(struct host *h)
{
	return h->lcore[rte_lcore_id()];
}

/* Only this lcore writes it; others read it, so it must not tear. */
static void
count(_Atomic uint64_t *n)
{
	atomic_store_explicit(n,
			      atomic_load_explicit(n, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static void
put_record(struct host_lcore *lc, struct host_rec *rec)
{
	struct rte_ring *r = lc->log.ring;

	if (rte_ring_sp_enqueue_elem(r, rec, sizeof(*rec)) != 0)
		count(&lc->log.lost);
}

/* Adds a record of a single packet, but keeps room for events. */
static void
put_packet(struct host_lcore *lc, struct host_rec *rec)
{
	struct rte_ring *r = lc->log.ring;

	if (rte_ring_free_count(r) < rte_ring_get_capacity(r) / 4 ||
	    rte_ring_sp_enqueue_elem(r, rec, sizeof(*rec)) != 0)
		count(&lc->log.lost_packets);
}

void
host_on_port_event(void *ctx, uint32_t dev, uint16_t port,
		   const struct rl_port_event *ev)
{
	struct host *h = ctx;
	struct host_lcore *lc = self(h);
	struct host_rec rec = {
		.t_ns = ev->t_ns + lc->late_ns,
		.kind = HOST_REC_PORT,
		.dev = dev,
		.port = port,
		.port_ev = *ev,
	};

	rl_device_port_event(&h->fabric.dev[dev], ev,
			     h->p.cfg->controller.await_ns);
	rec.port_ev.t_ns = rec.t_ns;
	put_record(lc, &rec);
}

void
host_on_core_event(void *ctx, uint32_t dev, const struct rl_core_event *ev)
{
	struct host_lcore *lc = self(ctx);
	struct host_rec rec = {
		.t_ns = ev->t_ns + lc->late_ns,
		.kind = HOST_REC_CORE,
		.dev = dev,
		.port = ev->port,
		.core_ev = *ev,
	};

	rec.core_ev.t_ns = rec.t_ns;
	put_record(lc, &rec);
}

void
host_on_ep_event(void *ctx, uint32_t dev, const struct rl_ep_event *ev)
{
	struct host_lcore *lc = self(ctx);
	struct host_rec rec = {
		.t_ns = ev->t_ns + lc->late_ns,
		.kind = HOST_REC_EP,
		.dev = dev,
		.ep_ev = *ev,
	};

	rec.ep_ev.t_ns = rec.t_ns;
	rec.ep_ev.since_ns += lc->late_ns;
	put_record(lc, &rec);
}

static struct proof *
flow_proof(const struct host *h, uint16_t src, uint16_t dst)
{
	return h->proof[(size_t)dst * h->fabric.topo->nep + src];
}

void
host_on_report(void *ctx, const struct rl_ep_report *r, uint64_t now_ns)
{
	struct host *h = ctx;
	struct host_lcore *lc = self(h);

	if (h->gen[r->src] != NULL) /* the generator is on the same lcore as its
				       endpoint */
		rl_tg_report(h->gen[r->src]->tg, r);
	if (h->proof != NULL && flow_proof(h, r->src, r->dst) != NULL)
		proof_reported(flow_proof(h, r->src, r->dst), r->tag);
	put_packet(lc, &(struct host_rec){
		.t_ns = now_ns + lc->late_ns,
		.kind = HOST_REC_REPORT,
		.dev = h->fabric.topo->ep_dev[r->src],
		.packet = {
			.src = r->src,
			.dst = r->dst,
			.cos = r->cos,
			.why = (uint8_t)r->reason,
			.tag = r->tag,
		},
	});
}

static void
notify_end(struct host *h, struct host_lcore *from, const struct rl_flit *pkt,
	   enum rl_drop_reason why)
{
	struct host_notice n;
	struct host_lcore *to;

	if (!rl_drop_notice(pkt, why, h->p.cfg->endpoint.retry,
			    h->fabric.topo->nep, &n.say))
		return;
	n.dev = h->fabric.topo->ep_dev[n.say.whose];
	/* another process runs it: its own retry finds out */
	if (h->fabric.dev[n.dev].foreign || h->dead[n.dev])
		return;
	to = h->lcore[h->place.lcore[host_role(&h->place, n.dev, -1)]];
	if (rte_ring_enqueue_elem(to->notices, &n, sizeof(n)) != 0)
		count(&from->notices_lost);
}

void
host_on_drop(void *ctx, const struct rl_flit *pkt, enum rl_drop_reason why,
	     uint64_t now_ns)
{
	struct host *h = ctx;
	struct host_lcore *lc = self(h);
	struct rl_txn t;

	if (rl_is_token(pkt))
		return; /* a dropped token is no loss */
	rl_txn_get(pkt->wire, &t);
	lc->drops[why]++;
	put_packet(lc, &(struct host_rec){
		.t_ns = now_ns + lc->late_ns,
		.kind = HOST_REC_DROP,
		.packet = {
			.src = pkt->src,
			.dst = pkt->dst,
			.cos = t.cos,
			.why = (uint8_t)why,
			.flits = pkt->pkt_flits,
			.tag = t.tag,
		},
	});
	notify_end(h, lc, pkt, why);
}
