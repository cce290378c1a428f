/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CODEC_CLMUL_H
#define RL_CODEC_CLMUL_H

/**
 * @file Shared by the 128-bit code of x86 and of arm64, and by the 256-bit
 * code: everything except the long sum of the FEC, fec_sum(), and the copy.
 * Each of the two files includes it with its own instruction set and defines
 * these two. Words of 16 bytes are vectors of the compiler; the few operations
 * that it has no operator for stand at the top, once for each CPU.
 *
 * CRC. As in codec_avx512.c each 16-byte lane has two constants of its own, the
 * powers of x its halves represent; the products are added, and one Barrett
 * reduction follows: 33 multiplications a flit. Interleaving them with the
 * FEC's instructions by hand gains nothing: the CPU does it by itself.
 *
 * FEC. A chunk is 15 bytes, five columns of three groups; the sixteenth byte of
 * a register is ignored. C is the sum of the chunks times a^(80-5c), by table
 * look-up of nibbles (pshufb, tbl); then the five columns are added by Horner's
 * rule. The last chunk, of 10 bytes, has the factor 1.
 */

#include <string.h>

#include "codec_priv.h"

#define FORCE_INLINE static inline __attribute__((always_inline))

typedef uint8_t vec __attribute__((vector_size(16)));
typedef int8_t vec_signed __attribute__((vector_size(16)));
typedef uint64_t vec_words __attribute__((vector_size(16)));

/*
 * LOOK_UP: bytes of a table of 16; an index of 0x80 or more gives 0.
 * CLMUL: carry-less product of word i of a and word j of b.
 * DOWN, UP: all bytes moved by n places; zeros come in.
 * PAIR: the low halves of a and b, in pieces of 4 bytes that alternate.
 */
#if defined(__x86_64__)

#include <immintrin.h>

#define LOOK_UP(table, x) ((vec)_mm_shuffle_epi8((__m128i)(table), (__m128i)(x)))
#define CLMUL(a, i, b, j)                                                      \
	((vec)_mm_clmulepi64_si128((__m128i)(a), (__m128i)(b), (i) | (j) << 4))
#define DOWN(x, n) ((vec)_mm_srli_si128((__m128i)(x), n))
#define UP(x, n) ((vec)_mm_slli_si128((__m128i)(x), n))
#define PAIR(a, b) ((vec)_mm_unpacklo_epi32((__m128i)(a), (__m128i)(b)))

#else

#include <arm_neon.h>

#define LOOK_UP(table, x) ((vec)vqtbl1q_u8(table, x))
#define POLY(x, i) ((poly64_t)((vec_words)(x))[i])
#define CLMUL(a, i, b, j)                                                      \
	((i) && (j) ? (vec)vmull_high_p64((poly64x2_t)(a), (poly64x2_t)(b))     \
		    : (vec)vmull_p64(POLY(a, i), POLY(b, j)))
#define DOWN(x, n) ((vec)vextq_u8(x, (vec){ 0 }, n))
#define UP(x, n) ((vec)vextq_u8((vec){ 0 }, x, 16 - (n)))
#define PAIR(a, b) ((vec)vzip1q_u32((uint32x4_t)(a), (uint32x4_t)(b)))

#endif

/*
 * Flits to prefetch ahead: 8 to 16, at 10 to 20 ns each, hide memory latency.
 */
#define AHEAD 16

/* Where the last lane and the last chunk begin; both are 10 bytes long. */
#define LAST_OFF 240

/** Five columns each, to be weighted and added: sums for C and for P. */
struct fec_sums {
	vec c, p;
};

FORCE_INLINE vec
load(const void *p)
{
	vec v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/** A constant of the codec: aligned, so that it may be an operand itself. */
FORCE_INLINE vec
constant(const void *p)
{
	return *(const vec *)p;
}

FORCE_INLINE vec
words(uint64_t low, uint64_t high)
{
	return (vec)(vec_words){ low, high };
}

/** Word @p i of @p x. */
FORCE_INLINE uint64_t
word(vec x, int i)
{
	return ((vec_words)x)[i];
}

/** Sums over the first 240 bytes of a flit. */
static inline struct fec_sums fec_sum(const struct rl_codec *c,
				      const uint8_t *flit);

/** @p x times a, byte by byte, in the field 0x11D. */
FORCE_INLINE vec
times_a(vec x)
{
	const vec carry = (vec)((vec_signed)x < 0);

	return (x + x) ^ (carry & 0x1d);
}

/** @p x times the factor of @p nibble's two tables. */
FORCE_INLINE vec
times(vec x, const uint8_t nibble[2][16])
{
	return LOOK_UP(constant(nibble[0]), x & 15) ^
	       LOOK_UP(constant(nibble[1]), x >> 4);
}

/** The FEC word of @p s and of the last ten data bytes, @p last. */
FORCE_INLINE vec
fec_finish(struct fec_sums s, vec last)
{
	const vec order = { 255, 255, 1,   2,	0,   5,	  6,   4,
			    255, 255, 255, 255, 255, 255, 255, 255 };
	const vec c = s.c ^ last, p = s.p ^ last;
	vec pairs, sum, parity;

	/* of columns c0..c4: a(a^2(a c0 + c1) + a c2 + c3) + c4 */
	pairs = times_a(c) ^ DOWN(c, 3);
	sum = times_a(times_a(pairs)) ^ DOWN(pairs, 6);
	sum = times_a(sum) ^ DOWN(c, 12);

	parity = p ^ DOWN(p, 6);
	parity = parity ^ DOWN(parity, 3) ^ DOWN(p, 12);
	return LOOK_UP(PAIR(sum, parity), order);
}

/** Unreduced sum of the first 240 bytes. */
FORCE_INLINE vec
crc_sum(const struct rl_codec *c, const uint8_t *f)
{
	vec a = { 0 }, b = a;

#pragma GCC unroll 15
	for (int i = 0; i < 15; i++) {
		const vec x = load(f + 16 * i), k = constant(c->fold[i]);

		a ^= CLMUL(x, 0, k, 0);
		b ^= CLMUL(x, 1, k, 1);
	}
	return a ^ b;
}

/** Adds the last lane and reduces: the remainder. */
FORCE_INLINE uint64_t
crc_finish(const struct rl_codec *c, vec sum, vec last)
{
	const vec k = constant(c->fold[15]);
	const vec barrett = words(c->barrett_mu, c->barrett_p);
	vec q, t;

	sum ^= CLMUL(last, 0, k, 0);
	sum ^= CLMUL(last, 1, k, 1);
	q = CLMUL(sum, 0, barrett, 0);
	t = CLMUL(q, 0, barrett, 1);
	return word(sum ^ t, 1) ^ word(q, 0);
}

/** Bytes 240-249 of @p f, the rest zero. */
FORCE_INLINE vec
last_ten(const uint8_t *f)
{
	return load(f + LAST_OFF) & words(UINT64_MAX, 0xffff);
}

/** FEC syndrome of @p f. */
FORCE_INLINE uint64_t
fec_syndrome(const struct rl_codec *c, const uint8_t *f)
{
	return word(fec_finish(fec_sum(c, f), last_ten(f)), 0) ^
	       rl_fec_word(f);
}

FORCE_INLINE void
tx_one(const struct rl_codec *c, uint8_t *f, uint32_t seq, bool rs)
{
	const uint64_t head = rl_get16(f + LAST_OFF);
	uint64_t crc;
	vec last;

	if (rs)
		crc = rl_scalar_crc(c, f);
	else
		crc = crc_finish(c, crc_sum(c, f), words(head, 0)) ^
		      c->crc_zero;
	crc ^= rl_mix(c, seq);
	/* bytes 240-255: two of data, the CRC, the check bytes */
	last = words(head | crc << 16, crc >> 48);
	last ^= UP(fec_finish(fec_sum(c, f), last), 8);
	memcpy(f + LAST_OFF, &last, sizeof(last));
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
	if (rs)
		return rl_scalar_crc(c, f) ^ rl_get64(f + RL_FLIT_CRC_OFF) ^
		       rl_mix(c, eseq);
	return crc_finish(c, crc_sum(c, f), last_ten(f)) ^ c->crc_zero ^
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
#define CLMUL_OPS(own_copy)                                                   \
	{                                                                      \
		.tx = tx, .rx = rx, .hop = hop, .receive = receive,            \
		.check = check, .copy = (own_copy),                            \
	}

#endif /* RL_CODEC_CLMUL_H */
