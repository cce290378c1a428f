/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * The receiving half of a flow: which flit is next, and what happens to the
 * others.
 *
 * Flits that come here are intact. A flit's number gives its distance from the
 * expected one, modulo 1024 (2^19 with wide19); its header gives packet and
 * position, which never repeat. The two must agree, and the header resolves the
 * modulus:
 *
 *   (tag, position) ...   the flit is       what happens
 *   before the expected   a duplicate       dropped, acknowledged again, no
 *                                           NAK; also if its number looks
 *                                           current (a modulus late)
 *   equal                 the expected one  accepted, with all flits held
 *                                           behind it
 *   after it              ahead             held; see below
 *
 * The rule for late duplicates is exact: a flit whose number is off by the
 * modulus lies more than half of it back, a packet has at most 255 flits, so its
 * tag is a smaller one. Profiles with an explicit FSN ignore the header, so that their
 * hole shows.
 *
 * With retry, a flit that is ahead is held in a window as large as the
 * sender's. A fabric delivers in order, so a gap is a loss, and a NAK asks for
 * it at once; but after a loopback or a change of paths (ep_late_possible()),
 * or over many paths (ep_spread.c), it may be a detour, and must be old, counted
 * from the flit behind. Each gap is asked for once, and again only if a flit that
 * is held already, or a later answer, shows that the answer was lost.
 *
 * Without retry there are no NAKs: a gap that is gap_skip_ns old is a loss. The
 * numbers are skipped, the packet that lacks them is dropped, and held flits go
 * on. The sender has no window then, so a jump may exceed any window, and even
 * the modulus; the tag shows it, and it is skipped at once.
 */

/** Without retry: more packets lost at once are implausible. */
#define TAGS_LOST_MAX (1 << 24)

/** Position of a flit in its flow, by its header. */
struct place {
	uint32_t tag;
	uint16_t pos;
	bool eop;
};

static struct place
place_of(const struct rl_flit *f)
{
	return (struct place){ rl_flit_tag(f->wire), rl_get16(f->wire + 14),
			       f->wire[7] & 0x80 };
}

/** Compares a flit's position with the expected one, by its header. */
static int
compare(const struct ep_flow *flow, const struct place *p)
{
	const int32_t d = rl_seq_diff(p->tag, flow->rx_tag);

	if (d != 0)
		return d < 0 ? -1 : 1;
	return (int)p->pos - (int)flow->rx_pos;
}

static void
drop(struct rl_ep *ep, struct rl_flit *f, enum rl_ep_counter why)
{
	ep->ctr[why]++;
	rl_flit_put(ep->cache, f);
}

static void
gap_arm(struct rl_ep *ep, struct ep_flow *flow, uint64_t at_ns)
{
	flow->gap_at_ns = rl_min_u64(flow->gap_at_ns, at_ns);
	ep_timer_arm(ep, flow, at_ns);
}

/** The window is empty: return it to the pool. */
static void
win_done(struct rl_ep *ep, struct ep_flow *flow)
{
	RL_DASSERT(flow->held == 0);
	ep_win_give(ep, flow->rx_win);
	flow->rx_win = NULL;
	flow->gap_at_ns = RL_NEVER;
}

/** Takes flit number @p seq out of the window. */
static struct rl_flit *
take_held(struct rl_ep *ep, struct ep_flow *flow, uint32_t seq)
{
	struct rl_flit *f = ep_win_at(flow->rx_win, seq);

	ep_win_clear(flow->rx_win, seq);
	flow->held--;
	ep->rx_held--;
	return f;
}

/** Takes the expected flit, moves on by one, and acknowledges if asked to. */
static void
advance(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f)
{
	const struct place p = place_of(f);

	if (f->wire[7] & RL_FLIT_ASKS_ACK)
		ep_ack_soon(ep, flow);
	flow->expect++;
	flow->rx_tag = p.eop ? p.tag + 1 : p.tag;
	flow->rx_pos = p.eop ? 0 : (uint16_t)(p.pos + 1);
	ep_reasm_flit(ep, flow, f);
}

/**
 * All flits before the expected one have shown their numbers, or need not.
 * Retransmissions come late: more may have been lost behind them.
 */
static void
confirm(const struct rl_ep *ep, struct ep_flow *flow)
{
	const bool asked = flow->nak_hi - flow->expect <= ep->cfg.window_flits;

	flow->shown = flow->expect;
	flow->sure = flow->held == 0 && !asked ? ep->hurt : ep->hurt - 1;
}

/** Takes the flits held behind the expected one. */
static void
drain(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	while (flow->held > 0 && ep_win_bit(flow->rx_win, flow->expect)) {
		struct rl_flit *f = take_held(ep, flow, flow->expect);
		const struct place p = place_of(f);

		if (ep->isn && compare(flow, &p) != 0) {
			drop(ep, f, RL_EPC_rx_inconsistent);
			break;
		}
		advance(ep, flow, f);
		confirm(ep, flow);
		ep_ack_count(ep, flow, 1, now_ns);
	}
	if (flow->held == 0 && flow->rx_win != NULL)
		win_done(ep, flow);
}

static uint32_t
first_held(const struct ep_flow *flow)
{
	return ep_win_find(flow->rx_win, flow->expect, flow->high, true);
}

/** Whether number @p seq, which is not behind, is held in the window. */
static bool
is_held(const struct ep_flow *flow, uint32_t seq)
{
	return flow->held > 0 && rl_seq_before(seq, flow->high) &&
	       ep_win_bit(flow->rx_win, seq);
}

/** Without retry: packets before @p p are lost, or will be late. */
static void
skip_to(struct rl_ep *ep, struct ep_flow *flow, const struct place *p,
	uint32_t seq)
{
	const uint32_t from = flow->rx_tag;

	flow->expect = seq;
	flow->rx_tag = p->tag;
	flow->rx_pos = p->pos;
	flow->lost_hi = p->pos == 0 ? p->tag : p->tag + 1;
	ep_late_skipped(ep, flow, from, flow->lost_hi);
}

/**
 * Without retry: skips the gap before the first held flit. The next gap's age
 * counts from the first flit behind it.
 */
static void
skip_gap(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	const uint32_t to = first_held(flow);
	const struct place p = place_of(ep_win_at(flow->rx_win, to));

	EP_COUNT_N(ep, rx_lost_flits, to - flow->expect);
	if (flow->part != NULL)
		ep_reasm_drop(ep, flow);
	skip_to(ep, flow, &p, to);
	drain(ep, flow, now_ns);
}

/** When the first flit behind a gap arrived; client slowness excluded. */
static uint64_t
first_held_ns(const struct rl_ep *ep, const struct ep_flow *flow)
{
	const uint32_t s = first_held(flow);

	return rl_max_u64(ep_win_at(flow->rx_win, s)->t_ns, ep->paced_ns);
}

/** Without retry: sets when the first gap counts as a loss. */
static void
skip_arm(struct rl_ep *ep, struct ep_flow *flow)
{
	flow->gap_at_ns = RL_NEVER;
	if (flow->held > 0)
		gap_arm(ep, flow, rl_deadline(first_held_ns(ep, flow),
					      ep->cfg.gap_skip_ns));
}

static void
accept(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f, bool shown,
       uint64_t now_ns)
{
	EP_COUNT(ep, rx_ok);
	advance(ep, flow, f);
	if (shown)
		confirm(ep, flow);
	ep_ack_count(ep, flow, 1, now_ns);
	if (rl_likely(flow->held == 0))
		return;
	drain(ep, flow, now_ns);
	if (!ep->cfg.retry)
		skip_arm(ep, flow);
}

void
ep_order_run(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *head,
	     uint64_t now_ns)
{
	const uint16_t n = head->pkt_flits;

	EP_COUNT_N(ep, rx_ok, n);
	flow->expect += n;
	flow->rx_pos = (uint16_t)(flow->rx_pos + n);
	if (ep_reasm_run(ep, flow, head)) {
		flow->rx_tag++;
		flow->rx_pos = 0;
	}
	confirm(ep, flow);
	ep_ack_count(ep, flow, n, now_ns);
}

/** Without retry: a flit beyond any window; all before it is lost. */
static void
jump(struct rl_ep *ep, struct ep_flow *flow, const struct place *p,
     uint32_t seq)
{
	if (flow->part != NULL)
		ep_reasm_drop(ep, flow);
	while (rl_seq_before(seq, flow->expect))
		seq += 1u << ep->seq_bits;
	EP_COUNT_N(ep, rx_lost_flits, seq - flow->expect);
	skip_to(ep, flow, p, seq);
}

static void
duplicate(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f)
{
	if (ep_late_came(ep, flow, rl_flit_tag(f->wire))) {
		drop(ep, f, RL_EPC_rx_too_late);
		return;
	}
	EP_COUNT(ep, rx_duplicate);
	ep_ack_soon(ep, flow);
	if (RL_PLANTED(FLIT_LEAK))
		return;
	if (RL_PLANTED(DUP_DELIVERED)) {
		ep_reasm_flit(ep, flow, f);
		return;
	}
	rl_flit_put(ep->cache, f);
}

/** Numbers up to nak_hi may have arrived long ago: never leave it behind. */
static void
nak_hi_fresh(const struct rl_ep *ep, struct ep_flow *flow)
{
	if (flow->nak_hi - flow->expect > ep->cfg.window_flits)
		flow->nak_hi = flow->expect;
}

/** Asks (again) for everything missing after the usual delay. */
static void
ask_again(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if (ep->cfg.order == RL_ORDER_ENDPOINT)
		return; /* only the sender's probe shows that it was lost */
	flow->nak_hi = flow->expect;
	gap_arm(ep, flow, rl_deadline(now_ns, ep_nak_wait_ns(ep, now_ns)));
}

static void
hold(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f, uint32_t seq,
     uint64_t now_ns)
{
	if (is_held(flow, seq)) {
		drop(ep, f, RL_EPC_rx_duplicate);
		ep_spread_needless(ep, now_ns);
		if (ep->cfg.retry)
			ask_again(ep, flow, now_ns);
		return;
	}
	if (!ep_rx_share(ep, flow)) {
		RL_DASSERT(ep->cfg.retry); /* else see squeeze() */
		drop(ep, f, RL_EPC_rx_overflow);
		return;
	}
	if (flow->held == 0)
		flow->high = flow->expect;
	if (flow->rx_win == NULL)
		flow->rx_win = ep_win_take(ep);
	if (seq - flow->expect > flow->rx_win->mask &&
	    !ep_win_grow(ep, &flow->rx_win, flow->expect, flow->high)) {
		drop(ep, f, RL_EPC_rx_overflow);
		if (flow->held == 0)
			win_done(ep, flow);
		return;
	}
	EP_COUNT(ep, rx_ahead);
	nak_hi_fresh(ep, flow);
	f->t_ns = now_ns;
	ep_win_put(flow->rx_win, seq, f);
	ep_win_set(flow->rx_win, seq);
	flow->sure = ep->hurt - 1;
	flow->held++;
	ep->rx_held++;
	if (!ep->cfg.retry) {
		if (rl_seq_before_eq(flow->high, seq))
			flow->high = seq + 1;
		skip_arm(ep, flow);
		return;
	}
	if (rl_seq_before(seq, flow->nak_hi)) /* answers overtook each other */
		ask_again(ep, flow, now_ns);
	else if (rl_seq_before(flow->high, seq) ||
		 rl_seq_before(flow->nak_hi, seq))
		gap_arm(ep, flow, rl_deadline(now_ns, ep_nak_wait_ns(ep, now_ns)));
	if (rl_seq_before_eq(flow->high, seq))
		flow->high = seq + 1;
}

void
ep_on_gap_timer(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	uint32_t from, hi;

	flow->gap_at_ns = RL_NEVER;
	if (!ep->cfg.retry) {
		while (flow->held > 0 &&
		       first_held_ns(ep, flow) + ep->cfg.gap_skip_ns <= now_ns)
			skip_gap(ep, flow, now_ns);
		skip_arm(ep, flow);
		return;
	}
	nak_hi_fresh(ep, flow);
	from = hi = flow->nak_hi;
	/* go-back-N: one answer brings all later flits along */
	if (from != flow->expect && ep->cfg.retry_mode == RL_RETRY_GBN)
		return;
	while (flow->held > 0 && rl_seq_before(hi, flow->high)) {
		/* gap from hi to the next held flit, which gives its age */
		const uint32_t next = ep_win_find(flow->rx_win, hi, flow->high,
						  true);
		const uint64_t due = rl_deadline(
			ep_win_at(flow->rx_win, next)->t_ns,
			ep_nak_wait_ns(ep, now_ns));

		if (next != hi && due > now_ns) {
			gap_arm(ep, flow, due);
			break;
		}
		hi = ep_win_find(flow->rx_win, next, flow->high, false);
	}
	/* unless the missing flits have arrived meanwhile */
	if (hi == from && (flow->flags & EPF_HINT) &&
	    flow->hint_seq == flow->expect)
		hi = from + 1;
	flow->flags &= ~EPF_HINT;
	if (hi == from)
		return;
	if (!(flow->flags & EPF_NAK_NOW))
		flow->nak_lo = from;
	flow->nak_hi = hi;
	flow->flags |= EPF_NAK_NOW;
	ep_ctrl_now(ep, flow);
}

/**
 * A corrupt flit arrived whose header, if right, is of this flow. Probably it is
 * the expected one, and no later flit may show the gap: ask unless it comes.
 */
void
ep_order_hint(struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if (!ep->cfg.retry || (flow->flags & EPF_HINT))
		return;
	nak_hi_fresh(ep, flow);
	if (flow->nak_hi != flow->expect)
		return;
	flow->flags |= EPF_HINT;
	flow->hint_seq = flow->expect;
	if (flow->held == 0)
		flow->high = flow->expect;
	gap_arm(ep, flow, rl_deadline(now_ns, ep_nak_wait_ns(ep, now_ns)));
}

void
ep_order_sync(struct rl_ep *ep, struct ep_flow *flow, uint32_t expect,
	      uint32_t tag)
{
	if (flow->flags & EPF_RX_SYNCED)
		EP_COUNT_N(ep, rx_lost_flits, expect - flow->expect);
	if (flow->part != NULL)
		ep_reasm_drop(ep, flow);
	while (flow->held > 0)
		rl_flit_put(ep->cache, take_held(ep, flow, first_held(flow)));
	if (flow->rx_win != NULL)
		win_done(ep, flow);
	ep_late_forget(ep, flow);
	ep_place_leave(ep, flow);
	if (!ep->cfg.retry)
		flow->hurt = 0; /* of the life before */
	flow->flags |= EPF_RX_SYNCED;
	flow->expect = flow->shown = expect;
	flow->rx_tag = tag;
	flow->rx_pos = 0;
}

/** Whether number and header agree, and the window has room. */
static bool
fits(const struct rl_ep *ep, const struct ep_flow *flow, const struct place *p,
     uint32_t seq)
{
	const int32_t d = rl_seq_diff(seq, flow->expect);

	return d > 0 && (uint32_t)d < ep->cfg.window_flits &&
	       (!ep->isn || rl_seq_diff(p->tag, flow->rx_tag) <= d);
}

/**
 * Without retry: a flit too far ahead. Skips gaps until it fits, or until
 * nothing is held; then the remaining numbers between are lost.
 */
static void
leap(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f,
     const struct place *p, uint32_t seq, uint64_t now_ns)
{
	while (flow->held > 0 && !fits(ep, flow, p, seq))
		skip_gap(ep, flow, now_ns);
	if (fits(ep, flow, p, seq) && ep->rx_held < ep->cfg.rx_buffer_flits) {
		hold(ep, flow, f, seq, now_ns);
		return;
	}
	if (seq != flow->expect || compare(flow, p) != 0)
		jump(ep, flow, p, seq);
	accept(ep, flow, f, true, now_ns);
}

/**
 * Without retry, and no room to hold more: stop waiting for missing packets.
 * They may still come, and are late then; so tell their sender.
 */
static void
squeeze(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f,
	const struct place *p, uint32_t seq, uint64_t now_ns)
{
	const uint32_t from = flow->rx_tag;

	if (is_held(flow, seq)) {
		drop(ep, f, RL_EPC_rx_duplicate);
		return;
	}
	EP_COUNT(ep, rx_squeezed);
	while (flow->held > 0 && ep->rx_held >= ep->cfg.rx_buffer_flits &&
	       rl_seq_before(first_held(flow), seq))
		skip_gap(ep, flow, now_ns);
	if (!(flow->flags & EPF_LOST_NOW))
		flow->lost_lo = from;
	if (flow->held > 0 && rl_seq_before(seq, first_held(flow))) {
		if (seq != flow->expect || compare(flow, p) != 0)
			jump(ep, flow, p, seq);
		accept(ep, flow, f, true, now_ns);
	} else {
		leap(ep, flow, f, p, seq, now_ns);
	}
	ep_late_told(ep, flow, flow->lost_lo, flow->lost_hi);
	flow->flags |= EPF_LOST_NOW;
	ep_ctrl_now(ep, flow);
}

/**
 * Go-back-N needs no window: flits ahead are dropped, as they will be sent
 * again. One NAK is sent; another only if the numbers go back, which shows that
 * the answer came and again lacked the expected flit.
 */
static void
turn_away(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f,
	  uint32_t seq, uint64_t now_ns)
{
	drop(ep, f, RL_EPC_rx_ahead);
	if (ep->cfg.profile == RL_PROFILE_CXL && flow->sure == ep->hurt &&
	    flow->expect != flow->shown) {
		/*
		 * No corrupt flit could explain this gap. So a flit that hid
		 * its number may have been taken for another: roll back to the
		 * last number seen, as in Figure 5a of the RXL paper. Flits
		 * that hid their numbers are executed twice.
		 */
		EP_COUNT_N(ep, rx_rolled_back, flow->expect - flow->shown);
		flow->expect = flow->shown;
		flow->nak_hi = flow->expect;
	}
	flow->sure = ep->hurt - 1;
	nak_hi_fresh(ep, flow);
	if (flow->nak_hi != flow->expect && rl_seq_before(seq, flow->high))
		flow->nak_hi = flow->expect;
	ep_order_hint(ep, flow, now_ns);
	flow->high = seq + 1;
}

/** Whether so many packets may be lost; else it is of another life. */
static bool
plausible(const struct rl_ep *ep, const struct ep_flow *flow,
	  const struct place *p)
{
	return ep->incarnation == 0 ||
	       rl_seq_diff(p->tag, flow->rx_tag) < TAGS_LOST_MAX;
}

/** @return false if it can't be of this flow at all */
static bool
ahead(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f,
      const struct place *p, uint32_t seq, uint64_t now_ns)
{
	if (ep_client_full(ep, flow))
		ep_turn_back(ep, flow, f);
	else if (!ep->cfg.retry && plausible(ep, flow, p) &&
		 ep->rx_held >= ep->cfg.rx_buffer_flits)
		squeeze(ep, flow, f, p, seq, now_ns);
	else if (fits(ep, flow, p, seq) && ep->cfg.retry &&
		 ep->cfg.retry_mode == RL_RETRY_GBN)
		turn_away(ep, flow, f, seq, now_ns);
	else if (fits(ep, flow, p, seq))
		hold(ep, flow, f, seq, now_ns);
	else if (!ep->cfg.retry && plausible(ep, flow, p))
		leap(ep, flow, f, p, seq, now_ns);
	else {
		drop(ep, f, RL_EPC_rx_inconsistent);
		return false;
	}
	return true;
}

/** A number that was already received, shown (again). */
static void
shown_again(const struct rl_ep *ep, struct ep_flow *flow, uint32_t seq)
{
	if (ep->cfg.profile == RL_PROFILE_CXL && seq == flow->shown)
		flow->shown = seq + 1;
}

bool
ep_order_flit(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f,
	      uint32_t seq, bool shown, uint64_t now_ns)
{
	const struct place p = place_of(f);
	const int32_t d = rl_seq_diff(seq, flow->expect);
	const int side = ep->isn ? compare(flow, &p) : d;

	ep_spread_arrived(ep, flow, 1, f->wire[7] & RL_FLIT_ASKS_ACK);
	if (!shown && flow->sure != ep->hurt) {
		/* something is missing: this one, or another */
		drop(ep, f, RL_EPC_rx_unsure);
		ep_order_hint(ep, flow, now_ns);
	} else if (rl_likely(side == 0 && d == 0)) {
		if (ep_client_full(ep, flow))
			ep_turn_back(ep, flow, f);
		else
			accept(ep, flow, f, shown, now_ns);
	} else if (side < 0) {
		if (d >= 0)
			EP_COUNT(ep, rx_late_alias);
		shown_again(ep, flow, seq);
		ep_spread_needless(ep, now_ns);
		duplicate(ep, flow, f);
		return false;
	} else if (side == 0) {
		drop(ep, f, RL_EPC_rx_inconsistent);
		return false;
	} else if (RL_PLANTED(GAP_ACCEPTED)) {
		accept(ep, flow, f, shown, now_ns);
	} else {
		return ahead(ep, flow, f, &p, seq, now_ns);
	}
	return true;
}
