/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "replay.h"
#include "rl_plant.h"
#include "rl_seq.h"

/* Packets of one flit that are acknowledged together. */
#define ACK_ROW 16

size_t
rl_replay_memsize(uint32_t window_flits)
{
	const size_t n = rl_pow2_ceil(window_flits);

	return n * (sizeof(uint8_t *) + 2 * sizeof(uint16_t)) +
	       RL_REPLAY_PAST * sizeof(uint16_t);
}

void
rl_replay_init(struct rl_replay *r, void *mem, uint32_t window_flits)
{
	const uint32_t n = rl_pow2_ceil(window_flits);

	RL_ASSERT(window_flits >= 1 && window_flits <= RL_LINK_WINDOW_MAX);
	memset(r, 0, sizeof(*r));
	r->mask = n - 1;
	r->wire = mem;
	r->flits = (uint16_t *)(void *)(r->wire + n);
	r->sideband = r->flits + n;
	memset(r->sideband, 0, (n + RL_REPLAY_PAST) * sizeof(uint16_t));
	r->window = window_flits;
}

void
rl_replay_reset(struct rl_replay *r)
{
	RL_ASSERT(rl_replay_empty(r));
	r->base = r->acked = r->next = r->tail = r->sent_max = 0;
	r->acked_left = 0;
	r->noted = 0;
	r->reserved = 0;
	r->part = 0;
}

/* Oldest flit that a packet acknowledged in part still needs, or `acked`. */
static uint32_t
replay_floor(const struct rl_replay *r)
{
	uint32_t floor = r->acked;

	for (uint32_t m = r->part; m != 0; m &= m - 1) {
		uint32_t sop = r->part_sop[__builtin_ctz(m)];

		if (rl_seq_before(sop, floor))
			floor = sop;
	}
	return RL_PLANTED(FREE_PER_FLIT) ? r->acked : floor;
}

/* Everything before @p floor goes back into the cache. */
static void
replay_free(struct rl_replay *r, uint32_t floor, struct rl_flit_cache *cache)
{
	while (r->base != floor) {
		const uint32_t at = r->base & r->mask;
		const uint32_t n = rl_min_u32(floor - r->base,
					      r->mask + 1 - at);
		uint8_t *const *wire = r->wire + at;
		struct rl_flit **to = cache->slot + cache->count;

		RL_ASSERT(n <= cache->cap - cache->count);
		for (uint32_t i = 0; i < n; i++)
			to[i] = rl_flit_of(wire[i]);
		cache->count += n;
		r->base += n;
	}
}

/*
 * Whether all of some flits that lie in a row are packets of one flit. With the
 * first one a packet begins.
 */
static bool
all_single(const uint16_t flits[], const uint16_t sideband[], uint32_t n)
{
	uint16_t more = 0, ends = RL_SIDEBAND_EOP;

	for (uint32_t i = 0; i < n; i++) {
		more |= flits[i] ^ 1u;
		ends &= sideband[i];
	}
	return more == 0 && ends != 0;
}

/* Packets of one flit, where no other is begun. @return the first that is none */
static uint32_t
ack_singles(const struct rl_replay *r, uint32_t seq, uint32_t done[RL_VCS])
{
	uint32_t i = r->acked;

	if (r->part != 0 || i == seq)
		return i;
	while (i != seq) {
		const uint32_t at = i & r->mask;
		const uint32_t n = rl_min_u32(rl_min_u32(seq - i, ACK_ROW),
					      r->mask + 1 - at);
		const uint16_t *const sb = r->sideband + at;

		if (!all_single(r->flits + at, sb, n))
			break;
		for (uint32_t k = 0; k < n; k++)
			done[RL_SIDEBAND_VC(sb[k])]++;
		i += n;
	}
	return i;
}

uint32_t
rl_replay_ack(struct rl_replay *r, uint32_t seq, struct rl_flit_cache *cache,
	      uint32_t done[RL_VCS])
{
	const uint32_t n = seq - r->acked;
	uint32_t part = r->part, i = r->acked;
	uint32_t left = r->acked_left;
	uint32_t floor, step;

	RL_DASSERT(rl_seq_before_eq(seq, r->sent_max));
	i = ack_singles(r, seq, done);
	for (; i != seq; i += step) {
		const uint32_t at = i & r->mask;
		const uint32_t vc = RL_SIDEBAND_VC(r->sideband[at]);
		const uint32_t bit = 1u << vc;
		uint32_t sb;

		/* what was put in together has its end, if any, at the end */
		left = left != 0 ? left : r->flits[at];
		step = rl_min_u32(left, seq - i);
		left -= step;
		sb = r->sideband[(i + step - 1) & r->mask];
		done[vc] += step;
		if (sb & RL_SIDEBAND_EOP) {
			part &= ~bit;
		} else if (!(part & bit)) {
			part |= bit;
			r->part_sop[vc] = i;
		}
	}
	r->acked = seq;
	r->acked_left = left;
	r->part = part;
	if (rl_seq_before(r->next, r->acked))
		r->next = r->acked;
	floor = replay_floor(r);
	replay_free(r, floor, cache);
	return n;
}

/* What was pushed at once goes the way of its head: any may become one. */
struct drain_unit {
	uint16_t left; /* flits of it still to come */
	uint16_t in_port;
	uint64_t state; /* the head's, without flags and what sidebands say */
};

/* A flit that lay in a run has no state: all of them get one here. */
static void
drain_own(const struct rl_replay *r, uint32_t seq, struct drain_unit *u,
	  struct rl_flit *f)
{
	const uint32_t at = seq & r->mask;
	uint64_t flags = 0; /* of a head, which are for this device */

	if (u->left == 0) {
		flags = f->state & RL_STATE_FLAGS & ~RL_SIDEBAND_STATE;
		*u = (struct drain_unit){
			.left = r->flits[at],
			.in_port = f->in_port,
			.state = f->state &
				 ~(RL_SIDEBAND_STATE | RL_STATE_FLAGS),
		};
	}
	u->left--;
	f->state = u->state | flags | rl_sideband_state(r->sideband[at]);
	f->in_port = u->in_port;
}

/* A packet, or what of it is wanted, grows flit by flit during a drain. */
static void
drain_flit(struct rl_flit *open[RL_VCS], struct rl_flit *f,
	   struct rl_pktq *out, struct rl_replay_drained *d)
{
	struct rl_flit **head = &open[f->vc];

	if (*head == NULL) {
		rl_packet_start(f);
		*head = f;
	} else {
		rl_packet_append(*head, f);
	}
	d->flits++;
	if (f->flags & RL_FF_EOP) {
		rl_pktq_push(out, *head);
		d->packets++;
		*head = NULL;
	}
}

struct rl_replay_drained
rl_replay_drain(struct rl_replay *r, bool unacked_only, struct rl_pktq *out,
		struct rl_flit *open[RL_VCS], struct rl_flit_cache *cache)
{
	struct rl_replay_drained d = { 0 };
	const uint32_t part = r->part;
	struct drain_unit unit = { 0 };

	memset(open, 0, RL_VCS * sizeof(open[0]));
	for (uint32_t i = r->base; i != r->tail; i++) {
		struct rl_flit *f = rl_replay_at(r, i);
		const bool acked = rl_seq_before(i, r->acked);
		bool want = true;

		drain_own(r, i, &unit, f);
		if (acked) {
			/* of a packet not wholly acknowledged? */
			want = (part & (1u << f->vc)) &&
			       rl_seq_before_eq(r->part_sop[f->vc], i);
			if (unacked_only || RL_PLANTED(LOOP_UNACKED))
				want = false;
		}
		if (!want) {
			rl_flit_put(cache, f);
			continue;
		}
		d.acked_flits += acked;
		drain_flit(open, f, out, &d);
	}
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		d.packets += open[vc] != NULL;
	r->base = r->acked = r->next = r->tail;
	r->acked_left = 0;
	r->part = 0;
	r->reserved = 0;
	return d;
}

uint32_t
rl_replay_marks(const struct rl_replay *r, uint32_t n)
{
	uint32_t marks = 0;

	for (uint32_t i = 0; i < n; i++)
		marks += rl_replay_mark(r, r->next + i) != RL_MARK_OK;
	return marks;
}
