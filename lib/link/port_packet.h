/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_PACKET_H
#define PORT_PACKET_H

/**
 * @file
 * Packets that come in without anything to wait for: the inline part of
 * port_packet.c, for port_rx.c too, which has many of their flits at once.
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

/*
 * Whether no VC is, nor has been told of: nothing has been begun for a while.
 */
static inline bool
port_packet_calm(const struct rl_port *port)
{
	uint64_t told;

	_Static_assert(sizeof(port->told.told) == sizeof(told), "a word");
	memcpy(&told, port->told.told, sizeof(told));
	return port->packet.part_due_ns == RL_NEVER &&
	       port->packet.close_mask == 0 && told == 0;
}

/* What is said of packets of one flit that come in here: flits, and port. */
static inline uint64_t
port_packet_of_head(const struct rl_port *port)
{
	return 1 | (uint64_t)port->p.index << 16;
}

/* rl_flit.state of a good one, @p head: the first word of its wire image. */
static inline uint64_t
port_single_state(uint16_t sideband, uint64_t head)
{
	const uint64_t hops = sideband >> 9;
	const uint64_t vc = RL_SIDEBAND_VC(sideband);

	return vc | vc << 8 | (head >> 48 & 0xf) << 16 |
	       (hops + (hops < RL_HOPS_MAX)) << 32 |
	       (head >> 56 & 3) << 40 |
	       (uint64_t)(sideband >> 3 & RL_SIDEBAND_FLAGS) << 48 |
	       (uint64_t)RL_FF_CREDIT << 48;
}

/*
 * A good packet of one flit on a VC that is not busy, and @p next behind it.
 * What is said of it is written in words: it is read again in a moment.
 */
static inline void
port_packet_single(struct rl_flit *f, uint16_t sideband, uint64_t of_head,
		   struct rl_flit *next, uint64_t now_ns)
{
	const uint64_t head = rl_get64(f->wire); /* -, dst, src, sl, class */
	const uint64_t word = of_head | head >> 16 << 32;

	f->next = NULL;
	f->next_pkt = next;
	f->last = f;
	memcpy(&f->pkt_flits, &word, sizeof(word));
	f->state = port_single_state(sideband, head);
	f->t_ns = now_ns;
	f->loop_id = 0;
	rl_run_none(f);
}

/*
 * How many of the first @p n flits, and at least the first, have the first
 * one's sideband.
 */
static inline uint32_t
port_packet_alike(const uint8_t *sideband, uint32_t n)
{
	const uint16_t first = rl_get16(sideband);
	const uint64_t four = first * UINT64_C(0x0001000100010001);
	uint32_t i = 1;

	while (i + 4 <= n && rl_get64(sideband + 2 * i) == four)
		i += 4;
	while (i < n && rl_get16(sideband + 2 * i) == first)
		i++;
	return i;
}

_Static_assert(offsetof(struct rl_flit, in_port) ==
			       offsetof(struct rl_flit, pkt_flits) + 2 &&
		       offsetof(struct rl_flit, dst) ==
			       offsetof(struct rl_flit, pkt_flits) + 4 &&
		       offsetof(struct rl_flit, src) ==
			       offsetof(struct rl_flit, pkt_flits) + 6,
	       "one word, in this order");

#endif /* PORT_PACKET_H */
