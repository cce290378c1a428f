/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_congest.h"

/*
 * Output of an endpoint. Flows with data take turns, one link-level packet
 * each, as far as their service level has room: retransmissions first, then new
 * packets. Then come flows that owe a stand-alone flit and found no data flit
 * to carry it. All flits are encoded in bursts, across flows.
 */

/**
 * Flit number @p seq, ready for the wire except for its encoding: with retry a
 * copy, which the encoder fills from the retry buffer.
 */
static struct rl_flit *
take_copy(struct rl_ep *ep, const struct ep_flow *flow, uint32_t seq,
	  uint8_t sl)
{
	struct rl_flit *own = ep_win_at(flow->tx_win, seq);
	struct rl_flit *f = own;

	if (ep->cfg.retry) {
		f = rl_flit_get(ep->cache);
		RL_ASSERT(f != NULL);
	}
	own->wire[6] = (uint8_t)(sl | flow->cos << 4);
	ep_enc_add(ep, own->wire, f->wire, ep_profile_number(ep, seq));
	return f;
}

/**
 * Appends numbers from+1 .. from+n-1 to the packet of @p head, as runs if they
 * are of its middle and have @p state.
 */
static void
append_run(struct rl_ep *ep, const struct ep_flow *flow, uint32_t from,
	   uint32_t n, struct rl_flit *head, uint64_t state, uint8_t sl)
{
	struct rl_flit *f[RL_PACKET_FLITS_MAX];

	for (uint32_t i = 1; i < n; i++)
		f[i - 1] = take_copy(ep, flow, from + i, sl);
	rl_packet_extend(head, f, n - 1, state,
			 state | rl_flit_state(0, 0, RL_FF_EOP));
}

/**
 * Sends numbers from .. from+n-1, all of one client's packet, as a link-level
 * packet.
 */
static void
emit_run(struct rl_ep *ep, struct ep_flow *flow, uint32_t from, uint32_t n,
	 bool again, struct rl_pktq *out, uint64_t now_ns)
{
	const struct rl_flit *own = ep_win_at(flow->tx_win, from);
	const uint8_t class = rl_flit_class(own->wire);
	const uint8_t sl = ep_sl(ep, flow->peer, flow->cos);
	const uint8_t ends = n == 1 ? RL_FF_SOP | RL_FF_EOP : RL_FF_SOP;
	const uint8_t way = ep_spread_flags(ep, flow, now_ns);
	struct rl_flit *head;

	ep_profile_stamp(ep, flow, from, n, again);
	head = take_copy(ep, flow, from, sl);
	rl_packet_start(head);
	ep_fill_meta(ep, head, flow->peer, rl_flit_state(sl, class, ends | way),
		     now_ns);
	if (n > 1)
		append_run(ep, flow, from, n, head, rl_flit_state(sl, class, 0),
			   sl);
	rl_pktq_push(out, head);
}

/**
 * Retransmits neighbouring flits of one client's packet, so that no switch sees
 * a longer packet than it is made for.
 */
static uint32_t
emit_again(struct rl_ep *ep, struct ep_flow *flow, struct rl_pktq *out,
	   uint32_t budget, uint64_t now_ns)
{
	struct ep_win *w = flow->tx_win;
	const uint32_t from = ep_win_find(w, flow->una,
					  flow->sent, true);
	uint32_t n = 0;

	RL_DASSERT(rl_seq_before(from, flow->sent));
	budget = rl_min_u32(budget, ep->cache->count);
	while (n < budget && rl_seq_before(from + n, flow->sent) &&
	       ep_win_bit(w, from + n)) {
		const struct rl_flit *own = ep_win_at(w, from + n);

		ep_win_clear(w, from + n);
		n++;
		if (own->wire[7] & 0x80) /* EOP */
			break;
	}
	if (n == 0)
		return 0;
	flow->resend -= n;
	/* Karn: the round trip of a flit sent twice is ambiguous */
	if (rl_seq_before_eq(from, flow->rtt_seq))
		flow->flags &= ~EPF_RTT_RUNS;
	flow->resent = ep_peer_get(ep, flow->peer)->probe;
	emit_run(ep, flow, from, n, true, out, now_ns);
	if (flow->resend == 0 && (flow->flags & EPF_ASK))
		ep_ask(ep, flow);
	EP_COUNT(ep, retransmitted_runs);
	EP_COUNT_N(ep, retransmitted_flits, n);
	return n;
}

/**
 * The next @p n flits, a packet, are about to leave: may time its last, and
 * have that ask for an ACK. What was taken before the window shrank is not
 * timed: its round trip would be that of the larger window.
 */
static void
time_packet(struct rl_ep *ep, struct ep_flow *flow, uint32_t n, uint64_t now_ns)
{
	const uint32_t last = flow->sent + n - 1;
	bool timed, asks;

	if ((flow->flags & EPF_RTT_PROBE) &&
	    now_ns - flow->rtt_t0_ns > ep_patience_ns(ep, flow))
		flow->flags &= ~EPF_RTT_PROBE; /* its echo was lost */
	timed = !(flow->flags & (EPF_RTT_RUNS | EPF_RTT_PROBE)) &&
		flow->sent + n - flow->una <= flow->window;
	asks = ep_cc_asks(ep, flow, n, timed);
	if (asks)
		ep_win_at(flow->tx_win, last)->wire[7] |=
			RL_FLIT_ASKS_ACK;
	if (timed) {
		flow->flags &= ~EPF_RTT_ASKED;
		flow->flags |= EPF_RTT_RUNS | (asks ? EPF_RTT_ASKED : 0);
		flow->rtt_seq = last;
		flow->rtt_t0_ns = now_ns;
	}
}

/** Sends the next packet of the client, whole or not at all. */
static uint32_t
emit_new(struct rl_ep *ep, struct ep_flow *flow, struct rl_pktq *out,
	 uint32_t budget, uint64_t now_ns)
{
	const struct rl_flit *own =
		ep_win_at(flow->tx_win, flow->sent);
	const uint32_t n = rl_get16(own->wire + 16);
	const bool first = flow->una == flow->sent;

	if (n > budget || (ep->cfg.retry && n > ep->cache->count))
		return 0;
	if (ep->cfg.retry)
		time_packet(ep, flow, n, now_ns);
	emit_run(ep, flow, flow->sent, n, false, out, now_ns);
	flow->sent += n;
	EP_COUNT_N(ep, tx_flits, n);
	if (ep->cfg.retry) {
		if (first)
			ep_rto_start(ep, flow, now_ns);
		return n;
	}
	/* without retry the flits themselves went out */
	ep->outstanding -= n;
	ep_tx_gone(ep, flow, flow->sent);
	return n;
}

static uint32_t
emit_one(struct rl_ep *ep, struct ep_flow *flow, struct rl_pktq *out,
	 uint32_t budget, uint64_t now_ns)
{
	if (flow->resend > 0)
		return emit_again(ep, flow, out, budget, now_ns);
	return emit_new(ep, flow, out, budget, now_ns);
}

/**
 * Flows take turns whatever their level; a level is skipped only if it has no
 * room for its next packet.
 */
uint32_t
ep_poll_data(struct rl_ep *ep, struct rl_pktq *out, uint32_t budget,
	  uint32_t room_sl[RL_SLS], uint64_t now_ns)
{
	uint32_t *const mask = &ep->list_mask[EP_LIST_TX];
	uint32_t done = 0, passed = 0;

	while ((*mask & ~passed) != 0) {
		const unsigned int sl =
			ep_list_level(ep, EP_LIST_TX, *mask & ~passed);
		struct ep_flow *flow = ep->list[EP_LIST_TX][sl].head;
		uint32_t n = 0;

		if (ep_tx_wants(flow)) {
			n = emit_one(ep, flow, out,
				     rl_min_u32(budget - done, room_sl[sl]),
				     now_ns);
			if (n == 0 && room_sl[sl] >= budget - done)
				break;
			if (n == 0) {
				passed |= 1u << sl;
				continue;
			}
		}
		if (n > 0)
			ep->moved_ns[sl] = now_ns;
		done += n;
		room_sl[sl] -= n;
		ep_list_pop(ep, EP_LIST_TX, sl);
		if (ep_tx_wants(flow))
			ep_list_push(ep, EP_LIST_TX, flow);
	}
	return done;
}
