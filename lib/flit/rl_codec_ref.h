/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CODEC_REF_H
#define RL_CODEC_REF_H

/**
 * @file The plain reference of the flit codec: bit by bit and byte by byte as
 * defined, without tables and without a struct rl_codec. Slow; it is the oracle
 * of the tests, builds the tables of the fast paths, and is the place to start
 * reading [FLIT-8].
 */

#include "rl_codec.h"

RL_PUBLIC_BEGIN

/** x^53 + ... : (x+1) m1 m3 m5 m7 (x^8+x^4+x^3+x^2+1); RL_ISN_WIDE. */
#define RL_WIDE_POLY 0x003767ee853db067ull
#define RL_WIDE_DEGREE 53
/** x^45 + ... : (x+1) m1 m3 m5 m7; RL_ISN_WIDE19. */
#define RL_WIDE19_POLY 0x0000357b10538443ull
#define RL_WIDE19_DEGREE 45

/** Any thread. Product of two elements of GF(2^8) modulo @p poly (9 bits). */
uint8_t rl_ref_gf_mul(unsigned int poly, uint8_t a, uint8_t b);

/** Any thread. @p a to the power @p e (any sign) in GF(2^8) modulo @p poly. */
uint8_t rl_ref_gf_pow(unsigned int poly, uint8_t a, int e);

/** Any thread. Bits of the sequence number that @p isn hides: 10 or 19. */
unsigned int rl_ref_isn_bits(enum rl_isn_kind isn);

/** Any thread. Whether @p crc and @p isn may be used together. */
bool rl_ref_supported(enum rl_crc_kind crc, enum rl_isn_kind isn);

/** Any thread. CRC over bytes 0-241 of @p flit, without any number. */
uint64_t rl_ref_crc(enum rl_crc_kind crc, const uint8_t *flit);

/** Any thread. The CRC field of @p flit with number @p seq mixed in. */
uint64_t rl_ref_crc_isn(enum rl_crc_kind crc, enum rl_isn_kind isn,
			const uint8_t *flit, uint32_t seq);

/** Any thread. The code word that `wide` and `wide19` XOR into the CRC. */
uint64_t rl_ref_wide_word(enum rl_isn_kind isn, uint32_t seq);

/** Any thread. Writes bytes 250-255 of @p flit. */
void rl_ref_fec_encode(uint8_t *flit);

/** Any thread. Checks and corrects @p flit in place; untouched if bad. */
enum rl_fec_status rl_ref_fec_decode(uint8_t *flit);

/** Any thread. Writes bytes 242-255 of @p flit, as rl_codec_tx(). */
void rl_ref_tx(enum rl_crc_kind crc, enum rl_isn_kind isn, uint8_t *flit,
	       uint32_t seq);

/**
 * Any thread. As rl_codec_rx() for one flit.
 * @return the FEC status; *syndrome is set unless it is RL_FEC_BAD
 */
enum rl_fec_status rl_ref_rx(enum rl_crc_kind crc, enum rl_isn_kind isn,
			     uint8_t *flit, uint32_t eseq, uint64_t *syndrome);

RL_PUBLIC_END

#endif /* RL_CODEC_REF_H */
