/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Transmit: what frame goes next, and what it says. Packets come into the
 * replay buffer in port_queue.c; acknowledgements and replays are in
 * port_retry.c.
 */

#include <string.h>

#include "port_priv.h"

void
port_tx_reset(struct rl_port *port)
{
	rl_replay_reset(&port->replay);
	memset(port->consumed, 0, sizeof(port->consumed));
	memset(port->limit, 0, sizeof(port->limit));
	memset(port->done, 0, sizeof(port->done));
	memset(port->queued, 0, sizeof(port->queued));
	memset(port->tx_begun, 0, sizeof(port->tx_begun));
	memset(port->tx_left, 0, sizeof(port->tx_left));
	port->fence_wanted = false;
	port->starved = false;
	port->ask_due_ns = RL_NEVER;
	port->replaying = false;
	port->replays = 0;
	port->replay_due_ns = RL_NEVER;
	port->retrain_echo = false;
}

/* Whether the peer should hear of credits: at once, or within a while. */
static bool
credits_due(const struct rl_port *port, uint64_t now_ns, bool *some)
{
	const uint32_t step = port->p.cfg->credits_flits / 4;
	bool due = false;

	*some = false;
	for (unsigned int vc = 0; vc < port->p.cfg->vcs; vc++) {
		const uint16_t d = (uint16_t)(port_credit_limit(port, vc) -
					      port->credit_told[vc]);

		if (d == 0)
			continue;
		*some = true;
		due |= d > step;
	}
	return due || (*some &&
		       now_ns - port->last_tx_ns >= port->p.cfg->ack_delay_ns);
}

/*
 * A packet has waited for credits for a while. Every frame of the peer tells
 * them, and keepalives come without end; but where there are none, the one
 * frame that told of them may be lost, and without link retry whole flits are,
 * with their credits. Then this end asks.
 */
static bool
ask_due(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;

	if (!port->starved || (cfg->retry && cfg->keepalive_ns != 0)) {
		port->ask_due_ns = RL_NEVER;
		return false;
	}
	if (port->ask_due_ns == RL_NEVER)
		port->ask_due_ns = rl_deadline(now_ns, port->timer_ns);
	return now_ns >= port->ask_due_ns;
}

/* Whether a frame without flits is due on an open link. */
static bool
idle_due(const struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	bool some;

	if (port->nak_owed || port->ack_now || port->drain_now ||
	    port->ack_owed >= port->ack_coalesce)
		return true;
	if (port->drain && now_ns - port->last_tx_ns >= cfg->init_interval_ns)
		return true;
	if (port->ack_owed != 0 && now_ns >= port->ack_due_ns)
		return true;
	if (cfg->keepalive_ns != 0 &&
	    now_ns - port->last_tx_ns >= cfg->keepalive_ns)
		return true;
	return credits_due(port, now_ns, &some);
}

/* Type of the next frame, 0 for none. */
static unsigned int
tx_kind(struct rl_port *port, uint64_t now_ns)
{
	/*
	 * An end in the dark may still be seen by the other: where only one
	 * way is cut, CLOSE is how the sender hears of it.
	 */
	if (!port->phy_up)
		return port->close_owed && !port_link_open(port) &&
				       port->state != RL_LINK_INIT
			       ? RL_FRAME_CLOSE
			       : 0;
	switch (port->state) {
	case RL_LINK_OFF:
	case RL_LINK_LOOPBACK:
	case RL_LINK_DAMPED:
		return port->close_owed ? RL_FRAME_CLOSE : 0;
	case RL_LINK_INIT:
		return port->init_now || now_ns >= port->init_due_ns
			       ? RL_FRAME_INIT
			       : 0;
	case RL_LINK_RETRAIN:
		if (port->init_now)
			return RL_FRAME_INIT;
		if (port->retrain_echo || port->retrain_now ||
		    now_ns >= port->init_due_ns)
			return RL_FRAME_RETRAIN;
		return idle_due(port, now_ns) ? RL_FRAME_IDLE : 0;
	case RL_LINK_UP:
		if (port->init_now)
			return RL_FRAME_INIT;
		if (port->retrain_echo)
			return RL_FRAME_RETRAIN;
		if (port->replay.next == port->replay.tail)
			port->replaying = false;
		if (!port->replaying)
			port_tx_fill(port);
		if (port->replay.next != port->replay.tail)
			return RL_FRAME_DATA;
		return ask_due(port, now_ns) || idle_due(port, now_ns)
			       ? RL_FRAME_IDLE
			       : 0;
	}
	return 0;
}

bool
rl_port_tx_ready(struct rl_port *port, uint64_t now_ns)
{
	return tx_kind(port, now_ns) != 0;
}

/* Fills in what every frame of an epoch says, and notes it as said. */
static void
tx_header(struct rl_port *port, struct rl_frame_hdr *h, uint64_t now_ns)
{
	h->tx_epoch = port->tx_epoch;
	h->rx_epoch = port->rx_epoch;
	h->ack = (uint16_t)port->expected;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		h->credit[vc] = port_credit_limit(port, vc);
		port->credit_told[vc] = h->credit[vc];
	}
	h->ts = (uint32_t)now_ns | 1;
	h->ts_echo = 0;
	if (port->ts_recent != 0)
		h->ts_echo = port->ts_recent +
			     (uint32_t)(now_ns - port->ts_recent_ns);
	if (port->nak_owed) {
		h->flags |= RL_FRF_NAK;
		PORT_COUNT(port, tx_nak);
	}
	if (rl_unlikely(port->drain)) {
		h->flags |= RL_FRF_DRAIN;
		if (port_drained_out(port))
			h->flags |= RL_FRF_DRAINED;
		port->drain_now = false;
	}
	if (port->ack_owed != 0)
		PORT_COUNT(port, tx_ack);
	port->nak_owed = false;
	port->ack_now = false;
	port->ack_owed = 0;
}

/* A frame without flits: all before its number have been sent. */
static void
tx_idle_header(struct rl_port *port, struct rl_frame_hdr *h, uint64_t now_ns)
{
	const bool ask = ask_due(port, now_ns);

	tx_header(port, h, now_ns);
	h->seq = (uint16_t)port->replay.next;
	PORT_COUNT(port, tx_idle);
	if (!ask)
		return;
	h->flags |= RL_FRF_ACKREQ;
	port->ask_due_ns = rl_deadline(now_ns, port->timer_ns);
	if (port->p.cfg->retry)
		return;
	/* what is lost for good took credits with it: say what was spent */
	h->flags |= RL_FRF_SPENT;
	memcpy(h->credit, port->consumed, sizeof(h->credit));
	memset(port->credit_told, 0, sizeof(port->credit_told));
}

static void
tx_init_header(struct rl_port *port, struct rl_frame_hdr *h, uint64_t now_ns)
{
	h->tx_epoch = port->tx_epoch;
	h->ts = port->nonce;
	if (port->state == RL_LINK_INIT)
		h->flags |= RL_FRF_ACKREQ;
	if (rl_shared_read(&port->p.shared->wanted) != 0)
		h->flags |= RL_FRF_WANTED;
	if (port->peer_known) {
		h->flags |= RL_FRF_ECHO;
		h->rx_epoch = port->rx_epoch;
		h->ts_echo = port->peer_nonce;
		PORT_COUNT(port, tx_init_echo);
	} else {
		PORT_COUNT(port, tx_init);
	}
	port->init_now = false;
	port->init_due_ns =
		rl_deadline(now_ns, port->p.cfg->init_interval_ns);
}

static void
tx_retrain_header(struct rl_port *port, struct rl_frame_hdr *h,
		  uint64_t now_ns)
{
	tx_header(port, h, now_ns);
	h->seq = (uint16_t)port->replay.next;
	PORT_COUNT(port, tx_retrain);
	if (port->retrain_echo) {
		h->flags |= RL_FRF_ECHO;
		port->retrain_echo = false;
		return;
	}
	port->retrain_now = false;
	port->probes++;
	port->init_due_ns =
		rl_deadline(now_ns, port->p.cfg->retrain_interval_ns);
}

/* The first flit of another port's loopback to leave here is an event. */
static void
tx_note_reroute(struct rl_port *port, uint32_t loop_id, uint64_t now_ns)
{
	struct rl_port_event *ev;

	if (loop_id == port->last_loop_id)
		return;
	port->last_loop_id = loop_id;
	ev = port_event(port, RL_PEV_REROUTED, now_ns);
	ev->loop_id = loop_id;
}

static void
tx_data(struct rl_port *port, uint8_t *frame, struct rl_frame_hdr *h,
	uint64_t now_ns)
{
	struct rl_replay *r = &port->replay;
	const uint32_t n = rl_min_u32(r->tail - r->next, port->frame_flits);
	const uint8_t *wire[RL_FRAME_FLITS_MAX];
	const uint32_t again = rl_min_u32(r->sent_max - r->next, n);

	h->nflits = (uint8_t)n;
	h->seq = (uint16_t)r->next;
	for (uint32_t i = 0; i < n; i++) {
		const struct rl_replay_slot *s =
			&r->slot[(r->next + i) & r->mask];

		wire[i] = s->flit->wire;
		rl_put16(frame + RL_FRAME_SIDEBAND_OFF + 2 * i, s->sideband);
		if (rl_unlikely(s->loop_id != 0))
			tx_note_reroute(port, s->loop_id, now_ns);
	}
	r->next += n;
	rl_codec_copy(port->p.codec, frame + rl_frame_header_bytes(n), wire, n);
	if (rl_seq_before(r->sent_max, r->next))
		r->sent_max = r->next;
	if (again != 0) {
		h->flags |= RL_FRF_RETRY;
		PORT_COUNT_N(port, tx_replay_flits, again);
	}
	PORT_COUNT_N(port, tx_flits, n - again);
	if (again != 0 || port->replay_due_ns == RL_NEVER)
		port->replay_due_ns = rl_deadline(now_ns, port->timer_ns);
	if (!port->p.cfg->retry) {
		/* an RXL hop keeps nothing: sent is done [LCB-4] */
		rl_replay_ack(r, r->next, port->p.cache, port->done);
		port->replay_due_ns = RL_NEVER;
		port_fence_check(port);
	}
}

uint32_t
rl_port_tx_frame(struct rl_port *port, uint8_t *frame, uint64_t now_ns)
{
	struct rl_frame_hdr h = { .type = (uint8_t)tx_kind(port, now_ns) };

	switch (h.type) {
	case 0:
		return 0;
	case RL_FRAME_DATA:
		tx_header(port, &h, now_ns);
		tx_data(port, frame, &h, now_ns);
		break;
	case RL_FRAME_IDLE:
		tx_idle_header(port, &h, now_ns);
		break;
	case RL_FRAME_INIT:
		tx_init_header(port, &h, now_ns);
		break;
	case RL_FRAME_RETRAIN:
		tx_retrain_header(port, &h, now_ns);
		break;
	case RL_FRAME_CLOSE:
		tx_header(port, &h, now_ns);
		port->close_owed = false;
		PORT_COUNT(port, tx_close);
		break;
	}
	PORT_COUNT(port, tx_frames);
	port->last_tx_ns = now_ns;
	rl_frame_seal(frame, &h, port->p.mac, port->hw_crc);
	return rl_frame_bytes(h.nflits);
}

uint64_t
rl_port_deadline(const struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	uint64_t t = RL_NEVER;
	bool some;

	if (port->close_owed && !port_link_open(port) &&
	    port->state != RL_LINK_INIT)
		return now_ns;
	switch (port->state) {
	case RL_LINK_OFF:
		return RL_NEVER;
	case RL_LINK_INIT:
		return port->phy_up ? port->init_due_ns : RL_NEVER;
	case RL_LINK_LOOPBACK:
		return now_ns;
	case RL_LINK_DAMPED:
		if (!port->phy_up)
			return RL_NEVER;
		return rl_shared_read(&port->p.shared->wanted) != 0
			       ? now_ns
			       : port->damp_until_ns;
	case RL_LINK_RETRAIN:
		t = port->init_due_ns;
		break;
	case RL_LINK_UP:
		if (port->replay.next == port->replay.tail)
			t = rl_min_u64(port->replay_due_ns, port->ask_due_ns);
		else if (!port->replaying) /* a replay holds the timer */
			t = port->replay_due_ns;
		break;
	}
	if (!port->phy_up) /* all else is frozen */
		return rl_deadline(port->phy_lost_ns, cfg->phy_lost_ns);
	if (port->ack_owed != 0)
		t = rl_min_u64(t, port->ack_due_ns);
	t = rl_min_u64(t, port->part_due_ns);
	if (port->drain_now)
		return now_ns;
	if (port->drain)
		t = rl_min_u64(t, rl_min_u64(
			rl_deadline(port->last_tx_ns, cfg->init_interval_ns),
			port_drain_end_ns(port)));
	if (cfg->keepalive_ns != 0)
		t = rl_min_u64(t, rl_deadline(port->last_tx_ns,
					      cfg->keepalive_ns));
	if (cfg->keepalive_dead_ns != 0)
		t = rl_min_u64(t, rl_deadline(port->last_rx_ns,
					      cfg->keepalive_dead_ns));
	if (cfg->error_window_ns != 0)
		t = rl_min_u64(t, port->error_window_end_ns);
	credits_due(port, now_ns, &some);
	if (some)
		t = rl_min_u64(t, rl_deadline(port->last_tx_ns,
					      cfg->ack_delay_ns));
	return t;
}
