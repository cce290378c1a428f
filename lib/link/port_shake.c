/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Handshake. Each end opens an epoch of its own: it picks a new transmit epoch
 * and a nonce of 64 bits and sends INIT frames until the peer echoes both. A
 * link is UP at one end when that end knows the peer's epoch and the peer has
 * echoed its own. From then on every frame bears both epochs, and one that does
 * not match both is dropped: nothing of an old epoch leaks into a new one.
 *
 * An end that is UP and hears an INIT with another nonce knows that the peer
 * has given the epoch up, and follows (port_state.c). An end that still trains
 * says so in its INIT frames (RL_FRF_ACKREQ), and an end that is UP answers
 * those alone: two that are UP would answer each other for ever.
 *
 * Nonces come from a seed of the process, and the frame names the process that
 * sends it (its incarnation): one that was started anew is never taken for the
 * one before. On a link that is UP an INIT of the same process that is older
 * than what was heard of it since is late, and says nothing. In training it does
 * not matter how old a frame looks: what echoes this nonce is new.
 *
 * Where the link has a key, every INIT frame is proven to be of who has it, but
 * may be a recording. One that echoes this training's nonce is none. An end that
 * is UP and hears a process it does not know therefore asks with a nonce that it
 * has not used before, and follows only if that nonce comes back.
 *
 * What must be agreed on:
 *  - The fabric. Where both ends tell a digest of its configuration and the
 *    two differ, the link does not train, and an event says so.
 *  - The cable. Each end tells its link and which end of it it is. Who is not
 *    the other end of this link is plugged into the wrong socket: an event says
 *    who is here. While a link is UP such a frame says nothing; where the cable
 *    was moved, the peer is silent, and the link dies of that.
 *  - Flits a frame: the smaller of both. The first INIT frames, that know no
 *    peer yet, are short, so that an end with smaller frames hears of them. All
 *    others are as long as the largest frame of flits will be, and only what
 *    is as long is echoed: a link that cannot carry data, either way, trains
 *    at neither end.
 */

#include "port_stamp.h"

void
port_shake_init(struct rl_port *port)
{
	uint64_t salt = port->p.incarnation;

	rl_prng_seed(&port->shake.prng,
		     port->p.seed ^ rl_splitmix64(&salt));
	port->shake.flits = port->frame_flits;
	/* links that begin together do not take each other's frames for theirs
	   when their cables change places: with a key, each has its own */
	if (port->p.auth == NULL)
		port->shake.tx_epoch =
			(uint8_t)rl_prng_u64(&port->shake.prng);
}

void
port_shake_learn(struct rl_port *port, const struct rl_frame_hdr *h)
{
	port->shake.tx_epoch = h->rx_epoch;
	port->shake.rx_epoch = h->tx_epoch;
}

void
port_shake_start(struct rl_port *port)
{
	struct port_shake *s = &port->shake;

	s->tx_epoch++;
	s->nonce = rl_prng_u64(&s->prng) | 1;
	s->peer_known = false;
	s->peer_heard = false;
	s->refused = (struct rl_refused){ .why = RL_REFUSED_NONE };
	s->said = 0;
	s->ask = false;
	s->challenge = 0;
	s->flits = port->frame_flits;
	port_owe(port, OWE_INIT);
}

bool
port_shake_same(const struct rl_port *port, const struct rl_frame_hdr *h,
		const struct rl_frame_init *init)
{
	return h->tx_epoch == port->shake.rx_epoch &&
	       init->nonce == port->shake.peer_nonce;
}

bool
port_shake_stale(const struct rl_port *port, const struct rl_frame_hdr *h,
		 const struct rl_frame_init *init)
{
	return init->incarnation != 0 &&
	       init->incarnation == port->shake.peer_incarnation &&
	       !rl_frame_stamp_after(h->stamp, port->rx.newest);
}

/* What is wrong with the place that the peer names. */
static enum rl_refusal
shake_place(const struct rl_port *port, const struct rl_frame_init *init)
{
	const struct rl_frame_place *own = &port->p.place, *peer = &init->place;

	if (own->link == 0 || peer->link == 0)
		return RL_REFUSED_NONE;
	if (own->link != peer->link)
		return RL_REFUSED_PLACE;
	if (own->end != peer->end)
		return RL_REFUSED_NONE;
	return init->incarnation == port->p.incarnation ? RL_REFUSED_SELF
							: RL_REFUSED_PLACE;
}

/* Whether both tell what fabric they are of, and the two differ. */
static bool
shake_foreign(const struct rl_port *port, const struct rl_frame_init *init)
{
	return port->p.digest != 0 && init->digest != 0 &&
	       port->p.digest != init->digest;
}

bool
port_shake_strange(const struct rl_port *port, const struct rl_frame_init *init)
{
	return !shake_foreign(port, init) &&
	       shake_place(port, init) != RL_REFUSED_NONE;
}

/* Two peers that alternate on one wire are reported once a second. */
static void
shake_say(struct rl_port *port, const struct rl_refused *r, uint64_t now_ns)
{
	struct port_shake *s = &port->shake;
	const struct rl_refused *was = &s->refused;

	if (was->why != RL_REFUSED_NONE && (s->said & 1u << r->why) != 0 &&
	    ((was->why == r->why && was->version == r->version &&
	      was->digest == r->digest && was->peer.link == r->peer.link &&
	      was->peer.end == r->peer.end) ||
	     now_ns - s->refused_ns < RL_NS_PER_S))
		return;
	s->refused = *r;
	s->refused_ns = now_ns;
	s->said |= 1u << r->why; /* another reason is still told */
	port_event(port, RL_PEV_REFUSED, now_ns)->refused = *r;
}

void
port_shake_refuse(struct rl_port *port, enum rl_refusal why,
		  const struct rl_frame_init *init, uint64_t now_ns)
{
	const struct rl_refused r = {
		.why = port_shake_strange(port, init) ? shake_place(port, init)
						      : why,
		.version = why == RL_REFUSED_VERSION ? (uint8_t)init->digest
						     : 0,
		.digest = init->digest,
		.peer = init->place,
	};

	shake_say(port, &r, now_ns);
}

/* The epoch's nonce proves nothing: a recording of a former life may echo it. */
bool
port_shake_lives(struct rl_port *port, const struct rl_frame_hdr *h,
		 const struct rl_frame_init *init)
{
	struct port_shake *s = &port->shake;

	if (s->challenge != 0 && init->nonce_echo == s->challenge &&
	    h->rx_epoch == s->tx_epoch)
		return true;
	if (s->challenge == 0)
		s->challenge = rl_prng_u64(&s->prng) | 1;
	PORT_COUNT(port, rx_init_unproven);
	/* an echo that is owed says the same, and more */
	if (!port_owes(port, OWE_INIT))
		s->ask = true;
	port_owe(port, OWE_INIT);
	return false;
}

/* Why a peer that says this cannot be the one of this link. */
static enum rl_refusal
shake_misfit(const struct rl_port *port, const struct rl_frame_init *init)
{
	if (shake_foreign(port, init))
		return RL_REFUSED_FABRIC;
	if (init->keyed && port->p.auth == NULL)
		return RL_REFUSED_OUR_KEY;
	return shake_place(port, init);
}

static bool
shake_fits(struct rl_port *port, const struct rl_frame_init *init,
	   uint64_t now_ns)
{
	const enum rl_refusal why = shake_misfit(port, init);
	const bool possible =
		init->flits != 0 && init->flits <= RL_FRAME_FLITS_MAX;

	if (possible && why == RL_REFUSED_NONE)
		return true;
	PORT_COUNT(port, rx_init_refused);
	if (possible)
		port_shake_refuse(port, why, init, now_ns);
	return false;
}

/* Whether a frame as long as data will be echoes this training. */
static bool
shake_echoed(const struct rl_port *port, const struct rl_frame_hdr *h,
	     const struct rl_frame_init *init)
{
	return init->nonce_echo == port->shake.nonce &&
	       h->rx_epoch == port->shake.tx_epoch &&
	       h->bytes >= rl_frame_bytes(port->shake.flits);
}

struct port_verdict
port_shake_rx(struct rl_port *port, const struct rl_frame_hdr *h,
	      const struct rl_frame_init *init, uint64_t now_ns)
{
	struct port_shake *s = &port->shake;
	const bool news = !s->peer_known || !port_shake_same(port, h, init);
	const bool echo = h->flags & RL_FRF_ECHO;
	/* a recording of this handshake would make the round trip look long */
	const bool late = !news && rl_frame_stamp_after(s->stamp, h->stamp);

	if (!shake_fits(port, init, now_ns))
		return PORT_VERDICT(PORT_NOTHING);
	if (news) {
		s->peer_known = true;
		s->rx_epoch = h->tx_epoch;
		s->peer_nonce = init->nonce;
		s->peer_incarnation = init->incarnation;
		s->flits = rl_min_u32(port->frame_flits, init->flits);
		s->peer_heard = false;
	}
	if (!echo || !s->peer_heard)
		port_owe(port, OWE_INIT);
	s->peer_heard |= h->bytes >= rl_frame_bytes(s->flits);
	if (!late) {
		s->stamp = h->stamp;
		port_rtt_init(port, h, echo && shake_echoed(port, h, init),
			      now_ns);
	}
	if (!echo)
		return PORT_VERDICT(PORT_NOTHING);
	if (!shake_echoed(port, h, init)) {
		PORT_COUNT(port, rx_init_echo_error);
		return PORT_VERDICT(PORT_NOTHING);
	}
	PORT_COUNT(port, rx_init_echo);
	port_rx_stamps(port, h->stamp, now_ns);
	return PORT_VERDICT(PORT_OPEN);
}

bool
port_shake_open(struct rl_port *port)
{
	struct port_shake *s = &port->shake;
	const bool other = s->old_incarnation != 0 &&
			   s->old_incarnation != s->peer_incarnation;

	s->old_incarnation = s->peer_incarnation;
	s->refused = (struct rl_refused){ .why = RL_REFUSED_NONE };
	return other;
}

void
port_shake_header(struct rl_port *port, struct rl_frame_hdr *h,
		  struct rl_frame_init *init)
{
	struct port_shake *s = &port->shake;
	const bool ask = s->ask;

	s->ask = false;
	*init = (struct rl_frame_init){
		.nonce = ask ? s->challenge : s->nonce,
		.incarnation = port->p.incarnation,
		.digest = port->p.digest,
		.flits = (uint8_t)port->frame_flits,
		.keyed = port->p.auth != NULL,
		.place = port->p.place,
	};
	h->tx_epoch = s->tx_epoch;
	if (port->link.state == RL_LINK_INIT)
		h->flags |= RL_FRF_ACKREQ;
	if (rl_shared_read(&port->p.shared->wanted) != 0)
		h->flags |= RL_FRF_WANTED;
	/* short, because the frames of the peer may be smaller */
	if (!s->peer_known || ask) {
		PORT_COUNT(port, tx_init);
		return;
	}
	h->bytes = (uint16_t)rl_frame_bytes(s->flits);
	h->rx_epoch = s->rx_epoch;
	init->nonce_echo = s->peer_nonce;
	if (!s->peer_heard) {
		PORT_COUNT(port, tx_init);
		return;
	}
	h->flags |= RL_FRF_ECHO;
	PORT_COUNT(port, tx_init_echo);
}
