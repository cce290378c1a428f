/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Handshake. Each end opens an epoch of its own: it picks a new transmit epoch
 * and a nonce and sends INIT frames until the peer echoes both. A link is UP
 * at one end when that end knows the peer's epoch and the peer has echoed its
 * own. From then on every frame bears both epochs, and one that does not match
 * both is dropped: nothing of an old epoch leaks into a new one.
 *
 * An end that is UP and hears an INIT with another nonce knows that the peer
 * has given the epoch up, and follows (port_state.c). An end that still trains
 * says so in its INIT frames (RL_FRF_ACKREQ), and an end that is UP answers
 * those alone: two that are UP would answer each other for ever.
 */

#include "port_priv.h"

void
port_shake_init(struct rl_port *port)
{
	rl_prng_seed(&port->shake.prng, port->p.seed);
}

void
port_shake_start(struct rl_port *port)
{
	struct port_shake *s = &port->shake;

	s->tx_epoch++;
	s->nonce = (uint32_t)rl_prng_u64(&s->prng) | 1;
	s->peer_known = false;
	s->echo_ok = false;
	port_owe(port, OWE_INIT);
}

bool
port_shake_same(const struct rl_port *port, const struct rl_frame_hdr *h)
{
	return h->tx_epoch == port->shake.rx_epoch &&
	       h->ts == port->shake.peer_nonce;
}

struct port_verdict
port_shake_rx(struct rl_port *port, const struct rl_frame_hdr *h)
{
	struct port_shake *s = &port->shake;
	const bool news = !s->peer_known || !port_shake_same(port, h);
	const bool echo = h->flags & RL_FRF_ECHO;

	if (news) {
		s->peer_known = true;
		s->rx_epoch = h->tx_epoch;
		s->peer_nonce = h->ts;
		s->echo_ok = false;
	}
	if (echo) {
		if (h->ts_echo == s->nonce && h->rx_epoch == s->tx_epoch) {
			PORT_COUNT(port, rx_init_echo);
			s->echo_ok = true;
		} else {
			PORT_COUNT(port, rx_init_echo_error);
		}
	}
	if (news || !echo)
		port_owe(port, OWE_INIT);
	return PORT_VERDICT(s->echo_ok ? PORT_OPEN : PORT_NOTHING);
}

void
port_shake_header(struct rl_port *port, struct rl_frame_hdr *h)
{
	const struct port_shake *s = &port->shake;

	h->tx_epoch = s->tx_epoch;
	h->ts = s->nonce;
	if (port->link.state == RL_LINK_INIT)
		h->flags |= RL_FRF_ACKREQ;
	if (rl_shared_read(&port->p.shared->wanted) != 0)
		h->flags |= RL_FRF_WANTED;
	if (!s->peer_known) {
		PORT_COUNT(port, tx_init);
		return;
	}
	h->flags |= RL_FRF_ECHO;
	h->rx_epoch = s->rx_epoch;
	h->ts_echo = s->peer_nonce;
	PORT_COUNT(port, tx_init_echo);
}
