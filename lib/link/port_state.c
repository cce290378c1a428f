/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state machine of a link, and the detectors that end it.
 *
 *      rl_port_start             echo of our nonce
 *   OFF ----------> INIT -----------------------------> UP <----+
 *    ^               ^                                  | |     | answer
 *    |               | damping over, PHY up             | +--> RETRAIN
 *    |               |                                  |       | no answer
 *    |             DAMPED <---- LOOPBACK <--------------+-------+
 *    +------------------------------/   dead: PHY, keepalive, retrain limit,
 *        drained, down by command       error rate, peer, command
 *
 * How epochs are agreed stands in port_shake.c, what is heard of a link and
 * judged in port_detect.c. Both, and all other parts, return verdicts; here
 * alone they become transitions.
 */

#include <errno.h>

#include "port_stamp.h"

/* The one writer of port->link.state. */
static void
port_set_state(struct rl_port *port, enum rl_link_state to)
{
	const enum rl_link_state from = port->link.state;
	bool legal = false;

	switch (from) {
	case RL_LINK_OFF:
		legal = to == RL_LINK_INIT;
		break;
	case RL_LINK_INIT:
		legal = to == RL_LINK_UP || to == RL_LINK_OFF;
		break;
	case RL_LINK_UP:
		legal = to == RL_LINK_RETRAIN || to == RL_LINK_LOOPBACK;
		break;
	case RL_LINK_RETRAIN:
		legal = to == RL_LINK_UP || to == RL_LINK_LOOPBACK;
		break;
	case RL_LINK_LOOPBACK:
		legal = to == RL_LINK_DAMPED || to == RL_LINK_OFF;
		break;
	case RL_LINK_DAMPED:
		legal = to == RL_LINK_INIT || to == RL_LINK_OFF;
		break;
	}
	RL_ASSERT(legal);
	/* relaxed: readers on other threads order nothing else by it */
	atomic_store_explicit(&port->link.state, to, memory_order_relaxed);
}

/* All parts forget the epoch that was. */
static void
port_reset(struct rl_port *port, uint64_t now_ns)
{
	port_tx_reset(port, now_ns);
	port_queue_reset(port);
	port_retry_reset(port);
	port_rx_reset(port);
	port_rtt_reset(port);
}

void
port_state_init(struct rl_port *port)
{
	port->link.phy_up = true;
	port->link.phy_lost_ns = RL_NEVER;
	port_shake_init(port);
	port_reset(port, 0);
}

static void
port_train(struct rl_port *port, uint64_t now_ns)
{
	port_set_state(port, RL_LINK_INIT);
	port->link.epochs++;
	port_forget(port, OWE_CLOSE);
	port_reset(port, now_ns);
	port_shake_start(port);
}

void
rl_port_start(struct rl_port *port, uint64_t now_ns)
{
	port->link.started = true;
	if (port->link.state == RL_LINK_OFF && !port->link.admin_down)
		port_train(port, now_ns);
}

static void
port_open(struct rl_port *port, uint64_t now_ns)
{
	port_set_state(port, RL_LINK_UP);
	port->link.opened_ns = now_ns;
	port->link.retrains = 0;
	PORT_COUNT(port, trainings);
	port_auth_open(port);
	if (port_shake_open(port))
		PORT_COUNT(port, peer_restarts);
	port_detect_start(port, now_ns);
	/* OWE_ACK: tell the peer our credits */
	port_owe(port, OWE_LINK_UP | OWE_ACK);
	port_event(port, RL_PEV_UP, now_ns);
	/* its errors ended it before: prefer other links until it is well */
	if (port->link.ill_ns != 0)
		port_detect_degraded(port, now_ns);
}

/* Each further flap doubles the wait before the link may train again. */
static void
port_damp(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	uint64_t wait = cfg->flap_damping_ns;

	for (uint32_t i = 0; i < port->link.flaps && wait != 0 &&
			     wait < cfg->flap_damping_max_ns; i++)
		wait *= 2;
	wait = rl_min_u64(wait, cfg->flap_damping_max_ns);
	port->link.damp_until_ns =
		rl_max_u64(rl_deadline(now_ns, wait), port->link.ill_until_ns);
	port->link.flaps++;
}

/*
 * Training does not mend a bad cable. A link that its error rate ended is kept out
 * for the longest damping time, doubled each further time. If it is the only way,
 * it trains at once, and its errors do not end it again before that time is over.
 */
#define ILL_DOUBLED 6

static void
port_ill(struct rl_port *port, uint64_t now_ns)
{
	const uint64_t first_ns = port->p.cfg->flap_damping_max_ns;
	struct port_link *l = &port->link;

	if (now_ns - l->opened_ns >= 2 * l->ill_ns + port->p.cfg->flap_forget_ns)
		l->ill_ns = 0; /* well for long enough */
	l->ill_ns = l->ill_ns == 0 ? first_ns
				   : rl_min_u64(2 * l->ill_ns,
						first_ns << ILL_DOUBLED);
	l->ill_until_ns = rl_deadline(now_ns, l->ill_ns);
}

/* After a command or a loss of the PHY: the cable may have been replaced. */
static void
port_well(struct rl_port *port)
{
	port->link.ill_ns = port->link.ill_until_ns = 0;
}

/*
 * Damping protects packets that have another path. If packets wait for this link
 * alone, keeping it out protects nothing.
 */
static bool
damping_over(const struct rl_port *port, uint64_t now_ns)
{
	return now_ns >= port->link.damp_until_ns ||
	       rl_shared_read(&port->p.shared->wanted) != 0;
}

static void
port_dead(struct rl_port *port, enum rl_detector why, uint64_t now_ns)
{
	struct port_link *l = &port->link;

	if (!port_link_open(port))
		return;
	if (why == RL_DET_ERROR_RATE && now_ns < l->ill_until_ns)
		return; /* in use as the only way */
	if (now_ns - l->opened_ns >= port->p.cfg->flap_forget_ns)
		l->flaps = 0;
	if (why == RL_DET_ERROR_RATE)
		port_ill(port, now_ns);
	port_set_state(port, RL_LINK_LOOPBACK);
	l->planned = port_drain_done(port, why);
	if (l->planned)
		PORT_COUNT(port, drained_down);
	else
		PORT_COUNT(port, deaths);
	l->admin_down |= port->drain.then == DRAIN_DOWN;
	l->detector = why;
	l->dead_ns = now_ns;
	l->loop_id = port->p.uid << 12 | (l->epochs & 0xfff);
	/* what was owed to the peer of this epoch is settled by the end of it */
	port_forget(port, OWE_INIT);
	port_owe(port, OWE_CLOSE);
	port_damp(port, now_ns);
	port_packet_abandon(port, now_ns);
	port_event(port, RL_PEV_DEAD, now_ns);
	port_loop_start(port, now_ns);
	port_drain_reset(port);
}

/* Replays have led nowhere: is the peer there at all? */
static void
port_retrain(struct rl_port *port, uint64_t now_ns)
{
	if (port->link.state != RL_LINK_UP)
		return;
	PORT_COUNT(port, retrains);
	if (++port->link.retrains > port->p.cfg->retrain_limit) {
		port_dead(port, RL_DET_RETRAIN, now_ns);
		return;
	}
	port_set_state(port, RL_LINK_RETRAIN);
	port_tx_probe(port, now_ns);
	port_retry_freeze(port);
	port_event(port, RL_PEV_RETRAIN, now_ns);
}

static void
port_retrained(struct rl_port *port, uint64_t now_ns)
{
	if (port->link.state != RL_LINK_RETRAIN)
		return;
	port_set_state(port, RL_LINK_UP);
	port_retry_again(port, true, now_ns);
}

void
port_act_on(struct rl_port *port, struct port_verdict v, uint64_t now_ns)
{
	switch (v.wish) {
	case PORT_NOTHING:
		return;
	case PORT_OPEN:
		port_open(port, now_ns);
		return;
	case PORT_PROGRESS: /* a late ACK ends RETRAIN, too */
		port->link.retrains = 0;
		port_queue_fence(port);
		if (port->link.state == RL_LINK_RETRAIN) {
			port_forget(port, OWE_PROBE);
			port_set_state(port, RL_LINK_UP);
		}
		return;
	case PORT_ANSWERED:
		port_retrained(port, now_ns);
		return;
	case PORT_STUCK:
		port_retrain(port, now_ns);
		return;
	case PORT_DEAD:
		port_dead(port, v.why, now_ns);
		return;
	}
}

void
port_rx_init(struct rl_port *port, const struct rl_frame_hdr *h,
	     const struct rl_frame_init *init, uint64_t now_ns)
{
	const bool same = port_shake_same(port, h, init);

	PORT_COUNT(port, rx_init);
	if (port->link.state != RL_LINK_INIT && port_shake_strange(port, init)) {
		PORT_COUNT(port, rx_init_refused);
		return;
	}
	switch ((enum rl_link_state)port->link.state) {
	case RL_LINK_INIT:
		port_act(port, port_shake_rx(port, h, init, now_ns), now_ns);
		return;
	case RL_LINK_UP:
	case RL_LINK_RETRAIN:
		if (port_shake_stale(port, h, init)) {
			PORT_COUNT(port, rx_stale);
			return;
		}
		/* the peer puts off its keepalive for it: so it must count */
		if (same && port_rx_plausible(port, h->stamp, now_ns) &&
		    port_rx_news(port, h->stamp))
			port_detect_heard(port);
		/* one that is UP itself answers: to answer that never ends */
		if (!(h->flags & RL_FRF_ACKREQ))
			return;
		if (same) {
			port_owe(port, OWE_INIT); /* our echo was lost */
		} else if (port->p.auth == NULL ||
			   port_shake_lives(port, h, init)) {
			port_dead(port, RL_DET_PEER, now_ns);
		}
		return;
	case RL_LINK_LOOPBACK:
	case RL_LINK_DAMPED:
		/* what waits at the peer has no other way either */
		if (h->flags & RL_FRF_WANTED)
			port->link.damp_until_ns = now_ns;
		PORT_COUNT(port, rx_state_drop);
		return;
	case RL_LINK_OFF:
		PORT_COUNT(port, rx_state_drop);
		return;
	}
}

/*
 * The peer still takes the link for open: the CLOSE was lost, or this end has
 * restarted and learns that epoch from the frame. Send CLOSE again. An end that
 * trains sends INIT frames, which say the same.
 */
void
port_rx_closed(struct rl_port *port, const struct rl_frame_hdr *h)
{
	const enum rl_link_state s = port->link.state;

	if (h->type == RL_FRAME_CLOSE ||
	    (s != RL_LINK_OFF && s != RL_LINK_DAMPED))
		return;
	if (port->link.epochs == 0 && port->p.auth == NULL)
		port_shake_learn(port, h);
	if (h->tx_epoch == port->shake.rx_epoch &&
	    h->rx_epoch == port->shake.tx_epoch)
		port_owe(port, OWE_CLOSE);
}

void
port_drained(struct rl_port *port, uint64_t now_ns)
{
	struct rl_port_event *ev = port_event(port, RL_PEV_DRAINED, now_ns);

	ev->looped_packets = port->loop.drained.packets;
	ev->looped_flits = port->loop.drained.flits;
	ev->looped_acked_flits = port->loop.drained.acked_flits;
	port_set_state(port, port->link.admin_down ? RL_LINK_OFF
						   : RL_LINK_DAMPED);
}

int
rl_port_down(struct rl_port *port, uint64_t now_ns)
{
	if (port->link.admin_down)
		return -EALREADY;
	port->link.admin_down = true;
	switch ((enum rl_link_state)port->link.state) {
	case RL_LINK_UP:
	case RL_LINK_RETRAIN:
		port_dead(port, RL_DET_COMMAND, now_ns);
		break;
	case RL_LINK_INIT:
	case RL_LINK_DAMPED:
		port_set_state(port, RL_LINK_OFF);
		break;
	case RL_LINK_OFF:
	case RL_LINK_LOOPBACK:
		break;
	}
	return 0;
}

int
rl_port_up(struct rl_port *port, uint64_t now_ns)
{
	if (port->drain.then == DRAIN_DOWN) {
		port_drain_then(port, DRAIN_TRAIN);
		return 0;
	}
	if (!port->link.admin_down && now_ns >= port->link.ill_until_ns)
		return -EALREADY;
	port->link.admin_down = false;
	if (now_ns < port->link.ill_until_ns)
		port->link.damp_until_ns = now_ns;
	port_well(port);
	if (port->link.state == RL_LINK_OFF && port->link.started)
		port_train(port, now_ns);
	return 0;
}

int
rl_port_drain_down(struct rl_port *port, uint64_t now_ns)
{
	if (port->link.admin_down || port->drain.then == DRAIN_DOWN)
		return -EALREADY;
	if (!port_link_open(port))
		return rl_port_down(port, now_ns);
	port_drain_start(port, now_ns);
	port_drain_then(port, DRAIN_DOWN);
	return 0;
}

void
rl_port_phy_status(struct rl_port *port, enum rl_phy_status status,
		   uint64_t now_ns)
{
	const bool up = status == RL_PHY_UP;
	struct port_link *l = &port->link;

	if (rl_unlikely(status == RL_PHY_REMOVED))
		port_dead(port, RL_DET_REMOVED, now_ns);
	if (up == l->phy_up || !port->p.cfg->detect_phy)
		return; /* turned off: other detectors judge the link */
	l->phy_up = up;
	if (!up) {
		l->phy_lost_ns = now_ns;
		if (port->p.cfg->phy_lost_ns == 0)
			port_dead(port, RL_DET_PHY, now_ns);
		return;
	}
	l->phy_lost_ns = RL_NEVER;
	if (now_ns < l->ill_until_ns)
		l->damp_until_ns = now_ns;
	port_well(port);
	if (l->state == RL_LINK_INIT)
		port_owe(port, OWE_INIT);
	if (port_link_open(port)) {
		/* what was sent into the dark is sent again */
		port_retry_again(port, false, now_ns);
		port_detect_heard(port);
	}
}

void
port_state_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	const struct port_link *l = &port->link;

	if (rl_unlikely(port->packet.close_mask != 0))
		port_packet_close(port, now_ns);
	switch ((enum rl_link_state)l->state) {
	case RL_LINK_UP:
	case RL_LINK_RETRAIN:
		port_act(port, port_detect_tick(port, now_ns), now_ns);
		if (port_link_open(port))
			port_act(port, port_drain_tick(port, now_ns), now_ns);
		if (!l->phy_up && now_ns - l->phy_lost_ns >= cfg->phy_lost_ns)
			port_dead(port, RL_DET_PHY, now_ns);
		if (l->state == RL_LINK_RETRAIN &&
		    port->tx.probes > cfg->retrain_limit)
			port_dead(port, RL_DET_RETRAIN, now_ns);
		break;
	case RL_LINK_DAMPED:
		if (l->phy_up && port->packet.close_mask == 0 &&
		    damping_over(port, now_ns))
			port_train(port, now_ns);
		break;
	case RL_LINK_OFF:
	case RL_LINK_INIT:
	case RL_LINK_LOOPBACK:
		break;
	}
}
