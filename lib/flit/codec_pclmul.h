/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CODEC_PCLMUL_H
#define RL_CODEC_PCLMUL_H

/**
 * @file Shared by the 128-bit and the 256-bit code: everything except the long
 * sum of the FEC, fec_sum(), and the copy. Each of the two files includes it
 * with its own instruction set and defines these two.
 *
 * CRC. As in codec_avx512.c each 16-byte lane has two constants of its own, the
 * powers of x its halves represent; the products are added, and one Barrett
 * reduction follows: 33 multiplications a flit. Interleaving them with the
 * FEC's instructions by hand gains nothing: the CPU does it by itself.
 *
 * FEC. A chunk is 15 bytes, five columns of three groups; the sixteenth byte of
 * a register is ignored. C is the sum of the chunks times a^(80-5c), by table
 * look-up of nibbles (pshufb); then the five columns are added by Horner's
 * rule. The last chunk, of 10 bytes, has the factor 1.
 */

#include <immintrin.h>

#include "codec_priv.h"

#define FORCE_INLINE static inline __attribute__((always_inline))

/*
 * Flits to prefetch ahead: 8 to 16, at 10 to 20 ns each, hide memory latency.
 */
#define AHEAD 16

/* Where the last lane and the last chunk begin; both are 10 bytes long. */
#define LAST_OFF 240

/** Five columns each, to be weighted and added: sums for C and for P. */
struct fec_sums {
	__m128i c, p;
};

/** Sums over the first 240 bytes of a flit. */
static inline struct fec_sums fec_sum(const struct rl_codec *c,
				      const uint8_t *flit);

/** @p x times a, byte by byte, in the field 0x11D. */
FORCE_INLINE __m128i
times_a(__m128i x)
{
	const __m128i carry = _mm_cmplt_epi8(x, _mm_setzero_si128());

	return _mm_xor_si128(_mm_add_epi8(x, x),
			     _mm_and_si128(carry, _mm_set1_epi8(0x1d)));
}

/** @p x times the factor of @p nibble's two tables. */
FORCE_INLINE __m128i
times(__m128i x, const uint8_t nibble[2][16])
{
	const __m128i mask = _mm_set1_epi8(15);
	const __m128i *table = (const __m128i *)(const void *)nibble;
	const __m128i low = _mm_and_si128(x, mask);
	const __m128i high = _mm_and_si128(_mm_srli_epi16(x, 4), mask);

	return _mm_xor_si128(_mm_shuffle_epi8(_mm_load_si128(table), low),
			     _mm_shuffle_epi8(_mm_load_si128(table + 1), high));
}

/** The FEC word of @p s and of the last ten data bytes, @p last. */
FORCE_INLINE __m128i
fec_finish(struct fec_sums s, __m128i last)
{
	const __m128i order = _mm_setr_epi8(-1, -1, 1, 2, 0, 5, 6, 4, -1, -1,
					    -1, -1, -1, -1, -1, -1);
	const __m128i c = _mm_xor_si128(s.c, last);
	const __m128i p = _mm_xor_si128(s.p, last);
	__m128i pairs, sum, parity;

	/* of columns c0..c4: a(a^2(a c0 + c1) + a c2 + c3) + c4 */
	pairs = _mm_xor_si128(times_a(c), _mm_srli_si128(c, 3));
	sum = _mm_xor_si128(times_a(times_a(pairs)), _mm_srli_si128(pairs, 6));
	sum = _mm_xor_si128(times_a(sum), _mm_srli_si128(c, 12));

	parity = _mm_xor_si128(p, _mm_srli_si128(p, 6));
	parity = _mm_xor_si128(parity, _mm_srli_si128(parity, 3));
	parity = _mm_xor_si128(parity, _mm_srli_si128(p, 12));
	return _mm_shuffle_epi8(_mm_unpacklo_epi32(sum, parity), order);
}

/** Unreduced sum of the first 240 bytes. */
FORCE_INLINE __m128i
crc_sum(const struct rl_codec *c, const uint8_t *f)
{
	__m128i a = _mm_setzero_si128(), b = a;

#pragma GCC unroll 15
	for (int i = 0; i < 15; i++) {
		const __m128i x =
			_mm_loadu_si128((const __m128i_u *)(f + 16 * i));
		const __m128i k =
			_mm_load_si128((const __m128i *)(const void *)c->fold[i]);

		a = _mm_xor_si128(a, _mm_clmulepi64_si128(x, k, 0x00));
		b = _mm_xor_si128(b, _mm_clmulepi64_si128(x, k, 0x11));
	}
	return _mm_xor_si128(a, b);
}

/** Adds the last lane and reduces: the remainder. */
FORCE_INLINE uint64_t
crc_finish(const struct rl_codec *c, __m128i sum, __m128i last)
{
	const __m128i k =
		_mm_load_si128((const __m128i *)(const void *)c->fold[15]);
	const __m128i barrett = _mm_set_epi64x((long long)c->barrett_p,
					       (long long)c->barrett_mu);
	__m128i q, t;

	sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(last, k, 0x00));
	sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(last, k, 0x11));
	q = _mm_clmulepi64_si128(sum, barrett, 0x00);
	t = _mm_clmulepi64_si128(q, barrett, 0x10);
	return (uint64_t)_mm_extract_epi64(_mm_xor_si128(sum, t), 1) ^
	       (uint64_t)_mm_cvtsi128_si64(q);
}

/** Bytes 240-249 of a flit, the rest zero, from bytes 240-255. */
FORCE_INLINE __m128i
last_ten(__m128i tail)
{
	return _mm_and_si128(tail, _mm_set_epi64x(0xffff, -1));
}

/** FEC syndrome of @p f. */
FORCE_INLINE uint64_t
fec_syndrome(const struct rl_codec *c, const uint8_t *f)
{
	const __m128i tail =
		_mm_loadu_si128((const __m128i_u *)(f + LAST_OFF));

	return (uint64_t)_mm_cvtsi128_si64(
		       fec_finish(fec_sum(c, f), last_ten(tail))) ^
	       rl_fec_word(f);
}

FORCE_INLINE void
tx_one(const struct rl_codec *c, uint8_t *f, uint32_t seq, bool rs)
{
	const uint64_t head = rl_get16(f + LAST_OFF);
	uint64_t crc;
	__m128i last, word;

	if (rs)
		crc = rl_scalar_crc(c, f);
	else
		crc = crc_finish(c, crc_sum(c, f),
				 _mm_cvtsi64_si128((long long)head)) ^
		      c->crc_zero;
	crc ^= rl_mix(c, seq);
	/* bytes 240-255: two of data, the CRC, the check bytes */
	last = _mm_set_epi64x((long long)(crc >> 48),
			      (long long)(head | crc << 16));
	word = fec_finish(fec_sum(c, f), last);
	_mm_storeu_si128((__m128i_u *)(f + LAST_OFF),
			 _mm_xor_si128(last, _mm_slli_si128(word, 8)));
}

static void
tx(const struct rl_codec *c, uint8_t *const f[], const uint32_t seq[],
   unsigned int n)
{
	const uint8_t *const *ahead = (const uint8_t *const *)f;
	const bool rs = c->crc == RL_CRC_PCIE6_RS;

	rl_prefetch_first(ahead, AHEAD, n);
	for (unsigned int i = 0; i < n; i++) {
		if (i + AHEAD < n)
			rl_prefetch_flit(f[i + AHEAD]);
		tx_one(c, f[i], seq[i], rs);
	}
}

/** The syndrome of @p f as received. */
FORCE_INLINE uint64_t
crc_syndrome(const struct rl_codec *c, const uint8_t *f, uint32_t eseq, bool rs)
{
	const __m128i tail =
		_mm_loadu_si128((const __m128i_u *)(f + LAST_OFF));

	if (rs)
		return rl_scalar_crc(c, f) ^ rl_get64(f + RL_FLIT_CRC_OFF) ^
		       rl_mix(c, eseq);
	return crc_finish(c, crc_sum(c, f), last_ten(tail)) ^ c->crc_zero ^
	       rl_mix(c, eseq);
}

static unsigned int
rx(const struct rl_codec *c, uint8_t *const f[], const uint32_t eseq[],
   unsigned int n, uint64_t syndrome[], uint8_t fec[])
{
	const uint8_t *const *ahead = (const uint8_t *const *)f;
	const bool rs = c->crc == RL_CRC_PCIE6_RS;
	unsigned int bad = 0;

	rl_prefetch_first(ahead, AHEAD, n);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t word, crc;

		if (i + AHEAD < n)
			rl_prefetch_flit(f[i + AHEAD]);
		word = fec_syndrome(c, f[i]);
		crc = crc_syndrome(c, f[i], eseq[i], rs);
		fec[i] = RL_FEC_CLEAN;
		if (rl_unlikely(word != 0)) {
			fec[i] = (uint8_t)rl_fec_correct(c, f[i], word);
			crc = rl_scalar_crc(c, f[i]) ^ rl_mix(c, eseq[i]) ^
			      rl_get64(f[i] + RL_FLIT_CRC_OFF);
		}
		syndrome[i] = crc;
		bad += fec[i] == RL_FEC_BAD || crc != 0;
	}
	return bad;
}

/** Copies and checks a flit. @return whether it is not clean */
FORCE_INLINE unsigned int
hop_one(const struct rl_codec *c, const uint8_t *src, uint8_t *dst,
	uint8_t *fec)
{
	const uint64_t word = fec_syndrome(c, src);

	memcpy(dst, src, RL_FLIT_BYTES);
	*fec = RL_FEC_CLEAN;
	if (rl_likely(word == 0))
		return 0;
	*fec = (uint8_t)rl_fec_correct(c, dst, word);
	return 1;
}

static unsigned int
hop(const struct rl_codec *c, const uint8_t *const src[], uint8_t *const dst[],
    unsigned int n, uint8_t fec[])
{
	unsigned int dirty = 0;

	rl_prefetch_first(src, AHEAD, n);
	for (unsigned int i = 0; i < n; i++) {
		if (i + AHEAD < n)
			rl_prefetch_flit(src[i + AHEAD]);
		dirty += hop_one(c, src[i], dst[i], &fec[i]);
	}
	return dirty;
}

/** The CPU prefetches consecutive flits by itself. */
static unsigned int
receive(const struct rl_codec *c, const uint8_t *const src[],
	struct rl_flit *const f[], unsigned int n, uint8_t fec[])
{
	unsigned int dirty = 0;

	for (unsigned int i = 0; i < n; i++)
		dirty += hop_one(c, src[i], f[i]->wire, &fec[i]);
	return dirty;
}

static unsigned int
check(const struct rl_codec *c, const uint8_t *const f[], unsigned int n,
      uint8_t fec[])
{
	unsigned int dirty = 0;

	rl_prefetch_first(f, AHEAD, n);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t word;

		if (i + AHEAD < n)
			rl_prefetch_flit(f[i + AHEAD]);
		word = fec_syndrome(c, f[i]);
		fec[i] = (uint8_t)rl_fec_judge(c, word);
		dirty += word != 0;
	}
	return dirty;
}

/** The operations, with the copy of the file that includes this. */
#define PCLMUL_OPS(own_copy)                                                   \
	{                                                                      \
		.tx = tx, .rx = rx, .hop = hop, .receive = receive,            \
		.check = check, .copy = (own_copy),                            \
	}

#endif /* RL_CODEC_PCLMUL_H */
