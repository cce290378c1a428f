/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ep_congest.h"
#include "rl_prng.h"

/*
 * Flows, state of their peers, and the lists they are on. An endpoint never
 * talks to most peers of a large fabric, so the state of a peer is initialised
 * when first used; a bit says whether it is.
 */

static bool
known(const struct rl_ep *ep, uint16_t peer)
{
	return ep->peer_known[peer >> 6] >> (peer & 63) & 1;
}

struct ep_peer *
ep_peer_get(struct rl_ep *ep, uint16_t peer)
{
	if (!known(ep, peer)) {
		ep->peer_known[peer >> 6] |= 1ull << (peer & 63);
		memset(&ep->peer[peer], 0, sizeof(ep->peer[peer]));
	}
	return &ep->peer[peer];
}

uint8_t
ep_peer_blocked(const struct rl_ep *ep, uint16_t peer)
{
	return (uint8_t)((ep->held ? EPB_HELD : 0) |
			 (known(ep, peer) ? ep->peer[peer].blocked : 0));
}

/* Probes go on, whatever else the flow that carries them has to do. */
uint64_t
ep_probe_at_ns(const struct rl_ep *ep, const struct ep_flow *flow)
{
	const struct ep_peer *peer;

	if (rl_likely(!(flow->blocked & EPB_UNREACHABLE)))
		return RL_NEVER;
	peer = &ep->peer[flow->peer];
	return peer->lead_cos == flow->cos ? peer->probe_at_ns : RL_NEVER;
}

/*
 * If the table has a place for every possible flow, each has its own, beside
 * those of neighbouring peers. Otherwise any mixing that spreads neighbouring
 * peers will do; 2^32 / golden ratio.
 */
static uint32_t
hash_of(const struct rl_ep *ep, uint16_t peer, uint8_t cos)
{
	if (16u * ep->npeers <= ep->hash_mask && peer < ep->npeers)
		return (uint32_t)cos * ep->npeers + peer;
	const uint32_t key = (uint32_t)peer << 4 | cos;

	return key * 0x9e3779b1u >> 8 & ep->hash_mask;
}

struct ep_flow *
ep_flow_find(const struct rl_ep *ep, uint16_t peer, uint8_t cos)
{
	for (uint32_t h = hash_of(ep, peer, cos);;
	     h = (h + 1) & ep->hash_mask) {
		struct ep_flow *flow;

		if (ep->hash[h] == 0)
			return NULL;
		flow = &ep->flow[ep->hash[h] - 1];
		if (flow->peer == peer && flow->cos == cos)
			return flow;
	}
}

void
rl_ep_prefetch(const struct rl_ep *ep, uint16_t peer, uint8_t cos)
{
	const uint32_t i = ep->hash[hash_of(ep, peer, cos)];
	const uint8_t *at;

	if (i == 0)
		return;
	at = (const uint8_t *)&ep->flow[i - 1];
	for (uint32_t b = 0; b < sizeof(ep->flow[0]); b += RL_CACHE_LINE)
		__builtin_prefetch(at + b, 1);
}

/**
 * Packets of an earlier life of this endpoint may still be under way: start far
 * from their numbers. The upper half is left out, as it would seem to come
 * before 0.
 */
uint32_t
ep_first_tag(const struct rl_ep *ep, uint16_t peer, uint8_t cos)
{
	uint64_t x = (uint64_t)ep->incarnation << 32 |
		     (uint32_t)peer << 4 | cos;

	return ep->incarnation == 0 ? 0
				    : (uint32_t)rl_splitmix64(&x) & 0x7fffffff;
}

struct ep_flow *
ep_flow_get(struct rl_ep *ep, uint16_t peer, uint8_t cos)
{
	struct ep_flow *flow = ep_flow_find(ep, peer, cos);
	uint32_t h;

	if (rl_likely(flow != NULL))
		return flow;
	if (ep->nflows == ep->cfg.max_flows)
		return NULL;
	h = hash_of(ep, peer, cos);
	while (ep->hash[h] != 0)
		h = (h + 1) & ep->hash_mask;
	flow = &ep->flow[ep->nflows++];
	ep->hash[h] = ep->nflows;
	memset(flow, 0, sizeof(*flow));
	flow->peer = peer;
	flow->cos = cos;
	flow->blocked = ep_peer_blocked(ep, peer);
	if (ep->incarnation != 0) {
		/* the receiver must first be told where it begins */
		flow->state = RL_EP_FLOW_NEW;
		flow->tx_tag = flow->sync_tag = ep_first_tag(ep, peer, cos);
	} else {
		flow->flags = EPF_RX_SYNCED;
	}
	flow->rto_at_ns = RL_NEVER;
	flow->ack_at_ns = RL_NEVER;
	flow->gap_at_ns = RL_NEVER;
	ep_cc_begin(ep, flow);
	flow->hidden = UINT32_MAX - 1; /* none yet, and none just before 0 */
	return flow;
}

/*
 * OPEN -> FAILED given up, all is reported NEW -> SYNC the client sends FAILED
 * -> SYNC the client sends again SYNC -> OPEN the receiver has confirmed the
 * next number SYNC -> FAILED given up again
 */
void
ep_flow_set_state(struct ep_flow *flow, enum rl_ep_flow_state state)
{
	const enum rl_ep_flow_state from = (enum rl_ep_flow_state)flow->state;

	switch (state) {
	case RL_EP_FLOW_OPEN:
		RL_ASSERT(from == RL_EP_FLOW_SYNC);
		flow->doubt = flow->doubt && RL_PLANTED(FLOW_DOUBT_STAYS);
		break;
	case RL_EP_FLOW_FAILED:
		RL_ASSERT(from == RL_EP_FLOW_OPEN || from == RL_EP_FLOW_SYNC);
		break;
	case RL_EP_FLOW_SYNC:
		RL_ASSERT(from == RL_EP_FLOW_FAILED || from == RL_EP_FLOW_NEW);
		break;
	case RL_EP_FLOW_NEW:
		RL_ASSERT(false);
		break;
	}
	flow->state = (uint8_t)state;
}

static struct ep_win *
take_of(struct rl_ep *ep, struct ep_win_pool *pool)
{
	struct ep_win *w = pool->free;

	if (w != NULL) {
		pool->free = w->next_free;
	} else {
		if (pool->used == pool->total)
			return NULL;
		w = (struct ep_win *)(void *)((uint8_t *)ep + pool->at +
					      pool->used++ * pool->bytes);
		w->mask = pool->mask;
	}
	ep_win_reset(w);
	return w;
}

struct ep_win *
ep_win_take(struct rl_ep *ep)
{
	struct ep_win *w = take_of(ep, &ep->win[0]);

	RL_ASSERT(w != NULL); /* there is one for each flow that holds flits */
	return w;
}

void
ep_win_give(struct rl_ep *ep, struct ep_win *w)
{
	struct ep_win_pool *pool = &ep->win[w->mask != ep->win[0].mask];

	w->next_free = pool->free;
	pool->free = w;
}

bool
ep_win_grow(struct rl_ep *ep, struct ep_win **w, uint32_t from, uint32_t to)
{
	struct ep_win *const old = *w;
	struct ep_win *const larger = take_of(ep, &ep->win[1]);

	if (larger == NULL)
		return false;
	for (uint32_t s = from; s != to; s++) {
		ep_win_put(larger, s, ep_win_at(old, s));
		if (ep_win_bit(old, s))
			ep_win_set(larger, s);
	}
	ep_win_give(ep, old);
	*w = larger;
	return true;
}

void
ep_list_push(struct rl_ep *ep, enum ep_list_id id, struct ep_flow *flow)
{
	const unsigned int level = ep_sl(ep, flow->peer, flow->cos);
	struct ep_list *l = &ep->list[id][level];

	if (flow->flags & EPF_ON_LIST(id))
		return;
	flow->flags |= EPF_ON_LIST(id);
	flow->turn[id] = ep->turn++;
	flow->link[id] = NULL;
	if (l->head == NULL) {
		l->head = flow;
		l->turn = flow->turn[id];
	} else {
		l->tail->link[id] = flow;
	}
	l->tail = flow;
	ep->list_mask[id] |= 1u << level;
}

unsigned int
ep_list_level(const struct rl_ep *ep, enum ep_list_id id, uint32_t mask)
{
	unsigned int best = (unsigned int)__builtin_ctz(mask);

	while ((mask &= mask - 1) != 0) {
		const unsigned int l = (unsigned int)__builtin_ctz(mask);

		if (ep->list[id][l].turn < ep->list[id][best].turn)
			best = l;
	}
	return best;
}

void
ep_list_pop(struct rl_ep *ep, enum ep_list_id id, unsigned int level)
{
	struct ep_list *l = &ep->list[id][level];
	struct ep_flow *flow = l->head;

	l->head = flow->link[id];
	flow->flags &= ~EPF_ON_LIST(id);
	if (l->head == NULL)
		ep->list_mask[id] &= ~(1u << level);
	else
		l->turn = l->head->turn[id];
}

void
ep_ctrl_now(struct rl_ep *ep, struct ep_flow *flow)
{
	ep_list_push(ep, EP_LIST_CTRL, flow);
	ep->ctrl_first = ep->turn;
}
