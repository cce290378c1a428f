/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EP_WIN_H
#define EP_WIN_H

/**
 * @file A window over a flow's numbers: a flit and one bit for each. Both are
 * addressed by free-running numbers, masked on access. Senders use the bit for
 * "to be sent again", receivers for "held". The owner knows which slots are
 * filled.
 *
 * Few flows ever have many flits under way, so all begin with a small window,
 * and a larger one takes its place (ep_win_reach() in ep_flow.c). Memory and
 * caches then hold few slots for each flow, however large windows may get.
 */

#include <string.h>

#include "rl_flit.h"
#include "rl_seq.h"

struct ep_win {
	struct ep_win *next_free;
	uint32_t mask;
	struct rl_flit *slot[]; /**< mask + 1 of them, then the bits */
};

#define EP_WINS 2 /**< sizes of windows: small, large */

/** Windows of one size; zeroed but for what does not change: none was taken. */
struct ep_win_pool {
	struct ep_win *free;
	size_t at;	/**< of their memory in that of the endpoint */
	size_t bytes;	/**< of a window */
	uint32_t total;
	uint32_t used;	/**< windows ever taken from there */
	uint32_t mask;
};

static inline size_t
ep_win_words(uint32_t mask)
{
	return (mask >> 6) + 1;
}

/** Bytes of a window. */
static inline size_t
ep_win_bytes(uint32_t mask)
{
	return sizeof(struct ep_win) + (mask + 1) * sizeof(struct rl_flit *) +
	       ep_win_words(mask) * sizeof(uint64_t);
}

static inline uint64_t *
ep_win_bits(struct ep_win *w)
{
	return (uint64_t *)(void *)(w->slot + w->mask + 1);
}

/** No bit is set. */
static inline void
ep_win_reset(struct ep_win *w)
{
	memset(ep_win_bits(w), 0, ep_win_words(w->mask) * sizeof(uint64_t));
}

static inline struct rl_flit *
ep_win_at(const struct ep_win *w, uint32_t seq)
{
	return w->slot[seq & w->mask];
}

static inline void
ep_win_put(struct ep_win *w, uint32_t seq, struct rl_flit *f)
{
	w->slot[seq & w->mask] = f;
}

static inline bool
ep_win_bit(struct ep_win *w, uint32_t seq)
{
	const uint32_t i = seq & w->mask;

	return ep_win_bits(w)[i >> 6] >> (i & 63) & 1;
}

static inline void
ep_win_set(struct ep_win *w, uint32_t seq)
{
	const uint32_t i = seq & w->mask;

	ep_win_bits(w)[i >> 6] |= 1ull << (i & 63);
}

static inline void
ep_win_clear(struct ep_win *w, uint32_t seq)
{
	const uint32_t i = seq & w->mask;

	ep_win_bits(w)[i >> 6] &= ~(1ull << (i & 63));
}

/**
 * First number in from .. to-1 whose bit is @p set; @p to if there is none. to
 * - from <= w->mask + 1.
 */
static inline uint32_t
ep_win_find(struct ep_win *w, uint32_t from, uint32_t to, bool set)
{
	const uint64_t *const bits = ep_win_bits(w);
	const uint32_t mask = w->mask;

	while (rl_seq_before(from, to)) {
		const uint32_t i = from & mask;
		uint32_t n = rl_min_u32(64 - (i & 63), mask + 1 - i);
		uint64_t word = bits[i >> 6];

		word = (set ? word : ~word) >> (i & 63);
		n = rl_min_u32(n, to - from);
		if (n < 64)
			word &= (1ull << n) - 1;
		if (word != 0)
			return from + (uint32_t)__builtin_ctzll(word);
		from += n;
	}
	return to;
}

#endif /* EP_WIN_H */
