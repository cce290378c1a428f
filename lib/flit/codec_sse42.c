/* SPDX-License-Identifier: BSD-3-Clause */

/* The codec with SSE4.2 and PCLMULQDQ; codec_pclmul.h explains it. */

#include "codec_pclmul.h"

static inline struct fec_sums
fec_sum(const struct rl_codec *c, const uint8_t *f)
{
	struct fec_sums s = { _mm_setzero_si128(), _mm_setzero_si128() };

#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) {
		const __m128i x =
			_mm_loadu_si128((const __m128i_u *)(f + 15 * i));

		s.p = _mm_xor_si128(s.p, x);
		s.c = _mm_xor_si128(s.c, times(x, c->fec_nibble[i]));
	}
	return s;
}

const struct rl_codec_ops rl_ops_sse42 = PCLMUL_OPS(rl_scalar_copy);
