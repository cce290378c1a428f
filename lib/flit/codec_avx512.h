/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CODEC_AVX512_H
#define RL_CODEC_AVX512_H

/**
 * @file
 * The arithmetic of the codec with AVX-512, VPCLMULQDQ, GFNI and VBMI.
 *
 * A flit is four registers z0..z3 of 64 bytes, loaded once.
 *
 * CRC. Every 16-byte lane of the flit has two constants of its own: the powers
 * of x that its halves represent. So no register is folded into the next, the
 * odd length needs no code, and one mask selects a sum over 242 bytes (the CRC)
 * or 250 (the syndrome): 8 multiplications a flit. The four lanes of the sum
 * are added across flits, so that all eight share one Barrett reduction. On the
 * measured machines a 512-bit carry-less multiplication takes two cycles; these
 * 17 or so are the floor.
 *
 * FEC. The flit is cut into chunks of 63 bytes (21 columns), so that a byte of
 * a register belongs to one group. C is a Horner scheme over the four chunks
 * (multiply by a^63, a^42, a^21, 1), then a factor per byte. Multiplication by
 * a constant is a linear map of bits: gf2p8affineqb does it in any field. The
 * factors per byte need gf2p8mulb, which knows the field 0x11B only; the
 * isomorphism into it is folded into the first map, its inverse into the next.
 * The latter transposes: with the data as matrix and a constant as vector,
 * gf2p8affineqb turns 8 bytes into the 8 words of their bits, and a second one
 * adds up, for each byte of the FEC word, the bytes of its group. The eight
 * words of the result still have to be added. The chunks come out of z0..z3 by
 * one vpermt2b each; loading them again, unaligned, would take twice the time.
 *
 * The Reed-Solomon CRC of PCIe 6 is the same scheme eight times, once for each
 * root of its generator, and a matrix that turns the eight sums into bytes.
 */

#include <immintrin.h>

#include "codec_priv.h"

#define FORCE_INLINE static inline __attribute__((always_inline))

/** Flits that share a reduction. */
#define GROUP 8

/* Used bytes of the last 64-byte register and of the last 63-byte chunk. */
#define CRC_MASK ((1ull << (RL_FLIT_CRC_OFF - 192)) - 1)
#define SYNDROME_MASK ((1ull << (RL_FLIT_FEC_OFF - 192)) - 1)
#define CHUNK_MASK ((1ull << 63) - 1)
#define CHUNK_TX_MASK ((1ull << (RL_FLIT_CRC_OFF - 189)) - 1)
#define CHUNK_RX_MASK ((1ull << (RL_FLIT_FEC_OFF - 189)) - 1)
#define FEC_MASK (0x3full << 58)

/** A flit in registers. */
struct flit512 {
	__m512i z[4];
};

/**
 * The constants for all flits, in registers: the compiler must assume that the
 * stores of a burst change them in memory, and would reload them for each flit
 * (hop: 2.9 ns instead of 2.4).
 */
struct fec512 {
	__m512i chunk[4];
	__m512i scale[4];
	__m512i weight, uniso, transpose, pick_c, pick_p;
};

FORCE_INLINE __m512i
xor3(__m512i a, __m512i b, __m512i c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

FORCE_INLINE __m512i
affine(__m512i x, __m512i matrix)
{
	return _mm512_gf2p8affine_epi64_epi8(x, matrix, 0);
}

FORCE_INLINE __m512i
word(uint64_t w)
{
	return _mm512_set1_epi64((long long)w);
}

FORCE_INLINE struct flit512
load(const uint8_t *f)
{
	const struct flit512 v = { {
		_mm512_loadu_si512(f),
		_mm512_loadu_si512(f + 64),
		_mm512_loadu_si512(f + 128),
		_mm512_loadu_si512(f + 192),
	} };

	return v;
}

FORCE_INLINE void
store(uint8_t *f, const struct flit512 *v)
{
	_mm512_storeu_si512(f, v->z[0]);
	_mm512_storeu_si512(f + 64, v->z[1]);
	_mm512_storeu_si512(f + 128, v->z[2]);
	_mm512_storeu_si512(f + 192, v->z[3]);
}

/**
 * Stores, and goes on with the registers. The last one is used twice, and the
 * compiler would reload it from where it was just stored, which waits for the
 * store if the line is not cached.
 */
FORCE_INLINE void
store_on(uint8_t *f, struct flit512 *v)
{
	store(f, v);
	__asm__("" : "+v"(v->z[3]));
}

FORCE_INLINE struct fec512
load_fec(const struct rl_k512 *k)
{
	struct fec512 r;

	for (int i = 0; i < 4; i++) {
		r.chunk[i] = _mm512_load_si512(k->chunk[i]);
		r.scale[i] = word(k->fec_scale[i]);
	}
	r.weight = _mm512_load_si512(k->fec_weight);
	r.uniso = word(k->fec_uniso);
	r.transpose = word(k->transpose);
	r.pick_c = _mm512_load_si512(k->fec_pick_c);
	r.pick_p = _mm512_load_si512(k->fec_pick_p);
	return r;
}

/** Chunk @p i (0-3) of 63 bytes; @p last masks chunk 3. */
FORCE_INLINE __m512i
chunk(const struct fec512 *k, const struct flit512 *v, int i, uint64_t last)
{
	if (i == 0)
		return _mm512_maskz_mov_epi8(CHUNK_MASK, v->z[0]);
	return _mm512_maskz_permutex2var_epi8(i == 3 ? last : CHUNK_MASK,
					      v->z[i - 1], k->chunk[i],
					      v->z[i]);
}

/**
 * Eight words that add up to the FEC word of the data that @p last selects, and
 * to @p received.
 */
FORCE_INLINE __m512i
fec_part(const struct fec512 *k, const struct flit512 *v, uint64_t last,
	 __m512i received)
{
	const __m512i x0 = chunk(k, v, 0, last), x1 = chunk(k, v, 1, last);
	const __m512i x2 = chunk(k, v, 2, last), x3 = chunk(k, v, 3, last);
	__m512i c, p;

	p = _mm512_xor_si512(xor3(x0, x1, x2), x3);
	c = xor3(affine(x0, k->scale[0]), affine(x1, k->scale[1]),
		 affine(x2, k->scale[2]));
	c = _mm512_xor_si512(c, affine(x3, k->scale[3]));
	c = _mm512_gf2p8mul_epi8(c, k->weight);
	c = affine(k->pick_c, affine(k->uniso, c));
	p = affine(k->pick_p, affine(k->transpose, p));
	return xor3(c, p, received);
}

/** The same for the syndrome: 250 bytes and the check bytes received. */
FORCE_INLINE __m512i
fec_syndrome_part(const struct fec512 *k, const struct flit512 *v)
{
	return fec_part(k, v, CHUNK_RX_MASK,
			_mm512_maskz_mov_epi8(FEC_MASK, v->z[3]));
}

/** FEC word of the CRC fields @p crc of eight flits. */
FORCE_INLINE __m512i
fec_of_crc(const struct rl_k512 *k, __m512i crc)
{
	__m512i c = affine(crc, word(k->crc_iso)), p;

	c = _mm512_gf2p8mul_epi8(c, word(k->crc_weight));
	c = affine(word(k->fec_uniso), c);
	p = affine(word(k->transpose), crc);
	return _mm512_xor_si512(affine(word(k->crc_pick_c), c),
				affine(word(k->crc_pick_p), p));
}

/**
 * Four lanes that add up to the unreduced CRC of the data that @p last selects.
 */
FORCE_INLINE __m512i
crc_part(const struct rl_codec *c, const struct flit512 *v, uint64_t last)
{
	__m512i a = _mm512_setzero_si512(), b = a;

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		const __m512i f = _mm512_load_si512(c->fold[4 * i]);
		const __m512i z =
			i == 3 ? _mm512_maskz_mov_epi8(last, v->z[3]) : v->z[i];
		const __m512i lo = _mm512_clmulepi64_epi128(z, f, 0x00);
		const __m512i hi = _mm512_clmulepi64_epi128(z, f, 0x11);

		if (i % 2)
			b = xor3(b, lo, hi);
		else
			a = xor3(a, lo, hi);
	}
	return _mm512_xor_si512(a, b);
}

/** Sums of neighbouring words; those of @p a and @p b alternate. */
FORCE_INLINE __m512i
add_words(__m512i a, __m512i b)
{
	return _mm512_xor_si512(_mm512_unpacklo_epi64(a, b),
				_mm512_unpackhi_epi64(a, b));
}

/** Lanes a0+a1, a2+a3, b0+b1, b2+b3. */
FORCE_INLINE __m512i
add_lanes(__m512i a, __m512i b)
{
	return _mm512_xor_si512(_mm512_shuffle_i64x2(a, b, 0x88),
				_mm512_shuffle_i64x2(a, b, 0xdd));
}

/**
 * Remainders of eight flits, in their order, from the unreduced sums of the
 * even and the odd ones.
 */
FORCE_INLINE __m512i
barrett(const struct rl_codec *c, __m512i even, __m512i odd)
{
	const __m512i mu = word(c->barrett_mu), p = word(c->barrett_p);
	const __m512i q0 = _mm512_clmulepi64_epi128(even, mu, 0x00);
	const __m512i q1 = _mm512_clmulepi64_epi128(odd, mu, 0x00);
	const __m512i t0 = _mm512_clmulepi64_epi128(q0, p, 0x00);
	const __m512i t1 = _mm512_clmulepi64_epi128(q1, p, 0x00);

	return xor3(_mm512_unpackhi_epi64(even, odd),
		    _mm512_unpacklo_epi64(q0, q1),
		    _mm512_unpackhi_epi64(t0, t1));
}

/** Eight words of sums S_1..S_8 (bytes), to be added, for the RS code. */
FORCE_INLINE __m512i
rs_part(const struct rl_k512 *k, const struct fec512 *fk,
	const struct flit512 *v, uint64_t last)
{
	const __m512i x0 = chunk(fk, v, 0, last), x1 = chunk(fk, v, 1, last);
	const __m512i x2 = chunk(fk, v, 2, last), x3 = chunk(fk, v, 3, last);
	__m512i s[8];

	/* bytes of the eight sums interleave as their sums are halved */
#pragma GCC unroll 8
	for (int j = 0; j < 8; j++) {
		__m512i t = xor3(affine(x0, word(k->rs_scale[j][0])),
				 affine(x1, word(k->rs_scale[j][1])),
				 affine(x2, word(k->rs_scale[j][2])));

		t = _mm512_xor_si512(t, affine(x3, word(k->rs_scale[j][3])));
		s[j] = _mm512_gf2p8mul_epi8(
			t, _mm512_load_si512(k->rs_weight[j]));
	}
#pragma GCC unroll 4
	for (int j = 0; j < 8; j += 2)
		s[j] = _mm512_xor_si512(_mm512_unpacklo_epi8(s[j], s[j + 1]),
					_mm512_unpackhi_epi8(s[j], s[j + 1]));
#pragma GCC unroll 2
	for (int j = 0; j < 8; j += 4)
		s[j] = _mm512_xor_si512(_mm512_unpacklo_epi16(s[j], s[j + 2]),
					_mm512_unpackhi_epi16(s[j], s[j + 2]));
	return _mm512_xor_si512(_mm512_unpacklo_epi32(s[0], s[4]),
				_mm512_unpackhi_epi32(s[0], s[4]));
}

/** CRC bytes of eight flits from their sums. */
FORCE_INLINE __m512i
rs_solve(const struct rl_k512 *k, __m512i s)
{
	__m512i a = _mm512_gf2p8mul_epi8(s, word(k->rs_solve[0]));

#define ROTATED(r)                                                             \
	_mm512_gf2p8mul_epi8(_mm512_ror_epi64(s, 8 * (r)), word(k->rs_solve[r]))
	a = xor3(a, ROTATED(1), ROTATED(2));
	a = xor3(a, ROTATED(3), ROTATED(4));
	a = xor3(a, ROTATED(5), ROTATED(6));
	a = _mm512_xor_si512(a, ROTATED(7));
#undef ROTATED
	return affine(a, word(k->rs_uniso));
}

/** Contribution of eight numbers to the CRC fields. */
FORCE_INLINE __m512i
mix(const struct rl_codec *c, const uint32_t *seq)
{
	const __m256i s = _mm256_loadu_si256((const __m256i_u *)seq);
	const __m256i count = _mm256_add_epi32(
		_mm256_set1_epi32((int)seq[0]),
		_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
	const uint32_t low = seq[0] % RL_MIX_LOW;
	__m256i high;

	/* consecutive numbers of a flow: one load is enough */
	if (rl_likely(_mm256_cmpneq_epi32_mask(s, count) == 0 &&
		      low <= RL_MIX_LOW - GROUP))
		return _mm512_xor_si512(
			_mm512_loadu_si512(c->mix + low),
			word(c->mix_high[seq[0] / RL_MIX_LOW % RL_MIX_HIGH]));
	high = _mm256_and_si256(_mm256_srli_epi32(s, 10),
				_mm256_set1_epi32(RL_MIX_HIGH - 1));
	return _mm512_xor_si512(
		_mm512_i32gather_epi64(
			_mm256_and_si256(s, _mm256_set1_epi32(RL_MIX_LOW - 1)),
			c->mix, 8),
		_mm512_i32gather_epi64(high, c->mix_high, 8));
}

/** How many of eight words are not zero. */
FORCE_INLINE unsigned int
count_nonzero(__m512i words)
{
	return (unsigned int)__builtin_popcount(
		_mm512_test_epi64_mask(words, words));
}

/** The lowest of eight words. */
FORCE_INLINE uint64_t
lowest(__m512i words)
{
	return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(words));
}

#endif /* RL_CODEC_AVX512_H */
