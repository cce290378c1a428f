/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Drain before down: the planned removal of a link [LINK-5]. A link that is
 * taken down by force loops out what it holds, and some of it arrives twice
 * before the endpoints sort it out. A planned removal need not:
 *
 * 1. The port tells its core (LINK_DRAIN), which holds what is new for it, lets
 *    packets already begun end, and sends a fence as its last word.
 * 2. The same is asked of the peer: every frame says so (RL_FRF_DRAIN).
 * 3. An end whose fence has come and whose replay buffer is empty says that
 *    (RL_FRF_DRAINED). When both ends are, the one that was told to goes down:
 *    the usual death by command, with nothing left to loop out.
 *
 * A part of the watchdog's time bounds all this. A peer that gives no credits
 * keeps no link; and two links that drain at once can wait for each other,
 * where each one's rest fills the buffers that hold what is kept back for the
 * other. Then the link goes down as it is, and what it holds loops out. A link
 * that dies on its own meanwhile dies as always, and stays down.
 */

#include <errno.h>

#include "port_priv.h"

/** A drain may take this part of the watchdog's time, as a restore may. */
#define DRAIN_SHARE 8

uint64_t
port_drain_end_ns(const struct rl_port *port)
{
	return rl_deadline(port->drain_ns,
			   port->p.cfg->watchdog_ns / DRAIN_SHARE);
}

static void
drain_start(struct rl_port *port, uint64_t now_ns)
{
	if (port->drain)
		return;
	port->drain = true;
	port->drain_mark = true;
	port->drain_now = true;
	port->drain_ns = now_ns;
}

void
port_drain_reset(struct rl_port *port)
{
	port->drain = false;
	port->drain_mark = false;
	port->drain_now = false;
	port->drain_told = false;
	port->drain_fenced = false;
	port->drain_peer = false;
}

int
rl_port_drain_down(struct rl_port *port, uint64_t now_ns)
{
	if (port->admin_down || (port->drain_down && !port->drain_up))
		return -EALREADY;
	if (!port_link_open(port))
		return rl_port_down(port, now_ns);
	port->drain_down = true;
	port->drain_up = false;
	drain_start(port, now_ns);
	return 0;
}

bool
port_drained_out(const struct rl_port *port)
{
	return port->drain && port->drain_fenced && port->txq_mask == 0 &&
	       rl_replay_empty(&port->replay);
}

void
port_rx_drain(struct rl_port *port, const struct rl_frame_hdr *h,
	      uint64_t now_ns)
{
	if (!(h->flags & RL_FRF_DRAIN))
		return;
	drain_start(port, now_ns);
	if (h->flags & RL_FRF_DRAINED)
		port->drain_peer = true;
}

void
port_drain_tick(struct rl_port *port, uint64_t now_ns)
{
	const enum rl_detector why =
		port->drain_down ? RL_DET_COMMAND : RL_DET_PEER;

	if (!port->drain)
		return;
	if (now_ns >= port_drain_end_ns(port)) {
		port_dead(port, why, now_ns);
		return;
	}
	if (!port_drained_out(port))
		return;
	if (!port->drain_told) {
		port->drain_told = true;
		port->drain_now = true;
		port_event(port, RL_PEV_EMPTY, now_ns);
	}
	/* the peer hears it from the frame before the one that closes */
	if (port->drain_down && port->drain_peer && !port->drain_now)
		port_dead(port, why, now_ns);
}
