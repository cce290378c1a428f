/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "rl_ledger.h"

/** How many numbers of @p s are from .. and above. */
static uint64_t
count_from(const struct rl_range_pool *p, const struct rl_ranges *s,
	   uint32_t from)
{
	uint64_t n = 0;

	for (uint32_t i = s->head; i != RL_RANGE_END; i = p->node[i].next) {
		const struct rl_range *r = &p->node[i];

		if (r->hi > from)
			n += r->hi - (r->lo > from ? r->lo : from);
	}
	return n;
}

/** One flow: @p f as its source knows it, @p at as its destination does. */
static void
close_flow(struct rl_ledger *l, const struct rl_tg *src,
	   const struct rl_tg_flow *f, const struct rl_tg *dst,
	   const struct rl_tg_flow *at)
{
	const uint32_t next = at != NULL ? at->next : 0;
	uint64_t missing, reported;

	if (next > f->sent) {
		l->unknown_packets += next - f->sent;
		return;
	}
	/* what was overtaken and never came, and the tail */
	missing = f->sent - next;
	reported = count_from(rl_tg_ranges(src), &f->reported, next);
	if (at != NULL) {
		missing += at->missing.count;
		reported += rl_ranges_common(rl_tg_ranges(src), &f->reported,
					     rl_tg_ranges(dst), &at->missing);
	}
	l->reported_packets += reported;
	l->reported_delivered += f->reported.count - reported;
	l->lost_packets += missing - reported;
}

static void
close_client(struct rl_ledger *l, struct rl_tg *const tg[], uint32_t n,
	     const struct rl_tg *me)
{
	const struct rl_tg_counts *c = rl_tg_counts(me);

	l->sent_packets += c->sent_packets;
	l->sent_flits += c->sent_flits;
	l->delivered_packets += c->delivered_packets;
	l->delivered_flits += c->delivered_flits;
	l->delivered_bytes += c->delivered_bytes;
	l->duplicated_packets += c->duplicated_packets;
	l->reordered_packets += c->reordered_packets;
	l->corrupted_packets += c->corrupted_packets;
	l->inexact += c->inexact + rl_tg_ranges(me)->lost;
	for (uint32_t i = 0; i < rl_tg_flow_count(me); i++) {
		const struct rl_tg_flow *f = rl_tg_flow(me, i);
		const struct rl_tg *dst = f->peer < n ? tg[f->peer] : NULL;

		close_flow(l, me, f, dst,
			   dst != NULL ? rl_tg_flow_find(dst, rl_tg_ep_id(me),
							 f->cos)
				       : NULL);
	}
	/* what arrived here from clients that know nothing of it */
	for (uint32_t i = 0; i < rl_tg_flow_count(me); i++) {
		const struct rl_tg_flow *f = rl_tg_flow(me, i);
		const struct rl_tg *src = f->peer < n ? tg[f->peer] : NULL;

		if (f->next > 0 &&
		    (src == NULL ||
		     rl_tg_flow_find(src, rl_tg_ep_id(me), f->cos) == NULL))
			l->unknown_packets += f->next;
	}
}

void
rl_ledger_close(struct rl_ledger *l, struct rl_tg *const tg[], uint32_t n)
{
	memset(l, 0, sizeof(*l));
	for (uint32_t i = 0; i < n; i++)
		if (tg[i] != NULL)
			close_client(l, tg, n, tg[i]);
}

bool
rl_ledger_balanced(const struct rl_ledger *l)
{
	return l->unknown_packets == 0 && l->inexact == 0 &&
	       l->sent_packets == l->delivered_packets + l->reported_packets +
					  l->lost_packets;
}

bool
rl_ledger_clean(const struct rl_ledger *l)
{
	return rl_ledger_balanced(l) && l->lost_packets == 0 &&
	       l->duplicated_packets == 0 && l->reordered_packets == 0 &&
	       l->corrupted_packets == 0;
}
