/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Construction of a port, and what others may ask of it. The protocol stands
 * in port_state.c (state machine), port_queue.c, port_tx.c, port_retry.c,
 * port_rx.c, port_packet.c, port_rtt.c and port_loop.c.
 */

#include <errno.h>
#include <string.h>

#include "port_priv.h"

#define PORT_STRUCT_BYTES                                                      \
	((sizeof(struct rl_port) + RL_CACHE_LINE - 1) &                        \
	 ~(size_t)(RL_CACHE_LINE - 1))

size_t
rl_port_memsize(const struct rl_link_cfg *cfg)
{
	size_t n = PORT_STRUCT_BYTES + rl_replay_memsize(cfg->window_flits);

	return (n + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1);
}

struct rl_port *
rl_port_init(void *mem, const struct rl_port_params *p)
{
	struct rl_port *port = mem;
	const uint32_t fit = rl_frame_fit(p->frame_bytes);

	RL_ASSERT(((uintptr_t)mem & (RL_CACHE_LINE - 1)) == 0);
	RL_ASSERT(p->uid < 1u << 20);
	if (fit == 0)
		return NULL;
	memset(port, 0, sizeof(*port));
	port->p = *p;
	port->frame_flits = p->cfg->flits_per_frame == 0
				    ? fit
				    : rl_min_u32(fit, p->cfg->flits_per_frame);
	port->ack_coalesce = rl_min_u32(p->cfg->ack_coalesce_flits,
					p->cfg->window_flits / 4 + 1);
	port->hw_crc = rl_codec_isa(p->codec) != RL_ISA_SCALAR;
	port->phy_up = true;
	port->phy_lost_ns = RL_NEVER;
	rl_prng_seed(&port->prng, p->seed);
	rl_replay_init(&port->replay, (uint8_t *)mem + PORT_STRUCT_BYTES,
		       p->cfg->window_flits);
	port_tx_reset(port);
	port_rx_reset(port);
	port_rtt_reset(port);
	return port;
}

void
rl_port_prefetch(const struct rl_port *port)
{
	const uint8_t *at = (const uint8_t *)port;
	const uint8_t *const end = (const uint8_t *)port->open_txn;

#pragma GCC unroll 32
	for (; at < end; at += RL_CACHE_LINE)
		__builtin_prefetch(at, 1);
}

static void
flush_queue(struct rl_port *port, struct rl_pktq *q)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(q)) != NULL)
		rl_packet_put(port->p.cache, pkt);
}

void
rl_port_flush(struct rl_port *port)
{
	struct rl_flit *open[RL_VCS];

	rl_replay_drain(&port->replay, false, &port->loopq, open,
			port->p.cache);
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (open[vc] != NULL)
			rl_packet_put(port->p.cache, open[vc]);
		flush_queue(port, &port->txq[vc]);
	}
	port->txq_mask = 0;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (port->loop_open[vc] != NULL)
			rl_packet_put(port->p.cache, port->loop_open[vc]);
		port->loop_open[vc] = NULL;
		port->open_flits[vc] = 0;
	}
	flush_queue(port, &port->loopq);
	flush_queue(port, &port->rx_out);
	port_rx_abandon(port, 0);
}

struct rl_pktq *
rl_port_rx_out(struct rl_port *port)
{
	return &port->rx_out;
}

const uint64_t *
rl_port_counters(const struct rl_port *port)
{
	return port->c;
}

bool
rl_port_event_pop(struct rl_port *port, struct rl_port_event *ev)
{
	if (port->ev_head == port->ev_tail)
		return false;
	*ev = port->ev[port->ev_head++ % RL_PORT_EVENTS];
	return true;
}

struct rl_port_event *
port_event(struct rl_port *port, enum rl_port_event_type type, uint64_t now_ns)
{
	struct rl_port_event *ev;

	if (port->ev_tail - port->ev_head == RL_PORT_EVENTS) {
		port->ev_lost++;
		port->ev_head++; /* the oldest goes: the newest tell the state */
	}
	ev = &port->ev[port->ev_tail++ % RL_PORT_EVENTS];
	*ev = (struct rl_port_event){
		.t_ns = now_ns,
		.type = type,
		.detector = port->detector,
		.loop_id = port->loop_id,
		.epoch = port->epochs,
	};
	return ev;
}

void
rl_port_info(const struct rl_port *port, struct rl_port_info *info)
{
	uint32_t queued = 0;

	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		queued += port->txq[vc].flits;
		info->credits[vc] =
			(uint16_t)(port->limit[vc] - port->consumed[vc]);
		info->consumed[vc] = port->consumed[vc];
		info->begun[vc] = port->tx_begun[vc] ? port->tx_left[vc] : 0;
		info->granted[vc] = port_credit_limit(port, vc);
		info->buffered[vc] =
			port->rx_taken[vc] - port->rx_freed[vc] -
			rl_shared_read(&port->p.shared->freed[vc]);
	}
	info->state = port->state;
	info->last_detector = port->detector;
	info->tx_epoch = port->tx_epoch;
	info->rx_epoch = port->rx_epoch;
	info->window = port->replay.window;
	info->held_flits = port->replay.tail - port->replay.base;
	info->outstanding_flits = rl_replay_outstanding(&port->replay);
	info->reserved_flits = port->replay.reserved;
	info->queued_flits = queued;
	info->flits_per_frame = port->frame_flits;
	info->srtt_ns = port->srtt_ns;
	info->replay_timer_ns = port->timer_ns;
	info->flaps = port->flaps;
	info->degraded = port->degraded && port_link_open(port);
	info->window_corrected = port->error_corrected;
	info->window_uncorrectable = port->error_bad;
	info->replay_base = port->replay.base;
	info->replay_acked = port->replay.acked;
	info->replay_next = port->replay.next;
	info->replay_tail = port->replay.tail;
}

void
rl_port_credits(const struct rl_port *port, struct rl_port_credits *c)
{
	c->state = port->state;
	c->tx_epoch = port->tx_epoch;
	c->rx_epoch = port->rx_epoch;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		c->consumed[vc] = port->consumed[vc];
		c->begun[vc] = port->tx_begun[vc] ? port->tx_left[vc] : 0;
		c->granted[vc] = port_credit_limit(port, vc);
		c->buffered[vc] =
			port->rx_taken[vc] - port->rx_freed[vc] -
			rl_shared_read(&port->p.shared->freed[vc]);
	}
}

bool
rl_port_idle(const struct rl_port *port)
{
	return rl_port_flits(port) == 0 && port->state != RL_LINK_LOOPBACK;
}

uint32_t
rl_port_flits(const struct rl_port *port)
{
	uint32_t n = port->replay.tail - port->replay.base +
		     port->loopq.flits + port->rx_out.flits;

	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		n += port->txq[vc].flits;
		if (port->part[vc] != NULL)
			n += port->part[vc]->pkt_flits;
		if (port->loop_open[vc] != NULL)
			n += port->loop_open[vc]->pkt_flits;
	}
	return n;
}

static const char *const counter_names[] = {
#define RL_PORT_NAME(name) #name,
	RL_PORT_COUNTERS(RL_PORT_NAME)
#undef RL_PORT_NAME
};

const char *
rl_port_counter_name(enum rl_port_counter c)
{
	return c < RL_PORT_COUNTER_COUNT ? counter_names[c] : "?";
}

const char *
rl_link_state_name(enum rl_link_state s)
{
	static const char *const names[] = {
#define RL_LINK_NAME(name) #name,
		RL_LINK_STATES(RL_LINK_NAME)
#undef RL_LINK_NAME
	};

	return (unsigned int)s < RL_ARRAY_SIZE(names) ? names[s] : "?";
}

const char *
rl_detector_name(enum rl_detector d)
{
	static const char *const names[] = {
#define RL_DET_NAME(name, word) word,
		RL_DETECTORS(RL_DET_NAME)
#undef RL_DET_NAME
	};

	return d < RL_DET_COUNT ? names[d] : "?";
}

const char *
rl_drop_reason_name(enum rl_drop_reason r)
{
	static const char *const names[] = {
#define RL_DROP_NAME(name, word) word,
		RL_DROP_REASONS(RL_DROP_NAME)
#undef RL_DROP_NAME
	};

	return r < RL_DROP_REASON_COUNT ? names[r] : "?";
}
