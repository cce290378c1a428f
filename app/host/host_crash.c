/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Devices that crash and restart. All lcores pause while the roles of a device
 * are taken away or put back: otherwise only an lcore may touch its roles.
 * Roles of a dead device are not polled; its flits, including those in its
 * pipes, are freed.
 *
 * The caller darkens the links of a device before it crashes.
 */

#include <errno.h>
#include <time.h>

#include "host.h"

/* Pauses all lcores, or lets them go on: the next pause must not find one still
   parked. With one lcore the caller is that lcore. */
static void
host_pause(struct host *h, bool on)
{
	const struct timespec nap = { .tv_nsec = HOST_PARK_NAP_NS };

	if (h->sliced || !h->running)
		return;
	atomic_store_explicit(&h->pause, on, memory_order_release);
	for (uint32_t i = 0; i < h->nlcores; i++)
		while (atomic_load_explicit(&h->lcore[h->lcore_id[i]]->parked,
					    memory_order_acquire) != on)
			nanosleep(&nap, NULL);
}

static void
orders_off(struct host *h, uint32_t dev)
{
	for (uint32_t i = 0; i < h->nlcores; i++) {
		struct host_lcore *lc = h->lcore[h->lcore_id[i]];
		const unsigned int n = rte_ring_count(lc->notices);
		struct host_notice m;

		host_orders_void(lc, dev);
		for (unsigned int k = 0; k < n; k++) {
			rte_ring_sc_dequeue_elem(lc->notices, &m, sizeof(m));
			if (m.dev != dev)
				rte_ring_enqueue_elem(lc->notices, &m,
						      sizeof(m));
		}
	}
}

/* Packets from its client and to it have an unknown fate: the crash itself
   reports them. */
static void
clients_told(struct host *h, uint32_t dev)
{
	const uint16_t ep = h->fabric.topo->dev[dev].ep_id;

	if (h->fabric.dev[dev].core.ep == NULL)
		return;
	for (uint32_t i = 0; i < h->fabric.topo->nep; i++) {
		if (h->gen[i] == NULL)
			continue;
		if (i == ep)
			rl_tg_crashed(h->gen[i]->tg);
		else
			rl_tg_excuse(h->gen[i]->tg, ep);
	}
}

int
host_dev_crash(struct host *h, uint32_t dev)
{
	struct rl_device *d = &h->fabric.dev[dev];
	struct rl_flit_cache *cache;

	if (h->dead[dev])
		return -EALREADY;
	host_pause(h, true);
	h->dead[dev] = true;
	host_lcores_deal(h);
	orders_off(h, dev);
	for (uint16_t i = 0; i < d->nports; i++)
		h->gone_flit_hops += rl_port_counters(
			d->port[i].port)[RL_PC_tx_flits];
	rl_fabric_dev_flush(&h->fabric, dev);
	cache = &h->lcore[h->place.lcore[host_role(&h->place, dev, -1)]]->cache;
	for (uint16_t i = 0; i < d->nports; i++) {
		host_flush_pipe(&d->port[i].rx, cache);
		host_flush_pipe(&d->port[i].loop, cache);
		host_flush_pipe(&d->port[i].tx, cache);
		atomic_store_explicit(&d->port[i].idle, 1,
				      memory_order_relaxed);
	}
	atomic_store_explicit(&d->core.idle, 1, memory_order_relaxed);
	clients_told(h, dev);
	host_resil_dev_crash(h, dev);
	host_pause(h, false);
	return 0;
}

uint64_t
host_role_time(const struct host *h, uint32_t dev, int32_t port)
{
	const uint32_t role = host_role(&h->place, dev, port);

	return atomic_load_explicit(
		&h->lcore[h->place.lcore[role]]->pace.round_ns,
		memory_order_relaxed);
}

int
host_dev_restart(struct host *h, uint32_t dev)
{
	const struct rl_topo *t = h->fabric.topo;
	bool waits;

	if (!h->dead[dev])
		return -EALREADY;
	waits = host_resil_dev_restart(h, dev);
	host_pause(h, true);
	rl_fabric_dev_restart(&h->fabric, dev, &h->p.route->fwd[dev]);
	for (uint16_t i = 0; i < t->dev[dev].nports && !waits; i++)
		if (rl_topo_link_up(t, t->dev[dev].port[i].link))
			rl_port_start(h->fabric.dev[dev].port[i].port,
				      host_role_time(h, dev, i));
	h->dead[dev] = false;
	host_lcores_deal(h);
	host_pause(h, false);
	return 0;
}
