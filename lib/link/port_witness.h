/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_WITNESS_H
#define PORT_WITNESS_H

/**
 * @file
 * What port_rx.c and port_tx.c ask of the witness (port_witness.c). They call it
 * only if one is set, or LCRC: off, it costs a branch a burst.
 */

#include "port_priv.h"

/* Whether flits that come in are looked at. */
static inline bool
port_witness_looks(const struct rl_port *port)
{
	return port->p.cfg->witness != 0 || port->p.cfg->lcrc;
}

/*
 * @p n flits have come in that FEC calls good; marks those that are altered.
 * @p raw: the same, before FEC has corrected any.
 * @return the flits before the first that the peer must send again
 */
uint32_t port_witness_in(struct rl_port *port, const uint8_t *const raw[],
			 struct rl_flit *const f[], uint8_t *sideband,
			 uint32_t n);

/* The next @p n flits of the replay buffer go into a frame: marks the same. */
void port_witness_out(struct rl_port *port, uint32_t n);

#endif /* PORT_WITNESS_H */
