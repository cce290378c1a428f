/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Transmit: what frame goes next, and what it says. Packets come into the
 * replay buffer in port_queue.c; acknowledgements and replays are in
 * port_retry.c.
 */

#include <limits.h>
#include <string.h>

#include "port_credits.h"
#include "port_queue.h"
#include "port_retry.h"
#include "port_witness.h"

void
port_tx_reset(struct rl_port *port, uint64_t now_ns)
{
	struct port_tx *tx = &port->tx;

	tx->last_ns = now_ns;
	tx->ask_due_ns = RL_NEVER;
	tx->shake_due_ns = now_ns;
	tx->probes = 0;
	memset(tx->credit_told, 0, sizeof(tx->credit_told));
	port_forget(port, OWE_PROBE | OWE_ANSWER);
}

void
port_tx_probe(struct rl_port *port, uint64_t now_ns)
{
	port->tx.probes = 0;
	port->tx.shake_due_ns = now_ns;
	port_owe(port, OWE_PROBE);
}

/* Whether the peer should hear of credits: at once, or within a while. */
static bool
credits_due(const struct rl_port *port, const uint16_t limit[RL_VCS],
	    uint64_t now_ns, bool *some)
{
	const uint16_t *const told = port->tx.credit_told;
	const struct rl_link_cfg *cfg = port->p.cfg;
	port_lanes more;

	*some = false;
	if (port_lanes_same(limit, told))
		return false;
	/* of a VC that is not there all has been told, in the first frame */
	more = port_lanes_get(limit) - port_lanes_get(told);
	*some = port_lanes_above(more, 0);
	return port_lanes_above(more, cfg->credits_flits / 4) ||
	       (*some && now_ns - port->tx.last_ns >= cfg->ack_delay_ns);
}

/*
 * The credits of a frame. What was once told holds, though a flit made here may
 * have taken the room for a while.
 */
static void
tx_credits(struct rl_port *port, struct rl_frame_hdr *h)
{
	uint16_t *const told = port->tx.credit_told;
	const uint16_t *const limit = port_rx_limits(port);
	const port_lanes now = port_lanes_get(limit);

	port_lanes_put(h->credit, now);
	if (rl_likely(!port_lanes_back(now - port_lanes_get(told)))) {
		port_lanes_put(told, now);
		return;
	}
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		if ((int16_t)(limit[vc] - told[vc]) > 0)
			told[vc] = limit[vc];
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

	if (!port->queue.starved || (cfg->retry && cfg->keepalive_ns != 0)) {
		port->tx.ask_due_ns = RL_NEVER;
		return false;
	}
	if (port->tx.ask_due_ns == RL_NEVER)
		port->tx.ask_due_ns = rl_deadline(now_ns, port->rtt.timer_ns);
	return now_ns >= port->tx.ask_due_ns;
}

static bool
idle_due(struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	const uint64_t since_ns = now_ns - port->tx.last_ns;
	bool some;

	if (port_owes(port, OWE_IDLE) ||
	    port->rx.ack_owed >= port->ack_coalesce)
		return true;
	if (port->drain.phase != DRAIN_NONE &&
	    since_ns >= cfg->init_interval_ns)
		return true;
	if (port->rx.ack_owed != 0 && now_ns >= port->rx.ack_due_ns)
		return true;
	if (cfg->keepalive_ns != 0 && since_ns >= cfg->keepalive_ns)
		return true;
	return credits_due(port, port_rx_limits(port), now_ns, &some);
}

/* Fills the replay buffer, where the next frame is short of flits. */
static inline void
tx_fill(struct rl_port *port)
{
	const struct rl_replay *r = &port->retry.replay;

	if (r->tail - r->next < port->shake.flits && port->queue.mask != 0)
		port_queue_fill(port);
	else
		port_queue_fed(port);
}

/* The same of an open link. */
static unsigned int
tx_kind_open(struct rl_port *port, uint64_t now_ns)
{
	if (port_owes(port, OWE_INIT))
		return RL_FRAME_INIT;
	if (port_owes(port, OWE_ANSWER))
		return RL_FRAME_RETRAIN;
	if (port->link.state == RL_LINK_RETRAIN) {
		if (port_owes(port, OWE_PROBE) ||
		    now_ns >= port->tx.shake_due_ns)
			return RL_FRAME_RETRAIN;
		return idle_due(port, now_ns) ? RL_FRAME_IDLE : 0;
	}
	if (!port_retry_pending(port) || !port->retry.replaying)
		tx_fill(port);
	if (port_retry_pending(port))
		return RL_FRAME_DATA;
	return ask_due(port, now_ns) || port_retry_ask_due(port, now_ns) ||
			       idle_due(port, now_ns)
		       ? RL_FRAME_IDLE
		       : 0;
}

static unsigned int
tx_kind(struct rl_port *port, uint64_t now_ns)
{
	const bool close = port_owes(port, OWE_CLOSE);

	switch ((enum rl_link_state)port->link.state) {
	case RL_LINK_OFF:
	case RL_LINK_LOOPBACK:
	case RL_LINK_DAMPED:
		/*
		 * An end in the dark may still be seen by the other: where
		 * only one way is cut, CLOSE is how the sender hears of it.
		 */
		return close ? RL_FRAME_CLOSE : 0;
	case RL_LINK_INIT:
		return port->link.phy_up &&
				       (port_owes(port, OWE_INIT) ||
					now_ns >= port->tx.shake_due_ns)
			       ? RL_FRAME_INIT
			       : 0;
	case RL_LINK_UP:
	case RL_LINK_RETRAIN:
		return port->link.phy_up ? tx_kind_open(port, now_ns) : 0;
	}
	return 0;
}

bool
rl_port_tx_ready(struct rl_port *port, uint64_t now_ns)
{
	port_rx_look(port);
	return tx_kind(port, now_ns) != 0;
}

/* Asks the peer what has come, or answers; any frame of an open link can. */
static inline void
tx_ask(struct rl_port *port, struct rl_frame_hdr *h, uint64_t now_ns)
{
	if (rl_unlikely(port_pay(port, OWE_ECHO)))
		h->flags |= RL_FRF_ECHO;
	if (rl_unlikely(port_retry_ask_due(port, now_ns))) {
		h->flags |= RL_FRF_ACKREQ;
		port_retry_asked(port, now_ns);
	}
}

/* Fills in what every frame of an epoch says, and notes it as said. */
static void
tx_header(struct rl_port *port, struct rl_frame_hdr *h, uint64_t now_ns)
{
	h->tx_epoch = port->shake.tx_epoch;
	h->rx_epoch = port->shake.rx_epoch;
	h->ack = (uint16_t)port->rx.expected;
	tx_credits(port, h);
	h->stamp_echo = port_rtt_echo(port, now_ns);
	if (h->type <= RL_FRAME_IDLE)
		tx_ask(port, h, now_ns);
	if (port_pay(port, OWE_NAK)) {
		h->flags |= RL_FRF_NAK;
		PORT_COUNT(port, tx_nak);
	}
	if (rl_unlikely(port->drain.phase != DRAIN_NONE)) {
		h->flags |= RL_FRF_DRAIN;
		if (port->drain.phase == DRAIN_EMPTY)
			h->flags |= RL_FRF_DRAINED;
		port_forget(port, OWE_DRAIN);
	}
	port_forget(port, OWE_ACK);
	if (port_rx_acked(port) != 0)
		PORT_COUNT(port, tx_ack);
}

/* A frame without flits: all before its number have been sent. */
static void
tx_idle_header(struct rl_port *port, struct rl_frame_hdr *h, uint64_t now_ns)
{
	const bool ask = ask_due(port, now_ns);
	uint16_t told[RL_VCS];

	memcpy(told, port->tx.credit_told, sizeof(told));
	tx_header(port, h, now_ns);
	h->seq = (uint16_t)port->retry.replay.next;
	PORT_COUNT(port, tx_idle);
	if (!ask)
		return;
	h->flags |= RL_FRF_ACKREQ;
	port->tx.ask_due_ns = rl_deadline(now_ns, port->rtt.timer_ns);
	if (port->p.cfg->retry)
		return;
	/* what is lost for good took credits with it: say what was spent */
	h->flags |= RL_FRF_SPENT;
	memcpy(h->credit, port->queue.consumed, sizeof(h->credit));
	memcpy(port->tx.credit_told, told, sizeof(told)); /* not told now */
}

static void
tx_init_header(struct rl_port *port, uint8_t *frame, struct rl_frame_hdr *h,
	       uint64_t now_ns)
{
	struct rl_frame_init init;

	h->stamp_echo = port_rtt_echo(port, now_ns);
	port_shake_header(port, h, &init);
	rl_frame_init_put(frame, &init);
	port_forget(port, OWE_INIT);
	port->tx.shake_due_ns =
		rl_deadline(now_ns, port->p.cfg->init_interval_ns);
}

static void
tx_retrain_header(struct rl_port *port, struct rl_frame_hdr *h,
		  uint64_t now_ns)
{
	tx_header(port, h, now_ns);
	h->seq = (uint16_t)port->retry.replay.next;
	/* as long as data: what cannot pass these is no way for those */
	h->bytes = (uint16_t)rl_frame_bytes(port->shake.flits);
	PORT_COUNT(port, tx_retrain);
	if (port_pay(port, OWE_ANSWER)) {
		h->flags |= RL_FRF_ECHO;
		return;
	}
	port_forget(port, OWE_PROBE);
	port->tx.probes++;
	/* a late answer is an answer */
	port->tx.shake_due_ns = rl_deadline(
		now_ns, rl_max_u64(port->p.cfg->retrain_interval_ns,
				   port_rtt_longest(port)));
}

/* The first flit of another port's loopback to leave here is an event. */
static void
tx_note_reroute(struct rl_port *port, uint32_t n, uint64_t now_ns)
{
	const struct rl_replay *r = &port->retry.replay;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t seq = r->next + i;
		uint32_t loop_id;

		if (!(r->sideband[seq & r->mask] & RL_SIDEBAND_LOOPED))
			continue; /* in a run it has no loop_id */
		loop_id = rl_replay_at(r, seq)->loop_id;
		if (loop_id == 0 || loop_id == port->tx.last_loop_id)
			continue;
		port->tx.last_loop_id = loop_id;
		port_event(port, RL_PEV_REROUTED, now_ns)->loop_id = loop_id;
	}
}

/* The next @p n flits, as they are in the replay buffer. */
struct tx_flits {
	const uint8_t *const *wire;
	const uint16_t *sideband;
	/* the same where the buffer's end lies between them */
	const uint8_t *wire_copy[RL_FRAME_FLITS_MAX];
	uint16_t sideband_copy[RL_FRAME_FLITS_MAX + RL_REPLAY_PAST];
};

static void
tx_flits(const struct rl_replay *r, uint32_t n, struct tx_flits *f)
{
	const uint32_t at = r->next & r->mask;

	f->wire = (const uint8_t *const *)r->wire + at;
	f->sideband = r->sideband + at;
	if (rl_likely(at + n <= r->mask + 1))
		return;
	memset(f->sideband_copy, 0, sizeof(f->sideband_copy));
	for (uint32_t i = 0; i < n; i++) {
		f->wire_copy[i] = r->wire[(at + i) & r->mask];
		f->sideband_copy[i] = r->sideband[(at + i) & r->mask];
	}
	f->wire = f->wire_copy;
	f->sideband = f->sideband_copy;
}

/* Seals a frame. Strictly growing stamps: no two frames are of one age. */
static void
tx_seal(struct rl_port *port, uint8_t *frame, struct rl_frame_hdr *h,
	const uint8_t *sideband, uint64_t now_ns)
{
	PORT_COUNT(port, tx_frames);
	port->tx.last_ns = now_ns;
	port->tx.stamp = rl_max_u64(now_ns, port->tx.stamp + 1);
	h->stamp = port->tx.stamp;
	rl_frame_seal_from(frame, h, sideband, port->p.mac, port->hw_crc);
}

/* The frame is whole, but for its tag. @return its bytes */
static inline uint32_t
tx_end(struct rl_port *port, uint8_t *frame, const struct rl_frame_hdr *h)
{
	if (port->p.auth != NULL)
		port_auth_seal(port, frame, h);
	return rl_frame_length(h) + port_auth_bytes(&port->p);
}

/* The header goes first: it is small, and would wait behind the flits. */
static uint32_t
tx_data(struct rl_port *port, uint8_t *frame, struct rl_frame_hdr *h,
	uint64_t now_ns)
{
	const struct rl_replay *r = &port->retry.replay;
	const uint32_t n = rl_min_u32(r->tail - r->next, port->shake.flits);
	const uint32_t again = rl_min_u32(r->sent_max - r->next, n);
	struct tx_flits f;

	if (rl_unlikely(port->p.cfg->witness != 0))
		port_witness_out(port, n);
	tx_flits(r, n, &f);
	h->nflits = (uint8_t)n;
	h->seq = (uint16_t)r->next;
	if (rl_unlikely(again != 0)) {
		h->flags |= RL_FRF_RETRY;
		PORT_COUNT_N(port, tx_replay_flits, again);
	}
	PORT_COUNT_N(port, tx_flits, n - again);
	tx_seal(port, frame, h, (const uint8_t *)f.sideband, now_ns);
	rl_codec_copy(port->p.codec, frame + rl_frame_header_bytes(n), f.wire,
		      n);
	if (rl_unlikely(rl_replay_noted(r))) {
		PORT_COUNT_N(port, tx_poisoned, rl_replay_marks(r, n));
		tx_note_reroute(port, n, now_ns);
	}
	port_retry_sent(port, n, now_ns);
	if (!port->p.cfg->retry) /* sent is done */
		port_queue_fence(port);
	return tx_end(port, frame, h);
}

/* A frame of whatever kind is due. */
static uint32_t
tx_any(struct rl_port *port, uint8_t *frame, struct rl_frame_hdr *h,
       uint64_t now_ns)
{
	*h = (struct rl_frame_hdr){ .type = (uint8_t)tx_kind(port, now_ns) };
	switch (h->type) {
	case 0:
		return 0;
	case RL_FRAME_DATA:
		tx_header(port, h, now_ns);
		return tx_data(port, frame, h, now_ns);
	case RL_FRAME_IDLE:
		tx_idle_header(port, h, now_ns);
		break;
	case RL_FRAME_INIT:
		tx_init_header(port, frame, h, now_ns);
		break;
	case RL_FRAME_RETRAIN:
		tx_retrain_header(port, h, now_ns);
		break;
	case RL_FRAME_CLOSE:
		tx_header(port, h, now_ns);
		port_forget(port, OWE_CLOSE);
		PORT_COUNT(port, tx_close);
		break;
	}
	tx_seal(port, frame, h, NULL, now_ns);
	return tx_end(port, frame, h);
}

/*
 * New flits in a frame that says the same of all else as the one before it.
 * @return its bytes; 0: it is to be made as all others are
 */
static uint32_t
tx_again(struct rl_port *port, uint8_t *frame, const struct rl_frame_like *like)
{
	const struct rl_replay *r = &port->retry.replay;
	const uint32_t n = rl_min_u32(r->tail - r->next, port->shake.flits);
	const uint32_t at = r->next & r->mask;

	if (n == 0 || rl_unlikely(port->retry.replaying ||
				  at + n > r->mask + 1 ||
				  r->next != r->sent_max || rl_replay_noted(r)))
		return 0;
	if (rl_unlikely(port->p.cfg->witness != 0)) {
		port_witness_out(port, n);
		PORT_COUNT_N(port, tx_poisoned, rl_replay_marks(r, n));
	}
	PORT_COUNT_N(port, tx_flits, n);
	PORT_COUNT(port, tx_frames);
	rl_frame_seal_like(frame, like, n, (uint16_t)r->next, ++port->tx.stamp,
			   (const uint8_t *)(r->sideband + at), port->hw_crc);
	rl_codec_copy(port->p.codec, frame + rl_frame_header_bytes(n),
		      (const uint8_t *const *)r->wire + at, n);
	port_retry_sent_more(port, n);
	return rl_frame_bytes(n);
}

/*
 * Nothing but frames is made between those of a burst: behind one with flits
 * goes another that says the same of all else, if there are flits and nothing
 * is owed.
 */
uint32_t
rl_port_tx_next(struct rl_port *port, uint8_t *frame,
		struct rl_port_burst *burst, uint64_t now_ns)
{
	struct rl_frame_hdr h;
	uint32_t len;

	if (burst->again && !port_owes(port, ~OWE_CORE)) {
		if (!port->retry.replaying)
			tx_fill(port);
		len = tx_again(port, frame, &burst->like);
		if (rl_likely(len != 0))
			return len;
	}
	len = tx_any(port, frame, &h, now_ns);
	burst->again = h.type == RL_FRAME_DATA && port->p.cfg->retry &&
		       port->p.auth == NULL && port->drain.phase == DRAIN_NONE;
	if (burst->again) {
		h.flags = 0;
		rl_frame_like(&burst->like, &h, port->p.mac);
	}
	return len;
}

uint32_t
rl_port_tx_most(const struct rl_port *port, unsigned int *frames)
{
	const struct rl_replay *r = &port->retry.replay;
	const uint32_t n = r->tail - r->next, most = port->shake.flits;

	*frames = UINT_MAX;
	if (port->link.state != RL_LINK_UP || port->queue.mask != 0 ||
	    port_owes(port, OWE_INIT | OWE_ANSWER | OWE_PROBE) ||
	    port->drain.phase != DRAIN_NONE || port->p.auth != NULL)
		return port->p.frame_bytes;
	*frames = n <= most ? 1 : (n + most - 1) / most;
	return rl_frame_bytes(rl_min_u32(n, most));
}

uint32_t
rl_port_tx_frame(struct rl_port *port, uint8_t *frame, uint64_t now_ns)
{
	struct rl_frame_hdr h;

	return tx_any(port, frame, &h, now_ns);
}

/* The same of a link that is open, and not in the dark. */
static uint64_t
deadline_open(const struct rl_port *port, uint64_t now_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	const struct port_tx *tx = &port->tx;
	uint64_t t = port_detect_deadline(port);
	uint16_t limit[RL_VCS];
	bool some;

	if (port_owes(port, OWE_DRAIN))
		return now_ns;
	if (port->link.state == RL_LINK_RETRAIN)
		t = rl_min_u64(t, tx->shake_due_ns);
	else if (port->retry.replay.next == port->retry.replay.tail)
		t = rl_min_u64(t, rl_min_u64(port->retry.due_ns,
					     tx->ask_due_ns));
	else if (!port->retry.replaying) /* a replay holds the timer */
		t = rl_min_u64(t, port->retry.due_ns);
	if (port->rx.ack_owed != 0)
		t = rl_min_u64(t, port->rx.ack_due_ns);
	t = rl_min_u64(t, port->packet.part_due_ns);
	if (port->drain.phase != DRAIN_NONE)
		t = rl_min_u64(t, rl_min_u64(
			rl_deadline(tx->last_ns, cfg->init_interval_ns),
			port_drain_end_ns(port)));
	if (cfg->keepalive_ns != 0)
		t = rl_min_u64(t, rl_deadline(tx->last_ns, cfg->keepalive_ns));
	credits_due(port, port_rx_limits_now(port, limit), now_ns, &some);
	if (some)
		t = rl_min_u64(t, rl_deadline(tx->last_ns, cfg->ack_delay_ns));
	return t;
}

bool
port_tx_rests(const struct rl_port *port, uint64_t now_ns)
{
	uint16_t limit[RL_VCS];
	bool some;

	if (port->p.cfg->keepalive_ns == 0 || port->rx.ack_owed != 0 ||
	    port->retry.due_ns != RL_NEVER || port->tx.ask_due_ns != RL_NEVER)
		return false;
	credits_due(port, port_rx_limits_now(port, limit), now_ns, &some);
	return !some;
}

/* @return keepalives since the last frame */
uint64_t
port_tx_rested(struct rl_port *port, uint64_t now_ns)
{
	const uint64_t step = port->p.cfg->keepalive_ns;
	const uint64_t n = (now_ns - port->tx.last_ns) / step;

	port->tx.last_ns += n * step;
	return n;
}

/* @return INIT frames that were due since the last one, each at its time */
uint64_t
port_tx_called(struct rl_port *port, uint64_t now_ns)
{
	const uint64_t step = port->p.cfg->init_interval_ns;
	uint64_t n;

	if (now_ns <= port->tx.shake_due_ns)
		return 0;
	n = (now_ns - port->tx.shake_due_ns + step - 1) / step;
	port->tx.shake_due_ns += n * step;
	return n;
}

uint64_t
rl_port_deadline(const struct rl_port *port, uint64_t now_ns)
{
	const struct port_link *l = &port->link;

	switch ((enum rl_link_state)l->state) {
	case RL_LINK_OFF:
		return port_owes(port, OWE_CLOSE) ? now_ns : RL_NEVER;
	case RL_LINK_LOOPBACK:
		return now_ns;
	case RL_LINK_INIT:
		return l->phy_up ? port->tx.shake_due_ns : RL_NEVER;
	case RL_LINK_DAMPED:
		if (port_owes(port, OWE_CLOSE))
			return now_ns;
		if (!l->phy_up)
			return RL_NEVER;
		return rl_shared_read(&port->p.shared->wanted) != 0
			       ? now_ns
			       : l->damp_until_ns;
	case RL_LINK_UP:
	case RL_LINK_RETRAIN:
		if (l->phy_up)
			return deadline_open(port, now_ns);
		/* all else is frozen */
		return rl_deadline(l->phy_lost_ns, port->p.cfg->phy_lost_ns);
	}
	return RL_NEVER;
}
