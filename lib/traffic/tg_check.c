/* SPDX-License-Identifier: BSD-3-Clause */
#include "tg_priv.h"

static void
check_one(struct rl_tg *tg, const struct rl_flit *pkt, uint64_t now_ns)
{
	struct rl_tg_flow *flow;
	struct rl_stamp s;

	switch (rl_stamp_check(pkt, tg->cfg.seed, &s)) {
	case RL_STAMP_OK:
		break;
	case RL_STAMP_BODY:
		tg->count.corrupted_packets++;
		break;
	case RL_STAMP_FOREIGN:
		tg->count.corrupted_packets++;
		tg->count.foreign_packets++;
		return;
	}
	flow = tg_flow_get(tg, s.src, s.cos);
	if (flow == NULL) {
		tg->count.inexact++;
		return;
	}
	switch (rl_seen_take(&tg->pool, &flow->seen, s.number)) {
	case RL_SEEN_FIRST:
		break;
	case RL_SEEN_LATE:
		tg->count.reordered_packets++;
		break;
	case RL_SEEN_AGAIN:
		tg->count.duplicated_packets++;
		return;
	}
	if (pkt->class == RL_CLASS_REQ_NONPOSTED) {
		tg->count.delivered_requests++;
		rl_source_owe(&tg->source, &flow->owed, s.src, s.cos, now_ns);
	}
	tg->count.delivered_responses += pkt->class == RL_CLASS_RSP;
	rl_silence_add(&flow->silence, s.t_ns, now_ns);
	/* release: pairs with the acquire in rl_ledger_look() */
	rl_fence_release();
	tg->count.delivered_packets++;
	tg->count.delivered_flits += pkt->pkt_flits;
	tg->count.delivered_bytes += s.len_bytes;
	tg->count.delivered_vc_flits[pkt->in_vc % RL_VCS] += pkt->pkt_flits;
	rl_delay_add(&tg->delay[tg->cfg.hist_by_vc ? pkt->in_vc % RL_VCS : 0],
		     now_ns > s.t_ns ? now_ns - s.t_ns : 0, &flow->last);
}

unsigned int
tg_check(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns)
{
	struct rl_flit *pkt;
	unsigned int n = 0;

	while ((pkt = rl_ep_recv(ep)) != NULL) {
		check_one(tg, pkt, now_ns);
		rl_packet_put(tg->cache, pkt);
		n++;
	}
	return n;
}
