/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The codec with AVX2 and PCLMULQDQ; codec_clmul.h explains it. Two chunks of
 * the FEC share a register, 30 bytes; both are multiplied by the factor of the
 * second, and the first half of the sum again by a^5.
 */

#include "codec_clmul.h"

static inline struct fec_sums
fec_sum(const struct rl_codec *c, const uint8_t *f)
{
	const __m256i mask = _mm256_set1_epi8(15);
	__m256i sum = _mm256_setzero_si256(), parity = sum;
	struct fec_sums s;
	__m128i low, high;

#pragma GCC unroll 8
	for (int i = 0; i < 8; i++) {
		const __m128i *table = (const __m128i *)(const void *)
					       c->fec_nibble[2 * i + 1];
		const __m256i t0 =
			_mm256_broadcastsi128_si256(_mm_load_si128(table));
		const __m256i t1 =
			_mm256_broadcastsi128_si256(_mm_load_si128(table + 1));
		const __m256i x =
			_mm256_loadu_si256((const __m256i_u *)(f + 30 * i));
		const __m256i y = _mm256_srli_epi16(x, 4);

		parity = _mm256_xor_si256(parity, x);
		sum = _mm256_xor_si256(
			sum,
			_mm256_shuffle_epi8(t0, _mm256_and_si256(x, mask)));
		sum = _mm256_xor_si256(
			sum,
			_mm256_shuffle_epi8(t1, _mm256_and_si256(y, mask)));
	}
	/* the second chunk starts at byte 15, across the two halves */
	low = _mm256_castsi256_si128(sum);
	high = _mm_alignr_epi8(_mm256_extracti128_si256(sum, 1), low, 15);
	s.c = times((vec)low, c->fec_nibble[15]) ^ (vec)high;
	low = _mm256_castsi256_si128(parity);
	high = _mm_alignr_epi8(_mm256_extracti128_si256(parity, 1), low, 15);
	s.p = (vec)_mm_xor_si128(low, high);
	return s;
}

static void
avx2_copy(uint8_t *to, const uint8_t *const flit[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++, to += RL_FLIT_BYTES) {
		const __m256i *from = (const __m256i *)flit[i];

		if (i + 1 < n)
			rl_prefetch_flit(flit[i + 1]);
		for (unsigned int k = 0; k < RL_FLIT_BYTES / 32; k++)
			_mm256_storeu_si256((__m256i *)to + k,
					    _mm256_loadu_si256(from + k));
	}
}

const struct rl_codec_ops rl_ops_avx2 = CLMUL_OPS(avx2_copy);
