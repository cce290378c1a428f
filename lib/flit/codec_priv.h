/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CODEC_PRIV_H
#define RL_CODEC_PRIV_H

/**
 * @file Shared by the implementations of the codec: its tables, the operations
 * of one instruction set, and the rare path of a flit that FEC must correct.
 *
 * Two words describe a flit in all internal interfaces:
 * - the CRC, or its syndrome, as the 64-bit integer at byte 242;
 * - the FEC check bytes, or their syndrome, as the 64-bit integer at byte 248
 *   with its low 16 bits (the CRC's last two bytes) zero. 0 means "clean".
 */

#include "rl_codec.h"

/** Numbers that the low mixing table covers. */
#define RL_MIX_LOW 1024
#define RL_MIX_HIGH 512

/** First byte of the integer that holds the FEC check bytes. */
#define RL_FEC_WORD_OFF 248
#define RL_FEC_WORD_MASK (~0xffffull)

/** The operations of one instruction set. */
struct rl_codec_ops {
	void (*tx)(const struct rl_codec *c, uint8_t *const flit[],
		   const uint32_t seq[], unsigned int n);
	/** NULL: copy, then tx */
	void (*tx_from)(const struct rl_codec *c, const uint8_t *const src[],
			uint8_t *const flit[], const uint32_t seq[],
			unsigned int n);
	unsigned int (*rx)(const struct rl_codec *c, uint8_t *const flit[],
			   const uint32_t eseq[], unsigned int n,
			   uint64_t syndrome[], uint8_t fec[]);
	unsigned int (*hop)(const struct rl_codec *c,
			    const uint8_t *const src[], uint8_t *const dst[],
			    unsigned int n, uint8_t fec[]);
	/** NULL: use hop */
	unsigned int (*receive)(const struct rl_codec *c,
				const uint8_t *const src[],
				struct rl_flit *const f[], unsigned int n,
				uint8_t fec[]);
	unsigned int (*check)(const struct rl_codec *c,
			      const uint8_t *const flit[], unsigned int n,
			      uint8_t fec[]);
	void (*copy)(uint8_t *to, const uint8_t *const flit[],
		     unsigned int n);
};

/** Constants of the 512-bit code; codec_avx512.h explains them. */
struct rl_k512 {
	uint8_t chunk[4][64] RL_ALIGNED(RL_CACHE_LINE); /**< [0] is not used */
	uint64_t fec_scale[4];
	uint64_t crc_iso;	/**< into the field of gf2p8mulb */
	uint64_t crc_weight;
	uint64_t crc_pick_c;
	uint64_t crc_pick_p;
	uint8_t fec_weight[64];
	uint8_t fec_pick_c[64];
	uint8_t fec_pick_p[64];
	uint64_t fec_uniso;	/**< transposes, and maps back */
	uint64_t transpose;
	uint64_t rs_uniso;
	uint8_t rs_weight[8][64] RL_ALIGNED(RL_CACHE_LINE);
	uint64_t rs_scale[8][4];
	uint64_t rs_solve[8];
};

struct rl_codec {
	struct rl_codec_ops ops;
	uint64_t crc_zero; /**< CRC of 242 zero bytes: start value, final XOR */
	uint8_t crc;	   /**< enum rl_crc_kind */
	uint8_t isn;	   /**< enum rl_isn_kind */
	uint8_t isa;	   /**< enum rl_isa */
	uint8_t isn_bits;  /**< 10 or 19 */
	uint8_t inv_shift; /**< first syndrome bit that identifies a slip */

	/**
	 * Contribution of number s to the CRC field: mix[s mod 1024] ^
	 * mix_high[s div 1024 mod 512]. Numbers of 10 bits leave mix_high all
	 * zero.
	 */
	uint64_t mix[RL_MIX_LOW] RL_ALIGNED(RL_CACHE_LINE);
	uint64_t mix_high[RL_MIX_HIGH];
	/** The inverse: number from the window of the syndrome, see isn.c. */
	uint32_t inv[RL_MIX_LOW];
	uint32_t inv_high[RL_MIX_HIGH];

	/** slice[t][b]: the register that byte b becomes after 8(t+1) steps. */
	uint64_t slice[8][256];

	/** Powers of a in the field of the FEC; log[0] is not used. */
	uint8_t fec_exp[255];
	uint8_t fec_log[256];
	/** Products with a, a^21, a^42 and a^63. */
	uint8_t fec_mul1[256];
	uint8_t fec_mul21[256];
	uint8_t fec_mul42[256];
	uint8_t fec_mul63[256];

	/**
	 * Factors of the halves of each 16-byte lane of the flit in a
	 * carry-less sum of all of them. Binary CRCs only, like Barrett's two.
	 */
	uint64_t fold[16][2] RL_ALIGNED(RL_CACHE_LINE);
	uint64_t barrett_mu; /**< inverse of barrett_p modulo x^64 */
	uint64_t barrett_p;  /**< low 64 of the generator's 65 bits, reflected */
	/**
	 * Products of the low and of the high nibble with a^(80-5c): the
	 * factor of the FEC's chunk c of 15 bytes, see codec_clmul.h.
	 */
	uint8_t fec_nibble[16][2][16] RL_ALIGNED(RL_CACHE_LINE);
	struct rl_k512 k512;
};

/** Contribution of number @p seq to the CRC field. */
static inline uint64_t
rl_mix(const struct rl_codec *c, uint32_t seq)
{
	return c->mix[seq % RL_MIX_LOW] ^
	       c->mix_high[seq / RL_MIX_LOW % RL_MIX_HIGH];
}

/** The FEC word in @p flit. */
static inline uint64_t
rl_fec_word(const uint8_t *flit)
{
	return rl_get64(flit + RL_FEC_WORD_OFF) & RL_FEC_WORD_MASK;
}

/** Writes @p word over bytes 250-255 of @p flit. */
static inline void
rl_fec_word_put(uint8_t *flit, uint64_t word)
{
	rl_put64(flit + RL_FEC_WORD_OFF,
		 word | rl_get16(flit + RL_FEC_WORD_OFF));
}

/**
 * Prefetches the four lines of a flit.
 *
 * Forced inline, for more than speed: gcc 12 treats a function that only
 * prefetches as pure and drops its calls.
 */
static inline __attribute__((always_inline)) void
rl_prefetch_flit(const uint8_t *flit)
{
	__builtin_prefetch(flit);
	__builtin_prefetch(flit + 64);
	__builtin_prefetch(flit + 128);
	__builtin_prefetch(flit + 192);
}

/** Prefetches the first @p ahead of @p n flits. */
static inline __attribute__((always_inline)) void
rl_prefetch_first(const uint8_t *const flit[], unsigned int ahead,
		  unsigned int n)
{
	for (unsigned int i = 0; i < ahead && i < n; i++)
		rl_prefetch_flit(flit[i]);
}

/* codec_tables.c */
void rl_codec_tables(struct rl_codec *c, enum rl_crc_kind crc,
		     enum rl_isn_kind isn);

/* codec_tables512.c */
void rl_codec_tables512(struct rl_k512 *k);

/* codec_vec16.c (two instruction sets), codec_avx2.c, codec_avx512.c */
extern const struct rl_codec_ops rl_ops_vec16;
extern const struct rl_codec_ops rl_ops_avx2;
extern const struct rl_codec_ops rl_ops_avx512;

/* codec_scalar.c: the others use these for single and odd flits, too */
extern const struct rl_codec_ops rl_ops_scalar;
uint64_t rl_scalar_crc(const struct rl_codec *c, const uint8_t *flit);
uint64_t rl_scalar_fec(const struct rl_codec *c, const uint8_t *flit);
void rl_scalar_copy(uint8_t *to, const uint8_t *const flit[], unsigned int n);

/*
 * codec_correct.c. Corrects @p flit by its nonzero FEC syndrome @p word, or
 * leaves it untouched.
 */
enum rl_fec_status rl_fec_correct(const struct rl_codec *c, uint8_t *flit,
				  uint64_t word);
/** The status that rl_fec_correct() would give. */
enum rl_fec_status rl_fec_judge(const struct rl_codec *c, uint64_t word);

#endif /* RL_CODEC_PRIV_H */
