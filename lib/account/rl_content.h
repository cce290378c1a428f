/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CONTENT_H
#define RL_CONTENT_H

/**
 * @file
 * The contents of a generated packet, which follow from its key: word i of 8
 * bytes is key + i * an odd constant. So every word of every packet differs,
 * any part can be made without the parts before it, and the judge needs no
 * record of what was sent: a packet is bit-identical if it is what its key
 * makes. A word costs an addition and a comparison. Any thread.
 */

#include <string.h>

#include "rl_flit.h"

/** Any odd constant whose multiples look unrelated. */
#define RL_CONTENT_STEP 0x9e3779b97f4a7c15ull

_Static_assert(RL_FLIT_DATA_BYTES % 8 == 0, "a word never spans two flits");

/** Writes @p len bytes of a packet, those from @p off (a multiple of 8) on. */
static inline void
rl_content_fill(uint64_t key, uint8_t *to, uint32_t off, uint32_t len)
{
	uint64_t word = key + off / 8 * RL_CONTENT_STEP;
	uint32_t i = 0;

	for (; i + 8 <= len; i += 8, word += RL_CONTENT_STEP)
		rl_put64(to + i, word);
	if (i < len)
		memcpy(to + i, &word, len - i);
}

/** Whether these bytes are what rl_content_fill() writes. */
static inline bool
rl_content_same(uint64_t key, const uint8_t *data, uint32_t off, uint32_t len)
{
	uint64_t word = key + off / 8 * RL_CONTENT_STEP;
	uint64_t wrong = 0;
	uint32_t i = 0;

	for (; i + 8 <= len; i += 8, word += RL_CONTENT_STEP)
		wrong |= rl_get64(data + i) ^ word;
	return wrong == 0 && (i == len || memcmp(data + i, &word, len - i) == 0);
}

#endif /* RL_CONTENT_H */
