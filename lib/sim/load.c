/* SPDX-License-Identifier: BSD-3-Clause */

/* The generator: source, destination and time of each packet. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

/* Packets that one poll may accept, so that other roles get their turn. */
#define LOAD_BURST 16

/* ln(x) for x in (0, 1], to a few parts in 10^6; identical on every machine. */
static double
log_unit(double x)
{
	double y, z, sum = 0, term;
	int halvings = 0;

	while (x < 0.70710678118654752440) {
		x *= 2;
		halvings++;
	}
	y = (x - 1) / (x + 1);
	z = y * y;
	term = y;
	for (int k = 1; k < 14; k += 2) {
		sum += term / k;
		term *= z;
	}
	return 2 * sum - halvings * 0.69314718055994530942;
}

static uint8_t
pick_cos(const struct rl_sim_load_cfg *c, struct rl_prng *prng)
{
	if (!c->by_kind)
		return (uint8_t)rl_prng_below(prng, c->cos);
	return rl_prng_below(prng, 1000000) < c->requests_ppm
		       ? RL_KIND_REQUEST
		       : RL_KIND_POSTED;
}

/* Packets of this life of its source. */
static uint32_t
flow_made(const struct load_flow *flow)
{
	return load_sent(flow) - flow->first;
}

/* Picks a flow that may send another packet. @return false: none was found */
static bool
pick_flow(struct load_src *src)
{
	const struct rl_sim_load_cfg *c = &src->load->cfg;

	for (unsigned int tries = 0; tries < 16; tries++) {
		const uint32_t dst = rl_pattern_dst(&src->load->pattern,
						    src->id, &src->prng);

		if (dst == RL_PATTERN_NONE)
			return false; /* incast: the target itself sends
					 nothing */
		src->dst = (uint16_t)dst;
		src->cos = pick_cos(c, &src->prng);
		if (c->flow_packets == 0 ||
		    flow_made(load_flow(src->load, src->id, src->dst,
					src->cos)) < c->flow_packets)
			return true;
	}
	return false;
}

void
load_next(struct load_src *src, uint64_t from_ns)
{
	struct rl_sim_load *load = src->load;
	const struct rl_sim_load_cfg *c = &load->cfg;
	const double flits = (c->min_flits + c->max_flits) / 2.0;
	const double mean_ns = flits * c->slot_ps / 1000.0 / c->load;
	const double gap =
		-log_unit(1.0 - rl_prng_double(&src->prng)) * mean_ns;
	uint64_t t = from_ns + (uint64_t)(gap + 0.5);

	if (c->burst_ns != 0) {
		const uint64_t period = c->burst_ns + c->pause_ns;
		const uint64_t phase = (t + src->id * 7919u) % period;

		if (phase >= c->burst_ns) /* in a pause: wait for the next
					     burst */
			t += period - phase;
	}
	src->next_ns = RL_NEVER;
	if (t >= load->stop_ns || src->left == 0 || !pick_flow(src))
		return;
	src->left--;
	src->sends = true;
	src->next_ns = t;
}

/* Adds an accepted packet to the totals. */
static void
count_sent(struct rl_sim_load_stats *st, const struct rl_stamp *s)
{
	st->sent++;
	st->sent_flits += rl_ep_flits_of(s->len_bytes);
	st->sent_requests += s->class == RL_CLASS_REQ_NONPOSTED;
	st->sent_responses += s->class == RL_CLASS_RSP;
}

/* Before a packet of a flow is sent: records since when the flow has had
   packets outstanding, for the checks of silence. The destination knows how far
   the flow has got. */
static void
note_begin(struct load_flow *flow, const struct rl_stamp *s, uint64_t now_ns)
{
	const bool first = s->number == flow->first ||
			   s->number == flow->seen.next;

	if (first)
		flow->sent_ns = s->t_ns;
	if (first || flow->told_ns > flow->taken_ns)
		flow->taken_ns = now_ns;
}

/* Gives the endpoint a packet. @return as rl_ep_send() */
static int
give(const struct rl_sim_load *load, struct rl_ep *ep, struct rl_stamp *s,
     uint64_t now_ns, uint32_t *tag)
{
	const struct rl_sim_trace *const trace = load->cfg.trace;
	const uint8_t *const frame =
		trace == NULL ? NULL : load_frame(trace, s->number,
						  &s->len_bytes);
	const struct rl_ep_msg msg = { s->dst, s->cos, s->class, s->len_bytes };
	struct rl_stamp_writer w;

	if (frame != NULL)
		return rl_ep_send(ep, now_ns, &msg, frame, tag);
	rl_stamp_begin(&w, s);
	return rl_ep_send_fill(ep, now_ns, &msg, rl_stamp_fill, &w, tag);
}

int
load_offer(struct load_src *src, struct rl_ep *ep, const struct load_later *l,
	   uint64_t now_ns)
{
	struct rl_sim_load *load = src->load;
	struct load_flow *flow = load_flow(load, src->id, l->dst, l->cos);
	struct rl_sim_load_stats *const st = &src->part->st;
	struct rl_stamp s = {
		.src = src->id,
		.dst = l->dst,
		.cos = l->cos,
		.number = load_sent(flow),
		.t_ns = l->made_ns,
		.seed = load->cfg.seed,
	};
	uint32_t tag;
	int ret;

	load_draw(load, flow, &s);
	if (l->response)
		s.class = RL_CLASS_RSP;
	ret = give(load, ep, &s, now_ns, &tag);
	if (ret == -EHOSTUNREACH) {
		st->refused++;
		st->refused_responses += l->response;
	}
	if (ret != 0)
		return ret;
	if (s.number == flow->first)
		flow->tag0 = tag - s.number;
	RL_ASSERT(tag - flow->tag0 == s.number);
	if (load->cfg.trace != NULL)
		load_time_put(&src->times, s.t_ns);
	if (load->nparts == 1)
		note_begin(flow, &s, now_ns);
	load_set_sent(flow, s.number + 1);
	count_sent(st, &s);
	return 0;
}

/*
 * Whether to refuse a packet in favour of those for other destinations: its
 * flow makes no progress, and all LOAD_LATER places are taken.
 */
static bool
gives_way(struct load_src *src, const struct load_later *l, int ret)
{
	struct rl_sim_load_stats *const st = &src->part->st;

	if (ret != -ENOBUFS || src->nlater < LOAD_LATER ||
	    !rl_pattern_spreads(&src->load->pattern, src->id))
		return false;
	st->refused++;
	st->refused_responses += l->response;
	return true;
}

/* Offers the packets set aside, in order within each flow. */
static unsigned int
send_later(struct load_src *src, struct rl_ep *ep, uint64_t now_ns)
{
	uint16_t kept = 0;
	unsigned int n = 0;
	bool stop = false;

	for (uint16_t i = 0; i < src->nlater; i++) {
		const struct load_later *l = &src->later[i];
		int ret = -EBUSY;

		for (uint16_t j = 0; j < kept; j++)
			if (src->later[j].dst == l->dst &&
			    src->later[j].cos == l->cos)
				goto keep; /* an earlier packet of its flow
					      still waits */
		if (!stop)
			ret = load_offer(src, ep, l, now_ns);
		stop = stop || ret == -EAGAIN;
		n += ret == 0;
		if (ret == 0 || ret == -EHOSTUNREACH ||
		    gives_way(src, l, ret))
			continue;
keep:
		src->later[kept++] = *l;
	}
	src->nlater = kept;
	return n;
}

/* Whether a packet of this flow is set aside already. */
static bool
flow_waits(const struct load_src *src)
{
	for (uint16_t i = 0; i < src->nlater; i++)
		if (src->later[i].dst == src->dst &&
		    src->later[i].cos == src->cos)
			return true;
	return false;
}

/* Prefetches what the next packet needs. */
static void
warm_next(const struct load_src *src, const struct rl_ep *ep)
{
	const struct load_flow *flow =
		load_flow(src->load, src->id, src->dst, src->cos);

	__builtin_prefetch(flow, 1);
	__builtin_prefetch((const uint8_t *)flow + RL_CACHE_LINE, 1);
	rl_ep_prefetch(ep, src->dst, src->cos);
}

static unsigned int
load_send(struct load_src *src, struct rl_ep *ep, uint64_t now_ns)
{
	unsigned int n = src->nlater == 0 ? 0 : send_later(src, ep, now_ns);

	for (; n < LOAD_BURST && src->next_ns <= now_ns; n++) {
		const struct load_later l = { .made_ns = src->next_ns,
					      .dst = src->dst,
					      .cos = src->cos };
		int ret = -EBUSY;

		if (src->nlater == 0 || !flow_waits(src))
			ret = load_offer(src, ep, &l, now_ns);
		if ((ret == -EBUSY || ret == -ENOBUFS) &&
		    src->nlater < LOAD_LATER) {
			/* a blocked flow must not block others */
			src->later[src->nlater++] = l;
		} else if (ret != 0 && ret != -EHOSTUNREACH &&
			   !gives_way(src, &l, ret)) {
			break;
		}
		load_next(src, src->next_ns);
		warm_next(src, ep);
	}
	return n;
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
		c->slow_ns == 0 ? 0 : (now_ns + src->id * 7919u) % period;

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
			c->taken(c->taken_ctx, src->id, pkt, now_ns);
		load_judge(src->load, src->id, pkt, now_ns);
		rl_packet_put(src->cache, pkt);
		n++;
	}
	n += load_answer(src, ep, now_ns);
	return n + load_send(src, ep, now_ns);
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
	const struct load_src *src = ctx;

	return src->nlater != 0 || src->owed_first != 0 ? 0 : src->next_ns;
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

struct rl_sim_load *
rl_sim_load_new(const struct rl_sim_load_cfg *cfg)
{
	struct rl_sim_load *load = calloc(1, sizeof(*load));
	const size_t n = cfg->nep;
	struct rl_prng prng;

	if (load == NULL)
		return NULL;
	RL_ASSERT(!cfg->by_kind || cfg->cos == RL_KINDS);
	RL_ASSERT(n >= 2 && cfg->load > 0 && cfg->cos >= 1 &&
		  cfg->min_flits >= 1 && cfg->max_flits >= cfg->min_flits);
	load->cfg = *cfg;
	load->stop_ns = cfg->stop_ns;
	load->src = calloc(n, sizeof(*load->src));
	load->flow = calloc(n * n * cfg->cos, sizeof(*load->flow));
	if (load->src == NULL || load->flow == NULL ||
	    make_parts(load) != 0 || make_pattern(load) != 0) {
		rl_sim_load_free(load);
		return NULL;
	}
	rl_prng_seed(&prng, cfg->seed);
	for (uint16_t i = 0; i < n; i++) {
		struct load_src *src = &load->src[i];

		src->load = load;
		src->id = i;
		src->left = UINT64_MAX;
		rl_prng_seed(&src->prng, rl_prng_u64(&prng));
	}
	if (cfg->packets != 0 && load_deal(load) != 0) {
		rl_sim_load_free(load);
		return NULL;
	}
	for (uint16_t i = 0; i < n; i++)
		load_next(&load->src[i], cfg->start_ns);
	return load;
}

void
rl_sim_load_free(struct rl_sim_load *load)
{
	for (uint16_t i = 0; load->src != NULL && i < load->cfg.nep; i++)
		free(load->src[i].times.ns);
	free(load->flow);
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
on_client(void *ctx, uint32_t dev, uint16_t ep, const struct rl_sim_seat *seat,
	  struct rl_client *client)
{
	(void)dev;
	rl_sim_load_client(ctx, ep, seat, client);
}

static void
on_report(void *ctx, const struct rl_ep_report *report, uint64_t now_ns)
{
	rl_sim_load_report(ctx, report, now_ns);
}

static void
on_crash(void *ctx, uint16_t ep, uint64_t now_ns)
{
	(void)now_ns;
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
		if (!load->src[i].dead && (load->src[i].next_ns != RL_NEVER ||
					   load->src[i].nlater != 0 ||
					   load->src[i].owed_first != 0))
			return false;
	return true;
}
