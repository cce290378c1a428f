/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdatomic.h>

#include "rl_role.h"

#define PORT_RX_BURST 32
#define PORT_TX_BURST 8
#define PORT_TX_BURST_MAX 32
/*
 * A poll sends bursts until nothing is left or this limit is reached, so that
 * the frames share the cost of a poll. A higher limit is no faster, and delays
 * other ports: they see a link death later, and reroute its packets later. If
 * each burst costs a system call, bursts are longer.
 */
#define PORT_TX_FRAMES 32
#define PORT_TX_BYTES (64 * RL_FLIT_BYTES)
#define PORT_PIPE_BURST 32

static unsigned int
port_rx(struct rl_role_port *r, uint64_t now_ns)
{
	struct rl_phy_frame f[PORT_RX_BURST];
	uint8_t *data[PORT_RX_BURST];
	uint32_t len[PORT_RX_BURST];
	const unsigned int n =
		r->phy.ops->rx(r->phy.ctx, f, PORT_RX_BURST, now_ns);

	for (unsigned int i = 0; i < n; i++) {
		data[i] = f[i].data;
		len[i] = f[i].len;
	}
	if (n != 0)
		rl_port_rx_burst(r->port, data, len, n, now_ns);
	if (n == PORT_RX_BURST)
		rl_port_rx_more(r->port);
	if (n != 0)
		r->phy.ops->rx_free(r->phy.ctx, f, n);
	return n;
}

static unsigned int
port_from_core(struct rl_role_port *r, uint64_t now_ns)
{
	void *obj[PORT_PIPE_BURST];
	const unsigned int n =
		r->near ? 0 : r->tx.get(r->tx.ring, obj, PORT_PIPE_BURST);

	for (unsigned int i = 0; i < n; i++)
		rl_port_submit(r->port, obj[i], now_ns);
	return n;
}

/* @return frames sent in a burst; adds their size to *@p bytes */
static unsigned int
port_tx_burst(struct rl_role_port *r, unsigned int burst, uint32_t *bytes,
	      uint64_t now_ns)
{
	struct rl_phy_frame f[PORT_TX_BURST_MAX];
	struct rl_port_burst said = { .again = false };
	const unsigned int n =
		r->phy.ops->tx_alloc(r->phy.ctx, f, burst, now_ns);
	unsigned int sent = 0;

	for (unsigned int i = 0; i < n; i++)
		f[i].len = 0;
	for (; sent < n; sent++) {
		f[sent].len = rl_port_tx_next(r->port, f[sent].data, &said,
					      now_ns);
		if (f[sent].len == 0)
			break;
		*bytes += f[sent].len;
	}
	if (n != 0)
		r->phy.ops->tx(r->phy.ctx, f, n, now_ns);
	return sent;
}

static unsigned int
port_tx(struct rl_role_port *r, uint64_t now_ns)
{
	const unsigned int burst =
		r->phy.syscalls ? PORT_TX_BURST_MAX : PORT_TX_BURST;
	unsigned int sent = 0, n, left;
	uint32_t bytes = 0;

	do {
		if (!rl_port_tx_ready(r->port, now_ns))
			break;
		(void)rl_port_tx_most(r->port, &left);
		n = port_tx_burst(r, rl_min_u32(left, burst), &bytes, now_ns);
		sent += n;
	} while (n == burst && left != n && sent < PORT_TX_FRAMES &&
		 bytes < PORT_TX_BYTES);
	return sent;
}

static unsigned int
port_to_core(struct rl_role_port *r, uint64_t now_ns)
{
	struct rl_pktq *q = rl_port_rx_out(r->port);
	void *obj[PORT_PIPE_BURST];
	unsigned int n = 0, work = 0;

	if (r->near) /* the core takes them directly from the queue */
		work = q->packets;
	else
		while (n < PORT_PIPE_BURST &&
		       (obj[n] = rl_pktq_pop(q)) != NULL)
			n++;
	if (n != 0) {
		/* bounded by the credits given: always fits */
		const unsigned int put = r->rx.put(r->rx.ring, obj, n);

		RL_ASSERT(put == n);
		work += n;
	}
	for (n = 0; n < PORT_PIPE_BURST; n++) {
		obj[n] = rl_port_loop(r->port, now_ns);
		if (obj[n] == NULL)
			break;
	}
	if (n != 0) {
		/* bounded by the replay buffer and the egress queues */
		const unsigned int put = r->loop.put(r->loop.ring, obj, n);

		RL_ASSERT(put == n);
		work += n;
	}
	return work;
}

static unsigned int
port_orders(struct rl_role_port *r, uint64_t now_ns)
{
	uint32_t order;

	/* acquire: pairs with the release in rl_role_port_order() */
	if (atomic_load_explicit(&r->order, memory_order_relaxed) ==
	    RL_ORDER_NONE)
		return 0;
	order = atomic_exchange_explicit(&r->order, RL_ORDER_NONE,
					 memory_order_acq_rel);
	if (order & RL_ORDER_START)
		rl_port_start(r->port, now_ns);
	order &= ~(uint32_t)RL_ORDER_START;
	if (order == RL_ORDER_DOWN)
		rl_port_down(r->port, now_ns);
	else if (order == RL_ORDER_DRAIN)
		rl_port_drain_down(r->port, now_ns);
	else if (order == RL_ORDER_UP)
		rl_port_up(r->port, now_ns);
	return 1;
}

void
rl_role_port_order(struct rl_role_port *r, enum rl_port_order order)
{
	uint32_t was = atomic_load_explicit(&r->order, memory_order_relaxed);
	uint32_t now;

	do
		now = order == RL_ORDER_START
			      ? was | RL_ORDER_START
			      : (was & RL_ORDER_START) | order;
	/* release: pairs with the exchange in port_orders() */
	while (!atomic_compare_exchange_weak_explicit(&r->order, &was, now,
						      memory_order_release,
						      memory_order_relaxed));
}

/* Passes events to the host. @return number of events */
static unsigned int
port_events(struct rl_role_port *r)
{
	struct rl_port_event ev;
	unsigned int n = 0;

	for (; rl_port_event_pop(r->port, &ev); n++)
		if (r->sink != NULL)
			r->sink->port_event(r->sink->ctx, r->dev, r->index,
					    &ev);
	return n;
}

/*
 * Idle frames are no traffic: if a round takes longer than the keepalive
 * interval, every poll sends and receives some. @p moved: packets to or from
 * the core
 */
static void
port_idle(struct rl_role_port *r, unsigned int moved)
{
	atomic_store_explicit(&r->idle, moved == 0 && rl_port_idle(r->port),
			      memory_order_release);
}

unsigned int
rl_role_port_in(struct rl_role_port *r, uint64_t now_ns)
{
	unsigned int work;

	rl_port_phy_status(r->port, r->phy.ops->status(r->phy.ctx), now_ns);
	work = port_orders(r, now_ns);
	work += port_rx(r, now_ns);
	rl_port_tick(r->port, now_ns);
	r->moved = port_to_core(r, now_ns);
	return work + r->moved + port_events(r);
}

unsigned int
rl_role_port_out(struct rl_role_port *r, uint64_t now_ns)
{
	unsigned int moved = port_from_core(r, now_ns), work;

	work = port_tx(r, now_ns);
	/* a fence may have arrived, which ends the loopback */
	if (rl_unlikely(rl_port_state(r->port) == RL_LINK_LOOPBACK))
		moved += port_to_core(r, now_ns);
	work += moved + port_events(r);
	port_idle(r, r->moved + moved);
	return work;
}

unsigned int
rl_role_port_poll(struct rl_role_port *r, uint64_t now_ns)
{
	unsigned int work, moved;

	rl_port_phy_status(r->port, r->phy.ops->status(r->phy.ctx), now_ns);
	work = port_orders(r, now_ns);
	work += port_rx(r, now_ns);
	moved = port_from_core(r, now_ns);
	rl_port_tick(r->port, now_ns);
	work += port_tx(r, now_ns);
	moved += port_to_core(r, now_ns);
	work += moved + port_events(r);
	port_idle(r, moved);
	return work;
}

uint64_t
rl_role_port_deadline(const struct rl_role_port *r, uint64_t now_ns)
{
	return rl_min_u64(rl_port_deadline(r->port, now_ns),
			  r->phy.ops->deadline(r->phy.ctx));
}
