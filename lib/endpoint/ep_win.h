/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EP_WIN_H
#define EP_WIN_H

/**
 * @file A window over a flow's numbers: a flit and one bit for each. Both are
 * addressed by free-running numbers, masked on access. Senders use the bit for
 * "to be sent again", receivers for "held". The owner knows which slots are
 * filled.
 */

#include "rl_flit.h"
#include "rl_seq.h"

#define EP_WIN_WORDS 8 /* 512 bits: RL_E2E_WINDOW_MAX rounded up */

struct ep_win {
	uint64_t bits[EP_WIN_WORDS];
	struct rl_flit *slot[]; /**< mask + 1 of them; slot[0] links free ones */
};

static inline bool
ep_win_bit(const struct ep_win *w, uint32_t mask, uint32_t seq)
{
	const uint32_t i = seq & mask;

	return w->bits[i >> 6] >> (i & 63) & 1;
}

static inline void
ep_win_set(struct ep_win *w, uint32_t mask, uint32_t seq)
{
	const uint32_t i = seq & mask;

	w->bits[i >> 6] |= 1ull << (i & 63);
}

static inline void
ep_win_clear(struct ep_win *w, uint32_t mask, uint32_t seq)
{
	const uint32_t i = seq & mask;

	w->bits[i >> 6] &= ~(1ull << (i & 63));
}

/**
 * First number in from .. to-1 whose bit is @p set; @p to if there is none. to
 * - from <= mask + 1.
 */
static inline uint32_t
ep_win_find(const struct ep_win *w, uint32_t mask, uint32_t from, uint32_t to,
	    bool set)
{
	while (rl_seq_before(from, to)) {
		const uint32_t i = from & mask;
		uint32_t n = rl_min_u32(64 - (i & 63), mask + 1 - i);
		uint64_t word = w->bits[i >> 6];

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
