/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ep_priv.h"

/*
 * Flits that arrive here are verified and in order of their numbers. With
 * implicit numbers that means: whole packets, one after the other. With an
 * explicit FSN it may not (that is the hole), and after a skipped gap a packet
 * may lack its start; so flits that do not fit are dropped and counted, and
 * flits that fit are not checked again.
 */

void
ep_reasm_drop(struct rl_ep *ep, struct ep_flow *flow)
{
	EP_COUNT(ep, rx_partial_dropped);
	ep->rx_part -= flow->part->pkt_flits;
	rl_packet_put(ep->cache, flow->part);
	flow->part = NULL;
}

static void
deliver(struct rl_ep *ep, struct ep_flow *flow)
{
	struct rl_flit *head = flow->part;

	flow->part = NULL;
	ep->rx_part -= head->pkt_flits;
	EP_COUNT(ep, rx_packets);
	EP_COUNT_N(ep, rx_bytes, rl_ep_len_bytes(head));
	rl_pktq_push(&ep->ready, head);
	ep_place_taken(ep, flow, head->pkt_flits);
}

static void
name_packet(struct rl_flit *f, const struct rl_txn *txn)
{
	f->src = txn->src;
	f->dst = txn->dst;
	f->sl = txn->sl;
	f->class = txn->class;
}

bool
ep_reasm_run(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *head)
{
	struct rl_txn txn;

	rl_txn_get(head->wire, &txn);
	ep->rx_part += head->pkt_flits;
	if (flow->part == NULL) {
		name_packet(head, &txn);
		flow->part = head;
	} else {
		rl_packet_join(flow->part, head);
	}
	if (flow->part->pkt_flits != txn.len_flits)
		return false;
	deliver(ep, flow);
	return true;
}

void
ep_reasm_flit(struct rl_ep *ep, struct ep_flow *flow, struct rl_flit *f)
{
	struct rl_txn txn;

	rl_txn_get(f->wire, &txn);
	if (flow->part != NULL &&
	    (txn.sop || flow->part->pkt_flits == ep->cfg.max_packet_flits))
		ep_reasm_drop(ep, flow);
	if (flow->part == NULL && !txn.sop) {
		EP_COUNT(ep, rx_orphan_flits);
		rl_flit_put(ep->cache, f);
		return;
	}
	if (flow->part == NULL) {
		name_packet(f, &txn);
		rl_packet_start(f);
		flow->part = f;
	} else {
		rl_packet_append(flow->part, f);
	}
	ep->rx_part++;
	if (txn.eop)
		deliver(ep, flow);
}

uint32_t
rl_ep_len_bytes(const struct rl_flit *head)
{
	const struct rl_flit *f = head;
	uint32_t bytes = 0;

	for (unsigned int n = head->pkt_flits; n > 0; n--, f = f->next)
		bytes += f->wire[8];
	return bytes;
}

uint32_t
rl_ep_copy_out(const struct rl_flit *head, void *buf, uint32_t size)
{
	const struct rl_flit *f = head;
	uint8_t *to = buf;
	uint32_t done = 0;

	for (unsigned int n = head->pkt_flits; n > 0; n--, f = f->next) {
		const uint32_t len = rl_min_u32(f->wire[8], size - done);

		memcpy(to + done, f->wire + RL_FLIT_DATA_OFF, len);
		done += len;
	}
	return done;
}
