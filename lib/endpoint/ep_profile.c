/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_priv.h"

/*
 * The profiles differ in three things: where a flit's number is, what the
 * FSN carries, and therefore whether an ACK can ride on a data flit. All else
 * - windows, timers, retries - is the same code, so that a comparison
 * compares the protocols and nothing else.
 *
 * | profile     | number         | FSN of a data flit                     |
 * |-------------|----------------|----------------------------------------|
 * | rxl         | in the CRC     | latest ACK, on every flit              |
 * | rxl-compact | in the CRC     | not there: ACKs alone                  |
 * | cxl         | FSN            | number, or the ACK if one is due:      |
 * |             |                | then the flit has no number: the hole  |
 * | cxl-sep-ack | FSN            | number always; ACKs alone              |
 *
 * The ten bits of the FSN are not enough for an ACK in a network that may delay
 * a flit while its flow goes on by more than 512 numbers: its ACK would be
 * taken for a recent one, and free flits that never arrived. (The flit's own
 * number is no problem, as its tag tells its age.) So in rxl 12 more bits of
 * the ACK travel in spare fields. cxl keeps its ten: it is made for links,
 * which deliver in order.
 */

/** FSN and ReplayCmd. */
#define HEADER_BITS 12

bool
ep_profile_has_header(const struct rl_ep *ep)
{
	return ep->cfg.profile != RL_PROFILE_RXL_COMPACT;
}

void
ep_ack_carried(struct rl_ep *ep, struct ep_flow *flow)
{
	if (flow->unacked > 0 || (flow->flags & EPF_ACK_NOW))
		EP_COUNT(ep, ack_sent);
	flow->unacked = 0;
	flow->ack_at_ns = RL_NEVER;
	flow->ack_by = 0;
	flow->flags &= ~EPF_ACK_NOW;
}

bool
ep_profile_ack_rides(const struct rl_ep *ep, const struct ep_flow *flow)
{
	if (!ep_tx_wants(flow))
		return false;
	/* cxl: not on retransmissions, nor on two flits in a row */
	return ep->cfg.profile == RL_PROFILE_RXL ||
	       (ep->cfg.profile == RL_PROFILE_CXL && flow->resend == 0);
}

bool
ep_profile_shows(const struct rl_ep *ep, const uint8_t *wire)
{
	return ep->cfg.profile != RL_PROFILE_CXL ||
	       rl_flit_cmd(wire) == RL_CMD_SEQ;
}

uint32_t
ep_ack_number(const struct rl_ep *ep, const struct ep_flow *flow)
{
	return (ep->cfg.profile == RL_PROFILE_CXL ? flow->shown
						  : flow->expect) - 1;
}

static bool
ack_due(const struct rl_ep *ep, const struct ep_flow *flow)
{
	return (flow->flags & EPF_ACK_NOW) ||
	       flow->unacked >= ep->cfg.ack_coalesce_flits;
}

uint32_t
ep_profile_number(const struct rl_ep *ep, uint32_t seq)
{
	return ep->isn ? seq & ((1u << ep->seq_bits) - 1) : 0;
}

/** All of a run carry the same ACK, if one is known. */
static void
stamp_rxl(struct rl_ep *ep, struct ep_flow *flow, uint32_t from, uint32_t n)
{
	const bool acks = ep->cfg.retry && (flow->flags & EPF_RX_SEEN);
	const struct ep_win *const win = flow->tx_win;

	EP_COUNT_N(ep, header_bits, n * HEADER_BITS);
	if (acks)
		ep_ack_carried(ep, flow);
	for (uint32_t s = from; s != from + n; s++) {
		uint8_t *wire = ep_win_at(win, s)->wire;

		if (acks) {
			rl_flit_set_ack(wire, flow->expect - 1);
			continue;
		}
		rl_flit_set_header(wire, 0, RL_CMD_SEQ);
		wire[9] = 0; /* an earlier transmission may have set it */
	}
}

/*
 * A retransmission shows its number, as in PCIe 6; and two flits in a row never
 * hide theirs, or the receiver would have nothing to acknowledge.
 */
static void
stamp_cxl(struct rl_ep *ep, struct ep_flow *flow, uint8_t *wire, uint32_t seq,
	  bool again)
{
	rl_flit_set_header(wire, (uint16_t)seq, RL_CMD_SEQ);
	if (again || !ack_due(ep, flow) || seq == flow->hidden + 1)
		return;
	flow->hidden = seq;
	rl_flit_set_header(wire, (uint16_t)ep_ack_number(ep, flow),
			   RL_CMD_ACK);
	ep_ack_carried(ep, flow);
}

void
ep_profile_stamp(struct rl_ep *ep, struct ep_flow *flow, uint32_t from,
		 uint32_t n, bool again)
{
	const enum rl_profile profile = ep->cfg.profile;

	if (rl_likely(profile == RL_PROFILE_RXL)) {
		stamp_rxl(ep, flow, from, n);
		return;
	}
	if (profile != RL_PROFILE_RXL_COMPACT)
		EP_COUNT_N(ep, header_bits, n * HEADER_BITS);
	for (uint32_t s = from; s != from + n; s++) {
		uint8_t *wire = ep_win_at(flow->tx_win, s)->wire;

		if (profile == RL_PROFILE_RXL_COMPACT)
			rl_flit_set_header(wire, 0, RL_CMD_SEQ);
		else if (profile == RL_PROFILE_CXL)
			stamp_cxl(ep, flow, wire, s, again);
		else
			rl_flit_set_header(wire, (uint16_t)s, RL_CMD_SEQ);
	}
}
