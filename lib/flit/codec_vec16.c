/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The codec with SSE4.2 and PCLMULQDQ, or with NEON and PMULL; codec_clmul.h
 * explains it.
 */

#include "codec_clmul.h"

static inline struct fec_sums
fec_sum(const struct rl_codec *c, const uint8_t *f)
{
	struct fec_sums s = { { 0 }, { 0 } };

#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) {
		const vec x = load(f + 15 * i);

		s.p ^= x;
		s.c ^= times(x, c->fec_nibble[i]);
	}
	return s;
}

const struct rl_codec_ops rl_ops_vec16 = CLMUL_OPS(rl_scalar_copy);
