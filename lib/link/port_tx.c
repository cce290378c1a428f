/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Transmit: number, store, send [LINK-2]; acknowledgements and the replay
 * timer.
 *
 * A packet leaves its egress queue only when the window has room for all of
 * it and the peer has given credits for all of it, so that a packet once begun
 * can always be finished: a full window can never wait for the rest of a
 * packet that itself waits for the window. Packets take turns by VC; one that
 * waits for credits is passed over, one that waits for the window keeps its
 * turn, lest long packets starve.
 *
 * Replay is go-back-N: `next` moves back to `acked`, and everything is sent
 * again, in fresh frames, before anything new. The bodies in the buffer never
 * change.
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

void
port_arm_replay(struct rl_port *port, uint64_t now_ns)
{
	/* what is numbered but was never sent cannot be late */
	port->replay_due_ns = RL_NEVER;
	if (rl_seq_before(port->replay.acked, port->replay.sent_max))
		port->replay_due_ns = rl_deadline(now_ns, port->timer_ns);
}

/* All flits queued before a fence are acknowledged: the core may know. */
static void
fence_check(struct rl_port *port)
{
	if (!port->fence_wanted)
		return;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		if (rl_seq_before(port->done[vc], port->fence_at[vc]))
			return;
	port->fence_wanted = false;
	port->fence_done = true;
}

void
rl_port_submit(struct rl_port *port, struct rl_flit *pkt, uint64_t now_ns)
{
	(void)now_ns;
	switch (rl_pipe_is_mark(pkt)) {
	case RL_MARK_LOOP_FENCE:
		port->loop_fence = true;
		return;
	case RL_MARK_FENCE:
		memcpy(port->fence_at, port->queued, sizeof(port->fence_at));
		port->fence_wanted = true;
		if (!port_link_open(port)) {
			port->fence_wanted = false;
			port->fence_done = true;
		}
		fence_check(port);
		return;
	case RL_MARK_NONE:
		break;
	case RL_MARK_LINK_UP:
	case RL_MARK_LOOP_BEGIN:
	case RL_MARK_LOOP_END:
	case RL_MARK_FENCE_DONE:
		RL_ASSERT(false);
	}
	RL_ASSERT(pkt->vc < RL_VCS);
	port->queued[pkt->vc] += pkt->pkt_flits;
	rl_pktq_push(&port->txq[pkt->vc], pkt);
	port->txq_mask |= 1u << pkt->vc;
}

/*
 * Room that must be there before a packet, or the next fragment of one, may
 * leave its queue. A packet whose end has not come yet (cut-through) may still
 * grow to the longest there is; its rest is reserved when it begins.
 */
static uint32_t
tx_need(const struct rl_port *port, unsigned int vc,
	const struct rl_flit *head)
{
	if (port->tx_begun[vc])
		return 0;
	return rl_packet_ends(head) ? head->pkt_flits
				    : port->p.cfg->max_packet_flits;
}

/* Keeps the reservation of a packet that comes in fragments. */
static void
tx_reserve(struct rl_port *port, unsigned int vc, const struct rl_flit *head)
{
	const uint16_t n = head->pkt_flits;
	uint32_t *reserved = &port->replay.reserved;

	if (!port->tx_begun[vc]) {
		if (rl_packet_ends(head))
			return;
		port->tx_begun[vc] = true;
		port->tx_left[vc] =
			(uint16_t)(port->p.cfg->max_packet_flits - n);
		*reserved += port->tx_left[vc];
		return;
	}
	RL_ASSERT(n <= port->tx_left[vc]);
	port->tx_left[vc] = (uint16_t)(port->tx_left[vc] - n);
	*reserved -= n;
	if (rl_packet_ends(head)) {
		*reserved -= port->tx_left[vc];
		port->tx_begun[vc] = false;
	}
}

/*
 * A flit that was hurt inside this device is marked before it goes out, and
 * its FEC made good, so that no link retries what cannot be mended; its
 * destination drops it [LCB-2]. Its CRC stays wrong.
 */
static void
tx_soft_error(struct rl_port *port, struct rl_flit *f)
{
	const uint8_t *wire = f->wire;
	uint8_t fec;

	if (rl_codec_fec_check(port->p.codec, &wire, 1, &fec) == 0)
		return;
	PORT_COUNT(port, tx_soft_error);
	f->mark = RL_MARK_SOFT_ERROR;
	rl_codec_fec_encode(port->p.codec, f->wire);
}

/* Moves a packet from its queue into the replay buffer, numbered. */
static void
tx_take(struct rl_port *port, unsigned int vc)
{
	struct rl_flit *const head = rl_pktq_pop(&port->txq[vc]);
	const uint16_t n = head->pkt_flits;

	tx_reserve(port, vc, head);
	/* the core sets the head's; any may become the head of a fragment */
	for (struct rl_flit *f = head; f != NULL; f = f->next) {
		f->vc = (uint8_t)vc;
		f->plane = head->plane;
		f->in_port = head->in_port;
		if (rl_unlikely(port->p.cfg->soft_error_check))
			tx_soft_error(port, f);
		rl_replay_push(&port->replay, f);
	}
	port->consumed[vc] = (uint16_t)(port->consumed[vc] + n);
	if (rl_pktq_empty(&port->txq[vc]))
		port->txq_mask &= ~(1u << vc);
	rl_shared_add(&port->p.shared->taken[vc], n);
}

/* Fills the replay buffer with what the next frame can carry. */
static void
tx_fill(struct rl_port *port)
{
	struct rl_replay *r = &port->replay;
	unsigned int tried = 0;
	bool full = false; /* a packet waits for the window */

	port->starved = false;
	while (r->tail - r->next < port->frame_flits &&
	       port->txq_mask != 0 && tried < RL_VCS) {
		const unsigned int vc = (port->txq_turn + tried) % RL_VCS;
		const struct rl_flit *head = port->txq[vc].head;
		uint32_t need;

		if (head == NULL) {
			tried++;
			continue;
		}
		need = tx_need(port, vc, head);
		if (rl_replay_room(r) < need) {
			/* keeps its turn; what has begun holds the room, and
			 * must go on to give it back */
			full = true;
			tried++;
			continue;
		}
		if (full && need != 0) {
			tried++;
			continue;
		}
		if ((uint16_t)(port->limit[vc] - port->consumed[vc]) < need) {
			PORT_COUNT(port, tx_credit_stall);
			port->starved = true;
			tried++;
			continue;
		}
		tx_take(port, vc);
		if (!full)
			port->txq_turn = (uint8_t)((vc + 1) % RL_VCS);
		tried = 0;
	}
	if (full)
		PORT_COUNT(port, tx_window_full);
}

/*
 * Starts a replay, or retrains where replays have led nowhere. A replay is
 * only one more where the peer acknowledged nothing since the last.
 */
static void
tx_replay(struct rl_port *port, uint64_t now_ns)
{
	const uint32_t limit = port->p.cfg->replay_limit;

	if (limit != 255 && port->replays >= limit) {
		port_retrain(port, now_ns);
		return;
	}
	PORT_COUNT(port, tx_replays);
	port->replays++;
	rl_replay_rewind(&port->replay);
	port->replaying = true;
	port->replay_due_ns = rl_deadline(now_ns, port->timer_ns);
	if (RL_PLANTED(CREDIT_DOUBLE))
		port->consumed[0] = (uint16_t)(port->consumed[0] +
			rl_replay_outstanding(&port->replay));
}

/* Forward progress: the only thing that restarts the timer. */
static void
tx_progress(struct rl_port *port, uint64_t now_ns)
{
	port->replays = 0;
	port->retrains = 0;
	if (port->replay.next == port->replay.tail)
		port->replaying = false;
	port_arm_replay(port, now_ns);
	if (RL_PLANTED(ACK_STOPS_TIMER))
		port->replay_due_ns = RL_NEVER;
	fence_check(port);
	if (port->state == RL_LINK_RETRAIN)
		port_retrained(port, now_ns);
}

static void
tx_credits(struct rl_port *port, const struct rl_frame_hdr *h)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		/* cyclic: only a limit that lies ahead is news */
		if ((int16_t)(h->credit[vc] - port->limit[vc]) > 0)
			port->limit[vc] = h->credit[vc];
	}
}

void
port_rx_ack(struct rl_port *port, const struct rl_frame_hdr *h,
	    uint64_t now_ns)
{
	struct rl_replay *r = &port->replay;
	uint32_t ack = rl_seq_widen(r->acked, h->ack, RL_LINK_SEQ_BITS);
	bool progress = false;

	if (!(h->flags & RL_FRF_SPENT))
		tx_credits(port, h);
	if (!port->p.cfg->retry)
		return; /* sent is done */
	if (rl_seq_before(ack, r->acked) || rl_seq_before(r->sent_max, ack)) {
		PORT_COUNT(port, rx_ack_seq_error);
		if (!RL_PLANTED(STALE_ACK))
			return;
		ack = r->sent_max;
	}
	if (ack != r->acked) {
		PORT_COUNT(port, rx_ack);
		rl_replay_ack(r, ack, port->p.cache, port->done);
		progress = true;
	}
	if (progress)
		tx_progress(port, now_ns);
	if (h->flags & RL_FRF_NAK) {
		PORT_COUNT(port, rx_nak);
		if (port->state == RL_LINK_UP &&
		    rl_replay_outstanding(r) != 0)
			tx_replay(port, now_ns);
	}
}

void
port_tx_tick(struct rl_port *port, uint64_t now_ns)
{
	if (port->state != RL_LINK_UP || !port->phy_up ||
	    now_ns < port->replay_due_ns)
		return;
	if (RL_PLANTED(TAIL_NOT_RETRIED))
		return;
	/* held while a replay is still going out */
	if (port->replaying && port->replay.next != port->replay.tail)
		return;
	if (rl_replay_outstanding(&port->replay) == 0) {
		port->replay_due_ns = RL_NEVER;
		return;
	}
	PORT_COUNT(port, tx_replay_timeout);
	tx_replay(port, now_ns);
}

void
rl_port_tick(struct rl_port *port, uint64_t now_ns)
{
	port_state_tick(port, now_ns);
	port_tx_tick(port, now_ns);
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

	if (port->nak_owed || port->ack_now ||
	    port->ack_owed >= port->ack_coalesce)
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
	if (!port->phy_up)
		return 0;
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
			tx_fill(port);
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
	uint32_t again = 0;

	h->nflits = (uint8_t)n;
	h->seq = (uint16_t)r->next;
	for (uint32_t i = 0; i < n; i++) {
		const struct rl_replay_slot *s = &r->slot[r->next & r->mask];

		wire[i] = s->flit->wire;
		rl_put16(frame + RL_FRAME_SIDEBAND_OFF + 2 * i, s->sideband);
		if (rl_unlikely(s->loop_id != 0))
			tx_note_reroute(port, s->loop_id, now_ns);
		again += rl_seq_before(r->next, r->sent_max);
		r->next++;
	}
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
		fence_check(port);
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

	if (port->close_owed && port->phy_up && !port_link_open(port))
		return now_ns;
	switch (port->state) {
	case RL_LINK_OFF:
		return RL_NEVER;
	case RL_LINK_INIT:
		return port->phy_up ? port->init_due_ns : RL_NEVER;
	case RL_LINK_LOOPBACK:
		return now_ns;
	case RL_LINK_DAMPED:
		return port->phy_up ? port->damp_until_ns : RL_NEVER;
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
