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

#include "port_priv.h"

/** A drain may take this part of the watchdog's time, as a restore may. */
#define DRAIN_SHARE 8

uint64_t
port_drain_end_ns(const struct rl_port *port)
{
	return rl_deadline(port->drain.begun_ns,
			   port->p.cfg->watchdog_ns / DRAIN_SHARE);
}

/*
 * The one writer of a drain's phase:
 *
 *   NONE --> CORE --> OUT --> EMPTY
 *     ^________|_______|________|    the link died
 */
static void
drain_set(struct rl_port *port, enum port_drain_phase to)
{
	bool legal = false;

	switch (port->drain.phase) {
	case DRAIN_NONE:
		legal = to == DRAIN_CORE || to == DRAIN_NONE;
		break;
	case DRAIN_CORE:
		legal = to == DRAIN_OUT || to == DRAIN_NONE;
		break;
	case DRAIN_OUT:
		legal = to == DRAIN_EMPTY || to == DRAIN_NONE;
		break;
	case DRAIN_EMPTY:
		legal = to == DRAIN_NONE;
		break;
	}
	RL_ASSERT(legal);
	port->drain.phase = to;
}

void
port_drain_start(struct rl_port *port, uint64_t now_ns)
{
	if (port->drain.phase != DRAIN_NONE)
		return;
	drain_set(port, DRAIN_CORE);
	port->drain.begun_ns = now_ns;
	port_owe(port, OWE_LINK_DRAIN | OWE_DRAIN);
}

void
port_drain_then(struct rl_port *port, enum port_drain_then then)
{
	port->drain.then = then;
}

void
port_drain_reset(struct rl_port *port)
{
	drain_set(port, DRAIN_NONE);
	port->drain.then = DRAIN_FOLLOW;
	port->drain.peer_empty = false;
	port_forget(port, OWE_LINK_DRAIN | OWE_DRAIN);
}

void
port_drain_fence(struct rl_port *port)
{
	/* a second fence of the same drain says nothing new */
	if (port->drain.phase == DRAIN_CORE)
		drain_set(port, DRAIN_OUT);
}

void
port_drain_rx(struct rl_port *port, const struct rl_frame_hdr *h,
	      uint64_t now_ns)
{
	port_drain_start(port, now_ns);
	if (h->flags & RL_FRF_DRAINED)
		port->drain.peer_empty = true;
}

/* Whether a link that goes down now for that reason was drained for it. */
bool
port_drain_done(const struct rl_port *port, enum rl_detector why)
{
	return port->drain.phase == DRAIN_EMPTY &&
	       (why == RL_DET_COMMAND || why == RL_DET_PEER);
}

struct port_verdict
port_drain_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct port_drain *d = &port->drain;
	const enum rl_detector why =
		d->then == DRAIN_FOLLOW ? RL_DET_PEER : RL_DET_COMMAND;

	if (d->phase == DRAIN_NONE)
		return PORT_VERDICT(PORT_NOTHING);
	if (now_ns >= port_drain_end_ns(port))
		return PORT_DEAD_BY(why);
	if (d->phase == DRAIN_OUT && port->queue.mask == 0 &&
	    rl_replay_empty(&port->retry.replay)) {
		drain_set(port, DRAIN_EMPTY);
		port_owe(port, OWE_DRAIN);
		port_event(port, RL_PEV_EMPTY, now_ns);
	}
	/* the peer hears it from the frame before the one that closes */
	if (d->phase == DRAIN_EMPTY && d->then != DRAIN_FOLLOW &&
	    d->peer_empty && !port_owes(port, OWE_DRAIN))
		return PORT_DEAD_BY(why);
	return PORT_VERDICT(PORT_NOTHING);
}
