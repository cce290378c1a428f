/* SPDX-License-Identifier: BSD-3-Clause */

/* Constants of the 512-bit code; codec_avx512.h explains them. */

#include "codec_priv.h"
#include "rl_codec_ref.h"

#define FEC_FIELD 0x11d
#define RS_FIELD 0x12b
/* The only field that gf2p8mulb multiplies in. */
#define GFNI_FIELD 0x11b
#define STRIDE 63

/** A linear map on bytes: the images of the eight single bits. */
struct map {
	uint8_t col[8];
};

static struct map
map_times(unsigned int field, uint8_t factor)
{
	struct map m;

	for (int j = 0; j < 8; j++)
		m.col[j] = rl_ref_gf_mul(field, factor, (uint8_t)(1 << j));
	return m;
}

static uint8_t
map_apply(const struct map *m, uint8_t x)
{
	uint8_t y = 0;

	for (int j = 0; j < 8; j++)
		y ^= x >> j & 1 ? m->col[j] : 0;
	return y;
}

/** The map "first @p b, then @p a". */
static struct map
map_after(const struct map *a, const struct map *b)
{
	struct map m;

	for (int j = 0; j < 8; j++)
		m.col[j] = map_apply(a, b->col[j]);
	return m;
}

static struct map
map_inverse(const struct map *m)
{
	struct map inv = { { 0 } };

	for (unsigned int x = 0; x < 256; x++)
		for (int j = 0; j < 8; j++)
			if (map_apply(m, (uint8_t)x) == 1 << j)
				inv.col[j] = (uint8_t)x;
	return inv;
}

/** Bit j is set if output bit @p i depends on input bit j. */
static uint8_t
map_row(const struct map *m, int i)
{
	uint8_t row = 0;

	for (int j = 0; j < 8; j++)
		row |= (uint8_t)((m->col[j] >> i & 1) << j);
	return row;
}

/** As an operand of gf2p8affineqb: the row of output bit i is byte 7 - i. */
static uint64_t
map_operand(const struct map *m)
{
	uint64_t q = 0;

	for (int i = 0; i < 8; i++)
		q |= (uint64_t)map_row(m, i) << (8 * (7 - i));
	return q;
}

/**
 * The isomorphism from GF(2^8) modulo @p field to the field of gf2p8mulb: x
 * goes to a root of the polynomial there.
 */
static struct map
map_iso(unsigned int field)
{
	struct map m;
	unsigned int root, value = 1;

	for (root = 2; root < 256 && value != 0; root++) {
		uint8_t power = 1;

		value = 0;
		for (int i = 0; i <= 8; i++) {
			value ^= field >> i & 1 ? power : 0;
			power = rl_ref_gf_mul(GFNI_FIELD, power, (uint8_t)root);
		}
	}
	RL_ASSERT(value == 0);
	root--;
	for (int j = 0; j < 8; j++)
		m.col[j] = rl_ref_gf_pow(GFNI_FIELD, (uint8_t)root, j);
	return m;
}

/**
 * Operand that turns each eight bytes into their transpose (as a matrix of
 * bits) after @p m: byte j picks output bit 7 - j of all of them.
 */
static uint64_t
transpose_after(const struct map *m)
{
	uint64_t q = 0;

	for (int j = 0; j < 8; j++)
		q |= (uint64_t)map_row(m, 7 - j) << (8 * j);
	return q;
}

/**
 * Destinations in the FEC word of the eight bytes from flit offset @p start on:
 * picks[0] for check bytes, picks[1] for parities. Byte b of a pick selects, by
 * bit 7 - i, the bytes i that sum up to byte b of the word.
 */
static void
picks(int start, int count, uint64_t pick[2])
{
	static const uint8_t c_byte[3] = { 4, 2, 3 }, p_byte[3] = { 7, 5, 6 };

	pick[0] = 0;
	pick[1] = 0;
	for (int i = 0; i < count; i++) {
		const int group = (start + i) % 3;
		const uint64_t bit = 1ull << (7 - i);

		pick[0] |= bit << (8 * c_byte[group]);
		pick[1] |= bit << (8 * p_byte[group]);
	}
}

static void
fec_constants(struct rl_k512 *k)
{
	const struct map iso = map_iso(FEC_FIELD), back = map_inverse(&iso);
	const struct map same = map_times(FEC_FIELD, 1);
	uint64_t pick[2];

	for (int c = 0; c < 4; c++) {
		const struct map scale = map_times(
			FEC_FIELD, rl_ref_gf_pow(FEC_FIELD, 2, 21 * (3 - c)));
		const struct map m = map_after(&iso, &scale);

		k->fec_scale[c] = map_operand(&m);
		for (int b = 0; b < 64; b++) {
			const int i = STRIDE * c + b - 64 * (c - 1);

			k->chunk[c][b] = (uint8_t)(i & 127);
		}
	}
	for (int b = 0; b < 64; b++)
		k->fec_weight[b] = b == STRIDE ? 0 :
			map_apply(&iso, rl_ref_gf_pow(FEC_FIELD, 2, 21 - b / 3));
	for (int q = 0; q < 8; q++) {
		picks(8 * q, q == 7 ? 7 : 8, pick);
		rl_put64(k->fec_pick_c + 8 * q, pick[0]);
		rl_put64(k->fec_pick_p + 8 * q, pick[1]);
	}
	k->fec_uniso = transpose_after(&back);
	k->transpose = transpose_after(&same);

	k->crc_iso = map_operand(&iso);
	k->crc_weight = 0;
	for (int b = 0; b < 8; b++) {
		const int column = (RL_FLIT_CRC_OFF + b) / 3;
		const uint8_t w = map_apply(
			&iso, rl_ref_gf_pow(FEC_FIELD, 2, 84 - column));

		k->crc_weight |= (uint64_t)w << (8 * b);
	}
	picks(RL_FLIT_CRC_OFF, 8, pick);
	k->crc_pick_c = pick[0];
	k->crc_pick_p = pick[1];
}

/**
 * The CRC bytes from the eight sums S_j, j = 1..8: sum over k of
 * crc_k a^(j(7-k)) = S_j, solved by Gauss and Jordan.
 */
static void
rs_inverse(uint8_t inv[8][8])
{
	uint8_t m[8][16];

	for (int j = 0; j < 8; j++)
		for (int k = 0; k < 8; k++) {
			m[j][k] = rl_ref_gf_pow(RS_FIELD, 2, (j + 1) * (7 - k));
			m[j][8 + k] = j == k;
		}
	for (int col = 0; col < 8; col++) {
		/* every leading minor is of Vandermonde form: no pivoting */
		const uint8_t unit = rl_ref_gf_pow(RS_FIELD, m[col][col], 254);

		RL_ASSERT(m[col][col] != 0);
		for (int k = 0; k < 16; k++)
			m[col][k] = rl_ref_gf_mul(RS_FIELD, m[col][k], unit);
		for (int r = 0; r < 8; r++) {
			const uint8_t f = m[r][col];

			if (r == col || f == 0)
				continue;
			for (int k = 0; k < 16; k++)
				m[r][k] ^= rl_ref_gf_mul(RS_FIELD, f,
							 m[col][k]);
		}
	}
	for (int r = 0; r < 8; r++)
		memcpy(inv[r], m[r] + 8, 8);
}

static void
rs_constants(struct rl_k512 *k)
{
	const struct map iso = map_iso(RS_FIELD), back = map_inverse(&iso);
	uint8_t inv[8][8];

	k->rs_uniso = map_operand(&back);
	for (int j = 1; j <= 8; j++) {
		for (int c = 0; c < 4; c++) {
			const struct map scale = map_times(
				RS_FIELD, rl_ref_gf_pow(RS_FIELD, 2,
							j * STRIDE * (3 - c)));
			const struct map m = map_after(&iso, &scale);

			k->rs_scale[j - 1][c] = map_operand(&m);
		}
		/* byte b of the last chunk is the coefficient of x^(60-b) */
		for (int b = 0; b < 64; b++)
			k->rs_weight[j - 1][b] = b == STRIDE ? 0 :
				map_apply(&iso, rl_ref_gf_pow(RS_FIELD, 2,
							      j * (60 - b)));
	}
	rs_inverse(inv);
	/* rotation r meets byte b of the CRC with sum S_((b+r) mod 8 + 1) */
	for (int r = 0; r < 8; r++) {
		k->rs_solve[r] = 0;
		for (int b = 0; b < 8; b++)
			k->rs_solve[r] |=
				(uint64_t)map_apply(&iso, inv[b][(b + r) & 7])
				<< (8 * b);
	}
}

void
rl_codec_tables512(struct rl_k512 *k)
{
	fec_constants(k);
	rs_constants(k);
}
