/* SPDX-License-Identifier: BSD-3-Clause */

#include "host.h"

#define ORDER_BURST 32

static struct host_lcore *
lcore_of(const struct host *h, const struct host_order *o)
{
	const int port = o->type == HOST_ORDER_START ? o->port : -1;

	return h->lcore[h->place.lcore[host_role(&h->place, o->dev, port)]];
}

uint64_t
host_order_give(struct host *h, const struct host_order *o)
{
	struct host_lcore *lc = lcore_of(h, o);
	struct host_order copy = *o; /* DPDK wants it writable */

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

static bool
held(const struct host_order *o, uint16_t src, uint16_t dst)
{
	switch (o->hold) {
	case RL_RESIL_HOLD_NONE:
		return false;
	case RL_RESIL_HOLD_FLOWS:
		return o->flows != NULL && rl_flows_has(o->flows, src, dst);
	case RL_RESIL_HOLD_ALL:
		return true;
	}
	return false;
}

static void
hold(struct rl_role_core *rc, const struct host_order *o, uint16_t self,
     uint64_t now_ns)
{
	struct rl_ep *ep = rc->ep;

	rl_core_still(rc->core, o->hold != RL_RESIL_HOLD_NONE);
	if (ep == NULL)
		return;
	rl_ep_quiesce(ep, now_ns, o->hold == RL_RESIL_HOLD_ALL);
	for (uint16_t dst = 0; dst < o->nep; dst++)
		rl_ep_hold(ep, now_ns, dst,
			   o->hold == RL_RESIL_HOLD_FLOWS &&
				   held(o, self, dst));
}

/*
 * Quiet: of what is held here, nothing is under way; where nothing is, all tokens
 * have come and gone. Where all is held, nothing
 * is in transit: what has no way waits until all go on (rl_core_still()). Ports are looked at by the control thread.
 */
static void
view(const struct rl_role_core *rc, const struct host_order *o, uint16_t self)
{
	const uint64_t *c = rl_core_counters(rc->core);

	*o->view = (struct rl_local_view){
		.quiet = true,
		.activity = c[RL_CC_rx_packets] + c[RL_CC_looped_packets] +
			    c[RL_CC_injected_packets] + c[RL_CC_tx_packets],
	};
	if (o->hold == RL_RESIL_HOLD_NONE) {
		o->view->quiet = !rl_core_passing(rc->core);
		return;
	}
	if (o->hold == RL_RESIL_HOLD_ALL) {
		o->view->quiet = rl_core_transit(rc->core) == 0;
		return;
	}
	for (uint16_t dst = 0; rc->ep != NULL && o->view->quiet &&
			       dst < o->nep; dst++)
		if (dst != self && held(o, self, dst))
			o->view->quiet = rl_ep_quiescent(rc->ep, dst);
}

static void
carry_out(struct host_lcore *lc, const struct host_order *o, uint64_t now_ns)
{
	struct rl_device *d = &lc->host->fabric.dev[o->dev];
	const uint16_t self = lc->host->fabric.topo->dev[o->dev].ep_id;

	switch (o->type) {
	case HOST_ORDER_TABLES:
		rl_core_set_fwd(d->core.core, o->fwd);
		if (d->core.ep != NULL)
			rl_ep_set_path_sl(d->core.ep, o->fwd->path_sl);
		return;
	case HOST_ORDER_STAGE:
		rl_core_stage(d->core.core, o->pass);
		return;
	case HOST_ORDER_PASS:
		rl_core_pass(d->core.core);
		if (d->core.ep != NULL)
			rl_ep_set_path_sl(d->core.ep, o->pass->fwd->path_sl);
		return;
	case HOST_ORDER_HOLD:
		hold(&d->core, o, self, now_ns);
		return;
	case HOST_ORDER_VIEW:
		view(&d->core, o, self);
		return;
	case HOST_ORDER_START:
		rl_port_start(d->port[o->port].port, now_ns);
		return;
	case HOST_ORDER_PROBE:
		rl_ep_probe_again(d->core.ep, now_ns);
		return;
	case HOST_ORDER_VOID:
		return;
	}
}

void
host_orders_probe(struct host *h)
{
	const struct rl_topo *t = h->fabric.topo;

	for (uint32_t i = 0; i < t->nep; i++) {
		const struct host_order o = { .type = HOST_ORDER_PROBE,
					      .dev = t->ep_dev[i] };

		/* where the ring is full it goes on as it did */
		if (!h->fabric.dev[o.dev].foreign && !h->dead[o.dev])
			(void)host_order_give(h, &o);
	}
}

void
host_orders_void(struct host_lcore *lc, uint32_t dev)
{
	const unsigned int n = rte_ring_count(lc->orders.ring);
	struct host_order o;

	/* once round: what stays keeps its place, and its number */
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
