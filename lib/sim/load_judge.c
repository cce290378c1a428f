/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The judge. A flow's packets must arrive in the order of their numbers. One
 * that is skipped is missing; if it comes later, order was broken; if it never
 * comes, it is lost, unless its source was told.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

static bool
set_add(struct load_set *set, uint32_t tag)
{
	if (set->n == set->cap) {
		const uint32_t cap = set->cap == 0 ? 8 : 2 * set->cap;
		uint32_t *more = realloc(set->tag, cap * sizeof(*more));

		if (more == NULL)
			return false;
		set->tag = more;
		set->cap = cap;
	}
	set->tag[set->n++] = tag;
	return true;
}

/* @return whether it was there */
static bool
set_take(struct load_set *set, uint32_t tag)
{
	for (uint32_t i = 0; i < set->n; i++) {
		if (set->tag[i] != tag)
			continue;
		set->tag[i] = set->tag[--set->n];
		return true;
	}
	return false;
}

static bool
set_has(const struct load_set *set, uint32_t tag)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->tag[i] == tag)
			return true;
	return false;
}

static struct load_odd *
odd_of(struct load_flow *flow)
{
	if (flow->odd == NULL)
		flow->odd = calloc(1, sizeof(*flow->odd));
	return flow->odd;
}

__attribute__((format(printf, 2, 3))) static void
complain(struct rl_sim_load *load, const char *fmt, ...)
{
	va_list ap;

	if (load->st.first_error[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(load->st.first_error, sizeof(load->st.first_error), fmt, ap);
	va_end(ap);
}

/* Whether every byte is what the source made; tells when that was. */
static bool
judge_content(struct load_packet *p, const struct rl_flit *pkt)
{
	uint32_t left = p->len_bytes, off = 0;

	if (rl_ep_len_bytes(pkt) != p->len_bytes)
		return false;
	if (left >= 8 && p->bytes == NULL)
		p->made_ns = rl_get64(pkt->wire + RL_FLIT_DATA_OFF);
	for (const struct rl_flit *f = pkt; left > 0; f = f->next) {
		const uint32_t n = rl_min_u32(left, RL_FLIT_DATA_BYTES);

		if (!load_same(p, f->wire + RL_FLIT_DATA_OFF, off, n))
			return false;
		off += n;
		left -= n;
	}
	return true;
}

static void
judge_time(struct rl_sim_load *load, struct load_flow *flow,
	   struct load_packet *p, uint32_t tag, unsigned int vc,
	   uint64_t now_ns)
{
	bool timed = p->len_bytes >= 8;

	if (p->bytes != NULL) {
		p->made_ns = load_time_take(flow, tag);
		timed = p->made_ns != RL_NEVER;
	}
	if (!timed)
		return;
	rl_hist_add(&load->st.latency, now_ns - p->made_ns);
	if (load->cfg.delay != NULL)
		rl_delay_add(&load->cfg.delay[vc], now_ns - p->made_ns,
			     &flow->last);
	/* silence counts from when there was something to send */
	if (flow->last_ns != 0)
		load->st.outage_ns = rl_max_u64(
			load->st.outage_ns,
			now_ns - rl_max_u64(flow->last_ns, p->made_ns));
	flow->last_ns = now_ns;
}

void
load_judge(struct rl_sim_load *load, uint16_t at, struct rl_flit *pkt,
	   uint64_t now_ns)
{
	const uint16_t src = rl_flit_src(pkt->wire);
	const uint16_t dst = rl_flit_dst(pkt->wire);
	const uint32_t tag = rl_flit_tag(pkt->wire);
	const uint8_t cos = pkt->wire[6] >> 4;
	struct load_packet p;
	struct load_flow *flow;

	if (dst != at || src >= load->cfg.nep || cos >= load->cfg.cos) {
		load->st.corrupted++;
		complain(load, "endpoint %u got a packet of %u to %u", at, src,
			 dst);
		return;
	}
	flow = load_flow(load, src, dst, cos);
	load_packet_of(load, src, dst, cos, tag, &p);
	if (tag >= flow->sent || !judge_content(&p, pkt)) {
		load->st.corrupted++;
		complain(load, "packet %u of %u to %u is not what was sent",
			 tag, src, dst);
		return;
	}
	if (tag < flow->expected) {
		if (flow->odd != NULL &&
		    set_take(&flow->odd->missing, tag)) {
			load->st.reordered++;
			load->st.delivered++;
			complain(load, "packet %u of %u to %u after %u", tag,
				 src, dst, flow->expected - 1);
		} else {
			load->st.duplicated++;
			complain(load, "packet %u of %u to %u came twice", tag,
				 src, dst);
		}
		return;
	}
	for (; flow->expected != tag; flow->expected++)
		if (odd_of(flow) != NULL)
			set_add(&flow->odd->missing, flow->expected);
	flow->expected++;
	load->st.delivered++;
	judge_time(load, flow, &p, tag, pkt->in_vc % RL_VCS, now_ns);
}

void
rl_sim_load_report(struct rl_sim_load *load, const struct rl_ep_report *r)
{
	struct load_flow *flow;

	if (r->src >= load->cfg.nep || r->dst >= load->cfg.nep ||
	    r->cos >= load->cfg.cos)
		return;
	flow = load_flow(load, r->src, r->dst, r->cos);
	if (odd_of(flow) == NULL || set_has(&flow->odd->reported, r->tag))
		return;
	if (set_add(&flow->odd->reported, r->tag))
		load->st.reported++;
}

/* Packets of a flow that neither arrived nor were reported. */
static uint64_t
flow_lost(const struct load_flow *flow, uint64_t *reported_missing)
{
	uint64_t missing = flow->sent - flow->expected;

	if (flow->odd == NULL)
		return missing;
	missing += flow->odd->missing.n;
	for (uint32_t i = 0; i < flow->odd->reported.n; i++) {
		const uint32_t tag = flow->odd->reported.tag[i];

		if (tag >= flow->expected ||
		    set_has(&flow->odd->missing, tag)) {
			missing--;
			(*reported_missing)++;
		}
	}
	return missing;
}

void
rl_sim_load_stats(const struct rl_sim_load *load, struct rl_sim_load_stats *st)
{
	const size_t n = (size_t)load->cfg.nep * load->cfg.nep * load->cfg.cos;
	uint64_t reported_missing = 0;

	*st = load->st;
	if (st->sent == st->delivered) {
		st->reported_delivered = st->reported;
		return;
	}
	for (size_t i = 0; i < n; i++)
		st->lost += flow_lost(&load->flow[i], &reported_missing);
	st->reported_delivered = st->reported - reported_missing;
}
