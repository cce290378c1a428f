/* SPDX-License-Identifier: BSD-3-Clause */

/* The judge of contents, numbers (rl_seen.h) and times. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

/* Records the first error; of equal times, that at the lowest endpoint. */
__attribute__((format(printf, 4, 5))) static void
complain(struct load_part *part, uint16_t at, uint64_t now_ns, const char *fmt,
	 ...)
{
	va_list ap;

	if (part->st.first_error[0] != '\0' &&
	    (now_ns > part->error_ns ||
	     (now_ns == part->error_ns && at >= part->error_ep)))
		return;
	part->error_ns = now_ns;
	part->error_ep = at;
	va_start(ap, fmt);
	vsnprintf(part->st.first_error, sizeof(part->st.first_error), fmt, ap);
	va_end(ap);
}

/* Whether a packet is what its source sent; sets s->number, and
   s->t_ns without a trace. */
static bool
judge_content(struct rl_sim_load *load, const struct load_flow *flow,
	      const struct rl_flit *pkt, struct rl_stamp *s)
{
	const struct rl_sim_trace *const trace = load->cfg.trace;
	const uint32_t tag = rl_flit_tag(pkt->wire);

	if (trace == NULL)
		return rl_stamp_check(pkt, load->cfg.seed, s) == RL_STAMP_OK &&
		       s->number < load_sent(flow) &&
		       (s->number < flow->first ||
			s->number == tag - flow->tag0);
	s->number = tag - flow->tag0;
	if (s->number >= load_sent(flow) || !load_same_frame(trace, pkt, s->number))
		s->number = tag - load_rare(load, flow)->tag0_before;
	return s->number < load_sent(flow) &&
	       load_same_frame(trace, pkt, s->number);
}

/* Whether an outage replaces the one in @p st: it is longer; of equal length,
   it is earlier; of equal times, its flow comes first. */
static bool
outage_beats(const struct rl_sim_load_stats *st, uint64_t ns, uint64_t at_ns,
	     uint16_t src, uint16_t dst)
{
	if (ns != st->outage_ns)
		return ns > st->outage_ns;
	if (at_ns != st->outage_at_ns)
		return at_ns < st->outage_at_ns;
	return src != st->outage_src ? src < st->outage_src
				     : dst < st->outage_dst;
}

/* Silence starts when there was a packet to send and a path for it. */
static void
judge_silence(struct rl_sim_load *load, struct rl_sim_load_stats *st,
	      const struct load_flow *flow, uint64_t made_ns, uint64_t now_ns)
{
	const uint16_t src = load_flow_src(load, flow);
	const uint16_t dst = load_flow_dst(load, flow);
	uint64_t from = rl_max_u64(flow->last_ns, made_ns);

	if (rl_likely(now_ns - from < st->outage_ns))
		return;
	if (load->cfg.connected != NULL)
		from = rl_max_u64(from, load->cfg.connected(
						load->cfg.connected_ctx, src,
						dst));
	if (from >= now_ns ||
	    !outage_beats(st, now_ns - from, now_ns, src, dst))
		return;
	st->outage_ns = now_ns - from;
	st->outage_at_ns = now_ns;
	st->outage_src = src;
	st->outage_dst = dst;
}

/* A packet that was made at @p made_ns has arrived in order. */
static void
judge_time(struct rl_sim_load *load, struct load_part *part,
	   struct load_flow *flow, uint64_t made_ns, unsigned int vc,
	   uint64_t now_ns)
{
	rl_hist_add(&part->st.latency, now_ns - made_ns);
	if (load->cfg.flow != NULL) {
		struct rl_sim_flow *f =
			&load->cfg.flow[(size_t)(flow - load->flow) %
					((size_t)load->cfg.nep *
					 load->cfg.nep)];

		f->packets++;
		f->max_ns = rl_max_u64(f->max_ns, now_ns - made_ns);
	}
	if (load->cfg.delays)
		rl_delay_add(&part->delay[vc], now_ns - made_ns,
			     &load_rare(load, flow)->last);
	judge_silence(load, &part->st, flow, made_ns, now_ns);
	flow->last_ns = now_ns;
}

/* Counts a delivered packet; a request is owed a response. @return the window
   that it falls into, or NULL */
static struct load_window *
take(struct rl_sim_load *load, struct load_part *part,
     const struct rl_flit *pkt, uint64_t now_ns)
{
	struct rl_sim_load_stats *const st = &part->st;
	const uint16_t src = rl_flit_src(pkt->wire);
	const uint16_t dst = rl_flit_dst(pkt->wire);
	uint8_t cos;
	struct load_window *const w = load_window_at(load, part, src, now_ns);

	if (w != NULL) {
		w->of[src].packets++;
		w->of[src].flits += rl_ep_flits_of(rl_ep_len_bytes(pkt));
	}
	st->delivered++;
	st->delivered_responses += pkt->class == RL_CLASS_RSP;
	if (pkt->class != RL_CLASS_REQ_NONPOSTED)
		return w;
	st->delivered_requests++;
	cos = pkt->wire[6] >> 4;
	rl_source_owe(&load->src[dst].source,
		      &load_rare(load, load_flow(load, dst, src, cos))->owed,
		      src, cos, now_ns);
	return w;
}

void
load_judge(struct rl_sim_load *load, uint16_t at, struct rl_flit *pkt,
	   uint64_t now_ns)
{
	const uint16_t src = rl_flit_src(pkt->wire);
	const uint16_t dst = rl_flit_dst(pkt->wire);
	const uint8_t cos = pkt->wire[6] >> 4;
	struct load_part *const part = load->src[at].part;
	enum rl_seen_verdict verdict;
	struct load_window *w;
	struct load_flow *flow;
	struct rl_stamp s;

	if (dst != at || src >= load->cfg.nep || cos >= load->cfg.cos) {
		part->st.corrupted++;
		complain(part, at, now_ns, "endpoint %u got a packet of %u to %u",
			 at, src, dst);
		return;
	}
	flow = load_flow(load, src, dst, cos);
	if (!judge_content(load, flow, pkt, &s)) {
		part->st.corrupted++;
		complain(part, at, now_ns,
			 "packet %u of %u to %u is not what was sent",
			 rl_flit_tag(pkt->wire) - flow->tag0, src, dst);
		return;
	}
	if (rl_unlikely(s.number != flow->seen.next))
		rl_range_pool_grow(&part->missing);
	verdict = rl_seen_take(&part->missing, &flow->seen, s.number);
	if (verdict == RL_SEEN_AGAIN) {
		part->st.duplicated++;
		complain(part, at, now_ns, "packet %u of %u to %u came twice",
			 s.number, src, dst);
		return;
	}
	w = take(load, part, pkt, now_ns);
	if (s.number < flow->first)
		return; /* its source has crashed since */
	if (verdict == RL_SEEN_LATE) {
		part->st.reordered++;
		complain(part, at, now_ns, "packet %u of %u to %u after %u",
			 s.number, src, dst, flow->seen.next - 1);
		return;
	}
	if (load->nparts == 1) /* later packets were made since, or still
				  wait */
		flow->sent_ns = now_ns;
	if (load->cfg.trace != NULL)
		s.t_ns = load_time_take(&load->src[src].times, s.number);
	if (s.t_ns == RL_NEVER)
		return; /* no memory for the time */
	judge_time(load, part, flow, s.t_ns, pkt->in_vc % RL_VCS, now_ns);
	if (w != NULL)
		rl_hist_add(&w->latency, now_ns - s.t_ns);
}

void
rl_sim_load_report(struct rl_sim_load *load, const struct rl_ep_report *r,
		   uint64_t now_ns)
{
	struct rl_ranges *reported;
	struct load_flow *flow;
	uint32_t tag;

	if (r->src >= load->cfg.nep || r->dst >= load->cfg.nep ||
	    r->cos >= load->cfg.cos)
		return;
	flow = load_flow(load, r->src, r->dst, r->cos);
	tag = r->tag - flow->tag0;
	flow->told_ns = now_ns;
	reported = &load_rare(load, flow)->reported;
	if (tag == UINT32_MAX ||
	    rl_ranges_has(&load->reported, reported, tag) ||
	    !rl_range_pool_grow(&load->reported))
		return;
	rl_ranges_add(&load->reported, reported, tag, tag + 1);
	if (load->part[0]->st.reported++ == 0)
		load->part[0]->st.reporting_ns = now_ns;
	load->part[0]->st.reported_ns = now_ns;
}

/* Packets of a flow that did not arrive, by reason. */
struct missing {
	uint64_t lost;
	uint64_t reported;
	uint64_t died;
};

/* Adds those of @p flow. */
static void
flow_missing(const struct rl_sim_load *load, const struct load_flow *flow,
	     struct missing *m)
{
	const struct rl_range_pool *const p = load_missing(load, flow);
	const struct load_rare *const r = load_rare(load, flow);
	uint64_t open[2], reported[2];
	uint32_t end[2] = { load_sent(flow) };

	if (end[0] == flow->seen.next && flow->seen.missing.count == 0)
		return;
	end[1] = r->excused;
	for (unsigned int i = 0; i < 2; i++) {
		open[i] = rl_seen_open(p, &flow->seen, end[i]);
		reported[i] = rl_seen_reported(p, &flow->seen, &load->reported,
					       &r->reported, end[i]);
	}
	m->reported += reported[0];
	m->died += open[1] - reported[1];
	m->lost += open[0] - reported[0] - (open[1] - reported[1]);
}

/* All before the histogram; moments are kept by the first part alone. */
#define COUNTS                                                                 \
	(offsetof(struct rl_sim_load_stats, latency) / sizeof(uint64_t))

static void
stats_add(struct rl_sim_load_stats *to, const struct rl_sim_load_stats *from)
{
	uint64_t *const sum = (uint64_t *)(void *)to;
	const uint64_t *const add = (const uint64_t *)(const void *)from;

	for (size_t i = 0; i < COUNTS; i++)
		sum[i] += add[i];
	rl_hist_merge(&to->latency, &from->latency);
	if (!outage_beats(to, from->outage_ns, from->outage_at_ns,
			  from->outage_src, from->outage_dst))
		return;
	to->outage_ns = from->outage_ns;
	to->outage_at_ns = from->outage_at_ns;
	to->outage_src = from->outage_src;
	to->outage_dst = from->outage_dst;
}

static const struct load_part *
first_wrong(const struct rl_sim_load *load)
{
	const struct load_part *first = NULL;

	for (unsigned int i = 0; i < load->nparts; i++) {
		const struct load_part *const p = load->part[i];

		if (p->st.first_error[0] != '\0' &&
		    (first == NULL || p->error_ns < first->error_ns ||
		     (p->error_ns == first->error_ns &&
		      p->error_ep < first->error_ep)))
			first = p;
	}
	return first;
}

void
rl_sim_load_stats(const struct rl_sim_load *load, struct rl_sim_load_stats *st)
{
	const size_t n = (size_t)load->cfg.nep * load->cfg.nep * load->cfg.cos;
	const struct load_part *const wrong = first_wrong(load);
	struct missing m = { 0 };

	*st = load->part[0]->st;
	for (unsigned int i = 1; i < load->nparts; i++)
		stats_add(st, &load->part[i]->st);
	for (uint16_t i = 0; i < load->cfg.nep; i++)
		st->redirected += load->src[i].source.redirected;
	if (wrong != NULL)
		memcpy(st->first_error, wrong->st.first_error,
		       sizeof(st->first_error));
	if (st->sent == st->delivered) {
		st->reported_delivered = st->reported;
		return;
	}
	for (size_t i = 0; i < n; i++)
		flow_missing(load, &load->flow[i], &m);
	st->lost = m.lost;
	st->died = m.died;
	st->reported_delivered = st->reported - m.reported;
}

void
rl_sim_load_delay(const struct rl_sim_load *load, unsigned int vc,
		  struct rl_delay *to)
{
	RL_ASSERT(load->cfg.delays && vc < RL_VCS);
	rl_delay_reset(to);
	for (unsigned int i = 0; i < load->nparts; i++)
		rl_delay_merge(to, &load->part[i]->delay[vc]);
}

void
rl_sim_load_crash(struct rl_sim_load *load, uint16_t ep)
{
	load->src[ep].dead = true;
	rl_source_owe_nothing(&load->src[ep].source);
	for (uint8_t cos = 0; cos < load->cfg.cos; cos++)
		for (uint16_t i = 0; i < load->cfg.nep; i++) {
			struct load_flow *to = load_flow(load, i, ep, cos);
			struct load_flow *from = load_flow(load, ep, i, cos);

			load_rare(load, to)->excused = load_sent(to);
			/* packet numbers go on, tags start again */
			from->first = load_sent(from);
			load_rare(load, from)->excused = from->first;
			load_rare(load, from)->tag0_before = from->tag0;
			from->life++;
		}
}

/* Since when a flow has been quiet in one sense; RL_NEVER: it may be. */
typedef uint64_t (*quiet_fn)(const struct rl_sim_load *load,
			     const struct load_flow *flow);

/* @return the longest such time of flows with unaccounted packets */
static uint64_t
longest_quiet(const struct rl_sim_load *load, uint64_t now_ns, quiet_fn since,
	      uint16_t *src, uint16_t *dst)
{
	const size_t nep = load->cfg.nep;
	uint64_t longest = 0;

	RL_ASSERT(load->nparts == 1);
	for (size_t i = 0; i < nep * nep * load->cfg.cos; i++) {
		const struct load_flow *flow = &load->flow[i];
		struct missing m = { 0 };
		uint64_t from;

		if (load_sent(flow) == flow->seen.next)
			continue;
		from = rl_max_u64(since(load, flow),
				  rl_max_u64(flow->sent_ns, flow->last_ns));
		if (from >= now_ns || now_ns - from <= longest)
			continue;
		flow_missing(load, flow, &m);
		if (m.lost == 0)
			continue;
		longest = now_ns - from;
		*src = load_flow_src(load, flow);
		*dst = load_flow_dst(load, flow);
	}
	return longest;
}

static uint64_t
connected_since(const struct rl_sim_load *load, const struct load_flow *flow)
{
	return load->cfg.connected == NULL
		       ? 0
		       : load->cfg.connected(load->cfg.connected_ctx,
					     load_flow_src(load, flow),
					     load_flow_dst(load, flow));
}

uint64_t
rl_sim_load_silence(const struct rl_sim_load *load, uint64_t now_ns,
		    uint16_t *src, uint16_t *dst)
{
	return longest_quiet(load, now_ns, connected_since, src, dst);
}

/* A dead endpoint cannot report, and none reports packets that it was too full
   to accept. */
static uint64_t
told_since(const struct rl_sim_load *load, const struct load_flow *flow)
{
	return load->src[load_flow_src(load, flow)].dead
		       ? RL_NEVER
		       : rl_max_u64(flow->told_ns, flow->taken_ns);
}

uint64_t
rl_sim_load_unheard(const struct rl_sim_load *load, uint64_t now_ns,
		    uint16_t *src, uint16_t *dst)
{
	return longest_quiet(load, now_ns, told_since, src, dst);
}
