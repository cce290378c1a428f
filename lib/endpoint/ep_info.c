/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries for `show`, reports and hosts. */
#include "ep_ctrl.h"
#include "ep_priv.h"

uint64_t
rl_ep_deadline(const struct rl_ep *ep)
{
	if ((ep->list_mask[EP_LIST_TX] | ep->list_mask[EP_LIST_CTRL]) != 0)
		return 0;
	return rl_min_u64(ep->nheap > 0 ? ep->heap[0].at_ns : RL_NEVER,
			  ep_place_deadline(ep));
}

void
rl_ep_notice_of(const struct rl_flit *f, enum rl_ep_drop why,
		struct rl_ep_notice *n)
{
	const uint8_t *wire = f->wire;
	const uint16_t src = rl_flit_src(wire), dst = rl_flit_dst(wire);
	const bool ctrl = rl_flit_class(wire) == RL_CLASS_CTRL;
	const uint8_t cmd = ctrl ? wire[EP_CTRL_CMD_OFF] : EP_CMDS;
	const bool answer = cmd == EP_CMD_ECHO || cmd == EP_CMD_LOST;

	*n = (struct rl_ep_notice){
		.tag = rl_flit_tag(wire),
		.whose = answer ? dst : src,
		.peer = answer ? src : dst,
		.pos = ctrl ? RL_EP_POS_CTRL : rl_get16(wire + 14),
		.cos = wire[6] >> 4,
		.why = (uint8_t)why,
	};
	if (cmd == EP_CMD_LOST) {
		n->tag = rl_get32(wire + EP_CTRL_SEQ_OFF);
		n->end = rl_get32(wire + EP_CTRL_TAG_OFF);
		n->pos = RL_EP_POS_SKIPPED;
	}
}

bool
rl_ep_idle(const struct rl_ep *ep)
{
	return ep->outstanding == 0;
}

uint32_t
rl_ep_flits(const struct rl_ep *ep)
{
	return ep->tx_held + ep->rx_held + ep->rx_part + ep->ready.flits;
}

const uint64_t *
rl_ep_counters(const struct rl_ep *ep)
{
	return ep->ctr;
}

RL_NAMES(rl_ep_counter_name, enum rl_ep_counter, RL_EP_COUNTERS(RL_OWN_NAME))

RL_NAMES(rl_ep_reason_name, enum rl_ep_reason, RL_EP_REASONS(RL_WORD))

RL_NAMES(rl_ep_event_name, enum rl_ep_event_kind, RL_EP_EVENTS(RL_WORD))

RL_NAMES(rl_ep_flow_state_name, enum rl_ep_flow_state,
	 RL_EP_FLOW_STATES(RL_WORD))

const char *
rl_profile_name(enum rl_profile p)
{
	switch (p) {
	case RL_PROFILE_RXL:
		return "rxl";
	case RL_PROFILE_RXL_COMPACT:
		return "rxl-compact";
	case RL_PROFILE_CXL:
		return "cxl";
	case RL_PROFILE_CXL_SEP_ACK:
		return "cxl-sep-ack";
	}
	return "unknown";
}

uint32_t
rl_ep_flow_count(const struct rl_ep *ep)
{
	return ep->nflows;
}

void
rl_ep_flow_info(const struct rl_ep *ep, uint32_t i,
		struct rl_ep_flow_info *info)
{
	const struct ep_flow *flow = &ep->flow[i];

	RL_ASSERT(i < ep->nflows);
	*info = (struct rl_ep_flow_info){
		.peer = flow->peer,
		.cos = flow->cos,
		.state = (enum rl_ep_flow_state)flow->state,
		.tx_next = flow->next,
		.tx_sent = flow->sent,
		.tx_acked = flow->una,
		.tx_tag = flow->tx_tag,
		.tx_window = flow->window,
		.tx_resend_flits = flow->resend,
		.retries = flow->retries,
		.srtt_ns = flow->srtt_ns,
		.rto_ns = ep_rto_ns(ep, flow),
		.waits_ns = flow->una == flow->next ? 0 : flow->alive_ns,
		.rx_expected = flow->expect,
		.rx_tag = flow->rx_tag,
		.rx_held_flits = flow->held,
		.rx_unacked_flits = flow->unacked,
	};
}
