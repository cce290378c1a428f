/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "rl_ledger.h"

/** Attempts to read between two changes; each takes longer than a change. */
#define LOOKS 1000

/** Packets of @p f that were reported, and have not arrived. */
static uint64_t
reported_only(const struct rl_tg *src, const struct rl_tg_flow *f,
	      const struct rl_tg *dst, const struct rl_tg_flow *at)
{
	if (at == NULL)
		return f->reported.count;
	return rl_ranges_from(rl_tg_ranges(src), &f->reported, at->next) +
	       rl_ranges_common(rl_tg_ranges(src), &f->reported,
				rl_tg_ranges(dst), &at->missing);
}

/** One flow: @p f is its source's record, @p at its destination's. */
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
	/* packets that were overtaken and never came, and the tail */
	missing = f->sent - next + (at != NULL ? at->missing.count : 0);
	reported = reported_only(src, f, dst, at);
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
	/* packets that arrived here but that their source never sent */
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

/** The version of a client's sets. @return whether none of them changes now */
static bool
version(const struct rl_tg *tg, uint32_t *v)
{
	/* acquire: pairs with the release in ranges.c, end_change() */
	*v = atomic_load_explicit(&rl_tg_ranges(tg)->version,
				  memory_order_acquire);
	return (*v & 1) == 0;
}

/** Like reported_only(), while both clients run. */
static uint64_t
look_flow(const struct rl_tg *src, const struct rl_tg_flow *f,
	  const struct rl_tg *dst)
{
	for (int try = 0; try < LOOKS; try++) {
		uint32_t s0, d0 = 0, s1, d1 = 0;
		uint64_t n;

		if (!version(src, &s0) || (dst != NULL && !version(dst, &d0)))
			continue;
		n = reported_only(src, f, dst,
				  dst == NULL ? NULL
					      : rl_tg_flow_find(dst,
							rl_tg_ep_id(src),
							f->cos));
		rl_fence_acquire();
		if (version(src, &s1) && s0 == s1 &&
		    (dst == NULL || (version(dst, &d1) && d0 == d1)))
			return n;
	}
	return 0;
}

void
rl_ledger_look(struct rl_ledger_look *l, struct rl_tg *const tg[], uint32_t n)
{
	*l = (struct rl_ledger_look){ 0 };
	for (uint32_t i = 0; i < n; i++)
		if (tg[i] != NULL)
			l->delivered_packets +=
				rl_tg_counts(tg[i])->delivered_packets;
	/* acquire: pairs with the release in tg_check.c: a packet counted as
	   delivered above is not missing below */
	rl_fence_acquire();
	for (uint32_t i = 0; i < n; i++) {
		/* without a range no packet was reported */
		const uint32_t flows = tg[i] == NULL ||
						rl_tg_ranges(tg[i])->used == 0
					       ? 0
					       : rl_tg_flow_count(tg[i]);

		for (uint32_t k = 0; k < flows; k++) {
			const struct rl_tg_flow *f = rl_tg_flow(tg[i], k);

			if (f->reported.count != 0)
				l->reported_packets += look_flow(
					tg[i], f,
					f->peer < n ? tg[f->peer] : NULL);
		}
	}
	/* acquire: pairs with pipes and wires: a packet delivered or reported
	   above is sent below */
	rl_fence_acquire();
	for (uint32_t i = 0; i < n; i++)
		if (tg[i] != NULL)
			l->sent_packets += rl_tg_counts(tg[i])->sent_packets;
	l->under_way_packets =
		l->sent_packets - rl_min_u64(l->sent_packets,
					     l->delivered_packets +
						     l->reported_packets);
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
