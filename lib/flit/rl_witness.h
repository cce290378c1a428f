/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_WITNESS_H
#define RL_WITNESS_H

/**
 * @file
 * A witness of flits [SW-5]: tells whether a flit is as an endpoint sent it,
 * without knowing its number. The syndrome of an intact flit is what its number
 * adds to the CRC, and nothing else. So it is one of 2^10 words of 64 bits
 * (2^19 with RL_ISN_WIDE19), whoever looks and whatever passed before.
 *
 * The words of `wide` and `wide19` are the multiples of a polynomial below
 * x^64. So what a witness cannot see is a multiple of it, too: at least 10
 * wrong bits, and no burst of up to 53 (45) bits. Of what is wrong beyond that,
 * one in 2^54 (2^45) flits passes. With `xor10` the number lies in the
 * payload's low 10 bits, and a witness sees nothing that alters only these.
 *
 * Tokens have no CRC and are not looked at.
 */

#include "rl_codec.h"

/** What the witness says of a flit. */
enum rl_witness {
	RL_WITNESS_INTACT = 0,
	RL_WITNESS_MENDED,  /**< FEC corrected it, and no more is wrong */
	RL_WITNESS_ALTERED, /**< FEC can't correct it, or the CRC is no number's */
};

/** Flits of a call at most. */
#define RL_WITNESS_BURST 64

/**
 * Any thread. Looks at @p n flits, RL_WITNESS_BURST at most. FEC corrects in
 * place what it can.
 *
 * @param says  set for each flit: enum rl_witness
 * @return how many are not intact
 */
unsigned int rl_codec_witness(const struct rl_codec *c, uint8_t *const flit[],
			      unsigned int n, uint8_t says[]);

/**
 * Any thread. Whether a witness of one flit in @p one_in (0: none) looks at this
 * one. Its tag, its place in the packet and its addresses decide, so all
 * witnesses of a fabric look at the same flits: what is altered is seen by the
 * next one that it meets, or by none. That goes for bytes as they came: FEC may
 * miscorrect a header.
 */
static inline bool
rl_witness_picks(uint32_t one_in, const uint8_t *wire)
{
	const uint64_t name =
		rl_get64(wire + 10) ^ (uint64_t)rl_get32(wire + 2) << 16;
	const uint64_t hash = name * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	if (one_in < 2)
		return one_in == 1;
	return hash * one_in >> 32 == 0;
}

#endif /* RL_WITNESS_H */
