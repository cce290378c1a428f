/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdatomic.h>

#include "rl_role.h"
#include "role_soft.h"

#define CORE_BURST 32

/* @return the first port from @p i on whose pipe must be polled */
static uint16_t
core_next_port(const struct rl_role_core *r, const uint64_t *pending,
	       unsigned int i)
{
	uint64_t mask;

	if (pending == NULL)
		return i < r->nports ? (uint16_t)i : UINT16_MAX;
	mask = i < 64 ? *pending >> i : 0;
	return mask == 0 ? UINT16_MAX
			 : (uint16_t)(i + (unsigned int)__builtin_ctzll(mask));
}

static struct rl_port *
core_near(const struct rl_role_core *r, uint16_t i)
{
	return r->near == NULL ? NULL : r->near[i];
}

static unsigned int
core_from_near(struct rl_role_core *r, uint16_t i, uint64_t now_ns)
{
	struct rl_pktq *q = rl_port_rx_out(r->near[i]);
	const uint32_t n = q->packets;

	if (role_soft(r))
		role_soft_queue(r, q);
	if (n != 0)
		rl_core_rx_queue(r->core, i, q, now_ns);
	return n;
}

/* Loop pipes first: their packets are the oldest [SW-1]. */
static unsigned int
core_from_ports(struct rl_role_core *r, uint64_t now_ns)
{
	void *obj[CORE_BURST];
	unsigned int n, work = 0;
	uint16_t i;

	for (i = core_next_port(r, r->loop_pending, 0); i != UINT16_MAX;
	     i = core_next_port(r, r->loop_pending, i + 1u)) {
		n = r->loop[i].get(r->loop[i].ring, obj, CORE_BURST);
		if (n != 0)
			rl_core_loop(r->core, i, (struct rl_flit **)obj, n,
				     now_ns);
		work += n;
	}
	for (i = core_next_port(r, r->rx_pending, 0); i != UINT16_MAX;
	     i = core_next_port(r, r->rx_pending, i + 1u)) {
		if (core_near(r, i) != NULL) {
			work += core_from_near(r, i, now_ns);
			continue;
		}
		n = r->rx[i].get(r->rx[i].ring, obj, CORE_BURST);
		for (unsigned int k = 0; k < n && role_soft(r); k++)
			role_soft_alter(r, obj[k]);
		if (n != 0)
			rl_core_rx(r->core, i, (struct rl_flit **)obj, n,
				   now_ns);
		work += n;
	}
	return work;
}

/* In bursts, or one by one if each may take the last room. */
static unsigned int
core_receive(struct rl_role_core *r, uint64_t now_ns)
{
	const unsigned int burst = r->ep_paced ? 1 : CORE_BURST;
	struct rl_flit *pkt[CORE_BURST];
	unsigned int n, work = 0;

	do {
		n = 0;
		if (r->ep_paced && !rl_ep_rx_ready(r->ep, now_ns))
			break;
		while (n < burst && (pkt[n] = rl_core_local(r->core)) != NULL)
			n++;
		if (n != 0)
			rl_ep_rx(r->ep, now_ns, pkt, n);
		work += n;
	} while (n != 0 && work < CORE_BURST);
	return work;
}

static unsigned int
core_endpoint(struct rl_role_core *r, uint64_t now_ns)
{
	struct rl_pktq out = { 0 };
	uint32_t room[RL_SLS];
	unsigned int work = 0;

	rl_core_hold_local(r->core, atomic_load_explicit(&r->hold_vcs,
							 memory_order_relaxed));
	work += core_receive(r, now_ns);
	if (r->client.poll != NULL)
		work += r->client.poll(r->client.ctx, r->ep, now_ns);
	if (r->ep_paced) /* the client may have made room */
		work += core_receive(r, now_ns);
	rl_core_inject_room(r->core, r->inject_flits, room);
	work += rl_ep_poll_levels(r->ep, now_ns, &out, r->inject_flits, room);
	if (role_soft(r))
		role_soft_queue(r, &out);
	rl_core_inject(r->core, &out, now_ns);
	return work;
}

/*
 * Passes on all @p n packets and marks. @return the number taken by the port: n
 */
static unsigned int
core_to_port(struct rl_role_core *r, uint16_t i, struct rl_flit *out[],
	     unsigned int n, uint64_t now_ns)
{
	struct rl_port *const near = core_near(r, i);

	if (near == NULL)
		return r->tx[i].put(r->tx[i].ring, (void **)out, n);
	for (unsigned int k = 0; k < n; k++)
		rl_port_submit(near, out[k], now_ns);
	return n;
}

static unsigned int
core_to_ports(struct rl_role_core *r, uint64_t now_ns)
{
	struct rl_flit *out[CORE_BURST];
	unsigned int work = 0;

	for (uint16_t i = 0; i < r->nports; i++) {
		unsigned int n, put;

		if (!rl_core_tx_pending(r->core, i))
			continue;
		n = rl_core_tx(r->core, i, out, CORE_BURST);
		if (n == 0)
			continue;
		/* bounded by the egress queues: always fits */
		put = core_to_port(r, i, out, n, now_ns);
		RL_ASSERT(put == n);
		work += n;
	}
	return work;
}

/* Passes events to the host. @return number of events */
static unsigned int
core_events(struct rl_role_core *r)
{
	struct rl_core_event ev;
	unsigned int n = 0;

	for (; rl_core_event_pop(r->core, &ev); n++) {
		/* a link is back: peers may be reachable again */
		if (ev.type == RL_CEV_RESTORE && r->ep != NULL)
			rl_ep_probe_again(r->ep, ev.t_ns);
		if (r->sink != NULL)
			r->sink->core_event(r->sink->ctx, r->dev, &ev);
	}
	return n;
}

unsigned int
rl_role_core_poll(struct rl_role_core *r, uint64_t now_ns)
{
	unsigned int work;

	if (atomic_load_explicit(&r->await_ns, memory_order_relaxed) != 0)
		rl_core_await_routes(r->core,
				     atomic_exchange_explicit(
					     &r->await_ns, 0,
					     memory_order_relaxed));
	work = core_from_ports(r, now_ns);
	if (r->ep != NULL)
		work += core_endpoint(r, now_ns);
	rl_core_tick(r->core, now_ns);
	work += core_to_ports(r, now_ns);
	work += core_events(r);
	if (work == 0)
		atomic_store_explicit(&r->idle,
				      rl_core_idle(r->core) &&
					      (r->ep == NULL ||
					       rl_ep_idle(r->ep)),
				      memory_order_release);
	else
		atomic_store_explicit(&r->idle, 0, memory_order_relaxed);
	return work;
}

void
rl_role_join(struct rl_role_core *core, struct rl_role_port *port)
{
	port->near = true;
	core->near[port->index] = port->port;
	rl_core_join(core->core, port->index, port->port);
}

void
rl_role_core_hold(struct rl_role_core *r, uint32_t vc_mask)
{
	atomic_store_explicit(&r->hold_vcs, vc_mask, memory_order_relaxed);
}

void
rl_role_core_fault(struct rl_role_core *r, const struct rl_fault *f)
{
	const uint32_t mask = atomic_load(&r->hold_vcs), vc = 1u << f->vc;

	if (f->kind == RL_FAULT_SOFT)
		rl_role_core_soft(r, f->noise.soft_ppb);
	else if (f->kind == RL_FAULT_POISON)
		rl_role_core_poison(r, f->noise.poison_ppb);
	else
		rl_role_core_hold(r, f->kind == RL_FAULT_BLOCK ? mask | vc
							       : mask & ~vc);
}

void
rl_role_core_await(struct rl_role_core *r, uint64_t until_ns)
{
	atomic_store_explicit(&r->await_ns, until_ns, memory_order_relaxed);
}

/* When the client takes packets that wait for it. */
static uint64_t
client_takes_ns(const struct rl_role_core *r)
{
	if (r->client.poll == NULL || !rl_ep_recv_pending(r->ep))
		return RL_NEVER;
	return r->client.takes_ns == NULL
		       ? 0
		       : r->client.takes_ns(r->client.ctx);
}

uint64_t
rl_role_core_deadline(const struct rl_role_core *r)
{
	uint64_t t = rl_core_deadline(r->core);

	if (r->ep != NULL) {
		t = rl_min_u64(t, client_takes_ns(r));
		t = rl_min_u64(t, rl_ep_deadline(r->ep));
		if (r->client.deadline != NULL)
			t = rl_min_u64(t, r->client.deadline(r->client.ctx));
	}
	return t;
}

void
rl_role_core_ep_event(void *role, const struct rl_ep_event *ev)
{
	const struct rl_role_core *r = role;

	if (r->client.event != NULL)
		r->client.event(r->client.ctx, ev);
	if (r->sink != NULL && r->sink->ep_event != NULL)
		r->sink->ep_event(r->sink->ctx, r->dev, ev);
}
