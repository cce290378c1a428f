/* SPDX-License-Identifier: BSD-3-Clause */

/* The tables of a codec, derived from the plain reference. */

#include "codec_priv.h"
#include "rl_codec_ref.h"

#define FEC_FIELD 0x11d
#define CODEWORD_BYTES 250

/** The register that byte @p b at the end of a message gives. */
static uint64_t
last_byte(enum rl_crc_kind crc, uint64_t zero, unsigned int b)
{
	uint8_t flit[RL_FLIT_BYTES] = { 0 };

	flit[RL_FLIT_CRC_OFF - 1] = (uint8_t)b;
	return rl_ref_crc(crc, flit) ^ zero;
}

static void
crc_tables(struct rl_codec *c, enum rl_crc_kind crc)
{
	static const uint8_t zeros[RL_FLIT_BYTES];

	c->crc_zero = rl_ref_crc(crc, zeros);
	for (int j = 0; j < 8; j++)
		c->slice[0][1 << j] = last_byte(crc, c->crc_zero, 1u << j);
	c->slice[0][0] = 0;
	for (unsigned int b = 1; b < 256; b++)
		c->slice[0][b] = c->slice[0][b & (b - 1)] ^
				 c->slice[0][b & -b];
	for (int t = 1; t < 8; t++)
		for (int b = 0; b < 256; b++) {
			const uint64_t r = c->slice[t - 1][b];

			c->slice[t][b] = (r >> 8) ^ c->slice[0][r & 0xff];
		}
}

/** x to the power @p e modulo the generator, as a reflected register. */
static uint64_t
power_of_x(uint64_t poly, int e)
{
	uint64_t r = 1ull << 63;

	for (; e > 0; e--)
		r = (r >> 1) ^ (r & 1 ? poly : 0);
	for (; e < 0; e++)
		r = r >> 63 ? (r ^ poly) << 1 | 1 : r << 1;
	return r;
}

/**
 * Factors of the two halves of the 16 bytes at codeword offset @p start in the
 * remainder. The power is one less to compensate for the product of two
 * reflected words, which is one bit too low.
 */
static void
fold_lane(uint64_t poly, int start, uint64_t lane[2])
{
	const int e = 8 * (CODEWORD_BYTES - start - 16) - 1;

	lane[0] = power_of_x(poly, e + 64);
	lane[1] = power_of_x(poly, e);
}

static uint64_t
clmul_low(uint64_t a, uint64_t b)
{
	uint64_t r = 0;

	for (int i = 0; i < 64; i++)
		r ^= b >> i & 1 ? a << i : 0;
	return r;
}

static void
fold_tables(struct rl_codec *c)
{
	/* the register after x^64: the generator itself */
	const uint64_t poly = c->slice[0][0x80];
	uint64_t inv = 1;

	for (int lane = 0; lane < 16; lane++)
		fold_lane(poly, 16 * lane, c->fold[lane]);
	c->barrett_p = 1 | poly << 1;
	/* Newton's step in characteristic 2: inv <- inv * inv * p */
	for (int i = 0; i < 6; i++)
		inv = clmul_low(clmul_low(inv, inv), c->barrett_p);
	c->barrett_mu = inv;
}

/** Contribution of number 1 << @p bit to the CRC field. */
static uint64_t
mix_basis(enum rl_crc_kind crc, enum rl_isn_kind isn, unsigned int bit)
{
	static const uint8_t zeros[RL_FLIT_BYTES];

	return rl_ref_crc_isn(crc, isn, zeros, 1u << bit) ^
	       rl_ref_crc_isn(crc, isn, zeros, 0);
}

/**
 * Fills @p table, linear in its index, from the words of single bits.
 */
static void
span(uint64_t *table, const uint64_t *basis, unsigned int bits)
{
	table[0] = 0;
	for (unsigned int i = 1; i < 1u << bits; i++)
		table[i] = table[i & (i - 1)] ^ basis[__builtin_ctz(i)];
}

/**
 * Inverts the map from numbers to the @p bits syndrome bits from @p shift on.
 * inv[j] becomes the number whose window has bit j alone set.
 *
 * @return false if the window doesn't distinguish all numbers
 */
static bool
invert_window(const uint64_t *basis, unsigned int bits, unsigned int shift,
	      uint32_t *inv)
{
	uint32_t row[32], num[32];

	for (unsigned int i = 0; i < bits; i++) {
		row[i] = (uint32_t)(basis[i] >> shift) & ((1u << bits) - 1);
		num[i] = 1u << i;
	}
	for (unsigned int j = 0; j < bits; j++) {
		unsigned int p = j;

		while (p < bits && !(row[p] >> j & 1))
			p++;
		if (p == bits)
			return false;
		const uint32_t r = row[p], m = num[p];

		row[p] = row[j];
		num[p] = num[j];
		row[j] = r;
		num[j] = m;
		for (unsigned int i = 0; i < bits; i++)
			if (i != j && (row[i] >> j & 1)) {
				row[i] ^= r;
				num[i] ^= m;
			}
	}
	for (unsigned int j = 0; j < bits; j++)
		inv[j] = num[j];
	return true;
}

static void
isn_tables(struct rl_codec *c, enum rl_crc_kind crc, enum rl_isn_kind isn)
{
	const unsigned int bits = rl_ref_isn_bits(isn);
	uint64_t basis[19] = { 0 };
	uint32_t inv[19] = { 0 };
	unsigned int shift = 0;

	for (unsigned int b = 0; b < bits; b++)
		basis[b] = mix_basis(crc, isn, b);
	span(c->mix, basis, 10);
	span(c->mix_high, basis + 10, 9);

	while (!invert_window(basis, bits, shift, inv)) {
		shift++;
		RL_ASSERT(shift + bits <= 64);
	}
	c->isn_bits = (uint8_t)bits;
	c->inv_shift = (uint8_t)shift;
	for (unsigned int i = 0; i < RL_MIX_LOW; i++) {
		c->inv[i] = 0;
		for (unsigned int j = 0; j < 10; j++)
			c->inv[i] ^= i >> j & 1 ? inv[j] : 0;
	}
	for (unsigned int i = 0; i < RL_MIX_HIGH; i++) {
		c->inv_high[i] = 0;
		for (unsigned int j = 0; j < 9; j++)
			c->inv_high[i] ^= i >> j & 1 ? inv[10 + j] : 0;
	}
}

static void
fec_tables(struct rl_codec *c)
{
	uint8_t power = 1;

	for (int e = 0; e < 255; e++) {
		c->fec_exp[e] = power;
		c->fec_log[power] = (uint8_t)e;
		power = rl_ref_gf_mul(FEC_FIELD, power, 2);
	}
	c->fec_log[0] = 0;
	for (unsigned int b = 0; b < 256; b++) {
		const uint8_t x = (uint8_t)b;

		c->fec_mul1[b] = rl_ref_gf_mul(FEC_FIELD, x, 2);
		c->fec_mul21[b] = rl_ref_gf_mul(FEC_FIELD, x, c->fec_exp[21]);
		c->fec_mul42[b] = rl_ref_gf_mul(FEC_FIELD, x, c->fec_exp[42]);
		c->fec_mul63[b] = rl_ref_gf_mul(FEC_FIELD, x, c->fec_exp[63]);
	}
	for (int chunk = 0; chunk < 16; chunk++)
		for (unsigned int v = 0; v < 16; v++) {
			const uint8_t f = c->fec_exp[80 - 5 * chunk];

			c->fec_nibble[chunk][0][v] =
				rl_ref_gf_mul(FEC_FIELD, f, (uint8_t)v);
			c->fec_nibble[chunk][1][v] =
				rl_ref_gf_mul(FEC_FIELD, f, (uint8_t)(v << 4));
		}
}

void
rl_codec_tables(struct rl_codec *c, enum rl_crc_kind crc, enum rl_isn_kind isn)
{
	crc_tables(c, crc);
	if (crc != RL_CRC_PCIE6_RS)
		fold_tables(c);
	isn_tables(c, crc, isn);
	fec_tables(c);
	rl_codec_tables512(&c->k512);
}
