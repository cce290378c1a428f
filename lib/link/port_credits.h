/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PORT_CREDITS_H
#define RL_PORT_CREDITS_H

/**
 * @file
 * The input buffer's credits: what the peer may send. A part of port_rx.c's
 * state, written by the functions here and there.
 */

#include "port_lanes.h"
#include "port_priv.h"

/*
 * The number of flits the peer may have sent on a VC in this epoch. What the
 * core still holds of earlier epochs takes its room: `base` counts it as
 * taken, and it is not yet freed. What this end made itself (`own`) gives the
 * peer nothing when it is freed.
 */
static inline uint16_t
port_rx_limit(const struct rl_port *port, unsigned int vc)
{
	const uint32_t freed = rl_shared_read(&port->p.shared->freed[vc]) +
			       port->rx.freed[vc];

	return (uint16_t)(port->p.cfg->credits_flits + freed -
			  port->rx.base[vc] - port->rx.own[vc]);
}

/* Whether any of it may have changed since port_rx_limits() looked. */
static inline bool
port_rx_limits_changed(const struct rl_port *port)
{
	const struct port_rx *rx = &port->rx;
	uint64_t diff = rx->limit_stale;

	for (unsigned int i = 0; i < RL_SHARED_WORDS; i++)
		diff |= rl_shared_freed_word(port->p.shared, i) ^
			rx->freed_seen[i];
	return diff != 0;
}

/* The limits of all VCs as they are now, in @p limit where they have changed. */
static inline const uint16_t *
port_rx_limits_now(const struct rl_port *port, uint16_t limit[RL_VCS])
{
	if (rl_likely(!port_rx_limits_changed(port)))
		return port->rx.limit;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		limit[vc] = port_rx_limit(port, vc);
	return limit;
}

/* What the core frees is looked at again: once a poll, not once a frame. */
static inline void
port_rx_look(struct rl_port *port)
{
	port->rx.limit_look = true;
}

/* What a limit is but for what the core has freed: it seldom changes. */
static inline void
port_rx_ground(struct rl_port *port)
{
	struct port_rx *rx = &port->rx;

	rx->limit_stale = false;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		rx->ground[vc] = (uint16_t)(port->p.cfg->credits_flits +
					    rx->freed[vc] - rx->base[vc] -
					    rx->own[vc]);
}

/* The same, kept. */
static inline const uint16_t *
port_rx_limits(struct rl_port *port)
{
	struct port_rx *rx = &port->rx;
	port_lanes freed;

	if (rl_likely(!rx->limit_look && !rx->limit_stale))
		return rx->limit;
	rx->limit_look = false;
	if (!port_rx_limits_changed(port))
		return rx->limit;
	if (rl_unlikely(rx->limit_stale))
		port_rx_ground(port);
	freed = port_lanes_freed(port->p.shared, rx->freed_seen);
	port_lanes_put(rx->limit, port_lanes_get(rx->ground) + freed);
	return rx->limit;
}

/* Flits of the input buffer in use. */
static inline uint32_t
port_rx_held(const struct rl_port *port, unsigned int vc)
{
	return port->rx.taken[vc] - port->rx.freed[vc] -
	       rl_shared_read(&port->p.shared->freed[vc]);
}

/*
 * Flits that may be taken on a VC: no more than the peer was told. What it was
 * told grows while a link is open, so that room which was seen stays until it is
 * taken.
 */
static inline uint32_t
port_rx_left(const struct rl_port *port, unsigned int vc)
{
	const struct port_rx *rx = &port->rx;
	const uint16_t left =
		(uint16_t)(port->tx.credit_told[vc] - rx->taken[vc] +
			   rx->base[vc] + rx->own[vc]);

	return left <= INT16_MAX ? left : 0;
}

/* @p n flits take room, on whatever VC: all that is known is that much less. */
static inline void
port_rx_spend(struct rl_port *port, uint32_t n)
{
	port->rx.sure -= rl_min_u32(port->rx.sure, n);
}

/* Whether each VC has room for @p n flits. */
static inline bool
port_rx_sure(struct rl_port *port, uint32_t n)
{
	uint32_t least = UINT32_MAX;

	if (rl_likely(port->rx.sure >= n))
		return true;
	for (unsigned int vc = 0; vc < port->p.cfg->vcs; vc++)
		least = rl_min_u32(least, port_rx_left(port, vc));
	port->rx.sure = least;
	return least >= n;
}

/* @p n flits of the input buffer go no further than here. */
static inline void
port_rx_free(struct rl_port *port, unsigned int vc, uint32_t n)
{
	port->rx.freed[vc] += n;
	port->rx.limit_stale = true;
}

/* A flit that this end made takes room; @p own: the peer spent no credit. */
static inline void
port_rx_made(struct rl_port *port, unsigned int vc, bool own)
{
	port->rx.taken[vc]++;
	port->rx.own[vc] += own;
	port->rx.limit_stale = true;
	port_rx_spend(port, 1);
}

#endif /* RL_PORT_CREDITS_H */
