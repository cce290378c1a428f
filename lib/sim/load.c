/* SPDX-License-Identifier: BSD-3-Clause */

/* The host of sources: what an endpoint accepts, and when a client takes. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

/* Packets of this life of their source. */
static bool
load_may(const struct rl_source *src, uint16_t dst, uint8_t cos)
{
	const struct rl_sim_load *load =
		((const struct load_src *)(const void *)src)->load;
	const struct load_flow *flow = load_flow(load, src->id, dst, cos);

	return load_sent(flow) - flow->first < load->cfg.flow_packets;
}

static void
count_sent(struct rl_sim_load_stats *st, const struct rl_stamp *s)
{
	st->sent++;
	st->sent_flits += rl_ep_flits_of(s->len_bytes);
	st->sent_requests += s->class == RL_CLASS_REQ_NONPOSTED;
	st->sent_responses += s->class == RL_CLASS_RSP;
}

/* Whether no earlier packet of a flow is outstanding; its destination knows how
   far the flow has got. */
static bool
is_first(const struct load_flow *flow, uint32_t number)
{
	return number == flow->first || number == flow->seen.next;
}

/* Before a packet is offered, maybe not for the first time: records since when
   the flow has had something to send, for the checks of silence. A client may
   have made it long ago, and have kept it behind others. */
static void
note_offer(struct load_flow *flow, uint32_t number, uint64_t now_ns)
{
	if (is_first(flow, number) &&
	    flow->sent_ns <= rl_max_u64(flow->last_ns, flow->told_ns))
		flow->sent_ns = now_ns;
}

/* Before a packet that the endpoint took counts as sent. */
static void
note_taken(struct load_flow *flow, uint32_t number, uint64_t now_ns)
{
	if (is_first(flow, number) || flow->told_ns > flow->taken_ns)
		flow->taken_ns = now_ns;
}

/* An rl_source_cfg.offer. */
static int
load_offer(struct rl_source *source, struct rl_ep *ep,
	   const struct rl_source_packet *p, uint64_t now_ns)
{
	struct load_src *const src = (struct load_src *)(void *)source;
	struct rl_sim_load *load = src->load;
	struct load_flow *flow = load_flow(load, source->id, p->dst, p->cos);
	struct rl_sim_load_stats *const st = &src->part->st;
	const uint32_t number = load_sent(flow);
	struct rl_stamp s = rl_source_draw(source, p, number, flow->life,
					   number - flow->first);
	uint32_t tag;
	int ret;

	if (load->nparts == 1)
		note_offer(flow, number, now_ns);
	if (load->cfg.trace != NULL)
		ret = load_give_frame(load->cfg.trace, ep, &s, now_ns,
				      &tag);
	else
		ret = rl_source_give(ep, &s, now_ns, &tag);
	if (ret == -EHOSTUNREACH) {
		st->refused++;
		st->refused_responses += p->response;
	}
	if (ret != 0)
		return ret;
	if (number == flow->first)
		flow->tag0 = tag - number;
	RL_ASSERT(tag - flow->tag0 == number);
	if (load->cfg.trace != NULL)
		load_time_put(&src->times, s.t_ns);
	if (load->nparts == 1)
		note_taken(flow, number, now_ns);
	load_set_sent(flow, number + 1);
	count_sent(st, &s);
	return 0;
}

static void
load_warm(const struct rl_source *src)
{
	const struct rl_sim_load *load =
		((const struct load_src *)(const void *)src)->load;
	const struct load_flow *flow =
		load_flow(load, src->id, src->dst, src->cos);

	__builtin_prefetch(flow, 1);
}

/*
 * The schedule of a slow client, staggered by client. Polls may miss a short
 * period: then the client takes packets late. @return whether it takes any now
 */
static bool
load_takes(struct load_src *src, uint64_t now_ns)
{
	const struct rl_sim_load_cfg *c = &src->load->cfg;
	const uint64_t period = c->slow_ns + c->take_ns;
	const uint64_t phase =
		c->slow_ns == 0 ? 0 : (now_ns + src->source.id * 7919u) % period;
	bool late;

	if (phase >= c->slow_ns || c->slow_ns == 0) {
		src->took = true;
		return true;
	}
	late = !src->took && src->takes_ns != 0 && now_ns >= src->takes_ns;
	src->takes_ns = now_ns + c->slow_ns - phase;
	src->took = false;
	return late;
}

static uint64_t
load_takes_ns(void *ctx)
{
	const struct load_src *src = ctx;

	return src->takes_ns;
}

static inline unsigned int
poll_client(struct load_src *src, struct rl_ep *ep, uint64_t now_ns, bool tell)
{
	const struct rl_sim_load_cfg *c = &src->load->cfg;
	struct rl_flit *pkt;
	unsigned int n = 0;

	src->dead = false;
	while (load_takes(src, now_ns) && (pkt = rl_ep_recv(ep)) != NULL) {
		if (tell)
			c->taken(c->taken_ctx, src->source.id, pkt, now_ns);
		load_judge(src->load, src->source.id, pkt, now_ns);
		rl_packet_put(src->cache, pkt);
		n++;
	}
	n += rl_source_answer(&src->source, ep, now_ns);
	return n + rl_source_send(&src->source, ep, now_ns);
}

static unsigned int
load_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	return poll_client(ctx, ep, now_ns, false);
}

static unsigned int
load_poll_tell(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	return poll_client(ctx, ep, now_ns, true);
}

static uint64_t
load_deadline(void *ctx)
{
	const struct rl_source *src = &((const struct load_src *)ctx)->source;

	return src->naside != 0 || src->owed != 0 ? 0 : src->next_ns;
}

void
rl_sim_load_grid(struct rl_pattern_cfg *p, const struct rl_topo *topo)
{
	const struct rl_topo_spec *spec = &topo->spec;

	if (spec->kind != RL_TOPO_TORUS && spec->kind != RL_TOPO_MESH)
		return;
	p->ndims = spec->ndims;
	for (unsigned int d = 0; d < spec->ndims; d++)
		p->dims[d] = spec->dims[d];
	p->hosts_per_switch = spec->hosts_per_switch;
}

static int
make_pattern(struct rl_sim_load *load)
{
	struct rl_pattern_cfg c = load->cfg.pattern;

	c.nep = load->cfg.nep;
	c.seed = load->cfg.seed;
	load->pattern_mem = calloc(1, rl_pattern_memsize(&c) + 1);
	if (load->pattern_mem == NULL)
		return -ENOMEM;
	return rl_pattern_init(&load->pattern, &c, load->pattern_mem);
}

static int
make_parts(struct rl_sim_load *load)
{
	const unsigned int n = load->cfg.threads == 0 ? 1 : load->cfg.threads;
	const size_t bytes = sizeof(struct load_part) +
			     (load->cfg.delays ? RL_VCS : 0) *
				     sizeof(struct rl_delay);

	RL_ASSERT(n <= RL_SIM_THREADS_MAX);
	while (load->nparts < n) {
		struct load_part *const part = calloc(1, bytes);

		if (part == NULL)
			return -ENOMEM;
		rl_hist_reset(&part->st.latency);
		for (unsigned int vc = 0; load->cfg.delays && vc < RL_VCS;
		     vc++)
			rl_delay_reset(&part->delay[vc]);
		load->part[load->nparts++] = part;
		if (load->cfg.window.to_ns == 0)
			continue;
		part->window = load_window_new(&load->cfg);
		if (part->window == NULL)
			return -ENOMEM;
	}
	return 0;
}

static void
make_sources(struct rl_sim_load *load)
{
	const struct rl_sim_load_cfg *c = &load->cfg;
	struct rl_prng prng;

	load->drawn = (struct rl_source_cfg){
		.pattern = &load->pattern,
		.seed = c->seed,
		.load = c->load,
		.slot_ps = c->slot_ps,
		.min_flits = c->min_flits,
		.max_flits = c->max_flits,
		.requests_ppm = c->requests_ppm,
		.ncos = (uint8_t)c->cos,
		.by_kind = c->by_kind,
		.share = RL_SOURCE_ASIDE,
		.burst_ns = c->burst_ns,
		.pause_ns = c->pause_ns,
		.offer = load_offer,
		.may = c->flow_packets == 0 ? NULL : load_may,
		.warm = load_warm,
	};
	rl_prng_seed(&prng, c->seed);
	for (uint16_t i = 0; i < c->nep; i++) {
		struct rl_source *src = &load->src[i].source;

		load->src[i].load = load;
		src->cfg = &load->drawn;
		src->id = i;
		src->left = UINT64_MAX;
		src->end_ns = c->stop_ns;
		rl_prng_seed(&src->prng, rl_prng_u64(&prng));
	}
}

struct rl_sim_load *
rl_sim_load_new(const struct rl_sim_load_cfg *cfg)
{
	struct rl_sim_load *load = calloc(1, sizeof(*load));
	const size_t n = cfg->nep;

	if (load == NULL)
		return NULL;
	RL_ASSERT(!cfg->by_kind || cfg->cos == RL_KINDS);
	RL_ASSERT(n >= 2 && cfg->load > 0 && cfg->cos >= 1 &&
		  cfg->min_flits >= 1 && cfg->max_flits >= cfg->min_flits);
	load->cfg = *cfg;
	load->src = calloc(n, sizeof(*load->src));
	/* pages that no flow touches cost nothing */
	load->flow_mem = calloc(n * n * cfg->cos + 1, sizeof(*load->flow));
	load->flow = (void *)(((uintptr_t)load->flow_mem + RL_CACHE_LINE - 1) &
			      ~(uintptr_t)(RL_CACHE_LINE - 1));
	load->rare = calloc(n * n * cfg->cos, sizeof(*load->rare));
	if (load->src == NULL || load->flow_mem == NULL || load->rare == NULL ||
	    make_parts(load) != 0 || make_pattern(load) != 0)
		goto err;
	make_sources(load);
	if (cfg->packets != 0 && load_deal(load) != 0)
		goto err;
	for (uint16_t i = 0; i < n; i++)
		rl_source_next(&load->src[i].source, cfg->start_ns);
	return load;

err:
	rl_sim_load_free(load);
	return NULL;
}

void
rl_sim_load_free(struct rl_sim_load *load)
{
	for (uint16_t i = 0; load->src != NULL && i < load->cfg.nep; i++)
		free(load->src[i].times.ns);
	free(load->flow_mem);
	free(load->rare);
	for (unsigned int i = 0; i < load->nparts; i++) {
		free(load->part[i]->window);
		free(load->part[i]->missing.node);
		free(load->part[i]);
	}
	free(load->reported.node);
	free(load->pattern_mem);
	free(load->src);
	free(load);
}

void
rl_sim_load_client(struct rl_sim_load *load, uint16_t ep,
		   const struct rl_sim_seat *seat, struct rl_client *client)
{
	struct load_src *const src = &load->src[ep];

	RL_ASSERT(seat->part < load->nparts);
	src->part = load->part[seat->part];
	src->cache = seat->cache;
	*client = (struct rl_client){
		.ctx = src,
		.poll = load->cfg.taken == NULL ? load_poll : load_poll_tell,
		.deadline = load_deadline,
		.takes_ns = load_takes_ns,
	};
}

static void
on_client(void *ctx, RL_UNUSED uint32_t dev, uint16_t ep,
	  const struct rl_sim_seat *seat, struct rl_client *client)
{
	rl_sim_load_client(ctx, ep, seat, client);
}

static void
on_report(void *ctx, const struct rl_ep_report *report, uint64_t now_ns)
{
	rl_sim_load_report(ctx, report, now_ns);
}

static void
on_crash(void *ctx, uint16_t ep, RL_UNUSED uint64_t now_ns)
{
	rl_sim_load_crash(ctx, ep);
}

void
rl_sim_load_serve(struct rl_sim_load *load, struct rl_sim_params *p)
{
	p->client = on_client;
	p->report = on_report;
	p->ep_crash = on_crash;
	p->ctx = load;
}

uint64_t
rl_sim_load_connected(void *ctx, uint16_t src, uint16_t dst)
{
	struct rl_sim *const *sim = ctx;

	return rl_sim_connected_since(*sim, src, dst);
}

bool
rl_sim_load_done(const struct rl_sim_load *load)
{
	for (uint16_t i = 0; i < load->cfg.nep; i++)
		if (!load->src[i].dead &&
		    (!rl_source_done(&load->src[i].source) ||
		     load->src[i].source.owed != 0))
			return false;
	return true;
}
