/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How the codes are defined.
 *
 * CRC. The 2000 bits of bytes 0-249, least significant bit of byte 0 first, are
 * the coefficients of a polynomial, highest power first. It is a multiple of
 * the generator g (degree 64) once the all-ones start value and final XOR are
 * taken out. "Reflected" means that a register holds the coefficient of x^63 in
 * bit 0, so that bytes enter and leave in memory order.
 *
 * The PCIe 6 code does the same with bytes: byte 0 is the coefficient of
 * x^249 of a polynomial over GF(2^8), the generator is the product of
 * (x + a^j), j = 1..8, and there is neither start value nor final XOR.
 *
 * FEC. Byte i belongs to group i mod 3 and is column k = i div 3 of it. Of
 * each group's data (bytes 0-249): P = sum of d_k, C = sum of a^(84-k) d_k.
 */

#include "rl_codec_ref.h"

#include <string.h>

#define CRC_BYTES RL_FLIT_CRC_OFF
#define FEC_FIELD 0x11d
#define RS_FIELD 0x12b

/* Offsets of the check byte C and the parity byte P of each group. */
static const uint8_t fec_c_off[3] = { 252, 250, 251 };
static const uint8_t fec_p_off[3] = { 255, 253, 254 };

uint8_t
rl_ref_gf_mul(unsigned int poly, uint8_t a, uint8_t b)
{
	unsigned int r = 0, x = a;

	for (int i = 0; i < 8; i++) {
		if (b >> i & 1)
			r ^= x;
		x <<= 1;
		if (x & 0x100)
			x ^= poly;
	}
	return (uint8_t)r;
}

uint8_t
rl_ref_gf_pow(unsigned int poly, uint8_t a, int e)
{
	uint8_t r = 1;

	e %= 255;
	if (e < 0)
		e += 255;
	for (; e > 0; e--)
		r = rl_ref_gf_mul(poly, r, a);
	return r;
}

unsigned int
rl_ref_isn_bits(enum rl_isn_kind isn)
{
	return isn == RL_ISN_WIDE19 ? 19 : 10;
}

bool
rl_ref_supported(enum rl_crc_kind crc, enum rl_isn_kind isn)
{
	switch (isn) {
	case RL_ISN_XOR10:
		return crc == RL_CRC_ECMA || crc == RL_CRC_BCH ||
		       crc == RL_CRC_PCIE6_RS;
	case RL_ISN_WIDE:
		return crc == RL_CRC_ECMA || crc == RL_CRC_BCH;
	case RL_ISN_WIDE19:
		return crc == RL_CRC_BCH;
	}
	return false;
}

static uint64_t
ref_crc_binary(uint64_t poly, const uint8_t *flit)
{
	uint64_t c = ~0ull;

	for (int i = 0; i < CRC_BYTES; i++) {
		c ^= flit[i];
		for (int k = 0; k < 8; k++)
			c = (c >> 1) ^ (c & 1 ? poly : 0);
	}
	return ~c;
}

static uint64_t
ref_crc_rs(const uint8_t *flit)
{
	/* g below x^8: the product of (x + a^j), j = 1..8 */
	static const uint8_t g[8] = { 0xd5, 0x68, 0xfe, 0xd5,
				      0x33, 0x41, 0x4d, 0x69 };
	uint8_t r[8] = { 0 };

	for (int i = 0; i < CRC_BYTES; i++) {
		const uint8_t feedback = r[0] ^ flit[i];

		for (int k = 0; k < 8; k++) {
			r[k] = k < 7 ? r[k + 1] : 0;
			r[k] ^= rl_ref_gf_mul(RS_FIELD, feedback, g[k]);
		}
	}
	return rl_get64(r);
}

uint64_t
rl_ref_crc(enum rl_crc_kind crc, const uint8_t *flit)
{
	switch (crc) {
	case RL_CRC_ECMA:
		return ref_crc_binary(0xc96c5795d7870f42ull, flit);
	case RL_CRC_BCH:
		return ref_crc_binary(0xc36a26c5b8908fe6ull, flit);
	case RL_CRC_PCIE6_RS:
		return ref_crc_rs(flit);
	}
	return 0;
}

uint64_t
rl_ref_wide_word(enum rl_isn_kind isn, uint32_t seq)
{
	const bool wide19 = isn == RL_ISN_WIDE19;
	const uint64_t poly = wide19 ? RL_WIDE19_POLY : RL_WIDE_POLY;
	const int degree = wide19 ? RL_WIDE19_DEGREE : RL_WIDE_DEGREE;
	const uint32_t mask = (1u << rl_ref_isn_bits(isn)) - 1;
	const uint64_t high = (uint64_t)(seq & mask) << degree;
	uint64_t rem = high, word = 0;

	for (int i = 63; i >= degree; i--)
		if (rem >> i & 1)
			rem ^= poly << (i - degree);
	for (int i = 0; i < 64; i++)
		word |= ((high | rem) >> i & 1) << (63 - i);
	return word;
}

uint64_t
rl_ref_crc_isn(enum rl_crc_kind crc, enum rl_isn_kind isn, const uint8_t *flit,
	       uint32_t seq)
{
	uint8_t copy[CRC_BYTES];

	if (isn != RL_ISN_XOR10)
		return rl_ref_crc(crc, flit) ^ rl_ref_wide_word(isn, seq);
	memcpy(copy, flit, sizeof(copy));
	rl_put16(copy + RL_FLIT_PAYLOAD_OFF,
		 (uint16_t)(rl_get16(copy + RL_FLIT_PAYLOAD_OFF) ^
			    (seq & 0x3ff)));
	return rl_ref_crc(crc, copy);
}

static void
ref_fec_sums(const uint8_t *flit, uint8_t c[3], uint8_t p[3])
{
	uint8_t power = 2; /* a^(84-k) of the last column, 83 */

	memset(c, 0, 3);
	memset(p, 0, 3);
	for (int i = RL_FLIT_FEC_OFF - 1; i >= 0; i--) {
		p[i % 3] ^= flit[i];
		c[i % 3] ^= rl_ref_gf_mul(FEC_FIELD, power, flit[i]);
		if (i % 3 == 0)
			power = rl_ref_gf_mul(FEC_FIELD, power, 2);
	}
}

void
rl_ref_fec_encode(uint8_t *flit)
{
	uint8_t c[3], p[3];

	ref_fec_sums(flit, c, p);
	for (int g = 0; g < 3; g++) {
		flit[fec_c_off[g]] = c[g];
		flit[fec_p_off[g]] = p[g];
	}
}

/*
 * The one byte of group g whose change by the returned *value explains the
 * syndromes; -1 if there is none.
 */
static int
ref_fec_locate(int g, uint8_t sc, uint8_t sp, uint8_t *value)
{
	if (sp == 0 || sc == 0) {
		*value = sp ? sp : sc;
		return sp ? fec_p_off[g] : fec_c_off[g];
	}
	*value = sp;
	for (int i = g; i < RL_FLIT_FEC_OFF; i += 3)
		if (rl_ref_gf_mul(FEC_FIELD, sp,
				  rl_ref_gf_pow(FEC_FIELD, 2, 84 - i / 3)) ==
		    sc)
			return i;
	return -1;
}

enum rl_fec_status
rl_ref_fec_decode(uint8_t *flit)
{
	uint8_t c[3], p[3], value[3];
	int off[3];
	bool dirty = false;

	ref_fec_sums(flit, c, p);
	for (int g = 0; g < 3; g++) {
		const uint8_t sc = c[g] ^ flit[fec_c_off[g]];
		const uint8_t sp = p[g] ^ flit[fec_p_off[g]];

		off[g] = 0;
		value[g] = 0;
		if ((sc | sp) == 0)
			continue;
		dirty = true;
		off[g] = ref_fec_locate(g, sc, sp, &value[g]);
		if (off[g] < 0)
			return RL_FEC_BAD;
	}
	for (int g = 0; g < 3; g++)
		flit[off[g]] ^= value[g];
	return dirty ? RL_FEC_CORRECTED : RL_FEC_CLEAN;
}

void
rl_ref_tx(enum rl_crc_kind crc, enum rl_isn_kind isn, uint8_t *flit,
	  uint32_t seq)
{
	rl_put64(flit + RL_FLIT_CRC_OFF, rl_ref_crc_isn(crc, isn, flit, seq));
	rl_ref_fec_encode(flit);
}

enum rl_fec_status
rl_ref_rx(enum rl_crc_kind crc, enum rl_isn_kind isn, uint8_t *flit,
	  uint32_t eseq, uint64_t *syndrome)
{
	const enum rl_fec_status fec = rl_ref_fec_decode(flit);

	if (fec != RL_FEC_BAD)
		*syndrome = rl_ref_crc_isn(crc, isn, flit, eseq) ^
			    rl_get64(flit + RL_FLIT_CRC_OFF);
	return fec;
}
