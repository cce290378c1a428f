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
 * Handshake. Each end opens an epoch of its own: it picks a new transmit epoch
 * and a nonce and sends INIT frames until the peer echoes both. A link is UP
 * at one end when that end knows the peer's epoch and the peer has echoed its
 * own. From then on every frame bears both epochs, and one that does not match
 * both is dropped: nothing of an old epoch leaks into a new one. An end that
 * is UP and hears an INIT with another nonce knows that the peer has given
 * the epoch up, and follows. An end that still trains says so in its INIT
 * frames (RL_FRF_ACKREQ), and an end that is UP answers those alone: two that
 * are UP would answer each other for ever.
 */

#include <errno.h>

#include "port_priv.h"

/* The one writer of port->state. */
static void
port_set_state(struct rl_port *port, enum rl_link_state to, uint64_t now_ns)
{
	const enum rl_link_state from = port->state;
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
	port->state = to;
	port->state_ns = now_ns;
}

static void
port_train(struct rl_port *port, uint64_t now_ns)
{
	port_set_state(port, RL_LINK_INIT, now_ns);
	port->tx_epoch++;
	port->epochs++;
	port->nonce = (uint32_t)rl_prng_u64(&port->prng) | 1;
	port->peer_known = false;
	port->echo_ok = false;
	port->init_now = true;
	port->init_due_ns = now_ns;
	port->close_owed = false;
	port_tx_reset(port);
	port_rx_reset(port);
	port_rtt_reset(port);
}

void
rl_port_start(struct rl_port *port, uint64_t now_ns)
{
	if (port->state == RL_LINK_OFF && !port->admin_down)
		port_train(port, now_ns);
}

static void
port_open(struct rl_port *port, uint64_t now_ns)
{
	port_set_state(port, RL_LINK_UP, now_ns);
	port->opened_ns = now_ns;
	PORT_COUNT(port, trainings);
	port->up_mark = true;
	port->last_rx_ns = now_ns;
	port->last_tick_ns = now_ns;
	port->last_tx_ns = now_ns;
	port->ack_now = true; /* tell the peer our credits */
	port->retrains = 0;
	port->probes = 0;
	port->error_window_end_ns =
		rl_deadline(now_ns, port->p.cfg->error_window_ns);
	port->error_corrected = port->error_bad = 0;
	port->degraded = false;
	port_event(port, RL_PEV_UP, now_ns);
}

/* An INIT frame while this end trains. */
static void
port_rx_init_training(struct rl_port *port, const struct rl_frame_hdr *h,
		      uint64_t now_ns)
{
	const bool news = !port->peer_known || port->rx_epoch != h->tx_epoch ||
			  port->peer_nonce != h->ts;
	const bool echo = h->flags & RL_FRF_ECHO;

	if (news) {
		port->peer_known = true;
		port->rx_epoch = h->tx_epoch;
		port->peer_nonce = h->ts;
		port->echo_ok = false;
	}
	if (echo) {
		if (h->ts_echo == port->nonce &&
		    h->rx_epoch == port->tx_epoch) {
			PORT_COUNT(port, rx_init_echo);
			port->echo_ok = true;
		} else {
			PORT_COUNT(port, rx_init_echo_error);
		}
	}
	if (news || !echo)
		port->init_now = true;
	if (port->peer_known && port->echo_ok)
		port_open(port, now_ns);
}

void
port_rx_init(struct rl_port *port, const struct rl_frame_hdr *h,
	     uint64_t now_ns)
{
	const bool same = h->tx_epoch == port->rx_epoch &&
			  h->ts == port->peer_nonce;

	PORT_COUNT(port, rx_init);
	switch (port->state) {
	case RL_LINK_INIT:
		port_rx_init_training(port, h, now_ns);
		return;
	case RL_LINK_UP:
	case RL_LINK_RETRAIN:
		/* the peer puts off its keepalive for it: so it must count */
		if (same)
			port->last_rx_ns = now_ns;
		/* one that is UP itself answers: to answer that never ends */
		if (!(h->flags & RL_FRF_ACKREQ))
			return;
		if (same)
			port->init_now = true; /* our echo was lost */
		else
			port_dead(port, RL_DET_PEER, now_ns);
		return;
	case RL_LINK_LOOPBACK:
	case RL_LINK_DAMPED:
		/* what waits at the peer has no other way either */
		if (h->flags & RL_FRF_WANTED)
			port->damp_until_ns = now_ns;
		PORT_COUNT(port, rx_state_drop);
		return;
	case RL_LINK_OFF:
		PORT_COUNT(port, rx_state_drop);
		return;
	}
}

void
port_retrain(struct rl_port *port, uint64_t now_ns)
{
	if (port->state != RL_LINK_UP)
		return;
	PORT_COUNT(port, retrains);
	if (++port->retrains > port->p.cfg->retrain_limit) {
		port_dead(port, RL_DET_RETRAIN, now_ns);
		return;
	}
	port_set_state(port, RL_LINK_RETRAIN, now_ns);
	port->retrain_now = true;
	port->probes = 0;
	port->replay_due_ns = RL_NEVER; /* frozen while retraining */
	port_event(port, RL_PEV_RETRAIN, now_ns);
}

void
port_retrained(struct rl_port *port, uint64_t now_ns)
{
	if (port->state != RL_LINK_RETRAIN)
		return;
	port_set_state(port, RL_LINK_UP, now_ns);
	port->replays = 0;
	port->probes = 0;
	rl_replay_rewind(&port->replay);
	port->replaying = port->replay.next != port->replay.tail;
	port_arm_replay(port, now_ns);
}

/* Each further flap doubles the wait before the link may train again. */
static void
port_damp(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	uint64_t wait = cfg->flap_damping_ns;

	for (uint32_t i = 0; i < port->flaps && wait != 0 &&
			     wait < cfg->flap_damping_max_ns; i++)
		wait *= 2;
	wait = rl_min_u64(wait, cfg->flap_damping_max_ns);
	port->damp_until_ns = rl_deadline(now_ns, wait);
	port->flaps++;
}

/*
 * Damping protects those who have another way. Where something waits for this
 * link alone, to keep it out protects nobody.
 */
static bool
damping_over(const struct rl_port *port, uint64_t now_ns)
{
	return now_ns >= port->damp_until_ns ||
	       rl_shared_read(&port->p.shared->wanted) != 0;
}

void
port_dead(struct rl_port *port, enum rl_detector why, uint64_t now_ns)
{
	if (!port_link_open(port))
		return;
	if (now_ns - port->opened_ns >= port->p.cfg->flap_forget_ns)
		port->flaps = 0;
	port_set_state(port, RL_LINK_LOOPBACK, now_ns);
	PORT_COUNT(port, deaths);
	port->admin_down |= port->drain_down && !port->drain_up;
	port->drain_down = port->drain_up = false;
	port->detector = why;
	port->dead_ns = now_ns;
	port->close_owed = true;
	port->loop_id = port->p.uid << 12 | (port->epochs & 0xfff);
	port_damp(port, now_ns);
	port_rx_abandon(port, now_ns);
	port_event(port, RL_PEV_DEAD, now_ns);
	port_loop_start(port, now_ns);
}

void
port_drained(struct rl_port *port, uint64_t now_ns)
{
	struct rl_port_event *ev = port_event(port, RL_PEV_DRAINED, now_ns);

	ev->looped_packets = port->drained.packets;
	ev->looped_flits = port->drained.flits;
	ev->looped_acked_flits = port->drained.acked_flits;
	port_set_state(port, port->admin_down ? RL_LINK_OFF : RL_LINK_DAMPED,
		       now_ns);
}

int
rl_port_down(struct rl_port *port, uint64_t now_ns)
{
	if (port->admin_down)
		return -EALREADY;
	port->admin_down = true;
	port->drain_down = false;
	switch (port->state) {
	case RL_LINK_UP:
	case RL_LINK_RETRAIN:
		port_dead(port, RL_DET_COMMAND, now_ns);
		break;
	case RL_LINK_INIT:
	case RL_LINK_DAMPED:
		port_set_state(port, RL_LINK_OFF, now_ns);
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
	if (port->drain_down && !port->drain_up) {
		port->drain_up = true;
		return 0;
	}
	if (!port->admin_down)
		return -EALREADY;
	port->admin_down = false;
	if (port->state == RL_LINK_OFF)
		port_train(port, now_ns);
	return 0;
}

void
rl_port_phy_status(struct rl_port *port, bool up, uint64_t now_ns)
{
	if (up == port->phy_up || !port->p.cfg->detect_phy)
		return; /* turned off: other detectors judge the link */
	port->phy_up = up;
	if (up) {
		port->phy_lost_ns = RL_NEVER;
		if (port->state == RL_LINK_INIT)
			port->init_now = true;
		if (port_link_open(port)) {
			/* what was sent into the dark is sent again */
			rl_replay_rewind(&port->replay);
			port->replaying =
				port->replay.next != port->replay.tail;
			port->last_rx_ns = now_ns;
			port_arm_replay(port, now_ns);
		}
		return;
	}
	port->phy_lost_ns = now_ns;
	if (port->p.cfg->phy_lost_ns == 0)
		port_dead(port, RL_DET_PHY, now_ns);
}

/*
 * Corrected and uncorrectable flits per window [LINK-5]. Degraded is said
 * before dead, always; a window below half of the limits ends it.
 */
static void
error_rate_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	bool half;

	if (cfg->error_window_ns == 0)
		return;
	half = port->error_corrected > cfg->error_corrected_max / 2 ||
	       port->error_bad > cfg->error_uncorrectable_max / 2;
	if (half && !port->degraded) {
		port->degraded = true;
		PORT_COUNT(port, degraded);
		port_event(port, RL_PEV_DEGRADED, now_ns);
	}
	if (port->error_corrected > cfg->error_corrected_max ||
	    port->error_bad > cfg->error_uncorrectable_max) {
		port_dead(port, RL_DET_ERROR_RATE, now_ns);
		return;
	}
	if (now_ns >= port->error_window_end_ns) {
		port->degraded = half;
		port->error_corrected = port->error_bad = 0;
		port->error_window_end_ns =
			rl_deadline(now_ns, cfg->error_window_ns);
	}
}

/*
 * Silence is only held against the peer for as long as this end listened: an
 * lcore that was itself stopped for a while has heard nothing of anybody.
 */
static void
keepalive_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	const uint64_t pause = now_ns - port->last_tick_ns;

	if (cfg->keepalive_dead_ns == 0 || !port->phy_up)
		return;
	if (pause > cfg->keepalive_dead_ns / 2 + cfg->keepalive_ns)
		port->last_rx_ns =
			rl_min_u64(now_ns, port->last_rx_ns + pause);
	if (now_ns - port->last_rx_ns >= cfg->keepalive_dead_ns)
		port_dead(port, RL_DET_KEEPALIVE, now_ns);
}

void
port_state_tick(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;

	if (rl_unlikely(port->close_mask != 0))
		port_rx_close(port, now_ns);
	switch (port->state) {
	case RL_LINK_UP:
	case RL_LINK_RETRAIN:
		keepalive_tick(port, now_ns);
		if (port_link_open(port))
			error_rate_tick(port, now_ns);
		if (port_link_open(port))
			port_drain_tick(port, now_ns);
		if (port_link_open(port) && !port->phy_up &&
		    now_ns - port->phy_lost_ns >= cfg->phy_lost_ns)
			port_dead(port, RL_DET_PHY, now_ns);
		if (port->state == RL_LINK_RETRAIN &&
		    port->probes > cfg->retrain_limit)
			port_dead(port, RL_DET_RETRAIN, now_ns);
		break;
	case RL_LINK_DAMPED:
		if (port->phy_up && port->close_mask == 0 &&
		    damping_over(port, now_ns))
			port_train(port, now_ns);
		break;
	case RL_LINK_OFF:
	case RL_LINK_INIT:
	case RL_LINK_LOOPBACK:
		break;
	}
	port->last_tick_ns = now_ns;
}
