/* SPDX-License-Identifier: BSD-3-Clause */

#include "host.h"

#define ORDER_BURST 32

static struct host_lcore *
lcore_of(const struct host *h, const struct host_order *o)
{
	return h->lcore[h->place.lcore[host_role(&h->place, o->dev, -1)]];
}

uint64_t
host_order_give(struct host *h, const struct host_order *o)
{
	struct host_lcore *lc = lcore_of(h, o);
	struct host_order copy = *o; /* DPDK needs a non-const pointer */

	if (rte_ring_sp_enqueue_elem(lc->orders.ring, &copy,
				     sizeof(copy)) != 0)
		return 0;
	return ++lc->orders.given;
}

bool
host_order_done(const struct host *h, const struct host_order *o, uint64_t nr)
{
	/* acquire: pairs with the release in host_orders_take() */
	return atomic_load_explicit(&lcore_of(h, o)->orders.done,
				    memory_order_acquire) >= nr;
}

static void
carry_out(struct host_lcore *lc, const struct host_order *o, uint64_t now_ns)
{
	struct rl_device *d = &lc->host->fabric.dev[o->dev];

	switch (o->type) {
	case HOST_ORDER_LOCAL:
		rl_device_order(d, &o->local, now_ns);
		return;
	case HOST_ORDER_VIEW:
		rl_device_view(d, &o->held, o->local.flows, o->view);
		return;
	case HOST_ORDER_VOID:
		return;
	}
}

void
host_orders_void(struct host_lcore *lc, uint32_t dev)
{
	const unsigned int n = rte_ring_count(lc->orders.ring);
	struct host_order o;

	/* one pass over the ring: the others keep their order and numbers */
	for (unsigned int i = 0; i < n; i++) {
		rte_ring_sc_dequeue_elem(lc->orders.ring, &o, sizeof(o));
		if (o.dev == dev)
			o.type = HOST_ORDER_VOID;
		rte_ring_sp_enqueue_elem(lc->orders.ring, &o, sizeof(o));
	}
}

unsigned int
host_orders_take(struct host_lcore *lc, uint64_t now_ns)
{
	struct host_order o[ORDER_BURST];
	const unsigned int n = rte_ring_sc_dequeue_burst_elem(
		lc->orders.ring, o, sizeof(o[0]), ORDER_BURST, NULL);

	for (unsigned int i = 0; i < n; i++) {
		carry_out(lc, &o[i], now_ns);
		/* release: pairs with the acquire in host_order_done() */
		atomic_fetch_add_explicit(&lc->orders.done, 1,
					  memory_order_release);
	}
	return n;
}
