/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The codec with AVX-512, in groups of eight flits; codec_avx512.h has the
 * arithmetic. The rest of a burst is done one by one, at 6 to 7 ns a flit.
 *
 * Prefetching is spread over a group, four lines after each flit, and looks
 * four groups ahead. All of a group's 32 lines at once would fill the queue of
 * outstanding misses and stall later loads (64 MiB, bursts of 1024: 7.3 ns
 * instead of 6.6). At the end of a burst it repeats lines that are cached.
 *
 * Forced inlining: otherwise the compiler calls the per-flit work and passes
 * its registers through memory; TX then takes 5.8 ns instead of 4.7.
 */

#include "codec_avx512.h"

/** Flits to prefetch ahead. */
#define AHEAD 32
/** Leftover flits that share a reduction. */
#define QUAD 4

struct part {
	__m512i crc, fec;
};

/** Sums of eight flits, a word each. */
struct sums {
	__m512i crc, fec;
};

struct one_sums {
	uint64_t crc, fec;
};

/* @p to: NULL, or the destination of a copy of @p f. */
FORCE_INLINE struct part
one_part(const struct rl_codec *c, const struct fec512 *fk, const uint8_t *f,
	 uint8_t *to, const uint8_t *ahead, bool tx, bool rs)
{
	struct flit512 v = load(f);
	struct part p;

	if (to != NULL)
		store_on(to, &v);
	if (rs)
		p.crc = rs_part(&c->k512, fk, &v,
				tx ? CHUNK_TX_MASK : CHUNK_RX_MASK);
	else
		p.crc = crc_part(c, &v, tx ? CRC_MASK : SYNDROME_MASK);
	if (tx)
		p.fec = fec_part(fk, &v, CHUNK_TX_MASK,
				 _mm512_setzero_si512());
	else
		p.fec = fec_syndrome_part(fk, &v);
	rl_prefetch_flit(ahead);
	return p;
}

/* The same for flit @p i of a group. */
FORCE_INLINE struct part
group_part(const struct rl_codec *c, const struct fec512 *fk,
	   const uint8_t *const f[], uint8_t *const to[],
	   const uint8_t *const ahead[], int i, bool tx, bool rs)
{
	return one_part(c, fk, f[i], to == NULL ? NULL : to[i], ahead[i], tx,
			rs);
}

/**
 * CRC (over 242 bytes) or syndrome (over 250), without start value and number;
 * FEC word of the first 242 bytes, or FEC syndrome. Prefetches eight flits
 * @p ahead. Copies all to @p to, if that is not NULL.
 */
FORCE_INLINE struct sums
group_sums(const struct rl_codec *c, const struct fec512 *fk,
	   const uint8_t *const f[], uint8_t *const to[],
	   const uint8_t *const ahead[], bool tx, bool rs)
{
	__m512i fec[2], crc[2], even[2], odd[2];
	struct sums s;

#pragma GCC unroll 2
	for (int h = 0; h < 2; h++) {
		const struct part p0 = group_part(c, fk, f, to, ahead,
						  4 * h + 0, tx, rs);
		const struct part p1 = group_part(c, fk, f, to, ahead,
						  4 * h + 1, tx, rs);
		const __m512i f01 = add_words(p0.fec, p1.fec);
		const struct part p2 = group_part(c, fk, f, to, ahead,
						  4 * h + 2, tx, rs);
		const struct part p3 = group_part(c, fk, f, to, ahead,
						  4 * h + 3, tx, rs);
		const __m512i f23 = add_words(p2.fec, p3.fec);

		fec[h] = add_lanes(f01, f23);
		if (rs) {
			crc[h] = add_lanes(add_words(p0.crc, p1.crc),
					   add_words(p2.crc, p3.crc));
		} else {
			even[h] = add_lanes(p0.crc, p2.crc);
			odd[h] = add_lanes(p1.crc, p3.crc);
		}
	}
	s.fec = add_lanes(fec[0], fec[1]);
	if (rs)
		s.crc = rs_solve(&c->k512, add_lanes(crc[0], crc[1]));
	else
		s.crc = barrett(c, add_lanes(even[0], even[1]),
				add_lanes(odd[0], odd[1]));
	return s;
}

/** Start of the group to prefetch while the one at @p i is processed. */
FORCE_INLINE unsigned int
ahead_of(unsigned int i, unsigned int n)
{
	return i + AHEAD + GROUP <= n ? i + AHEAD : n - GROUP;
}

/** As group_sums() for one flit, as integers. */
FORCE_INLINE struct one_sums
one_sums(const struct rl_codec *c, const struct fec512 *fk, const uint8_t *f,
	 uint8_t *to, bool tx, bool rs)
{
	const struct part p = one_part(c, fk, f, to, f, tx, rs);
	__m512i crc = rs ? add_words(p.crc, p.crc) : p.crc;
	__m512i fec = add_words(p.fec, p.fec);
	struct one_sums s;

	/* all results end up in the lowest word, or lane */
	crc = add_lanes(crc, crc);
	crc = add_lanes(crc, crc);
	fec = add_lanes(fec, fec);
	fec = add_lanes(fec, fec);
	crc = rs ? rs_solve(&c->k512, crc) : barrett(c, crc, crc);
	s.crc = lowest(crc);
	s.fec = lowest(fec);
	return s;
}

FORCE_INLINE void
tx_one(const struct rl_codec *c, const struct fec512 *fk, const uint8_t *src,
       uint8_t *f, uint32_t seq, bool rs)
{
	const struct one_sums s =
		one_sums(c, fk, src, src == f ? NULL : f, true, rs);
	const uint64_t crc = s.crc ^ c->crc_zero ^ rl_mix(c, seq);
	const uint64_t fec = s.fec ^ lowest(fec_of_crc(&c->k512, word(crc)));

	rl_put64(f + RL_FLIT_CRC_OFF, crc);
	rl_put64(f + RL_FEC_WORD_OFF, crc >> 48 | fec);
}

/** @return whether @p f is not in order */
FORCE_INLINE bool
rx_one(const struct rl_codec *c, const struct fec512 *fk, uint8_t *f,
       uint32_t eseq, uint64_t *syndrome, uint8_t *fec, bool rs)
{
	struct one_sums s = one_sums(c, fk, f, NULL, false, rs);

	*fec = RL_FEC_CLEAN;
	if (rl_unlikely(s.fec != 0)) {
		*fec = (uint8_t)rl_fec_correct(c, f, s.fec);
		s = one_sums(c, fk, f, NULL, false, rs);
	}
	*syndrome = s.crc ^ c->crc_zero ^ rl_mix(c, eseq);
	return *fec == RL_FEC_BAD || *syndrome != 0;
}

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

/* As group_sums(): @p copy, or src is f. */
FORCE_INLINE void
tx_group(const struct rl_codec *c, const struct fec512 *fk,
	 const uint8_t *const src[], uint8_t *const f[],
	 const uint8_t *const ahead[], const uint32_t seq[], bool copy, bool rs)
{
	struct sums s = group_sums(c, fk, src, copy ? f : NULL, ahead, true,
				   rs);

	s.crc = xor3(s.crc, word(c->crc_zero), mix(c, seq));
	s.fec = _mm512_xor_si512(s.fec, fec_of_crc(&c->k512, s.crc));
	store_tails(f, s.crc, s.fec);
}

FORCE_INLINE void
tx_burst(const struct rl_codec *c, const uint8_t *const src[],
	 uint8_t *const f[], const uint32_t seq[], unsigned int n, bool copy,
	 bool rs)
{
	const struct fec512 fk = load_fec(&c->k512);
	unsigned int i;

	rl_prefetch_first(src, AHEAD, n);
	for (i = 0; i + GROUP <= n; i += GROUP)
		tx_group(c, &fk, src + i, f + i, src + ahead_of(i, n), seq + i,
			 copy, rs);
	for (; i < n; i++)
		tx_one(c, &fk, src[i], f[i], seq[i], rs);
}

/** The rare end of rx_group(): repeats all, one by one, with correction. */
static __attribute__((noinline)) unsigned int
rx_dirty(const struct rl_codec *c, uint8_t *const f[], const uint32_t eseq[],
	 uint64_t syndrome[], uint8_t fec[])
{
	const struct fec512 fk = load_fec(&c->k512);
	const bool rs = c->crc == RL_CRC_PCIE6_RS;
	unsigned int bad = 0;

	for (int i = 0; i < GROUP; i++)
		bad += rx_one(c, &fk, f[i], eseq[i], &syndrome[i], &fec[i], rs);
	return bad;
}

/** Returns how many of the eight flits are not in order. */
FORCE_INLINE unsigned int
rx_group(const struct rl_codec *c, const struct fec512 *fk, uint8_t *const f[],
	 uint8_t *const ahead[], const uint32_t eseq[], uint64_t syndrome[],
	 uint8_t fec[], bool rs)
{
	const struct sums s = group_sums(c, fk, (const uint8_t *const *)f, NULL,
					 (const uint8_t *const *)ahead, false,
					 rs);
	const __m512i syn = xor3(s.crc, word(c->crc_zero), mix(c, eseq));

	if (rl_unlikely(count_nonzero(s.fec) != 0))
		return rx_dirty(c, f, eseq, syndrome, fec);
	_mm512_storeu_si512(syndrome, syn);
	rl_put64(fec, 0); /* eight times RL_FEC_CLEAN */
	return count_nonzero(syn);
}

FORCE_INLINE unsigned int
rx_burst(const struct rl_codec *c, uint8_t *const f[], const uint32_t eseq[],
	 unsigned int n, uint64_t syndrome[], uint8_t fec[], bool rs)
{
	const struct fec512 fk = load_fec(&c->k512);
	unsigned int i, bad = 0;

	rl_prefetch_first((const uint8_t *const *)f, AHEAD, n);
	for (i = 0; i + GROUP <= n; i += GROUP)
		bad += rx_group(c, &fk, f + i, f + ahead_of(i, n), eseq + i,
				syndrome + i, fec + i, rs);
	for (; i < n; i++)
		bad += rx_one(c, &fk, f[i], eseq[i], &syndrome[i], &fec[i], rs);
	return bad;
}

/**
 * FEC syndromes of eight flits, each copied to its @p dst if @p copy.
 * Prefetches eight flits @p ahead, unless that is NULL.
 */
FORCE_INLINE __m512i
fec_group(const struct fec512 *fk, const uint8_t *const src[],
	  const uint8_t *const ahead[], uint8_t *const dst[], bool copy)
{
	__m512i pair[4];

#pragma GCC unroll 4
	for (int h = 0; h < 4; h++) {
		__m512i part[2];

#pragma GCC unroll 2
		for (int i = 0; i < 2; i++) {
			struct flit512 v = load(src[2 * h + i]);

			if (copy)
				store_on(dst[2 * h + i], &v);
			part[i] = fec_syndrome_part(fk, &v);
			if (ahead != NULL)
				rl_prefetch_flit(ahead[2 * h + i]);
		}
		pair[h] = add_words(part[0], part[1]);
	}
	return add_lanes(add_lanes(pair[0], pair[1]),
			 add_lanes(pair[2], pair[3]));
}

/** FEC syndrome of one flit, copied to @p dst if @p copy. */
FORCE_INLINE uint64_t
fec_one(const struct fec512 *fk, const uint8_t *src, uint8_t *dst, bool copy)
{
	struct flit512 v = load(src);
	__m512i sum;

	if (copy)
		store_on(dst, &v);
	sum = fec_syndrome_part(fk, &v);
	sum = add_words(sum, sum);
	sum = add_lanes(sum, sum);
	return lowest(add_lanes(sum, sum));
}

/* Copies and checks eight flits. @return how many are not clean */
FORCE_INLINE unsigned int
hop_group(const struct rl_codec *c, const struct fec512 *fk,
	  const uint8_t *const src[], const uint8_t *const ahead[],
	  uint8_t *const dst[], uint8_t fec[])
{
	const __m512i words = fec_group(fk, src, ahead, dst, true);
	const unsigned int count = count_nonzero(words);
	uint64_t syndrome[GROUP] RL_ALIGNED(64);

	rl_put64(fec, 0); /* eight times RL_FEC_CLEAN */
	if (rl_likely(count == 0))
		return 0;
	_mm512_store_si512(syndrome, words);
	for (int k = 0; k < GROUP; k++)
		if (syndrome[k] != 0)
			fec[k] = (uint8_t)rl_fec_correct(c, dst[k],
							 syndrome[k]);
	return count;
}

/* The same for one. */
FORCE_INLINE unsigned int
hop_one(const struct rl_codec *c, const struct fec512 *fk, const uint8_t *src,
	uint8_t *dst, uint8_t *fec)
{
	const uint64_t syndrome = fec_one(fk, src, dst, true);

	*fec = RL_FEC_CLEAN;
	if (rl_likely(syndrome == 0))
		return 0;
	*fec = (uint8_t)rl_fec_correct(c, dst, syndrome);
	return 1;
}

/* The same for four: most of what is left after groups. */
FORCE_INLINE unsigned int
hop_quad(const struct rl_codec *c, const struct fec512 *fk,
	 const uint8_t *const src[], struct rl_flit *const f[], uint8_t fec[])
{
	__m512i part[QUAD], words;
	__mmask8 hurt;

#pragma GCC unroll 4
	for (int i = 0; i < QUAD; i++) {
		struct flit512 v = load(src[i]);

		store_on(f[i]->wire, &v);
		part[i] = fec_syndrome_part(fk, &v);
	}
	words = add_lanes(add_words(part[0], part[1]),
			  add_words(part[2], part[3]));
	words = add_lanes(words, words);
	hurt = _mm512_test_epi64_mask(words, words) & ((1 << QUAD) - 1);
	memset(fec, RL_FEC_CLEAN, QUAD);
	if (rl_likely(hurt == 0))
		return 0;
	for (int i = 0; i < QUAD; i++)
		if (hurt >> i & 1)
			hop_one(c, fk, src[i], f[i]->wire, fec + i);
	return (unsigned int)__builtin_popcount(hurt);
}

static unsigned int
avx512_hop(const struct rl_codec *c, const uint8_t *const src[],
	   uint8_t *const dst[], unsigned int n, uint8_t fec[])
{
	const struct fec512 fk = load_fec(&c->k512);
	unsigned int i, dirty = 0;

	rl_prefetch_first(src, AHEAD, n);
	for (i = 0; i + GROUP <= n; i += GROUP)
		dirty += hop_group(c, &fk, src + i, src + ahead_of(i, n),
				   dst + i, fec + i);
	for (; i < n; i++)
		dirty += hop_one(c, &fk, src[i], dst[i], fec + i);
	return dirty;
}

/* The CPU prefetches consecutive flits by itself. */
static unsigned int
avx512_receive(const struct rl_codec *c, const uint8_t *const src[],
	       struct rl_flit *const f[], unsigned int n, uint8_t fec[])
{
	const struct fec512 fk = load_fec(&c->k512);
	unsigned int i, dirty = 0;

	for (i = 0; i + GROUP <= n; i += GROUP) {
		uint8_t *dst[GROUP];

#pragma GCC unroll 8
		for (unsigned int k = 0; k < GROUP; k++)
			dst[k] = f[i + k]->wire;
		dirty += hop_group(c, &fk, src + i, NULL, dst, fec + i);
	}
	if (i + QUAD <= n) {
		dirty += hop_quad(c, &fk, src + i, f + i, fec + i);
		i += QUAD;
	}
	for (; i < n; i++)
		dirty += hop_one(c, &fk, src[i], f[i]->wire, fec + i);
	return dirty;
}

static unsigned int
avx512_check(const struct rl_codec *c, const uint8_t *const f[],
	     unsigned int n, uint8_t fec[])
{
	const struct fec512 fk = load_fec(&c->k512);
	uint64_t syndrome[GROUP] RL_ALIGNED(64);
	unsigned int i, dirty = 0;

	rl_prefetch_first(f, AHEAD, n);
	for (i = 0; i + GROUP <= n; i += GROUP) {
		const __m512i words = fec_group(
			&fk, f + i, f + ahead_of(i, n), NULL, false);
		const unsigned int count = count_nonzero(words);

		rl_put64(fec + i, 0); /* eight times RL_FEC_CLEAN */
		if (rl_likely(count == 0))
			continue;
		dirty += count;
		_mm512_store_si512(syndrome, words);
		for (int k = 0; k < GROUP; k++)
			fec[i + k] = (uint8_t)rl_fec_judge(c, syndrome[k]);
	}
	for (; i < n; i++) {
		const uint64_t syn = fec_one(&fk, f[i], NULL, false);

		fec[i] = (uint8_t)rl_fec_judge(c, syn);
		dirty += syn != 0;
	}
	return dirty;
}

/* Constant arguments specialise the loop for each family of CRC. */
FORCE_INLINE void
tx_any(const struct rl_codec *c, const uint8_t *const src[], uint8_t *const f[],
       const uint32_t seq[], unsigned int n, bool copy)
{
	if (rl_unlikely(c->crc == RL_CRC_PCIE6_RS))
		tx_burst(c, src, f, seq, n, copy, true);
	else
		tx_burst(c, src, f, seq, n, copy, false);
}

static void
avx512_tx(const struct rl_codec *c, uint8_t *const f[], const uint32_t seq[],
	  unsigned int n)
{
	tx_any(c, (const uint8_t *const *)f, f, seq, n, false);
}

static void
avx512_tx_from(const struct rl_codec *c, const uint8_t *const src[],
	       uint8_t *const f[], const uint32_t seq[], unsigned int n)
{
	tx_any(c, src, f, seq, n, true);
}

static unsigned int
avx512_rx(const struct rl_codec *c, uint8_t *const f[], const uint32_t eseq[],
	  unsigned int n, uint64_t syndrome[], uint8_t fec[])
{
	if (rl_unlikely(c->crc == RL_CRC_PCIE6_RS))
		return rx_burst(c, f, eseq, n, syndrome, fec, true);
	return rx_burst(c, f, eseq, n, syndrome, fec, false);
}

static void
avx512_copy(uint8_t *to, const uint8_t *const flit[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++, to += RL_FLIT_BYTES) {
		const uint8_t *from = flit[i];

		if (i + 1 < n)
			__builtin_prefetch(flit[i + 1]);
		for (unsigned int k = 0; k < RL_FLIT_BYTES; k += 64)
			_mm512_storeu_si512(to + k,
					    _mm512_loadu_si512(from + k));
	}
}

const struct rl_codec_ops rl_ops_avx512 = {
	.tx = avx512_tx,
	.tx_from = avx512_tx_from,
	.rx = avx512_rx,
	.hop = avx512_hop,
	.receive = avx512_receive,
	.check = avx512_check,
	.copy = avx512_copy,
};
