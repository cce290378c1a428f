/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_REPLAY_H
#define RL_REPLAY_H

/**
 * @file
 * The transmit replay buffer with its two kinds of pointers (DRL patent 102a,
 * 102c, 102d): numbers run freely and are masked on access.
 *
 *     base ........ acked ........ next ........ tail
 *      |              |              |              |
 *      |              |              |              next number to give
 *      |              |              next flit to send (== tail: all sent)
 *      |              flit pointer: all before it are acknowledged
 *      packet pointer: oldest flit of a packet not wholly acknowledged
 *
 * base <= acked <= next <= tail, tail - base <= window. A flit is freed only
 * when base passes it, so a packet can always be looped out whole [LINK-2].
 * Packets of different VCs may be interleaved; those of one VC may not.
 */

#include <string.h>

#include "rl_flit_cache.h"
#include "rl_frame.h"

/**
 * What the buffer knows of each flit without looking at it, in arrays of their
 * own: a frame's worth of each lies together, ready for the copy and for the
 * header. The flit itself is only read when it is sent.
 */
struct rl_replay {
	uint8_t **wire;	    /**< of the flit, see rl_replay_at() */
	uint16_t *sideband; /**< may be read RL_REPLAY_PAST beyond the last */
	uint16_t *flits;    /**< where a packet or fragment begins: its flits */
	uint32_t mask;
	uint32_t window;
	uint32_t base;
	uint32_t acked;
	uint32_t acked_left; /**< flits of the packet, or fragment, in which
				  `acked` is, from there on; 0: one begins */
	uint32_t next;
	uint32_t tail;
	uint32_t sent_max;  /**< highest `next` ever: what may be acknowledged */
	uint32_t noted;     /**< no flit from here on has been looped, or has a mark */
	uint32_t reserved;  /**< flits still to come of packets begun */
	uint32_t part;	    /**< bit per VC: a packet is acknowledged in part */
	uint32_t part_sop[RL_VCS]; /**< and its first flit's number */
};

/** What `noted` is about. */
#define RL_SIDEBAND_NOTED                                                      \
	(RL_SIDEBAND_LOOPED | 3u << RL_SIDEBAND_MARK_SHIFT)

/** Sidebands that may be read beyond those of a window: whole words are. */
#define RL_REPLAY_PAST 4

/** Bytes for the slots of a window. */
size_t rl_replay_memsize(uint32_t window_flits);

/** Owner. @p mem: rl_replay_memsize() bytes, kept by the caller. */
void rl_replay_init(struct rl_replay *r, void *mem, uint32_t window_flits);

/** Owner. Numbers start again at 0. The buffer must be empty. */
void rl_replay_reset(struct rl_replay *r);

/** Owner. Flits that fit beside what is held and what is reserved. */
static inline uint32_t
rl_replay_room(const struct rl_replay *r)
{
	return r->window - (r->tail - r->base) - r->reserved;
}

/** Owner. Flits numbered and not acknowledged. */
static inline uint32_t
rl_replay_outstanding(const struct rl_replay *r)
{
	return r->tail - r->acked;
}

static inline bool
rl_replay_empty(const struct rl_replay *r)
{
	return r->tail == r->base;
}

/*
 * The sideband of a flit in this state, in a packet of @p flits that leaves by
 * @p vc. That it has been looped, or has a mark, is noted for all that the packet
 * may still number.
 */
static inline uint16_t
rl_replay_sideband(struct rl_replay *r, uint32_t flits, unsigned int vc,
		   uint64_t state)
{
	const uint16_t sideband = rl_state_sideband(state);

	if (rl_unlikely(sideband & RL_SIDEBAND_NOTED))
		r->noted = r->tail + flits;
	return (uint16_t)((sideband & ~7u) | (vc & 7u));
}

/* A packet or fragment of @p flits gets the next numbers. */
static inline void
rl_replay_begin(struct rl_replay *r, uint16_t flits)
{
	r->flits[r->tail & r->mask] = flits;
}

/* One of its flits gets its number. */
static inline void
rl_replay_put(struct rl_replay *r, struct rl_flit *f, uint16_t sideband)
{
	const uint32_t at = r->tail++ & r->mask;

	r->wire[at] = f->wire;
	r->sideband[at] = sideband;
}

/*
 * Whether @p n numbers and the entries of a line behind them are free, and lie in
 * a row: then a run is stored in steps that may end behind it.
 */
static inline bool
rl_replay_ample(const struct rl_replay *r, uint32_t n)
{
	const uint32_t past = n + RL_RUN_ROW, slots = r->mask + 1;

	return past <= slots - (r->tail & r->mask) &&
	       past <= slots - (r->tail - r->base);
}

/*
 * Where a flit's bytes lie. Not every entry of a row is a flit, and those that
 * are none are stored as well, behind a run: so this is no more than a sum.
 */
static inline uint8_t *
rl_replay_bytes_of(const struct rl_flit *f)
{
	return (uint8_t *)((uintptr_t)f + offsetof(struct rl_flit, wire));
}

/* The run of @p f, without @p f, gets the next numbers: @p n flits. */
static inline void
rl_replay_put_run(struct rl_replay *r, const struct rl_flit *f, uint32_t n,
		  uint16_t sideband)
{
	const uint32_t at = r->tail & r->mask;
	const uint64_t four = sideband * UINT64_C(0x0001000100010001);
	uint8_t **const wire = r->wire + at;

	if (rl_unlikely(!rl_replay_ample(r, n))) {
		struct rl_flit *rest[RL_RUN_FLITS - 1];

		rl_run_rest(f, rest);
		for (uint32_t i = 0; i < n; i++)
			rl_replay_put(r, rest[i], sideband);
		return;
	}
	for (uint32_t i = 0; i < n; i += 4)
		memcpy(r->sideband + at + i, &four, sizeof(four));
	for (uint32_t i = 0; i < RL_RUN_MATES; i++)
		wire[i] = rl_replay_bytes_of(f->mate[i]);
	for (uint32_t i = RL_RUN_MATES; i < n; i += RL_RUN_ROW) {
		struct rl_flit *const *row = f->mate[i / RL_RUN_ROW]->row;

		for (uint32_t k = 0; k < RL_RUN_ROW; k++)
			wire[i + k] = rl_replay_bytes_of(row[k]);
	}
	r->tail += n;
}

/** Owner. @p n packets of one flit get the next numbers. There is room. */
static inline void
rl_replay_put_row(struct rl_replay *r, struct rl_flit *const pkt[],
		  const uint16_t sideband[], uint32_t n)
{
	while (n != 0) {
		const uint32_t at = r->tail & r->mask;
		const uint32_t step = rl_min_u32(n, r->mask + 1 - at);
		uint8_t **const wire = r->wire + at;
		uint16_t *const flits = r->flits + at;

		for (uint32_t i = 0; i < step; i++)
			wire[i] = pkt[i]->wire;
		for (uint32_t i = 0; i < step; i++)
			flits[i] = 1;
		memcpy(r->sideband + at, sideband, step * sizeof(*sideband));
		r->tail += step;
		pkt += step;
		sideband += step;
		n -= step;
	}
}

/**
 * Owner. Numbers and stores a packet, or a fragment of one; the buffer owns it.
 * There is room. All its flits leave by the head's VC. Runs stay runs: what
 * flits have in common with their head, rl_replay_drain() gives them.
 *
 * @param follower  packet that will be pushed next, or NULL: its chain is
 *                  walked alongside, so that its lines are there by then
 */
static inline void
rl_replay_push(struct rl_replay *r, struct rl_flit *head,
	       const struct rl_flit *follower)
{
	uint16_t left = head->pkt_flits;
	struct rl_flit *f = head;
	uint64_t state = head->state;
	uint16_t sideband = rl_replay_sideband(r, left, head->vc, state);

	RL_DASSERT(r->tail - r->base + left <= r->window);
	rl_replay_begin(r, left);
	if (left == 1) {
		__builtin_prefetch(follower);
		rl_replay_put(r, f, sideband);
		return;
	}
	while (left > 0) {
		const unsigned int n = rl_run_flits(f);

		if (f->state != state) { /* most are as the one before */
			state = f->state;
			sideband = rl_replay_sideband(r, head->pkt_flits,
						      head->vc, state);
		}
		rl_replay_put(r, f, sideband);
		if (n != 0)
			rl_replay_put_run(r, f, n - 1, sideband);
		left = (uint16_t)(left - (n == 0 ? 1 : n));
		f = rl_packet_next(f);
		__builtin_prefetch(f);
		if (follower == NULL)
			continue;
		follower = rl_packet_next(follower);
		__builtin_prefetch(follower);
	}
}

/** Owner. The flit of a number between base and tail. */
static inline struct rl_flit *
rl_replay_at(const struct rl_replay *r, uint32_t seq)
{
	return rl_flit_of(r->wire[seq & r->mask]);
}

/** Owner. The mark of number @p seq's flit. */
static inline enum rl_mark
rl_replay_mark(const struct rl_replay *r, uint32_t seq)
{
	return (enum rl_mark)RL_SIDEBAND_MARK(r->sideband[seq & r->mask]);
}

/** Owner. The same; it had none. */
static inline void
rl_replay_set_mark(struct rl_replay *r, uint32_t seq, enum rl_mark mark)
{
	r->sideband[seq & r->mask] |= (uint16_t)(mark << RL_SIDEBAND_MARK_SHIFT);
	if ((int32_t)(seq + 1 - r->noted) > 0)
		r->noted = seq + 1;
}

/**
 * Owner. Acknowledges all before @p seq (acked <= seq <= sent_max, checked by
 * the caller); frees into @p cache every flit that no open packet needs and
 * adds to @p done, by VC, the flits acknowledged.
 *
 * @return flits newly acknowledged
 */
uint32_t rl_replay_ack(struct rl_replay *r, uint32_t seq,
		       struct rl_flit_cache *cache, uint32_t done[RL_VCS]);

/** Owner. Whether a flit from `next` on may have been looped, or have a mark. */
static inline bool
rl_replay_noted(const struct rl_replay *r)
{
	return (int32_t)(r->noted - r->next) > 0;
}

/** Owner. How many of the @p n flits from `next` on have a mark. */
uint32_t rl_replay_marks(const struct rl_replay *r, uint32_t n);

/** Owner. Sends again from the first unacknowledged flit. */
static inline void
rl_replay_rewind(struct rl_replay *r)
{
	r->next = r->acked;
}

/** Owner. @p n flits from `next` on go out. */
static inline void
rl_replay_sent(struct rl_replay *r, uint32_t n)
{
	r->next += n;
	if ((int32_t)(r->next - r->sent_max) > 0)
		r->sent_max = r->next;
}

/** What rl_replay_drain() found. */
struct rl_replay_drained {
	uint32_t packets;
	uint32_t flits;
	uint32_t acked_flits; /**< of them already acknowledged */
};

/**
 * Owner. Empties the buffer: moves to @p out, as whole packets in order per
 * VC, everything that belongs to a packet not wholly acknowledged. A packet
 * whose last flits were not yet numbered ends without RL_FF_EOP; at most one
 * a VC, returned through @p open (by VC, NULL where none) instead of @p out.
 * Flits of wholly acknowledged packets are freed.
 *
 * @param unacked_only  leave out acknowledged flits: the related art [DRL-9]
 */
struct rl_replay_drained rl_replay_drain(struct rl_replay *r,
					 bool unacked_only,
					 struct rl_pktq *out,
					 struct rl_flit *open[RL_VCS],
					 struct rl_flit_cache *cache);

#endif /* RL_REPLAY_H */
