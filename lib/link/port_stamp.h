/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PORT_STAMP_H
#define RL_PORT_STAMP_H

/**
 * @file
 * Stamps of the peer's frames: which frame is newer, and which stamp can be true.
 * A part of port_rx.c's state, written by the functions here and there.
 */

#include "port_priv.h"

/*
 * Whether a frame is newer than all that was heard of the peer. Only such a
 * one is believed in what it says of the whole link: a later one has said more.
 */
static inline bool
port_rx_news(struct rl_port *port, uint64_t stamp)
{
	if (rl_unlikely(!rl_frame_stamp_after(stamp, port->rx.newest)) &&
	    !RL_PLANTED(STALE_EPOCH) && !RL_PLANTED(STALE_ACK))
		return false;
	port->rx.newest = stamp;
	return true;
}

/* The peer's stamps begin here: the link opens. */
static inline void
port_rx_stamps(struct rl_port *port, uint64_t stamp, uint64_t now_ns)
{
	port->rx.newest = stamp;
	port->rx.data_stamp = stamp;
	port->rx.open_stamp = stamp;
	port->rx.open_ns = now_ns;
}

/*
 * Whether a stamp can be one of the peer's by now: its clock goes as this one
 * does, a second and a thousandth of the time aside. One frame with a stamp of
 * the far future would make this end deaf to all that are true.
 */
static inline bool
port_rx_plausible(const struct rl_port *port, uint64_t stamp, uint64_t now_ns)
{
	const uint64_t up_ns = now_ns - port->rx.open_ns;

	return !rl_frame_stamp_after(stamp, port->rx.open_stamp + up_ns +
						    up_ns / 1024 + RL_NS_PER_S);
}

/* The time that this end goes by has left out @p ns. */
static inline void
port_rx_left_out(struct rl_port *port, uint64_t ns)
{
	port->rx.open_ns -= ns;
}

#endif /* RL_PORT_STAMP_H */
