/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Acknowledgements, credits and the replay timer [LINK-2, LINK-3].
 *
 * Replay is go-back-N: `next` moves back to `acked`, and everything is sent
 * again, in fresh frames, before anything new. The bodies in the buffer never
 * change.
 *
 * A late ACK alone causes no replay. When the timer expires, the next frame asks
 * what has come (RL_FRF_ACKREQ), and only what the peer lacks in its answer
 * (RL_FRF_ECHO) is sent again: frames do not overtake each other, so that is
 * lost. If the tail is lost, the number of the asking frame shows the gap, and the
 * peer sends a NAK.
 */

#include <string.h>

#include "port_queue.h"
#include "port_retry.h"
#include "rl_witness.h"

void
port_retry_reset(struct rl_port *port)
{
	struct port_retry *t = &port->retry;

	rl_replay_reset(&t->replay);
	memset(t->done, 0, sizeof(t->done));
	t->replaying = false;
	t->nak_seen = false;
	t->wrong = 0;
	t->replays = 0;
	t->asks = 0;
	t->due_ns = RL_NEVER;
}

/* Whether a flit is wrong beyond FEC, or in a way that the peer's LCRC sees:
   that looks only at flits without a mark. */
static bool
is_wrong(const struct rl_port *port, uint8_t *wire, enum rl_mark mark)
{
	const uint8_t *const flit = wire;
	uint8_t says;

	rl_codec_fec_check(port->p.codec, &flit, 1, &says);
	if (says == RL_FEC_BAD || !port->p.cfg->lcrc || mark != RL_MARK_OK)
		return says == RL_FEC_BAD;
	rl_codec_witness(port->p.codec, &wire, 1, &says);
	return says == RL_WITNESS_ALTERED;
}

/*
 * A flit that this device corrupted beyond FEC must be marked, and gets a good
 * FEC, so that no link retries what cannot be repaired; its destination drops it
 * [LCB-2]. Its CRC stays wrong. @return whether it was corrupted
 */
static bool
soft_error(struct rl_port *port, struct rl_flit *f, enum rl_mark mark)
{
	if (!is_wrong(port, f->wire, mark))
		return false;
	PORT_COUNT(port, tx_altered);
	PORT_COUNT(port, tx_soft_error);
	rl_codec_fec_encode(port->p.codec, f->wire);
	return true;
}

void
port_retry_mark(struct rl_port *port, uint32_t seq)
{
	struct rl_replay *r = &port->retry.replay;

	PORT_COUNT(port, tx_soft_error);
	rl_codec_fec_encode(port->p.codec, rl_replay_at(r, seq)->wire);
	rl_replay_set_mark(r, seq, RL_MARK_SOFT_ERROR);
}

/*
 * The peer lacks a flit: check whether this device corrupted it, if that is not
 * checked before each transmission. This link, and any other that the flit is
 * looped out to, would refuse a bad FEC for ever. Only here, and by the witness, is a
 * flit in a replay buffer written to. It is the first flit that the peer lacks, so one check is
 * enough, however many NAKs come.
 */
static void
retry_soft_error(struct rl_port *port)
{
	struct rl_replay *r = &port->retry.replay;
	const enum rl_mark mark = rl_replay_mark(r, r->acked);

	if (rl_seq_before(r->acked, r->sent_max) &&
	    soft_error(port, rl_replay_at(r, r->acked), mark) &&
	    mark == RL_MARK_OK)
		rl_replay_set_mark(r, r->acked, RL_MARK_SOFT_ERROR);
}

void
port_retry_push(struct rl_port *port, struct rl_flit *head,
		const struct rl_flit *follower)
{
	if (rl_unlikely(port->p.cfg->soft_error_check)) {
		rl_packet_open(head);
		for (struct rl_flit *f = head; f != NULL; f = f->next)
			if (soft_error(port, f, f->mark) &&
			    f->mark == RL_MARK_OK)
				f->mark = RL_MARK_SOFT_ERROR;
	}
	rl_replay_push(&port->retry.replay, head, follower);
}

void
port_retry_reserve(struct rl_port *port, int32_t n)
{
	port->retry.replay.reserved += (uint32_t)n;
}

static void
retry_arm(struct rl_port *port, uint64_t now_ns)
{
	struct port_retry *t = &port->retry;

	t->asks = 0;
	/* what is numbered but was never sent cannot be late */
	t->due_ns = RL_NEVER;
	if (rl_seq_before(t->replay.acked, t->replay.sent_max))
		t->due_ns = rl_deadline(now_ns, port->rtt.timer_ns);
}

void
port_retry_again(struct rl_port *port, bool answered, uint64_t now_ns)
{
	struct port_retry *t = &port->retry;

	if (answered)
		t->replays = 0;
	rl_replay_rewind(&t->replay);
	t->replaying = t->replay.next != t->replay.tail;
	retry_arm(port, now_ns);
}

void
port_retry_freeze(struct rl_port *port)
{
	port->retry.due_ns = RL_NEVER;
}

/*
 * Starts a replay, or reports that replays led nowhere. Replays add up only while
 * the peer acknowledges nothing.
 */
static struct port_verdict
retry_replay(struct rl_port *port, uint64_t now_ns)
{
	const uint32_t limit = port->p.cfg->replay_limit;
	struct port_retry *t = &port->retry;

	if (limit != 255 && t->replays >= limit)
		return PORT_VERDICT(PORT_STUCK);
	PORT_COUNT(port, tx_replays);
	port_detect_hurt(port, PORT_HURT_LOST, 1);
	t->replays++;
	t->asks = 0;
	retry_soft_error(port);
	rl_replay_rewind(&t->replay);
	t->replaying = true;
	t->due_ns = rl_deadline(now_ns, port->rtt.timer_ns);
	if (RL_PLANTED(CREDIT_DOUBLE))
		port_queue_charge(port, rl_replay_outstanding(&t->replay));
	return PORT_VERDICT(PORT_NOTHING);
}

/* An ACK takes a frame's time each way, and as long as the peer may put it off;
   that must come before the last of the replays that lead nowhere. */
bool
port_retry_heeded(const struct rl_port *port, uint64_t frame_ns)
{
	const struct rl_link_cfg *cfg = port->p.cfg;
	const uint64_t timer_ns = cfg->replay_timer_ns != 0
					  ? cfg->replay_timer_ns
					  : cfg->replay_timer_min_ns;

	return port->retry.replays == 0 && port->retry.asks == 0 &&
	       (cfg->replay_limit == 255 ||
		2 * (frame_ns + cfg->ack_delay_ns) <
			cfg->replay_limit * timer_ns);
}

/* Forward progress: the only thing that restarts the timer. */
static void
retry_progress(struct rl_port *port, uint64_t now_ns)
{
	struct port_retry *t = &port->retry;

	t->replays = 0;
	if (t->replay.next == t->replay.tail)
		t->replaying = false;
	retry_arm(port, now_ns);
	if (RL_PLANTED(ACK_STOPS_TIMER))
		t->due_ns = RL_NEVER;
}

/*
 * The newest frame of a peer cannot acknowledge what was never sent, nor less than
 * before. If it does so repeatedly, the two ends count differently, and only a new
 * epoch helps.
 */
#define ACKS_WRONG_MAX 8

struct port_verdict
port_retry_ack(struct rl_port *port, uint16_t wire, uint64_t now_ns, bool *ok)
{
	struct rl_replay *r = &port->retry.replay;
	uint32_t ack;

	*ok = true;
	if (wire == (uint16_t)r->acked) { /* nothing new */
		port->retry.wrong = 0;
		return PORT_VERDICT(PORT_NOTHING);
	}
	ack = rl_seq_widen(r->acked, wire, RL_LINK_SEQ_BITS);
	if (rl_seq_before(ack, r->acked) || rl_seq_before(r->sent_max, ack)) {
		PORT_COUNT(port, rx_ack_seq_error);
		if (!RL_PLANTED(STALE_ACK)) {
			*ok = false;
			return ++port->retry.wrong >= ACKS_WRONG_MAX
				       ? PORT_DEAD_BY(RL_DET_PEER)
				       : PORT_VERDICT(PORT_NOTHING);
		}
		ack = r->sent_max;
	}
	port->retry.wrong = 0;
	PORT_COUNT(port, rx_ack);
	rl_replay_ack(r, ack, port->p.cache, port->retry.done);
	retry_progress(port, now_ns);
	return PORT_VERDICT(PORT_PROGRESS);
}

/*
 * A receiver sends one NAK for a flit, and no other until that flit has come. A
 * second one is a copy, or the peer is faulty: the timer handles both.
 */
struct port_verdict
port_retry_nak(struct rl_port *port, uint64_t now_ns)
{
	struct port_retry *t = &port->retry;

	PORT_COUNT(port, rx_nak);
	if (port->link.state != RL_LINK_UP ||
	    rl_replay_outstanding(&t->replay) == 0)
		return PORT_VERDICT(PORT_NOTHING);
	if (t->nak_seen && t->nak_at == t->replay.acked) {
		PORT_COUNT(port, rx_nak_repeat);
		return PORT_VERDICT(PORT_NOTHING);
	}
	t->nak_seen = true;
	t->nak_at = t->replay.acked;
	return retry_replay(port, now_ns);
}

bool
port_retry_ask_due(const struct rl_port *port, uint64_t now_ns)
{
	const struct port_retry *t = &port->retry;

	if (rl_likely(now_ns < t->due_ns) || RL_PLANTED(TAIL_NOT_RETRIED))
		return false;
	/* held while a replay is still going out */
	return port->link.state == RL_LINK_UP && port->link.phy_up &&
	       !(t->replaying && t->replay.next != t->replay.tail) &&
	       rl_replay_outstanding(&t->replay) != 0;
}

#define ASK_SLOW_NS (10 * RL_NS_PER_MS)

/*
 * The interval doubles from one timer up to the longest round trip: a single late
 * frame may have made that long, and an ask costs no more than a frame. On slow
 * wires late frames are common, and an ill wire loses asks and answers, too. There
 * the interval grows no further than ASK_SLOW_NS, so that the link is found ill.
 */
static uint64_t
ask_interval(const struct rl_port *port)
{
	const uint64_t timer_ns = port->rtt.timer_ns;
	const uint32_t asks = rl_min_u32(port->retry.asks, 16);
	uint64_t most_ns = port_rtt_longest(port);

	if (port->p.cfg->slow_wire)
		most_ns = rl_min_u64(most_ns, ASK_SLOW_NS);
	return rl_max_u64(timer_ns, rl_min_u64(most_ns, timer_ns << asks));
}

void
port_retry_asked(struct rl_port *port, uint64_t now_ns)
{
	struct port_retry *t = &port->retry;

	PORT_COUNT(port, tx_ask);
	if (t->asks++ == 0)
		t->asked_ns = now_ns;
	t->due_ns = rl_deadline(now_ns, ask_interval(port));
}

struct port_verdict
port_retry_answered(struct rl_port *port, uint64_t now_ns)
{
	struct port_retry *t = &port->retry;

	/* no progress since the ask, or asks would be 0: the peer lacks what was
	   sent before it. Unless the frame answers an earlier ask. */
	if (t->asks == 0 || port->rtt.seen_ns < t->asked_ns ||
	    port->link.state != RL_LINK_UP)
		return PORT_VERDICT(PORT_NOTHING);
	t->asks = 0;
	PORT_COUNT(port, tx_replay_timeout);
	return retry_replay(port, now_ns);
}

/* STUCK only after the longest round trip: a late answer is an answer. */
struct port_verdict
port_retry_tick(struct rl_port *port, uint64_t now_ns)
{
	const uint32_t limit = port->p.cfg->replay_limit;

	if (rl_likely(now_ns < port->retry.due_ns) || limit == 255 ||
	    port->retry.asks < limit || !port_retry_ask_due(port, now_ns) ||
	    now_ns - port->retry.asked_ns < limit * port_rtt_longest(port))
		return PORT_VERDICT(PORT_NOTHING);
	port->retry.asks = 0;
	return PORT_VERDICT(PORT_STUCK);
}

void
port_retry_sent(struct rl_port *port, uint32_t n, uint64_t now_ns)
{
	struct port_retry *t = &port->retry;
	const uint32_t again =
		rl_min_u32(t->replay.sent_max - t->replay.next, n);

	rl_replay_sent(&t->replay, n);
	if (!port->p.cfg->retry) /* an RXL hop keeps nothing [LCB-4] */
		rl_replay_ack(&t->replay, t->replay.next, port->p.cache,
			      t->done);
	else if (again != 0 || t->due_ns == RL_NEVER)
		t->due_ns = rl_deadline(now_ns, port->rtt.timer_ns);
}

struct rl_replay_drained
port_retry_drain(struct rl_port *port, struct rl_pktq *out,
		 struct rl_flit *open[RL_VCS])
{
	return rl_replay_drain(&port->retry.replay,
			       port->p.cfg->loopback == RL_LOOPBACK_UNACKED,
			       out, open, port->p.cache);
}
