/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "rl_ledger.h"

/** Attempts to read between two changes; each takes longer than a change. */
#define LOOKS 1000

/** The other end of a flow, as its client has recorded it. */
struct far {
	const struct rl_tg *tg; /**< the client; if there is none, this one */
	bool knows;		/**< it has a record */
	struct rl_seen seen;	/**< what has arrived there */
};

static struct far
far_end(struct rl_tg *const tg[], uint32_t n, const struct rl_tg *me,
	const struct rl_tg_flow *f)
{
	const struct rl_tg *far = f->peer < n ? tg[f->peer] : NULL;
	const struct rl_tg_flow *at =
		far == NULL ? NULL
			    : rl_tg_flow_find(far, rl_tg_ep_id(me), f->cos);

	return (struct far){ far == NULL ? me : far, at != NULL,
			     at != NULL ? at->seen : (struct rl_seen){ 0 } };
}

/** Packets of @p f that were reported, and have not arrived. */
static uint64_t
reported_only(const struct rl_tg *me, const struct rl_tg_flow *f,
	      const struct far *to)
{
	return rl_seen_reported(rl_tg_ranges(to->tg), &to->seen,
				rl_tg_ranges(me), &f->reported, UINT32_MAX);
}

/** Both directions of one flow of @p me. */
static void
close_flow(struct rl_ledger *l, const struct rl_tg *me,
	   const struct rl_tg_flow *f, const struct far *to)
{
	uint64_t reported;

	if (!to->knows) /* its source has sent none of what arrived here */
		l->unknown_packets += f->seen.next;
	if (to->seen.next > f->sent) {
		l->unknown_packets += to->seen.next - f->sent;
		return;
	}
	reported = reported_only(me, f, to);
	l->reported_packets += reported;
	l->reported_delivered += f->reported.count - reported;
	l->lost_packets += rl_seen_open(rl_tg_ranges(to->tg), &to->seen,
					f->sent) - reported;
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
		const struct far to = far_end(tg, n, me, f);

		close_flow(l, me, f, &to);
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
look_flow(struct rl_tg *const tg[], uint32_t n, const struct rl_tg *me,
	  const struct rl_tg_flow *f)
{
	for (int try = 0; try < LOOKS; try++) {
		struct far to = far_end(tg, n, me, f);
		uint32_t s0, d0, s1, d1;
		uint64_t reported;

		if (!version(me, &s0) || !version(to.tg, &d0))
			continue;
		to = far_end(tg, n, me, f); /* as of this version */
		reported = reported_only(me, f, &to);
		rl_fence_acquire();
		if (version(me, &s1) && s0 == s1 && version(to.tg, &d1) &&
		    d0 == d1)
			return reported;
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
	/* acquire: pairs with the release in tg.c: a packet counted as
	   delivered above is not missing below */
	rl_fence_acquire();
	for (uint32_t i = 0; i < n; i++) {
		/* without a range no packet was reported */
		const uint32_t flows = tg[i] == NULL ||
						rl_tg_ranges(tg[i])->used <= 1
					       ? 0
					       : rl_tg_flow_count(tg[i]);

		/* acquire: pairs with the release in tg_flow_get() */
		rl_fence_acquire();
		for (uint32_t k = 0; k < flows; k++) {
			const struct rl_tg_flow *f = rl_tg_flow(tg[i], k);

			if (f->reported.count != 0)
				l->reported_packets += look_flow(tg, n, tg[i], f);
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
