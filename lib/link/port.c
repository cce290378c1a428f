/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The doors of a port: construction, frames in, timers, what comes from the
 * core and what goes to it, and what others may ask. Each part of the protocol
 * stands in a file of its own (port_priv.h has the picture).
 */

#include <string.h>

#include "port_credits.h"
#include "port_stamp.h"
#include "port_train.h"

/* Frames whose headers are fetched before they are looked at. */
#define RX_AHEAD 4u

#define PORT_STRUCT_BYTES                                                      \
	((sizeof(struct rl_port) + RL_CACHE_LINE - 1) &                        \
	 ~(size_t)(RL_CACHE_LINE - 1))

size_t
rl_port_memsize(const struct rl_link_cfg *cfg)
{
	size_t n = PORT_STRUCT_BYTES + rl_replay_memsize(cfg->window_flits);

	return (n + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1);
}

struct rl_port *
rl_port_init(void *mem, const struct rl_port_params *p)
{
	struct rl_port *port = mem;
	const uint32_t fit = rl_frame_fit(p->frame_bytes -
					  rl_min_u32(p->frame_bytes,
						     port_auth_bytes(p)));

	RL_ASSERT(((uintptr_t)mem & (RL_CACHE_LINE - 1)) == 0);
	RL_ASSERT(p->uid < 1u << 20);
	if (fit == 0)
		return NULL;
	memset(port, 0, sizeof(*port));
	port->p = *p;
	port->frame_flits = p->cfg->flits_per_frame == 0
				    ? fit
				    : rl_min_u32(fit, p->cfg->flits_per_frame);
	port->ack_coalesce = rl_min_u32(p->cfg->ack_coalesce_flits,
					p->cfg->window_flits / 4 + 1);
	port->hw_crc = rl_codec_isa(p->codec) != RL_ISA_SCALAR;
	rl_replay_init(&port->retry.replay, (uint8_t *)mem + PORT_STRUCT_BYTES,
		       p->cfg->window_flits);
	port_state_init(port);
	return port;
}

void
rl_port_left_out(struct rl_port *port, uint64_t ns)
{
	port_rx_left_out(port, ns);
}

void
rl_port_prefetch(const struct rl_port *port)
{
	const uint8_t *at = (const uint8_t *)port;
	const uint8_t *const end = (const uint8_t *)&port->told;

#pragma GCC unroll 32
	for (; at < end; at += RL_CACHE_LINE)
		__builtin_prefetch(at, 1);
}

void
rl_port_prefetch_far(const struct rl_port *port)
{
	const struct rl_replay *r = &port->retry.replay;
	const uint32_t from = r->acked & r->mask, to = r->tail & r->mask;

	__builtin_prefetch(&port->told.told, 1);
	__builtin_prefetch(&port->loop);
	__builtin_prefetch(&port->events);
	__builtin_prefetch(port->p.shared, 1);
	__builtin_prefetch(&port->p.shared->taken, 1);
	__builtin_prefetch(&r->wire[from]);
	__builtin_prefetch(&r->wire[from + 8]);
	__builtin_prefetch(&r->wire[from + 16]);
	__builtin_prefetch(&r->sideband[from]);
	__builtin_prefetch(&r->flits[from]);
	__builtin_prefetch(&r->wire[to], 1);
	__builtin_prefetch(&r->sideband[to], 1);
	__builtin_prefetch(&r->flits[to], 1);
}

void
rl_port_flush(struct rl_port *port)
{
	port_loop_flush(port);
	port_packet_flush(port);
}

/* An INIT frame of another version, of which no more is known; 0: it is none. */
static void
rx_version(struct rl_port *port, uint8_t version, uint64_t now_ns)
{
	const struct rl_frame_init init = { .digest = version };

	if (version != 0)
		port_shake_refuse(port, RL_REFUSED_VERSION, &init, now_ns);
}

static void
rx_count_error(struct rl_port *port, enum rl_frame_error e,
	       const uint8_t *frame, uint32_t len, uint64_t now_ns)
{
	static const enum rl_port_counter counter[RL_FRAME_ERRORS] = {
		[RL_FRAME_TRUNCATED] = RL_PC_rx_truncated,
		[RL_FRAME_ETHERTYPE_ERR] = RL_PC_rx_ethertype_error,
		[RL_FRAME_VERSION_ERR] = RL_PC_rx_version_error,
		[RL_FRAME_COUNT_ERR] = RL_PC_rx_count_error,
		[RL_FRAME_CHECK_ERR] = RL_PC_rx_check_error,
		[RL_FRAME_TYPE_ERR] = RL_PC_rx_type_error,
	};

	port->c[counter[e]]++;
	if (e == RL_FRAME_CHECK_ERR)
		port_detect_bad(port);
	if (e == RL_FRAME_VERSION_ERR && port->link.state == RL_LINK_INIT)
		rx_version(port, rl_frame_init_version(frame, len), now_ns);
}

static bool
rx_epoch_ok(struct rl_port *port, const struct rl_frame_hdr *h)
{
	if (h->tx_epoch == port->shake.rx_epoch &&
	    h->rx_epoch == port->shake.tx_epoch)
		return true;
	PORT_COUNT(port, rx_epoch_error);
	return RL_PLANTED(STALE_EPOCH);
}

/*
 * What every frame of an epoch says, whatever its type. @return false: the
 * link has died of it
 */
static bool
rx_header(struct rl_port *port, const struct rl_frame_hdr *h, uint64_t now_ns)
{
	port_detect_heard(port);
	port_rtt_sample(port, h, now_ns);
	if (!(h->flags & RL_FRF_SPENT))
		port_queue_credits(port, h->credit);
	if (port->p.cfg->retry) {
		bool ok;

		port_act(port, port_retry_ack(port, h->ack, now_ns, &ok),
			 now_ns);
		if (ok && h->flags & RL_FRF_NAK)
			port_act(port, port_retry_nak(port, now_ns), now_ns);
		if (ok && h->flags & RL_FRF_ECHO && h->type <= RL_FRAME_IDLE)
			port_act(port, port_retry_answered(port, now_ns),
				 now_ns);
		if (!port_link_open(port))
			return false; /* the last retrain was one too many */
	}
	if (h->flags & RL_FRF_ACKREQ && !RL_PLANTED(NO_ANSWER))
		port_owe(port, OWE_ACK | OWE_ECHO);
	if (rl_unlikely(h->flags & RL_FRF_DRAIN))
		port_drain_rx(port, h, now_ns);
	return true;
}

static void
rx_control(struct rl_port *port, const struct rl_frame_hdr *h, uint64_t now_ns)
{
	switch (h->type) {
	case RL_FRAME_IDLE:
		port_rx_idle(port, h, now_ns);
		break;
	case RL_FRAME_RETRAIN:
		if (h->bytes < rl_frame_bytes(port->shake.flits)) {
			PORT_COUNT(port, rx_truncated);
			break;
		}
		PORT_COUNT(port, rx_retrain);
		if (h->flags & RL_FRF_ECHO)
			port_act(port, PORT_VERDICT(PORT_ANSWERED), now_ns);
		else
			port_owe(port, OWE_ANSWER);
		break;
	case RL_FRAME_CLOSE:
		PORT_COUNT(port, rx_close);
		port_act(port, PORT_DEAD_BY(RL_DET_PEER), now_ns);
		break;
	}
}

static void
rx_init(struct rl_port *port, uint8_t *frame, uint32_t len,
	const struct rl_frame_hdr *h, uint64_t now_ns)
{
	struct rl_frame_init init;

	rl_frame_init_get(frame, &init);
	if (port->p.auth != NULL && !port_auth_ok(port, frame, len, h)) {
		/* the key of another place is another */
		if (port->link.state == RL_LINK_INIT)
			port_shake_refuse(port, init.keyed ? RL_REFUSED_KEY
							   : RL_REFUSED_NO_KEY,
					  &init, now_ns);
		return;
	}
	port_rx_init(port, h, &init, now_ns);
}

/*
 * Whether all that a frame says of the whole link is known: nothing but its
 * flits, its number and its stamp are news.
 */
static inline bool
rx_known(const struct rl_port *port, const struct rl_frame_hdr *h)
{
	/* one by one: they were stored so, and loaded at once they would wait */
	const unsigned int other = (h->type ^ RL_FRAME_DATA) | h->flags;

	return other == 0 && port->p.auth == NULL && port->p.cfg->retry &&
	       port_link_open(port) &&
	       h->tx_epoch == port->shake.rx_epoch &&
	       h->rx_epoch == port->shake.tx_epoch &&
	       h->ack == (uint16_t)port->retry.replay.acked &&
	       port->retry.wrong == 0 &&
	       port_lanes_same(h->credit, port->queue.limit);
}

/*
 * Most frames: flits that come next, behind @p before others that have not been
 * taken yet, and nothing else that was not known. For these what follows comes
 * to no more than rx_next() does, and taking the flits.
 */
static inline bool
rx_plain(const struct rl_port *port, const struct rl_frame_hdr *h,
	 uint32_t before, uint64_t now_ns)
{
	return rx_known(port, h) &&
	       h->seq == (uint16_t)(port->rx.expected + before) &&
	       rl_frame_stamp_after(h->stamp, port->rx.newest) &&
	       port_rx_plausible(port, h->stamp, now_ns);
}

/* A frame of the train's, whose header is in order and plain. */
static inline void
rx_next(struct rl_port *port, struct port_train *train, const uint8_t *frame,
	const struct rl_frame_hdr *h, uint64_t now_ns)
{
	port_detect_heard(port);
	port_rtt_sample(port, h, now_ns);
	(void)port_rx_news(port, h->stamp);
	port_train_add(train, frame, h->nflits, h->stamp);
}

/*
 * The same for a frame that says what that at @p before said, which was plain.
 * @return whether it is one
 */
static inline bool
rx_like(struct rl_port *port, struct port_train *train, const uint8_t *before,
	const uint8_t *frame, uint32_t len, uint64_t now_ns)
{
	uint64_t stamp;
	uint16_t seq;
	const uint32_t nflits = rl_frame_open_like(frame, len, before, &seq,
						   &stamp, port->hw_crc);

	if (nflits == 0 || !port_train_room(train, nflits) ||
	    seq != (uint16_t)(port->rx.expected + train->flits) ||
	    !rl_frame_stamp_after(stamp, port->rx.newest) ||
	    !port_rx_plausible(port, stamp, now_ns))
		return false;
	port_rtt_again(port, stamp, now_ns);
	(void)port_rx_news(port, stamp);
	port_train_add(train, frame, nflits, stamp);
	return true;
}

/* Any other frame whose header is in order. @p train is empty, or begins here. */
static void
rx_frame(struct rl_port *port, struct port_train *train, uint8_t *frame,
	 uint32_t len, const struct rl_frame_hdr *h, uint64_t now_ns)
{
	if (rl_unlikely(h->type == RL_FRAME_INIT)) {
		rx_init(port, frame, len, h, now_ns);
		return;
	}
	if (!port_link_open(port)) {
		PORT_COUNT(port, rx_state_drop);
		port_rx_closed(port, h);
		return;
	}
	if (!rx_epoch_ok(port, h))
		return;
	if (port->p.auth != NULL && !port_auth_ok(port, frame, len, h))
		return;
	if (rl_unlikely(!port_rx_plausible(port, h->stamp, now_ns))) {
		PORT_COUNT(port, rx_stamp_error);
		return;
	}
	if (rl_likely(port_rx_news(port, h->stamp))) {
		if (!rx_header(port, h, now_ns))
			return;
	} else {
		PORT_COUNT(port, rx_stale);
		if (h->type != RL_FRAME_DATA)
			return;
	}
	if (rl_unlikely(h->type != RL_FRAME_DATA))
		rx_control(port, h, now_ns);
	else if (rl_likely(port_rx_expected(port, h)))
		port_train_add(train, frame, h->nflits, h->stamp);
	else
		port_rx_data(port, frame, h, now_ns);
}

void
rl_port_rx_burst(struct rl_port *port, uint8_t *const frame[],
		 const uint32_t len[], unsigned int n, uint64_t now_ns)
{
	const uint8_t *plain = NULL; /* the newest of the train's frames */
	struct port_train train;

	port_train_begin(&train);
	for (unsigned int i = 1; i < n && i < RX_AHEAD; i++)
		__builtin_prefetch(frame[i]);
	for (unsigned int i = 0; i < n; i++) {
		struct rl_frame_hdr h;
		enum rl_frame_error e;

		if (i + RX_AHEAD < n)
			__builtin_prefetch(frame[i + RX_AHEAD]);
		PORT_COUNT(port, rx_frames);
		if (plain != NULL && rx_like(port, &train, plain, frame[i],
					     len[i], now_ns)) {
			plain = frame[i];
			continue;
		}
		plain = NULL;
		e = rl_frame_open(frame[i], len[i], &h, port->hw_crc);
		if (e == RL_FRAME_OK && !port_train_room(&train, h.nflits))
			port_rx_train(port, &train, now_ns);
		if (rl_likely(e == RL_FRAME_OK &&
			      rx_plain(port, &h, train.flits, now_ns))) {
			rx_next(port, &train, frame[i], &h, now_ns);
			plain = frame[i];
			continue;
		}
		/* what came before it is taken before it */
		port_rx_train(port, &train, now_ns);
		if (rl_unlikely(e != RL_FRAME_OK)) {
			rx_count_error(port, e, frame[i], len[i], now_ns);
			continue;
		}
		rx_frame(port, &train, frame[i], len[i], &h, now_ns);
		if (i + 1 < n && train.flits != 0 && rx_known(port, &h))
			plain = frame[i];
	}
	port_rx_train(port, &train, now_ns);
}

void
rl_port_rx_frame(struct rl_port *port, uint8_t *frame, uint32_t len,
		 uint64_t now_ns)
{
	rl_port_rx_burst(port, &frame, &len, 1, now_ns);
}

void
rl_port_tick(struct rl_port *port, uint64_t now_ns)
{
	port_rx_look(port);
	port_state_tick(port, now_ns);
	port_packet_tick(port, now_ns);
	port_act(port, port_retry_tick(port, now_ns), now_ns);
}

void
rl_port_submit(struct rl_port *port, struct rl_flit *pkt,
	       RL_UNUSED uint64_t now_ns)
{
	switch (rl_pipe_is_mark(pkt)) {
	case RL_MARK_LOOP_FENCE:
		if (port->drain.phase != DRAIN_NONE && port_link_open(port))
			port_drain_fence(port);
		else
			port_loop_fence(port);
		return;
	case RL_MARK_FENCE:
		port_queue_want_fence(port, port_link_open(port));
		return;
	case RL_MARK_NONE:
		break;
	case RL_MARK_LINK_UP:
	case RL_MARK_LOOP_BEGIN:
	case RL_MARK_LOOP_END:
	case RL_MARK_FENCE_DONE:
	case RL_MARK_LINK_DRAIN:
		RL_ASSERT(false);
	}
	port_queue_push(port, pkt);
}

/* What of its debts to the core a port may pay now, one at a time. */
static enum rl_pipe_mark
loop_debt(struct rl_port *port)
{
	if (port_pay(port, OWE_LINK_UP))
		return RL_MARK_LINK_UP;
	if (port_pay(port, OWE_LINK_DRAIN))
		return RL_MARK_LINK_DRAIN;
	/* before the answer to a fence: what it followed comes back */
	if (port_pay(port, OWE_LOOP_BEGIN))
		return RL_MARK_LOOP_BEGIN;
	if (port_pay(port, OWE_FENCE_DONE))
		return RL_MARK_FENCE_DONE;
	return RL_MARK_NONE;
}

struct rl_flit *
rl_port_loop(struct rl_port *port, uint64_t now_ns)
{
	struct rl_flit *pkt;
	bool end = false;

	if (port_owes(port, OWE_CORE))
		return rl_pipe_mark(loop_debt(port));
	if (rl_likely(port->link.state != RL_LINK_LOOPBACK))
		return NULL;
	pkt = port_loop_next(port, &end, now_ns);
	if (!end)
		return pkt;
	port_drained(port, now_ns);
	return rl_pipe_mark(RL_MARK_LOOP_END);
}

struct rl_pktq *
rl_port_rx_out(struct rl_port *port)
{
	return &port->packet.out;
}

const uint64_t *
rl_port_counters(const struct rl_port *port)
{
	return port->c;
}

enum rl_link_state
rl_port_state(const struct rl_port *port)
{
	return atomic_load_explicit(&port->link.state, memory_order_relaxed);
}

void
rl_port_info(const struct rl_port *port, struct rl_port_info *info)
{
	uint32_t queued = 0;

	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		queued += port->queue.q[vc].flits;
		info->credits[vc] =
			(uint16_t)(port->queue.limit[vc] - port->queue.consumed[vc]);
		info->consumed[vc] = port->queue.consumed[vc];
		info->begun[vc] = port->queue.begun[vc] ? port->queue.left[vc] : 0;
		info->granted[vc] = port_rx_limit(port, vc);
		info->buffered[vc] = port_rx_held(port, vc);
	}
	info->state = port->link.state;
	info->events_lost = port->events.lost;
	info->last_detector = port->link.detector;
	info->refused = port->shake.refused;
	info->tx_epoch = port->shake.tx_epoch;
	info->rx_epoch = port->shake.rx_epoch;
	info->window = port->retry.replay.window;
	info->held_flits = port->retry.replay.tail - port->retry.replay.base;
	info->outstanding_flits = rl_replay_outstanding(&port->retry.replay);
	info->reserved_flits = port->retry.replay.reserved;
	info->queued_flits = queued;
	info->flits_per_frame = port->shake.flits;
	info->srtt_ns = port->rtt.srtt_ns;
	info->replay_timer_ns = port->rtt.timer_ns;
	info->flaps = port->link.flaps;
	info->degraded = port->detect.degraded && port_link_open(port);
	info->corrected_percent = port_detect_share(port, PORT_HURT_CORRECTED);
	info->uncorrectable_percent = port_detect_share(port, PORT_HURT_BAD);
	info->replay_percent = port_detect_share(port, PORT_HURT_LOST);
	info->replay_base = port->retry.replay.base;
	info->replay_acked = port->retry.replay.acked;
	info->replay_next = port->retry.replay.next;
	info->replay_tail = port->retry.replay.tail;
}

void
rl_port_credits(const struct rl_port *port, struct rl_port_credits *c)
{
	c->state = port->link.state;
	c->tx_epoch = port->shake.tx_epoch;
	c->rx_epoch = port->shake.rx_epoch;
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		c->consumed[vc] = port->queue.consumed[vc];
		c->begun[vc] = port->queue.begun[vc] ? port->queue.left[vc] : 0;
		c->granted[vc] = port_rx_limit(port, vc);
		c->buffered[vc] = port_rx_held(port, vc);
		c->own[vc] = port->rx.own[vc];
	}
}

bool
rl_port_idle(const struct rl_port *port)
{
	return rl_port_flits(port) == 0 && port->link.state != RL_LINK_LOOPBACK;
}

/* Whether the peer has heard all that a keepalive says. */
static bool
peer_knows(const struct rl_port *port, const struct rl_port *peer)
{
	for (unsigned int vc = 0; vc < port->p.cfg->vcs; vc++)
		if (peer->queue.limit[vc] != port_rx_limit(port, vc))
			return false;
	return peer->link.state == RL_LINK_UP &&
	       peer->shake.rx_epoch == port->shake.tx_epoch &&
	       (uint16_t)peer->rx.expected ==
		       (uint16_t)port->retry.replay.next;
}

bool
rl_port_rests(const struct rl_port *port, const struct rl_port *peer,
	      uint64_t now_ns)
{
	return port->link.state == RL_LINK_UP && port->link.phy_up &&
	       port->owed == 0 && port->drain.phase == DRAIN_NONE &&
	       port_packet_rests(port) &&
	       port->events.head == port->events.tail && rl_port_idle(port) &&
	       !port->p.cfg->slow_wire && port_detect_rests(port) &&
	       port_tx_rests(port, now_ns) && peer_knows(port, peer);
}

bool
rl_port_steady(const struct rl_port *port, uint64_t frame_ns)
{
	return port->link.state == RL_LINK_UP && port->link.phy_up &&
	       port->drain.phase == DRAIN_NONE && port_detect_rests(port) &&
	       port_detect_hears(port, frame_ns) &&
	       port_retry_heeded(port, frame_ns);
}

bool
rl_port_calls(const struct rl_port *port)
{
	return port->link.state == RL_LINK_INIT && port->link.phy_up &&
	       port->owed == 0 && port->packet.close_mask == 0 &&
	       port->events.head == port->events.tail;
}

void
rl_port_rested(struct rl_port *port, uint64_t now_ns)
{
	uint64_t n;

	if (port->link.state == RL_LINK_INIT) {
		n = port_tx_called(port, now_ns);
		PORT_COUNT_N(port, tx_frames, n);
		PORT_COUNT_N(port, tx_init, n);
		return;
	}
	n = port_tx_rested(port, now_ns);
	port_detect_rested(port, now_ns);
	PORT_COUNT_N(port, tx_frames, n);
	PORT_COUNT_N(port, tx_idle, n);
	PORT_COUNT_N(port, rx_frames, n);
}

uint32_t
rl_port_flits(const struct rl_port *port)
{
	uint32_t n = port->retry.replay.tail - port->retry.replay.base +
		     port->loop.q.flits + port->packet.out.flits;

	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		n += port->queue.q[vc].flits;
		if (port->packet.part[vc] != NULL)
			n += port->packet.part[vc]->pkt_flits;
		if (port->loop.open[vc] != NULL)
			n += port->loop.open[vc]->pkt_flits;
	}
	return n;
}

