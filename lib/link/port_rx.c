/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receive [LINK-3]: order, FEC, credits.
 *
 * Flits are numbered one by one; a frame says the number of its first. What
 * lies before the expected number is a duplicate: dropped, and acknowledged
 * again, for the sender evidently does not know. What lies after it means a
 * loss: one NAK, then silence until the expected flit arrives good. A frame
 * without flits says the number that the sender would give next, so that a
 * lost tail shows as soon as the link falls idle.
 *
 * What becomes of an accepted flit stands in port_packet.c.
 */

#include <string.h>

#include "port_credits.h"
#include "port_packet.h"
#include "port_train.h"
#include "port_witness.h"

void
port_rx_reset(struct rl_port *port)
{
	struct port_rx *rx = &port->rx;

	rx->expected = 0;
	rx->nak_sent = false;
	rx->ack_owed = 0;
	rx->ack_due_ns = RL_NEVER;
	memcpy(rx->base, rx->taken, sizeof(rx->base));
	memset(rx->own, 0, sizeof(rx->own));
	rx->limit_stale = true;
	rx->sure = 0;
	port_forget(port, OWE_NAK | OWE_ACK | OWE_ECHO);
	port_packet_reset(port);
}

/* One NAK per gap, then silence [LINK-C8]. */
static void
rx_gap(struct rl_port *port, uint32_t dropped)
{
	if (!port->p.cfg->retry)
		return;
	PORT_COUNT_N(port, rx_silent_drop, dropped);
	if (port->rx.nak_sent)
		return;
	PORT_COUNT(port, rx_missing_seq);
	port_detect_gap(port);
	port->rx.nak_sent = true;
	port_owe(port, OWE_NAK);
}

/*
 * Flits that may be taken on @p vc: no more than the peer was told, and none
 * before a packet cut off there has been closed.
 */
static uint32_t
rx_room(struct rl_port *port, unsigned int vc)
{
	const uint32_t room = port_rx_left(port, vc);

	if (rl_unlikely(port->packet.close_mask & 1u << vc)) {
		PORT_COUNT(port, rx_no_buffer);
		return 0;
	}
	if (rl_likely(room != 0))
		return room;
	if (RL_PLANTED(CREDIT_LEAK))
		return 1;
	PORT_COUNT(port, rx_overrun);
	return 0;
}

/*
 * The door: what the wire says of a flit beside it is unpacked here, once, and
 * made safe before anybody trusts it. What no honest peer says is mended or
 * refused, and counted:
 *
 *  - a VC that is not in use: refused; nothing waits, routes or counts there;
 *  - transmit_error on a flit that is no end: only ends bear it, for they were
 *    made to close a packet, and cores cut on it. Taken for a soft error, by
 *    which the destination drops the packet;
 *  - a count of links that is full stays full, lest it begin again at 0.
 *
 * SOP and EOP may stand anywhere (port_packet.c bears all orders), looped and
 * reflected mean nothing but statistics and one misroute less.
 *
 * @return the flit's state
 */
static inline uint64_t
rx_door(struct rl_port *port, uint16_t sideband)
{
	const unsigned int mark = RL_SIDEBAND_MARK(sideband);

	if (rl_unlikely(mark != RL_MARK_OK)) {
		PORT_COUNT(port, rx_poisoned);
		if (mark == RL_MARK_TRANSMIT_ERROR &&
		    !(sideband & RL_SIDEBAND_EOP)) {
			PORT_COUNT(port, rx_mark_error);
			sideband ^= (RL_MARK_TRANSMIT_ERROR ^
				     RL_MARK_SOFT_ERROR)
				    << RL_SIDEBAND_MARK_SHIFT;
		}
	}
	if (rl_likely(sideband >> 9 < RL_HOPS_MAX))
		sideband = (uint16_t)(sideband + (1u << 9));
	return rl_sideband_state(sideband) | RL_SIDEBAND_VC(sideband) << 8;
}

/* A flit refused at the door: it had its number, and its credit returns. */
static void
rx_refuse(struct rl_port *port, struct rl_flit *f, uint16_t sideband)
{
	const unsigned int vc = RL_SIDEBAND_VC(sideband);

	rx_door(port, sideband); /* counts */
	PORT_COUNT(port, rx_vc_error);
	port->rx.taken[vc]++;
	port_rx_spend(port, 1);
	port_rx_free(port, vc, 1);
	rl_flit_put(port->p.cache, f);
}

/*
 * The first of @p n flits, for which there is room, and those after it that
 * join the packet with it. @return how many
 */
static uint32_t
rx_accept_some(struct rl_port *port, struct rl_flit *const f[],
	       const uint8_t *sideband, uint32_t n, uint64_t now_ns)
{
	const uint16_t first = rl_get16(sideband);
	const unsigned int vc = RL_SIDEBAND_VC(first);
	const uint64_t state = rx_door(port, first);
	uint32_t step = 0;

	if (!(first & RL_SIDEBAND_SPECIAL))
		step = port_packet_join(port, f, sideband, n, state, now_ns);
	port->rx.taken[vc] += step + (step == 0);
	port_rx_spend(port, step + (step == 0));
	if (step != 0)
		return step;
	f[0]->state = state;
	f[0]->loop_id = 0;
	port_packet_add(port, f[0], now_ns);
	return 1;
}

/* Whether a packet of one flit has to wait, or to be looked at, on @p vc. */
static bool
rx_single_waits(struct rl_port *port, unsigned int vc)
{
	if (port_packet_busy(port, vc) || port_rx_left(port, vc) == 0)
		return true;
	port_packet_untold(port, vc);
	return false;
}

/*
 * Packets of one flit, as many of the first @p n as are such, good, and have
 * room. @return how many; rx_accept_some() knows what to do with the next
 */
static uint32_t
rx_singles(struct rl_port *port, struct rl_flit *const f[],
	   const uint8_t *sideband, uint32_t n, uint64_t now_ns)
{
	const bool sure = port_packet_calm(port) && port_rx_sure(port, n);
	const uint64_t of_head = port_packet_of_head(port);
	const unsigned int vcs = port->p.cfg->vcs;
	uint32_t *const taken = port->rx.taken;
	struct rl_pktq q = { 0 };
	uint32_t i;

	for (i = 0; i < n; i++) {
		const uint16_t sb = rl_get16(sideband + 2 * i);
		const unsigned int vc = RL_SIDEBAND_VC(sb);

		if ((sb & RL_SIDEBAND_SPECIAL) != RL_SIDEBAND_SINGLE ||
		    vc >= vcs || (!sure && rx_single_waits(port, vc)))
			break;
		taken[vc]++;
		port_packet_single(f[i], sb, of_head, f[i + 1 < n ? i + 1 : i],
				   now_ns);
	}
	if (i == 0)
		return 0;
	port_rx_spend(port, i);
	q.head = f[0];
	q.tail = f[i - 1];
	q.tail->next_pkt = NULL;
	q.flits = q.packets = i;
	rl_pktq_splice(&port->packet.out, &q);
	PORT_COUNT_N(port, rx_packets, i);
	return i;
}

/*
 * Flits of the packet that @p first begins, if it is good, whole, and among the
 * @p most that it may have; else 0.
 */
static inline uint32_t
rx_whole_flits(uint16_t first, const uint8_t *sideband, uint32_t most)
{
	const uint16_t middle = (uint16_t)(first & ~RL_SIDEBAND_SPECIAL);
	uint32_t i = 1;

	if (most < 2)
		return 0;
	if (rl_get16(sideband + 2) == middle)
		i += port_packet_alike(sideband + 2, most - 1);
	return i < most && rl_get16(sideband + 2 * i) ==
				   (middle | RL_SIDEBAND_EOP)
		       ? i + 1
		       : 0;
}

/*
 * A whole packet of several flits, on a VC that waits for none: what comes to
 * the same as rx_accept_some() for its head, its middle and its end.
 * @return its flits; 0: it is not such a one
 */
static uint32_t
rx_whole(struct rl_port *port, struct rl_flit *const f[],
	 const uint8_t *sideband, uint32_t n, uint64_t now_ns)
{
	const uint16_t first = rl_get16(sideband);
	const unsigned int vc = RL_SIDEBAND_VC(first);
	uint64_t state;
	uint32_t flits;

	if (vc >= port->p.cfg->vcs || port_packet_busy(port, vc))
		return 0;
	n = rl_min_u32(n, rl_min_u32(port_rx_left(port, vc),
				     port->p.cfg->max_packet_flits));
	flits = rx_whole_flits(first, sideband, n);
	if (flits == 0)
		return 0;
	port_packet_untold(port, vc);
	port_packet_single(f[0], first, port_packet_of_head(port), NULL,
			   now_ns);
	state = rx_door(port, (uint16_t)(first & ~RL_SIDEBAND_SOP));
	rl_packet_extend(f[0], f + 1, flits - 1, state,
			 state | rl_flit_state(0, 0, RL_FF_EOP));
	port->rx.taken[vc] += flits;
	port_rx_spend(port, flits);
	rl_pktq_push(&port->packet.out, f[0]);
	PORT_COUNT(port, rx_packets);
	return flits;
}

/*
 * Accepts @p n good flits as far as there is room. Those in the middle of a
 * packet join it many at a time.
 *
 * @return how many were taken
 */
static uint32_t
rx_accept(struct rl_port *port, struct rl_flit *const f[],
	  const uint8_t *sideband, uint32_t n, uint64_t now_ns)
{
	uint32_t i = 0;

	while (i < n) {
		const uint16_t first = rl_get16(sideband + 2 * i);
		uint32_t room;

		if ((first & RL_SIDEBAND_SPECIAL) == RL_SIDEBAND_SINGLE) {
			const uint32_t singles = rx_singles(
				port, f + i, sideband + 2 * i, n - i, now_ns);

			i += singles;
			if (singles != 0)
				continue;
		}
		if ((first & RL_SIDEBAND_SPECIAL) == RL_SIDEBAND_SOP) {
			const uint32_t flits = rx_whole(
				port, f + i, sideband + 2 * i, n - i, now_ns);

			i += flits;
			if (flits != 0)
				continue;
		}
		if (rl_unlikely(RL_SIDEBAND_VC(first) >= port->p.cfg->vcs)) {
			rx_refuse(port, f[i++], first);
			continue;
		}
		room = rx_room(port, RL_SIDEBAND_VC(first));
		if (rl_unlikely(room == 0))
			break;
		i += rx_accept_some(port, f + i, sideband + 2 * i,
				    rl_min_u32(n - i, room), now_ns);
	}
	if (i == 0)
		return 0;
	port->rx.expected += i;
	if (port->rx.ack_owed == 0)
		port->rx.ack_due_ns =
			rl_deadline(now_ns, port->p.cfg->ack_delay_ns);
	port->rx.ack_owed += i;
	port->rx.nak_sent = false;
	return i;
}

/* Counts what FEC found; returns the flits before the first bad one. */
static uint32_t
rx_fec(struct rl_port *port, const uint8_t fec[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (fec[i] == RL_FEC_CLEAN)
			continue;
		if (fec[i] == RL_FEC_CORRECTED) {
			PORT_COUNT(port, rx_corrected);
			port_detect_hurt(port, PORT_HURT_CORRECTED, 1);
		} else if (!RL_PLANTED(FEC_IGNORED)) {
			PORT_COUNT(port, rx_bad);
			PORT_COUNT(port, rx_expected_bad);
			port_detect_hurt(port, PORT_HURT_BAD, 1);
			return i;
		}
	}
	return n;
}

/*
 * Takes flits @p at .. @p end - 1 of a train, of which the first has the
 * expected number. Stops at the first that cannot be taken.
 * @return how many were
 */
static uint32_t
rx_take(struct rl_port *port, struct port_train *t, uint32_t at,
	uint32_t end, uint64_t now_ns)
{
	struct rl_flit *f[PORT_TRAIN_FLITS];
	uint8_t fec[PORT_TRAIN_FLITS];
	const uint32_t n = end - at;
	const uint32_t got = rl_flit_get_bulk(port->p.cache, f, n);
	const uint64_t marked = port->c[RL_PC_rx_poisoned];
	uint32_t good = got;

	if (rl_unlikely(got < n))
		PORT_COUNT(port, rx_no_buffer);
	if (rl_unlikely(rl_codec_receive(port->p.codec, t->src + at, f, got,
					 fec) != 0))
		good = rx_fec(port, fec, got);
	if (rl_unlikely(port_witness_looks(port)))
		good = port_witness_in(port, t->src + at, f,
				       t->sideband + 2 * at, good);
	good = rx_accept(port, f, t->sideband + 2 * at, good, now_ns);
	PORT_COUNT_N(port, rx_ok, good);
	PORT_COUNT_N(port, rx_expected_good,
		     good - (port->c[RL_PC_rx_poisoned] - marked));
	for (uint32_t i = good; i < got; i++)
		rl_flit_put(port->p.cache, f[i]);
	if (rl_unlikely(good < n))
		rx_gap(port, n - good);
	return good;
}

/*
 * The same without link retry [LCB-4]: a bad flit is dropped and reported, and
 * with it the packet it belonged to; the next good one is taken.
 */
static void
rx_take_unreliable(struct rl_port *port, struct port_train *t,
		   uint64_t now_ns)
{
	for (uint32_t i = 0; i < t->flits; i++) {
		const unsigned int vc = t->sideband[2 * i] & 7;

		if (rx_take(port, t, i, i + 1, now_ns) != 0)
			continue;
		port->rx.expected++;
		port->rx.taken[vc]++;
		port_rx_spend(port, 1);
		port_rx_free(port, vc, 1);
		port_packet_lost(port, vc, now_ns);
	}
}

/*
 * Without link retry, flits before @p seq are lost for good. Packets are sent
 * one after the other, so whatever is begun here has lost some.
 */
static void
rx_lost(struct rl_port *port, uint32_t seq, uint64_t now_ns)
{
	if (seq == port->rx.expected)
		return;
	PORT_COUNT(port, rx_missing_seq);
	port_detect_gap(port);
	port->rx.expected = seq;
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		port_packet_lost(port, vc, now_ns);
}

/*
 * And their credits return once the sender says how many it has spent. A frame
 * that comes late says less than is known by now.
 */
static void
rx_spent(struct rl_port *port, const struct rl_frame_hdr *h)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		const uint16_t lost =
			(uint16_t)(h->credit[vc] - port->rx.taken[vc] +
				   port->rx.base[vc] +
				   port->rx.own[vc]);

		if ((int16_t)lost <= 0)
			continue; /* said before what has come since was sent */
		if (lost > port->p.cfg->credits_flits) {
			PORT_COUNT(port, rx_credit_error);
			continue; /* more than it can ever have had */
		}
		port->rx.taken[vc] += lost;
		port_rx_spend(port, lost);
		port_rx_free(port, vc, lost);
	}
}

/*
 * A frame of a replay begins one if it goes back, or comes after flits that were
 * new. Two replays count as one if all is lost that the second repeats of the
 * first.
 */
static void
rx_replay(struct rl_port *port, const struct rl_frame_hdr *h, uint32_t seq)
{
	const bool replays = (h->flags & RL_FRF_RETRY) != 0;

	if (replays) {
		PORT_COUNT_N(port, rx_replay, h->nflits);
		PORT_COUNT_N(port, rx_replays,
			     !port->rx.replays ||
				     rl_seq_before(seq, port->rx.replayed));
		port->rx.replayed = seq + h->nflits;
	}
	port->rx.replays = replays;
}

static void
rx_order(struct rl_port *port, uint8_t *frame, const struct rl_frame_hdr *h,
	uint64_t now_ns)
{
	const uint32_t seq =
		rl_seq_widen(port->rx.expected, h->seq, RL_LINK_SEQ_BITS);
	const int32_t ahead = rl_seq_diff(seq, port->rx.expected);
	struct port_train t;
	uint32_t skip = 0;

	port_train_begin(&t);
	port_train_add(&t, frame, h->nflits, h->stamp);
	rx_replay(port, h, seq);
	/* without link retry numbers never go back: the newest frame is right,
	 * though one that was not had said more */
	if (!port->p.cfg->retry &&
	    (ahead >= 0 || h->stamp == port->rx.newest)) {
		rx_lost(port, seq, now_ns);
		rx_take_unreliable(port, &t, now_ns);
		return;
	}
	if (ahead > 0) {
		rx_gap(port, h->nflits);
		if (RL_PLANTED(NAK_EVERY))
			port->rx.expected = seq;
		return;
	}
	if (ahead < 0) {
		skip = rl_min_u32((uint32_t)-ahead, h->nflits);
		PORT_COUNT_N(port, rx_duplicate_seq, skip);
		port_owe(port, OWE_ACK);
	}
	if (skip < h->nflits && port->p.cfg->retry)
		(void)rx_take(port, &t, skip, t.flits, now_ns);
}

bool
port_rx_expected(const struct rl_port *port, const struct rl_frame_hdr *h)
{
	return port->p.cfg->retry && !(h->flags & RL_FRF_RETRY) &&
	       h->seq == (uint16_t)port->rx.expected &&
	       rl_frame_stamp_after(h->stamp, port->rx.data_stamp);
}

void
port_rx_data(struct rl_port *port, uint8_t *frame,
	     const struct rl_frame_hdr *h, uint64_t now_ns)
{
	const uint32_t was = port->rx.expected;

	/*
	 * A sender goes back by no more than its window. So whatever is older
	 * than the last frame whose flits were taken has nothing that is
	 * expected, whichever number it shows: the number of one that was long
	 * under way has come round.
	 */
	if (rl_unlikely(!rl_frame_stamp_after(h->stamp,
					      port->rx.data_stamp)) &&
	    !RL_PLANTED(STALE_EPOCH)) {
		PORT_COUNT_N(port, rx_duplicate_seq, h->nflits);
		return;
	}
	rx_order(port, frame, h, now_ns);
	if (port->rx.expected != was)
		port->rx.data_stamp = h->stamp;
	if (port->p.cfg->switching == RL_CUT_THROUGH)
		port_packet_pass(port);
}

/* The stamp of the frame that flit @p i of a train came in. */
static inline uint64_t
train_stamp(const struct port_train *t, uint32_t i)
{
	uint32_t k = t->frames - 1;

	while (k > 0 && t->end[k - 1] > i)
		k--;
	return t->stamp[k];
}

void
port_rx_train(struct rl_port *port, struct port_train *t, uint64_t now_ns)
{
	uint32_t took;

	if (t->flits == 0)
		return;
	port->rx.replays = false;
	took = rx_take(port, t, 0, t->flits, now_ns);
	if (took != 0)
		port->rx.data_stamp = train_stamp(t, took - 1);
	if (port->p.cfg->switching == RL_CUT_THROUGH)
		port_packet_pass(port);
	port_train_begin(t);
}

void
port_rx_idle(struct rl_port *port, const struct rl_frame_hdr *h,
	     uint64_t now_ns)
{
	const uint32_t seq =
		rl_seq_widen(port->rx.expected, h->seq, RL_LINK_SEQ_BITS);

	if (RL_PLANTED(TAIL_NOT_RETRIED) || RL_PLANTED(ACK_STOPS_TIMER))
		return;
	if (!port->p.cfg->retry)
		rx_lost(port, seq, now_ns);
	else if (!rl_seq_before_eq(seq, port->rx.expected))
		rx_gap(port, 0);
	if (h->flags & RL_FRF_SPENT && !port->p.cfg->retry)
		rx_spent(port, h);
}
