/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The codec with AVX-512, VPCLMULQDQ, GFNI and VBMI; eight flits at a time.
 *
 * A flit is four registers z0..z3 of 64 bytes, loaded once.
 *
 * CRC. Every 16-byte lane of the flit has two constants of its own: the powers
 * of x that its halves stand for. So nothing is folded from one register to
 * the next, the odd length needs no code, and one mask tells whether the sum
 * runs over 242 bytes (the CRC) or 250 (the syndrome): 8 multiplications a
 * flit. The four lanes of the sum are added across flits, so that all eight
 * share one Barrett reduction. On the machines at hand a 512-bit carry-less
 * multiplication takes two cycles; these 17 or so are the floor.
 *
 * FEC. The flit is cut into chunks of 63 bytes (21 columns), so that a byte of
 * a register belongs to one group. C is a Horner scheme over the four chunks
 * (multiply by a^63, a^42, a^21, 1), then a factor per byte. Multiplication by
 * a constant is a linear map of bits: gf2p8affineqb does it in any field. The
 * factors per byte need gf2p8mulb, which knows the field 0x11B only; the
 * isomorphism into it is folded into the first map, the way back into the
 * next. That one transposes: with the data as matrix and a constant as vector,
 * gf2p8affineqb turns 8 bytes into the 8 words of their bits, and a second one
 * adds up, for each byte of the FEC word, the bytes of its group. Of the
 * result the eight words have still to be added.
 * The chunks come out of z0..z3 by one vpermt2b each; loading them again,
 * unaligned, would take twice the time.
 *
 * The Reed-Solomon CRC of PCIe 6 is the same scheme eight times, once for each
 * root of its generator, and a matrix that turns the eight sums into bytes.
 *
 * Forced inlining: the compiler won't inline a group's eight copies of the
 * per-flit work otherwise, and TX then takes 6.9 ns instead of 4.3.
 */

#include <immintrin.h>

#include "codec_priv.h"

#define FORCE_INLINE static inline __attribute__((always_inline))

#define GROUP 8
/* Flits to prefetch ahead: 16 to 24 hide the latency of memory. */
#define AHEAD 24

/* Bytes of the last 64-byte register and the last 63-byte chunk that count. */
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
 * The constants of every flit, in registers: the stores of a burst might
 * change them in memory for all the compiler knows, and it would load them
 * again for each flit (hop: 2.9 ns instead of 2.4).
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
 * Eight words that add up to the FEC word of what @p last leaves of the data,
 * and to @p received.
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

/** Four lanes that add up to the unreduced CRC of what @p last leaves. */
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

/** Words alternate: those of @p a and @p b, summed by neighbours. */
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

/** What eight numbers add to the CRC fields. */
FORCE_INLINE __m512i
mix(const struct rl_codec *c, const uint32_t *seq)
{
	const __m256i s = _mm256_loadu_si256((const __m256i_u *)seq);
	const __m256i count = _mm256_add_epi32(
		_mm256_set1_epi32((int)seq[0]),
		_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
	const uint32_t low = seq[0] % RL_MIX_LOW;
	__m256i high;

	/* a flow's numbers follow each other: one load does */
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

/** Unreduced sums of one flit. */
struct part {
	__m512i crc, fec;
};

/** Sums of eight flits: the two words of each. */
struct sums {
	__m512i crc, fec;
};

FORCE_INLINE struct part
one_part(const struct rl_codec *c, const struct fec512 *fk, const uint8_t *f,
	 bool tx, bool rs)
{
	const struct flit512 v = load(f);
	struct part p;

	if (rs)
		p.crc = rs_part(&c->k512, fk, &v, tx ? CHUNK_TX_MASK : CHUNK_RX_MASK);
	else
		p.crc = crc_part(c, &v, tx ? CRC_MASK : SYNDROME_MASK);
	p.fec = tx ? fec_part(fk, &v, CHUNK_TX_MASK, _mm512_setzero_si512())
		   : fec_syndrome_part(fk, &v);
	return p;
}

/**
 * CRC (over 242 bytes) or syndrome (over 250), without start value and number;
 * FEC word of the first 242 bytes, or FEC syndrome.
 */
FORCE_INLINE struct sums
group_sums(const struct rl_codec *c, const struct fec512 *fk,
	   uint8_t *const f[], bool tx, bool rs)
{
	struct sums half[2];
	__m512i even[2], odd[2];

#pragma GCC unroll 2
	for (int h = 0; h < 2; h++) {
		const struct part a = one_part(c, fk, f[4 * h], tx, rs);
		const struct part b = one_part(c, fk, f[4 * h + 1], tx, rs);
		const __m512i f01 = add_words(a.fec, b.fec);
		const struct part d = one_part(c, fk, f[4 * h + 2], tx, rs);
		const struct part e = one_part(c, fk, f[4 * h + 3], tx, rs);
		const __m512i f23 = add_words(d.fec, e.fec);

		half[h].fec = add_lanes(f01, f23);
		if (rs) {
			half[h].crc = add_lanes(add_words(a.crc, b.crc),
						add_words(d.crc, e.crc));
		} else {
			even[h] = add_lanes(a.crc, d.crc);
			odd[h] = add_lanes(b.crc, e.crc);
		}
	}
	half[0].fec = add_lanes(half[0].fec, half[1].fec);
	if (rs)
		half[0].crc = rs_solve(&c->k512, add_lanes(half[0].crc, half[1].crc));
	else
		half[0].crc = barrett(c, add_lanes(even[0], even[1]),
				      add_lanes(odd[0], odd[1]));
	return half[0];
}

/** Stores bytes 242-255 of eight flits. */
FORCE_INLINE void
store_tails(uint8_t *const f[], __m512i crc, __m512i fec)
{
	const __m512i tail = _mm512_or_si512(_mm512_srli_epi64(crc, 48), fec);
	uint64_t c[GROUP] RL_ALIGNED(64), t[GROUP] RL_ALIGNED(64);

	_mm512_store_si512(c, crc);
	_mm512_store_si512(t, tail);
	for (int i = 0; i < GROUP; i++) {
		rl_put64(f[i] + RL_FLIT_CRC_OFF, c[i]);
		rl_put64(f[i] + RL_FEC_WORD_OFF, t[i]);
	}
}

/** @p n flits (1-7) made up to a group by repeating the last one. */
FORCE_INLINE void
pad_flits(const uint8_t *full[GROUP], const uint8_t *const f[], unsigned int n)
{
	for (unsigned int i = 0; i < GROUP; i++)
		full[i] = f[i < n ? i : n - 1];
}

FORCE_INLINE void
pad_writable(uint8_t *full[GROUP], uint8_t *const f[], unsigned int n)
{
	for (unsigned int i = 0; i < GROUP; i++)
		full[i] = f[i < n ? i : n - 1];
}

FORCE_INLINE void
pad_numbers(uint32_t full[GROUP], const uint32_t seq[], unsigned int n)
{
	for (unsigned int i = 0; i < GROUP; i++)
		full[i] = seq[i < n ? i : n - 1];
}

FORCE_INLINE void
tx_group(const struct rl_codec *c, const struct fec512 *fk, uint8_t *const f[],
	 const uint32_t seq[], bool rs)
{
	struct sums s = group_sums(c, fk, f, true, rs);

	s.crc = xor3(s.crc, word(c->crc_zero), mix(c, seq));
	s.fec = _mm512_xor_si512(s.fec, fec_of_crc(&c->k512, s.crc));
	store_tails(f, s.crc, s.fec);
}

FORCE_INLINE void
tx_burst(const struct rl_codec *c, uint8_t *const f[], const uint32_t seq[],
	 unsigned int n, bool rs)
{
	const struct fec512 fk = load_fec(&c->k512);
	const uint8_t *const *ahead = (const uint8_t *const *)f;
	uint32_t number[GROUP];
	uint8_t *full[GROUP];
	unsigned int i;

	rl_prefetch_first(ahead, AHEAD, n);
	for (i = 0; i + GROUP <= n; i += GROUP) {
		rl_prefetch_group(ahead, i + AHEAD, n);
		tx_group(c, &fk, f + i, seq + i, rs);
	}
	if (i == n)
		return;
	pad_writable(full, f + i, n - i);
	pad_numbers(number, seq + i, n - i);
	tx_group(c, &fk, full, number, rs);
}

/**
 * The rare path: corrects those of the first @p n flits that need it. (The
 * others are copies of the last: to correct it twice would undo it.)
 */
static void
correct(const struct rl_codec *c, uint8_t *const f[], unsigned int n,
	__m512i fec_words, uint8_t fec[])
{
	uint64_t dirty[GROUP] RL_ALIGNED(64);

	_mm512_store_si512(dirty, fec_words);
	for (unsigned int i = 0; i < n; i++)
		fec[i] = (uint8_t)(dirty[i] ? rl_fec_correct(c, f[i], dirty[i])
					    : RL_FEC_CLEAN);
}

/** Corrects, and computes the syndromes again. As rx_group(). */
static __attribute__((noinline)) unsigned int
rx_dirty(const struct rl_codec *c, uint8_t *const f[], unsigned int n,
	 __m512i fec_words, __m512i numbers, uint64_t syndrome[],
	 uint8_t fec[])
{
	const struct fec512 fk = load_fec(&c->k512);
	unsigned int bad = 0;
	struct sums s;

	correct(c, f, n, fec_words, fec);
	if (c->crc == RL_CRC_PCIE6_RS)
		s = group_sums(c, &fk, f, false, true);
	else
		s = group_sums(c, &fk, f, false, false);
	_mm512_storeu_si512(syndrome, _mm512_xor_si512(s.crc, numbers));
	for (unsigned int i = 0; i < n; i++)
		bad += fec[i] == RL_FEC_BAD || syndrome[i] != 0;
	return bad;
}

/**
 * Eight flits, of which the first @p n are meant; writes eight syndromes and
 * states. Returns how many of the n are not in order.
 */
FORCE_INLINE unsigned int
rx_group(const struct rl_codec *c, const struct fec512 *fk, uint8_t *const f[],
	 unsigned int n, const uint32_t eseq[], uint64_t syndrome[],
	 uint8_t fec[], bool rs)
{
	const struct sums s = group_sums(c, fk, f, false, rs);
	const __m512i numbers =
		_mm512_xor_si512(word(c->crc_zero), mix(c, eseq));
	const __m512i syn = _mm512_xor_si512(s.crc, numbers);

	if (rl_unlikely(_mm512_test_epi64_mask(s.fec, s.fec)))
		return rx_dirty(c, f, n, s.fec, numbers, syndrome, fec);
	_mm512_storeu_si512(syndrome, syn);
	rl_put64(fec, 0);
	return (unsigned int)__builtin_popcount(
		_mm512_test_epi64_mask(syn, syn) & ((1u << n) - 1));
}

FORCE_INLINE unsigned int
rx_burst(const struct rl_codec *c, uint8_t *const f[], const uint32_t eseq[],
	 unsigned int n, uint64_t syndrome[], uint8_t fec[], bool rs)
{
	const struct fec512 fk = load_fec(&c->k512);
	const uint8_t *const *ahead = (const uint8_t *const *)f;
	unsigned int i, bad = 0;
	uint64_t syn[GROUP];
	uint32_t number[GROUP];
	uint8_t *full[GROUP], status[GROUP];

	rl_prefetch_first(ahead, AHEAD, n);
	for (i = 0; i + GROUP <= n; i += GROUP) {
		rl_prefetch_group(ahead, i + AHEAD, n);
		bad += rx_group(c, &fk, f + i, GROUP, eseq + i, syndrome + i, fec + i,
				rs);
	}
	if (i == n)
		return bad;
	pad_writable(full, f + i, n - i);
	pad_numbers(number, eseq + i, n - i);
	bad += rx_group(c, &fk, full, n - i, number, syn, status, rs);
	memcpy(syndrome + i, syn, (n - i) * sizeof(syn[0]));
	memcpy(fec + i, status, n - i);
	return bad;
}

/** FEC syndromes of eight flits, each copied to its @p dst where @p copy. */
FORCE_INLINE __m512i
fec_group(const struct fec512 *fk, const uint8_t *const src[],
	  uint8_t *const dst[], bool copy)
{
	__m512i pair[4];

#pragma GCC unroll 4
	for (int h = 0; h < 4; h++) {
		__m512i part[2];

#pragma GCC unroll 2
		for (int i = 0; i < 2; i++) {
			const struct flit512 v = load(src[2 * h + i]);

			if (copy)
				store(dst[2 * h + i], &v);
			part[i] = fec_syndrome_part(fk, &v);
		}
		pair[h] = add_words(part[0], part[1]);
	}
	return add_lanes(add_lanes(pair[0], pair[1]),
			 add_lanes(pair[2], pair[3]));
}

/** How many of the first @p n words are not zero. */
FORCE_INLINE unsigned int
count_dirty(__m512i words, unsigned int n)
{
	return (unsigned int)__builtin_popcount(
		_mm512_test_epi64_mask(words, words) & ((1u << n) - 1));
}

FORCE_INLINE unsigned int
hop_group(const struct rl_codec *c, const struct fec512 *fk,
	  const uint8_t *const src[], uint8_t *const dst[], unsigned int n,
	  uint8_t fec[])
{
	const __m512i words = fec_group(fk, src, dst, true);
	const unsigned int dirty = count_dirty(words, n);

	if (rl_unlikely(dirty))
		correct(c, dst, n, words, fec);
	else
		memset(fec, RL_FEC_CLEAN, n);
	return dirty;
}

static unsigned int
avx512_hop(const struct rl_codec *c, const uint8_t *const src[],
	   uint8_t *const dst[], unsigned int n, uint8_t fec[])
{
	const struct fec512 fk = load_fec(&c->k512);
	const uint8_t *full_src[GROUP];
	uint8_t *full_dst[GROUP];
	unsigned int i, dirty = 0;

	rl_prefetch_first(src, AHEAD, n);
	for (i = 0; i + GROUP <= n; i += GROUP) {
		rl_prefetch_group(src, i + AHEAD, n);
		dirty += hop_group(c, &fk, src + i, dst + i, GROUP, fec + i);
	}
	if (i == n)
		return dirty;
	pad_flits(full_src, src + i, n - i);
	pad_writable(full_dst, dst + i, n - i);
	return dirty + hop_group(c, &fk, full_src, full_dst, n - i, fec + i);
}

FORCE_INLINE unsigned int
check_group(const struct rl_codec *c, const struct fec512 *fk,
	    const uint8_t *const f[], unsigned int n, uint8_t fec[])
{
	const __m512i words = fec_group(fk, f, NULL, false);
	const unsigned int dirty = count_dirty(words, n);
	uint64_t word_of[GROUP] RL_ALIGNED(64);

	memset(fec, RL_FEC_CLEAN, n);
	if (rl_likely(dirty == 0))
		return 0;
	_mm512_store_si512(word_of, words);
	for (unsigned int i = 0; i < n; i++)
		fec[i] = (uint8_t)rl_fec_judge(c, word_of[i]);
	return dirty;
}

static unsigned int
avx512_check(const struct rl_codec *c, const uint8_t *const f[],
	     unsigned int n, uint8_t fec[])
{
	const struct fec512 fk = load_fec(&c->k512);
	const uint8_t *full[GROUP];
	unsigned int i, dirty = 0;

	rl_prefetch_first(f, AHEAD, n);
	for (i = 0; i + GROUP <= n; i += GROUP) {
		rl_prefetch_group(f, i + AHEAD, n);
		dirty += check_group(c, &fk, f + i, GROUP, fec + i);
	}
	if (i == n)
		return dirty;
	pad_flits(full, f + i, n - i);
	return dirty + check_group(c, &fk, full, n - i, fec + i);
}

static void
avx512_tx(const struct rl_codec *c, uint8_t *const f[], const uint32_t seq[],
	  unsigned int n)
{
	tx_burst(c, f, seq, n, false);
}

static void
avx512_tx_rs(const struct rl_codec *c, uint8_t *const f[],
	     const uint32_t seq[], unsigned int n)
{
	tx_burst(c, f, seq, n, true);
}

static unsigned int
avx512_rx(const struct rl_codec *c, uint8_t *const f[], const uint32_t eseq[],
	  unsigned int n, uint64_t syndrome[], uint8_t fec[])
{
	return rx_burst(c, f, eseq, n, syndrome, fec, false);
}

static unsigned int
avx512_rx_rs(const struct rl_codec *c, uint8_t *const f[],
	     const uint32_t eseq[], unsigned int n, uint64_t syndrome[],
	     uint8_t fec[])
{
	return rx_burst(c, f, eseq, n, syndrome, fec, true);
}

const struct rl_codec_ops rl_ops_avx512 = {
	.tx = avx512_tx,
	.rx = avx512_rx,
	.hop = avx512_hop,
	.check = avx512_check,
};

const struct rl_codec_ops rl_ops_avx512_rs = {
	.tx = avx512_tx_rs,
	.rx = avx512_rx_rs,
	.hop = avx512_hop,
	.check = avx512_check,
};
