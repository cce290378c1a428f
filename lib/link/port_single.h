/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_SINGLE_H
#define PORT_SINGLE_H

/**
 * @file
 * Packets of one flit as they come in: a part of port_packet.c for port_rx.c,
 * which has many of them at once.
 */

#include <string.h>

#include "port_priv.h"

/* Whether what comes on @p vc next may join, or end, something. */
static inline bool
port_packet_busy(const struct rl_port *port, unsigned int vc)
{
	return port->packet.part[vc] != NULL ||
	       port->packet.open_flits[vc] != 0 ||
	       port->packet.close_mask & 1u << vc;
}

/* What comes next on @p vc is another packet than was told of. */
static inline void
port_packet_untold(struct rl_port *port, unsigned int vc)
{
	port->told.told[vc] = false;
}

/* Whether no VC is: nothing has been begun for a while. */
static inline bool
port_packet_calm(const struct rl_port *port)
{
	return port->packet.part_due_ns == RL_NEVER &&
	       port->packet.close_mask == 0;
}

/*
 * A packet of one flit on a VC that is not busy, and @p next behind it. What is
 * said of it is written in words: it is read again in a moment.
 */
static inline void
port_packet_single(struct rl_flit *f, uint64_t state, uint16_t in_port,
		   struct rl_flit *next, uint64_t now_ns)
{
	const uint64_t head = rl_get64(f->wire); /* -, dst, src, sl, class */
	const uint64_t of_head = 1 | (uint64_t)in_port << 16 |
				 head >> 16 << 32;

	f->next = NULL;
	f->next_pkt = next;
	f->last = f;
	memcpy(&f->pkt_flits, &of_head, sizeof(of_head));
	f->state = state | (head >> 48 & 0xf) << 16 | (head >> 56 & 3) << 40 |
		   (uint64_t)RL_FF_CREDIT << 48;
	f->t_ns = now_ns;
	f->loop_id = 0;
	rl_run_none(f);
}

_Static_assert(offsetof(struct rl_flit, in_port) ==
			       offsetof(struct rl_flit, pkt_flits) + 2 &&
		       offsetof(struct rl_flit, dst) ==
			       offsetof(struct rl_flit, pkt_flits) + 4 &&
		       offsetof(struct rl_flit, src) ==
			       offsetof(struct rl_flit, pkt_flits) + 6,
	       "one word, in this order");

#endif /* PORT_SINGLE_H */
