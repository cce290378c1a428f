/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CODEC_TEST_H
#define CODEC_TEST_H

/**
 * @file Shared by the tests of the codec.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rl_codec.h"
#include "rl_codec_ref.h"
#include "rl_prng.h"

#define CRC_KINDS 3
#define ISN_KINDS 3

/** Bits of the protected part of a flit: bytes 0-249. */
#define CODE_BITS 2000

/** @return a codec on the heap, owned by the caller; NULL: not supported */
static inline struct rl_codec *
codec_new(enum rl_crc_kind crc, enum rl_isn_kind isn, enum rl_isa isa)
{
	const size_t size = (rl_codec_memsize() + 63) / 64 * 64;
	struct rl_codec *c = aligned_alloc(64, size);

	assert_non_null(c);
	if (rl_codec_init(c, crc, isn, isa) == 0)
		return c;
	free(c);
	return NULL;
}

/** @return the fastest codec of this CPU */
static inline struct rl_codec *
codec_best(enum rl_crc_kind crc, enum rl_isn_kind isn)
{
	return codec_new(crc, isn, rl_codec_best_isa(512));
}

static inline void
random_bytes(struct rl_prng *p, uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)(rl_prng_u64(p) >> 56);
}

/** @return a random byte that is not zero */
static inline uint8_t
random_change(struct rl_prng *p)
{
	return (uint8_t)(1 + rl_prng_below(p, 255));
}

/** Whether long campaigns are enabled by RL_LONG=1. */
static inline bool
long_campaign(void)
{
	const char *s = getenv("RL_LONG");

	return s != NULL && s[0] == '1';
}

#endif /* CODEC_TEST_H */
