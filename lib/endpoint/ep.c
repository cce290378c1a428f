/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ep_congest.h"

/** Where the parts of an endpoint lie in its memory. */
struct layout {
	size_t flow;
	size_t cc;
	size_t hash;
	size_t heap;
	size_t refused;
	size_t known;
	size_t peer;
	size_t total;
	uint32_t hash_size;
	struct ep_win_pool pool[EP_WINS];
};

static size_t
place(size_t *at, size_t bytes)
{
	const size_t here = *at;

	*at += (bytes + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1);
	return here;
}

/* Slots of a small window; the longest packet fits. */
#define SMALL_SLOTS 256u
/* Large windows: enough for each flow of a few dozen peers. */
#define LARGE_WINS 64u

/*
 * A flow has a window only while it holds flits, so there are never more
 * windows than flits that may be held. Without retry a receiver must hold what
 * comes, so there all windows are large.
 */
static void
lay_out_windows(const struct rl_ep_cfg *cfg, struct ep_win_pool *pool,
		size_t *at)
{
	const uint32_t slots = rl_pow2_ceil(cfg->window_flits);
	const uint32_t n = rl_min_u32(cfg->max_flows, cfg->tx_buffer_flits) +
			   rl_min_u32(cfg->max_flows, cfg->rx_buffer_flits);
	const bool sizes = cfg->retry && slots > SMALL_SLOTS;

	memset(pool, 0, EP_WINS * sizeof(*pool));
	pool[0].mask = (sizes ? SMALL_SLOTS : slots) - 1;
	pool[0].total = n;
	pool[1].mask = slots - 1;
	pool[1].total = sizes ? rl_min_u32(n, LARGE_WINS) : 0;
	for (unsigned int i = 0; i < EP_WINS; i++) {
		pool[i].bytes = (ep_win_bytes(pool[i].mask) + RL_CACHE_LINE -
				 1) & ~(size_t)(RL_CACHE_LINE - 1);
		pool[i].at = place(at, pool[i].total * pool[i].bytes);
	}
}

static void
lay_out(const struct rl_ep_cfg *cfg, uint16_t npeers, struct layout *l)
{
	size_t at = 0;

	l->hash_size = rl_pow2_ceil(2 * cfg->max_flows);
	place(&at, sizeof(struct rl_ep));
	l->known = place(&at, (npeers + 63u) / 64 * sizeof(uint64_t));
	l->peer = place(&at, npeers * sizeof(struct ep_peer));
	l->hash = place(&at, l->hash_size * sizeof(uint32_t));
	l->heap = place(&at, cfg->max_flows * sizeof(struct ep_timer));
	l->refused = place(&at, cfg->max_flows * sizeof(uint32_t));
	l->flow = place(&at, cfg->max_flows * sizeof(struct ep_flow));
	l->cc = place(&at, cfg->congestion == RL_CONGESTION_NONE &&
				   cfg->order == RL_ORDER_PATH
				   ? 0
				   : cfg->max_flows * sizeof(struct ep_cc));
	lay_out_windows(cfg, l->pool, &at);
	l->total = at;
}

size_t
rl_ep_memsize(const struct rl_ep_cfg *cfg, uint16_t npeers)
{
	struct layout l;

	lay_out(cfg, npeers, &l);
	return l.total;
}

static uint8_t
seq_bits(const struct rl_ep_cfg *cfg, bool isn)
{
	return isn && cfg->isn == RL_ISN_WIDE19 ? RL_E2E_WIDE_BITS
						: RL_E2E_SEQ_BITS;
}

/* With eight levels, half of a buffer of the usual size is for all of them. */
#define OWN_MAX 256u

/*
 * The part of the retry buffer reserved for each of several levels: a window,
 * up to OWN_MAX, as far as the buffer reaches. If that is less than a packet,
 * nothing is reserved.
 */
static uint32_t
own_part(const struct rl_ep_cfg *cfg, unsigned int levels)
{
	uint32_t part;

	if (levels < 2)
		return 0;
	part = rl_min_u32(rl_min_u32(cfg->window_flits,
				     rl_max_u32(OWN_MAX, cfg->max_packet_flits)),
			  cfg->tx_buffer_flits / levels);
	return part < cfg->max_packet_flits ? 0 : part;
}

/* Assigns service levels to classes of service, if there are several levels. */
static void
deal_levels(struct rl_ep *ep, uint8_t levels)
{
	ep->levels = levels;
	for (unsigned int cos = 0; levels >= 2 && cos < 16; cos++) {
		ep->cos_level[cos] = (uint8_t)(cos % levels);
		ep->cos_sl[cos] = (uint8_t)(cos % levels * (RL_SLS / levels));
	}
}

struct rl_ep *
rl_ep_init(void *mem, const struct rl_ep_params *p)
{
	struct rl_ep *ep = mem;
	uint8_t *base = mem;
	struct layout l;

	RL_ASSERT(((uintptr_t)mem & (RL_CACHE_LINE - 1)) == 0);
	lay_out(p->cfg, p->npeers, &l);
	memset(ep, 0, sizeof(*ep));
	ep->cfg = *p->cfg;
	/* a sender blocked on its window must not wait for the ACK delay */
	ep->cfg.ack_coalesce_flits =
		rl_min_u32(ep->cfg.ack_coalesce_flits,
			   (ep->cfg.window_flits + 1) / 2);
	ep->codec = p->codec;
	ep->cache = p->cache;
	/* without retry the flits themselves are sent */
	ep->keep = p->keep != NULL && p->cfg->retry ? p->keep : p->cache;
	ep->path_sl = p->path_sl;
	deal_levels(ep, p->levels);
	ep->tx_own = own_part(p->cfg, p->levels);
	ep->report = p->report;
	ep->report_ctx = p->report_ctx;
	ep->event = p->event;
	ep->event_ctx = p->event_ctx;
	ep->incarnation = p->incarnation;
	ep->jitter_ns = p->jitter_ns;
	ep->id = p->ep_id;
	ep->witness = p->witness;
	ep->npeers = p->npeers;
	ep->isn = ep->cfg.profile == RL_PROFILE_RXL ||
		  ep->cfg.profile == RL_PROFILE_RXL_COMPACT;
	ep->seq_bits = seq_bits(&ep->cfg, ep->isn);
	ep->peer_known = (uint64_t *)(void *)(base + l.known);
	memset(ep->peer_known, 0, l.peer - l.known);
	ep->peer = (struct ep_peer *)(void *)(base + l.peer);
	ep->hash_mask = l.hash_size - 1;
	ep->hash = (uint32_t *)(void *)(base + l.hash);
	memset(ep->hash, 0, l.hash_size * sizeof(uint32_t));
	ep->heap = (struct ep_timer *)(void *)(base + l.heap);
	ep->refused = (uint32_t *)(void *)(base + l.refused);
	ep->flow = (struct ep_flow *)(void *)(base + l.flow);
	ep->cc = (struct ep_cc *)(void *)(base + l.cc);
	memcpy(ep->win, l.pool, sizeof(ep->win));
	return ep;
}

static void
flush_flow(struct rl_ep *ep, struct ep_flow *flow)
{
	ep->outstanding -= flow->next - flow->una;
	if (flow->tx_win != NULL) {
		flow->sent = flow->next;
		ep_tx_release(ep, flow, flow->next);
	}
	flow->rto_at_ns = RL_NEVER;
	if (flow->part != NULL)
		ep_reasm_drop(ep, flow);
	ep_order_sync(ep, flow, flow->held > 0 ? flow->high : flow->expect,
		      flow->rx_tag);
	flow->gap_at_ns = RL_NEVER;
	flow->ack_at_ns = RL_NEVER;
}

void
rl_ep_flush(struct rl_ep *ep)
{
	struct rl_flit *pkt;

	for (uint32_t i = 0; i < ep->nflows; i++)
		flush_flow(ep, &ep->flow[i]);
	while ((pkt = rl_pktq_pop(&ep->ready)) != NULL)
		rl_packet_put(ep->cache, pkt);
	RL_ASSERT(rl_ep_flits(ep) == 0 && ep->outstanding == 0);
}

void
rl_ep_set_path_sl(struct rl_ep *ep, const uint8_t *path_sl)
{
	ep->path_sl = path_sl;
}
