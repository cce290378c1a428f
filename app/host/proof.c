/* SPDX-License-Identifier: BSD-3-Clause */

#include "proof.h"
#include "rl_crc32c.h"
#include "rl_seq.h"

#define SLOT(tag) ((tag) & (PROOF_ENTRIES - 1))

void
proof_init(struct proof *l, uint16_t src, uint16_t dst)
{
	l->src = src;
	l->dst = dst;
	l->hw_crc = rl_crc32c_hw();
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		rl_delay_reset(&l->delay[vc]);
}

/* Whether the last packet in this entry was given up and did not arrive. */
static bool
given_up(const struct proof_entry *e)
{
	/* relaxed: at rest, or 65,536 packets later, it is visible */
	return e->sent_tag != 0 && e->reported_tag == e->sent_tag &&
	       atomic_load_explicit(&e->seen_tag, memory_order_relaxed) !=
		       e->sent_tag;
}

void
proof_sent(struct proof *l, uint32_t tag, const void *data,
		 uint32_t len, uint64_t now_ns)
{
	struct proof_entry *e = &l->entry[SLOT(tag)];

	if (l->sent_packets == 0)
		l->next_tag = tag; /* a flow may start at any number */
	l->settled_reports += given_up(e);
	e->sent_ns = now_ns;
	e->digest = rl_crc32c_lanes(data, len, l->hw_crc);
	e->len = len;
	e->sent_tag = tag + 1;
	if (l->half != NULL)
		half_sent(l->half, tag, half_digest(tag, len, e->digest));
	l->sent_packets++;
	l->sent_bytes += len;
}

void
proof_peer_restarted(struct proof *l, uint32_t tag)
{
	const struct proof_entry *e;
	uint64_t digest = 0;
	uint32_t n = 0;

	if (l->half == NULL)
		return;
	for (; n < PROOF_ENTRIES; n++) {
		e = &l->entry[SLOT(tag + n)];
		if (e->sent_tag != tag + n + 1)
			break;
		digest += half_digest(tag + n, e->len, e->digest);
	}
	half_peer_restarted(l->half, tag, n, digest);
}

/* Marks it as seen before counting it: a delivered packet is not given up. */
static void
count_got(struct proof *l, struct proof_entry *e, uint32_t tag)
{
	atomic_store_explicit(&e->seen_tag, tag + 1, memory_order_relaxed);
	/* release: pairs with the acquire in proof_look() */
	rl_fence_release();
	l->delivered_packets++;
}

/* The sender is elsewhere: what it sent is unknown here. */
static void
got_half(struct proof *l, uint32_t tag, const void *data, uint32_t len)
{
	const uint64_t digest =
		half_digest(tag, len, rl_crc32c_lanes(data, len, l->hw_crc));

	if (half_got(l->half, tag, digest))
		l->reordered_packets++;
}

void
proof_got(struct proof *l, uint32_t tag, const void *data, uint32_t len,
	  unsigned int vc, uint64_t now_ns)
{
	struct proof_entry *e = &l->entry[SLOT(tag)];

	if (atomic_load_explicit(&e->seen_tag, memory_order_relaxed) ==
	    tag + 1) {
		l->duplicated_packets++;
		return;
	}
	count_got(l, e, tag);
	if (l->half != NULL) {
		got_half(l, tag, data, len);
		return;
	}
	if (e->sent_tag == tag + 1)
		rl_silence_add(&l->silence, e->sent_ns, now_ns);
	if (e->sent_tag != tag + 1 || e->len != len ||
	    e->digest != rl_crc32c_lanes(data, len, l->hw_crc))
		l->altered_packets++;
	else
		rl_delay_add(&l->delay[vc % RL_VCS], now_ns - e->sent_ns,
			     &l->last);
	atomic_store_explicit(&e->seen_tag, tag + 1, memory_order_relaxed);
	if (rl_seq_before(tag, l->next_tag))
		l->reordered_packets++;
	else
		l->next_tag = tag + 1;
}

void
proof_reported(struct proof *l, uint32_t tag)
{
	struct proof_entry *e = &l->entry[SLOT(tag)];

	if (e->sent_tag != tag + 1)
		return;
	if (l->half != NULL && e->reported_tag != tag + 1)
		half_reported(l->half, tag,
			      half_digest(tag, e->len, e->digest));
	e->reported_tag = tag + 1;
	l->any_report = true;
}

static uint64_t
reports(const struct proof *l)
{
	uint64_t n = l->settled_reports;

	for (uint32_t i = 0; l->any_report && i < PROOF_ENTRIES; i++)
		n += given_up(&l->entry[i]);
	return n;
}

void
proof_look(const struct proof *l, struct proof_look *look)
{
	*look = (struct proof_look){ .delivered = l->delivered_packets };
	/* acquire: pairs with the release in count_got() */
	rl_fence_acquire();
	if (l->half == NULL)
		look->reported = reports(l);
	/* acquire: what was delivered or reported above is sent below */
	rl_fence_acquire();
	look->sent = l->sent_packets;
	if (l->half == NULL)
		look->open = look->sent -
			     rl_min_u64(look->sent,
					look->delivered + look->reported);
}
