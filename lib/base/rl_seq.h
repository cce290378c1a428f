/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SEQ_H
#define RL_SEQ_H

/**
 * @file Modular arithmetic of sequence numbers: the only place that compares
 * them. In memory every number runs freely in 32 bits; a wire carries its low
 * bits, and the receiver widens them next to a number it knows. This is sound
 * as long as two live numbers differ by less than half the modulus, which the
 * windows guarantee.
 */

#include <stdbool.h>
#include <stdint.h>

/** Bits of a link sequence number on the wire (frame header). */
#define RL_LINK_SEQ_BITS 16
/** Largest window of a link: below half the modulus, in flits. */
#define RL_LINK_WINDOW_MAX ((1u << (RL_LINK_SEQ_BITS - 1)) - 1)
/** Bits of an end-to-end sequence number (ISN, FSN). */
#define RL_E2E_SEQ_BITS 10
#define RL_E2E_SEQ_MASK ((1u << RL_E2E_SEQ_BITS) - 1)
/** Largest window of a flow: below half the modulus, in flits. */
#define RL_E2E_WINDOW_MAX ((1u << (RL_E2E_SEQ_BITS - 1)) - 1)
/** Bits of an end-to-end sequence number in the mixing wide19. */
#define RL_E2E_WIDE_BITS 19
/**
 * Largest window with these: by memory, as each slot of a window is a pointer;
 * half the modulus is far more.
 */
#define RL_E2E_WIDE_WINDOW_MAX 8191

/** a - b as a signed distance: positive if a is ahead of b. */
static inline int32_t
rl_seq_diff(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

static inline bool
rl_seq_before(uint32_t a, uint32_t b)
{
	return rl_seq_diff(a, b) < 0;
}

static inline bool
rl_seq_before_eq(uint32_t a, uint32_t b)
{
	return rl_seq_diff(a, b) <= 0;
}

/**
 * Signed distance of two numbers of @p bits bits (1..31), in
 * -2^(bits-1) .. 2^(bits-1)-1.
 */
static inline int32_t
rl_seq_diff_bits(uint32_t a, uint32_t b, unsigned int bits)
{
	return (int32_t)((a - b) << (32 - bits)) >> (32 - bits);
}

/** The free-running number next to @p near whose low @p bits are @p wire. */
static inline uint32_t
rl_seq_widen(uint32_t near, uint32_t wire, unsigned int bits)
{
	return near + (uint32_t)rl_seq_diff_bits(wire, near, bits);
}

#endif /* RL_SEQ_H */
