/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ep_congest.h"
#include "ep_ctrl.h"
#include "ep_priv.h"

/** The sender gave up all packets before c->n: the flow starts again there. */
static void
rx_sync(struct rl_ep *ep, const struct rl_txn *txn, const struct ep_ctrl *c)
{
	struct ep_flow *flow = ep_flow_get(ep, txn->src, txn->cos);

	if (flow == NULL) {
		EP_COUNT(ep, rx_no_flow);
		return;
	}
	EP_COUNT(ep, rx_ctrl);
	flow->flags |= EPF_RX_SEEN;
	/* an old sync has an older number, and is only acknowledged */
	if (!(flow->flags & EPF_RX_SYNCED) ||
	    rl_seq_before(flow->expect, c->n))
		ep_order_sync(ep, flow, c->n, c->tag);
	ep_ack_sync(ep, flow);
}

/** The sender asks which of its flits have arrived. */
static void
rx_probe(struct rl_ep *ep, const struct rl_txn *txn, const struct ep_ctrl *c,
	 uint64_t now_ns)
{
	struct ep_flow *flow = ep_flow_get(ep, txn->src, txn->cos);

	if (flow == NULL) {
		EP_COUNT(ep, rx_no_flow);
		return;
	}
	EP_COUNT(ep, rx_ctrl);
	if (flow->flags & EPF_ECHO_LATE) {
		ep_place_asked(ep, flow, c->n);
		return;
	}
	flow->echo = c->tag;
	if (ep->cfg.retry) { /* otherwise the field holds something else */
		flow->echo_end = c->n;
		ep_place_asked(ep, flow, c->n);
	}
	if (ep->cfg.order == RL_ORDER_ENDPOINT &&
	    ep_spread_asked(ep, flow, now_ns)) {
		ep_timer_arm(ep, flow, ep_spread_timer(ep, flow, now_ns));
		return;
	}
	flow->flags |= EPF_ECHO_NOW;
	ep_ctrl_now(ep, flow);
}

/** Reads the data; false if no endpoint writes such data. */
static bool
parse(const struct rl_flit *f, const struct rl_txn *txn, struct ep_ctrl *c)
{
	c->cmd = (enum ep_cmd)f->wire[EP_CTRL_CMD_OFF];
	c->map_bytes = f->wire[EP_CTRL_MAP_BYTES_OFF];
	c->n = rl_get32(f->wire + EP_CTRL_SEQ_OFF);
	c->tag = rl_get32(f->wire + EP_CTRL_TAG_OFF);
	c->flags = f->wire[EP_CTRL_FLAGS_OFF];
	c->base = rl_get32(f->wire + EP_CTRL_FLAGS_OFF) >> 8;
	c->from = rl_get32(f->wire + EP_CTRL_FROM_OFF);
	c->to = rl_get32(f->wire + EP_CTRL_TO_OFF);
	if (f->wire[EP_CTRL_CMD_OFF] >= EP_CMDS ||
	    c->map_bytes > EP_CTRL_MAP_MAX ||
	    txn->valid_bytes != EP_CTRL_BYTES + c->map_bytes)
		return false;
	memcpy(c->map, f->wire + EP_CTRL_MAP_OFF, c->map_bytes);
	return true;
}

/**
 * The answer to a probe. Trust what it calls missing, unless a flit was
 * retransmitted after the probe had left.
 */
static void
on_echo(struct rl_ep *ep, struct ep_flow *flow, const struct ep_ctrl *c,
	uint64_t now_ns)
{
	const bool asked = ep_is_asked(ep, flow, c->tag);
	const bool back = ep_reach_echo(ep, flow, c->tag, now_ns);

	if (!asked && !back)
		EP_COUNT(ep, ack_stale);
	if (!ep->cfg.retry || flow->state != RL_EP_FLOW_OPEN)
		return;
	ep_time_echo(ep, flow, c->tag, now_ns);
	ep_on_ack(ep, flow, c->n, now_ns);
	ep_on_busy(ep, flow, c->flags & EP_CTRL_BUSY, now_ns);
	ep_cc_share(ep, flow, c->flags);
	if (asked)
		ep_answered(ep, flow, now_ns);
	if (!(flow->flags & EPF_TX_BUSY) && (asked || back) &&
	    rl_seq_before(flow->resent, c->tag)) {
		flow->flags &= ~(EPF_PROBE_NOW | EPF_ASK);
		ep_mark_map(ep, flow, c);
		if (c->map_bytes == EP_CTRL_MAP_MAX) /* there may be more */
			ep_ask(ep, flow);
	}
	if (asked)
		ep_flush_done(flow);
	ep_rto_start(ep, flow, now_ns);
}

/** A message from the receiver of a flow to its sender. */
static void
tx_told(struct rl_ep *ep, struct ep_flow *flow, const struct ep_ctrl *c,
	uint64_t now_ns)
{
	switch (c->cmd) {
	case EP_CMD_SYNC:
	case EP_CMD_PROBE:
	case EP_CMD_HELLO:
	case EP_CMDS:
		break;
	case EP_CMD_LOST:
		ep_on_lost(ep, flow, c->n, c->tag, now_ns);
		break;
	case EP_CMD_ECHO:
		on_echo(ep, flow, c, now_ns);
		break;
	case EP_CMD_ACK:
		if (flow->state == RL_EP_FLOW_SYNC ||
		    flow->state == RL_EP_FLOW_FAILED)
			ep_on_sync_ack(ep, flow, c->n, now_ns);
		else
			ep_on_ack(ep, flow, c->n, now_ns);
		ep_on_busy(ep, flow, c->flags & EP_CTRL_BUSY, now_ns);
		ep_cc_share(ep, flow, c->flags);
		break;
	case EP_CMD_NAK_GBN:
		ep_on_nak_gbn(ep, flow, c->n, now_ns);
		break;
	case EP_CMD_NAK_ONE:
		if (c->map_bytes == 0)
			ep_on_nak_one(ep, flow, c->n);
		else
			ep_on_nak_map(ep, flow, c, now_ns);
		if (c->map_bytes != 0)
			ep_cc_share(ep, flow, c->flags);
		break;
	}
}

void
ep_ctrl_rx(struct rl_ep *ep, const struct rl_flit *f, uint64_t now_ns)
{
	struct ep_flow *flow;
	struct rl_txn txn;
	struct ep_ctrl c;

	rl_txn_get(f->wire, &txn);
	if (!parse(f, &txn, &c)) {
		EP_COUNT(ep, rx_malformed);
		return;
	}
	if (!ep_inc_heard(ep, txn.src, txn.cos, &c, now_ns)) {
		EP_COUNT(ep, rx_ctrl);
		return;
	}
	if (c.cmd == EP_CMD_SYNC) {
		rx_sync(ep, &txn, &c);
		return;
	}
	if (c.cmd == EP_CMD_PROBE) {
		rx_probe(ep, &txn, &c, now_ns);
		return;
	}
	EP_COUNT(ep, rx_ctrl);
	flow = ep_flow_find(ep, txn.src, txn.cos);
	if (flow == NULL) {
		EP_COUNT(ep, ack_invalid);
		return;
	}
	tx_told(ep, flow, &c, now_ns);
}
