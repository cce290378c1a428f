/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CODEC_H
#define RL_CODEC_H

/**
 * @file
 * CRC-64 with the implicit sequence number (ISN) and forward error
 * correction, for bursts of flits [FLIT-4..8].
 *
 * One plain reference and one implementation per instruction set stand behind
 * the same four operations; rl_codec_init() picks one. A codec is immutable
 * after initialisation and may be shared by any number of lcores. No operation
 * allocates, locks, or branches on data that is usually good. Flits may have
 * any alignment (64 bytes is fastest) and must not overlap; bursts may have any
 * length, 0 included. Long bursts pay if flits are in memory: they are
 * prefetched while earlier ones are processed.
 *
 * The CRC is linear, so the syndrome of an intact flit with another number than
 * expected depends on the two numbers alone. rl_isn_decode() turns a syndrome
 * into "ok", "behind by d", "ahead by d" or "corrupt" [FLIT-6].
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_flit.h"

RL_PUBLIC_BEGIN

/** Which CRC-64 fills bytes 242-249. */
enum rl_crc_kind {
	RL_CRC_ECMA,	 /**< ECMA-182, reflected; init and xorout all ones */
	/** 0xc36a26c5b8908fe6 reflected: distance 12 or more at 2000 bits */
	RL_CRC_BCH,
	/** RS[250,242] over GF(2^8)/0x12B: any 8 bytes; zeros are valid */
	RL_CRC_PCIE6_RS,
};

/** How the sequence number is mixed into the CRC. */
enum rl_isn_kind {
	RL_ISN_XOR10,  /**< XOR into the payload's low 10 bits (the paper) */
	RL_ISN_WIDE,   /**< XOR of a code word into the CRC field [FLIT-7] */
	RL_ISN_WIDE19, /**< the same with 19 bits of number; RL_CRC_BCH only */
};

/** Instruction sets; of one CPU's, weakest first. */
enum rl_isa {
	RL_ISA_SCALAR,
	RL_ISA_SSE42,  /**< SSE4.2 + PCLMULQDQ */
	RL_ISA_AVX2,   /**< AVX2 + PCLMULQDQ */
	RL_ISA_AVX512, /**< AVX-512 F/BW/VL/DQ/VBMI + VPCLMULQDQ + GFNI */
	RL_ISA_NEON,   /**< arm64: NEON + PMULL + CRC32 */
	RL_ISA_COUNT
};

/** FEC result for one flit. */
enum rl_fec_status {
	RL_FEC_CLEAN = 0,
	RL_FEC_CORRECTED = 1,
	RL_FEC_BAD = 2, /**< detected, not correctable; bytes are as received */
};

/** ISN result for one flit. */
enum rl_isn_verdict {
	RL_ISN_OK,
	RL_ISN_BEHIND,	/**< intact; its number lies before the expected one */
	RL_ISN_AHEAD,	/**< intact; its number lies after the expected one */
	RL_ISN_CORRUPT,
};

/** Verdict with the signed slip (number - expected; 0 if ok or corrupt). */
struct rl_isn_result {
	enum rl_isn_verdict verdict;
	int32_t slip;
};

struct rl_codec;

/** Any thread. Bytes that rl_codec_init() needs; 64-byte aligned. */
size_t rl_codec_memsize(void);

/**
 * Any thread, once per codec. Builds tables in @p mem (64-byte aligned, owned
 * by the caller, at least rl_codec_memsize() bytes).
 *
 * @return 0; -EINVAL for an unknown kind, or a mixing that the CRC does not
 *   support (RL_ISN_WIDE needs RL_CRC_BCH or RL_CRC_ECMA, RL_ISN_WIDE19 needs
 *   RL_CRC_BCH, see docs/codec.md); -ENOTSUP if this CPU, or this build, lacks
 *   @p isa.
 */
int rl_codec_init(struct rl_codec *mem, enum rl_crc_kind crc,
		  enum rl_isn_kind isn, enum rl_isa isa);

/**
 * Any thread. The best instruction set of this CPU within
 * @p max_simd_bits (128, 256, 512; 0: scalar). The caller passes DPDK's
 * maximum SIMD width [FLIT-8].
 */
enum rl_isa rl_codec_best_isa(unsigned int max_simd_bits);

/** Any thread. Name of an instruction set: "scalar", "sse42", ... */
const char *rl_isa_name(enum rl_isa isa);

/** Any thread. The instruction set that @p c was made with. */
enum rl_isa rl_codec_isa(const struct rl_codec *c);

/**
 * Any thread. Endpoint transmit: for each of @p n flits, in place, CRC over
 * bytes 0-241 with number seq[i] mixed in, then FEC over bytes 0-249. Writes
 * bytes 242-255.
 */
void rl_codec_tx(const struct rl_codec *c, uint8_t *const flit[],
		 const uint32_t seq[], unsigned int n);

/**
 * Any thread. As rl_codec_tx(), of flits whose bytes 0-241 lie at @p src:
 * copies and encodes in one pass. src[i] may be flit[i]; otherwise the two do
 * not overlap, and src[i] is unchanged. Reads 256 bytes of it.
 */
void rl_codec_tx_from(const struct rl_codec *c, const uint8_t *const src[],
		      uint8_t *const flit[], const uint32_t seq[],
		      unsigned int n);

/**
 * Any thread. Endpoint receive: FEC check (correcting in place), then the CRC
 * syndrome against expected number eseq[i]. A syndrome of 0 is "ok".
 * syndrome[i] is unspecified if fec[i] is RL_FEC_BAD.
 *
 * @return how many of the n flits are not (clean or corrected) with syndrome 0
 */
unsigned int rl_codec_rx(const struct rl_codec *c, uint8_t *const flit[],
			 const uint32_t eseq[], unsigned int n,
			 uint64_t syndrome[], uint8_t fec[]);

/**
 * Any thread. A hop: copies 256 B from src[i] to dst[i] (not overlapping),
 * checks FEC and corrects in the copy.
 *
 * @return how many flits are not RL_FEC_CLEAN
 */
unsigned int rl_codec_hop(const struct rl_codec *c, const uint8_t *const src[],
			  uint8_t *const dst[], unsigned int n, uint8_t fec[]);

/**
 * Any thread. The same for flits that came in frames: each goes into the wire
 * image of f[i]. No prefetching: the CPU prefetches consecutive flits by
 * itself.
 */
unsigned int rl_codec_receive(const struct rl_codec *c,
			      const uint8_t *const src[],
			      struct rl_flit *const f[], unsigned int n,
			      uint8_t fec[]);

/** Any thread. FEC check alone, nothing written. Return as rl_codec_hop(). */
unsigned int rl_codec_fec_check(const struct rl_codec *c,
				const uint8_t *const flit[], unsigned int n,
				uint8_t fec[]);

/**
 * Any thread. Copies @p n scattered flits to consecutive places at @p to (n *
 * 256 bytes, not overlapping): how a port fills a frame.
 */
void rl_codec_copy(const struct rl_codec *c, uint8_t *to,
		   const uint8_t *const flit[], unsigned int n);

/** Any thread. Re-computes bytes 250-255 of one flit (reference code). */
void rl_codec_fec_encode(const struct rl_codec *c, uint8_t *flit);

/** Any thread. Decodes a syndrome that rl_codec_rx() computed with @p eseq. */
struct rl_isn_result rl_isn_decode(const struct rl_codec *c, uint64_t syndrome,
				   uint32_t eseq);

RL_PUBLIC_END

#endif /* RL_CODEC_H */
