/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ep_ctrl.h"
#include "ep_priv.h"

static void
emit(struct rl_ep *ep, struct ep_flow *flow, const struct ep_ctrl *c,
     struct rl_pktq *out, uint64_t now_ns)
{
	struct rl_flit *f = rl_flit_get(ep->cache);
	const bool probe = c->cmd == EP_CMD_PROBE || c->cmd == EP_CMD_ECHO;
	const struct rl_txn txn = {
		.dst = flow->peer,
		.src = ep->id,
		.tag = probe ? c->tag : 0, /* switches tell them apart */
		.sl = ep_sl(ep, flow->peer, flow->cos),
		.cos = flow->cos,
		.class = RL_CLASS_CTRL,
		.type = RL_FLIT_CTRL,
		.sop = true,
		.eop = true,
		.valid_bytes = (uint8_t)(EP_CTRL_BYTES + c->map_bytes),
		.len_flits = 1,
	};

	RL_ASSERT(f != NULL);
	memset(f->wire, 0, RL_FLIT_CRC_OFF);
	rl_txn_put(f->wire, &txn);
	if (ep_profile_has_header(ep))
		rl_flit_set_header(f->wire, (uint16_t)c->n,
				   c->cmd <= EP_CMD_NAK_ONE
					   ? (enum rl_replay_cmd)c->cmd
					   : RL_CMD_SEQ);
	f->wire[EP_CTRL_CMD_OFF] = (uint8_t)c->cmd;
	/* one little-endian word: flags and the base of the bitmap */
	rl_put32(f->wire + EP_CTRL_FLAGS_OFF, c->flags | c->base << 8);
	rl_put32(f->wire + EP_CTRL_FROM_OFF, ep->incarnation);
	if (ep->incarnation != 0)
		rl_put32(f->wire + EP_CTRL_TO_OFF,
			 ep_peer_get(ep, flow->peer)->inc);
	f->wire[EP_CTRL_MAP_BYTES_OFF] = (uint8_t)c->map_bytes;
	rl_put32(f->wire + EP_CTRL_SEQ_OFF, c->n);
	rl_put32(f->wire + EP_CTRL_TAG_OFF, c->tag);
	memcpy(f->wire + EP_CTRL_MAP_OFF, c->map, c->map_bytes);
	ep_fill_meta(ep, f, flow->peer,
		     rl_flit_state(txn.sl, RL_CLASS_CTRL,
				   RL_FF_SOP | RL_FF_EOP),
		     now_ns);
	rl_packet_start(f);
	rl_pktq_push(out, f);
	ep_enc_add(ep, f->wire, f->wire, 0);
}

/** The first missing number in lo .. hi-1; hi: none is. */
static uint32_t
first_missing(const struct ep_flow *flow, uint32_t lo, uint32_t hi)
{
	if (flow->rx_win == NULL || !rl_seq_before(lo, hi) ||
	    !rl_seq_before(lo, flow->high))
		return lo;
	/* beyond what is held all is missing */
	return ep_win_find(flow->rx_win, lo,
			   rl_seq_before(hi, flow->high) ? hi : flow->high,
			   false);
}

/**
 * Names the missing numbers in lo .. hi-1 in the bitmap of @p c, as far as it
 * reaches.
 * @return how far it looked: hi, or the first number that it leaves out
 */
static uint32_t
name_missing(const struct ep_flow *flow, uint32_t lo, uint32_t hi,
	     struct ep_ctrl *c)
{
	const uint32_t first = first_missing(flow, lo, hi);

	c->base = (first - (c->n + 1)) & 0xffffff;
	for (uint32_t s = first; rl_seq_before(s, hi);
	     s = first_missing(flow, s + 1, hi)) {
		const uint32_t i = s - first;

		if (i >= 8 * EP_CTRL_MAP_MAX)
			return s;
		c->map[i >> 3] |= (uint8_t)(1u << (i & 7));
		c->map_bytes = (i >> 3) + 1;
	}
	return hi;
}

/** @return whether a NAK went out: the missing flits may have arrived since. */
static bool
emit_nak(struct rl_ep *ep, struct ep_flow *flow, struct rl_pktq *out,
	 uint64_t now_ns)
{
	struct ep_ctrl c = { .cmd = EP_CMD_NAK_GBN,
			  .n = ep_ack_number(ep, flow) };
	const uint32_t hi = flow->nak_hi;
	uint32_t first, upto = hi;

	if (rl_seq_before(flow->nak_lo, flow->expect))
		flow->nak_lo = flow->expect;
	first = first_missing(flow, flow->nak_lo, hi);
	if (!rl_seq_before(first, hi))
		return false;
	if (ep->cfg.retry_mode == RL_RETRY_SELECTIVE && ep->isn) {
		c.cmd = EP_CMD_NAK_ONE;
		upto = name_missing(flow, first, hi, &c);
	} else if (ep->cfg.retry_mode == RL_RETRY_SELECTIVE &&
		   first_missing(flow, first + 1, hi) == hi) {
		/* without a bitmap it can name one flit, or all */
		c.cmd = EP_CMD_NAK_ONE;
		c.n = first - 1;
	}
	if (upto != hi) { /* another one names the rest */
		flow->nak_lo = upto;
		flow->flags |= EPF_NAK_NOW;
	}
	if (c.cmd == EP_CMD_NAK_GBN || c.map_bytes > 0)
		ep_ack_carried(ep, flow);
	if (c.map_bytes > 0)
		c.flags = ep_spread_tell(ep, flow);
	emit(ep, flow, &c, out, now_ns);
	EP_COUNT(ep, nak_sent);
	return true;
}

/** Sends @p c if @p flag says that it is owed and there is room. */
static uint32_t
emit_if(struct rl_ep *ep, struct ep_flow *flow, uint32_t flag,
	const struct ep_ctrl *c, struct rl_pktq *out, uint32_t room,
	uint64_t now_ns)
{
	if (!(flow->flags & flag) || room == 0)
		return 0;
	flow->flags &= ~flag;
	emit(ep, flow, c, out, now_ns);
	return 1;
}

/** Without retry: tells which packets came too late. */
static uint32_t
emit_late(struct rl_ep *ep, struct ep_flow *flow, struct rl_pktq *out,
	  uint32_t room, uint64_t now_ns)
{
	struct ep_ctrl lost = { .cmd = EP_CMD_LOST };
	uint32_t done = 0;

	while ((flow->flags & EPF_LATE_NOW) && done < room &&
	       ep_late_next(ep, flow, &lost.n, &lost.tag)) {
		emit(ep, flow, &lost, out, now_ns);
		done++;
	}
	return done;
}

static uint8_t
receiver_flags(struct rl_ep *ep, const struct ep_flow *flow)
{
	return (uint8_t)(ep_spread_tell(ep, flow) |
			 (flow->flags & EPF_TURNED ? EP_CTRL_BUSY : 0));
}

/**
 * Answers a probe, with the flits that are missing before it: this asks for
 * them, so no NAK is needed.
 */
static uint32_t
emit_echo(struct rl_ep *ep, struct ep_flow *flow, struct rl_pktq *out,
	  uint32_t room, uint64_t now_ns)
{
	struct ep_ctrl c = {
		.cmd = EP_CMD_ECHO,
		.n = ep_ack_number(ep, flow),
		.tag = flow->echo,
		.flags = receiver_flags(ep, flow),
	};

	if (!(flow->flags & EPF_ECHO_NOW) || room == 0)
		return 0;
	flow->flags &= ~EPF_ECHO_NOW;
	if (ep->cfg.retry && (flow->flags & EPF_RX_SYNCED)) {
		uint32_t hi = flow->echo_end;

		if (rl_seq_before(flow->expect, hi) &&
		    hi - flow->expect <= ep->cfg.window_flits)
			hi = name_missing(flow, c.n + 1, hi, &c);
		if (c.map_bytes > 0 && rl_seq_before(flow->nak_hi, hi))
			flow->nak_hi = hi;
		ep_ack_carried(ep, flow);
	}
	emit(ep, flow, &c, out, now_ns);
	return 1;
}

/** Control flits owed to the peer rather than to its flow, and rare ones. */
static uint32_t
emit_rare(struct rl_ep *ep, struct ep_flow *flow, struct rl_pktq *out,
	  uint32_t budget, uint64_t now_ns)
{
	const struct ep_ctrl sync = { .cmd = EP_CMD_SYNC,
				      .n = flow->una,
				      .tag = flow->sync_tag };
	const struct ep_ctrl probe = {
		.cmd = EP_CMD_PROBE,
		.n = flow->sent,
		.tag = ep_peer_get(ep, flow->peer)->probe
	};
	const struct ep_ctrl lost = { .cmd = EP_CMD_LOST,
				      .n = flow->lost_lo,
				      .tag = flow->lost_hi };
	const struct ep_ctrl hi = { .cmd = EP_CMD_HELLO };
	uint32_t done, n;

	done = emit_if(ep, flow, EPF_SYNC_NOW, &sync, out, budget, now_ns);
	EP_COUNT_N(ep, sync_sent, done);
	n = emit_if(ep, flow, EPF_PROBE_NOW, &probe, out, budget - done, now_ns);
	if (flow->blocked & EPB_UNREACHABLE)
		EP_COUNT_N(ep, reach_probes, n);
	else if (done + n > 0)
		ep_asked(ep, flow, now_ns);
	EP_COUNT_N(ep, probes, n);
	done += n;
	done += emit_echo(ep, flow, out, budget - done, now_ns);
	done += emit_if(ep, flow, EPF_HELLO_NOW, &hi, out, budget - done,
			now_ns);
	done += emit_if(ep, flow, EPF_LOST_NOW, &lost, out, budget - done,
			now_ns);
	done += emit_late(ep, flow, out, budget - done, now_ns);
	return done;
}

#define RARE                                                                   \
	(EPF_SYNC_NOW | EPF_PROBE_NOW | EPF_ECHO_NOW | EPF_LOST_NOW |          \
	 EPF_HELLO_NOW | EPF_LATE_NOW)

/** @p budget is at least 1; flits without room stay owed. */
static uint32_t
emit_owed(struct rl_ep *ep, struct ep_flow *flow, struct rl_pktq *out,
	  uint32_t budget, uint64_t now_ns)
{
	uint32_t done = 0;

	if (rl_unlikely(flow->flags & RARE))
		done = emit_rare(ep, flow, out, budget, now_ns);
	if ((flow->flags & EPF_NAK_NOW) && done < budget) {
		flow->flags &= ~EPF_NAK_NOW;
		if (emit_nak(ep, flow, out, now_ns))
			done++;
	}
	if ((flow->flags & (EPF_ACK_NOW | EPF_BUSY_NOW | EPF_SYNC_ACK_NOW)) &&
	    done < budget) {
		const struct ep_ctrl c = {
			.cmd = EP_CMD_ACK,
			.n = ep_ack_number(ep, flow),
			.flags = receiver_flags(ep, flow),
		};

		flow->flags &= ~(EPF_BUSY_NOW | EPF_SYNC_ACK_NOW);
		emit(ep, flow, &c, out, now_ns);
		ep_ack_carried(ep, flow);
		EP_COUNT(ep, ack_alone_sent);
		done++;
	}
	if (flow->flags & EPF_OWES)
		ep_list_push(ep, EP_LIST_CTRL, flow);
	return done;
}

/**
 * Whether the flow owes only an ACK, and has data that will carry it: the ACK
 * waits for the data, but no longer than it may be late anyway.
 */
static bool
waits_for_data(const struct rl_ep *ep, struct ep_flow *flow, uint64_t now_ns)
{
	if ((flow->flags & EPF_OWES) != EPF_ACK_NOW ||
	    !ep_profile_ack_rides(ep, flow) || ep_spread_untold(ep, flow))
		return false;
	if (flow->ack_by == 0)
		flow->ack_by = (uint32_t)rl_deadline(
				       now_ns, rl_min_u64(ep->cfg.ack_delay_ns,
							  RL_NS_PER_S)) |
			       1;
	return rl_seq_before((uint32_t)now_ns, flow->ack_by);
}

uint32_t
ep_poll_ctrl(struct rl_ep *ep, struct rl_pktq *out, uint64_t turn,
	     uint32_t budget, uint32_t room_sl[RL_SLS], uint64_t now_ns)
{
	uint32_t *const mask = &ep->list_mask[EP_LIST_CTRL];
	uint32_t done = 0, passed = 0;

	while ((*mask & ~passed) != 0) {
		const unsigned int sl =
			ep_list_level(ep, EP_LIST_CTRL, *mask & ~passed);
		struct ep_flow *flow = ep->list[EP_LIST_CTRL][sl].head;
		const bool owes = (flow->flags & EPF_OWES) != 0;
		const uint32_t room = rl_min_u32(budget - done,
						 ep->cache->count);
		uint32_t n;

		/* a flow whose data carried the ACK owes nothing any more */
		if (flow->turn[EP_LIST_CTRL] >= turn || (owes && room == 0))
			break;
		if (owes && room_sl[sl] == 0) {
			passed |= 1u << sl;
			continue;
		}
		ep_list_pop(ep, EP_LIST_CTRL, sl);
		if (!owes)
			continue;
		if (waits_for_data(ep, flow, now_ns)) {
			ep_list_push(ep, EP_LIST_CTRL, flow);
			continue;
		}
		n = emit_owed(ep, flow, out, rl_min_u32(room, room_sl[sl]),
			      now_ns);
		ep->moved_ns[sl] = now_ns;
		room_sl[sl] -= n;
		done += n;
	}
	return done;
}
