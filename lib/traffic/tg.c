/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "rl_plant.h"
#include "rl_tg.h"

#define SLOT_NS_MAX (UINT32_MAX / 1000)
#define SHARED 8		    /* places aside, shared by the classes */
#define WAIT_NS (10 * RL_NS_PER_US) /* retry of packets that wait */

struct rl_tg {
	struct rl_source source; /**< first: tg_offer() knows it by this */
	struct rl_source_cfg drawn;
	struct rl_tg_cfg cfg;
	struct rl_flit_cache *cache;
	bool running;
	uint64_t retry_ns; /**< when to retry packets that wait */

	struct rl_tg_counts count;
	struct rl_range_pool pool;
	uint32_t nflows;
	uint32_t hash_mask;
	uint32_t *hash; /**< 1 + index into flow; 0: free */
	struct rl_tg_flow *flow;
	struct rl_delay *delay; /**< 1 or RL_VCS */
};

struct layout {
	size_t delay;
	size_t flow;
	size_t hash;
	size_t node;
	size_t total;
	uint32_t hash_size;
};

static size_t
place(size_t *at, size_t bytes)
{
	const size_t here = *at;

	*at += (bytes + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1);
	return here;
}

static unsigned int
ndelays(const struct rl_tg_cfg *cfg)
{
	return cfg->hist_by_vc ? RL_VCS : 1;
}

static void
lay_out(const struct rl_tg_cfg *cfg, struct layout *l)
{
	size_t at = 0;

	l->hash_size = rl_pow2_ceil(2 * cfg->max_flows);
	place(&at, sizeof(struct rl_tg));
	l->hash = place(&at, l->hash_size * sizeof(uint32_t));
	l->flow = place(&at, cfg->max_flows * sizeof(struct rl_tg_flow));
	l->node = place(&at, cfg->max_ranges * sizeof(struct rl_range));
	l->delay = place(&at, ndelays(cfg) * sizeof(struct rl_delay));
	l->total = at;
}

size_t
rl_tg_memsize(const struct rl_tg_cfg *cfg)
{
	struct layout l;

	lay_out(cfg, &l);
	return l.total;
}

static bool
cfg_ok(const struct rl_tg_cfg *c)
{
	return c->ncos >= 1 && c->ncos <= RL_SOURCE_COS &&
	       c->min_flits >= 1 && c->min_flits <= c->max_flits &&
	       (!c->by_kind || c->ncos == RL_KINDS) &&
	       c->requests_ppm <= RL_SOURCE_PPM &&
	       c->max_flits <= RL_PACKET_FLITS_MAX && c->load >= 0 &&
	       (c->load == 0 || c->slot_ns > 0) && c->slot_ns <= SLOT_NS_MAX && c->max_flows >= 1;
}

static uint32_t
hash_of(const struct rl_tg *tg, uint16_t peer, uint8_t cos)
{
	const uint32_t key = (uint32_t)peer << 4 | cos;

	return key * 0x9e3779b1u >> 8 & tg->hash_mask;
}

const struct rl_tg_flow *
rl_tg_flow_find(const struct rl_tg *tg, uint16_t peer, uint8_t cos)
{
	for (uint32_t h = hash_of(tg, peer, cos);;
	     h = (h + 1) & tg->hash_mask) {
		const struct rl_tg_flow *flow;

		if (tg->hash[h] == 0)
			return NULL;
		flow = &tg->flow[tg->hash[h] - 1];
		if (flow->peer == peer && flow->cos == cos)
			return flow;
	}
}

/* Finds or makes it; NULL if max_flows are in use. */
static struct rl_tg_flow *
tg_flow_get(struct rl_tg *tg, uint16_t peer, uint8_t cos)
{
	struct rl_tg_flow *flow;
	uint32_t h = hash_of(tg, peer, cos);

	for (; tg->hash[h] != 0; h = (h + 1) & tg->hash_mask) {
		flow = &tg->flow[tg->hash[h] - 1];
		if (flow->peer == peer && flow->cos == cos)
			return flow;
	}
	if (tg->nflows == tg->cfg.max_flows)
		return NULL;
	flow = &tg->flow[tg->nflows];
	*flow = (struct rl_tg_flow){ .peer = peer, .cos = cos };
	/* release: a concurrent reader sees it complete (rl_ledger_look()) */
	rl_fence_release();
	tg->hash[h] = ++tg->nflows;
	return flow;
}

/** An rl_source_cfg.offer. */
static int
tg_offer(struct rl_source *src, struct rl_ep *ep,
	 const struct rl_source_packet *p, uint64_t now_ns)
{
	struct rl_tg *tg = (struct rl_tg *)(void *)src;
	struct rl_tg_flow *flow = tg_flow_get(tg, p->dst, p->cos);
	struct rl_stamp s;
	uint32_t tag = 0;
	int rc;

	if (flow == NULL)
		return -EBUSY;
	s = rl_source_draw(src, p, flow->sent, 0, flow->sent);
	rc = rl_source_give(ep, &s, now_ns, &tag);
	if (rc == -EHOSTUNREACH) {
		tg->count.unreachable_packets++;
		return rc;
	}
	if (rc != 0) {
		/* a packet that can never be sent is a configuration error */
		RL_ASSERT(rc == -EAGAIN || rc == -EBUSY || rc == -ENOBUFS);
		tg->count.refused++;
		return rc;
	}
	if (flow->sent == 0 || flow->anew) {
		flow->tag0 = tag - flow->sent;
		flow->anew = false;
	}
	if (tag - flow->tag0 != flow->sent)
		tg->count.inexact++; /* another client uses this flow */
	flow->sent++;
	tg->count.sent_requests += s.class == RL_CLASS_REQ_NONPOSTED;
	tg->count.sent_responses += p->response;
	tg->count.sent_packets++;
	tg->count.sent_flits += rl_ep_flits_of(s.len_bytes);
	tg->count.sent_bytes += s.len_bytes;
	return 0;
}

/* Readies the source for a start, or for responses alone. */
static void
tg_source(struct rl_tg *tg)
{
	const struct rl_tg_cfg *c = &tg->cfg;
	/* responses are owed, not drawn */
	const uint32_t ndraw =
		!c->by_kind ? c->ncos
			    : c->requests_ppm % RL_SOURCE_PPM == 0 ? 1 : 2;

	tg->drawn = (struct rl_source_cfg){
		.pattern = c->pattern,
		.seed = c->seed,
		.load = c->load,
		.slot_ps = (uint32_t)(c->slot_ns * 1000),
		.min_flits = c->min_flits,
		.max_flits = c->max_flits,
		.requests_ppm = c->requests_ppm,
		.ncos = c->ncos,
		.by_kind = c->by_kind,
		.share = ndraw < SHARED ? SHARED / ndraw : 1,
		.offer = tg_offer,
	};
	tg->source.cfg = &tg->drawn;
	rl_source_stop(&tg->source);
}

struct rl_tg *
rl_tg_init(void *mem, const struct rl_tg_cfg *cfg, struct rl_flit_cache *cache)
{
	struct rl_tg *tg = mem;
	uint8_t *base = mem;
	uint64_t seed = cfg->seed;
	struct layout l;

	if (!cfg_ok(cfg))
		return NULL;
	lay_out(cfg, &l);
	memset(tg, 0, sizeof(*tg));
	tg->cfg = *cfg;
	tg->cache = cache;
	tg_source(tg);
	tg->source.id = cfg->ep_id;
	/* each endpoint draws its own sequence from the common seed */
	rl_prng_seed(&tg->source.prng, rl_splitmix64(&seed) + cfg->ep_id);
	tg->hash_mask = l.hash_size - 1;
	tg->hash = (uint32_t *)(void *)(base + l.hash);
	memset(tg->hash, 0, l.hash_size * sizeof(uint32_t));
	tg->flow = (struct rl_tg_flow *)(void *)(base + l.flow);
	tg->delay = (struct rl_delay *)(void *)(base + l.delay);
	for (unsigned int i = 0; i < ndelays(cfg); i++)
		rl_delay_reset(&tg->delay[i]);
	rl_range_pool_init(&tg->pool,
			   (struct rl_range *)(void *)(base + l.node),
			   cfg->max_ranges);
	return tg;
}

void
rl_tg_set(struct rl_tg *tg, const struct rl_pattern *pattern, double load,
	  uint64_t packets, uint64_t duration_ns)
{
	RL_ASSERT(load >= 0 && (load == 0 || tg->cfg.slot_ns > 0));
	tg->cfg.pattern = pattern;
	tg->cfg.load = load;
	tg->cfg.packets = packets;
	tg->cfg.duration_ns = duration_ns;
}

void
rl_tg_start(struct rl_tg *tg, uint64_t now_ns)
{
	const struct rl_tg_cfg *c = &tg->cfg;
	struct rl_source *const src = &tg->source;

	tg_source(tg);
	tg->running = c->pattern != NULL;
	src->left = c->packets != 0 ? c->packets : UINT64_MAX;
	src->end_ns = c->duration_ns != 0 ? rl_deadline(now_ns, c->duration_ns)
					  : RL_NEVER;
	if (tg->running)
		rl_source_next(src, now_ns);
}

void
rl_tg_stop(struct rl_tg *tg)
{
	tg->running = false;
	rl_source_stop(&tg->source);
}

static unsigned int
tg_send(struct rl_tg *tg, struct rl_ep *ep, uint64_t now_ns)
{
	struct rl_source *const src = &tg->source;
	unsigned int n = 0;

	if (src->owed > 0 && (tg->running || !RL_PLANTED(ASK_STOPPED)))
		n = rl_source_answer(src, ep, now_ns);
	if (tg->running) {
		n += rl_source_send(src, ep, now_ns);
		tg->count.redirected_packets = src->redirected;
		tg->running = !rl_source_done(src);
	}
	tg->retry_ns = now_ns + WAIT_NS;
	return n;
}

uint64_t
rl_tg_deadline(void *ctx)
{
	const struct rl_tg *tg = ctx;
	const struct rl_source *const src = &tg->source;

	if (src->owed > 0 || src->naside > 0 || src->tried)
		return rl_min_u64(tg->retry_ns,
				  src->tried ? RL_NEVER : src->next_ns);
	return src->next_ns;
}

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

static unsigned int
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

unsigned int
rl_tg_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct rl_tg *tg = ctx;
	unsigned int n = tg_check(tg, ep, now_ns);

	return n + tg_send(tg, ep, now_ns);
}

/*
 * A report names a packet by the endpoint's tag. If the generator is the only
 * client of its flows, tags differ from numbers by a constant.
 */
void
rl_tg_report(struct rl_tg *tg, const struct rl_ep_report *report)
{
	struct rl_tg_flow *flow = tg_flow_get(tg, report->dst, report->cos);
	const uint32_t number = flow ? report->tag - flow->tag0 : 0;

	if (flow != NULL && number < flow->sent)
		rl_ranges_add(&tg->pool, &flow->reported, number, number + 1);
	else
		tg->count.inexact++;
}

static void
excuse(struct rl_tg *tg, struct rl_tg_flow *flow)
{
	if (flow->sent != 0)
		rl_ranges_add(&tg->pool, &flow->reported, 0, flow->sent);
	/* the requester no longer waits for them */
	rl_source_forgive(&tg->source, &flow->owed);
}

void
rl_tg_excuse(struct rl_tg *tg, uint16_t peer)
{
	for (uint32_t i = 0; i < tg->nflows; i++)
		if (tg->flow[i].peer == peer)
			excuse(tg, &tg->flow[i]);
}

void
rl_tg_crashed(struct rl_tg *tg)
{
	rl_source_owe_nothing(&tg->source);
	for (uint32_t i = 0; i < tg->nflows; i++) {
		excuse(tg, &tg->flow[i]);
		tg->flow[i].anew = true;
	}
}

bool
rl_tg_done(const struct rl_tg *tg)
{
	return !tg->running;
}

const struct rl_tg_counts *
rl_tg_counts(const struct rl_tg *tg)
{
	return &tg->count;
}

uint64_t
rl_tg_owed(const struct rl_tg *tg)
{
	return tg->source.owed;
}

const struct rl_delay *
rl_tg_delay(const struct rl_tg *tg, unsigned int vc)
{
	return vc < ndelays(&tg->cfg) ? &tg->delay[vc] : NULL;
}

uint32_t
rl_tg_flow_count(const struct rl_tg *tg)
{
	return tg->nflows;
}

const struct rl_tg_flow *
rl_tg_flow(const struct rl_tg *tg, uint32_t i)
{
	RL_ASSERT(i < tg->nflows);
	return &tg->flow[i];
}

const struct rl_range_pool *
rl_tg_ranges(const struct rl_tg *tg)
{
	return &tg->pool;
}

uint16_t
rl_tg_ep_id(const struct rl_tg *tg)
{
	return tg->cfg.ep_id;
}
